//! The process of its own that embeds what a command left without a vector, as `git gc --auto` tidies up.

use crate::command_line;
use crate::output::Output;
use std::ffi::OsStr;
use std::process::{Command, Stdio};
use tamis::{Index, RunReport};

/// The variable that services set which build and test: their machines end with the command.
const CI_VARIABLE: &str = "CI";

/// Starts the process if the run left something to it, and says so the first time. Whatever goes wrong, the next command tries again.
pub fn start(index: &Index, report: Option<&RunReport>, output: &Output) {
    let is_wanted = report.is_some_and(|report| !report.interrupted && index.wants_background(report));
    if !is_wanted || is_set(std::env::var_os(CI_VARIABLE).as_deref()) {
        return;
    }
    let is_first = index.has_embedded_alone().is_ok_and(|has| !has);
    match command(index).and_then(|mut command| Ok(command.spawn()?)) {
        Ok(_) if is_first => output.note(
            "the better model embeds the rest in the background; `tamis status` shows how far it is (`index.background = false` \
             turns this off)",
        ),
        Ok(_) => {}
        Err(error) => tracing::debug!(target: "tamis::background", %error, "could not start to embed"),
    }
}

/// Returns `true` for a variable that is set to something else than no.
fn is_set(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| !["", "0", "false"].iter().any(|no| value == *no))
}

/// The command line of the process, which nobody sees and which has no terminal.
fn command(index: &Index) -> anyhow::Result<Command> {
    let location = index.location();
    let mut command = Command::new(command_line::program()?);
    command.arg("--directory").arg(&location.start).arg("--index").arg(&location.directory);
    command.args(["--quiet", "index", "--background"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    apart(&mut command);
    Ok(command)
}

/// Keeps the process from holding the working directory, which could not be deleted there, and gives it no console.
#[cfg(windows)]
fn apart(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    const DETACHED_PROCESS: u32 = 0x0000_0008;
    const BELOW_NORMAL_PRIORITY_CLASS: u32 = 0x0000_4000;
    command.creation_flags(DETACHED_PROCESS | BELOW_NORMAL_PRIORITY_CLASS).current_dir(std::env::temp_dir());
}

/// Elsewhere the process sees to it itself.
#[cfg(not(windows))]
fn apart(_: &mut Command) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_set_unless_it_says_no() {
        for (value, expected) in [("true", true), ("1", true), ("woodpecker", true), ("", false), ("false", false)] {
            assert_eq!(is_set(Some(OsStr::new(value))), expected, "{value}");
        }
        assert!(!is_set(None));
    }
}
