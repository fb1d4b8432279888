//! Properties of every file: no line is lost or found twice, no passage is too large, nothing panics.

#![cfg(feature = "grammars")]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tamis_text::{LANGUAGES, Options, Passage, estimate_tokens, read};

/// A file name in every language that is divided in its own way, and in two that are read by lines.
const NAMES: &[&str] = &[
    "a.rs", "a.ts", "a.tsx", "a.js", "a.jsx", "a.py", "a.go", "a.java", "a.c", "a.cpp", "a.h", "a.md", "a.rst",
    "a.adoc", "a.org", "a.tex", "a.typ", "a.textile", "a.wiki", "a.txt", "a.cs", "a.rb", "a.php", "a.kt", "a.swift",
    "a.sh", "a.lua", "a.json", "unknown",
];

fn visible(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Checks the passages of a text against the text itself.
fn check(name: &str, text: &str, max_tokens: usize) -> Result<(), TestCaseError> {
    let document = read(name, text.as_bytes(), &Options { max_tokens });
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut end = 0;
    let mut all = String::new();
    let mut previous: Option<&Passage> = None;
    for passage in &document.passages {
        prop_assert!(passage.start_line <= passage.end_line && passage.end_line as usize <= lines.len());
        // Only the parts of one long line share their line.
        let divided = previous.is_some_and(|previous| {
            previous.start_line == previous.end_line && (passage.start_line, passage.end_line) == (end, end)
        });
        prop_assert!(passage.start_line > end || divided, "{name}: line {} twice", passage.start_line);
        prop_assert!(!passage.text.trim().is_empty());
        prop_assert!(
            estimate_tokens(&passage.text) <= max_tokens.max(32),
            "{name}: {} tokens in {:?}",
            estimate_tokens(&passage.text),
            passage.text
        );
        let here = lines[passage.start_line as usize - 1..passage.end_line as usize].concat();
        prop_assert!(here.contains(&passage.text), "{name}: {:?} is not in {here:?}", passage.text);
        all.push_str(&passage.text);
        end = passage.end_line;
        previous = Some(passage);
    }
    prop_assert_eq!(visible(&all), visible(text), "{}", name);
    Ok(())
}

/// Pieces of source that nest, break off and collide when strung together.
fn source() -> impl Strategy<Value = String> {
    let fragments = [
        "fn a() {", "}", "}\n", "\n", "impl A for B<T> {\n", "struct A { x: u8 }", "#[test]\n", "// note\n",
        "/* note */ ", "/// doc\n", "class A:\n", "    def b(self):\n", "        pass\n", "@wraps\n", "x = 1\n",
        "function f() {", "const a = () => {", "export default {", "a: function() {},", "};\n",
        "interface I { m(): void }\n", "type T struct {\n", "func (t *T) M() {\n", "package p\n", "var (\n", ")\n",
        "namespace n {", "template <class T>\n", "int f(int a)\n", "{\n", "#define X 1\n", "#if Y\n", "#endif\n",
        "enum E { A, B };", "public void m() {\n", "@Override\n", "mod tests {\n", "#[cfg(test)]\n", "# Heading\n",
        "## Other\n", "===\n", "---\n", "```\n", "- item\n", "| a | b |\n|---|---|\n", "> quote\n", "word ",
        "日本語。", "\t", "\"", "'", "`", "<div>", "return <a>{b}</a>;\n", "\\section{A}\n", "  ", "title: x\n",
        "= Top\n", "call(a, b);\n",
    ];
    prop::collection::vec(prop::sample::select(fragments.to_vec()), 0..120).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_line_is_lost_in_made_up_source(text in source(), name in prop::sample::select(NAMES), max_tokens in 0_usize..120) {
        check(name, &text, max_tokens)?;
    }

    #[test]
    fn no_line_is_lost_in_any_text(text in "([ -~]|[\n\t éß語。]){0,300}", name in prop::sample::select(NAMES)) {
        check(name, &text, 32)?;
    }

    #[test]
    fn arbitrary_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400), language in prop::sample::select(LANGUAGES.iter().collect::<Vec<_>>())) {
        let extension = language.extensions.first().copied().unwrap_or("x");
        let document = read(&format!("a.{extension}"), &bytes, &Options::default());
        for passage in document.passages {
            prop_assert!(!passage.text.trim().is_empty());
        }
    }
}

#[test]
fn no_line_is_lost_in_any_fixture_however_small_the_passages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut checked = 0;
    for entry in fs::read_dir(folder).expect("the fixtures are there") {
        let path = entry.expect("the fixtures are readable").path();
        let text = fs::read_to_string(&path).expect("a fixture is text");
        for max_tokens in [32, 60, 120, 400] {
            check(&path.to_string_lossy(), &text, max_tokens)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        checked += 1;
    }
    assert!(checked >= 17, "{checked} fixtures");
}

#[test]
fn no_line_is_lost_in_the_sources_of_this_crate() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                for max_tokens in [64, 400] {
                    check(&path.to_string_lossy(), &text, max_tokens)
                        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                }
            }
        }
    }
}
