//! Compares the tree with the index to find the files to read, move, touch or remove.

use super::walk::{Found, FoundFile};
use crate::collections::SKIPPED;
use std::collections::HashMap;
use std::path::Path;
use tamis_store::{DocumentId, DocumentState};

/// The difference between a tree and its index.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Files that are new or whose size, time or stamp differ, with the document they replace.
    pub read: Vec<(FoundFile, Option<DocumentState>)>,
    /// Documents whose file is gone.
    pub delete: Vec<DocumentState>,
    /// The number of files that need nothing.
    pub unchanged: u64,
    /// Those of them that are left out for their content, with the kind.
    pub left_out: Vec<(String, String)>,
    /// Those of them whose text could not be read.
    pub unread: Vec<DocumentState>,
}

impl Plan {
    /// Returns the number of files that differ from the index.
    pub fn stale(&self) -> u64 {
        (self.read.len() + self.delete.len()) as u64
    }
}

/// Compares the files found with the stored documents. `reread` reads every file, whatever its size and time.
pub(super) fn plan(root: &Path, found: &Found, mut documents: Vec<DocumentState>, reread: bool) -> Plan {
    // Both are in the order of their paths, so this takes one pass over each.
    documents.sort_by(|a, b| a.path.cmp(&b.path));
    let mut known = documents.into_iter().peekable();
    let mut gone = Vec::new();
    let mut plan = Plan::default();
    for file in &found.files {
        while let Some(document) = known.next_if(|document| document.path < file.path) {
            gone.push(document);
        }
        match known.next_if(|document| document.path == file.path) {
            Some(document) if !reread && is_same(&document, file) => {
                plan.unchanged += 1;
                if is_left_out(&document.path, &document.collection) {
                    plan.left_out.push((document.path, document.role));
                } else if document.collection == SKIPPED {
                    plan.unread.push(document);
                }
            }
            document => plan.read.push((file.clone(), document)),
        }
    }
    // Files in a directory that could not be listed are unknown, not gone.
    let unknown: Vec<String> = found
        .unreadable
        .iter()
        .map(|(path, _)| path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/"))
        .collect();
    let is_unknown = |path: &str| {
        unknown.iter().any(|under| {
            under.is_empty()
                || path == under
                || path.strip_prefix(under.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    plan.delete = gone.into_iter().chain(known).filter(|document| !is_unknown(&document.path)).collect();
    plan.delete.sort_by_key(|document| document.document);
    plan
}

fn is_same(document: &DocumentState, file: &FoundFile) -> bool {
    (document.size, document.modified_ns, document.stamp) == (file.size, file.modified_ns, file.stamp)
}

/// Returns `true` for a document that stands for a file left out for its content; documents without readable text are named by
/// themselves.
pub(super) fn is_left_out(path: &str, collection: &str) -> bool {
    collection == SKIPPED && !tamis_text::is_document(path)
}

/// Returns the documents to delete by the hash of their content. A new file with the same content is one of them, moved.
pub(super) fn movable(delete: &[DocumentState]) -> HashMap<[u8; 32], Vec<&DocumentState>> {
    let mut by_hash: HashMap<[u8; 32], Vec<&DocumentState>> = HashMap::new();
    for document in delete {
        by_hash.entry(document.content_hash).or_default().push(document);
    }
    by_hash
}

/// Returns the documents left to delete after `moved` ones have found their new place.
pub(super) fn remaining(delete: &[DocumentState], moved: &[DocumentId]) -> Vec<DocumentId> {
    delete.iter().map(|document| document.document).filter(|document| !moved.contains(document)).collect()
}
