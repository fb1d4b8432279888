//! The languages that are divided by their symbols: names, files, and the grammar with its queries for definitions and references.

/// A grammar that is built in with the feature of its name: its parser, its queries for definitions and for references, and what
/// differs from [`Grammar::new`].
macro_rules! grammar {
    ($feature:literal, $parser:ident::$language:ident, [$($definitions:expr),*], [$($references:expr),*] $(, $field:ident: $value:expr)*) => {{
        #[cfg(feature = $feature)]
        {
            $crate::languages::Parsing::Grammar(|| {
                static GRAMMAR: $crate::languages::Grammar = $crate::languages::Grammar {
                    $($field: $value,)*
                    ..$crate::languages::Grammar::new(|| $parser::$language.into(), &[$($definitions),*], &[$($references),*])
                };
                &GRAMMAR
            })
        }
        #[cfg(not(feature = $feature))]
        {
            $crate::languages::Parsing::NotBuilt
        }
    }};
}

pub mod c;
mod c_declarations;
pub mod csharp_go_haskell_rust_swift_zig;
pub mod dart_powershell_r_solidity_graphql;
pub mod elixir_lua_php_ruby_shell;
pub mod java_kotlin_scala;
pub mod javascript;
pub mod python;
pub mod sql_hcl_protobuf;

use std::borrow::Cow;
use std::fmt;

// The grammar of a language: its parser, and its queries for definitions and references.

/// A grammar with its queries. Each grammar exists once, so equality is identity.
pub struct Grammar {
    pub language: fn() -> tree_sitter::Language,
    /// Queries for definitions: the grammar's own tags, if they are good, and additions.
    pub definitions: &'static [&'static str],
    /// Queries for references.
    pub references: &'static [&'static str],
    /// Depth of the tree down to which definitions are searched. Types in types in namespaces need some depth, and more
    /// takes time.
    pub depth: u32,
    pub naming: Naming,
    /// Rewrites a text for the parser, which would not understand it as it is.
    pub rewrite: Option<Rewrite>,
    pub title: Option<Title>,
}

impl Grammar {
    /// A grammar of the most common kind.
    pub const fn new(
        language: fn() -> tree_sitter::Language,
        definitions: &'static [&'static str],
        references: &'static [&'static str],
    ) -> Self {
        Self { language, definitions, references, depth: 12, naming: Naming::DOTS, rewrite: None, title: None }
    }

    /// The text that the parser reads.
    pub fn parsed_text<'text>(&self, text: &'text str) -> Cow<'text, str> {
        let rewritten = self.rewrite.and_then(|rewrite| rewrite(text));
        debug_assert!(rewritten.as_ref().is_none_or(|rewritten| rewritten.len() == text.len()));
        rewritten.map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

/// Returns a text of the same length and lines, in which names and definitions stand at the same places; `None` to leave it as
/// it is.
pub type Rewrite = fn(&str) -> Option<String>;

/// Finds the first line of the documentation of a file among its first rows, in a language with such a convention.
pub type Title = for<'text> fn(&[&'text str]) -> Option<&'text str>;

impl PartialEq for Grammar {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Grammar {}

impl fmt::Debug for Grammar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Grammar").field("definitions", &self.definitions).finish_non_exhaustive()
    }
}

/// The form of a qualified name.
pub struct Naming {
    /// Separator before a type or module inside another.
    pub nested: &'static str,
    /// Separator before a function of a type.
    pub member: &'static str,
    /// True if functions of a module are methods, as in languages that mix modules into classes.
    pub modules_have_methods: bool,
    /// True if a module is looked for by its name, as a class is, however little stands before its functions.
    pub modules_are_types: bool,
    /// The end of a signature without a bracket or `=` behind it.
    pub ends: Ends,
    /// True if consecutive functions of one name are the clauses of one, as in languages with pattern matching.
    pub clauses: bool,
}

impl Naming {
    pub const COLONS: Naming = Naming { nested: "::", member: "::", ..Naming::DOTS };
    /// Names separated by dots, and bodies in braces.
    pub const DOTS: Naming = Naming {
        nested: ".",
        member: ".",
        modules_have_methods: false,
        modules_are_types: false,
        ends: Ends::Brace,
        clauses: false,
    };
}

/// The character that ends a signature.
#[derive(Clone, Copy, PartialEq)]
pub enum Ends {
    /// An opening brace.
    Brace,
    /// A colon outside brackets.
    Colon,
    /// A line end outside brackets.
    Line,
}
