//! Fingerprints: stable through edits of the body, different for different signatures.

#![cfg(feature = "grammars")]

use tamis_text::{Options, Passage, read};

fn passages(path: &str, text: &str) -> Vec<Passage> {
    read(path, text.as_bytes(), &Options::default()).passages
}

/// The fingerprint of the passage of a symbol.
fn signature(path: &str, text: &str, symbol: &str) -> String {
    let found = passages(path, text).into_iter().find(|passage| passage.symbols().any(|name| name == symbol));
    let found = found.unwrap_or_else(|| panic!("no {symbol} in {path}: {:#?}", passages(path, text)));
    found.signature.unwrap_or_else(|| panic!("no signature of {symbol} in {path}"))
}

/// `signatures.txt` has definitions, each followed by the same with everything but its signature changed, and by one with
/// another signature.
#[test]
fn a_signature_outlives_edits_of_body_comments_attributes_and_layout() {
    for case in include_str!("signatures.txt").split("== ").skip(1) {
        let (name, texts) = case.split_once('\n').expect("a name");
        let (path, symbol) = name.split_once(' ').expect("a path and a symbol");
        let (before, rest) = texts.split_once("-- the same\n").expect("the same");
        let (after, other) = rest.split_once("-- another\n").expect("another");
        let [before, after, other] = [before, after, other].map(|text| signature(path, text, symbol));
        assert_eq!(before.len(), 16);
        assert_eq!(before, after, "{name}");
        assert_ne!(before, other, "{name}");
    }
}

#[test]
fn overloads_and_methods_that_two_traits_ask_of_one_type_differ() {
    for (path, text) in [
        ("A.java", "class A {\n    void a(int b) {\n    }\n\n    void a(long b) {\n    }\n}\n"),
        ("A.cs", "class A\n{\n    void a(int b)\n    {\n    }\n\n    void a(ref int b)\n    {\n    }\n}\n"),
        ("a.cpp", "void a(int b) {\n}\n\nvoid a(int &b) {\n}\n"),
        ("a.kt", "class A {\n    fun a(b: Int) {\n    }\n\n    fun a(b: Int?) {\n    }\n}\n"),
        ("a.swift", "class A {\n    func a(b: Int) {\n    }\n\n    func a(c: Int) {\n    }\n}\n"),
    ] {
        let mut overloads = passages(path, text);
        overloads.retain(|passage| passage.symbol.as_deref().is_some_and(|symbol| symbol.ends_with('a')));
        let overloads: Vec<_> = overloads.into_iter().map(|passage| passage.signature).collect();
        assert_eq!(overloads.len(), 2, "{path}");
        assert_ne!(overloads[0], overloads[1], "{path}");
    }
    let text = "impl Display for A {\n    fn fmt(&self, f: &mut Formatter<'_>) -> Result {\n        one()\n    }\n}\n\nimpl Debug for A {\n    fn fmt(&self, f: &mut Formatter<'_>) -> Result {\n        two()\n    }\n}\n";
    let found = passages("a.rs", text);
    let names: Vec<_> = found.iter().map(|passage| passage.symbol.as_deref()).collect();
    assert_eq!(names, [Some("A::fmt"), Some("A::fmt")]);
    assert_ne!(found[0].signature, found[1].signature);
}

#[test]
fn an_edit_elsewhere_in_the_file_moves_no_signature() {
    let before = passages("a.rs", "fn a() {}\n\nfn b(x: u8) {\n    a();\n}\n");
    let after = passages("a.rs", "use c::d;\n\nfn a(x: u8) {\n  d(x)\n}\n\nfn e() {}\n\nfn b(x: u8) {\n    a();\n}\n");
    assert_eq!(before.last().map(|passage| &passage.signature), after.last().map(|passage| &passage.signature));
}

#[test]
fn the_pieces_of_a_long_function_share_its_signature_and_what_is_no_symbol_has_no_signature() {
    let body: String = (0..200).map(|number| format!("    step({number}, \"of many\");\n")).collect();
    let found = passages("a.rs", &format!("fn long() {{\n{body}}}\n"));
    assert!(found.len() > 2);
    assert!(found.iter().all(|passage| passage.signature == found[0].signature && passage.signature.is_some()));
    for (path, text) in [("a.rs", "use a::b;\nuse c::d;\n"), ("a.md", "# A\n\ntext\n"), ("a.toml", "a = 1\n")] {
        assert!(passages(path, text).iter().all(|passage| passage.signature.is_none()), "{path}");
    }
}
