//! Changing documents and namespaces. A [`Plan`] plays the changes through in memory, `write` writes what comes out.

mod write;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use deadpool_postgres::Transaction;

use super::PostgresStore;
use super::failure::Failure;
use super::session::{document_id, execute, query};
use crate::content;
use crate::content::Changing;
use crate::error::{Result, StoreError};
use crate::evidence::EVIDENCE_COLLECTION;
use crate::graph::{EvidenceChange, TaskUpdates, documents_changed};
use crate::record::{Applied, Change, DocumentId, FileStat, NewDocument, NewNamespace, Tree};
use crate::session::Session;
use crate::sqlite::{validate, validate_path};
use crate::store::{Changes, Writing};

impl Changes for PostgresStore {
    fn writer(&self) -> Result<Writing<'_>> {
        Ok(Writing::new(self.hold()?))
    }

    fn wait_to_write(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Writing<'_>> {
        Ok(Writing::new(self.wait_to_hold(patience, waiting)?))
    }

    fn put_namespace(&self, namespace: &NewNamespace) -> Result<()> {
        content::put_namespace(self, namespace)
    }

    fn claim_trees(&self, trees: &[Tree], moved: bool) -> Result<()> {
        content::claim_trees(self, trees, moved, self.address().as_ref())
    }

    fn remove_namespace(&self, name: &str) -> Result<Applied> {
        self.connections.write(async |transaction| self.remove_namespace_in(transaction, name).await)
    }

    fn apply(&self, changes: &[Change]) -> Result<Applied> {
        content::apply(self, changes)
    }

    fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied> {
        content::remove_origin(self, origin, namespaces)
    }

    fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64> {
        self.connections.write(async |transaction| self.set_dates_in(transaction, namespace, dates).await)
    }
}

/// A stored document for the plan.
const DOCUMENT: &str =
    "SELECT namespace, document, path, collection, size, modified_ns, passages, stamp FROM documents";

impl PostgresStore {
    pub(crate) fn change_documents(
        &self,
        changing: &Changing<'_>,
        evidence: impl AsyncFn(&dyn Session<Failure>, &mut TaskUpdates) -> Result<u64, Failure>,
    ) -> Result<Applied> {
        let Changing { changes, origin, namespaces, registers } = *changing;
        let (applied, rows) = self.connections.write(async |transaction| {
            let of_origin = match origin {
                Some(origin) => self.of_origin(transaction, origin, namespaces).await?,
                None => Vec::new(),
            };
            let changes = if origin.is_some() { &of_origin } else { changes };
            let also: BTreeSet<String> = namespaces.iter().filter(|_| registers).cloned().collect();
            let mut plan = self.plan(transaction, changes, &also).await?;
            for (order, change) in changes.iter().enumerate() {
                plan.change(order, change)?;
            }
            plan.registered.extend(also);
            let written = write::write(&self.connections, transaction, &plan).await?;
            self.note(transaction, &written.keys().map(String::as_str).collect::<Vec<_>>()).await?;
            let (session, mut tasks) = (self.connections.session(transaction), TaskUpdates::default());
            documents_changed(&session, &plan.evidence, &mut tasks).await?;
            let rows = evidence(&session, &mut tasks).await?;
            if !namespaces.is_empty() {
                // Many changes of evidence change no document, and so no change number.
                let count = "UPDATE namespaces SET evidence_number = evidence_number + 1 WHERE namespace = ANY($1)";
                execute(transaction, count, &[&namespaces]).await?;
            }
            tasks.apply(&session).await?;
            Ok((Applied { seq: self.change_number_in(transaction).await?, ..plan.applied }, rows))
        })?;
        self.counted.wrote(applied.passages_added + rows);
        let first = changes.iter().find_map(|change| match change {
            Change::Put(document) => Some(document.namespace.as_str()),
            _ => None,
        });
        if let Some(namespace) = first {
            // The changes are saved, whatever becomes of this.
            let _ = self.connections.ask(async |connection| self.counted.keep_up(connection, namespace).await);
        }
        Ok(applied)
    }

    /// The deletion of each document of an origin in namespaces, which stay locked.
    async fn of_origin(
        &self,
        transaction: &Transaction<'_>,
        origin: &str,
        namespaces: &[String],
    ) -> Result<Vec<Change>, Failure> {
        self.lock_namespaces(transaction, namespaces.iter().map(String::as_str)).await?;
        let select =
            "SELECT document FROM documents WHERE namespace = ANY($1) AND origin = $2 ORDER BY namespace, document";
        let rows = query(transaction, select, &[&namespaces, &origin]).await?;
        Ok(rows.iter().map(|row| Change::Delete { document: document_id(row.get(0)) }).collect())
    }

    /// Locks the namespaces that changes concern, and reads the documents.
    async fn plan<'c>(
        &self,
        transaction: &Transaction<'_>,
        changes: &'c [Change],
        also: &BTreeSet<String>,
    ) -> Result<Plan<'c>, Failure> {
        let numbers = numbers(changes);
        let mut namespaces = also.clone();
        namespaces.extend(changes.iter().filter_map(|change| match change {
            Change::Put(document) => Some(document.namespace.clone()),
            _ => None,
        }));
        namespaces.extend(self.namespaces_of(transaction, &numbers).await?);
        self.lock_namespaces(transaction, namespaces.iter().map(String::as_str)).await?;

        let mut plan = Plan::default();
        let names: Vec<&str> = namespaces.iter().map(String::as_str).collect();
        if !numbers.is_empty() {
            let by_number = format!("{DOCUMENT} WHERE namespace = ANY($1) AND document = ANY($2)");
            for row in query(transaction, &by_number, &[&names, &numbers]).await? {
                plan.know(planned(&row));
            }
        }
        let by_path = format!("{DOCUMENT} WHERE namespace = $1 AND path = ANY($2)");
        for namespace in &namespaces {
            let paths = paths(changes, namespace);
            if !paths.is_empty() {
                for row in query(transaction, &by_path, &[namespace, &paths]).await? {
                    plan.know(planned(&row));
                }
            }
        }
        Ok(plan)
    }

    /// The namespaces of documents. Most changes are of the tree that the store was opened for, and only others are sought everywhere.
    async fn namespaces_of(&self, transaction: &Transaction<'_>, numbers: &[i32]) -> Result<BTreeSet<String>, Failure> {
        let mut namespaces = BTreeSet::new();
        if numbers.is_empty() {
            return Ok(namespaces);
        }
        let own = "SELECT document FROM documents WHERE namespace = $1 AND document = ANY($2)";
        let own: BTreeSet<i32> =
            query(transaction, own, &[&self.namespace, &numbers]).await?.iter().map(|row| row.get(0)).collect();
        let others: Vec<i32> = numbers.iter().copied().filter(|number| !own.contains(number)).collect();
        if !own.is_empty() {
            namespaces.insert(self.namespace.clone());
        }
        if !others.is_empty() {
            let select = "SELECT DISTINCT namespace FROM documents WHERE document = ANY($1)";
            namespaces.extend(query(transaction, select, &[&others]).await?.iter().map(|row| row.get::<_, String>(0)));
        }
        Ok(namespaces)
    }
}

/// The numbers of documents that changes name. Greater ones than a column holds are unknown.
fn numbers(changes: &[Change]) -> Vec<i32> {
    let number = |change: &Change| match change {
        Change::Put(_) => None,
        Change::Touch { document, .. } | Change::Move { document, .. } | Change::Delete { document } => {
            i32::try_from(document.0).ok()
        }
    };
    changes.iter().filter_map(number).collect()
}

/// The paths in a namespace that may have a document: those of documents that are put there, and all that any document moves to,
/// whose namespace is not known yet.
fn paths<'c>(changes: &'c [Change], namespace: &str) -> Vec<&'c str> {
    let path = |change: &'c Change| match change {
        // The server could not even compare a path with a NUL. It is refused later.
        Change::Put(document) if document.namespace == namespace => Some(document.path.as_str()),
        Change::Move { path, .. } => Some(path.as_str()),
        _ => None,
    };
    changes.iter().filter_map(path).filter(|path| !path.contains('\0')).collect()
}

fn planned<'c>(row: &tokio_postgres::Row) -> Planned<'c> {
    Planned {
        namespace: row.get(0),
        number: Some(row.get(1)),
        path: row.get(2),
        collection: row.get(3),
        file: FileStat { size: row.get::<_, i64>(4) as u64, modified_ns: row.get(5), stamp: row.get(7) },
        passages: row.get::<_, i32>(6) as u64,
        content: None,
        renumbered: None,
        touched: false,
        gone: false,
    }
}

/// A document that changes may concern, as it is stored and then as the changes leave it.
#[derive(Debug, Clone)]
pub(crate) struct Planned<'c> {
    /// Its number; `None` before it has one.
    pub number: Option<i32>,
    pub namespace: String,
    pub path: String,
    pub collection: String,
    /// The state of its file.
    pub file: FileStat,
    /// The number of its passages.
    pub passages: u64,
    /// Its new content; `None` if the stored one stays.
    pub content: Option<&'c NewDocument>,
    /// The place of the last change that gave its passages new numbers.
    pub renumbered: Option<usize>,
    /// True if its path, size or time of modification differ from the stored ones.
    pub touched: bool,
    /// True after its deletion.
    pub gone: bool,
}

impl Planned<'_> {
    fn set_file(&mut self, file: FileStat) {
        (self.file, self.touched) = (file, true);
    }
}

/// The changes played through.
///
/// Changes apply in order, and a later one can concern the same document or path as an earlier one. So they are first played
/// through on what is stored, in memory; what comes out is then written with a few statements for all documents.
#[derive(Debug, Default)]
pub(crate) struct Plan<'c> {
    pub documents: Vec<Planned<'c>>,
    by_number: HashMap<i32, usize>,
    by_path: HashMap<(String, String), usize>,
    pub applied: Applied,
    /// The namespaces of documents that were put. They are registered even if nothing remains in them.
    pub registered: BTreeSet<String>,
    /// The namespaces whose change numbers rise: all with a change besides touched files.
    pub changed: BTreeSet<String>,
    pub evidence: Vec<EvidenceChange>,
}

impl<'c> Plan<'c> {
    /// Adds a stored document. Adding it again changes nothing.
    pub fn know(&mut self, document: Planned<'c>) {
        let Some(number) = document.number else { return };
        if let std::collections::hash_map::Entry::Vacant(unknown) = self.by_number.entry(number) {
            let place = self.documents.len();
            unknown.insert(place);
            self.by_path.insert((document.namespace.clone(), document.path.clone()), place);
            self.documents.push(document);
        }
    }

    /// Plays a change through; `order` is its place among the changes.
    pub fn change(&mut self, order: usize, change: &'c Change) -> Result<(), StoreError> {
        match change {
            Change::Put(document) => self.put(order, document),
            Change::Touch { document, file } => {
                let place = self.place(*document)?;
                self.touch(place, *file);
                Ok(())
            }
            Change::Move { document, path, file } => self.relocate(order, *document, path, *file),
            Change::Delete { document } => {
                let place = self.place(*document)?;
                self.delete(place);
                Ok(())
            }
        }
    }

    fn place(&self, document: DocumentId) -> Result<usize, StoreError> {
        i32::try_from(document.0)
            .ok()
            .and_then(|number| self.by_number.get(&number).copied())
            .filter(|place| !self.documents[*place].gone)
            .ok_or(StoreError::UnknownDocument { document: document.0 })
    }

    fn put(&mut self, order: usize, new: &'c NewDocument) -> Result<(), StoreError> {
        validate(new)?;
        self.registered.insert(new.namespace.clone());
        self.changed.insert(new.namespace.clone());
        let key = (new.namespace.clone(), new.path.clone());
        let known = self.by_path.get(&key).copied();
        let planned = Planned {
            number: known.and_then(|place| self.documents[place].number),
            namespace: new.namespace.clone(),
            path: new.path.clone(),
            collection: new.collection.clone(),
            file: new.file,
            passages: new.passages.len() as u64,
            content: Some(new),
            renumbered: Some(order),
            touched: known.is_some_and(|place| self.documents[place].touched),
            gone: false,
        };
        match known {
            Some(place) => {
                self.applied.passages_deleted += self.documents[place].passages;
                self.applied.replaced += 1;
                self.documents[place] = planned;
            }
            None => {
                self.applied.added += 1;
                self.by_path.insert(key, self.documents.len());
                self.documents.push(planned);
            }
        }
        self.applied.passages_added += new.passages.len() as u64;
        if new.collection == EVIDENCE_COLLECTION {
            let (namespace, path) = (new.namespace.clone(), new.path.clone());
            self.evidence.push(EvidenceChange::Put { namespace, path });
        }
        Ok(())
    }

    fn touch(&mut self, place: usize, file: FileStat) {
        self.documents[place].set_file(file);
        self.applied.touched += 1;
    }

    /// Passages of a moved document are new ones with the same texts, because their public identifiers and the words of
    /// their path change.
    fn relocate(&mut self, order: usize, document: DocumentId, path: &str, file: FileStat) -> Result<(), StoreError> {
        let place = self.place(document)?;
        if self.documents[place].path == path {
            self.touch(place, file);
            return Ok(());
        }
        validate_path(path)?;
        let namespace = self.documents[place].namespace.clone();
        if let Some(&replaced) = self.by_path.get(&(namespace.clone(), path.to_owned())) {
            self.delete(replaced);
        }
        let document = &mut self.documents[place];
        let old = std::mem::replace(&mut document.path, path.to_owned());
        document.set_file(file);
        document.renumbered = Some(order);
        self.applied.moved += 1;
        self.applied.passages_added += document.passages;
        self.applied.passages_deleted += document.passages;
        self.by_path.remove(&(namespace.clone(), old));
        self.by_path.insert((namespace.clone(), path.to_owned()), place);
        self.changed.insert(namespace);
        Ok(())
    }

    fn delete(&mut self, place: usize) {
        let document = &mut self.documents[place];
        document.gone = true;
        let (namespace, path) = (document.namespace.clone(), document.path.clone());
        self.applied.deleted += 1;
        self.applied.passages_deleted += document.passages;
        self.changed.insert(namespace.clone());
        if document.collection == EVIDENCE_COLLECTION {
            self.evidence.push(EvidenceChange::Deleted { namespace: namespace.clone(), path: path.clone() });
        }
        self.by_path.remove(&(namespace, path));
    }
}
