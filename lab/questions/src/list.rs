//! The lists of questions, as they stand in the files of `lists/`.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The questions to one tree.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// Its name, which is also the name of its file.
    pub name: String,
    /// What the tree holds.
    pub about: String,
    /// What is searched.
    pub source: Source,
    /// First those with an answer, then those without.
    pub questions: Vec<Question>,
}

/// What is searched, as a list names it.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The sources of a crate that the build downloads, or a directory of them.
    Crate {
        /// The name of the crate.
        name: String,
        /// The version in `Cargo.lock`.
        version: String,
        /// The directory, relative to the crate.
        under: PathBuf,
    },
    /// A directory of this project.
    Directory {
        /// The directory, relative to the workspace.
        path: PathBuf,
        /// Whether its files are notes.
        notes: bool,
    },
    /// A file of issues.
    Issues {
        /// The file, relative to the workspace.
        path: PathBuf,
    },
    /// A judged collection: a directory with `corpus.jsonl`.
    Collection {
        /// The directory.
        path: PathBuf,
    },
}

/// One question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Question {
    /// Its words.
    pub ask: String,
    /// Whether the tree answers it.
    pub topic: Topic,
    /// The documents with an answer; any one will do. Empty if nothing answers it.
    pub expect: Vec<String>,
    /// The document that the question is itself, which is no answer to it.
    #[serde(skip)]
    pub itself: Option<String>,
}

impl Question {
    /// A question that any of these documents answers.
    pub fn answered_by(ask: impl Into<String>, expect: Vec<String>) -> Self {
        Question { ask: ask.into(), topic: Topic::Answerable, expect, itself: None }
    }
}

/// Whether a tree answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// It does.
    Answerable,
    /// It does not, though the subject is a neighbour.
    Near,
    /// It does not, and the subject is far.
    Far,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    about: String,
    #[serde(rename = "crate")]
    package: Option<String>,
    version: Option<String>,
    under: Option<PathBuf>,
    directory: Option<PathBuf>,
    kind: Option<Kind>,
    issues: Option<PathBuf>,
    answerable: Vec<Answerable>,
    unanswerable: Unanswerable,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Notes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answerable {
    ask: String,
    expect: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unanswerable {
    near: Vec<String>,
    far: Vec<String>,
}

impl List {
    /// Reads all lists of this project, by name.
    ///
    /// # Errors
    /// A list cannot be read, or two ask the same question.
    pub fn all() -> Result<Vec<List>> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("lists");
        let entries = fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        paths.sort();
        let lists = paths.iter().map(|path| List::read(path)).collect::<Result<Vec<_>>>()?;
        let mut asked = BTreeSet::new();
        for question in lists.iter().flat_map(|list| &list.questions) {
            ensure!(asked.insert(&question.ask), "two lists ask {:?}; ask it once", question.ask);
        }
        Ok(lists)
    }

    /// Reads one list.
    ///
    /// # Errors
    /// The file is not a list, or names no source or more than one.
    pub fn read(path: &Path) -> Result<List> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file: File = toml::from_str(&text).with_context(|| format!("{} is not a list", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        ensure!(file.name == stem, "{}: the list is called {:?}; name the file after it", path.display(), file.name);
        let source = match (file.package, file.version, file.directory, file.issues) {
            (Some(name), Some(version), None, None) => {
                Source::Crate { name, version, under: file.under.unwrap_or_default() }
            }
            (None, None, Some(path), None) => Source::Directory { path, notes: file.kind.is_some() },
            (None, None, None, Some(path)) => Source::Issues { path },
            _ => bail!("{}: expected crate and version, or directory, or issues", path.display()),
        };
        let mut questions = Vec::new();
        for Answerable { ask, expect } in file.answerable {
            ensure!(!expect.is_empty(), "{}: {ask:?} expects nothing; move it to [unanswerable]", path.display());
            questions.push(Question::answered_by(ask, expect));
        }
        for (topic, asks) in [(Topic::Near, file.unanswerable.near), (Topic::Far, file.unanswerable.far)] {
            questions.extend(asks.into_iter().map(|ask| Question { ask, topic, expect: Vec::new(), itself: None }));
        }
        Ok(List { name: file.name, about: file.about, source, questions })
    }
}
