//! The table of languages against the file types of the `ignore` crate, which many people maintain.

use std::collections::BTreeMap;

use ignore::types::TypesBuilder;
use tamis_text::{LANGUAGES, Language, Options, read};

/// Extensions that both know with different meanings, with the reason for ours.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("avsc", "Avro schemas are written in JSON"),
    ("bib", "a bibliography is data, not the text that cites it"),
    ("csh", "the C shell is another language than that of Bourne"),
    ("ejs", "a template of its own, with JavaScript inside"),
    ("gpr", "GNAT project files are written in a part of Ada"),
    ("hpp", "C++ by convention; there it is in a type for headers of both"),
    ("jsp", "a template of its own, with Java inside"),
    ("jspx", "as jsp"),
    ("properties", "keys and values, not Java"),
    ("rmd", "Markdown with R inside: divided by its headings"),
    ("sc", "Scala scripts are more common than Scheme's"),
    ("scm", "Scheme has a name of its own here"),
    ("tcsh", "as csh"),
    ("ui", "interfaces of Qt and GTK are XML"),
    ("xhtml", "read as HTML"),
];

/// The types under which `ignore` lists each plain extension.
fn types_by_extension() -> BTreeMap<String, Vec<String>> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for definition in TypesBuilder::new().add_defaults().definitions() {
        for glob in definition.globs() {
            let Some(extension) = glob.strip_prefix("*.") else {
                continue;
            };
            if extension.chars().all(|character| character.is_ascii_alphanumeric() || "+_".contains(character)) {
                types.entry(extension.to_ascii_lowercase()).or_default().push(definition.name().to_owned());
            }
        }
    }
    types
}

#[test]
fn an_extension_means_what_it_means_to_others() {
    let mut differing = Vec::new();
    for (extension, types) in types_by_extension() {
        let Some(ours) =
            LANGUAGES.iter().find(|language| language.extensions.split_whitespace().any(|own| own == extension))
        else {
            continue;
        };
        let agrees = types
            .iter()
            .any(|name| Language::resolve(name).is_some_and(|theirs| theirs.base_name() == ours.base_name()));
        let excepted = EXCEPTIONS.iter().any(|(excepted, _)| *excepted == extension);
        if agrees == excepted {
            differing.push(format!("{extension}: {} here, {types:?} there", ours.name));
        }
    }
    assert_eq!(differing, [""; 0]);
}

/// The trap: a document stored under another spelling is found by no filter and related to nothing.
#[test]
fn trap_documents_carry_canonical_names_only() {
    for language in LANGUAGES {
        for extension in language.extensions.split_whitespace() {
            let path = format!("src/a.{}", extension.to_uppercase());
            let document = read(&path, b"one line\n", &Options::default());
            assert_eq!(document.language, Some(language.name), "{path}");
        }
    }
}

#[test]
fn the_documentation_lists_every_language_with_symbols() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/languages.md");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for language in LANGUAGES.iter().filter(|language| language.has_symbols()) {
        let listed = text.contains(language.display) && text.contains(&format!("`{}`", language.name));
        assert!(listed, "docs/languages.md lacks {}", language.display);
    }
}
