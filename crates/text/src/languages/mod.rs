//! Languages: one table of names, extensions, file names, interpreters and relations.

mod by_content;
mod detect;
pub(crate) mod grammar;
pub(crate) mod language;
mod parsed;
mod relation;
mod resolve;
mod table;

pub(crate) use grammar::Grammar;
pub(crate) use language::Parsing;
pub use language::{Category, Language};
pub use relation::Relation;
pub use table::LANGUAGES;
