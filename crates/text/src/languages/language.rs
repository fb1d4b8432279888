//! A language: its names, its files and its relations.

use serde::{Deserialize, Serialize};

use super::grammar::Grammar;

/// The kind of text that a language is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Program text, scripts, build files and queries.
    Code,
    /// Text written for people.
    Prose,
    /// Configuration and data.
    Data,
}

/// One language.
#[derive(Debug)]
pub struct Language {
    /// The canonical lowercase name, for example `cpp`. Names are stored, compared and filtered in this form.
    pub name: &'static str,
    /// The name that people write, for example `C++`. For printing only.
    pub display: &'static str,
    /// Further names, lowercase. [`Language::resolve`] knows them and the two above.
    pub aliases: &'static [&'static str],
    /// The kind of text.
    pub category: Category,
    /// File name extensions without the first dot, lowercase.
    pub extensions: &'static [&'static str],
    /// Whole file names, lowercase.
    pub file_names: &'static [&'static str],
    /// Interpreters of a `#!` line, without version numbers.
    pub interpreters: &'static [&'static str],
    /// The language of which this one is a dialect, by canonical name: `typescript` for `tsx`.
    pub base: Option<&'static str>,
    /// The languages that answer a question about this one almost as well, by canonical name. Not always mutual.
    pub related: &'static [&'static str],
    pub(crate) parsing: Parsing,
}

/// The way in which files of a language are divided.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parsing {
    /// By their lines or headings.
    Lines,
    /// By their lines, since the grammar is not part of this build.
    #[cfg_attr(feature = "grammars", expect(dead_code, reason = "every grammar is in"))]
    NotBuilt,
    /// By the symbols that a grammar finds.
    Grammar(fn() -> &'static Grammar),
}

// The name is the identity: a language exists once.
impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

impl Language {
    /// Returns `true` if files in it are divided by their symbols.
    #[must_use]
    pub fn has_symbols(&self) -> bool {
        matches!(self.parsing, Parsing::Grammar(_))
    }

    /// The grammar, if this build has one.
    pub(crate) fn grammar(&self) -> Option<&'static Grammar> {
        match self.parsing {
            Parsing::Grammar(grammar) => Some(grammar()),
            Parsing::Lines | Parsing::NotBuilt => None,
        }
    }

    /// A language without further names, files or relations.
    pub(super) const fn plain(
        name: &'static str,
        display: &'static str,
        category: Category,
        extensions: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            display,
            aliases: &[],
            category,
            extensions,
            file_names: &[],
            interpreters: &[],
            base: None,
            related: &[],
            parsing: Parsing::Lines,
        }
    }

    pub(super) const fn code(name: &'static str, display: &'static str, extensions: &'static [&'static str]) -> Self {
        Self::plain(name, display, Category::Code, extensions)
    }

    pub(super) const fn parsed(self, parsing: Parsing) -> Self {
        Self { parsing, ..self }
    }

    pub(super) const fn files(self, file_names: &'static [&'static str]) -> Self {
        Self { file_names, ..self }
    }

    pub(super) const fn interpreters(self, interpreters: &'static [&'static str]) -> Self {
        Self { interpreters, ..self }
    }

    pub(super) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    pub(super) const fn dialect_of(self, base: &'static str) -> Self {
        Self { base: Some(base), ..self }
    }

    pub(super) const fn related_to(self, related: &'static [&'static str]) -> Self {
        Self { related, ..self }
    }
}
