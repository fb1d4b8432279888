//! Lines in git's hooks that keep an index fresh: after a commit, a checkout, a merge or a rebase they start `tamis index`
//! in the background.
//!
//! Hooks belong to their owners. The lines stand between two marks, are added beside existing content and removed again byte for
//! byte. If that cannot be done, the hook stays as it is, and the caller gets the reason and the lines to add by hand. Nothing
//! that the repository configures is run.
//!
//! ```
//! let lines = tamis::git_hooks::lines();
//! assert!(lines.contains("tamis --quiet index"));
//! assert!(lines.starts_with("# >>> tamis >>>\n") && lines.ends_with("# <<< tamis <<<\n"));
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::file::untrusted::read_in;
use crate::file::{LONGEST_TEXT, replace_whole};
use crate::{Error, git};

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
    block()
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
            write(path, own_file().as_bytes(), None)?;
            Ok(HookState::Installed)
        }
        Some(Hook { refusal: Some(reason), .. }) => Ok(HookState::Refused(reason)),
        Some(Hook { bytes, metadata, .. }) => match with_block(&bytes) {
            Ok(with) if with == bytes => Ok(HookState::Unchanged),
            Ok(with) => {
                let had = without_block(&bytes).is_ok_and(|without| without.as_ref() != Some(&bytes));
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
        Some(Hook { bytes, metadata, .. }) => match without_block(&bytes) {
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

// The lines in a hook: added to its text, found again, and removed byte for byte. Pure.

/// The marks around our lines.
const BEGIN: &str = "# >>> tamis >>>";
const BEGIN_OF_OWN_FILE: &str = "# >>> tamis, which made this file >>>";
const END: &str = "# <<< tamis <<<";

const LINES: &str = "\
# Brings the search index up to date in the background; `tamis hook remove` takes these lines out.
if command -v tamis >/dev/null 2>&1; then
    (tamis --quiet index </dev/null >/dev/null 2>&1 &)
fi
";

/// The first line of a new hook.
const SHEBANG: &str = "#!/bin/sh\n";

/// Interpreters that understand the lines.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"];

/// The reason why the lines cannot be added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The hook is a program, or a script in another language.
    NotShell,
    /// A mark is missing, or the marks are in the wrong order.
    Broken,
}

/// Returns the lines with their marks.
pub(crate) fn block() -> String {
    format!("{BEGIN}\n{LINES}{END}\n")
}

/// Returns a hook that holds only the lines.
pub(crate) fn own_file() -> String {
    format!("{SHEBANG}{BEGIN_OF_OWN_FILE}\n{LINES}{END}\n")
}

/// Returns a hook with the present lines. They come first, since a hook can end anywhere with `exit` or `exec`. Its exit status
/// stays the same.
pub(crate) fn with_block(hook: &[u8]) -> Result<Vec<u8>, Obstacle> {
    if let Some(region) = find(hook)? {
        let begin = if region.own { BEGIN_OF_OWN_FILE } else { BEGIN };
        let middle = format!("{begin}\n{LINES}{END}");
        return Ok([&hook[..region.start], middle.as_bytes(), &hook[region.end..]].concat());
    }
    if !is_shell(hook) {
        return Err(Obstacle::NotShell);
    }
    if !hook.starts_with(b"#!") {
        return Ok([block().as_bytes(), hook].concat());
    }
    match hook.iter().position(|&byte| byte == b'\n') {
        Some(newline) => Ok([&hook[..=newline], block().as_bytes(), &hook[newline + 1..]].concat()),
        // The last line keeps its missing line end.
        None => Ok([hook, b"\n", block().trim_end().as_bytes()].concat()),
    }
}

/// Returns a hook without the lines, as it was before; `None` if nothing is left of a file that was created for them.
pub(crate) fn without_block(hook: &[u8]) -> Result<Option<Vec<u8>>, Obstacle> {
    let Some(region) = find(hook)? else { return Ok(Some(hook.to_vec())) };
    let (front, back) = (&hook[..region.start], &hook[region.end..]);
    let rest = match back.strip_prefix(b"\n") {
        Some(back) => [front, back].concat(),
        None => front.strip_suffix(b"\n").unwrap_or(front).to_vec(),
    };
    Ok((!region.own || rest != SHEBANG.as_bytes()).then_some(rest))
}

/// The place of the lines, from the first mark to the end of the last one.
struct Region {
    start: usize,
    end: usize,
    own: bool,
}

fn find(hook: &[u8]) -> Result<Option<Region>, Obstacle> {
    let mut at = 0;
    let (mut begin, mut end) = (None, None);
    for line in hook.split_inclusive(|&byte| byte == b'\n') {
        let text = line.trim_ascii_end();
        let own = text == BEGIN_OF_OWN_FILE.as_bytes();
        let misplaced = if own || text == BEGIN.as_bytes() {
            begin.replace((at, own)).is_some()
        } else if text == END.as_bytes() {
            begin.is_none() || end.replace(at + text.len()).is_some()
        } else {
            false
        };
        if misplaced {
            return Err(Obstacle::Broken);
        }
        at += line.len();
    }
    match (begin, end) {
        (None, None) => Ok(None),
        (Some((start, own)), Some(end)) => Ok(Some(Region { start, end, own })),
        _ => Err(Obstacle::Broken),
    }
}

/// Returns `true` if a shell runs the hook. git uses a shell for a hook that names no interpreter and is not a program.
fn is_shell(hook: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(hook) else { return false };
    if text.contains('\0') {
        return false;
    }
    let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("#!")) else { return true };
    let base = |word: &str| word.rsplit(['/', '\\']).next().unwrap_or(word).to_owned();
    let mut words = line.split_whitespace().map(base);
    let interpreter = match words.next() {
        // Its options and variables do not matter.
        Some(env) if env == "env" => words.find(|word| !word.starts_with('-') && !word.contains('=')),
        Some(busybox) if busybox == "busybox" => words.next(),
        named => named,
    };
    interpreter.is_some_and(|name| SHELLS.contains(&name.trim_end_matches(".exe")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(hook: &str) -> Result<String, Obstacle> {
        with_block(hook.as_bytes()).map(|bytes| String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn the_block_comes_first_or_is_replaced_where_it_stands() {
        let hook = "#!/bin/sh\necho committed\nexit 0\n";
        let with = put(hook).expect("a shell hook");
        assert!(with.starts_with("#!/bin/sh\n# >>> tamis >>>\n"), "{with}");
        assert!(with.ends_with("# <<< tamis <<<\necho committed\nexit 0\n"), "{with}");
        assert_eq!(put(&with), Ok(with.clone()), "a second time changes nothing");

        let old = format!("#!/bin/sh\nfirst\n{BEGIN}\nsomething older\n{END}\nlast\n");
        let with = put(&old).expect("a shell hook");
        assert_eq!(with, format!("#!/bin/sh\nfirst\n{BEGIN}\n{LINES}{END}\nlast\n"));
        let own = format!("{SHEBANG}{BEGIN_OF_OWN_FILE}\nsomething older\n{END}\n");
        assert_eq!(put(&own), Ok(own_file()));

        assert_eq!(without_block(own_file().as_bytes()), Ok(None));
        let there = with_block(SHEBANG.as_bytes()).expect("a shell hook");
        assert_eq!(without_block(&there), Ok(Some(SHEBANG.as_bytes().to_vec())));
        let more = own_file() + "echo more\n";
        let left = b"#!/bin/sh\necho more\n".to_vec();
        assert_eq!(without_block(more.as_bytes()), Ok(Some(left)), "somebody added to it");
    }

    #[test]
    fn what_is_no_shell_hook_or_has_one_mark_is_refused() {
        for hook in ["#!/usr/bin/env python3\n", "#!/usr/bin/perl -w\n", "#!/usr/bin/fish\n", "#!\n", "\u{7f}ELF\0\0"] {
            assert_eq!(put(hook), Err(Obstacle::NotShell), "{hook:?}");
        }
        assert_eq!(with_block(&[0xff, 0xfe, 0x01]), Err(Obstacle::NotShell));
        for hook in [
            "", "echo a\n", "#!/bin/bash -e\n", "#! /usr/bin/env -S FOO=1 zsh -f\n", "#!/bin/busybox sh\n",
            "#!C:/sh.exe\n",
        ] {
            assert!(put(hook).is_ok(), "{hook:?}");
        }

        for hook in [
            format!("#!/bin/sh\n{BEGIN}\nx\n"),
            format!("#!/bin/sh\n{END}\n"),
            format!("{END}\n{BEGIN}\n"),
            format!("{BEGIN}\n{BEGIN}\n{END}\n"),
            format!("{BEGIN}\n{END}\n{END}\n"),
        ] {
            assert_eq!(put(&hook), Err(Obstacle::Broken), "{hook}");
            assert_eq!(without_block(hook.as_bytes()), Err(Obstacle::Broken), "{hook}");
        }
    }

    proptest! {
        #[test]
        fn out_again_means_byte_for_byte_as_it_was(
            shebang in prop_oneof!["", "#!/bin/sh", "#!/usr/bin/env bash\n", "#!/bin/sh\r\n"],
            rest in "(\n|[a-z \t#é\r]{0,8}\n?){0,6}",
        ) {
            let hook = shebang + &rest;
            if let Ok(with) = with_block(hook.as_bytes()) {
                prop_assert_eq!(with_block(&with), Ok(with.clone()));
                prop_assert_eq!(without_block(&with), Ok(Some(hook.into_bytes())));
            }
        }
    }
}
