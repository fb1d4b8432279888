//! The end of a command: its exit status, and the message for an error.

use crate::args::{description, suggestion};
use crate::interrupt::EXIT_STATUS;
use crate::output::{Output, show_help};
use crate::typed;
use std::io::{self, Write};
use tamis_text::safe::{for_terminal, is_hidden};

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; a search found something.
    Found,
    /// A search found nothing, or problems are left.
    Nothing,
    /// The command failed.
    Error,
    /// Stopped by Ctrl-C.
    Interrupted,
}

impl Exit {
    /// The status for the shell.
    pub fn code(self) -> u8 {
        match self {
            Exit::Found => 0,
            Exit::Nothing => 1,
            Exit::Error => 2,
            Exit::Interrupted => EXIT_STATUS,
        }
    }

    /// Found when `found`, nothing otherwise.
    pub fn found(found: bool) -> Self {
        if found { Exit::Found } else { Exit::Nothing }
    }
}

/// Prints why a command failed. A reader who stops early (`tamis search x | head -1`) is not a failure.
pub fn failed(error: &anyhow::Error, output: &Output) -> Exit {
    if error.chain().any(is_broken_pipe) {
        return Exit::Found;
    }
    let remedy = crate::remedy::of(error).map(|remedy| format!(" ({remedy})")).unwrap_or_default();
    output.error(&format!("{}{remedy}", described(error)));
    Exit::Error
}

/// An error with its causes, without repetition: most errors include their cause, and some repeat the place that another
/// one names.
pub fn described(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if parts.iter().any(|before| before.contains(&cause)) {
            continue;
        }
        parts.retain(|before| !cause.contains(before.as_str()));
        parts.push(cause);
    }
    parts.join(": ")
}

/// Prints the help that was asked for, or the error in the command line.
pub fn usage(error: &clap::Error) -> u8 {
    let typed: Vec<String> = typed::words().iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if !error.use_stderr() {
        let pages = !typed.iter().any(|argument| argument == "--no-pager");
        // A closed standard output leaves nowhere to say so.
        let _ = show_help(&error.render().ansi().to_string(), pages);
        return Exit::Found.code();
    }
    if let Some(message) = suggestion(error, &description(), &typed) {
        Output::plain_error(&message);
        return Exit::Error.code();
    }
    let quotes_hidden = typed::words().iter().any(|argument| argument.to_string_lossy().chars().any(is_hidden));
    if quotes_hidden {
        // The styles of the message cannot be separated from those that an argument brings along.
        let _ = write!(io::stderr(), "{}", for_terminal(&error.render().to_string()));
    } else {
        // A closed standard error leaves nowhere to say so.
        let _ = error.print();
    }
    u8::try_from(error.exit_code()).unwrap_or(Exit::Error.code())
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
    fn a_cause_is_given_once() {
        let gone = || io::Error::new(io::ErrorKind::NotFound, "gone");
        let contains = tamis_store::StoreError::Io { path: "a/b".into(), action: "reading", source: gone() };
        assert_eq!(described(&anyhow::Error::from(contains)), "a/b: reading: gone");
        assert_eq!(described(&anyhow::Error::from(gone()).context("a/b")), "a/b: gone", "one that does not say it");
        let named = anyhow::anyhow!("a/b: gone").context("a/b");
        assert_eq!(described(&named), "a/b: gone", "the path is in both");
        assert_eq!(described(&anyhow::anyhow!("gone")), "gone");
    }

    #[test]
    fn a_broken_pipe_is_found_wherever_it_hides() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(anyhow::Error::from(pipe()).context("printing").chain().any(is_broken_pipe));
        assert!(anyhow::Error::from(serde_json::Error::io(pipe())).chain().any(is_broken_pipe));
        assert!(!anyhow::anyhow!("other").chain().any(is_broken_pipe));
    }
}
