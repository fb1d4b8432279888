//! The shell languages, whose grammar has no tags of its own.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("shell", "Shell", &["sh", "bash", "zsh", "ksh", "bats", "ebuild", "ash", "dash", "eclass"])
        .parsed(GRAMMAR)
        .files(&[
            ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", "pkgbuild", ".bash_login", ".bash_logout",
            ".bash_aliases", ".zprofile", ".zlogin", ".zlogout", ".kshrc", "gradlew", "mvnw",
        ])
        .interpreters(&["sh", "bash", "zsh", "ksh", "dash", "ash", "bats", "mksh", "rbash", "busybox"])
        .aliases(&["shellscript"]);

const GRAMMAR: Parsing = grammar!(
    "shell",
    Grammar {
        language: || tree_sitter_bash::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 8,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r#"
; The grammar has no tags of its own.

(function_definition name: (word) @name) @definition.function

; Other assignments are steps of the script that they stand in.
(program (declaration_command ["readonly" "declare"] (variable_assignment name: (variable_name) @name)) @definition.constant)

(comment) @lead
"#;

const REFERENCES: &str = r"
; The grammar has no tags of its own.

(command name: (command_name (word) @name)) @reference.call
";
