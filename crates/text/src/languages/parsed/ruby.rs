//! Ruby.

use super::grammar;
use crate::languages::grammar::{Ends, Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("ruby", "Ruby", &["rb", "rake", "gemspec", "ru", "rbw", "podspec", "jbuilder", "rabl", "thor"])
        .parsed(GRAMMAR)
        .files(&[
            "gemfile", "rakefile", "podfile", "vagrantfile", "brewfile", "fastfile", "guardfile", "appraisals",
            "capfile", "berksfile", "dangerfile", "steepfile", "thorfile", "puppetfile", "deliverfile", "appfile",
            "matchfile", ".irbrc", ".pryrc",
        ])
        .interpreters(&["ruby", "jruby", "rake", "macruby", "rbx"]);

const GRAMMAR: Parsing = grammar!(
    "ruby",
    Grammar {
        language: || tree_sitter_ruby::LANGUAGE.into(),
        definitions: &[tree_sitter_ruby::TAGS_QUERY, DEFINITIONS],
        references: &[REFERENCES],
        depth: 16,
        naming: Naming { nested: "::", member: "#", modules_have_methods: true, ends: Ends::Line, ..Naming::DOTS },
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r#"
; What the grammar's own tags leave out.

(class name: (scope_resolution scope: (_) @scope name: (_) @name)) @definition.class
(module name: (scope_resolution scope: (_) @scope name: (_) @name)) @definition.module
(program (assignment left: (constant) @name) @definition.constant)

((assignment
  left: (constant) @name
  right: (call receiver: (constant) @receiver method: (identifier) @method block: (_))) @definition.class
  (#any-of? @receiver "Class" "Data" "Module" "Struct")
  (#any-of? @method "define" "new"))

((call method: (identifier) @method arguments: (argument_list . (simple_symbol) @name) block: (_)) @definition.method
  (#eq? @method "define_method"))

((call
  method: (identifier) @method
  arguments: (argument_list . [
    (simple_symbol) @name
    (pair key: [(simple_symbol) (hash_key_symbol)] @name)])
  block: (_)) @definition.function
  (#eq? @method "task"))

(comment) @lead
"#;

const REFERENCES: &str = r#"
; Instead of the grammar's own tags, which take every name for a call.

(call method: (_) @name) @reference.call
; A name that stands alone is a call without arguments: an assignment is no statement of its own name.
(body_statement (identifier) @name) @reference.call

(superclass [(constant) @name (scope_resolution name: (_) @name)]) @reference.implementation
((call
  method: (identifier) @method
  arguments: (argument_list [(constant) @name (scope_resolution name: (_) @name)])) @reference.implementation
  (#any-of? @method "extend" "include" "prepend"))

(constant) @name @reference.type
"#;
