//! Rows added since the snapshot, in memory, in int8 only.

use std::collections::HashMap;

use super::format::Owner;
use super::quantize::Int8Code;

#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    rows: HashMap<u64, u32>,
    passages: Vec<u64>,
    documents: Vec<u32>,
    namespaces: Vec<u32>,
    codes: Vec<i8>,
    scales: Vec<f32>,
}

impl Tail {
    /// Adds a row, or replaces the passage's. All codes have the same length.
    pub(super) fn put(&mut self, passage: u64, owner: Owner, code: &Int8Code) {
        let padded = code.codes.len();
        if let Some(row) = self.rows.get(&passage) {
            let row = *row as usize;
            self.documents[row] = owner.document;
            self.namespaces[row] = owner.namespace;
            self.scales[row] = code.scale;
            self.codes[row * padded..(row + 1) * padded].copy_from_slice(&code.codes);
            return;
        }
        self.rows.insert(passage, self.passages.len() as u32);
        self.passages.push(passage);
        self.documents.push(owner.document);
        self.namespaces.push(owner.namespace);
        self.scales.push(code.scale);
        self.codes.extend_from_slice(&code.codes);
    }

    /// Removes a passage and moves the last row to its position. Returns false when the passage is missing.
    pub(super) fn remove(&mut self, passage: u64, padded: usize) -> bool {
        let Some(row) = self.rows.remove(&passage) else { return false };
        let row = row as usize;
        let last = self.passages.len() - 1;
        self.passages.swap_remove(row);
        self.documents.swap_remove(row);
        self.namespaces.swap_remove(row);
        self.scales.swap_remove(row);
        self.codes.copy_within(last * padded.., row * padded);
        self.codes.truncate(last * padded);
        if let Some(moved) = self.passages.get(row) {
            self.rows.insert(*moved, row as u32);
        }
        true
    }

    pub(super) fn contains(&self, passage: u64) -> bool {
        self.rows.contains_key(&passage)
    }

    pub(super) fn len(&self) -> usize {
        self.passages.len()
    }

    pub(super) fn passages(&self) -> &[u64] {
        &self.passages
    }

    pub(super) fn documents(&self) -> &[u32] {
        &self.documents
    }

    pub(super) fn owner(&self, row: usize) -> Owner {
        Owner { document: self.documents[row], namespace: self.namespaces[row] }
    }

    pub(super) fn codes(&self) -> &[i8] {
        &self.codes
    }

    pub(super) fn scales(&self) -> &[f32] {
        &self.scales
    }
}
