//! The passages of new, replaced and moved documents, and writing them.

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::super::copy::{Columns, Copy, storable, storable_option};
use super::super::error::Failure;
use crate::filter::folded;
use crate::record::{NewDocument, NewPassage, PassageKey, TextForm, TextHash};
use crate::sqlite::{Identity, LexicalRow, PublicIds};

/// A passage to write.
#[derive(Debug)]
pub(super) struct PassageRow<'a> {
    pub document: i32,
    /// Its document's path.
    pub path: &'a str,
    /// Its document's title.
    title: Option<&'a str>,
    ordinal: i32,
    /// Its own language, if it differs from the document's.
    language: Option<&'a str>,
    text_hash: TextHash,
    content: &'a NewPassage,
}

/// The passages of a document at a path, with their full identifiers. Those that are stored have `keys`.
pub(super) fn of<'a>(
    document: i32,
    path: &'a str,
    content: &'a NewDocument,
    keys: &'a [PassageKey],
) -> impl Iterator<Item = (PassageRow<'a>, String)> {
    let mut names = PublicIds::new(&content.namespace, path);
    let (title, of_document) = (content.title.as_deref(), content.language.as_deref());
    content.passages.iter().enumerate().map(move |(ordinal, passage)| {
        let text_hash = keys.get(ordinal).map_or_else(|| TextHash::of(&passage.embedded_text), |key| key.text_hash);
        let language = passage.language.as_deref();
        let name = names.next(&Identity {
            language: language.or(of_document),
            kind: &passage.kind,
            symbol: passage.symbol.as_deref(),
            signature: passage.signature.as_deref(),
            heading: passage.heading.as_deref(),
            text: text_hash,
        });
        let language = language.filter(|own| Some(*own) != of_document);
        let ordinal = ordinal as i32;
        (PassageRow { document, path, title, ordinal, language, text_hash, content: passage }, name)
    })
}

impl PassageRow<'_> {
    /// The passage as the analysis reads it.
    pub fn lexical(&self) -> LexicalRow<'_> {
        LexicalRow {
            passage: 0,
            document: 0,
            namespace: 0,
            form: self.content.form,
            path: self.path,
            title: self.title,
            symbol: self.content.symbol.as_deref(),
            heading: self.content.heading.as_deref(),
            context: self.content.context.as_deref(),
            text: &self.content.text,
        }
    }
}

const COLUMNS: &Columns = &[
    ("namespace public_id kind symbol signature heading context role language author author_folded", Type::TEXT),
    ("text before_text embedded_text", Type::TEXT),
    ("passage start_line end_line dated_ns part", Type::INT8),
    ("document ordinal", Type::INT4),
    ("prose", Type::BOOL),
    ("text_hash", Type::BYTEA),
];

/// Writes passages, each with its number and public identifier.
pub(super) async fn write<'r, 'a: 'r>(
    transaction: &Transaction<'_>,
    namespace: &str,
    passages: impl Iterator<Item = (&'r PassageRow<'a>, i64, &'r str)>,
) -> Result<(), Failure> {
    let mut copy = Copy::begin(transaction, "passages", COLUMNS).await?;
    for (row, number, public_id) in passages {
        let passage = row.content;
        let author = storable_option(passage.author.as_deref());
        let before = passage.embedded_text.strip_suffix(passage.text.as_str());
        copy.row(&[
            &namespace,
            &public_id,
            &storable(&passage.kind),
            &storable_option(passage.symbol.as_deref()),
            &storable_option(passage.signature.as_deref()),
            &storable_option(passage.heading.as_deref()),
            &storable_option(passage.context.as_deref()),
            &storable(&passage.role),
            &storable_option(row.language),
            &author,
            &author.as_deref().map(folded),
            &storable(&passage.text),
            &storable_option(before),
            &before.is_none().then(|| storable(&passage.embedded_text)),
            &number,
            &i64::from(passage.start_line),
            &i64::from(passage.end_line),
            &passage.dated_ns,
            &passage.part.map(i64::from),
            &row.document,
            &row.ordinal,
            &(passage.form == TextForm::Prose),
            &row.text_hash.0.as_slice(),
        ])
        .await?;
    }
    copy.finish().await
}
