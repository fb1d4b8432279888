//! Long tables, and data written into texts.

use tamis_text::{Document, Issue, IssueComment, Options, estimate_tokens, read, skip_by_content};

const LEAST: Options = Options { max_tokens: 64 };

fn rows(row: &str) -> String {
    (0..60).map(|number| row.replace('@', &number.to_string())).collect()
}

/// Checks that every piece of a table tells its header once.
fn assert_header(document: &Document, header: &str) {
    assert!(document.passages.len() > 3, "{} passages", document.passages.len());
    for passage in document.passages.iter().filter(|passage| passage.text.contains("valve")) {
        assert_eq!(passage.embedded_text().matches(header).count(), 1, "{}", passage.embedded_text());
    }
}

#[test]
fn each_piece_of_a_table_has_its_header() {
    let row = "| valve @ | brass, tin | 12 years |\n";
    for (path, before) in [
        ("a.md", "# Parts\n\nText.\n\n| Part | Metal | Age |\n| --- | --- | --- |\n"),
        ("a.org", "* Parts\n| Part | Metal | Age |\n|------+------|\n"),
        ("a.rst", "Parts\n=====\n\n+------+\n| Part | Metal | Age |\n+------+\n"),
    ] {
        let document = read(path, format!("{before}{}\nEnd.\n", rows(row)).as_bytes(), &LEAST);
        assert_header(&document, "| Part | Metal | Age |");
        let last = document.passages.last().expect("passages");
        assert!(last.text.ends_with("End.") || last.context.is_none(), "{path}");
    }
    let table = read("a.csv", format!("part,metal,age\n{}", rows("valve @,brass and tin,12\n")).as_bytes(), &LEAST);
    assert_header(&table, "part,metal,age");
    let text = format!("Intro.\n\n| Part | Metal | Age |\n| --- | --- | --- |\n{}", rows(row));
    let comments = vec![IssueComment::new(text.clone())];
    let issue = Issue { body: text, comments, ..Issue::new(1, "Parts list") }.document(&LEAST);
    assert_header(&issue, "| Part | Metal | Age |");
}

#[cfg(feature = "documents")]
#[test]
fn each_piece_of_a_table_of_a_page_has_its_header() {
    let row = "<tr><td>valve @</td><td>brass, tin</td></tr>\n";
    let page = format!(
        "<!DOCTYPE html><h1>Parts</h1>\n<table><tr><th>Part</th><th>Metal</th></tr>\n{}</table>\n<p>End.</p>",
        rows(row)
    );
    let document = tamis_text::read_document("a.html", page.as_bytes(), &LEAST).expect("text").expect("a page");
    assert_header(&document, "Part | Metal");
    let table = format!("Text.\n\n| Part | Metal |\n| --- | --- |\n{}", rows("| valve @ | brass, tin |\n"));
    let notebook = format!(r#"{{"cells": [{{"source": "One"}}, {{"source": {table:?}}}]}}"#);
    let document = tamis_text::read_document("a.ipynb", notebook.as_bytes(), &LEAST).expect("text").expect("cells");
    assert_header(&document, "| Part | Metal |");
}

#[test]
fn a_drawing_in_a_note_makes_no_passages() {
    let data: String =
        (0..256 * 40).map(|at| char::from(b"MIIDdzCCAl+gAwIBAgIEbh7q/0aXkT5sZ9RwYv"[at * 7 % 38])).collect();
    let wrapped: Vec<&str> = (0..40).map(|at| &data[at * 256..(at + 1) * 256]).collect();
    let head = "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n\n## Text Elements\nThe eel pass ^a1\n\n%%\n## Drawing\n";
    for block in [
        format!("```compressed-json\n{}\n```\n%%\n", wrapped.join("\n\n")),
        format!("```json\n{}\n```\n%%\n", "{\"type\": \"rectangle\", \"x\": 1},\n".repeat(400)),
    ] {
        let document = read("a.excalidraw.md", format!("{head}{block}").as_bytes(), &Options::default());
        let texts: Vec<&str> = document.passages.iter().map(|passage| passage.text.as_str()).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[1].contains("eel pass") && !texts[1].contains("json"), "{texts:?}");
    }
    // The same lines in another place.
    let document = read("a.md", format!("# Key\n\n{}\n\nEnd\n", wrapped.join("\n\n")).as_bytes(), &Options::default());
    let tokens: usize = document.passages.iter().map(|passage| estimate_tokens(&passage.text)).sum();
    assert!(tokens < 100, "{tokens} tokens");
}

#[test]
fn data_in_a_text_makes_no_passages_and_moves_no_lines() {
    let data = "iVBORw0KGgoAAAANSUhEUgAA".repeat(2_000);
    let notebook = format!(
        r##"{{"cells": [{{"cell_type": "markdown", "source": "# Weir\n![x](data:image/png;base64,{data})\nEnd"}}]}}"##
    );
    for (path, text) in [
        ("a.md", format!("# Weir\n\n![x](data:image/png;base64,{data})\n\nEnd\n")),
        ("a.css", format!(".weir {{\n  background: url(data:image/png;base64,{data});\n}}\n.end {{ color: red }}\n")),
        ("a.py", format!("ICON = \"{data}\"\n\n\ndef end():\n    return ICON\n")),
        ("memory/a.md", format!("- one data:image/png;base64,{data}\n- End\n")),
    ] {
        assert_eq!(skip_by_content(path, text.as_bytes()), None, "{path}");
        let document = read(path, text.as_bytes(), &Options::default());
        let tokens: usize = document.passages.iter().map(|passage| estimate_tokens(&passage.text)).sum();
        assert!(tokens < 100 && document.passages.len() <= 2, "{path}: {tokens} tokens");
        let end = document.passages.last().expect("passages");
        assert_eq!(end.end_line as usize, text.lines().count(), "{path}");
    }
    if cfg!(feature = "documents") {
        let document = tamis_text::read_document("a.ipynb", notebook.as_bytes(), &Options::default());
        assert_eq!(document.expect("text").expect("a notebook").passages.len(), 1);
    }
    let issue = Issue { body: format!("See\n![x](data:image/png;base64,{data})\nend"), ..Issue::new(1, "A") };
    let document = issue.document(&Options::default());
    assert_eq!((document.passages.len(), document.passages[0].end_line), (1, 7));
}
