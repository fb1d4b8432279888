//! Properties of every input: no line is lost or found twice, no passage is too large, nothing panics. The checks are those
//! of the fuzz targets, on their seeds and past findings, on fixtures, and on made-up input.

#![cfg(all(feature = "documents", feature = "grammars", feature = "wiki"))]

#[path = "../../../fuzz/checks/code.rs"]
mod code;
#[path = "../../../fuzz/checks/conversations.rs"]
mod conversations;
#[path = "../../../fuzz/checks/documents.rs"]
mod documents;
#[path = "../../../fuzz/checks/issues.rs"]
mod issues;
#[path = "../../../fuzz/checks/markdown.rs"]
mod markdown;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/whole.rs"]
mod whole;
#[path = "../../../fuzz/checks/wiki_dump.rs"]
mod wiki_dump;
#[path = "../../../fuzz/checks/wikitext.rs"]
mod wikitext;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use tamis_text::{LANGUAGES, Options, read};

/// A check that panics if a text breaks what it holds.
type Target = fn(&[u8]);

/// The fuzz targets that have seeds.
const TARGETS: &[(&str, Target)] = &[
    ("code", code::check),
    ("conversations", conversations::check),
    ("issues", issues::check),
    ("markdown", markdown::check),
    ("wiki_dump", wiki_dump::check),
    ("wikitext", wikitext::check),
];

/// A file name in every language that is divided in its own way, and in two that are read by lines.
const NAMES: &[&str] = &[
    "a.rs", "a.ts", "a.tsx", "a.js", "a.jsx", "a.py", "a.go", "a.java", "a.c", "a.cpp", "a.h", "a.md", "a.rst",
    "a.adoc", "a.org", "a.tex", "a.typ", "a.textile", "a.wiki", "a.txt", "a.cs", "a.rb", "a.php", "a.kt", "a.swift",
    "a.sh", "a.lua", "a.json", "unknown",
];

/// The name and the content of each file below a folder of this crate.
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("listed") {
            let path = entry.expect("listed").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.to_string_lossy().into_owned(), fs::read(&path).expect("read")));
            }
        }
    }
    files
}

fn check(name: &str, text: &str, max_tokens: usize) {
    whole::check(name, text, &read(name, text.as_bytes(), &Options { max_tokens }), max_tokens);
}

#[test]
fn seeds_and_past_findings_of_the_fuzz_targets_pass() {
    for (target, check) in TARGETS {
        replay::replay(target, *check);
    }
}

#[test]
fn fixtures_pass_the_checks_of_the_fuzz_targets() {
    let sources = files("tests/fixtures").into_iter().filter_map(|(name, bytes)| code::input(&name, &bytes));
    assert!(sources.map(|input| code::check(&input)).count() >= 17);
    for (name, bytes) in files("tests/documents/fixtures") {
        documents::check(&documents::input(&name, &bytes).expect("a known format"));
    }
}

#[test]
fn no_line_is_lost_in_the_files_of_this_crate_however_small_the_passages() {
    let texts = files("").into_iter().filter_map(|(name, bytes)| Some((name, String::from_utf8(bytes).ok()?)));
    let mut checked = 0;
    for (name, text) in texts.filter(|(_, text)| whole::is_plain(text)) {
        for max_tokens in [32, 64, 120, 400] {
            check(&name, &text, max_tokens);
        }
        checked += 1;
    }
    assert!(checked > 120, "{checked} files");
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

/// Any JSON, with the fields and values of issues and logs more often than chance would have it.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..5).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "open|CLOSED|merged|2024-05-01T10:00:00Z|2024-02-30T10:00:00Z|2026-11-22|Issue|MergeRequest|DiffNote|語|\
         https://github\\.com/ada/x/issues/1|https://gitlab\\.com/a/b/c/-/merge_requests/2|APPROVED|review|text|session|\
         user|message| |a\nb|"
            .prop_map(Value::from),
        "[ -~é\n]{0,12}".prop_map(Value::from),
    ];
    let name = "number|iid|title|body|description|state|state_id|author|user|login|username|name|labels|label_links|label|\
                comments|notes|reviews|nodes|issues|pulls|repo|items|total_count|created_at|createdAt|updated_at|updatedAt|\
                closed_at|mergedAt|html_url|url|issue_url|pull_request_url|pull_request|noteable_type|noteable_iid|\
                individual_note|system|type|position|milestone|kind|verdict|line|path|message|documentation_url|metrics|\
                submitted_at|bot|time|text|content|payload|role|session|messages|mapping|parent|current_node|parts|id";
    leaf.prop_recursive(5, 60, 10, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..10).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Changes to a file: bytes that are replaced, a part that is cut out, a part that is repeated, an end that is cut off.
fn damaged(mut bytes: Vec<u8>, changes: &[(u8, usize, u8)]) -> Vec<u8> {
    for (kind, place, value) in changes {
        let at = place.checked_rem(bytes.len()).unwrap_or(0);
        let part = at..(at + usize::from(*value)).min(bytes.len());
        match kind % 4 {
            0 => bytes[part].iter_mut().take(1).for_each(|byte| *byte = *value),
            1 => drop(bytes.drain(part)),
            2 => drop(bytes.splice(at..at, bytes[part].to_vec())),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_line_is_lost_in_made_up_source(text in source(), name in prop::sample::select(NAMES), max_tokens in 0_usize..120) {
        check(name, &text, max_tokens);
    }

    #[test]
    fn no_line_is_lost_in_any_text(text in "([ -~]|[\n\t éß語。]){0,300}", name in prop::sample::select(NAMES)) {
        check(name, &text, 32);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400), language in prop::sample::select(LANGUAGES.iter().collect::<Vec<_>>())) {
        for (_, check) in TARGETS {
            check(&bytes);
        }
        let extension = language.extensions.split_whitespace().next().unwrap_or("x");
        whole::embed(&read(&format!("a.{extension}"), &bytes, &Options::default()));
        for format in b'a'..=b'f' {
            for head in [&b""[..], b"%PDF-1.4\n", b"PK\x03\x04"] {
                documents::check(&[&[format], head, &bytes].concat());
            }
        }
    }

    #[test]
    fn any_json_is_read_or_refused_as_issues_and_as_logs(value in json(), cut in 0_usize..2_000) {
        let whole = value.to_string();
        let cut = String::from_utf8_lossy(&whole.as_bytes()[..cut.min(whole.len())]).into_owned();
        let twice = format!("{whole}\n{whole}\n");
        let beside = format!("[{whole},{{\"number\":1,\"title\":\"A\",\"user\":null}}]");
        for input in [whole, cut, twice, beside] {
            issues::check(input.as_bytes());
            conversations::check(input.as_bytes());
        }
    }

    #[test]
    fn damaged_documents_are_read_or_refused(
        (name, bytes) in prop::sample::select(files("tests/documents/fixtures")),
        changes in prop::collection::vec((0_u8..7, any::<usize>(), any::<u8>()), 1..12),
    ) {
        documents::check(&documents::input(&name, &damaged(bytes, &changes)).expect("a known format"));
    }

    #[test]
    fn damaged_dumps_of_wikis_are_read_or_refused(changes in prop::collection::vec((0_u8..7, any::<usize>(), any::<u8>()), 1..4)) {
        wiki_dump::check(&damaged(include_bytes!("fixtures/harbour.xml").to_vec(), &changes));
    }
}
