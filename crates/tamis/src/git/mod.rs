//! The dates that git knows of a tree: the last commit of each file.
//!
//! The repository is not trusted. `git` runs so that nothing in the repository's configuration can run ([`command`]), reads
//! objects and never the files of the tree, and is stopped when it takes too long. A few small files show if git has to run at
//! all ([`repository`]).

mod blob;
mod command;
mod history;
mod hooks;
mod repository;

pub(crate) use hooks::{hooks, hooks_elsewhere};
pub(crate) use repository::{Repository, exclude_elsewhere};

use crate::child::Limit;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time limit for one repository. The results up to then are used.
const PATIENCE: Duration = Duration::from_secs(10);

/// The dates found in a history.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Dated {
    /// Paths under the root of the source, each with the time of its last commit in nanoseconds since 1970.
    pub dates: Vec<(String, i64)>,
    /// The reason why some or all dates are missing.
    pub note: Option<String>,
}

/// Returns the times of the last commits of those of `paths` (under `root`) that still have the committed content. A path that
/// git does not know, or whose file has changed since, has none. `stopped` ends the search early.
pub(crate) fn dates(repository: &Repository, root: &Path, paths: &[&str], stopped: &dyn Fn() -> bool) -> Dated {
    let note = |note: &str| Dated { note: Some(note.to_owned()), ..Dated::default() };
    if repository.is_shallow() {
        return note("the clone is shallow, so git does not know when files last changed");
    }
    if let Some(file) = repository.unsound() {
        return note(&format!("{}: not a regular file of a sensible size, so git is not asked", file.display()));
    }
    let limit = Limit { until: Instant::now() + PATIENCE, stopped };
    let tracked = match blob::tracked(root, &limit) {
        Ok(tracked) => tracked,
        Err(problem) => return note(&problem),
    };
    let mut wanted: HashMap<&str, Option<i64>> =
        blob::as_committed(root, paths, &tracked, &limit).into_iter().map(|path| (path, None)).collect();
    let problem = history::read(root, repository.top() == root, &mut wanted, &limit).err();
    let mut dates: Vec<(String, i64)> = wanted
        .into_iter()
        .filter_map(|(path, seconds)| Some((path.to_owned(), seconds?.checked_mul(1_000_000_000)?)))
        .collect();
    dates.sort_unstable();
    Dated { dates, note: problem }
}
