//! The fields of a passage in the lexical index.

#[cfg(feature = "postgres")]
use std::collections::BTreeMap;

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, TantivyDocument};

use super::Lengths;
#[cfg(feature = "postgres")]
use super::stems_and_stop_words::ANALYSIS_VERSION;
use super::stems_and_stop_words::{Analyzer, TermTokenizer, term_of};
use crate::filter::last_names;
use crate::sqlite::LexicalRow;

const TOKENIZER: &str = "passage";

/// Tantivy's tokenizer that takes a value as one term.
const WHOLE: &str = "raw";

/// Longest name of a symbol that is indexed, in bytes.
const LONGEST_NAME: usize = 256;

/// Names of the columns that are read by name.
pub(crate) const PASSAGE: &str = "passage";
pub(crate) const DOCUMENT: &str = "document";
pub(crate) const NAMESPACE: &str = "namespace";
pub(crate) const BODY_TERMS: &str = "body_terms";
pub(crate) const NAME_TERMS: &str = "name_terms";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// The passage's number, for deleting and scoring it.
    pub(crate) passage: Field,
    /// Its document's number, for filters.
    pub(crate) document: Field,
    pub(crate) namespace: Field,
    /// The number of terms in its body.
    pub(crate) body_terms: Field,
    /// The number of terms in its name.
    pub(crate) name_terms: Field,
    /// The words of its symbol, its heading or title, the header of the table that it continues, and its text: what a reader sees.
    pub(crate) body: Field,
    /// The words of its symbol, its heading or title, and its path: its subject, counted a second time. A match counts as much as one in
    /// the body, as chosen on five judged collections with titles as headings: see `docs/research/lexical.md`.
    pub(crate) name: Field,
    /// The last part of the name of each symbol that it defines, as spelled.
    pub(crate) symbol: Field,
}

impl Fields {
    /// The schema, and the fields in it.
    pub(crate) fn schema() -> (Schema, Fields) {
        let mut schema = Schema::builder();
        // Nothing searches for phrases, so frequencies suffice; positions would double the size.
        let words = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER)
                .set_index_option(IndexRecordOption::WithFreqs)
                .set_fieldnorms(true),
        );
        let whole = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(WHOLE)
                .set_index_option(IndexRecordOption::Basic)
                .set_fieldnorms(false),
        );
        let numbers: NumericOptions = FAST.into();
        let fields = Fields {
            passage: schema.add_u64_field(PASSAGE, numbers.clone() | INDEXED),
            document: schema.add_u64_field(DOCUMENT, numbers.clone()),
            namespace: schema.add_u64_field(NAMESPACE, numbers.clone()),
            body_terms: schema.add_u64_field(BODY_TERMS, numbers.clone()),
            name_terms: schema.add_u64_field(NAME_TERMS, numbers),
            body: schema.add_text_field("body", words.clone()),
            name: schema.add_text_field("name", words),
            symbol: schema.add_text_field("symbol", whole),
        };
        (schema.build(), fields)
    }

    /// Registers the tokenizer that the fields name.
    pub(crate) fn register(index: &Index) {
        index.tokenizers().register(TOKENIZER, TextAnalyzer::from(TermTokenizer::default()));
    }

    /// Converts a passage to its document in the index, with its lengths.
    pub(crate) fn document_of(&self, row: &LexicalRow<'_>, analyzer: &mut Analyzer) -> (TantivyDocument, Lengths) {
        let mut document = TantivyDocument::default();
        document.add_u64(self.passage, row.passage);
        document.add_u64(self.document, u64::from(row.document));
        document.add_u64(self.namespace, u64::from(row.namespace));
        let (body, body_terms) = analyzer.value(row.namespace, row.form, body_texts(row));
        document.add_text(self.body, body);
        document.add_u64(self.body_terms, body_terms);
        let (name, name_terms) = analyzer.value(row.namespace, row.form, name_texts(row));
        document.add_text(self.name, name);
        document.add_u64(self.name_terms, name_terms);
        symbol_names(row).for_each(|name| document.add_text(self.symbol, term_of(name, row.namespace)));
        (document, Lengths { passages: 1, body: body_terms, name: name_terms })
    }
}

fn body_texts<'r>(row: &LexicalRow<'r>) -> impl Iterator<Item = &'r str> {
    // The context of a symbol, a signature, repeats the names in the symbol.
    let context = row.context.filter(|_| row.symbol.is_none());
    [row.symbol, heading(row), context, Some(row.text)].into_iter().flatten()
}

fn name_texts<'r>(row: &LexicalRow<'r>) -> impl Iterator<Item = &'r str> {
    let stem = row.path.rsplit_once('.').map_or(row.path, |(stem, _)| stem);
    [row.symbol, heading(row), Some(stem)].into_iter().flatten()
}

/// The values of the field `symbol`, without the namespace.
fn symbol_names<'r>(row: &LexicalRow<'r>) -> impl Iterator<Item = &'r str> {
    row.symbol.into_iter().flat_map(last_names).filter(|name| name.len() <= LONGEST_NAME)
}

/// The heading path, which includes the title, or else the title.
fn heading<'r>(row: &LexicalRow<'r>) -> Option<&'r str> {
    row.heading.or(row.title)
}

#[derive(Debug, Default)]
#[cfg(feature = "postgres")]
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
#[cfg(feature = "postgres")]
pub(crate) struct TermReader(Analyzer);

#[cfg(feature = "postgres")]
impl TermReader {
    /// Changes when a passage gives other terms than before.
    pub(crate) const VERSION: u32 = ANALYSIS_VERSION;

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

#[cfg(feature = "postgres")]
fn count<'c>(counts: &'c mut BTreeMap<String, (u32, u32)>, term: &str) -> &'c mut (u32, u32) {
    counts.entry(term.to_owned()).or_default()
}
