//! References and definitions of a text, a language at a time.

#![cfg(feature = "grammars")]

use proptest::prelude::*;
use tamis_text::{LANGUAGES, Reference, definitions, references};

/// `line:kind:name` of each, the kind by its first letter.
fn told(references: &[Reference]) -> String {
    let each = references.iter().map(|found| format!("{}:{}:{}", found.line, &found.kind.as_str()[..1], found.name));
    each.collect::<Vec<_>>().join(" ")
}

/// Language, text, references.
fn cases() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    include_str!("references.txt").split("== ").skip(1).map(|case| {
        let (language, rest) = case.split_once('\n').expect("a language");
        let (text, expected) = rest.split_once("-- ").expect("references");
        (language, text, expected.trim_end())
    })
}

#[test]
fn calls_types_and_implementations_are_found_in_every_language() {
    for (language, text, expected) in cases() {
        assert_eq!(told(&references(language, text)), expected, "{language}");
    }
    // Messages and services only name each other.
    for language in LANGUAGES.iter().filter(|language| language.has_symbols() && language.name != "protobuf") {
        let (.., expected) = cases().find(|case| case.0 == language.name).expect(language.name);
        assert!(expected.contains(":c:"), "no call of {}", language.name);
    }
}

#[test]
fn a_name_is_found_once_a_line_by_what_says_most() {
    assert_eq!(told(&references("rust", "fn a(b: Book) -> Book { Book(c(1), c(2)) }\n")), "1:c:Book 1:c:c");
}

#[test]
fn errors_cost_only_what_they_touch() {
    let text = "fn a() { b(); }\n\nfn broken( {\n\nfn c() { d(); }\n";
    let names: Vec<_> = references("rust", text).into_iter().map(|found| found.name).collect();
    assert!(names.contains(&"b".to_owned()) && names.contains(&"d".to_owned()), "{names:?}");
    assert_eq!(told(&references("typescript", "new ->]<T>fn a->::class Aclass")), "1:t:T");
    // A file assembled from its passages can lack a part.
    assert_eq!(told(&references("java", "    void a() {\n        b();\n    }\n}\n")), "2:c:b");
}

#[test]
fn a_path_or_a_language_says_how_to_read() {
    let text = "class A : public B { void c() { d(); } };\n";
    for name in ["a.hpp", "src/a.h", "cpp", "C++", ".cc"] {
        assert_eq!(told(&references(name, text)), "1:i:B 1:c:d", "{name}");
    }
    assert_eq!(told(&references("bin/run", "#!/bin/sh\nstart now\n")), "2:c:start");
    for name in ["a.md", "toml", "unheard_of", ""] {
        assert_eq!(references(name, text), [], "{name}");
        assert_eq!(definitions(name, text), [], "{name}");
    }
}

#[test]
fn definitions_have_qualified_names_and_their_lines() {
    let text = "mod a {\n    /// Keeps.\n    pub struct B(u8);\n\n    impl B {\n        fn c(&self) {\n            d();\n        }\n    }\n}\n\nconst E: u8 = 1;\n";
    let found = definitions("rust", text);
    let told: Vec<_> =
        found.iter().map(|found| format!("{}-{} {} {}", found.line, found.end_line, found.kind, found.name)).collect();
    assert_eq!(told, ["1-10 module a", "3-3 type a::B", "6-8 method a::B::c", "12-12 constant E"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_text_names_are_of_it_in_order_and_once_a_line(
        text in "(class A| : B|[{}();=\"'\n\\[\\]é]|<T>|fn a|def b|func c|end\n|::|\\.d|new |@e |#f\n|impl G for H |<\\?php |if i |struct J |->){0,60}",
    ) {
        for (language, ..) in cases() {
            let found = references(language, &text);
            let lines: Vec<&str> = text.lines().collect();
            for pair in found.windows(2) {
                prop_assert!(pair[0].line <= pair[1].line);
            }
            for (index, reference) in found.iter().enumerate() {
                let line = lines.get(reference.line as usize - 1);
                prop_assert!(line.is_some_and(|line| line.contains(&reference.name)), "{language}: {reference:?}");
                let twice = found[..index].iter().any(|other| (&other.name, other.line) == (&reference.name, reference.line));
                prop_assert!(!twice, "{language}: {reference:?}");
            }
            prop_assert_eq!(&found, &references(language, &text));
            for definition in definitions(language, &text) {
                prop_assert!(definition.line <= definition.end_line && definition.end_line as usize <= lines.len());
            }
        }
    }
}
