//! The file that notes the server between commands.

use super::directory;
use super::server::Server;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// A note of the server, which may have stopped since.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub struct State {
    /// The server.
    pub server: Server,
    /// Keeps it until `down`.
    pub keeps: bool,
}

impl State {
    /// Reads the note, if there is one. An unreadable note counts as none.
    ///
    /// # Errors
    /// The file exists and cannot be opened.
    pub fn read() -> Result<Option<State>> {
        let path = path()?;
        match fs::read_to_string(&path) {
            Ok(text) => Ok(parse(&text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// Writes the note.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self) -> Result<()> {
        let path = path()?;
        fs::write(&path, serde_json::to_string(self)?).with_context(|| path.display().to_string())
    }

    /// Removes the note.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget() -> Result<()> {
        let path = path()?;
        fs::remove_file(&path).with_context(|| path.display().to_string())
    }
}

fn path() -> Result<PathBuf> {
    Ok(directory()?.join("state.json"))
}

/// Parses the note. It names a directory that will be removed, so the name must be one that a server can have.
fn parse(text: &str) -> Option<State> {
    serde_json::from_str(text).ok().filter(|state: &State| state.server.has_own_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let text = r#"{"server":{"directory":"/tmp/tamis-postgres-x1","port":5433},"keeps":true}"#;
        let state = parse(text).expect("a state");
        assert_eq!(state.server.url(), "postgres://tamis@127.0.0.1:5433/tamis");
        assert_eq!(serde_json::to_string(&state).expect("JSON"), text);
    }

    #[test]
    fn a_damaged_note_and_one_of_another_directory_count_as_none() {
        for directory in
            ["/", "/home", "", "tamis-postgres-x", "/tmp/tamis-postgres-x/..", "/tmp/tamis-postgres-x/data"]
        {
            let text = format!(r#"{{"server":{{"directory":"{directory}","port":5433}},"keeps":true}}"#);
            assert_eq!(parse(&text), None, "{directory}");
        }
        for text in ["", "{}", "{\"server\":", "postgres://tamis@127.0.0.1:5433/tamis"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
