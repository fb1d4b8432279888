//! The fields of a passage in the lexical index.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, TantivyDocument};

use super::analysis::{Analyzer, TermTokenizer, term_of};
use super::totals::Lengths;
use crate::sqlite::LexicalRow;
use crate::symbols::last_names;

const TOKENIZER: &str = "passage";

/// Tantivy's tokenizer that takes a value as one term.
const WHOLE: &str = "raw";

/// Longest name of a symbol that is indexed, in bytes.
const LONGEST_NAME: usize = 256;

/// Names of the columns that are read by name.
pub(super) const PASSAGE: &str = "passage";
pub(super) const DOCUMENT: &str = "document";
pub(super) const NAMESPACE: &str = "namespace";
pub(super) const BODY_TERMS: &str = "body_terms";
pub(super) const NAME_TERMS: &str = "name_terms";

/// Weight of a match in the name relative to one in the body, chosen on five judged collections with titles as headings: see
/// `docs/research/lexical.md`.
pub(super) const NAME_WEIGHT: f32 = 1.0;

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// The passage's number, for deleting and scoring it.
    pub(super) passage: Field,
    /// Its document's number, for filters.
    pub(super) document: Field,
    /// Its namespace's number.
    pub(super) namespace: Field,
    /// The number of terms in its body.
    pub(super) body_terms: Field,
    /// The number of terms in its name.
    pub(super) name_terms: Field,
    /// The words of its symbol, its heading or title, the header of the table that it continues, and its text: what a reader sees.
    pub(super) body: Field,
    /// The words of its symbol, its heading or title, and its path: its subject, counted a second time.
    pub(super) name: Field,
    /// The last part of the name of each symbol that it defines, as spelled.
    pub(super) symbol: Field,
}

impl Fields {
    /// The schema, and the fields in it.
    pub(super) fn schema() -> (Schema, Fields) {
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
    pub(super) fn register(index: &Index) {
        index.tokenizers().register(TOKENIZER, TextAnalyzer::from(TermTokenizer::default()));
    }

    /// Converts a passage to its document in the index, with its lengths.
    pub(super) fn document_of(&self, row: &LexicalRow<'_>, analyzer: &mut Analyzer) -> (TantivyDocument, Lengths) {
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

/// The texts of the field `body`.
pub(super) fn body_texts<'r>(row: &LexicalRow<'r>) -> impl Iterator<Item = &'r str> {
    // The context of a symbol, a signature, repeats the names in the symbol.
    let context = row.context.filter(|_| row.symbol.is_none());
    [row.symbol, heading(row), context, Some(row.text)].into_iter().flatten()
}

/// The texts of the field `name`.
pub(super) fn name_texts<'r>(row: &LexicalRow<'r>) -> impl Iterator<Item = &'r str> {
    let stem = row.path.rsplit_once('.').map_or(row.path, |(stem, _)| stem);
    [row.symbol, heading(row), Some(stem)].into_iter().flatten()
}

/// The values of the field `symbol`, without the namespace.
pub(super) fn symbol_names<'r>(row: &LexicalRow<'r>) -> impl Iterator<Item = &'r str> {
    row.symbol.into_iter().flat_map(last_names).filter(|name| name.len() <= LONGEST_NAME)
}

/// The heading path, which includes the title, or else the title.
fn heading<'r>(row: &LexicalRow<'r>) -> Option<&'r str> {
    row.heading.or(row.title)
}
