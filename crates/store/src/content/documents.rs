//! Reading documents, their passages and their namespaces, and the order of passages with equal scores.

use std::collections::{HashMap, HashSet};

use super::Content;
use crate::cache::lock;
use crate::error::Result;
use crate::filter::Filter;
use crate::record::{
    Attribute, DocumentId, DocumentState, Namespace, NewDocument, NewPassage, PassageId, PassageKey, PassageRef, Place,
    StoredPassage, WholeDocument,
};
use crate::report::Origin;
use crate::retrieval::{LexicalHit, SemanticHit};
use crate::session::{Row, Session, Value, all, first, read, values};
use crate::store::Documents;

/// Selects documents for [`document`].
const DOCUMENT: &str = "SELECT document, namespace, collection, path, language, role, title, size, modified_ns, stamp, dated_ns, \
     content_hash, note, passages, origin FROM documents";

impl<C: Content> Documents for C {
    fn namespaces(&self) -> Result<Vec<Namespace>> {
        let now = self.change_number()?;
        if let Some((_, known)) = lock(self.known_namespaces()).as_ref().filter(|(known_at, _)| *known_at == now) {
            return Ok(known.clone());
        }
        let list = self.list_namespaces();
        let known = self.ask(async |session| all(session, &list, &[], namespace).await)?;
        *lock(self.known_namespaces()) = Some((now, known.clone()));
        Ok(known)
    }

    fn unreachable(&self) -> Result<Vec<String>> {
        self.without_node()
    }

    fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>> {
        let select = format!("{DOCUMENT} WHERE namespace = $1 ORDER BY path");
        self.read(&[namespace], async |session| all(session, &select, values![namespace], document).await)
    }

    fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>> {
        let select = format!("{DOCUMENT} WHERE namespace = $1 AND path = $2");
        self.read(&[namespace], async |session| first(session, &select, values![namespace, path], document).await)
    }

    fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>> {
        let condition = "d.namespace = $1 AND d.path = $2 ORDER BY p.ordinal";
        self.read(&[namespace], async |session| found(session, condition, values![namespace, path]).await)
    }

    fn whole_documents(&self, namespace: &str, documents: &[DocumentId]) -> Result<Vec<Option<WholeDocument>>> {
        self.read(&[], async |session| read_whole(session, namespace, documents).await)
    }

    fn records(&self, namespaces: &[String], documents: &[DocumentId]) -> Result<Vec<Option<String>>> {
        // Who has nothing to ask about often has no namespaces either, and every node would be asked.
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let found: HashMap<DocumentId, Option<String>> = self.ask(async |session| {
            let dialect = session.dialect();
            let (among, values) = among(session, numbers(documents), namespaces, "d.namespace");
            let select = format!(
                "SELECT d.document, {} FROM {} WHERE d.document {}{among}",
                dialect.record,
                dialect.documents,
                session.one_of(1)
            );
            let rows = all(session, &select, &values, |row| Ok((row.next()?, row.next()?)));
            Ok(rows.await?.into_iter().collect())
        })?;
        Ok(documents.iter().map(|document| found.get(document).cloned().flatten()).collect())
    }

    fn attributes(&self, namespaces: &[String], documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.ask(async |session| {
            let (among, values) = among(session, numbers(documents), namespaces, "d.namespace");
            attributes(session, &format!("d.document {}{among}", session.one_of(1)), &values).await
        })?;
        Ok(documents.iter().map(|document| found.get(document).cloned().unwrap_or_default()).collect())
    }

    fn origins(&self) -> Result<Vec<Origin>> {
        let select = "SELECT namespace, collection, origin, CAST(sum(documents) AS bigint), CAST(sum(passages) AS bigint), \
             max(dated_ns) FROM (\
             SELECT namespace, collection, origin, count(*) AS documents, sum(passages) AS passages, max(dated_ns) AS dated_ns \
               FROM documents WHERE origin IS NOT NULL GROUP BY 1, 2, 3 \
             UNION ALL SELECT namespace, 'evidence', origin, 0, 0, NULL FROM (\
               SELECT namespace, origin FROM evidence_tasks UNION SELECT namespace, origin FROM evidence_works \
               UNION SELECT namespace, origin FROM evidence_pages UNION SELECT namespace, origin FROM evidence_edges) e) o \
             GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
        let origin =
            |row: &mut Row| Ok(read!(row => Origin { namespace, collection, name, documents, passages, dated_ns }));
        self.ask(async |session| all(session, select, &[], origin).await)
    }

    fn newest_dates(&self) -> Result<Vec<(String, i64)>> {
        // A file that git does not know has only the time when it was written, which in an old checkout is that of today.
        let select = "SELECT namespace, newest FROM (SELECT namespace, \
             coalesce(max(dated_ns), max(nullif(modified_ns, 0))) AS newest FROM documents GROUP BY namespace) AS dates \
             WHERE newest IS NOT NULL ORDER BY namespace";
        self.ask(async |session| all(session, select, &[], |row| Ok((row.next()?, row.next()?))).await)
    }

    fn passages(&self, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<StoredPassage>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.ask(async |session| {
            let (among, values) = among(session, passage_numbers(ids), namespaces, "p.namespace");
            let mut found = found(session, &format!("p.passage {}{among}", session.one_of(1)), &values).await?;
            found.extend(retired(session, ids, found.iter().map(|passage| passage.passage).collect()).await?);
            Ok(found)
        })?;
        let found: HashMap<PassageId, StoredPassage> =
            found.into_iter().map(|passage| (passage.passage, passage)).collect();
        Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
    }

    fn places(&self, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<(PassageId, Place)>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.ask(async |session| {
            let (among, values) = among(session, passage_numbers(ids), namespaces, "p.namespace");
            let select = format!(
                "SELECT p.passage, d.namespace, d.path, p.ordinal FROM {} WHERE p.passage {}{among}",
                session.dialect().passages.from,
                session.one_of(1)
            );
            let place = |row: &mut Row| {
                let passage: PassageId = row.next()?;
                Ok((passage, read!(row => Place { namespace, path, ordinal })))
            };
            let mut found = all(session, &select, &values, place).await?;
            let kept = retired(session, ids, found.iter().map(|(passage, _)| *passage).collect()).await?;
            let place =
                |StoredPassage { passage, namespace, path, ordinal, .. }| (passage, Place { namespace, path, ordinal });
            found.extend(kept.into_iter().map(place));
            Ok(found)
        })
    }

    fn find(&self, prefix: &str, limit: usize) -> Result<Vec<StoredPassage>> {
        let prefix = prefix.trim().to_ascii_lowercase();
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        self.read(&[], async |session| {
            let exact = found(session, "p.public_id = $1", values![&prefix]).await?;
            if !exact.is_empty() {
                return Ok(exact);
            }
            // 'g' sorts after every hexadecimal digit.
            let starting = "p.public_id > $1 AND p.public_id < $1 || 'g' ORDER BY p.public_id, p.passage LIMIT $2";
            found(session, starting, values![&prefix, i64::try_from(limit).unwrap_or(i64::MAX)]).await
        })
    }

    fn select(&self, filter: &Filter) -> Result<Vec<PassageRef>> {
        self.passing(filter)
    }
}

/// The condition on namespaces of a statement that asks for rows by number, where the tables have them and some are named, and its values.
pub(crate) fn among<E>(
    session: &dyn Session<E>,
    numbers: Vec<i64>,
    namespaces: &[String],
    column: &str,
) -> (String, Vec<Value>) {
    let numbers = numbers.into();
    match namespaces {
        [_, ..] if session.dialect().has_namespaces => {
            (format!(" AND {column} {}", session.one_of(2)), vec![numbers, namespaces.to_vec().into()])
        }
        _ => (String::new(), vec![numbers]),
    }
}

/// Numbers of documents for a statement.
pub(crate) fn numbers(documents: &[DocumentId]) -> Vec<i64> {
    documents.iter().map(|document| document.0.into()).collect()
}

fn passage_numbers(ids: &[PassageId]) -> Vec<i64> {
    ids.iter().map(|id| id.0 as i64).collect()
}

/// The attributes of documents `d` that meet a condition, each list by name and value.
pub(crate) async fn attributes<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<HashMap<DocumentId, Vec<Attribute>>, E> {
    let select = format!(
        "SELECT a.document, a.name, a.value FROM documents d JOIN attributes a ON {} WHERE {condition} \
         ORDER BY a.document, a.name, a.value",
        session.dialect().attributes_of_document
    );
    let mut found: HashMap<DocumentId, Vec<Attribute>> = HashMap::new();
    let attribute = |row: &mut Row| Ok((row.next()?, read!(row => Attribute { name, value })));
    for (document, attribute) in all(session, &select, values, attribute).await? {
        found.entry(document).or_default().push(attribute);
    }
    Ok(found)
}

/// The passages `p` of documents `d` that meet a condition.
pub(crate) async fn found<E>(
    session: &dyn Session<E>,
    condition: &str,
    values: &[Value],
) -> Result<Vec<StoredPassage>, E> {
    let dialect = session.dialect();
    let select = format!(
        "SELECT p.passage, p.public_id, p.document, d.namespace, d.collection, d.path, d.title, d.modified_ns, \
         coalesce(p.dated_ns, d.dated_ns), d.severity, p.author, p.part, p.ordinal, p.start_line, p.end_line, p.kind, p.symbol, \
         p.heading, p.context, {}, coalesce(p.language, d.language), p.role, p.prose, {} FROM {}{} WHERE {condition}",
        dialect.passages.text, dialect.passages.text_hash, dialect.passages.from, dialect.passages.with_texts
    );
    all(session, &select, values, passage).await
}

/// Deleted passages that searches still find, of those that are not among the found ones.
async fn retired<E>(
    session: &dyn Session<E>,
    ids: &[PassageId],
    found: HashSet<PassageId>,
) -> Result<Vec<StoredPassage>, E> {
    let Some(select) = session.dialect().retired else { return Ok(Vec::new()) };
    let missing: Vec<PassageId> = ids.iter().copied().filter(|id| !found.contains(id)).collect();
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let records = all(session, select, values![passage_numbers(&missing)], Row::next::<String>).await?;
    // An unreadable record counts as gone.
    Ok(records.iter().filter_map(|record| serde_json::from_str(record).ok()).collect())
}

fn namespace(row: &mut Row) -> Result<Namespace, String> {
    Ok(read!(row => Namespace { name, root, machine, owner, shared, documents, passages }))
}

fn document(row: &mut Row) -> Result<DocumentState, String> {
    Ok(read!(row => DocumentState {
        document, namespace, collection, path, description, file, dated_ns, content_hash, note, passages, origin,
    }))
}

fn passage(row: &mut Row) -> Result<StoredPassage, String> {
    Ok(read!(row => StoredPassage {
        passage, id, document, namespace, collection, path, title, modified_ns, dated_ns, severity, author, part, ordinal,
        start_line, end_line, kind, symbol, heading, context, text, language, role, form, text_hash,
    }))
}

/// Returns whole documents of a namespace, in the order given.
pub(crate) async fn read_whole<E>(
    session: &dyn Session<E>,
    namespace: &str,
    documents: &[DocumentId],
) -> Result<Vec<Option<WholeDocument>>, E> {
    let dialect = session.dialect();
    let (among, values) = among(session, numbers(documents), &[namespace.to_owned()], "d.namespace");
    let wanted = format!("{}{among}", session.one_of(1));
    let select = format!(
        "SELECT d.document, d.namespace, d.collection, d.path, d.origin, d.language, d.role, d.title, d.size, d.modified_ns, \
         d.stamp, d.dated_ns, d.severity, d.content_hash, d.note, {} FROM {} WHERE d.document {wanted}",
        dialect.record, dialect.documents
    );
    let found = all(session, &select, &values, whole_document).await?.into_iter();
    let mut found: HashMap<DocumentId, WholeDocument> =
        found.filter(|whole| whole.content.namespace == namespace).map(|whole| (whole.document, whole)).collect();
    for (document, attributes) in attributes(session, &format!("d.document {wanted}"), &values).await? {
        found.entry(document).and_modify(|whole| whole.content.attributes = attributes);
    }
    let select = format!(
        "SELECT p.document, p.public_id, {}, p.start_line, p.end_line, p.kind, p.symbol, p.signature, p.heading, p.context, {}, {}, \
         p.role, p.language, p.author, p.dated_ns, p.part, p.prose FROM {}{} WHERE p.document {wanted} \
         ORDER BY p.document, p.ordinal",
        dialect.passages.text_hash,
        dialect.passages.text,
        dialect.passages.embedded_text,
        dialect.passages.from,
        dialect.passages.with_texts
    );
    for (document, key, passage) in all(session, &select, &values, whole_passage).await? {
        if let Some(whole) = found.get_mut(&document) {
            whole.keys.push(key);
            whole.content.passages.push(passage);
        }
    }
    Ok(documents.iter().map(|document| found.get(document).cloned()).collect())
}

fn whole_document(row: &mut Row) -> Result<WholeDocument, String> {
    let document: DocumentId = row.next()?;
    let (namespace, collection, path): (String, String, String) = (row.next()?, row.next()?, row.next()?);
    let content = read!(row => NewDocument {
        origin, language, role, title, file, dated_ns, severity, content_hash, note, record,
        ..NewDocument::new(namespace, collection, path)
    });
    Ok(WholeDocument { document, content, keys: Vec::new() })
}

fn whole_passage(row: &mut Row) -> Result<(DocumentId, PassageKey, NewPassage), String> {
    let document: DocumentId = row.next()?;
    let key = read!(row => PassageKey { id, text_hash });
    let passage = read!(row => NewPassage {
        start_line, end_line, kind, symbol, signature, heading, context, text, embedded_text, role, language, author, dated_ns,
        part, form,
    });
    Ok((document, key, passage))
}

/// Hits to find beyond those asked for, so that a place in the list does not depend on age where several hits share the last score.
const SPARE: usize = 32;

/// The number of hits to find for the first `k`.
pub(crate) fn with_spare(k: usize) -> usize {
    if k == 0 { 0 } else { k.saturating_add(SPARE) }
}

/// A passage that a retriever found.
pub(crate) trait Hit {
    fn passage(&self) -> PassageId;
    fn score(&self) -> f32;
}

impl Hit for LexicalHit {
    fn passage(&self) -> PassageId {
        self.passage
    }

    fn score(&self) -> f32 {
        self.score.bm25
    }
}

impl Hit for SemanticHit {
    fn passage(&self) -> PassageId {
        self.passage
    }

    fn score(&self) -> f32 {
        self.similarity
    }
}

/// Orders hits of some namespaces with equal scores by their places, and keeps the first `k`. The hits are ordered by their scores.
///
/// The order of passages with equal scores: by namespace, path and position. Their numbers tell when they were stored, which has nothing
/// to do with a query, and differs between two indexes of one tree.
pub(crate) fn settle<H: Hit>(store: &impl Documents, namespaces: &[String], hits: &mut Vec<H>, k: usize) -> Result<()> {
    let is_tied = |a: &H, b: &H| a.score().to_bits() == b.score().to_bits();
    // Those beyond the last score are left out in any case.
    let last = hits.get(k.wrapping_sub(1)).map(H::score);
    hits.retain(|hit| last.is_none_or(|last| hit.score() >= last));
    let tied = hits.chunk_by(is_tied).filter(|run| run.len() > 1).flatten().map(H::passage);
    let tied: Vec<PassageId> = tied.collect();
    if !tied.is_empty() {
        let places: HashMap<PassageId, Place> = store.places(namespaces, &tied)?.into_iter().collect();
        for run in hits.chunk_by_mut(is_tied) {
            run.sort_by(|a, b| places.get(&a.passage()).cmp(&places.get(&b.passage())));
        }
    }
    hits.truncate(k);
    Ok(())
}
