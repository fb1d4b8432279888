//! The record beside a model's files.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use tamis_embed::{ModelSettings, SETTINGS_FILE};

/// The longest record that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// The use of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// It makes vectors, for `index.models`.
    Embedder,
    /// It reads a query and a passage together, for `rerank.model`.
    Reranker,
}

/// A file of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFile {
    /// Its name in the model's directory.
    pub path: String,
    /// Its name in the repository.
    pub source: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// `tamis-model.json`: where a model comes from, and what was decided about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// Its owner and name.
    pub model: String,
    /// The commit of its files.
    pub revision: String,
    /// The branch or tag that was asked for.
    pub asked: Option<String>,
    /// The address of the hub.
    pub hub: String,
    /// Its use.
    pub kind: ModelKind,
    /// The licence in its model card.
    pub license: Option<String>,
    /// Length of its vectors; `None` for a reranker.
    pub dimension: Option<usize>,
    /// The number of tokens after which the rest of a text is ignored; `None` if the whole text counts.
    pub max_tokens: Option<usize>,
    /// Pooling and prefixes.
    #[serde(flatten)]
    pub settings: ModelSettings,
    /// The origin of the pooling.
    pub pooling_from: Option<String>,
    /// The origin of the prefixes.
    pub prefixes_from: Option<String>,
    /// Its files.
    pub files: Vec<RecordedFile>,
    /// The time at which it was added.
    pub added: Timestamp,
}

impl ModelRecord {
    /// Returns the size of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).fold(0, u64::saturating_add)
    }

    /// Reads the record of a model's directory.
    ///
    /// # Errors
    /// It is missing, or is not one.
    pub(super) fn read(directory: &Path) -> io::Result<Self> {
        let bytes = crate::file::foreign::read_in(directory, Path::new(SETTINGS_FILE), LONGEST)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Writes the record into a model's directory.
    #[cfg(feature = "hub")]
    pub(super) fn write(&self, directory: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        std::fs::write(directory.join(SETTINGS_FILE), text)
    }
}
