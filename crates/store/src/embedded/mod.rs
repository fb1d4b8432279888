//! The store in a directory: SQLite for the truth, Tantivy and vector files for the search.

mod retrievers;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::cache::{Recent, lock};
use crate::content;
use crate::content::{Changing, Content, KnownNamespaces, Model};
use crate::error::{Result, StoreError};
use crate::files::has_log;
use crate::filter::{Filter, Selection};
use crate::graph::TaskUpdates;
use crate::lexical::{Lexical, State, guarded};
use crate::lock::{Hold, WriteLock};
use crate::record::{Applied, Change, NewNamespace, PassageRef, Tree};
use crate::report::{Coverage, Findings, Part, Problem, Progress, Pruned, Sizes, Summary};
use crate::semantic::{FileState, Semantic};
use crate::session::Session;
use crate::sql_guard::Guard;
use crate::sqlite::connection::Access;
use crate::sqlite::session::{SqliteSession, now};
use crate::sqlite::{ContentState, Database, NAMESPACES, TransactionError};
use crate::store::{Changes, Maintenance, Serving, Store, Usage, UsageLog, Writing};
use crate::usage;
use crate::usage::EmbeddedUsageLog;

const DATABASE: &str = "tamis.db";
const LOCK: &str = "write.lock";
const EMBEDDING_LOCK: &str = "embedding.lock";
const LEXICAL: &str = "lexical";
const VECTORS: &str = "vectors";

/// The time to wait for another process that creates the database.
const CREATING: Duration = Duration::from_secs(10);

/// The [`Store`](crate::Store) in a directory of its own.
///
/// The directory holds `tamis.db`, the truth, with `lexical/` and `vectors/`, which are derived from it and may be deleted,
/// and `usage.db`. Several stores in several processes may be open on one directory. One of them writes at a time, under
/// `write.lock`, and one embeds in the background, under `embedding.lock`.
#[derive(Debug)]
pub struct EmbeddedStore {
    directory: PathBuf,
    access: Access,
    database: Database,
    lock: WriteLock,
    embedding: WriteLock,
    lexical: Lexical,
    semantic: Semantic,
    /// One publication at a time within the process.
    publishing: Mutex<()>,
    recent: RecentFilters,
    namespaces: KnownNamespaces,
    usage: OnceLock<EmbeddedUsageLog>,
}

/// What recent filters chose, by the state of the database.
#[derive(Debug, Default)]
struct RecentFilters {
    /// The selections of recent filters, by the state of the database.
    selections: Recent<(ContentState, Filter), Arc<Selection>>,
    /// The coverage of models under recent filters.
    coverages: Recent<(ContentState, String, Filter), Coverage>,
}

impl EmbeddedStore {
    /// Returns the store behind its traits.
    // Not inlined, so that the methods of all traits are compiled here and not once more in each crate that calls it.
    #[inline(never)]
    #[must_use]
    pub fn into_dyn(self) -> Arc<dyn Store> {
        Arc::new(self)
    }

    /// Opens the store in a directory.
    ///
    /// # Errors
    ///
    /// [`Missing`](StoreError::Missing) when it is opened for reading and does not exist,
    /// [`ReadOnly`](StoreError::ReadOnly) when it is opened for writing and cannot be written,
    /// [`OtherVersion`](StoreError::OtherVersion) when another version of the program wrote it, [`Corrupt`](StoreError::Corrupt)
    /// when the file is not a database, or is empty where an index was.
    pub fn open(directory: impl AsRef<Path>, access: Access) -> Result<EmbeddedStore> {
        let directory = directory.as_ref();
        let path = directory.join(DATABASE);
        let lock = WriteLock::new(directory.join(LOCK));
        let database = match access {
            Access::ReadWrite => {
                std::fs::create_dir_all(directory)
                    .map_err(|error| StoreError::io(directory, "creating the directory", error))?;
                if !exists(&path)? {
                    // Of several processes that open at once, one creates the database; the others wait for it.
                    let hold = lock.wait(CREATING, &mut |_| !exists(&path).unwrap_or(true));
                    if !exists(&path)? {
                        let _hold = hold?;
                        Database::create(&path)?;
                    }
                }
                Database::open_writable(&path)?
            }
            Access::ReadOnly => {
                if !exists(&path)? {
                    return Err(StoreError::Missing { path: directory.to_owned() });
                }
                Database::open_read_only(&path)?
            }
        };
        let instance = database.instance();
        Ok(EmbeddedStore {
            directory: directory.to_owned(),
            access,
            lock,
            embedding: WriteLock::new(directory.join(EMBEDDING_LOCK)),
            lexical: Lexical::new(directory.join(LEXICAL), instance),
            semantic: Semantic::new(directory.join(VECTORS), instance),
            publishing: Mutex::default(),
            recent: RecentFilters::default(),
            namespaces: Mutex::default(),
            usage: OnceLock::new(),
            database,
        })
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the operations it was opened for.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Takes the right to write, without waiting.
    fn hold(&self) -> Result<Hold<'_>> {
        self.check_writable()?;
        let hold = self.lock.hold()?;
        // The directory may hold another index by now, whose lock this is.
        self.database.check_replaced()?;
        Ok(hold)
    }

    /// Takes the right to write and runs `work` on the database.
    fn writing<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let _hold = self.hold()?;
        work(&self.database)
    }

    fn check_writable(&self) -> Result<()> {
        match self.access {
            // The lock of a deleted directory could not even be named.
            Access::ReadWrite => self.database.check_replaced(),
            Access::ReadOnly => {
                Err(StoreError::ReadOnly { path: self.directory.clone(), reason: "opened for reading only".to_owned() })
            }
        }
    }

    /// Resolves a filter, or returns a recent result.
    fn resolve(&self, filter: &Filter) -> Result<Arc<Selection>> {
        let state = self.database.content_state(filter.is_by_properties())?;
        self.recent.selections.retain(|(known, _)| known.seq == state.seq);
        if let Some(selection) = self.recent.selections.get(|(known, of)| *known == state && of == filter) {
            return Ok(selection);
        }
        // A change in between makes the selection newer than its state, and it is then resolved again.
        let selection = Arc::new(self.database.resolve(filter)?);
        self.recent.selections.push((state, filter.clone()), selection.clone());
        Ok(selection)
    }
}

impl Content for EmbeddedStore {
    type Error = TransactionError;

    fn read<T>(
        &self,
        _: &[&str],
        work: impl AsyncFn(&dyn Session<TransactionError>) -> Result<T, TransactionError>,
    ) -> Result<T> {
        self.database.snapshot(|connection| now(work(&SqliteSession::new(connection))))
    }

    fn write<T>(&self, work: impl AsyncFn(&dyn Session<TransactionError>) -> Result<T, TransactionError>) -> Result<T> {
        self.writing(|database| database.write(|connection| now(work(&SqliteSession::new(connection)))))
    }

    fn known_namespaces(&self) -> &KnownNamespaces {
        &self.namespaces
    }

    fn list_namespaces(&self) -> String {
        NAMESPACES.to_owned()
    }

    fn passing(&self, filter: &Filter) -> Result<Vec<PassageRef>> {
        self.database.select(&*self.resolve(filter)?)
    }

    fn write_namespaces(
        &self,
        names: &[&str],
        work: impl AsyncFn(&dyn Session<TransactionError>) -> Result<(), TransactionError>,
    ) -> Result<()> {
        self.writing(|database| database.write_namespaces(names, work))
    }

    fn change(
        &self,
        changing: &Changing<'_>,
        evidence: impl AsyncFn(&dyn Session<TransactionError>, &mut TaskUpdates) -> Result<u64, TransactionError>,
    ) -> Result<Applied> {
        self.writing(|database| database.change(changing, evidence))
    }

    fn guard(&self) -> &Arc<Guard> {
        &self.database.guard
    }
}

impl Usage for EmbeddedStore {
    fn usage(&self) -> Result<&dyn UsageLog> {
        if let Some(log) = self.usage.get() {
            return Ok(log);
        }
        let log = EmbeddedUsageLog::open(&self.directory, self.access)?;
        Ok(self.usage.get_or_init(|| log))
    }
}

/// Returns `true` if there is a database at the path. An empty file does not count, and is an error beside the rest of
/// an index.
fn exists(path: &Path) -> Result<bool> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io(path, "looking for the database", error)),
        Ok(metadata) if metadata.len() > 0 || !metadata.is_file() => return Ok(true),
        Ok(_) => {}
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let remains = remains(directory);
    if remains.is_empty() {
        return Ok(false);
    }
    let reason = format!("it is empty, but {} of an earlier index", remains.join(" and "));
    Err(StoreError::Corrupt { path: path.to_owned(), reason })
}

/// The files of an index in a directory, besides its database.
fn remains(directory: &Path) -> Vec<&'static str> {
    let holds = |name: &str| std::fs::metadata(directory.join(name)).is_ok_and(|metadata| metadata.len() > 0);
    let mut vectors = std::fs::read_dir(directory.join(VECTORS)).into_iter().flatten().flatten();
    let is_vectors = |path: PathBuf| path.extension().is_some_and(|extension| extension == "tvec");
    [
        (has_log(&directory.join(DATABASE)), "its log remains"),
        (holds("lexical/meta.json"), "lexical/ remains"),
        (vectors.any(|entry| is_vectors(entry.path())), "vectors/ remains"),
        (holds(usage::FILE), "usage.db remains"),
    ]
    .into_iter()
    .filter_map(|(found, name)| found.then_some(name))
    .collect()
}

impl Changes for EmbeddedStore {
    fn writer(&self) -> Result<Writing<'_>> {
        Ok(Writing::new(self.hold()?))
    }

    fn wait_to_write(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Writing<'_>> {
        self.check_writable()?;
        let hold = self.lock.wait(patience, waiting)?;
        self.database.check_replaced()?;
        Ok(Writing::new(hold))
    }

    fn wait_to_embed(&self, patience: Duration) -> Result<Writing<'_>> {
        self.check_writable()?;
        let hold = self.embedding.wait(patience, &mut |_| true)?;
        self.database.check_replaced()?;
        Ok(Writing::new(hold))
    }

    fn is_embedding(&self) -> bool {
        self.embedding.is_held()
    }

    fn put_namespace(&self, namespace: &NewNamespace) -> Result<()> {
        content::put_namespace(self, namespace)
    }

    fn claim_trees(&self, trees: &[Tree], moved: bool) -> Result<()> {
        content::claim_trees(self, trees, moved, self.database.path())
    }

    fn remove_namespace(&self, name: &str) -> Result<Applied> {
        self.writing(|database| database.remove_namespace(name))
    }

    fn apply(&self, changes: &[Change]) -> Result<Applied> {
        content::apply(self, changes)
    }

    fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied> {
        content::remove_origin(self, origin, namespaces)
    }

    fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64> {
        self.writing(|database| database.set_dates(namespace, dates))
    }
}

impl EmbeddedStore {
    fn publish_all(&self, rebuild: bool, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        let _hold = self.hold()?;
        let _publishing = lock(&self.publishing);
        let lexical = self.lexical.catch_up(&self.database, rebuild, progress)?;
        let vectors = match self.semantic.publish(&self.database, rebuild, progress) {
            Ok(vectors) => vectors,
            Err(error) => {
                // The lexical index is published all the same.
                self.database.published(lexical, 0)?;
                return Err(error);
            }
        };
        self.database.published(lexical.max(vectors.highest), lexical.min(vectors.lowest))?;
        // The next publication tidies up as well.
        let _ = self.database.tidy();
        Ok(())
    }
}

impl Maintenance for EmbeddedStore {
    fn publish(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        self.publish_all(false, progress)
    }

    fn change_number(&self) -> Result<u64> {
        self.database.seq()
    }

    fn summary(&self) -> Result<Summary> {
        let mut summary = self.database.summary()?;
        summary.sizes = Sizes {
            database: self.database.bytes(),
            lexical: directory_bytes(self.lexical.path()),
            vectors: directory_bytes(self.semantic.path()),
        };
        summary.lexical_seq = match self.lexical.state() {
            State::Ready(reader) => Some(reader.seq()),
            State::Missing | State::Unusable(_) => None,
        };
        for (known, model) in summary.models.iter_mut().zip(self.database.models()?) {
            if let FileState::Ready(snapshot) = self.semantic.state(&model) {
                known.file_seq = Some(snapshot.seq());
            }
        }
        Ok(summary)
    }

    fn check(&self) -> Result<Findings> {
        // The database first, then each derived index by itself and against the database.
        let integrity = self.database.integrity()?;
        let mut findings = Findings { passages: integrity.passages.len() as u64, problems: integrity.problems };
        if !findings.problems.is_empty() {
            // The retrievers cannot be compared with a damaged database.
            return Ok(findings);
        }
        for message in check_lexical(&self.lexical, &integrity.passages)? {
            findings.problems.push(Problem { part: Part::Lexical, message, mendable: true });
        }
        for model in self.database.models()? {
            for message in check_model(&self.database, &self.semantic, &model)? {
                findings.problems.push(Problem {
                    part: Part::Vectors,
                    message: format!("model {}: {message}", model.name),
                    mendable: true,
                });
            }
        }
        Ok(findings)
    }

    fn mend(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Findings> {
        let _hold = self.hold()?;
        let found = self.check()?;
        let rebuild = found.problems.iter().any(|problem| problem.mendable);
        self.publish_all(rebuild, progress)?;
        self.check()
    }

    fn prune(&self) -> Result<Pruned> {
        self.writing(|database| database.prune())
    }

    fn check_replaced(&self) -> Result<()> {
        self.database.check_replaced()
    }
}

impl Serving for EmbeddedStore {}

fn check_lexical(lexical: &Lexical, expected: &[u64]) -> Result<Vec<String>> {
    let reader = match lexical.state() {
        State::Ready(reader) => reader,
        State::Missing if expected.is_empty() => return Ok(Vec::new()),
        State::Missing => return Ok(vec!["the lexical index is missing".to_owned()]),
        State::Unusable(reason) => return Ok(vec![format!("the lexical index cannot be used: {reason}")]),
    };
    match guarded(|| reader.verify()) {
        Ok(damaged) if damaged.is_empty() => {}
        Ok(damaged) => {
            let names: Vec<String> = damaged.iter().map(|path| path.display().to_string()).collect();
            return Ok(vec![format!("the lexical index is damaged in {}", names.join(", "))]);
        }
        Err(error) => return Ok(vec![format!("the lexical index cannot be read: {error}")]),
    }
    let failed = |error| StoreError::tantivy(lexical.path(), error);
    if !guarded(|| reader.has_its_totals()).map_err(failed)? {
        return Ok(vec!["the passage count of the lexical index is wrong".to_owned()]);
    }
    let held = guarded(|| reader.passages()).map_err(failed)?;
    Ok(difference("the lexical index", expected, &held).into_iter().collect())
}

fn check_model(database: &Database, semantic: &Semantic, model: &Model) -> Result<Vec<String>> {
    let expected = database.embedded(model.number)?;
    match semantic.state(model) {
        FileState::Ready(snapshot) => {
            if let Err(reason) = snapshot.verify() {
                return Ok(vec![format!("the vector file is damaged: {reason}")]);
            }
        }
        FileState::Missing if expected.is_empty() => return Ok(Vec::new()),
        FileState::Missing => return Ok(vec!["the vector file is missing".to_owned()]),
        FileState::Unusable(reason) => return Ok(vec![format!("the vector file cannot be used: {reason}")]),
    }
    let held = semantic.passages(database, model)?;
    Ok(difference("the vector file", &expected, &held).into_iter().collect())
}

/// Describes how an index differs from the database; both lists ascending.
fn difference(what: &str, expected: &[u64], held: &[u64]) -> Option<String> {
    let lacking = expected.iter().filter(|passage| held.binary_search(passage).is_err()).count();
    let surplus = held.iter().filter(|passage| expected.binary_search(passage).is_err()).count();
    let repeated = held.windows(2).filter(|pair| pair[0] == pair[1]).count();
    if lacking + surplus + repeated == 0 {
        return None;
    }
    Some(format!("{what} differs from the database: {lacking} passages missing, {surplus} deleted, {repeated} twice"))
}

/// Bytes of all files in a directory and below.
fn directory_bytes(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return 0;
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some(if metadata.is_dir() { directory_bytes(&entry.path()) } else { metadata.len() })
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Change, FileStat, ModelKey, NewDocument, NewPassage, TextForm, TextHash};
    use crate::store::Documents;

    fn document(path: &str, text: &str) -> Change {
        let passages = vec![NewPassage::new("paragraph", 1..=1, text, TextForm::Prose)];
        Change::Put(NewDocument { passages, ..NewDocument::new("here", "docs", path) })
    }

    #[test]
    fn a_full_disk_is_named_and_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
        let database = &store.database;
        store.apply(&[document("a.md", "kept")]).unwrap();
        // The database may not grow: to SQLite the same as a disk without space.
        let set = |writer: &rusqlite::Connection, pages| {
            writer.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
        };
        let limit = |pages: i64| database.with_writer(|writer| Ok(set(writer, pages)?)).unwrap();
        limit(1);
        let more: String = (0..20_000).map(|number| format!("{number} ")).collect();
        let error = store.apply(&[document("b.md", &more)]).unwrap_err();
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        assert_eq!(store.documents("here").unwrap().len(), 1);
        assert_eq!(database.integrity().unwrap().problems, []);
        limit(1 << 30);
        store.apply(&[document("b.md", &more)]).unwrap();
        assert_eq!(store.documents("here").unwrap().len(), 2);
    }

    #[test]
    fn vectors_are_kept_in_half_precision_and_damage_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
        let database = &store.database;
        store.apply(&[document("a.md", "plain"), document("b.md", &"compressed ".repeat(9))]).unwrap();
        let model = ModelKey { id: "model".into(), dimension: 3 };
        let text = TextHash::from_text("plain");
        database.put_vectors(&model, &[(text, vec![0.1, 0.2, 0.3])]).unwrap();
        let model = database.model("model").unwrap().unwrap();
        let vectors = database.text_vectors("here", &model, &[text]).unwrap();
        assert_eq!(vectors, [Some(vec![0.26733398, 0.53466797, 0.8017578])]);
        assert_eq!(store.document_passages("here", "a.md").unwrap()[0].text, "plain");
        assert_eq!(database.integrity().unwrap().problems, []);
        let write = |sql: &str| database.with_writer(|writer| Ok(writer.execute_batch(sql)?)).unwrap();
        write("UPDATE vectors SET vector = x'00'");
        assert_eq!(database.integrity().unwrap().problems.len(), 1, "a wrong length");
        write("UPDATE texts SET text = x'28b52ffd' WHERE id = 2");
        let problems = database.integrity().unwrap().problems;
        assert!(problems[0].message.contains("damaged"), "{problems:?}");
    }

    #[test]
    fn an_identifier_that_is_taken_gets_longer() {
        let directory = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(directory.path(), Access::ReadWrite).unwrap();
        let database = &store.database;
        store.apply(&[document("a.md", "one")]).unwrap();
        let id = store.document_passages("here", "a.md").unwrap()[0].id.clone();
        // Another passage takes the place of the one with the same twelve digits.
        store.apply(&[document("a.md", "two"), document("b.md", "three")]).unwrap();
        let sql = "UPDATE passages SET public_id = ?1 WHERE text_bytes = 5";
        database.with_writer(|writer| Ok(writer.execute(sql, [&id])?)).unwrap();
        store.apply(&[document("a.md", "one")]).unwrap();
        let longer = store.document_passages("here", "a.md").unwrap()[0].id.clone();
        assert_eq!(longer.len(), 16);
        assert!(longer.starts_with(&id));
        let document = store.document("here", "a.md").unwrap().unwrap().document;
        store.apply(&[Change::Move { document, path: "c.md".into(), file: FileStat::default() }]).unwrap();
        assert_eq!(store.find(&id, 5).unwrap().len(), 1, "the whole identifier of one, found alone");
        assert_eq!(database.integrity().unwrap().problems, []);
    }

    #[test]
    fn differences_are_counted_each_way() {
        assert_eq!(difference("it", &[1, 2, 3], &[1, 2, 3]), None);
        let told = "it differs from the database: 2 passages missing, 2 deleted, 1 twice";
        assert_eq!(difference("it", &[1, 2, 3], &[2, 4, 4]).as_deref(), Some(told));
    }
}
