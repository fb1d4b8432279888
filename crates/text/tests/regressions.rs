//! Unusual files.

#![cfg(feature = "grammars")]

use tamis_text::{Document, Kind, Note, Options, Passage, Role, read};

fn default(path: &str, bytes: &[u8]) -> Document {
    read(path, bytes, &Options::default())
}

#[test]
fn passages_keep_their_symbols_and_lines() {
    let export = "export default function () {\n  return 1;\n}\n";
    let arrow = "export default () => {\n  return 1;\n};\n";
    let macros = "class EXPORT Shelf : public Base {\npublic:\n  int size() {\n    return 1;\n  }\n};\n\nstruct API Book {\n  int pages;\n};\n";
    let module = "defmodule A.B do\n  @moduledoc false\n\n  def c(d), do: d\n\n  def e <~> f, do: f\n\n  defimpl Inspect do\n    def inspect(g, _), do: g\n  end\nend\n";
    for (path, text, expected) in [
        ("a.ex", module, "1-2 A.B; 4-4 A.B.c; 6-6 A.B.<~>; 8-11 A.B.Inspect.inspect"),
        ("a.py", "\u{feff}def first():\n    pass\n", "1-2 first"),
        ("a.py", "class A:\n\tdef b(self):\n\t\treturn 1\n\n\tdef c(self):\n\t\treturn 2\n", "1-1 A; 2-3 A.b; 5-6 A.c"),
        ("a.js", "function a() {} function b() {}\nfunction c() {}\n", "1-1 a, b; 2-2 c"),
        ("a.go", "package a\n\nconst (\n\tSmall = 1\n\tLarge = 2\n)\n", "1-6 Small, Large"),
        ("a.go", "package a\n\nvar _ B = (*C)(nil)\n\nvar (\n\t_ B = D{}\n\t_ B = E{}\n)\n", "1-8 "),
        ("a.go", "package a\n\nconst (\n\t_ = iota\n\tKB\n\tMB\n)\n", "1-7 KB, MB"),
        ("a.rs", "fn first() {}\n\nfn broken( {\n\nfn last() {\n    1\n}\n", "1-1 first; 3-7 last"),
        ("a.cpp", "if (a) {\n  a::b c(d);\n}\n", "1-3 "),
        ("shelf.cpp", macros, "1-2 Shelf; 3-6 Shelf::size; 8-10 Book"),
        ("a.ts", export, "1-3 default"),
        ("a.js", export, "1-3 default"),
        ("a.tsx", arrow, "1-3 default"),
        ("a.js", arrow, "1-3 default"),
    ] {
        let document = default(path, text.as_bytes());
        let told = |passage: &Passage| {
            format!("{}-{} {}", passage.start_line, passage.end_line, passage.symbol.as_deref().unwrap_or_default())
        };
        assert_eq!(document.passages.iter().map(told).collect::<Vec<_>>().join("; "), expected, "{path}: {text}");
        assert_eq!(document.notes.is_empty(), !text.contains("broken"), "{path}: {text}");
    }
}

#[test]
fn a_checkout_with_crlf_an_empty_file_and_a_missing_last_line_end_are_read() {
    let unix = "//! Title\n\nfn a() {\n    b();\n}\n\nfn c() {}\n";
    let windows = unix.replace('\n', "\r\n");
    for path in ["a.rs", "a.md", "a.txt", "a.lua"] {
        let (unix, windows) = (default(path, unix.as_bytes()), default(path, windows.as_bytes()));
        assert_eq!(unix.passages, windows.passages, "{path}");
        assert_eq!(unix.title, windows.title);
    }
    for path in ["a.rs", "a.py", "a.md", "a.rst", "a.txt", "a.json", "unknown"] {
        assert_eq!(default(path, b"").passages, [], "{path}");
        assert_eq!(default(path, b" \n\t\n").passages, [], "{path}");
    }
    for path in ["a.rs", "a.py", "a.md", "a.txt"] {
        let with = default(path, b"fn a() {}\n\nfn b() {}\n").passages;
        let without = default(path, b"fn a() {}\n\nfn b() {}").passages;
        assert_eq!(with, without, "{path}");
    }
}

#[test]
fn a_huge_line_is_divided_and_keeps_its_number() {
    let line = "let total = first + second; ".repeat(4_000);
    let text = format!("fn small() {{}}\n{line}\nfn other() {{}}\n");
    for path in ["a.rs", "a.md", "a.txt", "a.lua"] {
        let document = default(path, text.as_bytes());
        let second = document.passages.iter().filter(|one| (one.start_line, one.end_line) == (2, 2)).count();
        assert!(second > 20, "{path}: {second} pieces");
        assert_eq!(document.passages.last().map(|passage| passage.end_line), Some(3));
    }
}

#[test]
fn western_and_wide_encodings_are_decoded_and_noted() {
    let document = default("a.c", b"// Gr\xfc\xdfe an die Welt\nint main(void) { return 0; }\n");
    assert!(document.passages[0].text.contains("Grüße"));
    assert_eq!(document.notes, [Note::Decoded { encoding: "windows-1252" }]);

    let wide: Vec<u8> = "\u{feff}# Titel\n\nText\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let document = default("a.md", &wide);
    assert_eq!(document.title.as_deref(), Some("Titel"));
    assert_eq!(document.notes, [Note::Decoded { encoding: "UTF-16LE" }]);
}

#[test]
fn nesting_without_end_is_read() {
    for case in [
        "( in a.rs", "{ in a.js", "[ in a.py", "a( in a.go", "< in a.tsx", "mod a {\n in a.rs",
        "namespace a {\n in a.cpp", "class A {\n in a.java", "#if a\n in a.c", ">  in a.md", "-  in a.md", "[ in a.md",
        "* in a.md", "![]( in a.md", "def a():\n in a.py", "if (a) { in a.ts",
    ] {
        let (open, path) = case.split_once(" in ").expect("a file");
        let text = open.repeat(20_000);
        let document = default(path, text.as_bytes());
        assert!(!document.passages.is_empty(), "{open:?} in {path}");
    }
}

#[test]
fn what_does_not_parse_is_divided_by_lines_and_says_so() {
    let prose = "This is not a program; it is a letter, it says: nothing.\nHow are you? (Fine, I hope.)\n".repeat(30);
    let document = default("letter.java", prose.as_bytes());
    assert!(matches!(document.notes[..], [Note::NotParsed { language: "java", .. }]), "{:?}", document.notes);
    assert!(document.passages.iter().all(|passage| passage.kind == Kind::Lines));
}

#[test]
fn a_large_function_is_cut_between_statements_and_keeps_its_signature() {
    let block = |index: usize| {
        format!(
            "        if ready({index}) {{\n            // wait for it\n            run({index}, \"step\");\n        }}\n"
        )
    };
    let body: String = (0..80).map(block).collect();
    let text = format!(
        "impl Engine {{\n    /// Starts.\n    pub fn start(&mut self) -> Result<()> {{\n{body}        Ok(())\n    }}\n}}\n"
    );
    let document = default("engine.rs", text.as_bytes());
    assert!(document.passages.len() > 3);
    for (index, passage) in document.passages.iter().enumerate() {
        assert_eq!((passage.symbol.as_deref(), passage.kind), (Some("Engine::start"), Kind::Method));
        if index > 0 {
            let text = &passage.text;
            assert!(text.starts_with("        if ready(") || text.contains("Ok(())"), "{text}");
            assert_eq!(passage.context.as_deref(), Some("impl Engine\npub fn start(&mut self) -> Result<()>"));
            assert!(passage.embedded_text().starts_with("impl Engine\npub fn start"));
        }
    }
}

#[test]
fn what_a_program_wrote_is_marked_where_it_is_read_all_the_same() {
    for (path, text) in [
        ("a.go", "// Code generated by stringer. DO NOT EDIT.\npackage a\n".to_owned()),
        ("a.rs", "// @generated by a tool\nfn a() {}\n".to_owned()),
        ("api/shop_pb2.py", "a = 1\n".to_owned()),
        ("web/app.min.js", "a();\n".to_owned()),
        ("web/app.js", "function a(b){return b+1};".repeat(400)),
    ] {
        let document = default(path, text.as_bytes());
        assert_eq!(document.role, Role::Generated, "{path}");
        assert!(document.passages.iter().all(|passage| passage.role == Role::Generated), "{path}");
    }
}

#[test]
fn a_fence_and_a_table_stay_whole_where_they_fit() {
    let paragraph = "Some words that fill the line and say little else. ".repeat(12);
    let fence = format!("```sh\n{}```\n", "run --this --and that\n".repeat(12));
    let table = format!("| a | b |\n|---|---|\n{}", "| one cell | another cell |\n".repeat(12));
    let text = format!("# Guide\n\n{paragraph}\n\n{fence}\n{paragraph}\n\n{table}\n{paragraph}\n");
    let document = read("a.md", text.as_bytes(), &Options { max_tokens: 260 });
    assert!(document.passages.len() > 2);
    for block in [fence.trim_end(), table.trim_end()] {
        assert!(document.passages.iter().any(|passage| passage.text.contains(block)), "{block}");
    }
    assert!(document.passages.iter().all(|passage| passage.heading.as_deref() == Some("Guide")));
}
