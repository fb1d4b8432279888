//! The language of a file.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::by_content::refined;
use super::language::Language;
use super::table::LANGUAGES;

impl Language {
    /// The language of a file, by its name or else by the `#!` on its first line, which may be empty.
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
        let mut rest = name.strip_prefix('.').unwrap_or(&name);
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

    /// The language of a file by its name and its text.
    pub(crate) fn of_text(path: &str, text: &str) -> Option<&'static Self> {
        Self::of(path, text.lines().next().unwrap_or_default()).map(|language| refined(language, path, text))
    }

    /// The language with this canonical name, exactly as it is stored. [`Language::resolve`] accepts what people write.
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

pub(super) struct Index {
    names: HashMap<&'static str, &'static Language>,
    pub(super) extensions: HashMap<&'static str, &'static Language>,
    file_names: HashMap<&'static str, &'static Language>,
    interpreters: HashMap<&'static str, &'static Language>,
}

impl Index {
    pub(super) fn get() -> &'static Self {
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
    fn a_name_tells_the_language() {
        for line in [
            "rust: a.rs",
            "c: a.h",
            "cpp: a.HPP",
            "typescript: a.d.ts",
            "tsx: a.tsx",
            "javascript: a.mjs",
            "jsx: a.jsx",
            "python: a.pyi src/пример.py",
            "dockerfile: Dockerfile build/Dockerfile.dev app.Dockerfile",
            "makefile: Makefile GNUmakefile Makefile.am",
            "cmake: CMakeLists.txt",
            "text: LICENSE-MIT README notes.txt",
            "shell: .bashrc PKGBUILD .zlogin",
            "markdown: Guide.MD docs/Übersicht.md 概要.md",
            "toml: x.toml",
            "ruby: Gemfile Rakefile .irbrc config.ru",
            "word: документ.docx",
            "jupyter: 📓.ipynb",
            "blade: é.blade.php page.blade.php",
            "meson: meson.build",
            "vim_script: .gvimrc",
            "kconfig: Kconfig",
            "bazel: WORKSPACE",
            "gradle: build.gradle.kts",
            "erb: view.html.erb",
            "swift: Package.swift",
        ] {
            let (language, paths) = line.split_once(": ").expect("a language");
            for path in paths.split(' ') {
                assert_eq!(Language::of(path, "").map(|language| language.name), Some(language), "{path}");
            }
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
