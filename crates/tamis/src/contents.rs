//! Read access to the namespaces, documents and passages of an index.

use crate::Error;
use crate::handle::{Index, plain};
use tamis_store::{
    Attribute, Coverage, DocumentId, DocumentState, Filter, Namespace, PassageId, StoredPassage, Summary,
};

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
    index: &'a Index,
}

impl Index {
    /// Returns the content of the index.
    pub fn contents(&self) -> Contents<'_> {
        Contents { index: self }
    }
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
