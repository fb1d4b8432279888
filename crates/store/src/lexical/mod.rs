//! The lexical leg: BM25 over the words of passages, in a Tantivy index that is derived from the database.
//!
//! A text's way: `words` (what is a word) → `analysis` (words to terms) → `fields` (what is kept of a passage) → `build`
//! (caught up with the database, or made anew). A query's way: `analysis` → `query` (which terms, and from `statistics`
//! and `totals` how frequent) → `search` (the best passages, and the score of any).
//!
//! Each term carries the number of its namespace in front. So a search of some namespaces reads the postings of those and
//! no others, and its frequencies and lengths are sums over those: it scores as if the index held nothing else.

mod analysis;
mod build;
mod directory;
pub(crate) mod failure;
mod fields;
mod highlight;
mod query;
mod search;
mod statistics;
mod totals;
mod words;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use tantivy::directory::MmapDirectory;
use tantivy::{DocId, Index, ReloadPolicy, Searcher};

use crate::error::{Result, StoreError};
use crate::sqlite::lock;
use crate::stamp::Stamp;
use crate::verified::Verified;
use analysis::ANALYSIS_VERSION;
use directory::SearchDirectory;
use fields::Fields;
pub use highlight::{Highlighter, Mark};
use totals::Totals;

/// Changes whenever an index of the version before can not be used any more.
const INDEX_VERSION: u32 = 2;

/// The lexical index of one store.
#[derive(Debug)]
pub(crate) struct Lexical {
    directory: PathBuf,
    instance: [u8; 16],
    seen: Mutex<Option<(Stamp, State)>>,
    verified: Verified,
}

/// What stands in the directory.
#[derive(Debug, Clone)]
pub(crate) enum State {
    /// Nothing.
    Missing,
    /// Something that can not be used, and why.
    Unusable(String),
    /// An index of this database.
    Ready(Arc<Reader>),
}

/// One commit of the index, open for searching for as long as anyone holds it.
pub(crate) struct Reader {
    searcher: Searcher,
    fields: Fields,
    seq: u64,
    totals: Totals,
    /// Of each segment the documents that are deleted, ascending; counted when first asked for.
    dead: OnceLock<Vec<Vec<DocId>>>,
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

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// What stands in the directory now, whoever wrote it.
    pub(crate) fn state(&self) -> State {
        let Some(stamp) = Stamp::of(&self.directory.join("meta.json")) else {
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

    /// Forgets what was seen, so that the next look reads again.
    fn forget(&self) {
        *lock(&self.seen) = None;
    }

    fn open(&self) -> Result<Reader, String> {
        // A commit between reading the list of files and opening them may remove some: the next list has what replaced them.
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
        guarded(|| Ok(self.open_files())).map_err(|error| failure::reason(&error))?
    }

    fn open_files(&self) -> Result<Reader, String> {
        let text = |error: tantivy::TantivyError| failure::reason(&error);
        let directory = MmapDirectory::open(&self.directory).map_err(|error| text(error.into()))?;
        let index = Index::open(SearchDirectory(directory)).map_err(text)?;
        let metas = index.load_metas().map_err(text)?;
        let (seq, totals) = self.state_of(metas.payload.as_deref().unwrap_or_default())?;
        let (schema, fields) = Fields::schema();
        if index.schema() != schema {
            return Err("it has other fields".to_owned());
        }
        // Most of a file that is damaged reads as something else, without an error.
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
            return Err("it has counted its passages wrong".to_owned());
        }
        Ok(Reader { searcher, fields, seq, totals, dead: OnceLock::new() })
    }

    /// What a commit says about itself.
    fn payload(&self, seq: u64, totals: &Totals) -> String {
        let payload = format!("{} {seq} {totals}", self.origin());
        let sum = checksum(&payload);
        format!("{payload} {sum}")
    }

    fn origin(&self) -> String {
        let instance: String = self.instance.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("tamis-lexical {INDEX_VERSION}.{ANALYSIS_VERSION} {instance}")
    }

    fn state_of(&self, payload: &str) -> Result<(u64, Totals), String> {
        // Those of before had no checksum.
        let payload = match payload.rsplit_once(' ') {
            Some((content, sum)) if sum.starts_with(SUM) => match sum == checksum(content) {
                true => content,
                false => return Err("its list of files is damaged".to_owned()),
            },
            _ => payload,
        };
        payload
            .strip_prefix(&self.origin())
            .and_then(|rest| {
                let (seq, totals) = rest.trim_start().split_once(' ')?;
                Some((seq.parse().ok()?, totals.parse().ok()?))
            })
            .ok_or_else(|| "it is of another database or another version, or its first build did not end".to_owned())
    }

    fn error(&self, error: tantivy::TantivyError) -> StoreError {
        StoreError::tantivy(&self.directory, error)
    }
}

/// What a checksum of a payload begins with.
const SUM: char = '#';

/// Tells a payload from one with a flipped bit.
fn checksum(payload: &str) -> String {
    format!("{SUM}{}", &blake3::hash(payload.as_bytes()).to_hex()[..16])
}

impl Reader {
    /// The change number that the commit holds.
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

    /// Reads all files against their checksums; returns the names of those that fail.
    pub(crate) fn verify(&self) -> tantivy::Result<Vec<PathBuf>> {
        let mut damaged: Vec<PathBuf> = self.searcher.index().validate_checksum()?.into_iter().collect();
        damaged.sort();
        Ok(damaged)
    }
}

/// Reads the index. A damaged file can make Tantivy panic, since only a check reads all of it against its checksum:
/// that is an error of the index, not the end of the process.
pub(crate) fn guarded<T>(read: impl FnOnce() -> tantivy::Result<T>) -> tantivy::Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(tantivy::TantivyError::InternalError("a file of it is damaged".to_owned())))
}
