//! The lexical leg: BM25 over the words of passages, in a Tantivy index that is derived from the database.
//!
//! A text passes through `identifiers` (splitting), `analysis` (words to terms), `fields` (the schema), `bm25` (the weights) and
//! `rebuild` (catching up with the database). A query passes through `analysis`, `query` (its terms, with frequencies from
//! `statistics` and `totals`), `prepare` (their weights) and `search` (the best passages, and the score of any passage).
//! `conjunction` finds the passages that define a name or hold all words of a text.
//!
//! Each term ends with the number of its namespace. So a search reads only the postings of its namespaces, and its
//! frequencies and lengths are sums over those: it scores as if the index held nothing else. The terms of a word lie next to each
//! other, so that one pass finds it in thousands of namespaces.

mod analysis;
mod bm25;
mod conjunction;
mod directory;
mod fields;
mod highlight;
mod identifiers;
mod prepare;
mod query;
mod rebuild;
mod search;
mod statistics;
#[cfg(feature = "postgres")]
mod terms;
mod totals;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use tantivy::{DocId, Index, ReloadPolicy, Searcher};

use crate::error::{Result, StoreError};
use crate::mutex::lock;
use crate::stamp::Stamp;
use crate::tantivy_error::reason;
use crate::verified::Verified;
use analysis::ANALYSIS_VERSION;
use directory::LexicalDirectory;
use fields::Fields;
pub use highlight::{Highlighter, Mark};
use query::Prepared;
use totals::Totals;
#[cfg(feature = "postgres")]
pub(crate) use {
    analysis::{query_words, text_terms},
    conjunction::MAX_WORDS as MOST_CONTAINED_WORDS,
    prepare::{BODY, CountedWord, MAX_WORDS, NAME, PreparedTerms},
    terms::{PassageTerms, TermReader},
    totals::Lengths,
};

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

/// The state of the directory.
#[derive(Debug, Clone)]
pub(crate) enum State {
    /// No index.
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

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// The current state of the directory, whoever wrote it.
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
