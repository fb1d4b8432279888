//! Calls `git` so that nothing in a repository's own configuration runs.
//!
//! A repository can name programs: a file system monitor, hooks, a pager, a differ, text converters, a signature checker, an ssh
//! command, or helpers of a remote that would fetch missing objects. Each is either set to nothing on the command line, which
//! overrides every file and its includes, or switched off by a flag. We only run commands that read objects. None reads the files
//! of the tree, for which filters could run.

use crate::child::{self, End, Limit};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

/// Settings on the command line, before the command.
const SETTINGS: [&str; 14] = [
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.attributesFile=/dev/null",
    "core.sshCommand=false", "core.askPass=", "credential.helper=", "gpg.program=false", "gpg.ssh.program=false",
    "diff.external=", "diff.relative=false", "log.showSignature=false", "log.showRoot=true", "log.follow=false",
];

/// Most bytes taken from one command.
const MOST_BYTES: usize = 1 << 30;

/// Runs `git` with these arguments in `root` and passes its output to `each`, piece by piece, until the output ends or `each`
/// breaks off.
///
/// # Errors
/// The reason for a missing or partial answer, in words for people.
pub(super) fn ask(
    root: &Path,
    arguments: &[&str],
    limit: &Limit<'_>,
    each: impl FnMut(&[u8]) -> ControlFlow<()> + Send,
) -> Result<(), String> {
    let ended = child::run(&mut command(root, arguments)?, MOST_BYTES, limit, each)
        .map_err(|error| format!("git cannot be started: {error}"))?;
    match ended.end {
        End::Enough => Ok(()),
        End::Late => Err("git took too long, so only a part of the history was read".into()),
        End::All if ended.code == Some(0) => Ok(()),
        End::TooMuch => Err("git's answer is too long, so only a part of it was read".into()),
        End::All | End::Broken => Err(reason(&ended.complaint)),
    }
}

/// Returns git's error output as one line.
fn reason(complaint: &str) -> String {
    if complaint.contains("dubious ownership") {
        return "the repository belongs to somebody else, so git does not read it (`git config --global --add safe.directory DIR` allows it)".into();
    }
    match complaint.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!("git says: {line}"),
        None => "git failed without a word".into(),
    }
}

fn command(root: &Path, arguments: &[&str]) -> Result<Command, String> {
    let mut command = Command::new(child::program("git").ok_or("there is no git on this machine")?);
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().to_ascii_uppercase().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    // Objects missing from a partial clone are not fetched. The first variable is for newer versions, the second for all.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command.args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"]);
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    command.args(arguments);
    Ok(command)
}
