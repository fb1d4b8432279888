//! Models by name, from a hub that speaks the protocol of huggingface.co.
//!
//! [`add`] fetches the files that a model needs into the user's directory of models ([`ModelsDirectory`]), checks them against the
//! hub's sums, and computes something with the model before it counts as there. A configuration then names it with
//! `provider = "hub"`. Nothing else in the library fetches a model.
//!
//! The protocol is small, so it is spoken here, with the HTTP client that the other clients use. From the outside in: `add` does the
//! whole, `choose` picks the files by what the repository says of itself and knows the prefixes of models that do not say theirs,
//! `download` fetches one file, and `transport` sends one request.

#[cfg(feature = "hub")]
mod add;
#[cfg(feature = "hub")]
mod choose;
mod directory;
#[cfg(feature = "hub")]
mod download;
#[cfg(feature = "hub")]
mod token;
#[cfg(feature = "hub")]
mod transport;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

#[cfg(feature = "hub")]
pub use add::{AddRequest, Added, MOST_BYTES, add};
pub(crate) use directory::check;
pub use directory::{InstalledModel, ModelKind, ModelRecord, ModelsDirectory, RecordedFile, SourcedSettings};
#[cfg(feature = "hub")]
pub use token::HubToken;
#[cfg(feature = "hub")]
pub use transport::{HUB, HubAccess};

// The name of a model at a hub.

/// The longest part of a name, in characters, as on the hub.
const LONGEST: usize = 96;

/// The name of a model at a hub: `OWNER/NAME` or `NAME`, with `@REVISION` for a branch, a tag or a commit.
///
/// ```
/// use tamis::hub::ModelName;
///
/// let name: ModelName = "sentence-transformers/all-MiniLM-L12-v2@main".parse()?;
/// assert_eq!((name.repository(), name.revision()), ("sentence-transformers/all-MiniLM-L12-v2", Some("main")));
/// assert!("../../etc".parse::<ModelName>().is_err());
/// # Ok::<(), tamis::hub::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName {
    repository: String,
    revision: Option<String>,
}

/// A text that does not name a model at a hub.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{given:?}: not the name of a model at a hub; write OWNER/NAME, such as sentence-transformers/all-MiniLM-L12-v2, or \
     OWNER/NAME@REVISION"
)]
pub struct NameError {
    given: String,
}

impl ModelName {
    /// Returns the owner and the name.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the branch, tag or commit, if one is named.
    pub fn revision(&self) -> Option<&str> {
        self.revision.as_deref()
    }

    /// Returns the name without the owner.
    pub fn short(&self) -> &str {
        self.repository.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the name as one part of a path. No two names share it, since a hub's names have no `--`.
    #[cfg(feature = "hub")]
    pub(crate) fn directory(&self) -> String {
        self.repository.replace('/', "--")
    }
}

impl FromStr for ModelName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let refused = || NameError { given: text.to_owned() };
        let text = text.trim();
        let (repository, revision) = match text.split_once('@') {
            Some((repository, revision)) => (repository, Some(revision)),
            None => (text, None),
        };
        let is_repository = repository.split('/').count() <= 2 && repository.split('/').all(is_part);
        if !is_repository || revision.is_some_and(|revision| !is_revision(revision)) {
            return Err(refused());
        }
        Ok(ModelName { repository: repository.to_owned(), revision: revision.map(str::to_owned) })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.revision {
            Some(revision) => write!(formatter, "{}@{revision}", self.repository),
            None => formatter.write_str(&self.repository),
        }
    }
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._-".contains(character)
}

/// Returns `true` for an owner or a name by the hub's own rules, which leave no room for a path.
fn is_part(part: &str) -> bool {
    let ends = |character: char| !".-".contains(character);
    (1..=LONGEST).contains(&part.len())
        && part.chars().all(is_plain)
        && part.starts_with(ends)
        && part.ends_with(ends)
        && !part.contains("..")
        && !part.contains("--")
}

/// Returns `true` for a branch, a tag or a commit.
pub(crate) fn is_revision(revision: &str) -> bool {
    (1..=LONGEST).contains(&revision.len())
        && revision.chars().all(|character| is_plain(character) || character == '/')
        && revision.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !revision.contains("..")
        && !revision.ends_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trap_no_name_is_a_path_elsewhere() {
        for text in [
            "", "/", "a/", "/a", "a/b/c", "../a", "a/..", "a/.b", "a//b", "a\\b", "a b", "a/b@", "a/b@../c", "a/b@-x",
            "a/b@/c", "a--b", "https://huggingface.co/a/b", "a/b?x", "a/b#c", "ä/b", "a/b@c@d", "C:/x",
        ] {
            assert!(text.parse::<ModelName>().is_err(), "{text:?}");
        }
        let long = "x".repeat(LONGEST + 1);
        assert!(long.parse::<ModelName>().expect_err("too long").to_string().contains("OWNER/NAME"));

        for text in ["gpt2", "BAAI/bge-small-en-v1.5", "a/b@v1.0", "a/b@refs/pr/1", "a_b/c.d@0123abcd"] {
            assert_eq!(text.parse::<ModelName>().expect(text).to_string(), text);
        }
        let name: ModelName = " BAAI/bge-small-en-v1.5 ".parse().expect("a name");
        assert_eq!((name.short(), name.directory().as_str()), ("bge-small-en-v1.5", "BAAI--bge-small-en-v1.5"));
    }
}
