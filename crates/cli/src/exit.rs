//! What the command tells its caller.

use crate::output::Output;
use std::io;
use std::process::ExitCode;

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
    output.error(&format!("{error:#}"));
    Exit::Error
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
    fn a_broken_pipe_is_found_wherever_it_hides() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(anyhow::Error::from(pipe()).context("printing").chain().any(is_broken_pipe));
        assert!(anyhow::Error::from(serde_json::Error::io(pipe())).chain().any(is_broken_pipe));
        assert!(!anyhow::anyhow!("other").chain().any(is_broken_pipe));
    }
}
