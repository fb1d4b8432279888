//! The directory of a repository's hooks.

use super::Repository;
use super::command::ask;
use crate::child::Limit;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Returns the directory of the hooks inside the repository, which all of its work trees share.
pub(crate) fn hooks(start: &Path, git_dir: Option<&Path>) -> Result<PathBuf, String> {
    let repository = match git_dir {
        Some(directory) => Repository::at(directory)
            .ok_or_else(|| format!("{} is not the directory of a repository", directory.display()))?,
        None => {
            let start = dunce::canonicalize(start).map_err(|error| error.to_string())?;
            Repository::find(&start).ok_or("not in a git repository; name its directory with --git-dir")?
        }
    };
    let common = repository.common();
    Ok(dunce::canonicalize(common).unwrap_or_else(|_| common.to_owned()).join("hooks"))
}

/// Returns the directory that `core.hooksPath` names in any of the files that configure the repository.
pub(crate) fn hooks_elsewhere(start: &Path, git_dir: Option<&Path>) -> Result<Option<PathBuf>, String> {
    let directory = git_dir.map(|directory| std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned()));
    let directory = directory.map(|directory| directory.to_string_lossy().into_owned());
    let mut arguments: Vec<&str> = Vec::new();
    if let Some(directory) = &directory {
        arguments.extend(["--git-dir", directory]);
    }
    // The setting on our own command line is listed as well, with another origin.
    arguments.extend(["config", "--null", "--show-origin", "--type=path", "--get-all", "core.hooksPath"]);
    let limit = Limit { until: Instant::now() + Duration::from_secs(10), stopped: &|| false };
    let mut listed = Vec::new();
    ask(start, &arguments, &limit, |piece| {
        listed.extend_from_slice(piece);
        ControlFlow::Continue(())
    })?;
    let listed = String::from_utf8_lossy(&listed);
    let fields: Vec<&str> = listed.split_terminator('\0').collect();
    let named =
        fields.chunks_exact(2).filter(|pair| !pair[0].starts_with("command line")).map(|pair| pair[1]).next_back();
    let top = || match git_dir {
        Some(directory) => Some(directory.to_owned()),
        None => Repository::find(&dunce::canonicalize(start).ok()?).map(|found| found.top().to_owned()),
    };
    // A relative path starts where hooks run, which is the top of the work tree.
    Ok(named.filter(|path| !path.is_empty()).map(|path| top().unwrap_or_default().join(path)))
}
