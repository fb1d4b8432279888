//! Lines in git's hooks that keep an index fresh: after a commit, a checkout, a merge or a rebase they start `tamis index`
//! in the background.
//!
//! Hooks belong to their owners. The lines stand between two marks, are added beside existing content and removed again byte for
//! byte. If that cannot be done, the hook stays as it is, and the caller gets the reason and the lines to add by hand. Nothing
//! that the repository configures is run.
//!
//! ```
//! let lines = tamis::hook::lines();
//! assert!(lines.contains("tamis --quiet index"));
//! assert!(lines.starts_with("# >>> tamis >>>\n") && lines.ends_with("# <<< tamis <<<\n"));
//! ```

mod block;

use crate::Error;
use crate::file::foreign::read_in;
use crate::file::{LONGEST_TEXT, replace_whole};
use crate::git;
use block::Obstacle;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The hooks that get the lines. Every git command that changes the files of a work tree ends with one of them.
pub const HOOKS: [&str; 4] = ["post-commit", "post-checkout", "post-merge", "post-rewrite"];

/// The result for one hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookState {
    /// The lines were added.
    Installed,
    /// Older lines were replaced by those of this version.
    Updated,
    /// The hook had the lines already, or had none to remove.
    Unchanged,
    /// The lines were removed.
    Removed,
    /// The hook was left as it is, for this reason.
    Refused(String),
}

/// The results for all hooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HookReport {
    /// The directory of the hooks.
    pub directory: PathBuf,
    /// Each of [`HOOKS`] with its result.
    pub hooks: Vec<(String, HookState)>,
}

impl HookReport {
    /// Returns `true` if a hook had to be left as it is.
    pub fn refused(&self) -> bool {
        self.hooks.iter().any(|(_, state)| matches!(state, HookState::Refused(_)))
    }
}

/// Returns the lines that the hooks get, as shell script. They return at once, and do nothing if `tamis` is not installed.
pub fn lines() -> String {
    block::block()
}

/// Adds the lines to the hooks of the repository whose work tree contains `start`, or of the one at `git_dir`.
///
/// # Errors
/// The repository is missing, or its hooks are somewhere else (`core.hooksPath`), where a manager or the user keeps them; a hook
/// cannot be read or written. A single hook that cannot take the lines is not an error: see [`HookState::Refused`].
pub fn install(start: &Path, git_dir: Option<&Path>) -> Result<HookReport, Error> {
    let directory = own_directory(start, git_dir)?;
    fs::create_dir_all(&directory).map_err(|error| Error::path(&directory, format!("cannot be made: {error}")))?;
    each(directory, |path| match read(path)? {
        None => {
            write(path, block::own_file().as_bytes(), None)?;
            Ok(HookState::Installed)
        }
        Some(Hook { refusal: Some(reason), .. }) => Ok(HookState::Refused(reason)),
        Some(Hook { bytes, metadata, .. }) => match block::with_block(&bytes) {
            Ok(with) if with == bytes => Ok(HookState::Unchanged),
            Ok(with) => {
                let had = block::without_block(&bytes).is_ok_and(|without| without.as_ref() != Some(&bytes));
                write(path, &with, Some(&metadata))?;
                Ok(if had { HookState::Updated } else { HookState::Installed })
            }
            Err(obstacle) => Ok(HookState::Refused(reason(obstacle))),
        },
    })
}

/// Removes the lines from the hooks, and deletes the hooks that were created for them.
///
/// # Errors
/// As [`install`].
pub fn remove(start: &Path, git_dir: Option<&Path>) -> Result<HookReport, Error> {
    let directory = git::hooks(start, git_dir).map_err(|reason| Error::path(start, reason))?;
    each(directory, |path| match read(path)? {
        Some(Hook { bytes, metadata, .. }) => match block::without_block(&bytes) {
            Ok(Some(without)) if without == bytes => Ok(HookState::Unchanged),
            Ok(Some(without)) => {
                write(path, &without, Some(&metadata))?;
                Ok(HookState::Removed)
            }
            Ok(None) => {
                fs::remove_file(path).map_err(|error| Error::path(path, format!("cannot be removed: {error}")))?;
                Ok(HookState::Removed)
            }
            Err(obstacle) => Ok(HookState::Refused(reason(obstacle))),
        },
        None => Ok(HookState::Unchanged),
    })
}

/// Returns the directory of the hooks, if git uses it.
fn own_directory(start: &Path, git_dir: Option<&Path>) -> Result<PathBuf, Error> {
    let directory = git::hooks(start, git_dir).map_err(|reason| Error::path(start, reason))?;
    let elsewhere = git::hooks_elsewhere(start, git_dir).map_err(|reason| Error::path(start, reason))?;
    match elsewhere {
        Some(path) if !is_same(&path, &directory) => {
            let hooks = HOOKS.join(", ");
            let reason = format!(
                "core.hooksPath says that git's hooks are here, which is yours or a manager's to change; put these lines into \
                 {hooks}:\n{}",
                lines()
            );
            Err(Error::path(&path, reason))
        }
        _ => Ok(directory),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (dunce::canonicalize(one), dunce::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn each(directory: PathBuf, work: impl Fn(&Path) -> Result<HookState, Error>) -> Result<HookReport, Error> {
    let hooks = HOOKS.iter().map(|&name| Ok((name.to_owned(), work(&directory.join(name))?)));
    let hooks = hooks.collect::<Result<_, Error>>()?;
    Ok(HookReport { directory, hooks })
}

/// An existing hook.
struct Hook {
    bytes: Vec<u8>,
    metadata: fs::Metadata,
    /// The reason why it must not be changed, whatever its content.
    refusal: Option<String>,
}

fn read(path: &Path) -> Result<Option<Hook>, Error> {
    let failed = |error: std::io::Error| Error::path(path, format!("cannot be read: {error}"));
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(failed)?,
    };
    let (mut bytes, mut refusal) = (Vec::new(), None);
    if metadata.is_symlink() {
        refusal = Some("a link to a file elsewhere".to_owned());
    } else if !metadata.is_file() {
        refusal = Some("not a file".to_owned());
    } else {
        let (directory, name) = (path.parent().unwrap_or(Path::new(".")), path.file_name().unwrap_or_default());
        bytes = read_in(directory, Path::new(name), LONGEST_TEXT).map_err(failed)?;
        if !is_executable(&metadata) {
            refusal = Some(
                "not executable, so git does not run it, and to make it so would have what is in it run".to_owned(),
            );
        }
    }
    Ok(Some(Hook { bytes, metadata, refusal }))
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}

/// Writes a whole hook or nothing, so git never runs half of one. `before` is the replaced hook, whose mode and owner stay. A new
/// one is executable for everyone whom the user's mask allows.
fn write(path: &Path, bytes: &[u8], before: Option<&fs::Metadata>) -> Result<(), Error> {
    replace_whole(path, bytes, before, 0o777).map_err(|error| Error::path(path, format!("cannot be written: {error}")))
}

fn reason(obstacle: Obstacle) -> String {
    match obstacle {
        Obstacle::NotShell => "not a shell script",
        Obstacle::Broken => "only a part of the lines that tamis put in is there; take the rest out by hand",
    }
    .to_owned()
}
