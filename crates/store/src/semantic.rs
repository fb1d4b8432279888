//! The semantic leg: the vector file of each model, kept level with the database.
//!
//! A file is one state of the past. What came since is replayed from the database into memory when a query or a
//! publication looks, and a new file is written once that has become much.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::error::{Result, StoreError};
use crate::filter::Selection;
use crate::report::{Part, Progress};
use crate::sqlite::{Database, Fault, ModelRow, lock, replay};
use crate::stamp::Stamp;
use crate::vectors::{Identity, Nearest, Opened, Rows, Snapshot, SnapshotWriter, VectorIndex, file_name};
use crate::verified::Verified;

/// Filters whose rows are remembered until the index changes.
const REMEMBERED_ROWS: usize = 16;
/// How often progress is told.
const STEP: u64 = 1_000;

/// The vector files of one store.
#[derive(Debug)]
pub(crate) struct Semantic {
    directory: PathBuf,
    instance: [u8; 16],
    open: Mutex<HashMap<String, Arc<RwLock<Live>>>>,
    verified: Verified,
}

/// One model's vectors: a file and what came since.
#[derive(Debug)]
struct Live {
    index: VectorIndex,
    /// The file below; `None` when there is none that can be used.
    stamp: Option<Stamp>,
    /// The rows that the last filters select in the index as it is.
    chosen: Mutex<VecDeque<(Arc<Selection>, Arc<Rows>)>>,
}

impl Live {
    fn new(index: VectorIndex, stamp: Option<Stamp>) -> Live {
        Live { index, stamp, chosen: Mutex::default() }
    }

    /// The rows that a selection leaves; `None` for all.
    fn rows(&self, selection: &Arc<Selection>) -> Option<Arc<Rows>> {
        if selection.is_everything() {
            return None;
        }
        let known = |(chosen, rows): &(Arc<Selection>, Arc<Rows>)| Arc::ptr_eq(chosen, selection).then(|| rows.clone());
        if let Some(rows) = lock(&self.chosen).iter().find_map(known) {
            return Some(rows);
        }
        let rows = Arc::new(match &selection.passages {
            Some(passages) => self.index.rows_of_passages(&|passage| passages.contains(passage)),
            None => self.index.rows_of_documents(&|document| {
                selection.documents.as_ref().is_none_or(|documents| documents.contains(u64::from(document)))
            }),
        });
        let mut chosen = lock(&self.chosen);
        if chosen.len() == REMEMBERED_ROWS {
            chosen.pop_front();
        }
        chosen.push_back((selection.clone(), rows.clone()));
        Some(rows)
    }
}

/// The change numbers that the vector files hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Published {
    /// That of the file furthest behind; the largest number there is when there are no files.
    pub(crate) lowest: u64,
    /// That of the newest file.
    pub(crate) highest: u64,
}

/// What stands at the place of a model's file.
pub(crate) enum FileState {
    /// A file that can be used, with its change number.
    Ready(Arc<Snapshot>),
    /// Nothing.
    Missing,
    /// Something else, and why it can not be used.
    Unusable(String),
}

impl Semantic {
    pub(crate) fn new(directory: PathBuf, instance: [u8; 16]) -> Semantic {
        Semantic { verified: Verified::new(directory.clone()), directory, instance, open: Mutex::default() }
    }

    /// The directory of the files.
    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// The `count` best passages by their codes, with the background.
    pub(crate) fn nearest(
        &self,
        database: &Database,
        model: &ModelRow,
        vector: &[f32],
        selection: &Arc<Selection>,
        count: usize,
    ) -> Result<Nearest> {
        let live = self.current(database, model)?;
        let live = live.read().unwrap_or_else(PoisonError::into_inner);
        let failed = |error| StoreError::vectors(&self.file(model), &model.name, error);
        let found = match live.rows(selection) {
            Some(rows) => live.index.nearest_among(vector, &rows, count),
            None => live.index.nearest(vector, None, count),
        };
        found.map_err(failed)
    }

    /// Passages that a model's index holds once it is level with the database, ascending.
    pub(crate) fn passages(&self, database: &Database, model: &ModelRow) -> Result<Vec<u64>> {
        let live = self.current(database, model)?;
        let live = live.read().unwrap_or_else(PoisonError::into_inner);
        let mut passages: Vec<u64> = live.index.passages().collect();
        passages.sort_unstable();
        Ok(passages)
    }

    /// Writes the files that are missing, unusable or far behind, and removes those of models that are gone.
    pub(crate) fn publish(
        &self,
        database: &Database,
        rebuild: bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Published> {
        let models = database.models()?;
        self.remove_strangers(&models)?;
        let published = database.read(replay::published_seq)?;
        let mut files = Published { lowest: u64::MAX, highest: 0 };
        for model in &models {
            let trusted = match self.state(model) {
                FileState::Ready(snapshot) => snapshot.seq() <= published,
                FileState::Missing | FileState::Unusable(_) => true,
            };
            if rebuild || !trusted {
                database.check_place()?;
                self.remove(&self.file(model))?;
                lock(&self.open).remove(&model.name);
            }
            let live = self.current(database, model)?;
            let write = {
                let live = live.read().unwrap_or_else(PoisonError::into_inner);
                live.stamp.is_none() || live.index.wants_rewrite()
            };
            if write {
                self.write(database, model, progress)?;
                lock(&self.open).remove(&model.name);
            }
            if let FileState::Ready(snapshot) = self.state(model) {
                files.lowest = files.lowest.min(snapshot.seq());
                files.highest = files.highest.max(snapshot.seq());
            }
        }
        Ok(files)
    }

    /// What stands at the place of a model's file. A file that cannot be read is one that cannot be used: its vectors are in
    /// the database as well.
    pub(crate) fn state(&self, model: &ModelRow) -> FileState {
        match Snapshot::open(&self.file(model), &self.identity(model)) {
            Ok(Opened::Ready(snapshot)) => {
                // Codes that are damaged are codes all the same, of other vectors.
                let verify = |_: &str| Ok::<_, Infallible>(snapshot.verify().is_ok());
                let Ok(damaged) = self.verified.damaged(&[file_name(&model.name)], verify);
                match damaged.is_empty() {
                    true => FileState::Ready(snapshot),
                    false => FileState::Unusable("its content does not match its checksum".to_owned()),
                }
            }
            Ok(Opened::Missing) => FileState::Missing,
            Ok(Opened::Stale(reason) | Opened::Corrupt(reason)) => FileState::Unusable(reason),
            Err(error) => FileState::Unusable(error.to_string()),
        }
    }

    /// The file of a model.
    pub(crate) fn file(&self, model: &ModelRow) -> PathBuf {
        self.directory.join(file_name(&model.name))
    }

    fn identity(&self, model: &ModelRow) -> Identity {
        Identity { instance: self.instance, model: model.name.clone(), dimension: model.dimension }
    }

    /// A model's vectors, level with the database.
    fn current(&self, database: &Database, model: &ModelRow) -> Result<Arc<RwLock<Live>>> {
        let known = lock(&self.open).get(&model.name).cloned();
        let live = match known {
            Some(live) => live,
            None => {
                let live = Arc::new(RwLock::new(self.load(model)?));
                lock(&self.open).entry(model.name.clone()).or_insert(live).clone()
            }
        };
        let seq = database.seq()?;
        if live.read().unwrap_or_else(PoisonError::into_inner).index.seq() != seq {
            let mut live = live.write().unwrap_or_else(PoisonError::into_inner);
            if live.index.seq() != seq {
                self.catch_up(database, model, &mut live)?;
            }
        }
        Ok(live)
    }

    fn load(&self, model: &ModelRow) -> Result<Live> {
        // The stamp first: a file that comes between the two is then read again, not missed.
        let stamp = Stamp::of(&self.file(model));
        Ok(match self.state(model) {
            FileState::Ready(snapshot) => Live::new(VectorIndex::from_snapshot(snapshot), stamp),
            _ => Live::new(self.empty(model)?, None),
        })
    }

    fn empty(&self, model: &ModelRow) -> Result<VectorIndex> {
        VectorIndex::new(model.dimension).map_err(|error| StoreError::vectors(&self.file(model), &model.name, error))
    }

    fn catch_up(&self, database: &Database, model: &ModelRow, live: &mut Live) -> Result<()> {
        let path = self.file(model);
        lock(&live.chosen).clear();
        if live.index.wants_rewrite() && live.stamp != Stamp::of(&path) {
            // Another process has written a newer file.
            *live = self.load(model)?;
        }
        database.snapshot(|connection| {
            let target = replay::seq(connection)?;
            let floor = replay::tombstone_floor(connection)?;
            let usable = |index: &VectorIndex| (floor..=target).contains(&index.seq());
            if !usable(&live.index) {
                *live = self.load(model)?;
            }
            if !usable(&live.index) {
                *live = Live::new(self.empty(model)?, None);
            }
            let from = live.index.seq();
            for passage in replay::deleted_since(connection, from)? {
                live.index.delete(passage);
            }
            replay::vectors_since(connection, model.id, from, |passage, owner, vector| {
                live.index
                    .add(passage, owner, vector)
                    .map_err(|error| Fault::from(StoreError::vectors(&path, &model.name, error)))
            })?;
            live.index.advance(target);
            Ok(())
        })
    }

    /// Writes a model's file anew from the vectors in full precision.
    fn write(&self, database: &Database, model: &ModelRow, progress: &mut dyn FnMut(Progress)) -> Result<()> {
        let path = self.file(model);
        let failed = |error| Fault::from(StoreError::vectors(&path, &model.name, error));
        let total = database.embedded(model.id)?.len() as u64;
        database.snapshot(|connection| {
            let mut writer =
                SnapshotWriter::create(&path, &self.identity(model), replay::seq(connection)?).map_err(failed)?;
            let mut done = 0;
            replay::vectors_since(connection, model.id, 0, |passage, owner, vector| {
                writer.push(passage, owner, vector).map_err(failed)?;
                done += 1;
                if done % STEP == 0 || done == total {
                    progress(Progress { part: Part::Vectors, done, total: total.max(done) });
                }
                Ok(())
            })?;
            // The directory may belong to another index by now.
            database.check_place()?;
            writer.finish().map_err(failed)
        })
    }

    fn remove_strangers(&self, models: &[ModelRow]) -> Result<()> {
        let Ok(entries) = std::fs::read_dir(&self.directory) else {
            return Ok(());
        };
        let known: Vec<PathBuf> = models.iter().map(|model| self.file(model)).collect();
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "tvec") && !known.contains(&path) {
                self.remove(&path)?;
            }
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<()> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(path, "removing a vector file", error))
            }
            _ => Ok(()),
        }
    }
}
