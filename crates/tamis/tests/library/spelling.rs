//! Names and words that can be spelled in several ways, and are found by each.

use crate::support::{Tree, ask, paths, search};
use tamis::{GetRequest, Mode, SearchRequest};

/// Procedures that call each other. Each file defines another one, in the middle of others.
fn procedures() -> Vec<(String, String)> {
    let parts = ["Inner", "Outer", "Upper", "Lower"];
    let things = ["Gate", "Weir", "Sluice", "Paddle"];
    let mut files = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        for (nth, thing) in things.iter().enumerate() {
            let other = format!("{}{}", parts[(at + 1) % 4], things[(nth + 1) % 4]);
            let text = format!(
                "function Open-{other}{part} {{\n  param([int]$Mm)\n  return Fill-{part}Chain -Mm $Mm\n}}\n\n\
                 function Close-{part}{thing} {{\n  param([int]$Mm)\n  return Open-{part}{thing}Slowly -Mm $Mm\n}}\n"
            );
            files.push((format!("station{at}{nth}.ps1"), text));
        }
    }
    files
}

#[test]
fn a_file_that_lacks_a_name_stands_below_all_that_hold_it() {
    let files = procedures();
    let tree = Tree::new(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let rows: String =
        (0..60).map(|at| format!("  UPDATE dbo.Levels SET Mm = Mm + {at} WHERE Station = {at};\n")).collect();
    let procedure = format!("CREATE OR ALTER PROCEDURE dbo.usp_OpenWeir @mm INT AS\nBEGIN\n{rows}END\n");
    tree.write("proc.sql", procedure.as_bytes());
    tree.write("weir.rb", b"class Weir\n  def open!(mm)\n    @mm = mm\n  end\nend\n");
    tree.write("style.css", b"p {\n  font-size: 12px;\n}\n");
    tree.write("print.md", b"# Font\n\nThe size of the font. A font has a size.\n");
    let index = tree.indexed(&[]);
    for (query, file) in [
        ("Close-InnerGate", "station00.ps1"),
        ("Close-LowerSluice", "station32.ps1"),
        ("usp_OpenWeir", "proc.sql"),
        ("font-size", "style.css"),
    ] {
        assert_eq!(paths(&ask(&index, query)).first(), Some(&file), "{query}");
    }
}

#[test]
fn what_nobody_sees_is_no_part_of_a_word() {
    let tree = Tree::new(&[
        ("a.md", "# Levels\n\nThe re\u{ad}ser\u{ad}voir is full.\n"),
        ("b.md", "# Pumps\n\nThe gudgeon\u{2060}pin\u{200b}s wear.\n"),
        ("c.md", "# Other\n\nNothing of it.\n"),
    ]);
    let index = tree.indexed(&[]);
    for (query, file) in [("reservoir", "a.md"), ("gudgeonpins", "b.md"), ("gud\u{ad}geonpins", "b.md")] {
        let request = SearchRequest::new(query).mode(Mode::Lexical);
        let answer = search(&index, request.cut(tamis_cut::parse("fixed:k=100").expect("a rule")));
        assert_eq!(paths(&answer), [file], "{query:?}");
        assert!(
            !answer.results[0].snippet.contains(['\u{ad}', '\u{200b}', '\u{2060}']),
            "{:?}",
            answer.results[0].snippet
        );
    }
}

#[test]
fn a_name_in_two_spellings_is_one_name() {
    let (composed, decomposed) = ("\u{dc}bersicht.md", "U\u{308}bersicht.md");
    for (name, other) in [(composed, decomposed), (decomposed, composed)] {
        let tree = Tree::new(&[(name, "# Plan\n\nThe boiler is in the cellar.\n"), ("b.md", "# B\n\nThe boiler.\n")]);
        let index = tree.indexed(&[]);
        let read = index.read(&GetRequest { id: format!("{other}:3"), ..GetRequest::default() }).expect("found");
        assert_eq!((read.path.as_str(), read.text.as_str()), (name, "The boiler is in the cellar.\n"));
        let request = SearchRequest { paths: vec![other.to_owned()], ..SearchRequest::new("boiler") };
        assert_eq!(paths(&search(&index, request)), [name]);
    }
}
