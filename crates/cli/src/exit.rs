//! What the command tells its caller.

use crate::output::Output;
use std::io::{self, Write};
use std::process::ExitCode;
use tamis::text::safe::{for_terminal, is_hidden};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; for a search, something was found.
    Found,
    /// Nothing was found, or problems are left.
    Nothing,
    /// The command failed.
    Error,
    /// Stopped by Ctrl-C.
    Interrupted,
}

impl Exit {
    /// The status that a shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Found => 0,
            Exit::Nothing => 1,
            Exit::Error => 2,
            Exit::Interrupted => 130,
        }
    }

    /// Found when `found`, nothing otherwise.
    pub fn found(found: bool) -> Self {
        if found { Exit::Found } else { Exit::Nothing }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Says why a command failed. Nobody reading on (`tamis search x | head -1`) is no failure.
pub fn failed(error: &anyhow::Error, output: &Output) -> Exit {
    if error.chain().any(is_broken_pipe) {
        return Exit::Found;
    }
    let remedy = crate::remedy::of(error).map(|remedy| format!(" ({remedy})"));
    output.error(&format!("{}{}", told(error), remedy.unwrap_or_default()));
    Exit::Error
}

/// An error with its causes, each said once: most errors say their cause themselves, and some the place that another one
/// names before them.
pub fn told(error: &anyhow::Error) -> String {
    let mut told: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.iter().any(|before| before.contains(&cause)) {
            continue;
        }
        told.retain(|before| !cause.contains(before.as_str()));
        told.push(cause);
    }
    told.join(": ")
}

/// Says what is wrong with a command line, or prints the help that was asked for.
pub fn usage(error: &clap::Error) -> ExitCode {
    let quotes_hidden = std::env::args_os().any(|argument| argument.to_string_lossy().chars().any(is_hidden));
    if quotes_hidden && error.use_stderr() {
        // Its styles cannot be told from those that an argument brings along.
        let _ = write!(io::stderr(), "{}", for_terminal(&error.render().to_string()));
    } else {
        // There is nowhere left to say that the stream is closed.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Error.code()))
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let of_json = |error: &serde_json::Error| error.io_error_kind() == Some(io::ErrorKind::BrokenPipe);
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        || error.downcast_ref().is_some_and(of_json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let gone = || io::Error::new(io::ErrorKind::NotFound, "gone");
        let contains = tamis::store::StoreError::Io { path: "a/b".into(), action: "reading", source: gone() };
        assert_eq!(told(&anyhow::Error::from(contains)), "a/b: reading: gone");
        assert_eq!(told(&anyhow::Error::from(gone()).context("a/b")), "a/b: gone", "one that does not say it");
        let named = anyhow::anyhow!("a/b: gone").context("a/b");
        assert_eq!(told(&named), "a/b: gone", "the path is in both");
        assert_eq!(told(&anyhow::anyhow!("gone")), "gone");
    }

    #[test]
    fn a_broken_pipe_is_found_wherever_it_hides() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(anyhow::Error::from(pipe()).context("printing").chain().any(is_broken_pipe));
        assert!(anyhow::Error::from(serde_json::Error::io(pipe())).chain().any(is_broken_pipe));
        assert!(!anyhow::anyhow!("other").chain().any(is_broken_pipe));
    }
}
