//! The semantic retriever: a vector file for each model, kept level with the database.
//!
//! A file holds one past state. Later changes are replayed from the database into memory before a query or a publication,
//! and once they are many, a new file is written.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use crate::cache::{Recent, lock};
use crate::content::Model;
use crate::error::{Result, StoreError};
use crate::files::{Stamp, Verified};
use crate::filter::Selection;
use crate::report::{Part, Progress};
use crate::sqlite::{Database, TransactionError, catch_up};
use crate::vectors::{
    Effort, Identity, Nearest, Opened, Rows, Snapshot, SnapshotWriter, VectorError, VectorIndex, file_name,
};

/// Passages between two reports of progress.
const STEP: u64 = 1_000;

/// Up to this many changes are replayed to learn the number of vectors. A search replays them anyway.
const FEW_CHANGES: u64 = 20_000;

/// The vector files of one store.
#[derive(Debug)]
pub(crate) struct Semantic {
    directory: PathBuf,
    instance: [u8; 16],
    open: Mutex<HashMap<String, Arc<RwLock<Live>>>>,
    verified: Verified,
}

/// One model's vectors: a file and the changes since.
#[derive(Debug)]
struct Live {
    index: Arc<VectorIndex>,
    /// The stamp of the file; `None` without a usable file.
    stamp: Option<Stamp>,
    /// The rows of recent selections in this state of the index.
    rows: Arc<RecentRows>,
}

type RecentRows = Recent<Arc<Selection>, Arc<Rows>>;

impl Live {
    fn new(index: VectorIndex, stamp: Option<Stamp>) -> Live {
        Live { index: Arc::new(index), stamp, rows: Arc::default() }
    }
}

/// The rows of a selection; `None` for all.
fn rows(index: &VectorIndex, recent: &RecentRows, selection: &Arc<Selection>) -> Option<Arc<Rows>> {
    if selection.is_everything() {
        return None;
    }
    if let Some(rows) = recent.get(|known| Arc::ptr_eq(known, selection)) {
        return Some(rows);
    }
    let rows = Arc::new(match &selection.passages {
        Some(passages) => index.rows_of_passages(&|passage| passages.contains(passage)),
        None => index.rows_of_documents(&|document| {
            selection.documents.as_ref().is_none_or(|documents| documents.contains(u64::from(document)))
        }),
    });
    recent.push(selection.clone(), rows.clone());
    Some(rows)
}

fn reading(live: &RwLock<Live>) -> RwLockReadGuard<'_, Live> {
    live.read().unwrap_or_else(PoisonError::into_inner)
}

/// The change numbers that the vector files hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Published {
    /// That of the file furthest behind; `u64::MAX` without files.
    pub(crate) lowest: u64,
    /// That of the newest file.
    pub(crate) highest: u64,
}

pub(crate) enum FileState {
    Ready(Arc<Snapshot>),
    Missing,
    /// An unusable file, and the reason.
    Unusable(String),
}

impl Semantic {
    pub(crate) fn new(directory: PathBuf, instance: [u8; 16]) -> Semantic {
        Semantic { verified: Verified::new(directory.clone()), directory, instance, open: Mutex::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// The `count` best passages by their codes, with the background.
    pub(crate) fn nearest(
        &self,
        database: &Database,
        model: &Model,
        vector: &[f32],
        selection: &Arc<Selection>,
        count: usize,
    ) -> Result<Nearest> {
        let live = self.current(database, model)?;
        let (index, recent) = {
            let live = reading(&live);
            (live.index.clone(), live.rows.clone())
        };
        // Without the lock: a thread that waits for parts of this work can take up another search, which asks for the lock again.
        let rows = rows(&index, &recent, selection);
        let failed = |error| StoreError::vectors(&self.file(model), &model.name, error);
        index.nearest(vector, rows.as_deref(), count, &Effort::default()).map_err(failed)
    }

    /// The number of passages with a vector of a model, if the index knows it or can soon know it; `None` if counting in the
    /// database is quicker.
    pub(crate) fn embedded(&self, database: &Database, model: &Model) -> Result<Option<u64>> {
        let known = lock(&self.open).get(&model.name).cloned();
        let from = match &known {
            Some(live) => reading(live).index.seq(),
            None if !self.file(model).exists() => return Ok(None),
            None => {
                let loaded = self.load(model)?;
                let from = loaded.index.seq();
                lock(&self.open).entry(model.name.clone()).or_insert_with(|| Arc::new(RwLock::new(loaded)));
                from
            }
        };
        if database.read(|connection| Ok(catch_up::seq(connection)?.saturating_sub(from)))? > FEW_CHANGES {
            return Ok(None);
        }
        let live = self.current(database, model)?;
        let live = reading(&live);
        Ok(Some(live.index.len() as u64))
    }

    /// The passages in a model's index once it is level with the database, ascending.
    pub(crate) fn passages(&self, database: &Database, model: &Model) -> Result<Vec<u64>> {
        let live = self.current(database, model)?;
        let live = reading(&live);
        let mut passages: Vec<u64> = live.index.passages().collect();
        passages.sort_unstable();
        Ok(passages)
    }

    /// Writes the files that are missing, unusable or far behind, and removes those of models that are gone.
    pub(crate) fn publish(
        &self,
        database: &Database,
        rebuild: bool,
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Published> {
        let models = database.models()?;
        self.remove_unknown(&models)?;
        let published = database.read(|connection| Ok(catch_up::published_seq(connection)?))?;
        let mut files = Published { lowest: u64::MAX, highest: 0 };
        for model in &models {
            let trusted = match self.state(model) {
                FileState::Ready(snapshot) => snapshot.seq() <= published,
                FileState::Missing | FileState::Unusable(_) => true,
            };
            if rebuild || !trusted {
                database.check_replaced()?;
                self.remove(&self.file(model))?;
                lock(&self.open).remove(&model.name);
            }
            let live = self.current(database, model)?;
            let write = {
                let live = reading(&live);
                live.stamp.is_none() || live.index.wants_rewrite()
            };
            if write {
                self.write(database, model, &live, rebuild, progress)?;
                lock(&self.open).remove(&model.name);
            }
            // The old file and the changes to it need not stay in memory while the new one is verified.
            drop(live);
            if let FileState::Ready(snapshot) = self.state(model) {
                files.lowest = files.lowest.min(snapshot.seq());
                files.highest = files.highest.max(snapshot.seq());
            }
        }
        Ok(files)
    }

    /// The state of a model's file. An unreadable file is merely unusable, because the database has its vectors too.
    pub(crate) fn state(&self, model: &Model) -> FileState {
        match Snapshot::open(&self.file(model), &self.identity(model)) {
            Ok(Opened::Ready(snapshot)) => {
                // Damaged codes are still valid codes, of other vectors, so only the checksum finds them.
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

    pub(crate) fn file(&self, model: &Model) -> PathBuf {
        self.directory.join(file_name(&model.name))
    }

    fn identity(&self, model: &Model) -> Identity {
        Identity { instance: self.instance, model: model.name.clone(), dimension: model.dimension }
    }

    /// A model's vectors, level with the database.
    fn current(&self, database: &Database, model: &Model) -> Result<Arc<RwLock<Live>>> {
        let known = lock(&self.open).get(&model.name).cloned();
        let live = match known {
            Some(live) => live,
            None => {
                let live = Arc::new(RwLock::new(self.load(model)?));
                lock(&self.open).entry(model.name.clone()).or_insert(live).clone()
            }
        };
        let seq = database.seq()?;
        if reading(&live).index.seq() != seq {
            let mut live = live.write().unwrap_or_else(PoisonError::into_inner);
            if live.index.seq() != seq {
                self.catch_up(database, model, &mut live)?;
            }
        }
        Ok(live)
    }

    fn load(&self, model: &Model) -> Result<Live> {
        // The stamp is taken first: a file that is replaced in between is then read again.
        let stamp = Stamp::from_path(&self.file(model));
        Ok(match self.state(model) {
            FileState::Ready(snapshot) => Live::new(VectorIndex::from_snapshot(snapshot), stamp),
            _ => Live::new(self.empty(model)?, None),
        })
    }

    fn empty(&self, model: &Model) -> Result<VectorIndex> {
        VectorIndex::new(model.dimension).map_err(|error| StoreError::vectors(&self.file(model), &model.name, error))
    }

    fn catch_up(&self, database: &Database, model: &Model, live: &mut Live) -> Result<()> {
        let path = self.file(model);
        live.rows = Arc::default();
        if live.index.wants_rewrite() && live.stamp != Stamp::from_path(&path) {
            // Another process has written a newer file.
            *live = self.load(model)?;
        }
        database.snapshot(|connection| {
            let target = catch_up::seq(connection)?;
            let floor = catch_up::tombstone_floor(connection)?;
            let usable = |index: &VectorIndex| (floor..=target).contains(&index.seq());
            if !usable(&live.index) {
                *live = self.load(model)?;
            }
            if !usable(&live.index) {
                *live = Live::new(self.empty(model)?, None);
            }
            // Searches that still read the index keep the state that they began with.
            let index = Arc::make_mut(&mut live.index);
            let from = index.seq();
            for passage in catch_up::deleted_since(connection, from)? {
                index.delete(passage);
            }
            catch_up::vectors_since(connection, model, from, |passage, owner, vector| {
                index
                    .add(passage, owner, vector)
                    .map_err(|error| TransactionError::from(StoreError::vectors(&path, &model.name, error)))
            })?;
            index.advance(target);
            Ok(())
        })
    }

    /// Writes a model's file: from the codes in memory and in the old file, or from the vectors in the database where the old file
    /// is in doubt.
    fn write(
        &self,
        database: &Database,
        model: &Model,
        live: &RwLock<Live>,
        rebuild: bool,
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<()> {
        let live = reading(live);
        // Damage since the file was opened would be copied, with a checksum that fits it.
        let damaged = || live.index.snapshot().is_some_and(|snapshot| snapshot.verify().is_err());
        if rebuild || damaged() {
            return self.write_again(database, model, progress);
        }
        let total = live.index.len() as u64;
        progress(Progress { part: Part::Vectors, done: 0, total })?;
        // The directory may hold another index by now.
        database.check_replaced()?;
        match live.index.save(&self.file(model), &self.identity(model)) {
            Ok(()) => progress(Progress { part: Part::Vectors, done: total, total }),
            Err(VectorError::Order { .. }) => self.write_again(database, model, progress),
            Err(error) => Err(StoreError::vectors(&self.file(model), &model.name, error)),
        }
    }

    /// Writes a model's file from the vectors in the database.
    fn write_again(
        &self,
        database: &Database,
        model: &Model,
        progress: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<()> {
        let path = self.file(model);
        let failed = |error| TransactionError::from(StoreError::vectors(&path, &model.name, error));
        let total = database.embedded(model.number)?.len() as u64;
        database.snapshot(|connection| {
            let mut writer =
                SnapshotWriter::create(&path, &self.identity(model), catch_up::seq(connection)?).map_err(failed)?;
            let mut done = 0;
            catch_up::vectors_since(connection, model, 0, |passage, owner, vector| {
                writer.push(passage, owner, vector).map_err(failed)?;
                done += 1;
                if done % STEP == 0 || done == total {
                    progress(Progress { part: Part::Vectors, done, total: total.max(done) })?;
                }
                Ok(())
            })?;
            // The directory may hold another index by now.
            database.check_replaced()?;
            writer.finish().map_err(failed)
        })
    }

    fn remove_unknown(&self, models: &[Model]) -> Result<()> {
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
        crate::files::remove(path).map_err(|error| StoreError::io(path, "removing a vector file", error))
    }
}
