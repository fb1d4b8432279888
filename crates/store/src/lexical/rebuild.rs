//! Bringing the index up to date with the database, or rebuilding it.

use std::path::Path;

use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument, Term};

use super::analysis::Analyzer;
use super::directory::LexicalDirectory;
use super::totals::Totals;
use super::{Fields, Lexical, Reader, State, guarded};
use crate::error::{Result, StoreError};
use crate::record::PassageId;
use crate::report::{Part, Progress};
use crate::sqlite::{Database, TransactionError, meta, replay};

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
            let target = meta::seq(connection)?;
            let floor = meta::tombstone_floor(connection)?;
            let trusted = floor..=meta::published_seq(connection)?;
            let held = match self.state() {
                State::Ready(reader) if !rebuild && trusted.contains(&reader.seq()) => Some(reader),
                _ => None,
            };
            let from = held.as_ref().map_or(0, |reader| reader.seq());
            let added = replay::count_since(connection, from)?;
            let deleted = match held {
                Some(_) => replay::deleted_since(connection, from)?,
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
            replay::passages_since(connection, from, |row| {
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
        crate::in_use::remove_directory(self.path())
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
