//! The terms of a passage by themselves, for a store that keeps them outside an index of this crate.

use std::collections::BTreeMap;

use super::analysis::{ANALYSIS_VERSION, Analyzer};
use super::fields::{body_texts, name_texts, symbol_names};
use crate::sqlite::LexicalRow;

/// The terms of a passage.
#[derive(Debug, Default)]
pub(crate) struct PassageTerms {
    /// Each distinct term with its number in the body and in the name. No term holds a namespace.
    pub(crate) counts: BTreeMap<String, (u32, u32)>,
    /// The number of terms in the body.
    pub(crate) body: u64,
    /// The number of terms in the name.
    pub(crate) name: u64,
    /// The last part of the name of each symbol that it defines, as spelled.
    pub(crate) symbols: Vec<String>,
}

/// Reads the terms of passages, with the analysis of the lexical index.
#[derive(Default)]
pub(crate) struct TermReader(Analyzer);

impl TermReader {
    /// Changes when a passage gives other terms than before.
    pub(crate) const VERSION: u32 = ANALYSIS_VERSION;

    /// Returns the terms of a passage.
    pub(crate) fn read(&mut self, row: &LexicalRow<'_>) -> PassageTerms {
        let mut terms = PassageTerms::default();
        let PassageTerms { counts, body, name, symbols } = &mut terms;
        self.0.terms(row.form, body_texts(row), |term| {
            count(counts, term).0 += 1;
            *body += 1;
        });
        self.0.terms(row.form, name_texts(row), |term| {
            count(counts, term).1 += 1;
            *name += 1;
        });
        symbols.extend(symbol_names(row).map(str::to_owned));
        terms
    }
}

fn count<'c>(counts: &'c mut BTreeMap<String, (u32, u32)>, term: &str) -> &'c mut (u32, u32) {
    counts.entry(term.to_owned()).or_default()
}
