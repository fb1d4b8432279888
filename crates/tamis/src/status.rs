//! The state of an index: its contents, its freshness and its health.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
#[cfg(feature = "evidence")]
use tamis_store::EvidenceSummary;
use tamis_store::{
    Attribute, Coverage, Description, DocumentId, DocumentState, Filter, Namespace, PassageId, StoredPassage, Summary,
};

use crate::Error;
use crate::collections::SKIPPED;
use crate::config::without_password;
use crate::handle::{Index, SourceState, plain};
use crate::import::Imported;
use crate::index::{EmbeddingCacheStatus, EmbeddingProgress, SourceComparison, UnreadDocument, comparisons};

/// The state of an index.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Status {
    /// Where it is.
    #[serde(flatten)]
    pub place: IndexPlace,
    /// The name under which the tree's documents are stored.
    pub namespace: String,
    /// Files that differ, are left out or need a remark.
    #[serde(flatten)]
    pub files: FileStatus,
    /// The repositories of the index. An index of one tree has that tree only.
    pub sources: Vec<SourceStatus>,
    /// The imported documents, by origin.
    pub imported: Vec<Imported>,
    /// The evidence of each namespace that has any.
    #[cfg(feature = "evidence")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceSummary>,
    /// The user's cache of vectors, if there is one that can be read.
    pub embedding_cache: Option<EmbeddingCacheStatus>,
    /// The number of passages that each configured model has not embedded yet; without those that lack none.
    pub pending: BTreeMap<String, u64>,
    /// The state of embedding in the background, while a process does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<EmbeddingProgress>,
    /// The counts of the store.
    #[serde(flatten)]
    pub summary: Summary,
}

/// Where an index is.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct IndexPlace {
    /// The root of the tree around the index.
    pub root: PathBuf,
    /// The directory of the index.
    pub directory: PathBuf,
    /// The address of the database that holds the index in place of the directory, without its password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
}

/// The files of an index that differ from it, are left out or need a remark.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FileStatus {
    /// The number of files that differ from the index.
    pub stale: u64,
    /// The number of files left out, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// Documents without readable text, such as an encrypted PDF, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadDocument>,
    /// Files with remarks for people on how they were read.
    pub notes: Vec<(String, String)>,
}

/// The state of one repository of an index.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct SourceStatus {
    /// The name under which its documents are stored.
    pub namespace: String,
    /// Its directory.
    pub root: PathBuf,
    /// Its owner.
    pub owner: Option<String>,
    /// True if its owner's other namespaces may search it.
    pub shared: bool,
    /// The number of documents with passages.
    pub documents: u64,
    /// The number of their passages.
    pub passages: u64,
    /// The number of files that differ from the index.
    pub stale: u64,
    /// The state, which decides if it can be brought up to date.
    pub state: SourceState,
    /// The reason why it cannot, and the way out.
    pub remark: Option<String>,
}

/// Does the work of [`Index::status`].
pub(crate) fn status(index: &Index) -> Result<Status, Error> {
    let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
    let (mut notes, mut unread) = (Vec::new(), Vec::new());
    let mut sources = Vec::new();
    let mut summary = index.store.summary()?;
    for SourceComparison { source, state, stale, skipped: unlisted } in comparisons(index)? {
        for (kind, files) in unlisted {
            *skipped.entry(kind.to_owned()).or_default() += files;
        }
        let mut status = SourceStatus {
            namespace: source.namespace.clone(),
            root: source.root.clone(),
            owner: source.owner.clone(),
            shared: source.shared,
            documents: 0,
            passages: 0,
            stale,
            state,
            remark: state.remark(&source.namespace),
        };
        for document in index.store.documents(&source.namespace)? {
            let DocumentState { path, collection, description: Description { role, .. }, .. } = &document;
            let without_text = UnreadDocument::new(&source.namespace, path, collection, role);
            if document.collection == SKIPPED {
                let mut namespaces = summary.counts.namespaces.iter_mut();
                let own = namespaces.find(|count| count.name == source.namespace).map(|count| &mut count.documents);
                for documents in own.into_iter().chain([&mut summary.documents]) {
                    *documents = documents.saturating_sub(1);
                }
                if without_text.is_none() {
                    *skipped.entry(document.description.role).or_default() += 1;
                }
                unread.extend(without_text);
            } else {
                status.documents += 1;
                status.passages += u64::from(document.passages);
            }
            let path = match index.is_of_one_tree() {
                true => document.path,
                false => format!("{}:{}", source.namespace, document.path),
            };
            notes.extend(document.note.map(|note| (path, note)));
        }
        sources.push(status);
    }
    summary.counts.collections.retain(|count| count.name != SKIPPED);
    Ok(Status {
        place: IndexPlace {
            root: index.root().to_owned(),
            directory: index.location().directory.clone(),
            database: index.config.store.url.as_deref().map(without_password),
        },
        namespace: index.namespace().to_owned(),
        files: FileStatus { stale: sources.iter().map(|source| source.stale).sum(), skipped, unread, notes },
        sources,
        imported: index.imports().list()?,
        #[cfg(feature = "evidence")]
        evidence: index.evidence().summaries()?,
        // Runs skip an unreadable cache as well; the doctor gives the reason.
        embedding_cache: index.embedding_cache().unwrap_or_default(),
        pending: pending(index)?,
        embedding: index.embedding_progress()?,
        summary,
    })
}

/// Returns the number of passages that each configured model has not embedded yet; without those that lack none.
fn pending(index: &Index) -> Result<BTreeMap<String, u64>, Error> {
    let mut pending = BTreeMap::new();
    for name in &index.config().index.models {
        let id = match index.models.id(name) {
            // The doctor gives the reason.
            Err(Error::Model { .. }) => continue,
            id => id?,
        };
        let coverage = index.store.coverage(&id, &index.embedded_here())?;
        if coverage.embedded < coverage.passages {
            pending.insert(name.clone(), coverage.passages - coverage.embedded);
        }
    }
    Ok(pending)
}

// Read access to the namespaces, documents and passages of an index.

/// The content of an index: namespaces, documents and passages. From [`Index::contents`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
/// # let index = tamis::Index::builder(directory.path()).set("index.models", "static").open()?;
/// # index.refresh()?;
/// for document in index.contents().documents(index.namespace())? {
///     println!("{} ({} passages)", document.path, document.passages);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Contents<'a> {
    pub(crate) index: &'a Index,
}

impl Contents<'_> {
    /// Returns the change number, which grows with every change of documents, namespaces and vectors.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn change_number(&self) -> Result<u64, Error> {
        Ok(self.index.store.change_number()?)
    }

    /// Returns the number of documents, passages and vectors.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn summary(&self) -> Result<Summary, Error> {
        Ok(self.index.store.summary()?)
    }

    /// Returns the namespaces.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn namespaces(&self) -> Result<Vec<Namespace>, Error> {
        let mut namespaces = self.index.store.namespaces()?;
        let base = self.index.location().base();
        for root in namespaces.iter_mut().filter_map(|namespace| namespace.root.as_mut()) {
            *root = plain(&base.join(&*root)).to_string_lossy().into_owned();
        }
        Ok(namespaces)
    }

    /// Returns the documents of a namespace.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn documents(&self, namespace: &str) -> Result<Vec<DocumentState>, Error> {
        Ok(self.index.store.documents(namespace)?)
    }

    /// Returns one document; `None` if it does not exist.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn document(&self, namespace: &str, path: &str) -> Result<Option<DocumentState>, Error> {
        Ok(self.index.store.document(namespace, path)?)
    }

    /// Returns the passages of one document, in their order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn document_passages(&self, namespace: &str, path: &str) -> Result<Vec<StoredPassage>, Error> {
        Ok(self.index.store.document_passages(namespace, path)?)
    }

    /// Returns the attributes of each document.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn attributes(&self, documents: &[DocumentId]) -> Result<Vec<Vec<Attribute>>, Error> {
        Ok(self.index.store.attributes(&[], documents)?)
    }

    /// Returns the record that each document was made from, as JSON; `None` for documents without one.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn records(&self, documents: &[DocumentId]) -> Result<Vec<Option<String>>, Error> {
        Ok(self.index.store.records(&[], documents)?)
    }

    /// Returns the vector of each passage under a model; `None` for a passage without one yet.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn vectors(&self, model: &str, passages: &[PassageId]) -> Result<Vec<Option<Vec<f32>>>, Error> {
        Ok(self.index.store.vectors(model, &[], passages)?)
    }

    /// Returns the number of passages that match a filter, and of those with a vector of a model.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn coverage(&self, model: &str, filter: &Filter) -> Result<Coverage, Error> {
        Ok(self.index.store.coverage(model, filter)?)
    }
}
