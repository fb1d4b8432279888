//! The lexical retriever: BM25 over the words of passages, in a Tantivy index that is derived from the database.
//!
//! A text passes through `tokenizer` (words and the parts of names), `stems_and_stop_words` (terms) and `fields` (the schema) to
//! [`Lexical`], which catches up with the database. A query passes through the same, `query` (its terms, with their frequencies and
//! BM25 weights) and `search` (the best passages, the score of any passage, and those that define a name or hold all words of a text).
//!
//! Each term ends with the number of its namespace. So a search reads only the postings of its namespaces, and its
//! frequencies and lengths are sums over those: it scores as if the index held nothing else. The terms of a word lie next to each
//! other, so that one pass finds it in thousands of namespaces.

mod fields;
mod near_terms;
mod query;
mod search;
mod stems_and_stop_words;
mod tokenizer;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock};

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::{DocId, Index, IndexSettings, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::cache::lock;
use crate::error::{Result, StoreError, reason};
use crate::files::{Stamp, Verified};
use crate::record::PassageId;
use crate::report::{Part, Progress};
use crate::sqlite::connection::count;
use crate::sqlite::{Database, TransactionError, catch_up};
use fields::Fields;
use query::Prepared;
use stems_and_stop_words::{ANALYSIS_VERSION, Analyzer};

#[cfg(feature = "postgres")]
pub(crate) use fields::{PassageTerms, TermReader};
pub(crate) use near_terms::near_words;
#[cfg(feature = "postgres")]
pub(crate) use query::{BODY, CountedWord, MAX_WORDS, NAME, PreparedTerms};
#[cfg(feature = "postgres")]
pub(crate) use search::MAX_WORDS as MOST_CONTAINED_WORDS;
pub use stems_and_stop_words::{Highlighter, Mark, is_function_word};
#[cfg(feature = "postgres")]
pub(crate) use stems_and_stop_words::{query_words, text_terms};

/// Changes when indexes of the previous version become unusable.
const INDEX_VERSION: u32 = 4;

/// The lexical index of one store.
#[derive(Debug)]
pub(crate) struct Lexical {
    directory: PathBuf,
    instance: [u8; 16],
    seen: Mutex<Option<(Stamp, State)>>,
    verified: Verified,
}

#[derive(Debug, Clone)]
pub(crate) enum State {
    Missing,
    /// An unusable index, and the reason.
    Unusable(String),
    /// A usable index of this database.
    Ready(Arc<Reader>),
}

/// One commit of the index, searchable while anyone holds it.
pub(crate) struct Reader {
    searcher: Searcher,
    fields: Fields,
    seq: u64,
    totals: Totals,
    /// The deleted documents of each segment, ascending, computed on first use.
    deleted: OnceLock<Vec<Vec<DocId>>>,
    /// The last query, prepared.
    prepared: Mutex<Option<Arc<Prepared>>>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reader").field("seq", &self.seq).finish_non_exhaustive()
    }
}

impl Lexical {
    pub(crate) fn new(directory: PathBuf, instance: [u8; 16]) -> Lexical {
        Lexical { verified: Verified::lasting(directory.clone()), directory, instance, seen: Mutex::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// The current state of the directory, whoever wrote it.
    pub(crate) fn state(&self) -> State {
        let Some(stamp) = Stamp::from_path(&self.directory.join("meta.json")) else {
            return State::Missing;
        };
        let mut seen = lock(&self.seen);
        if let Some((known, state)) = &*seen
            && *known == stamp
        {
            return state.clone();
        }
        let state = match self.open() {
            Ok(reader) => State::Ready(Arc::new(reader)),
            Err(reason) => State::Unusable(reason),
        };
        *seen = Some((stamp, state.clone()));
        state
    }

    /// Forgets the state, so that the next call reads it again.
    fn forget(&self) {
        *lock(&self.seen) = None;
    }

    fn open(&self) -> Result<Reader, String> {
        // A commit between reading the list of files and opening them may remove some. The next list has their replacements.
        let mut attempts = 3;
        loop {
            attempts -= 1;
            match self.try_open() {
                Err(_) if attempts > 0 => {}
                result => return result,
            }
        }
    }

    fn try_open(&self) -> Result<Reader, String> {
        guarded(|| Ok(self.open_files())).map_err(|error| reason(&error))?
    }

    fn open_files(&self) -> Result<Reader, String> {
        let text = |error: tantivy::TantivyError| reason(&error);
        let index = LexicalDirectory::open(&self.directory).and_then(Index::open).map_err(text)?;
        let metas = index.load_metas().map_err(text)?;
        let (seq, totals) = self.state_of(metas.payload.as_deref().unwrap_or_default())?;
        let (schema, fields) = Fields::schema();
        if index.schema() != schema {
            return Err("its fields are of another version".to_owned());
        }
        // A damaged file mostly reads as other data, without an error.
        let mut files: Vec<String> =
            metas.list_segment_files().iter().map(|file| file.to_string_lossy().into_owned()).collect();
        files.sort();
        let verify = |file: &str| index.directory().validate_checksum(Path::new(file));
        let damaged = self.verified.damaged(&files, verify).map_err(|error| error.to_string())?;
        if !damaged.is_empty() {
            return Err(format!("it is damaged in {}", damaged.join(", ")));
        }
        Fields::register(&index);
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(text)?;
        let searcher = reader.searcher();
        if searcher.num_docs() != totals.passages() {
            return Err("its passage count is wrong".to_owned());
        }
        Ok(Reader { searcher, fields, seq, totals, deleted: OnceLock::new(), prepared: Mutex::default() })
    }

    /// The payload of a commit.
    fn payload(&self, seq: u64, totals: &Totals) -> String {
        let payload = format!("{} {seq} {totals}", self.origin());
        let sum = checksum(&payload);
        format!("{payload} #{sum}")
    }

    fn origin(&self) -> String {
        let instance: String = self.instance.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("tamis-lexical {INDEX_VERSION}.{ANALYSIS_VERSION} {instance}")
    }

    fn state_of(&self, payload: &str) -> Result<(u64, Totals), String> {
        let other =
            || "it belongs to another database or another version, or its first build did not finish".to_owned();
        let (content, sum) = payload.rsplit_once(" #").ok_or_else(other)?;
        if sum != checksum(content) {
            return Err("its list of files is damaged".to_owned());
        }
        content
            .strip_prefix(&self.origin())
            .and_then(|rest| {
                let (seq, totals) = rest.trim_start().split_once(' ')?;
                Some((seq.parse().ok()?, totals.parse().ok()?))
            })
            .ok_or_else(other)
    }

    fn error(&self, error: tantivy::TantivyError) -> StoreError {
        StoreError::tantivy(&self.directory, error)
    }
}

/// Detects a flipped bit in a payload.
fn checksum(payload: &str) -> String {
    blake3::hash(payload.as_bytes()).to_hex()[..16].to_owned()
}

impl Reader {
    /// The change number of the commit.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// All passages, ascending.
    pub(crate) fn passages(&self) -> tantivy::Result<Vec<u64>> {
        let mut passages = Vec::with_capacity(self.searcher.num_docs() as usize);
        for segment in self.searcher.segment_readers() {
            let column = segment.fast_fields().u64(fields::PASSAGE)?;
            passages.extend(segment.doc_ids_alive().filter_map(|document| column.first(document)));
        }
        passages.sort_unstable();
        Ok(passages)
    }

    /// Verifies the checksums of all files and returns the damaged ones.
    pub(crate) fn verify(&self) -> tantivy::Result<Vec<PathBuf>> {
        let mut damaged: Vec<PathBuf> = self.searcher.index().validate_checksum()?.into_iter().collect();
        damaged.sort();
        Ok(damaged)
    }
}

/// Reads the index and turns a panic of Tantivy into an error. A damaged file can cause one, because only a check verifies
/// every checksum.
pub(crate) fn guarded<T>(read: impl FnOnce() -> tantivy::Result<T>) -> tantivy::Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(tantivy::TantivyError::InternalError("one of its files is damaged".to_owned())))
}

/// Memory of the indexing thread before it writes a segment. More memory makes fewer, larger segments. A second thread would have
/// tables, and words, of its own.
const THREAD_BYTES: usize = 64 << 20;
/// Memory for fewer passages than this.
const SMALL_BYTES: usize = 16 << 20;
const FEW_PASSAGES: u64 = 4_000;
/// Passages between two reports of progress.
const STEP: u64 = 1_000;

impl Lexical {
    /// Brings the index level with the database and returns its change number. An index that cannot be continued, such as
    /// the remains of a killed process, is rebuilt.
    pub(crate) fn catch_up(
        &self,
        database: &Database,
        rebuild: bool,
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<u64> {
        match self.try_catch_up(database, rebuild, progress) {
            Err(StoreError::Lexical { .. }) if !rebuild => self.try_catch_up(database, true, progress),
            done => done,
        }
    }

    fn try_catch_up(
        &self,
        database: &Database,
        rebuild: bool,
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<u64> {
        database.snapshot(|connection| {
            let target = catch_up::seq(connection)?;
            let floor = catch_up::tombstone_floor(connection)?;
            let trusted = floor..=catch_up::published_seq(connection)?;
            let held = match self.state() {
                State::Ready(reader) if !rebuild && trusted.contains(&reader.seq()) => Some(reader),
                _ => None,
            };
            let from = held.as_ref().map_or(0, |reader| reader.seq());
            let added = count(connection, "SELECT count(*) FROM passages WHERE passage > ?1", [from as i64])?;
            let deleted = match held {
                Some(_) => catch_up::deleted_since(connection, from)?,
                None => Vec::new(),
            };
            if held.is_some() && added == 0 && deleted.is_empty() {
                return Ok(from);
            }
            progress(Progress { part: Part::Lexical, done: 0, total: added })?;
            let mut totals = match &held {
                Some(reader) => self.totals_without(reader, &deleted)?,
                None => {
                    database.check_replaced()?;
                    self.clear()?;
                    Totals::default()
                }
            };
            let index = self.open_for_writing()?;
            let (_, fields) = Fields::schema();
            let writer = self.writer(&index, added)?;
            for passage in deleted {
                writer.delete_term(Term::from_field_u64(fields.passage, passage));
            }
            let mut analyzer = Analyzer::default();
            let mut done = 0;
            catch_up::passages_since(connection, from, |row| {
                let (document, lengths) = fields.document_of(&row, &mut analyzer);
                totals.add(row.namespace, lengths);
                writer.add_document(document).map_err(|error| TransactionError::from(self.error(error)))?;
                done += 1;
                if done % STEP == 0 || done == added {
                    progress(Progress { part: Part::Lexical, done, total: added })?;
                }
                Ok(())
            })?;
            let finish = |mut writer: IndexWriter| {
                let mut commit = writer.prepare_commit()?;
                commit.set_payload(&self.payload(target, &totals));
                commit.commit()?;
                writer.wait_merging_threads()
            };
            // The directory may hold another index by now.
            database.check_replaced()?;
            finish(writer).map_err(|error| self.error(error))?;
            self.forget();
            Ok(target)
        })
    }

    /// The totals of a commit minus these passages.
    fn totals_without(&self, reader: &Reader, deleted: &[u64]) -> Result<Totals> {
        let mut ids: Vec<PassageId> = deleted.iter().copied().map(PassageId).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut totals = reader.totals.clone();
        for (namespace, lengths) in guarded(|| reader.lengths(&ids)).map_err(|error| self.error(error))? {
            totals.subtract(namespace, lengths);
        }
        Ok(totals)
    }

    fn writer(&self, index: &Index, passages: u64) -> Result<IndexWriter> {
        let bytes = if passages < FEW_PASSAGES { SMALL_BYTES } else { THREAD_BYTES };
        let writer = index.writer_with_num_threads::<TantivyDocument>(1, bytes).map_err(|error| self.error(error))?;
        // A process that was killed before its commit leaves files whose names the next commit would use.
        writer.garbage_collect_files().wait().map_err(|error| self.error(error))?;
        Ok(writer)
    }

    /// Removes the index in any state.
    fn clear(&self) -> Result<()> {
        self.forget();
        crate::files::remove_directory(self.path())
            .map_err(|error| StoreError::io(self.path(), "removing the lexical index", error))
    }

    fn open_for_writing(&self) -> Result<Index> {
        let directory: &Path = self.path();
        std::fs::create_dir_all(directory)
            .map_err(|error| StoreError::io(directory, "creating the directory", error))?;
        let (schema, _) = Fields::schema();
        let index = LexicalDirectory::open(directory)
            .and_then(|mapped| {
                if Index::exists(&mapped)? {
                    Index::open(mapped)
                } else {
                    Index::create(mapped, schema, IndexSettings::default())
                }
            })
            .map_err(|error| self.error(error))?;
        Fields::register(&index);
        Ok(index)
    }
}

/// Passages, and the terms in their two fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) passages: u64,
    pub(crate) body: u64,
    pub(crate) name: u64,
}

impl Lengths {
    pub(crate) fn add(&mut self, more: Lengths) {
        self.passages += more.passages;
        self.body += more.body;
        self.name += more.name;
    }

    fn subtract(&mut self, less: Lengths) {
        self.passages = self.passages.saturating_sub(less.passages);
        self.body = self.body.saturating_sub(less.body);
        self.name = self.name.saturating_sub(less.name);
    }
}

/// The lengths of each namespace that has passages, by its number.
///
/// They are stored with each commit and updated by the next, so that opening the index counts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Totals(BTreeMap<u32, Lengths>);

impl Totals {
    pub(crate) fn add(&mut self, namespace: u32, lengths: Lengths) {
        self.0.entry(namespace).or_default().add(lengths);
    }

    pub(crate) fn subtract(&mut self, namespace: u32, lengths: Lengths) {
        if let Some(total) = self.0.get_mut(&namespace) {
            total.subtract(lengths);
            if total.passages == 0 {
                self.0.remove(&namespace);
            }
        }
    }

    /// The passages of all namespaces.
    pub(crate) fn passages(&self) -> u64 {
        self.0.values().map(|lengths| lengths.passages).fold(0, u64::saturating_add)
    }

    /// The lengths of the given namespaces, or of all for `None`, ascending.
    pub(crate) fn lengths(&self, namespaces: Option<&[u32]>) -> Vec<(u32, Lengths)> {
        match namespaces {
            None => self.0.iter().map(|(&namespace, &lengths)| (namespace, lengths)).collect(),
            Some(asked) => asked.iter().filter_map(|namespace| Some((*namespace, *self.0.get(namespace)?))).collect(),
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (namespace, Lengths { passages, body, name })) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { " " };
            write!(formatter, "{separator}{namespace}:{passages}:{body}:{name}")?;
        }
        Ok(())
    }
}

impl FromStr for Totals {
    type Err = ();

    fn from_str(text: &str) -> Result<Totals, ()> {
        let mut totals = BTreeMap::new();
        for entry in text.split_whitespace() {
            let mut numbers = entry.split(':').map(|number| number.parse::<u64>().map_err(|_| ()));
            let mut next = || numbers.next().unwrap_or(Err(()));
            let namespace = u32::try_from(next()?).map_err(|_| ())?;
            totals.insert(namespace, Lengths { passages: next()?, body: next()?, name: next()? });
        }
        Ok(Totals(totals))
    }
}

/// Mapped files, as in [`MmapDirectory`], which gives files that it replaces as a whole to their owner alone. Where the lock cannot be
/// created, it counts as taken: a process without the right to write removes no files, and one with it removes none that is open.
#[derive(Debug, Clone)]
struct LexicalDirectory {
    mapped: MmapDirectory,
    path: PathBuf,
}

impl LexicalDirectory {
    pub fn open(path: &Path) -> tantivy::Result<LexicalDirectory> {
        Ok(LexicalDirectory { mapped: MmapDirectory::open(path)?, path: path.to_owned() })
    }
}

impl Directory for LexicalDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.mapped.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        // The mask takes from it, as from all other files.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(&self.path)?;
        file.write_all(data)?;
        file.as_file().sync_data()?;
        file.into_temp_path().persist(self.path.join(path))?;
        Ok(())
    }

    fn sync_directory(&self) -> std::io::Result<()> {
        self.mapped.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match self.mapped.acquire_lock(lock) {
            Err(LockError::IoError(error)) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => {
                Ok(DirectoryLock::from(Box::new(())))
            }
            result => result,
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn totals_read_back(entries in prop::collection::btree_map(any::<u32>(), (1u64..1 << 40, any::<u32>(), any::<u32>()), 0..20)) {
            let mut totals = Totals::default();
            for (namespace, (passages, body, name)) in entries {
                totals.add(namespace, Lengths { passages, body: body.into(), name: name.into() });
            }
            prop_assert_eq!(totals.to_string().parse(), Ok(totals));
        }

        #[test]
        fn any_text_reads_as_totals_or_as_none(text in "[0-9: ]{0,30}") {
            let _ = text.parse::<Totals>();
        }
    }

    #[test]
    fn what_is_counted_in_can_be_counted_out() {
        let lengths = Lengths { passages: 1, body: 7, name: 2 };
        let mut totals = Totals::default();
        totals.add(3, lengths);
        totals.add(5, lengths);
        totals.add(5, lengths);
        totals.subtract(5, lengths);
        totals.subtract(9, lengths);
        assert_eq!(totals.lengths(None), [(3, lengths), (5, lengths)]);
        assert_eq!(totals.lengths(Some(&[4, 5])), [(5, lengths)]);
        totals.subtract(3, lengths);
        totals.subtract(5, lengths);
        assert_eq!(totals, Totals::default());
        assert_eq!(["1:2:x:3".parse::<Totals>(), "1:2".parse::<Totals>()], [Err(()), Err(())]);
    }
}
