//! Writing the rows of documents and their attributes.

use std::collections::BTreeSet;

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::super::copy::{Columns, Copy, storable, storable_option};
use super::super::error::Failure;
use super::plan::Planned;
use crate::filter::folded;
use crate::record::NewDocument;

/// Writes path, size, time of modification and stamp of stored documents. All paths change in one statement, because documents can swap
/// them.
pub(super) async fn update_places(
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
    let sizes: Vec<i64> = documents.iter().map(|document| document.size).collect();
    let modified: Vec<i64> = documents.iter().map(|document| document.modified_ns).collect();
    let stamps: Vec<i64> = documents.iter().map(|document| document.stamp).collect();
    let statement = transaction.prepare_cached(update).await?;
    transaction.execute(&statement, &[&namespace, &numbers, &paths, &sizes, &modified, &stamps]).await?;
    Ok(())
}

const COLUMNS: &Columns = &[
    ("namespace collection path origin language role title severity note record", Type::TEXT),
    ("size modified_ns dated_ns stamp", Type::INT8),
    ("document passages", Type::INT4),
    ("content_hash", Type::BYTEA),
];

/// Inserts documents with their numbers, and their attributes.
pub(super) async fn insert(
    transaction: &Transaction<'_>,
    namespace: &str,
    documents: &[(i32, &Planned<'_>, &NewDocument)],
) -> Result<(), Failure> {
    if documents.is_empty() {
        return Ok(());
    }
    let mut copy = Copy::begin(transaction, "documents", COLUMNS).await?;
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
            &planned.size,
            &planned.modified_ns,
            &new.dated_ns,
            &planned.stamp,
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
