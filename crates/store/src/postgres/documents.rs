//! Reading documents and their passages.

use std::collections::HashMap;

use super::rows::{DOCUMENT, PASSAGE, document, document_id, numbers, passage};
use super::store::PostgresStore;
use super::{select, whole};
use crate::error::Result;
use crate::filter::Filter;
use crate::mutex::lock;
use crate::namespace::Namespace;
use crate::record::{Attribute, DocumentId, DocumentState, PassageId, PassageRef, StoredPassage, WholeDocument};
use crate::report::Origin;
use crate::store::Documents;

impl Documents for PostgresStore {
    fn namespaces(&self) -> Result<Vec<Namespace>> {
        // Every search reads them.
        let now = self.read_change_number()?;
        if let Some((_, known)) = lock(&self.namespaces).as_ref().filter(|(known_at, _)| *known_at == now) {
            return Ok(known.clone());
        }
        let known = self.read_namespaces()?;
        *lock(&self.namespaces) = Some((now, known.clone()));
        Ok(known)
    }

    fn unreachable(&self) -> Result<Vec<String>> {
        self.read_unreachable()
    }

    fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>> {
        let select = format!("{DOCUMENT} WHERE namespace = $1 ORDER BY path");
        self.connections.read_of(&[namespace], async |transaction| {
            let statement = transaction.prepare_cached(&select).await?;
            Ok(transaction.query(&statement, &[&namespace]).await?.iter().map(document).collect())
        })
    }

    fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>> {
        let select = format!("{DOCUMENT} WHERE namespace = $1 AND path = $2");
        self.connections.read_of(&[namespace], async |transaction| {
            let statement = transaction.prepare_cached(&select).await?;
            Ok(transaction.query_opt(&statement, &[&namespace, &path]).await?.as_ref().map(document))
        })
    }

    fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>> {
        let select = format!("{PASSAGE} WHERE d.namespace = $1 AND d.path = $2 ORDER BY p.ordinal");
        self.connections.read_of(&[namespace], async |transaction| {
            let statement = transaction.prepare_cached(&select).await?;
            Ok(transaction.query(&statement, &[&namespace, &path]).await?.iter().map(passage).collect())
        })
    }

    fn whole_documents(&self, namespace: &str, documents: &[DocumentId]) -> Result<Vec<Option<WholeDocument>>> {
        self.connections.read(async |transaction| whole::read(transaction, namespace, documents).await)
    }

    fn records(&self, namespaces: &[String], documents: &[DocumentId]) -> Result<Vec<Option<String>>> {
        // Who has nothing to ask about often has no namespaces either, and every node would be asked.
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let select = "SELECT document, record FROM documents WHERE document = ANY($1)";
        let numbers = numbers(documents);
        let found: HashMap<DocumentId, Option<String>> = self.connections.ask(async |connection| {
            let rows = match namespaces {
                [] => connection.query(&connection.prepare_cached(select).await?, &[&numbers]).await?,
                names => {
                    let select = format!("{select} AND namespace = ANY($2)");
                    connection.query(&connection.prepare_cached(&select).await?, &[&numbers, &names]).await?
                }
            };
            Ok(rows.iter().map(|row| (document_id(row.get(0)), row.get(1))).collect())
        })?;
        Ok(in_order(documents, &found).map(Option::flatten).collect())
    }

    fn attributes(&self, namespaces: &[String], documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let select = "SELECT a.document, a.name, a.value FROM documents d \
             JOIN attributes a ON a.namespace = d.namespace AND a.document = d.document WHERE d.document = ANY($1)";
        let order = " ORDER BY a.document, a.name, a.value";
        let numbers = numbers(documents);
        let found = self.connections.ask(async |connection| {
            let rows = match namespaces {
                [] => {
                    let statement = connection.prepare_cached(&format!("{select}{order}")).await?;
                    connection.query(&statement, &[&numbers]).await?
                }
                names => {
                    let select = format!("{select} AND d.namespace = ANY($2){order}");
                    let statement = connection.prepare_cached(&select).await?;
                    connection.query(&statement, &[&numbers, &names]).await?
                }
            };
            let mut found: HashMap<DocumentId, Vec<Attribute>> = HashMap::new();
            for row in &rows {
                let attribute = Attribute { name: row.get(1), value: row.get(2) };
                found.entry(document_id(row.get(0))).or_default().push(attribute);
            }
            Ok(found)
        })?;
        Ok(in_order(documents, &found).map(Option::unwrap_or_default).collect())
    }

    fn origins(&self) -> Result<Vec<Origin>> {
        let select = "SELECT namespace, collection, origin, sum(documents)::bigint, sum(passages)::bigint, max(dated_ns) FROM (\
             SELECT namespace, collection, origin, count(*) AS documents, sum(passages) AS passages, max(dated_ns) AS dated_ns \
               FROM documents WHERE origin IS NOT NULL GROUP BY 1, 2, 3 \
             UNION ALL SELECT namespace, 'evidence', origin, 0, 0, NULL FROM (\
               SELECT namespace, origin FROM evidence_tasks UNION SELECT namespace, origin FROM evidence_works \
               UNION SELECT namespace, origin FROM evidence_pages UNION SELECT namespace, origin FROM evidence_edges) e) o \
             GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
        self.connections.ask(async |connection| {
            let origin = |row: &tokio_postgres::Row| Origin {
                namespace: row.get(0),
                collection: row.get(1),
                name: row.get(2),
                documents: row.get::<_, i64>(3) as u64,
                passages: row.get::<_, i64>(4) as u64,
                dated_ns: row.get(5),
            };
            Ok(connection.query(select, &[]).await?.iter().map(origin).collect())
        })
    }

    fn newest_dates(&self) -> Result<Vec<(String, i64)>> {
        // A file that git does not know has only the time when it was written, which in an old checkout is that of today.
        let select = "SELECT namespace, newest FROM (SELECT namespace, \
             coalesce(max(dated_ns), max(nullif(modified_ns, 0))) AS newest FROM documents GROUP BY namespace) AS dates \
             WHERE newest IS NOT NULL ORDER BY namespace";
        self.connections.ask(async |connection| {
            let statement = connection.prepare_cached(select).await?;
            Ok(connection.query(&statement, &[]).await?.iter().map(|row| (row.get(0), row.get(1))).collect())
        })
    }

    fn passages(&self, namespaces: &[String], ids: &[PassageId]) -> Result<Vec<StoredPassage>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let select = format!("{PASSAGE} WHERE p.passage = ANY($1)");
        let numbers: Vec<i64> = ids.iter().map(|id| id.0 as i64).collect();
        let found: HashMap<PassageId, StoredPassage> = self.connections.ask(async |connection| {
            let rows = match namespaces {
                [] => connection.query(&connection.prepare_cached(&select).await?, &[&numbers]).await?,
                names => {
                    let select = format!("{select} AND p.namespace = ANY($2)");
                    connection.query(&connection.prepare_cached(&select).await?, &[&numbers, &names]).await?
                }
            };
            Ok(rows.iter().map(passage).map(|passage| (passage.passage, passage)).collect())
        })?;
        Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
    }

    fn find(&self, prefix: &str, limit: usize) -> Result<Vec<StoredPassage>> {
        let prefix = prefix.trim().to_ascii_lowercase();
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        self.connections.read(async |transaction| {
            let exact = transaction.prepare_cached(&format!("{PASSAGE} WHERE p.public_id = $1")).await?;
            let rows = transaction.query(&exact, &[&prefix]).await?;
            if !rows.is_empty() {
                return Ok(rows.iter().map(passage).collect());
            }
            // 'g' sorts after every hexadecimal digit.
            let starting = format!(
                "{PASSAGE} WHERE p.public_id > $1 AND p.public_id < $1 || 'g' ORDER BY p.public_id, p.passage LIMIT $2"
            );
            let starting = transaction.prepare_cached(&starting).await?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            Ok(transaction.query(&starting, &[&prefix, &limit]).await?.iter().map(passage).collect())
        })
    }

    fn select(&self, filter: &Filter) -> Result<Vec<PassageRef>> {
        self.connections.read_of(&filter.namespaces, async |transaction| select::select(transaction, filter).await)
    }
}

/// What was found of each document.
fn in_order<T: Clone>(documents: &[DocumentId], found: &HashMap<DocumentId, T>) -> impl Iterator<Item = Option<T>> {
    documents.iter().map(|document| found.get(document).cloned())
}
