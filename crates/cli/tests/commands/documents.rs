//! PDF, Word, OpenDocument and EPUB files, notebooks and web pages through the command and the server.

use crate::mcp::Client;
use crate::support::Tree;
use serde_json::json;
use std::fs;
use std::path::Path;

/// A tree with a file of each format, and some that cannot be read.
fn tree() -> Tree {
    let tree = Tree::empty();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../text/tests/documents/fixtures");
    fs::create_dir(tree.root().join("papers")).expect("made");
    for entry in fs::read_dir(fixtures).expect("listed") {
        let path = entry.expect("listed").path();
        fs::copy(&path, tree.root().join("papers").join(path.file_name().expect("a name"))).expect("copied");
    }
    tree.write("src/pump.rs", "/// Starts the pump.\npub fn start() {}\n");
    tree
}

fn ok(tree: &Tree, arguments: &[&str]) -> String {
    let output = tree.tamis(arguments).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_search_finds_a_passage_and_names_its_page() {
    let tree = tree();
    ok(&tree, &["index", "-q"]);
    for (query, path, place, words) in [
        ("bleeding a radiator with the key", "papers/heating.pdf", "page 2", "Open the valve"),
        ("rain barrel leaks at the tap", "papers/minutes.docx", "Water", "new seal"),
        ("bicycles in the cellar", "papers/letter.odt", "Cellar", "stairwell"),
        ("rowed to the rock with lamp oil", "papers/lighthouse.epub", "Arrival", "Marten"),
        ("lavender is visited most", "papers/bees.ipynb", "cell 3", "Lavender"),
        ("slate cracks when somebody steps on it", "papers/roof.html", "Mending the roof", "crawling board"),
    ] {
        let answer = tree.json(&["search", "--json", "--no-gate", "--limit", "3", query]);
        let first = &answer["results"][0];
        assert_eq!(first["path"], path, "{query}: {answer}");
        assert!(first["title"].as_str().is_some_and(|title| title.contains(place)), "{query}: {first}");
        let printed = ok(&tree, &["search", "--no-gate", "--limit", "3", query]);
        assert!(printed.contains(path) && printed.contains(place), "{query}: {printed}");
        let id = first["id"].as_str().expect("an identifier");
        let read = ok(&tree, &["get", id]);
        assert!(read.contains(words), "{query}: {read}");
    }
    // Code in a notebook is code, with the language of its kernel.
    let answer = tree.json(&["search", "--json", "--no-gate", "--lang", "python", "counts the visits of each flower"]);
    let first = &answer["results"][0];
    assert_eq!((&first["path"], &first["symbol"]), (&"papers/bees.ipynb".into(), &"visits".into()), "{answer}");
}

#[test]
fn get_grep_and_outline_read_the_text() {
    let tree = tree();
    ok(&tree, &["index", "-q"]);
    let whole = ok(&tree, &["get", "papers/heating.pdf"]);
    assert!(whole.contains("[page 3]") && whole.contains("Fröhlich"), "{whole}");
    assert_eq!(
        ok(&tree, &["grep", "-n", "expansion vessel|crawling board|rain barrel"]),
        "papers/heating.pdf:19:Call Mrs Fröhlich at the workshop: the expansion vessel\n\
         papers/minutes.docx:5:The rain barrel leaks at the tap. Ines brings a new seal in April.\n\
         papers/roof.html:13:  steps on it. Use the crawling board &amp; the harness.</p>\n",
        "a web page as it is, with the same lines as its text"
    );
    assert!(ok(&tree, &["get", "papers/roof.html:13"]).contains("steps on it. Use the crawling board & the harness."));
    let outline = ok(&tree, &["outline", "papers/heating.pdf"]);
    assert!(outline.contains("page 1") && outline.contains("page 3"), "{outline}");
}

#[test]
fn what_cannot_be_read_is_named_with_the_reason() {
    let tree = tree();
    tree.write("papers/note.txt", "x\n");
    let large = tree.root().join("papers/large.pdf");
    fs::File::create(&large).and_then(|file| file.set_len(40 << 20)).expect("made");
    let told = |text: &str| {
        for (path, reason) in [
            ("papers/locked.pdf", "it is encrypted"),
            ("papers/scan.pdf", "it has no text"),
            ("papers/damaged.pdf", "it is damaged"),
            ("papers/large.pdf", "larger than index.max_document_bytes"),
        ] {
            let line = text.lines().find(|line| line.contains(path)).unwrap_or_else(|| panic!("{path}: {text}"));
            assert!(line.contains(reason), "{line}");
        }
        assert!(text.contains("4 documents without readable text"), "{text}");
    };
    let output = tree.tamis(&["index"]).output().expect("it runs");
    let both = [output.stdout, output.stderr].concat();
    told(&String::from_utf8_lossy(&both));
    told(&ok(&tree, &["status"]));
    let status = tree.json(&["status", "--json"]);
    assert_eq!(status["unread"].as_array().map(Vec::len), Some(4), "{status}");
    let output = tree.tamis(&["get", "papers/scan.pdf"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("it has no text"), "{output:?}");
    assert!(ok(&tree, &["index"]).contains("none changed"), "a document that was left out is not read again");
}

#[test]
fn an_agent_sees_the_page() {
    let tree = tree();
    ok(&tree, &["index", "-q"]);
    let mut client = Client::of(&tree, &[]);
    let answer = client.call("search", json!({"query": "bleeding a radiator with the key"}));
    let text = answer.to_string();
    assert!(text.contains("papers/heating.pdf") && text.contains("page 2"), "{text}");
}
