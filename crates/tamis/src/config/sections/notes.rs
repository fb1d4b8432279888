//! The directory of notes, and the globs of files that are notes or wiki pages.

use ignore::gitignore::GitignoreBuilder;

use crate::config::declare::{Entry, section, text};
use crate::config::error::ConfigError;

section! {
    /// The directory of new notes.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct NoteConfig {
        /// Directory of dated notes, relative to the root, with forward slashes; `.`: the root itself.
        pub directory: String = "memory.directory", text("memory").check(directory);
    }
}

/// Refuses a list with an invalid glob.
pub(crate) fn globs(entry: &Entry<'_>, globs: Vec<String>) -> Result<Vec<String>, ConfigError> {
    let mut builder = GitignoreBuilder::new("");
    for glob in &globs {
        if let Err(error) = builder.add_line(None, glob) {
            return Err(entry.refuse(&**glob, format!("globs as in .gitignore ({error})")));
        }
    }
    Ok(globs)
}

/// Returns the directory of notes, empty for the root itself. Refuses one that is hidden or outside the root.
fn directory(entry: &Entry<'_>, written: String) -> Result<String, ConfigError> {
    let directory = written.strip_suffix('/').unwrap_or(&written);
    let odd = |part: &str| {
        part.is_empty() || part.starts_with('.') || part.contains(['\\', ':']) || part.chars().any(char::is_control)
    };
    match directory {
        "." => Ok(String::new()),
        directory if directory.split('/').any(odd) => Err(entry.refuse(
            &*written,
            "a directory under the root, such as memory or notes/daily, none of it hidden; . for the root itself",
        )),
        directory => Ok(directory.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::tests::flags;

    #[test]
    fn the_directory_of_notes_stays_under_the_root() {
        for (written, meant) in [("memory", "memory"), ("notes/daily/", "notes/daily"), (".", ""), ("./", "")] {
            assert_eq!(flags(&[("memory.directory", written)]).expect(written).notes.directory, meant);
        }
        for wrong in ["", "/", "/etc", "..", "a/../b", "a/..", ".git", "a/.hidden", "a//b", "c:\\x", "a\nb"] {
            let error = flags(&[("memory.directory", wrong)]).expect_err(wrong);
            assert!(error.contains("memory.directory") && error.contains("under the root"), "{error}");
        }
    }
}
