//! Export and summary of the evidence.

use super::EvidenceGraph;
use crate::Error;
use crate::file::write_file;
use std::io::Write;
use std::path::Path;
use tamis_store::{EvidenceRecord, EvidenceSummary};

impl EvidenceGraph<'_> {
    /// Returns all records of a namespace's evidence, as they were imported: tasks, works, pages, fragments, claims,
    /// edges, each sorted by identifier. `None`: the namespace that the index is used in.
    ///
    /// # Errors
    /// A namespace that is missing or has to be named, or a store that cannot be read.
    pub fn records(&self, namespace: Option<&str>) -> Result<Vec<EvidenceRecord>, Error> {
        Ok(self.index.store.evidence(&self.namespace(namespace, None)?)?)
    }

    /// Writes the records of [`Index::evidence`], one a line, in the form that
    /// [`EvidenceImport::read`](crate::EvidenceImport::read) reads. Returns the number of records.
    ///
    /// # Errors
    /// As [`EvidenceGraph::records`], and where `out` cannot be written.
    pub fn export(&self, namespace: Option<&str>, out: &mut dyn Write) -> Result<u64, Error> {
        let records = self.records(namespace)?;
        let failed =
            |error: std::io::Error| Error::argument("output", error.to_string(), "something that can be written");
        for record in &records {
            serde_json::to_writer(&mut *out, record).map_err(|error| failed(error.into()))?;
            out.write_all(b"\n").map_err(failed)?;
        }
        out.flush().map_err(failed)?;
        Ok(records.len() as u64)
    }

    /// Writes [`EvidenceGraph::export`] to a file as [`write_file`] does: a regular file is replaced whole or not at
    /// all. Returns the number of records.
    ///
    /// # Errors
    /// As [`EvidenceGraph::records`], and where the file cannot be written.
    pub fn export_to(&self, namespace: Option<&str>, file: &Path) -> Result<u64, Error> {
        write_file(file, |out| self.export(namespace, out))
    }

    /// Summarizes a namespace's evidence: all of it, or the part related to one task.
    ///
    /// # Errors
    /// As [`EvidenceGraph::records`].
    pub fn summary(&self, namespace: Option<&str>, task: Option<&str>) -> Result<EvidenceSummary, Error> {
        Ok(self.index.store.evidence_summary(&self.namespace(namespace, None)?, task)?)
    }

    /// Summarizes the evidence of each namespace that has any, by name.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn summaries(&self) -> Result<Vec<EvidenceSummary>, Error> {
        let of = |namespace: String| self.index.store.evidence_summary(&namespace, None);
        let mut names = self.index.namespace_names()?;
        names.sort();
        let all = names.into_iter().map(of).collect::<Result<Vec<_>, _>>()?;
        Ok(all.into_iter().filter(|summary| !summary.is_empty()).collect())
    }
}
