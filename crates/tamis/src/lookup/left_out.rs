//! Explains why a file of the tree is not in the index. Without the reason, a file left out on purpose looks absent.

use crate::Error;
use crate::access::readable;
use crate::collections::SKIPPED;
use crate::handle::{Index, Source};
use crate::index::DEADLY;
use std::fs;
use std::path::{Component, Path, PathBuf};
use tamis_store::DocumentState;

impl Index {
    /// Returns the reason why an existing file is not in the index, for a caller who may read only these namespaces (`None`:
    /// all). `None`: the file does not exist, or it is indexed. `path` lies under the root of `namespace`, or of any
    /// namespace.
    ///
    /// # Errors
    /// The store or an ignore file cannot be read.
    pub fn left_out(
        &self,
        namespace: Option<&str>,
        path: &str,
        allowed: Option<&[String]>,
    ) -> Result<Option<String>, Error> {
        let sources = self.sources().into_iter().filter(|source| readable(allowed, &source.namespace));
        let meant = sources.filter(|source| namespace.is_none_or(|namespace| source.namespace == namespace));
        for source in meant {
            if let Some(reason) = self.left_out_of(source, path)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    fn left_out_of(&self, source: &Source, path: &str) -> Result<Option<String>, Error> {
        let Some(path) = under(source, path) else { return Ok(None) };
        let known = self.path_in(&source.namespace, path.clone())?;
        if let Some(document) = known.map(|path| self.store.document(&source.namespace, &path)).transpose()?.flatten() {
            return Ok(reason_of(&document));
        }
        match file(&source.root, &path) {
            PathEntry::Nothing => return Ok(None),
            PathEntry::Link => return Ok(Some(reason(&path, "symlink"))),
            PathEntry::File => {}
        }
        let config = &self.config.index;
        let found = self.listed(source, &path)?;
        Ok(Some(match found.skipped.keys().next() {
            Some(skip) => reason(&path, skip),
            None if !found.files.is_empty() => "it came after the last run, and the next one adds it".to_owned(),
            None if !config.hidden && path.split('/').any(|part| part.starts_with('.')) => {
                "it is hidden, and index.hidden is false".to_owned()
            }
            None => "an ignore file or index.ignore leaves it out".to_owned(),
        }))
    }
}

/// Returns the reason why a document has no text; `None` if it has some.
pub(crate) fn reason_of(document: &DocumentState) -> Option<String> {
    (document.collection == SKIPPED).then(|| reason(&document.path, &document.role))
}

/// Returns the reason to skip the file at a path, as a sentence.
pub(crate) fn reason(path: &str, skip: &str) -> String {
    let why = match skip {
        "symlink" => return "it is a symbolic link, and none is followed".to_owned(),
        "work_tree" => return "it is in a further work tree of the same repository".to_owned(),
        "name_not_utf8" => return "its name is not UTF-8".to_owned(),
        // An SVG is text that holds a picture.
        "binary" if path.to_lowercase().ends_with(".svg") => return "it is a picture".to_owned(),
        "binary" => return "it is binary".to_owned(),
        "empty" => return "it is empty".to_owned(),
        "encrypted" => return "it is encrypted; save a copy without a password".to_owned(),
        "no_text" => return "it has no text; a scan needs text recognition first".to_owned(),
        "lfs_pointer" => {
            return "Git LFS has not fetched it, and a pointer stands in its place; run `git lfs pull`".to_owned();
        }
        "damaged" => return "it is damaged, or not what its name says".to_owned(),
        "too_much_work" => return "finding its text took too long".to_owned(),
        DEADLY => {
            return "a run ended while it read it; the next one reads it when it has changed, or `tamis index --full` now".to_owned();
        }
        "too_large" if tamis_text::is_document(path) => {
            return "it is larger than index.max_document_bytes, or would unpack to too much".to_owned();
        }
        "too_large" => return "it is larger than index.max_file_bytes allows".to_owned(),
        "lock" => "it is a lock file, which a package manager writes",
        "minified" => "it is minified: most of its text is in very long lines",
        "generated" => "it is generated: its name or its first lines say so",
        "secret" => "it may hold a key, a password or a token",
        "data" => "it is a table or a dump too large for people to read",
        other => return format!("it is left out as {other}"),
    };
    format!("{why} (index.skip names \"{skip}\")")
}

/// Returns a user's path in the form that the index stores; `None` if it leads out of the tree.
fn under(source: &Source, path: &str) -> Option<String> {
    let path = Path::new(path);
    let path = if path.is_absolute() { path.strip_prefix(&source.root).ok()? } else { path };
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_string_lossy()),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The kind of entry at a path.
enum PathEntry {
    Nothing,
    File,
    /// A symbolic link, at the path or on the way to it. Its target is not read.
    Link,
}

fn file(root: &Path, path: &str) -> PathEntry {
    let mut whole = PathBuf::from(root);
    let mut is_file = false;
    for part in path.split('/') {
        whole.push(part);
        match fs::symlink_metadata(&whole) {
            Ok(metadata) if metadata.is_symlink() => return PathEntry::Link,
            Ok(metadata) => is_file = metadata.is_file(),
            Err(_) => return PathEntry::Nothing,
        }
    }
    if is_file { PathEntry::File } else { PathEntry::Nothing }
}
