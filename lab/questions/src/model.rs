//! The models that a tree is searched with.

use anyhow::{Result, bail};
use std::str::FromStr;

/// How the passages of a tree are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// The quick model reads all passages, and no other takes part.
    Static,
    /// The quick model reads all passages, and the better one the best of each search, as in an index that is new.
    Late,
    /// The better model has read all passages.
    MiniLm,
}

impl Model {
    /// All of them.
    pub const ALL: [Model; 3] = [Model::Static, Model::Late, Model::MiniLm];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Model::Static => "static",
            Model::Late => "late",
            Model::MiniLm => "minilm",
        }
    }

    /// The settings of an index that is searched with it.
    pub(crate) fn settings(self) -> [(&'static str, &'static str); 2] {
        match self {
            Model::Static => [("index.models", "static"), ("search.model", "static")],
            Model::Late => [("index.models", "static,minilm"), ("search.model", "static")],
            Model::MiniLm => [("index.models", "static,minilm"), ("search.model", "minilm")],
        }
    }
}

impl FromStr for Model {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        match Model::ALL.into_iter().find(|model| model.name() == name) {
            Some(model) => Ok(model),
            None => bail!("--model {name}: expected static, late or minilm"),
        }
    }
}
