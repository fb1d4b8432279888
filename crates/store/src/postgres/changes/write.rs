//! Writing what changes amount to.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use deadpool_postgres::Transaction;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::{Plan, Planned};
use crate::content::whole_documents;
use crate::error::StoreError;
use crate::filter::folded;
use crate::postgres::connection::Connections;
use crate::postgres::failure::Failure;
use crate::postgres::namespaces::{NamespaceChange, numbers};
use crate::postgres::session::{Columns, Copy, document_id, execute, query, storable, storable_option};
use crate::postgres::vectors::adopt;
use crate::postgres::words::in_memory::{Difference, WordsWriter};
use crate::record::{DocumentId, NewDocument, NewPassage, PassageKey, TextForm, TextHash, WholeDocument};
use crate::sqlite::{Identity, LexicalRow, PublicIds, prefixes, same_identifier};

/// Writes a plan. The namespaces are locked. Returns the numbers of those that it concerns.
pub(crate) async fn write(
    connections: &Connections,
    transaction: &Transaction<'_>,
    plan: &Plan<'_>,
) -> Result<BTreeMap<String, i32>, Failure> {
    let registered: BTreeSet<&str> = plan.registered.iter().map(String::as_str).collect();
    let mut by_namespace: BTreeMap<&str, Vec<(usize, &Planned<'_>)>> = BTreeMap::new();
    for (place, document) in plan.documents.iter().enumerate() {
        by_namespace.entry(&document.namespace).or_default().push((place, document));
    }
    let touched = by_namespace.keys().chain(&registered).copied().chain(plan.changed.iter().map(String::as_str));
    let numbers_of = numbers(transaction, &registered, touched).await?;
    let reserved = Numbers::reserve(transaction, plan).await?;
    for (namespace, number) in &numbers_of {
        let documents = by_namespace.get(namespace.as_str()).map(Vec::as_slice).unwrap_or_default();
        let difference = write_namespace(connections, transaction, namespace, *number, documents, &reserved).await?;
        let change = NamespaceChange { counts: plan.changed.contains(namespace), difference };
        change.write(transaction, namespace).await?;
    }
    Ok(numbers_of)
}

/// The numbers of new documents and passages, by the place of the document in the plan.
struct Numbers {
    documents: BTreeMap<usize, i32>,
    passages: BTreeMap<usize, Vec<i64>>,
}

impl Numbers {
    /// Takes the numbers. They ascend in the order of the changes, as those of passages in one document do.
    async fn reserve(transaction: &Transaction<'_>, plan: &Plan<'_>) -> Result<Numbers, Failure> {
        let alive = plan.documents.iter().enumerate().filter(|(_, document)| !document.gone);
        let new: Vec<usize> =
            alive.clone().filter(|(_, document)| document.number.is_none()).map(|(place, _)| place).collect();
        let mut renumbered: Vec<(usize, usize, u64)> =
            alive.filter_map(|(place, document)| Some((document.renumbered?, place, document.passages))).collect();
        renumbered.sort_unstable();
        let count: u64 = renumbered.iter().map(|(_, _, passages)| passages).sum();
        let mut passages = match count {
            0 => Vec::new(),
            count => {
                next(transaction, "SELECT nextval('passage_numbers') FROM generate_series(1, $1::bigint)", count as i64)
                    .await?
            }
        }
        .into_iter();
        let documents = match new.len() {
            0 => Vec::new(),
            count => next(
                transaction,
                "SELECT nextval('document_numbers') FROM generate_series(1, $1::bigint)",
                count as i64,
            )
            .await
            .map_err(|failure| out_of_numbers(failure, &plan.documents[new[0]].path))?,
        };
        Ok(Numbers {
            documents: new.into_iter().zip(documents.into_iter().map(|number| number as i32)).collect(),
            passages: renumbered
                .into_iter()
                .map(|(_, place, count)| (place, passages.by_ref().take(count as usize).collect()))
                .collect(),
        })
    }
}

async fn next(transaction: &Transaction<'_>, statement: &str, count: i64) -> Result<Vec<i64>, Failure> {
    Ok(query(transaction, statement, &[&count]).await?.iter().map(|row| row.get(0)).collect())
}

fn out_of_numbers(failure: Failure, path: &str) -> Failure {
    match failure {
        Failure::Server(error) if error.code() == Some(&SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED) => {
            let reason = "the index has counted 2,147,483,647 documents; delete it and index again".to_owned();
            StoreError::Invalid { what: path.to_owned(), reason }.into()
        }
        failure => failure,
    }
}

async fn write_namespace(
    connections: &Connections,
    transaction: &Transaction<'_>,
    namespace: &str,
    number: i32,
    documents: &[(usize, &Planned<'_>)],
    reserved: &Numbers,
) -> Result<Difference, Failure> {
    let mut difference = Difference::default();
    let stored: BTreeMap<i32, &Planned<'_>> =
        documents.iter().filter_map(|(_, document)| Some((document.number?, *document))).collect();
    let those = |wanted: fn(&Planned<'_>) -> bool| -> Vec<i32> {
        stored.iter().filter(|(_, document)| wanted(document)).map(|(number, _)| *number).collect()
    };
    // A replaced document is deleted and inserted again with its number.
    let deleted = those(|document| document.gone || document.content.is_some());
    let moved = those(|document| !document.gone && document.content.is_none() && document.renumbered.is_some());
    let touched: Vec<&Planned<'_>> = stored
        .values()
        .copied()
        .filter(|document| !document.gone && document.content.is_none() && document.touched)
        .collect();

    let mut moving: BTreeMap<i32, WholeDocument> = BTreeMap::new();
    if !moved.is_empty() {
        let ids: Vec<DocumentId> = moved.iter().copied().map(document_id).collect();
        let whole = whole_documents(&connections.content(transaction), namespace, &ids).await?;
        moving.extend(moved.iter().copied().zip(whole).filter_map(|(number, whole)| Some((number, whole?))));
    }
    let losing: Vec<i32> = deleted.iter().chain(&moved).copied().collect();
    if !losing.is_empty() {
        difference.subtract(transaction, namespace, &losing).await?;
        for (statement, documents) in [
            (
                "DELETE FROM words w USING passages p WHERE p.namespace = $1 AND p.document = ANY($2) \
                 AND w.namespace = $1 AND w.passage = p.passage",
                &losing,
            ),
            ("DELETE FROM passages WHERE namespace = $1 AND document = ANY($2)", &losing),
            ("DELETE FROM attributes WHERE namespace = $1 AND document = ANY($2)", &deleted),
            ("DELETE FROM documents WHERE namespace = $1 AND document = ANY($2)", &deleted),
        ] {
            execute(transaction, statement, &[&namespace, documents]).await?;
        }
    }
    update_places(transaction, namespace, &touched).await?;

    let mut order: Vec<(&[i64], i32, &Planned<'_>)> = Vec::new();
    let mut contents: Vec<(i32, &Planned<'_>, &NewDocument)> = Vec::new();
    for (place, document) in documents.iter().filter(|(_, document)| !document.gone) {
        let number = document.number.or_else(|| reserved.documents.get(place).copied());
        let Some(number) = number else { continue };
        contents.extend(document.content.map(|new| (number, *document, new)));
        order.extend(reserved.passages.get(place).map(|numbers| (numbers.as_slice(), number, *document)));
    }
    insert_documents(transaction, namespace, &contents).await?;

    // In the order of their numbers, which is that of the changes.
    order.sort_by_key(|(numbers, _, _)| numbers.first().copied());
    let mut rows = Rows::default();
    for (numbers, document, planned) in order {
        match (planned.content, moving.get(&document)) {
            (Some(new), _) => rows.add(numbers, passage_rows(document, &planned.path, new, &[])),
            (None, Some(stored)) => {
                rows.add(numbers, passage_rows(document, &planned.path, &stored.content, &stored.keys));
            }
            (None, None) => {}
        }
    }
    rows.write(transaction, namespace, number, &mut difference).await?;
    adopt(transaction, namespace, &contents.iter().map(|(number, ..)| *number).collect::<Vec<_>>()).await?;
    difference.documents = contents.len() as i64 - deleted.len() as i64;
    difference.write(transaction, namespace).await?;
    Ok(difference)
}

/// Passages to write, with their numbers and full identifiers.
#[derive(Default)]
struct Rows<'a> {
    rows: Vec<PassageRow<'a>>,
    numbers: Vec<i64>,
    names: Vec<String>,
}

impl<'a> Rows<'a> {
    fn add(&mut self, numbers: &[i64], passages: impl Iterator<Item = (PassageRow<'a>, String)>) {
        for (number, (row, name)) in numbers.iter().zip(passages) {
            self.rows.push(row);
            self.numbers.push(*number);
            self.names.push(name);
        }
    }

    async fn write(
        &self,
        transaction: &Transaction<'_>,
        namespace: &str,
        number: i32,
        difference: &mut Difference,
    ) -> Result<(), Failure> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let ids = public_ids(transaction, namespace, &self.names, |place| self.rows[place].path).await?;
        let numbered = self.rows.iter().zip(&self.numbers);
        let named = numbered.clone().zip(&ids).map(|((row, number), id)| (row, *number, id.as_str()));
        write_passages(transaction, namespace, named).await?;
        let mut words = WordsWriter::begin(transaction, namespace, number).await?;
        for (row, passage) in numbered {
            words.passage(*passage, row.document, &row.lexical(), difference).await?;
        }
        words.finish().await
    }
}

/// Writes path, size, time of modification and stamp of stored documents. All paths change in one statement, because documents can swap
/// them.
async fn update_places(
    transaction: &Transaction<'_>,
    namespace: &str,
    documents: &[&Planned<'_>],
) -> Result<(), Failure> {
    if documents.is_empty() {
        return Ok(());
    }
    let update = "UPDATE documents d SET path = n.path, size = n.size, modified_ns = n.modified_ns, stamp = n.stamp \
         FROM unnest($2::integer[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) \
         AS n(document, path, size, modified_ns, stamp) \
         WHERE d.namespace = $1 AND d.document = n.document";
    let numbers: Vec<Option<i32>> = documents.iter().map(|document| document.number).collect();
    let paths: Vec<&str> = documents.iter().map(|document| document.path.as_str()).collect();
    let sizes: Vec<i64> = documents.iter().map(|document| document.file.size as i64).collect();
    let modified: Vec<i64> = documents.iter().map(|document| document.file.modified_ns).collect();
    let stamps: Vec<i64> = documents.iter().map(|document| document.file.stamp).collect();
    execute(transaction, update, &[&namespace, &numbers, &paths, &sizes, &modified, &stamps]).await?;
    Ok(())
}

const DOCUMENT_COLUMNS: &Columns = &[
    ("namespace collection path origin language role title severity note record", Type::TEXT),
    ("size modified_ns dated_ns stamp", Type::INT8),
    ("document passages", Type::INT4),
    ("content_hash", Type::BYTEA),
];

/// Inserts documents with their numbers, and their attributes.
async fn insert_documents(
    transaction: &Transaction<'_>,
    namespace: &str,
    documents: &[(i32, &Planned<'_>, &NewDocument)],
) -> Result<(), Failure> {
    if documents.is_empty() {
        return Ok(());
    }
    let mut copy = Copy::begin(transaction, "documents", DOCUMENT_COLUMNS).await?;
    for (number, planned, new) in documents {
        copy.row(&[
            &namespace,
            &storable(&new.collection),
            &planned.path,
            &storable_option(new.origin.as_deref()),
            &storable_option(new.language.as_deref()),
            &storable(&new.role),
            &storable_option(new.title.as_deref()),
            &storable_option(new.severity.as_deref()),
            &storable_option(new.note.as_deref()),
            &storable_option(new.record.as_deref()),
            &(planned.file.size as i64),
            &planned.file.modified_ns,
            &new.dated_ns,
            &planned.file.stamp,
            number,
            &(new.passages.len() as i32),
            &new.content_hash.as_slice(),
        ])
        .await?;
    }
    copy.finish().await?;
    if documents.iter().any(|(_, _, new)| !new.attributes.is_empty()) {
        insert_attributes(transaction, namespace, documents).await?;
    }
    Ok(())
}

async fn insert_attributes(
    transaction: &Transaction<'_>,
    namespace: &str,
    documents: &[(i32, &Planned<'_>, &NewDocument)],
) -> Result<(), Failure> {
    let columns = [("namespace name value folded", Type::TEXT), ("document", Type::INT4)];
    let mut copy = Copy::begin(transaction, "attributes", &columns).await?;
    for (number, _, new) in documents {
        // Each attribute once.
        let attributes: BTreeSet<_> =
            new.attributes.iter().map(|attribute| (storable(&attribute.name), storable(&attribute.value))).collect();
        for (name, value) in &attributes {
            copy.row(&[&namespace, name, value, &folded(value), number]).await?;
        }
    }
    copy.finish().await
}

#[derive(Debug)]
struct PassageRow<'a> {
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
fn passage_rows<'a>(
    document: i32,
    path: &'a str,
    content: &'a NewDocument,
    keys: &'a [PassageKey],
) -> impl Iterator<Item = (PassageRow<'a>, String)> {
    let mut names = PublicIds::new(&content.namespace, path);
    let (title, of_document) = (content.title.as_deref(), content.language.as_deref());
    content.passages.iter().enumerate().map(move |(ordinal, passage)| {
        let text_hash =
            keys.get(ordinal).map_or_else(|| TextHash::from_text(&passage.embedded_text), |key| key.text_hash);
        let name = names.next(&Identity::new(passage, of_document, text_hash));
        let language = passage.language.as_deref().filter(|own| Some(*own) != of_document);
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

const PASSAGE_COLUMNS: &Columns = &[
    ("namespace public_id kind symbol signature heading context role language author author_folded", Type::TEXT),
    ("text before_text embedded_text", Type::TEXT),
    ("passage start_line end_line dated_ns part", Type::INT8),
    ("document ordinal", Type::INT4),
    ("prose", Type::BOOL),
    ("text_hash", Type::BYTEA),
];

/// Writes passages, each with its number and public identifier.
async fn write_passages<'r, 'a: 'r>(
    transaction: &Transaction<'_>,
    namespace: &str,
    passages: impl Iterator<Item = (&'r PassageRow<'a>, i64, &'r str)>,
) -> Result<(), Failure> {
    let mut copy = Copy::begin(transaction, "passages", PASSAGE_COLUMNS).await?;
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

/// Returns the shortest free prefix of each full identifier, in order. `path` names the document of one for the error.
async fn public_ids<'p>(
    transaction: &Transaction<'_>,
    namespace: &str,
    names: &[String],
    path: impl Fn(usize) -> &'p str,
) -> Result<Vec<String>, Failure> {
    let shortest: Vec<&str> = names.iter().filter_map(|name| prefixes(name).next()).collect();
    let mut taken = HashSet::new();
    take(transaction, namespace, &shortest, &mut taken).await?;
    // Hardly any two passages ever share twelve digits.
    let mut seen = HashSet::new();
    let longer: Vec<&str> = names
        .iter()
        .zip(&shortest)
        .filter(|(_, shortest)| taken.contains(**shortest) || !seen.insert(**shortest))
        .flat_map(|(name, _)| prefixes(name))
        .collect();
    if !longer.is_empty() {
        take(transaction, namespace, &longer, &mut taken).await?;
    }
    let mut ids = Vec::with_capacity(names.len());
    for (place, name) in names.iter().enumerate() {
        let free =
            prefixes(name).find(|prefix| !taken.contains(*prefix)).ok_or_else(|| same_identifier(path(place)))?;
        taken.insert(free.to_owned());
        ids.push(free.to_owned());
    }
    Ok(ids)
}

/// Adds the identifiers among `ids` that passages of the namespace have.
async fn take(
    transaction: &Transaction<'_>,
    namespace: &str,
    ids: &[&str],
    taken: &mut HashSet<String>,
) -> Result<(), Failure> {
    let select = "SELECT public_id FROM passages WHERE namespace = $1 AND public_id = ANY($2)";
    taken.extend(query(transaction, select, &[&namespace, &ids]).await?.iter().map(|row| row.get::<_, String>(0)));
    Ok(())
}
