//! The passages of new, replaced and moved documents, and writing them.

use std::borrow::Cow;

use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::super::copy::{Copy, storable, storable_option};
use super::super::error::Failure;
use crate::filter::folded;
use crate::record::{NewDocument, TextForm, TextHash};
use crate::sqlite::{Identity, LexicalRow, PublicIds};

/// A passage to write.
#[derive(Debug)]
pub(super) struct PassageRow<'a> {
    pub document: i32,
    /// Its document's path.
    pub path: &'a str,
    /// Its document's title.
    title: Option<Cow<'a, str>>,
    ordinal: i32,
    start_line: i64,
    end_line: i64,
    kind: Cow<'a, str>,
    symbol: Option<Cow<'a, str>>,
    signature: Option<Cow<'a, str>>,
    heading: Option<Cow<'a, str>>,
    context: Option<Cow<'a, str>>,
    role: Cow<'a, str>,
    /// Its own language, if it differs from the document's.
    language: Option<Cow<'a, str>>,
    author: Option<Cow<'a, str>>,
    dated_ns: Option<i64>,
    part: Option<i64>,
    form: TextForm,
    text: Cow<'a, str>,
    before_text: Option<Cow<'a, str>>,
    embedded_text: Option<Cow<'a, str>>,
    text_hash: TextHash,
}

/// The passages of a new document with their full identifiers.
pub(super) fn of_new<'a>(
    document: i32,
    path: &'a str,
    new: &'a NewDocument,
) -> impl Iterator<Item = (PassageRow<'a>, String)> {
    let mut names = PublicIds::new(&new.namespace, path);
    new.passages.iter().enumerate().map(move |(ordinal, passage)| {
        let text_hash = TextHash::of(&passage.embedded_text);
        let name = names.next(&Identity {
            language: passage.language.as_deref().or(new.language.as_deref()),
            kind: &passage.kind,
            symbol: passage.symbol.as_deref(),
            signature: passage.signature.as_deref(),
            heading: passage.heading.as_deref(),
            text: text_hash,
        });
        let before = passage.embedded_text.strip_suffix(passage.text.as_str());
        let row = PassageRow {
            document,
            path,
            title: storable_option(new.title.as_deref()),
            ordinal: ordinal as i32,
            start_line: passage.start_line.into(),
            end_line: passage.end_line.into(),
            kind: storable(&passage.kind),
            symbol: storable_option(passage.symbol.as_deref()),
            signature: storable_option(passage.signature.as_deref()),
            heading: storable_option(passage.heading.as_deref()),
            context: storable_option(passage.context.as_deref()),
            role: storable(&passage.role),
            language: storable_option(passage.language.as_deref().filter(|own| Some(*own) != new.language.as_deref())),
            author: storable_option(passage.author.as_deref()),
            dated_ns: passage.dated_ns,
            part: passage.part.map(i64::from),
            form: passage.form,
            text: storable(&passage.text),
            before_text: before.map(storable),
            embedded_text: before.is_none().then(|| storable(&passage.embedded_text)),
            text_hash,
        };
        (row, name)
    })
}

/// The stored passages of documents, by document and in order. `path` gives the new path of a document.
pub(super) async fn stored<'a>(
    transaction: &Transaction<'_>,
    namespace: &'a str,
    documents: &[i32],
    path: impl Fn(i32) -> &'a str,
) -> Result<Vec<(PassageRow<'a>, String)>, Failure> {
    let select = "SELECT p.document, d.title, p.ordinal, p.start_line, p.end_line, p.kind, p.symbol, p.signature, p.heading, \
         p.context, p.role, p.language, p.author, p.dated_ns, p.part, p.prose, p.text, p.before_text, p.embedded_text, \
         p.text_hash, coalesce(p.language, d.language) FROM passages p \
         JOIN documents d ON d.namespace = p.namespace AND d.document = p.document \
         WHERE p.namespace = $1 AND p.document = ANY($2) ORDER BY p.document, p.ordinal";
    let rows = transaction.query(select, &[&namespace, &documents]).await?;
    let mut passages = Vec::with_capacity(rows.len());
    let mut names: Option<(i32, PublicIds<'_>)> = None;
    for row in &rows {
        let document: i32 = row.get(0);
        if names.as_ref().is_none_or(|(of, _)| *of != document) {
            names = Some((document, PublicIds::new(namespace, path(document))));
        }
        let Some((_, names)) = &mut names else { continue };
        let passage = stored_passage(row, path(document));
        let name = names.next(&Identity {
            language: row.get(20),
            kind: &passage.kind,
            symbol: passage.symbol.as_deref(),
            signature: passage.signature.as_deref(),
            heading: passage.heading.as_deref(),
            text: passage.text_hash,
        });
        passages.push((passage, name));
    }
    Ok(passages)
}

fn stored_passage<'a>(row: &Row, path: &'a str) -> PassageRow<'a> {
    let text = |column: usize| row.get::<_, Option<String>>(column).map(Cow::Owned);
    PassageRow {
        document: row.get(0),
        path,
        title: text(1),
        ordinal: row.get(2),
        start_line: row.get(3),
        end_line: row.get(4),
        kind: text(5).unwrap_or_default(),
        symbol: text(6),
        signature: text(7),
        heading: text(8),
        context: text(9),
        role: text(10).unwrap_or_default(),
        language: text(11),
        author: text(12),
        dated_ns: row.get(13),
        part: row.get(14),
        form: super::super::rows::form(row.get(15)),
        text: text(16).unwrap_or_default(),
        before_text: text(17),
        embedded_text: text(18),
        text_hash: super::super::rows::text_hash(row.get(19)),
    }
}

impl PassageRow<'_> {
    /// The passage as the analysis reads it.
    pub fn lexical(&self) -> LexicalRow<'_> {
        LexicalRow {
            passage: 0,
            document: 0,
            namespace: 0,
            form: self.form,
            path: self.path,
            title: self.title.as_deref(),
            symbol: self.symbol.as_deref(),
            heading: self.heading.as_deref(),
            context: self.context.as_deref(),
            text: &self.text,
        }
    }
}

const COPY: &str = "COPY passages(namespace, passage, document, ordinal, public_id, start_line, end_line, kind, symbol, signature, \
     heading, context, role, language, author, author_folded, dated_ns, part, prose, text, before_text, embedded_text, text_hash) \
     FROM STDIN BINARY";

const TYPES: [Type; 23] = [
    Type::TEXT,
    Type::INT8,
    Type::INT4,
    Type::INT4,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::BOOL,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::BYTEA,
];

/// Writes passages, each with its number and public identifier.
pub(super) async fn write<'r, 'a: 'r>(
    transaction: &Transaction<'_>,
    namespace: &str,
    passages: impl Iterator<Item = (&'r PassageRow<'a>, i64, &'r str)>,
) -> Result<(), Failure> {
    let mut copy = Copy::begin(transaction, COPY, &TYPES).await?;
    for (row, number, public_id) in passages {
        let author_folded = row.author.as_deref().map(folded);
        copy.row(&[
            &namespace,
            &number,
            &row.document,
            &row.ordinal,
            &public_id,
            &row.start_line,
            &row.end_line,
            &row.kind,
            &row.symbol,
            &row.signature,
            &row.heading,
            &row.context,
            &row.role,
            &row.language,
            &row.author,
            &author_folded,
            &row.dated_ns,
            &row.part,
            &(row.form == TextForm::Prose),
            &row.text,
            &row.before_text,
            &row.embedded_text,
            &row.text_hash.0.as_slice(),
        ])
        .await?;
    }
    copy.finish().await
}
