//! The grammars, and the queries that find the definitions in their trees.

use std::sync::OnceLock;

use tree_sitter::{CaptureQuantifier, Query};

use super::item::ItemKind;
use super::references::ReferenceKind;
use crate::languages::Grammar;

/// What a capture of a query stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capture {
    /// The name of the definition.
    Name,
    /// What the name belongs to although it does not enclose it: a receiver.
    Scope,
    /// The namespace of everything that follows.
    Namespace,
    /// The whole definition.
    Definition(ItemKind),
    /// A node around a definition that belongs to it: its decorators, its `export`.
    Wrap,
    /// A comment or an attribute: what stands directly above a definition belongs to it.
    Lead,
    /// Nothing of interest here.
    Other,
}

/// One grammar with its compiled query.
pub(super) struct Compiled {
    pub(super) query: Query,
    /// By capture index.
    pub(super) captures: Vec<Capture>,
    pub(super) naming: Naming,
    /// How deep in the tree definitions are looked for.
    pub(super) depth: u32,
}

/// How a language writes a qualified name.
pub(super) struct Naming {
    /// Before a type or module inside of another.
    pub(super) nested: &'static str,
    /// Before a function of a type.
    pub(super) member: &'static str,
    /// Whether the functions of a module are methods, as they are where modules are mixed into classes.
    pub(super) modules_have_methods: bool,
    /// Where a signature ends when no bracket or `=` ends it.
    pub(super) ends: Ends,
}

/// What ends a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// An opening brace.
    Brace,
    /// A colon outside of brackets.
    Colon,
    /// The end of a line outside of brackets.
    Line,
}

impl Compiled {
    pub(super) fn get(grammar: Grammar) -> &'static Self {
        static COMPILED: [OnceLock<Compiled>; GRAMMARS] = [const { OnceLock::new() }; GRAMMARS];
        COMPILED[grammar as usize].get_or_init(|| compile(grammar))
    }
}

/// The query for what a text refers to.
pub(super) struct References {
    pub(super) query: Query,
    /// By capture index.
    pub(super) captures: Vec<ReferenceCapture>,
}

/// What a capture of the query for references stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceCapture {
    /// The name that is referred to.
    Name,
    /// The whole reference.
    Reference(ReferenceKind),
    /// Nothing of interest here.
    Other,
}

impl References {
    pub(super) fn get(grammar: Grammar) -> &'static Self {
        static COMPILED: [OnceLock<References>; GRAMMARS] = [const { OnceLock::new() }; GRAMMARS];
        COMPILED[grammar as usize].get_or_init(|| {
            let matters = |capture| matches!(capture, ReferenceCapture::Reference(_));
            let (query, captures) = query(grammar, reference_sources(grammar), reference_capture, matters);
            Self { query, captures }
        })
    }
}

fn reference_capture(name: &str) -> ReferenceCapture {
    match name {
        "name" => ReferenceCapture::Name,
        "reference.call" | "reference.send" => ReferenceCapture::Reference(ReferenceKind::Call),
        "reference.implementation" | "reference.interface" => {
            ReferenceCapture::Reference(ReferenceKind::Implementation)
        }
        "reference.type" | "reference.class" => ReferenceCapture::Reference(ReferenceKind::Type),
        _ => ReferenceCapture::Other,
    }
}

/// The number of variants of [`Grammar`].
pub(super) const GRAMMARS: usize = Grammar::Bash as usize + 1;

pub(super) fn language(grammar: Grammar) -> tree_sitter::Language {
    match grammar {
        Grammar::Rust => tree_sitter_rust::LANGUAGE,
        Grammar::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Grammar::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Grammar::JavaScript => tree_sitter_javascript::LANGUAGE,
        Grammar::Python => tree_sitter_python::LANGUAGE,
        Grammar::Go => tree_sitter_go::LANGUAGE,
        Grammar::Java => tree_sitter_java::LANGUAGE,
        Grammar::C => tree_sitter_c::LANGUAGE,
        Grammar::Cpp => tree_sitter_cpp::LANGUAGE,
        Grammar::CSharp => tree_sitter_c_sharp::LANGUAGE,
        Grammar::Ruby => tree_sitter_ruby::LANGUAGE,
        Grammar::Php => tree_sitter_php::LANGUAGE_PHP,
        Grammar::Kotlin => tree_sitter_kotlin_ng::LANGUAGE,
        Grammar::Swift => tree_sitter_swift::LANGUAGE,
        Grammar::Bash => tree_sitter_bash::LANGUAGE,
    }
    .into()
}

/// The grammar's own tags and the additions to them. The grammars of Kotlin and Bash have no tags, and those of Swift
/// take the whole class for each of its methods.
fn sources(grammar: Grammar) -> &'static [&'static str] {
    macro_rules! own {
        ($name:literal) => {
            include_str!(concat!("../../queries/", $name, ".scm"))
        };
    }
    match grammar {
        Grammar::Rust => &[tree_sitter_rust::TAGS_QUERY, own!("rust")],
        Grammar::Python => &[tree_sitter_python::TAGS_QUERY, own!("python")],
        Grammar::Go => &[tree_sitter_go::TAGS_QUERY, own!("go")],
        Grammar::Java => &[tree_sitter_java::TAGS_QUERY, own!("java")],
        Grammar::C => &[tree_sitter_c::TAGS_QUERY, own!("c")],
        Grammar::Cpp => &[tree_sitter_cpp::TAGS_QUERY, own!("c"), own!("cpp")],
        Grammar::CSharp => &[tree_sitter_c_sharp::TAGS_QUERY, own!("csharp")],
        Grammar::Ruby => &[tree_sitter_ruby::TAGS_QUERY, own!("ruby")],
        Grammar::Php => &[tree_sitter_php::TAGS_QUERY, own!("php")],
        Grammar::Kotlin => &[own!("kotlin")],
        Grammar::Swift => &[own!("swift")],
        Grammar::Bash => &[own!("bash")],
        Grammar::JavaScript => &[tree_sitter_javascript::TAGS_QUERY, own!("javascript"), own!("javascript_fields")],
        Grammar::TypeScript | Grammar::Tsx => &[
            tree_sitter_javascript::TAGS_QUERY,
            tree_sitter_typescript::TAGS_QUERY,
            own!("javascript"),
            own!("typescript"),
        ],
    }
}

/// The same for what a text refers to. The tags of some grammars have no references, or more than there are.
fn reference_sources(grammar: Grammar) -> &'static [&'static str] {
    macro_rules! own {
        ($name:literal) => {
            include_str!(concat!("../../queries/references/", $name, ".scm"))
        };
    }
    match grammar {
        Grammar::Rust => &[tree_sitter_rust::TAGS_QUERY, own!("rust")],
        Grammar::Python => &[tree_sitter_python::TAGS_QUERY, own!("python")],
        Grammar::Go => &[tree_sitter_go::TAGS_QUERY, own!("go")],
        Grammar::Java => &[tree_sitter_java::TAGS_QUERY, own!("java")],
        Grammar::C => &[own!("c")],
        Grammar::Cpp => &[own!("c"), own!("cpp")],
        Grammar::CSharp => &[tree_sitter_c_sharp::TAGS_QUERY, own!("csharp")],
        Grammar::Ruby => &[own!("ruby")],
        Grammar::Php => &[own!("php")],
        Grammar::Kotlin => &[own!("kotlin")],
        Grammar::Swift => &[own!("swift")],
        Grammar::Bash => &[own!("bash")],
        Grammar::JavaScript => {
            &[tree_sitter_javascript::TAGS_QUERY, own!("javascript"), own!("javascript_classes"), own!("jsx")]
        }
        Grammar::TypeScript => &[tree_sitter_javascript::TAGS_QUERY, own!("javascript"), own!("typescript")],
        Grammar::Tsx => &[tree_sitter_javascript::TAGS_QUERY, own!("javascript"), own!("typescript"), own!("jsx")],
    }
}

/// A query with the meaning of its captures, by index; patterns without a capture that matters are switched off, since
/// they cost time and give nothing.
pub(super) fn query<Meaning: Copy>(
    grammar: Grammar,
    sources: &[&str],
    meaning: impl Fn(&str) -> Meaning,
    matters: impl Fn(Meaning) -> bool,
) -> (Query, Vec<Meaning>) {
    // The queries are part of this program: a test compiles each of them.
    let source = without_documentation(&sources.join("\n"));
    let mut query = Query::new(&language(grammar), &source).expect("the query is valid for its grammar");
    let captures: Vec<Meaning> = query.capture_names().iter().map(|name| meaning(name)).collect();
    for pattern in 0..query.pattern_count() {
        let quantifiers = query.capture_quantifiers(pattern).iter();
        let mut occurring =
            quantifiers.zip(&captures).filter(|(quantifier, _)| **quantifier != CaptureQuantifier::Zero);
        if !occurring.any(|(_, capture)| matters(*capture)) {
            query.disable_pattern(pattern);
        }
    }
    (query, captures)
}

/// The tags of some grammars gather the comments above a definition, which takes time quadratic in the number of comments
/// that follow each other. Comments are found by themselves here.
fn without_documentation(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut after_comments = false;
    for line in source.lines() {
        let text = line.trim();
        let gathers = text == "(comment)* @doc";
        let of_documentation = text.starts_with("(#") && text.contains(" @doc ");
        let anchors = after_comments && text == ".";
        if !(gathers || of_documentation || anchors) {
            kept.push_str(line);
            kept.push('\n');
        }
        after_comments = gathers;
    }
    kept
}

fn compile(grammar: Grammar) -> Compiled {
    let matters =
        |capture| matches!(capture, Capture::Definition(_) | Capture::Wrap | Capture::Lead | Capture::Namespace);
    let (query, captures) = query(grammar, sources(grammar), capture, matters);
    Compiled { query, captures, naming: naming(grammar), depth: depth(grammar) }
}

/// Deep enough for types inside of types inside of namespaces, and no deeper, since it takes time.
fn depth(grammar: Grammar) -> u32 {
    match grammar {
        Grammar::Go => 4,
        Grammar::Rust | Grammar::Bash => 8,
        Grammar::Java | Grammar::Python => 10,
        Grammar::JavaScript | Grammar::TypeScript | Grammar::Tsx | Grammar::C => 12,
        Grammar::CSharp | Grammar::Php | Grammar::Kotlin | Grammar::Swift => 12,
        Grammar::Cpp | Grammar::Ruby => 16,
    }
}

fn naming(grammar: Grammar) -> Naming {
    let (nested, member) = match grammar {
        Grammar::Rust | Grammar::C | Grammar::Cpp => ("::", "::"),
        Grammar::Ruby => ("::", "#"),
        Grammar::Php => ("\\", "::"),
        _ => (".", "."),
    };
    let ends = match grammar {
        Grammar::Python => Ends::Colon,
        Grammar::Ruby => Ends::Line,
        _ => Ends::Brace,
    };
    Naming { nested, member, modules_have_methods: grammar == Grammar::Ruby, ends }
}

fn capture(name: &str) -> Capture {
    match name {
        "name" => Capture::Name,
        "scope" => Capture::Scope,
        "namespace" => Capture::Namespace,
        "wrap" => Capture::Wrap,
        "lead" => Capture::Lead,
        _ => match name.strip_prefix("definition.").and_then(ItemKind::of_tag) {
            Some(kind) => Capture::Definition(kind),
            None => Capture::Other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Grammar; GRAMMARS] = [
        Grammar::Rust,
        Grammar::TypeScript,
        Grammar::Tsx,
        Grammar::JavaScript,
        Grammar::Python,
        Grammar::Go,
        Grammar::Java,
        Grammar::C,
        Grammar::Cpp,
        Grammar::CSharp,
        Grammar::Ruby,
        Grammar::Php,
        Grammar::Kotlin,
        Grammar::Swift,
        Grammar::Bash,
    ];

    #[test]
    fn every_query_compiles_and_finds_names_and_comments() {
        for grammar in ALL {
            let compiled = Compiled::get(grammar);
            assert!(compiled.captures.contains(&Capture::Name), "{grammar:?}");
            assert!(compiled.captures.contains(&Capture::Lead), "{grammar:?}");
            for source in [sources(grammar), reference_sources(grammar)] {
                assert!(!without_documentation(&source.join("\n")).contains("@doc"), "{grammar:?}");
            }
            let functions = [ItemKind::Function, ItemKind::Method].map(Capture::Definition);
            assert!(functions.iter().any(|function| compiled.captures.contains(function)), "{grammar:?}");
            let calls = ReferenceCapture::Reference(ReferenceKind::Call);
            assert!(References::get(grammar).captures.contains(&calls), "{grammar:?}");
        }
    }
}
