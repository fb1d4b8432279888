//! Whole documents, as they are put.

use std::collections::HashMap;

use super::documents::{among, attributes, numbers};
use crate::record::{DocumentId, NewDocument, NewPassage, PassageKey, WholeDocument};
use crate::session::{Row, Session, all, read};

/// Returns whole documents of a namespace, in the order given.
pub(crate) async fn read<E>(
    session: &dyn Session<E>,
    namespace: &str,
    documents: &[DocumentId],
) -> Result<Vec<Option<WholeDocument>>, E> {
    let dialect = session.dialect();
    let (among, values) = among(session, numbers(documents), &[namespace.to_owned()], "d.namespace");
    let wanted = format!("{}{among}", session.one_of(1));
    let select = format!(
        "SELECT d.document, d.namespace, d.collection, d.path, d.origin, d.language, d.role, d.title, d.size, d.modified_ns, \
         d.dated_ns, d.severity, d.content_hash, d.note, {}, d.stamp FROM {} WHERE d.document {wanted}",
        dialect.record, dialect.documents
    );
    let found = all(session, &select, &values, document).await?.into_iter();
    let mut found: HashMap<DocumentId, WholeDocument> =
        found.filter(|whole| whole.content.namespace == namespace).map(|whole| (whole.document, whole)).collect();
    for (document, attributes) in attributes(session, &format!("d.document {wanted}"), &values).await? {
        found.entry(document).and_modify(|whole| whole.content.attributes = attributes);
    }
    let select = format!(
        "SELECT p.document, p.public_id, {}, p.start_line, p.end_line, p.kind, p.symbol, p.signature, p.heading, p.context, {}, {}, \
         p.role, p.language, p.author, p.dated_ns, p.part, p.prose FROM {}{} WHERE p.document {wanted} \
         ORDER BY p.document, p.ordinal",
        dialect.text_hash, dialect.text, dialect.embedded_text, dialect.passages, dialect.with_texts
    );
    for (document, key, passage) in all(session, &select, &values, passage).await? {
        if let Some(whole) = found.get_mut(&document) {
            whole.keys.push(key);
            whole.content.passages.push(passage);
        }
    }
    Ok(documents.iter().map(|document| found.get(document).cloned()).collect())
}

fn document(row: &mut Row) -> Result<WholeDocument, String> {
    let document: DocumentId = row.next()?;
    let (namespace, collection, path): (String, String, String) = (row.next()?, row.next()?, row.next()?);
    let content = read!(row => NewDocument {
        origin, language, role, title, size, modified_ns, dated_ns, severity, content_hash, note, record, stamp,
        ..NewDocument::new(namespace, collection, path)
    });
    Ok(WholeDocument { document, content, keys: Vec::new() })
}

fn passage(row: &mut Row) -> Result<(DocumentId, PassageKey, NewPassage), String> {
    let document: DocumentId = row.next()?;
    let key = read!(row => PassageKey { id, text_hash });
    let passage = read!(row => NewPassage {
        start_line, end_line, kind, symbol, signature, heading, context, text, embedded_text, role, language, author, dated_ns,
        part, form,
    });
    Ok((document, key, passage))
}
