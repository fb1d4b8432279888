//! Scripting languages: Elixir, Lua, PHP, Ruby, the shells.

use super::{Ends, Naming};
use crate::languages::{Language, code};

/// Elixir, in which definitions are calls of macros.
#[rustfmt::skip]
pub const ELIXIR: Language = code("elixir", "Elixir", "ex exs").interpreters("elixir")
    .parsed(grammar!(
        "elixir",
        tree_sitter_elixir::LANGUAGE,
        [r#"
; Instead of the grammar's own tags, which take macros for functions.

((call target: (identifier) @keyword (arguments . (alias) @name) (do_block)) @definition.module
        (#eq? @keyword "defmodule"))
((call target: (identifier) @keyword (arguments . (alias) @name) (do_block)) @definition.interface
        (#eq? @keyword "defprotocol"))
((call
        target: (identifier) @keyword
        (arguments . (alias) @scope (keywords (pair key: (keyword) @key value: (alias) @name)))
        (do_block)) @definition.implementation
        (#eq? @keyword "defimpl")
        (#match? @key "^for:"))
; For the module around it, or for several.
((call
        target: (identifier) @keyword
        [
        (arguments . (alias) @name .)
        (arguments . (alias) @name . (keywords (pair value: [(list) (call) (identifier)])))]
        (do_block)) @definition.implementation
        (#eq? @keyword "defimpl"))

((call
        target: (identifier) @keyword
        (arguments . [
        (identifier) @name
        (call target: (identifier) @name)
        (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")])) @definition.function
        (#any-of? @keyword "def" "defp" "defdelegate" "defn" "defnp"))
; `def left <~> right`
((call
        target: (identifier) @keyword
        (arguments . [
        (binary_operator operator: _ @name)
        (binary_operator left: (binary_operator operator: _ @name) operator: "when")])) @definition.function
        (#any-of? @keyword "def" "defp" "defmacro" "defmacrop")
        (#not-eq? @name "when"))
((call
        target: (identifier) @keyword
        (arguments . [
        (identifier) @name
        (call target: (identifier) @name)
        (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")])) @definition.macro
        (#any-of? @keyword "defmacro" "defmacrop" "defguard" "defguardp"))

((unary_operator
        operator: "@"
        operand: (call target: (identifier) @keyword (arguments (binary_operator left: (_) @name operator: "::")))) @definition.alias
        (#any-of? @keyword "type" "typep" "opaque"))

((unary_operator operator: "@" operand: [(identifier) @keyword (call target: (identifier) @keyword)]) @lead
        (#any-of? @keyword "doc" "typedoc" "spec" "impl" "deprecated" "since" "tag" "dialyzer" "decorate"))
(comment) @lead
"#],
        [r#"
; Instead of the grammar's own tags, which take definitions for calls.

((call target: (identifier) @name) @reference.call
  (#not-any-of? @name "def" "defp" "defdelegate" "defn" "defnp" "defmacro" "defmacrop" "defguard" "defguardp" "defmodule"
    "defprotocol" "defimpl" "defstruct" "defexception" "defoverridable" "alias" "import" "require" "use" "case" "cond"
    "for" "if" "unless" "with" "quote" "unquote" "unquote_splicing" "receive" "try" "raise" "reraise" "throw" "super"))
(call target: (dot right: (identifier) @name)) @reference.call
(binary_operator operator: "|>" right: (identifier) @name) @reference.call

((call target: (identifier) @keyword (arguments . (alias) @name)) @reference.implementation
  (#any-of? @keyword "defimpl" "use"))
((unary_operator operator: "@" operand: (call target: (identifier) @keyword (arguments (alias) @name))) @reference.implementation
  (#eq? @keyword "behaviour"))

(alias) @name @reference.type
"#],
        depth: 10,
        naming: Naming { clauses: true, modules_are_types: true, ends: Ends::Line, ..Naming::DOTS }
    ));

/// Lua.
#[rustfmt::skip]
pub const LUA: Language = code("lua", "Lua", "lua luau rockspec")
    .files(".luacheckrc")
    .interpreters("lua luajit")
    .parsed(grammar!(
        "lua",
        tree_sitter_lua::LANGUAGE,
        [r"
; Instead of the grammar's own tags, which drop the table of a function.

(function_declaration name: [(identifier) (dot_index_expression)] @name) @definition.function
(function_declaration
  name: (method_index_expression table: (_) @scope method: (identifier) @name)) @definition.method
(assignment_statement
  (variable_list . name: [(identifier) (dot_index_expression)] @name)
  (expression_list . value: (function_definition))) @definition.function

; Modules and classes are tables.
(chunk (variable_declaration
  (assignment_statement
    (variable_list . name: (identifier) @name)
    (expression_list . value: [(table_constructor) (number) (string)])) @definition.constant))

(variable_declaration) @wrap
(comment) @lead
"],
        [r"
(function_call name: (identifier) @name) @reference.call
(function_call name: (dot_index_expression field: (identifier) @name)) @reference.call
(function_call name: (method_index_expression method: (identifier) @name)) @reference.call
"],
        depth: 8,
        naming: Naming { member: ":", ends: Ends::Line, ..Naming::DOTS }
    ));

/// PHP.
#[rustfmt::skip]
pub const PHP: Language =
    code("php", "PHP", "php phtml php3 php4 php5 php7 php8 pht")
        .interpreters("php php-cgi")
        .parsed(grammar!(
        "php",
        tree_sitter_php::LANGUAGE_PHP,
        [tree_sitter_php::TAGS_QUERY, r#"
; What the grammar's own tags leave out.

(enum_declaration name: (name) @name) @definition.class
(program (const_declaration (const_element . (name) @name)) @definition.constant)
((expression_statement
  (function_call_expression function: (name) @function arguments: (arguments . (argument (string) @name))))
  @definition.constant
  (#eq? @function "define"))

(namespace_definition name: (namespace_name) @namespace !body)

(comment) @lead
"#],
        [r#"
; Instead of the grammar's own tags, which take variables for what they hold.

(function_call_expression function: [(name) (qualified_name)] @name) @reference.call
(member_call_expression name: (name) @name) @reference.call
(nullsafe_member_call_expression name: (name) @name) @reference.call
(scoped_call_expression name: (name) @name) @reference.call
(object_creation_expression [(name) (qualified_name)] @name) @reference.call

(base_clause [(name) (qualified_name)] @name) @reference.implementation
(class_interface_clause [(name) (qualified_name)] @name) @reference.implementation
(use_declaration [(name) (qualified_name)] @name) @reference.implementation

(named_type [(name) (qualified_name)] @name) @reference.type
(scoped_call_expression scope: [(name) (qualified_name)] @name) @reference.type
(class_constant_access_expression . [(name) (qualified_name)] @name) @reference.type
(attribute [(name) (qualified_name)] @name) @reference.type
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @name) @reference.type
"#],
        naming: Naming { nested: "\\", member: "::", ..Naming::DOTS }
    ));

/// Ruby.
#[rustfmt::skip]
pub const RUBY: Language =
    code("ruby", "Ruby", "rb rake gemspec ru rbw podspec jbuilder rabl thor")
        .files("\
            gemfile rakefile podfile vagrantfile brewfile fastfile guardfile appraisals \
            capfile berksfile dangerfile steepfile thorfile puppetfile deliverfile appfile \
            matchfile .irbrc .pryrc")
        .interpreters("ruby jruby rake macruby rbx")
        .parsed(grammar!(
        "ruby",
        tree_sitter_ruby::LANGUAGE,
        [tree_sitter_ruby::TAGS_QUERY, r#"
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
"#],
        [r#"
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
"#],
        depth: 16,
        naming: Naming { nested: "::", member: "#", modules_have_methods: true, ends: Ends::Line, ..Naming::DOTS }
    ));

/// The shell languages, whose grammar has no tags of its own.
pub const SHELL: Language = code("shell", "Shell", "sh bash zsh ksh bats ebuild ash dash eclass")
        .files("\
            .bashrc .bash_profile .profile .zshrc .zshenv pkgbuild .bash_login .bash_logout \
            .bash_aliases .zprofile .zlogin .zlogout .kshrc gradlew mvnw")
        .interpreters("sh bash zsh ksh dash ash bats mksh rbash busybox")
        .aliases("shellscript")
    .parsed(grammar!(
        "shell",
        tree_sitter_bash::LANGUAGE,
        [r#"
; The grammar has no tags of its own.

(function_definition name: (word) @name) @definition.function

; Other assignments are steps of the script that they stand in.
(program (declaration_command ["readonly" "declare"] (variable_assignment name: (variable_name) @name)) @definition.constant)

(comment) @lead
"#],
        [r"
; The grammar has no tags of its own.

(command name: (command_name (word) @name)) @reference.call
"],
        depth: 8
    ));
