//! The language of a file, by its name, its first line, and for endings that several languages share, the form of its lines.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::table::LANGUAGES;
use super::{Language, folded};
use crate::lines::{extension, file_name};

impl Language {
    /// The language of a file, by its name or else by the `#!` on its first line, which may be empty. Of a name without a dot, the
    /// first line says more.
    ///
    /// ```
    /// use tamis_text::Language;
    /// let name = |path, line| Language::detect(path, line).map(|language| language.name);
    /// assert_eq!(name("src/main.CPP", ""), Some("cpp"));
    /// assert_eq!(name("bin/deploy", "#!/usr/bin/env -S python3.12 -u"), Some("python"));
    /// assert_eq!(name("scripts/build", "#!/bin/sh -e"), Some("shell"));
    /// assert_eq!(name("mystery.xyzzy", ""), None);
    /// ```
    #[must_use]
    pub fn detect(path: &str, first_line: &str) -> Option<&'static Self> {
        let name = file_name(path).to_ascii_lowercase();
        let names = Names::get();
        let interpreted = || {
            let interpreter = interpreter(first_line)?.to_ascii_lowercase();
            names.interpreters.get(interpreter.as_str()).copied()
        };
        // `build` is also a name of Bazel's files.
        if let Some(language) = interpreted().filter(|_| !name.contains('.')) {
            return Some(language);
        }
        if let Some(language) = names.file_names.get(name.as_str()) {
            return Some(language);
        }
        // The longest extension wins: `page.blade.php` before `php`. A leading dot starts no extension.
        let mut rest = name.strip_prefix('.').unwrap_or(&name);
        while let Some((_, extension)) = rest.split_once('.') {
            if let Some(language) = names.extensions.get(extension) {
                return Some(language);
            }
            rest = extension;
        }
        // `Dockerfile.dev`, `Makefile.am`, `LICENSE-MIT`.
        let stem = name.split(['.', '-']).next().unwrap_or_default();
        if let Some(language) = names.file_names.get(stem) {
            return Some(language);
        }
        interpreted()
    }

    /// The language of a file by its name and its text.
    pub(crate) fn of_text(path: &str, text: &str) -> Option<&'static Self> {
        Self::detect(path, text.lines().next().unwrap_or_default()).map(|language| refined(language, path, text))
    }

    /// The language with this canonical name, exactly as it is stored. [`Language::resolve`] accepts what people write.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        Names::get().names.get(name).copied()
    }
}

/// `python` of `#!/usr/bin/env -S python3.12 -u`.
fn interpreter(first_line: &str) -> Option<&str> {
    let words = first_line.strip_prefix("#!")?.split_whitespace();
    let program = words.map(file_name).find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    Some(program.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.'))
}

type ByWord = HashMap<&'static str, &'static Language>;

pub struct Names {
    /// By every way to write the name, as it is compared.
    pub written: HashMap<String, &'static Language>,
    names: ByWord,
    pub extensions: ByWord,
    file_names: ByWord,
    interpreters: ByWord,
}

impl Names {
    pub fn get() -> &'static Self {
        static NAMES: OnceLock<Names> = OnceLock::new();
        NAMES.get_or_init(|| {
            let by = |words: fn(&'static Language) -> &'static str| {
                let each = |language| words(language).split_whitespace().map(move |word| (word, language));
                LANGUAGES.iter().flat_map(each).collect()
            };
            let written =
                |language: &'static Language| language.written_names().map(move |name| (folded(name), language));
            Self {
                written: LANGUAGES.iter().flat_map(written).collect(),
                names: by(|language| language.name),
                extensions: by(|language| language.extensions),
                file_names: by(|language| language.file_names),
                interpreters: by(|language| language.interpreters),
            }
        })
    }
}

// The language of a file whose ending several languages share, by the form of its lines.

/// Lines of a text that are read.
const HEAD_LINES: usize = 2_000;

/// The language of a text at `path`, of which its name alone says `language`.
pub fn refined(language: &'static Language, path: &str, text: &str) -> &'static Language {
    let meant = match extension(path).as_str() {
        "h" => header(text),
        "m" => objective_c_or_others(text),
        "pl" => perl_or_prolog(text),
        "pro" => {
            any(text, |line| is_assigned(line, &["TEMPLATE", "SOURCES", "HEADERS", "QT", "CONFIG"])).then_some("qmake")
        }
        "ts" => text.trim_start().starts_with('<').then_some("xml"),
        "v" => verilog_or_others(text),
        _ => None,
    };
    meant.and_then(Language::from_name).unwrap_or(language)
}

/// Returns `true` if a line of the text has this form.
fn any(text: &str, is: impl Fn(&str) -> bool) -> bool {
    text.lines().take(HEAD_LINES).any(is)
}

fn starts(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.starts_with(word))
}

/// `QT += core`
fn is_assigned(line: &str, names: &[&str]) -> bool {
    let line = line.trim_start();
    names
        .iter()
        .any(|name| line.strip_prefix(name).is_some_and(|rest| starts(rest.trim_start(), &["=", "+=", "-=", "*="])))
}

/// C, C++ or Objective-C.
fn header(text: &str) -> Option<&'static str> {
    const CPP_ONLY: &[&str] = &[
        "class ", "namespace ", "template<", "template <", "using ", "public:", "private:", "protected:", "constexpr ",
    ];
    let is_qualified = |line: &str| line.contains("::") && !starts(line, &["//", "/*", "*", "#", "[["]);
    let cpp = |line: &str| {
        let line = line.trim();
        (starts(line, CPP_ONLY) || is_qualified(line)) && line.ends_with(['{', '}', ';', ':', '>', ','])
    };
    // `<string>`. A header of C can have such a line for its readers in C++, whom it tells by a macro.
    let include = |line: &str| line.strip_prefix("#include <").is_some_and(|header| !header.contains('.'));
    if any(text, |line| starts(line, &["@interface ", "@protocol ", "@class ", "@import ", "#import "])) {
        return Some("objectivec");
    }
    (any(text, cpp) || (any(text, include) && !text.contains("__cplusplus"))).then_some("cpp")
}

/// Objective-C, MATLAB or Mercury.
fn objective_c_or_others(text: &str) -> Option<&'static str> {
    let objective_c = |line: &str| {
        starts(line, &["#import", "#include", "@interface", "@implementation", "@protocol", "@import", "//", "/*"])
    };
    if any(text, |line| starts(line, &[":- module ", ":- interface.", ":- pred ", ":- func ", ":- type "])) {
        return Some("mercury");
    }
    let matlab = |line: &str| {
        let line = line.trim_start();
        starts(line, &["function ", "classdef ", "%", "disp(", "fprintf("])
            || (line.contains(" = ") && line.ends_with("];"))
    };
    (!any(text, objective_c) && any(text, matlab)).then_some("matlab")
}

/// Perl or Prolog. Clauses end with a full stop, and Perl has its sigils.
fn perl_or_prolog(text: &str) -> Option<&'static str> {
    let perl = |line: &str| {
        let line = line.trim_start();
        starts(line, &["#!", "use ", "my ", "our ", "sub ", "package ", "require ", "=pod", "=head"])
            || line.contains("$_")
    };
    let prolog = |line: &str| {
        let line = line.trim();
        starts(line, &[":- ", ":-", "?- "])
            || line.ends_with(":-")
            || (line.contains(" :- ") && line.ends_with(['.', ',']))
            || (line.ends_with(").") && line.starts_with(|first: char| first.is_ascii_lowercase()))
    };
    (!any(text, perl) && any(text, prolog)).then_some("prolog")
}

/// Verilog, Coq or V.
fn verilog_or_others(text: &str) -> Option<&'static str> {
    let verilog = |line: &str| {
        let line = line.trim_start();
        starts(line, &["endmodule", "always ", "always@", "always_", "assign ", "`timescale", "`define", "`include"])
            || (line.starts_with("module ") && line.ends_with(['(', ';', ')']))
    };
    let coq = |line: &str| {
        const WORDS: &[&str] = &[
            "Require ", "From ", "Import ", "Theorem ", "Lemma ", "Definition ", "Fixpoint ", "Inductive ", "Proof",
            "Qed.", "Section ", "Module ", "Notation ", "Ltac ", "Corollary ", "Variable ", "Record ", "Class ",
            "Instance ",
        ];
        starts(line.trim_start(), WORDS)
    };
    let v = |line: &str| {
        starts(line, &["module ", "import "]) && !line.ends_with(['(', ';', ')', ','])
            || (starts(line, &["fn ", "pub fn ", "struct ", "pub struct ", "enum ", "interface "])
                && line.ends_with('{'))
    };
    match () {
        () if any(text, verilog) => None,
        () if any(text, coq) => Some("coq"),
        () if any(text, v) => Some("v"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_key_names_two_languages() {
        let mut seen = HashSet::new();
        for language in LANGUAGES {
            assert_eq!(language.name, language.name.to_ascii_lowercase());
            assert!(seen.insert(("name", language.name)), "{}", language.name);
            for key in language.extensions.split_whitespace() {
                assert!(seen.insert(("extension", key)), "extension {key}");
                assert_eq!(key, key.to_ascii_lowercase());
            }
            for key in language.file_names.split_whitespace() {
                assert!(seen.insert(("file", key)), "file name {key}");
            }
            for key in language.interpreters.split_whitespace() {
                assert!(seen.insert(("interpreter", key)), "interpreter {key}");
                assert_eq!(key, key.to_ascii_lowercase());
            }
        }
    }

    const NAMES: &str = "\
rust: a.rs
c: a.h
cpp: a.HPP
typescript: a.d.ts
tsx: a.tsx
javascript: a.mjs
jsx: a.jsx
python: a.pyi src/пример.py
dockerfile: Dockerfile build/Dockerfile.dev app.Dockerfile
makefile: Makefile GNUmakefile Makefile.am
cmake: CMakeLists.txt
text: LICENSE-MIT README notes.txt
shell: .bashrc PKGBUILD .zlogin
markdown: Guide.MD docs/Übersicht.md 概要.md
toml: x.toml
ruby: Gemfile Rakefile .irbrc config.ru
word: документ.docx
jupyter: 📓.ipynb
blade: é.blade.php page.blade.php
meson: meson.build
vim_script: .gvimrc
kconfig: Kconfig
bazel: WORKSPACE
gradle: build.gradle.kts
erb: view.html.erb
swift: Package.swift";

    #[test]
    fn a_name_tells_the_language_or_else_a_first_line() {
        for line in NAMES.lines() {
            let (language, paths) = line.split_once(": ").expect("a language");
            for path in paths.split(' ') {
                assert_eq!(Language::detect(path, "").map(|language| language.name), Some(language), "{path}");
            }
        }
        assert_eq!(Language::detect(".rs", ""), None);
        for (line, expected) in [
            ("#!/bin/bash", Some("shell")),
            ("#! /usr/bin/env node", Some("javascript")),
            ("#!/usr/bin/env -S FOO=1 ruby", Some("ruby")),
            ("#!", None),
            ("# no", None),
        ] {
            assert_eq!(Language::detect("run", line).map(|language| language.name), expected, "{line}");
        }
    }

    #[test]
    fn an_ending_of_several_languages_is_told_by_the_content() {
        for (path, text, expected) in [
            ("a.h", "#include <string>\n\nint a(b *c);\n", "cpp"),
            ("a.h", "a::b c(const d &e);\n", "cpp"),
            ("a.h", "// As std::string;\n#include <sys/types.h>\nint a(b *c);\n", "c"),
            ("a.m", "#import <Foundation/Foundation.h>\n\n@implementation A\n@end\n", "objectivec"),
            ("a.m", "// A note\nint main(void) { return 0; }\n", "objectivec"),
            ("a.m", "function y = square(x)\n% Squares a number.\ny = x.^2;\nend\n", "matlab"),
            ("a.m", "% Plots a wave\nt = 0:0.1:10;\nplot(t, sin(t))\n", "matlab"),
            ("a.m", ":- module hello.\n:- interface.\n:- import_module io.\n", "mercury"),
            ("a.v", "`timescale 1ns/1ps\nmodule top(input clk);\nendmodule\n", "verilog"),
            ("a.v", "Require Import List.\n\nLemma a : 1 = 1.\nProof. reflexivity. Qed.\n", "coq"),
            ("a.v", "module main\n\nimport os\n\nfn main() {\n\tprintln('a')\n}\n", "v"),
            ("a.v", "", "verilog"),
            ("a.pl", "#!/usr/bin/perl\nuse strict;\nmy $a = 1;\n", "perl"),
            ("a.pl", "print \"a\\n\";\n", "perl"),
            ("a.pl", "parent(tom, bob).\ngrandparent(X, Z) :- parent(X, Y), parent(Y, Z).\n", "prolog"),
            ("a.pl", ":- use_module(library(lists)).\n", "prolog"),
            ("a.ts", "export const a: number = 1;\n", "typescript"),
            ("a.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\"></TS>\n", "xml"),
            ("a.TS", "<!DOCTYPE TS><TS>\n", "xml"),
            ("a.pro", "QT += core gui\nTEMPLATE = app\n", "qmake"),
            ("a.pro", "likes(mary, wine).\n", "prolog"),
            ("a.rs", "#import\n", "rust"),
        ] {
            assert_eq!(Language::of_text(path, text).map(|language| language.name), Some(expected), "{path}: {text}");
        }
    }
}
