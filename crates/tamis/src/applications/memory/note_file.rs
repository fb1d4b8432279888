//! Resolves the file a note is written to: a Markdown file of the collection of notes, inside its source.

use super::Notes;
use crate::Error;
use crate::config::FileCollection;
use crate::file::LONGEST_TEXT;
use crate::file::foreign::read_in;
use crate::handle::Source;
use crate::index::Collections;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use tamis_text::Language;

/// A note file, which may not exist yet.
#[derive(Clone, Debug)]
pub(super) struct NoteFile<'a> {
    pub source: &'a Source,
    /// Path under the source's root, with forward slashes.
    pub path: String,
    /// The absolute path.
    pub whole: PathBuf,
}

impl NoteFile<'_> {
    /// Reads its current text.
    ///
    /// # Errors
    /// The file cannot be read, or is no longer a regular file of the tree.
    pub fn read(&self) -> Result<String, Error> {
        let failed = |reason: String| Error::path(&self.whole, format!("cannot be read: {reason}"));
        let bytes = read_in(&self.source.root, Path::new(&self.path), LONGEST_TEXT)
            .map_err(|error| failed(error.to_string()))?;
        String::from_utf8(bytes).map_err(|_| failed("not UTF-8".to_owned()))
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        self.whole.parent().unwrap_or(&self.source.root)
    }
}

impl Notes<'_> {
    /// The source for notes: the one named, the one that holds the working directory, or the only one.
    ///
    /// # Errors
    /// An unknown source, several possible ones, or a missing directory.
    pub(super) fn note_source(&self, namespace: Option<&str>) -> Result<&Source, Error> {
        let sources = self.index.sources();
        let wanted = namespace.or(self.index.own_namespace());
        let named = wanted.and_then(|name| sources.iter().find(|source| source.namespace == name));
        let source = match (named, sources.as_slice()) {
            (Some(source), _) => source,
            (None, [only]) if namespace.is_none() => only,
            _ => {
                let names: Vec<&str> = sources.iter().map(|source| source.namespace.as_str()).collect();
                let value = namespace.map_or_else(|| "none".to_owned(), |name| format!("{name:?}"));
                let allowed = format!("one of {}: each keeps notes of its own", names.join(", "));
                return Err(Error::argument("namespace", value, allowed));
            }
        };
        if !source.root.is_dir() {
            return Err(Error::path(&source.root, "the directory is gone, and its notes with it"));
        }
        Ok(source)
    }

    /// The note file at `path` under the root of a source.
    ///
    /// # Errors
    /// A path that leaves the source or enters a hidden directory, is not Markdown, follows a symbolic link, or belongs
    /// to another collection.
    pub(super) fn note_place<'a>(&self, source: &'a Source, path: &str) -> Result<NoteFile<'a>, Error> {
        let path = confined(path)?;
        let whole = source.root.join(&path);
        if whole.starts_with(&self.index.location().directory) {
            return Err(refused(&path, "outside of the directory of the index"));
        }
        if Collections::new(source, self.index.config())?.of_file(&path) != Some(FileCollection::Notes) {
            let wanted = "a file of the collection notes; name it in index.notes to make it one, or index its directory with \
                          --collection notes";
            return Err(refused(&path, wanted));
        }
        follows_no_link(&source.root, &path)?;
        Ok(NoteFile { source, path, whole })
    }
}

/// Normalizes a path under a root to the form in the index.
fn confined(written: &str) -> Result<String, Error> {
    let outside = "a path under the root, such as memory/ideas.md: not absolute, and without ..";
    let mut parts: Vec<&str> = Vec::new();
    for part in Path::new(written).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str().unwrap_or_default()),
            _ => return Err(refused(written, outside)),
        }
    }
    let odd = |part: &&str| {
        part.contains(['\\', ':']) || part.chars().any(char::is_control) || (cfg!(windows) && is_device(part))
    };
    if parts.is_empty() || parts.iter().any(odd) {
        return Err(refused(written, outside));
    }
    if parts.iter().any(|part| part.starts_with('.')) {
        return Err(refused(written, "no hidden file, and in no hidden directory"));
    }
    let path = parts.join("/");
    let markdown = Language::of(&path, "").is_some_and(|language| language.name == "markdown");
    if !markdown || written.ends_with('/') {
        return Err(refused(written, "a Markdown file, such as memory/ideas.md"));
    }
    Ok(path)
}

/// True if Windows opens a device for this name, whatever the directory and extension, or drops the end of the name.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_uppercase();
    let numbered =
        |kind: &str| stem.strip_prefix(kind).is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']));
    ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str())
        || numbered("COM")
        || numbered("LPT")
        || part.ends_with(['.', ' '])
}

/// Rejects symbolic links: a link could lead out of the source, and its target is not indexed.
fn follows_no_link(root: &Path, path: &str) -> Result<(), Error> {
    let mut whole = root.to_owned();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        whole.push(part);
        let metadata = match fs::symlink_metadata(&whole) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::path(&whole, format!("cannot be read: {error}"))),
        };
        if metadata.is_symlink() {
            return Err(Error::path(&whole, "a symbolic link; notes are written to files in the tree itself"));
        }
        if metadata.is_dir() != parts.peek().is_some() {
            let what = if metadata.is_dir() { "a directory; name a file in it" } else { "not a directory" };
            return Err(Error::path(&whole, what));
        }
    }
    Ok(())
}

fn refused(path: &str, allowed: &str) -> Error {
    Error::argument("file", format!("{path:?}"), allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_under_the_root_and_in_sight() {
        for (written, path) in [("MEMORY.md", "MEMORY.md"), ("./memory//ideas.md", "memory/ideas.md")] {
            assert_eq!(confined(written).expect(written), path);
        }
        for (written, said) in [
            ("../x.md", "under the root"),
            ("memory/../../x.md", "under the root"),
            ("/etc/x.md", "under the root"),
            ("", "under the root"),
            (".", "under the root"),
            ("a\\..\\b.md", "under the root"),
            ("c:x.md", "under the root"),
            ("a\nb.md", "under the root"),
            (".git/x.md", "hidden"),
            ("memory/.x.md", "hidden"),
            ("memory", "Markdown"),
            ("memory/x.md/", "Markdown"),
            ("src/main.rs", "Markdown"),
        ] {
            let error = confined(written).expect_err(written).to_string();
            assert!(error.contains(said), "{written}: {error}");
        }

        for name in ["nul", "NUL.md", "con.ideas.md", "aux .md", "com1.md", "Lpt9", "ideas.md.", "ideas "] {
            assert!(is_device(name), "{name}");
        }
        for name in ["null.md", "console.md", "com0.md", "com10.md", "ideas.md", ".md"] {
            assert!(!is_device(name), "{name}");
        }
    }
}
