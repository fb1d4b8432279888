//! Languages: one table of names, extensions, file names, interpreters and relations.

mod relation;
mod resolve;
mod table;

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

pub use relation::Relation;
pub use table::LANGUAGES;

/// What kind of text a language is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Program text, scripts, build files and queries.
    Code,
    /// Text written for people.
    Prose,
    /// Configuration and data.
    Data,
}

/// A grammar this crate parses with; every other language is read by its lines or headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Grammar {
    Rust,
    TypeScript,
    Tsx,
    JavaScript,
    Python,
    Go,
    Java,
    C,
    Cpp,
    CSharp,
    Ruby,
    Php,
    Kotlin,
    Swift,
    Bash,
}

/// One language.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// The canonical lowercase name, for example `cpp`: what is stored, compared and filtered by.
    pub name: &'static str,
    /// The name that people write, for example `C++`: for printing only.
    pub display: &'static str,
    /// Further names, lowercase. [`Language::resolve`] knows them together with the two above.
    pub aliases: &'static [&'static str],
    /// What it is for.
    pub category: Category,
    /// File name extensions without the first dot, lowercase.
    pub extensions: &'static [&'static str],
    /// Whole file names, lowercase.
    pub file_names: &'static [&'static str],
    /// Interpreters of a `#!` line, without version numbers.
    pub interpreters: &'static [&'static str],
    /// The language that this one is a dialect of, by canonical name: `typescript` for `tsx`.
    pub base: Option<&'static str>,
    /// The languages that answer a question about this one almost as well, by canonical name. Not always mutual.
    pub related: &'static [&'static str],
    pub(crate) grammar: Option<Grammar>,
}

impl Language {
    /// The language of a file, by its name and else by the `#!` on its first line (pass an empty string where it is
    /// not known).
    ///
    /// ```
    /// use tamis_text::Language;
    /// let name = |path, line| Language::of(path, line).map(|language| language.name);
    /// assert_eq!(name("src/main.CPP", ""), Some("cpp"));
    /// assert_eq!(name("bin/deploy", "#!/usr/bin/env -S python3.12 -u"), Some("python"));
    /// assert_eq!(name("mystery.xyzzy", ""), None);
    /// ```
    #[must_use]
    pub fn of(path: &str, first_line: &str) -> Option<&'static Self> {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let index = Index::get();
        if let Some(language) = index.file_names.get(name.as_str()) {
            return Some(language);
        }
        // The longest extension wins: `page.blade.php` before `php`. A leading dot starts no extension.
        let mut rest = name.as_str().get(1..).unwrap_or_default();
        while let Some((_, extension)) = rest.split_once('.') {
            if let Some(language) = index.extensions.get(extension) {
                return Some(language);
            }
            rest = extension;
        }
        // `Dockerfile.dev`, `Makefile.am`, `LICENSE-MIT`.
        let stem = name.split(['.', '-']).next().unwrap_or_default();
        if let Some(language) = index.file_names.get(stem) {
            return Some(language);
        }
        interpreter(first_line)
            .and_then(|interpreter| index.interpreters.get(interpreter.to_ascii_lowercase().as_str()).copied())
    }

    /// Whether files in it are divided by their symbols.
    #[must_use]
    pub fn has_symbols(&self) -> bool {
        self.grammar.is_some()
    }

    /// The language with this canonical name, exactly as it is stored. [`Language::resolve`] is for what people write.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Index::get().names.get(name).copied()
    }
}

/// `python` of `#!/usr/bin/env -S python3.12 -u`.
fn interpreter(first_line: &str) -> Option<&str> {
    let words = first_line.strip_prefix("#!")?.split_whitespace();
    let program = words
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    Some(program.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.'))
}

struct Index {
    names: HashMap<&'static str, &'static Language>,
    extensions: HashMap<&'static str, &'static Language>,
    file_names: HashMap<&'static str, &'static Language>,
    interpreters: HashMap<&'static str, &'static Language>,
}

impl Index {
    fn get() -> &'static Self {
        static INDEX: OnceLock<Index> = OnceLock::new();
        INDEX.get_or_init(|| {
            let by = |keys: fn(&'static Language) -> &'static [&'static str]| {
                LANGUAGES.iter().flat_map(|language| keys(language).iter().map(move |key| (*key, language))).collect()
            };
            Self {
                names: LANGUAGES.iter().map(|language| (language.name, language)).collect(),
                extensions: by(|language| language.extensions),
                file_names: by(|language| language.file_names),
                interpreters: by(|language| language.interpreters),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_key_names_two_languages() {
        let mut seen = HashSet::new();
        for language in LANGUAGES {
            assert_eq!(language.name, language.name.to_ascii_lowercase());
            assert!(seen.insert(("name", language.name)), "{}", language.name);
            for key in language.extensions {
                assert!(seen.insert(("extension", key)), "extension {key}");
                assert_eq!(*key, key.to_ascii_lowercase());
            }
            for key in language.file_names {
                assert!(seen.insert(("file", key)), "file name {key}");
            }
            for key in language.interpreters {
                assert!(seen.insert(("interpreter", key)), "interpreter {key}");
                assert_eq!(*key, key.to_ascii_lowercase());
            }
        }
    }

    #[test]
    fn tells_the_language_from_the_name() {
        let cases = [
            ("a.rs", "rust"),
            ("a.h", "c"),
            ("a.HPP", "cpp"),
            ("a.d.ts", "typescript"),
            ("a.tsx", "tsx"),
            ("a.mjs", "javascript"),
            ("a.jsx", "jsx"),
            ("a.pyi", "python"),
            ("Dockerfile", "dockerfile"),
            ("build/Dockerfile.dev", "dockerfile"),
            ("Makefile", "makefile"),
            ("CMakeLists.txt", "cmake"),
            ("LICENSE-MIT", "text"),
            ("README", "text"),
            (".bashrc", "shell"),
            ("notes.txt", "text"),
            ("Guide.MD", "markdown"),
            ("x.toml", "toml"),
            ("Gemfile", "ruby"),
        ];
        for (path, expected) in cases {
            assert_eq!(Language::of(path, "").map(|language| language.name), Some(expected), "{path}");
        }
        assert_eq!(Language::of(".rs", ""), None);
    }

    #[test]
    fn a_first_line_tells_what_the_name_does_not() {
        for (line, expected) in [
            ("#!/bin/bash", Some("shell")),
            ("#! /usr/bin/env node", Some("javascript")),
            ("#!/usr/bin/env -S FOO=1 ruby", Some("ruby")),
            ("#!", None),
            ("# no", None),
        ] {
            assert_eq!(Language::of("run", line).map(|language| language.name), expected, "{line}");
        }
    }
}
