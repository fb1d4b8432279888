//! The names that a piece of code defines and refers to.

use crate::Kind;
use crate::names::named;

named! {
    /// The way in which a name is referred to.
    ReferenceKind is a "kind of reference" {
        /// Mentioned in the position of a type: of a parameter, a variable, before a static call.
        Type = "type",
        /// Called: a function, a method, a macro, a constructor, a component.
        Call = "call",
        /// Implemented, extended, mixed in or derived.
        Implementation = "implementation",
    }
}

/// A name that a piece of code refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The last part of the name, without qualifiers and type arguments: `open` of `Store::<T>::open(path)`.
    pub name: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The kind of reference. If a line has several kinds, the most specific one, which is the last in the order of
    /// [`ReferenceKind`].
    pub kind: ReferenceKind,
}

/// A name that a piece of code defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The qualified name as its language writes it, as in [`crate::Passage::symbol`].
    pub name: String,
    /// The kind of definition.
    pub kind: Kind,
    /// The line where the definition itself begins, after its comments, counted from 1.
    pub line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
}
