//! The end of a command: its exit status, and the message for an error.

use crate::interrupt::EXIT_STATUS;
use crate::output::Output;
use std::io;
use tamis::Error;

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
    let remedy = remedy(error).map(|remedy| format!(" ({remedy})")).unwrap_or_default();
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

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let of_json = |error: &serde_json::Error| error.io_error_kind() == Some(io::ErrorKind::BrokenPipe);
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        || error.downcast_ref().is_some_and(of_json)
}

/// Returns the flag or command to type, for an error with such a remedy.
pub fn remedy(error: &anyhow::Error) -> Option<&'static str> {
    Some(match error.chain().find_map(|cause| cause.downcast_ref::<Error>())? {
        Error::IndexDirectory { .. } => "--index DIR or TAMIS_INDEX",
        Error::Unreadable { .. } => "--skip-bad",
        Error::Argument { name: "namespace", .. } => "--namespace NAME",
        Error::Argument { name: "origin", .. } => "--origin NAME or --namespace NAME",
        Error::Argument { name: "query id", .. } => "`tamis feedback --list` shows them",
        Error::Guarantee { .. } => "`tamis feedback`, or `tamis feedback --import` for judged queries",
        Error::LargeTree { .. } => {
            "`tamis index --dry-run` says what would be read, and `tamis index --any-size` reads it"
        }
        Error::NotEmbedded { .. } => "`tamis index --wait` waits for it",
        _ => return None,
    })
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

    #[test]
    fn an_error_of_the_library_is_found_under_what_the_command_says() {
        let error = Error::IndexDirectory { path: "a".into(), reason: "not writable".into() };
        assert_eq!(remedy(&anyhow::Error::from(error).context("indexing")), Some("--index DIR or TAMIS_INDEX"));
        assert_eq!(remedy(&anyhow::anyhow!("other")), None);
    }
}
