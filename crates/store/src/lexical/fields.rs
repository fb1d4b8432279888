//! What the lexical index keeps of a passage.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, TantivyDocument};

use super::analysis::{PassageTokenizer, marked};
use crate::sqlite::LexicalRow;

const TOKENIZER: &str = "passage";

/// Score of a match in the name beside one in the body, chosen on five judged collections with titles as headings: see
/// `docs/research/lexical.md`.
pub(super) const NAME_WEIGHT: f32 = 1.0;

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    /// The passage's number: found by when it is deleted or scored.
    pub(super) passage: Field,
    /// Its document's number, for filters.
    pub(super) document: Field,
    /// The words of its symbol, its heading or title, and its text: what a reader has before him.
    pub(super) body: Field,
    /// The words of its symbol, its heading or title, and its path: a second time, as what it is about.
    pub(super) name: Field,
}

impl Fields {
    /// The schema, and the fields in it.
    pub(super) fn schema() -> (Schema, Fields) {
        let mut schema = Schema::builder();
        // Neither phrases nor highlights are asked for, so that frequencies do and positions would double the size.
        let words = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(TOKENIZER)
                .set_index_option(IndexRecordOption::WithFreqs)
                .set_fieldnorms(true),
        );
        let numbers: NumericOptions = FAST.into();
        let fields = Fields {
            passage: schema.add_u64_field("passage", numbers.clone() | INDEXED),
            document: schema.add_u64_field("document", numbers),
            body: schema.add_text_field("body", words.clone()),
            name: schema.add_text_field("name", words),
        };
        (schema.build(), fields)
    }

    /// Gives an index the tokenizer that its fields name.
    pub(super) fn register(index: &Index) {
        index.tokenizers().register(TOKENIZER, TextAnalyzer::from(PassageTokenizer::default()));
    }

    /// A passage as the index takes it.
    pub(super) fn document_of(&self, row: &LexicalRow<'_>) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_u64(self.passage, row.passage);
        document.add_u64(self.document, u64::from(row.document));
        // The heading path says what the title does and more.
        let heading = row.heading.or(row.title);
        let stem = row.path.rsplit_once('.').map_or(row.path, |(stem, _)| stem);
        let body = [row.symbol, heading, Some(row.text)];
        document.add_text(self.body, marked(row.form, body.into_iter().flatten()));
        let name = [row.symbol, heading, Some(stem)];
        document.add_text(self.name, marked(row.form, name.into_iter().flatten()));
        document
    }
}
