//! A definition found in a syntax tree.

use std::ops::Range;

use crate::Kind;

/// The kind of a definition, as far as dividing a file needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ItemKind {
    // From general to specific: if two patterns match one name, the more specific kind is kept.
    Constant,
    Module,
    Macro,
    Type,
    Trait,
    Alias,
    Function,
    Method,
    Implementation,
}

impl ItemKind {
    /// The kind of a tag `definition.TAG`.
    pub(super) fn of_tag(tag: &str) -> Option<Self> {
        Some(match tag {
            "constant" => Self::Constant,
            "module" => Self::Module,
            "macro" => Self::Macro,
            "class" | "type" | "struct" | "enum" | "union" => Self::Type,
            "interface" => Self::Trait,
            "alias" => Self::Alias,
            "function" => Self::Function,
            "method" => Self::Method,
            "implementation" => Self::Implementation,
            _ => return None,
        })
    }

    pub(super) fn is_type_like(self) -> bool {
        matches!(self, Self::Type | Self::Trait | Self::Implementation)
    }
}

/// One definition, after nesting is known.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    /// The qualified name, and further names of the same declaration, each with the byte at which it begins. In
    /// order, and never empty.
    pub(super) names: Vec<(usize, String)>,
    /// True if the definition itself names its owner.
    pub(super) qualified: bool,
    /// The node, in bytes.
    pub(super) bytes: Range<usize>,
    /// Start of the signature, in bytes: after attributes and decorators.
    pub(super) head: usize,
    /// The fingerprint of the signature, with that of the implementation around it.
    pub(super) signature: u64,
    /// First line, with the comments and attributes directly above.
    pub(super) first: usize,
    /// The line where the node itself begins.
    pub(super) start: usize,
    pub(super) last: usize,
    /// Index of the definition around it.
    pub(super) parent: Option<usize>,
    /// A declaration without a body, a constant or an alias: small enough to share a passage with its neighbours.
    pub(super) small: bool,
    /// Compiled for tests only.
    pub(super) test: bool,
}

impl Item {
    /// The name in force at an offset: the last one before it, or the first.
    pub(super) fn name_at(&self, offset: usize) -> &str {
        let before = self.names.partition_point(|(start, _)| *start < offset);
        self.names.get(before.saturating_sub(1)).map_or("", |(_, name)| name.as_str())
    }

    /// The names of a piece of the text: the one in force where it begins, and those that begin in it.
    pub(super) fn names_in(&self, piece: &Range<usize>) -> impl Iterator<Item = &str> {
        let first = self.names.partition_point(|(start, _)| *start <= piece.start).saturating_sub(1);
        let end = self.names.partition_point(|(start, _)| *start < piece.end).max(first + 1);
        self.names[first..end.min(self.names.len())].iter().map(|(_, name)| name.as_str())
    }

    /// The kind of its passages, inside of a definition of kind `parent`.
    pub(super) fn passage_kind(&self, parent: Option<ItemKind>, modules_have_methods: bool) -> Kind {
        match self.kind {
            ItemKind::Constant => Kind::Constant,
            ItemKind::Module => Kind::Module,
            ItemKind::Macro => Kind::Macro,
            ItemKind::Type | ItemKind::Alias | ItemKind::Implementation => Kind::Type,
            ItemKind::Trait => Kind::Trait,
            ItemKind::Function | ItemKind::Method => match parent {
                Some(parent) if parent.is_type_like() => Kind::Method,
                Some(ItemKind::Module) if modules_have_methods => Kind::Method,
                // A method outside its type has a qualified name.
                _ if self.kind == ItemKind::Method && self.qualified => Kind::Method,
                _ => Kind::Function,
            },
        }
    }
}
