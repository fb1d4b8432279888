//! Public identifiers: made of what a passage is and where, so that indexing again gives the same ones.

use std::collections::HashMap;

use crate::record::TextHash;

/// Fewest hexadecimal digits of a public identifier.
const DIGITS: usize = 12;

/// Names the passages of one document in their order.
pub(super) struct PublicIds<'d> {
    namespace: &'d str,
    path: &'d str,
    seen: HashMap<[u8; 32], u32>,
}

impl<'d> PublicIds<'d> {
    pub(super) fn new(namespace: &'d str, path: &'d str) -> PublicIds<'d> {
        PublicIds { namespace, path, seen: HashMap::new() }
    }

    /// The full name, in hexadecimal. What carries a name of its own keeps its identifier while its text changes; what
    /// does not keeps it wherever in the document the text goes. Equal ones are counted.
    pub(super) fn next(&mut self, kind: &str, symbol: Option<&str>, heading: Option<&str>, text: TextHash) -> String {
        let text = text.to_string();
        let (tag, own) = match (symbol, heading) {
            (Some(symbol), _) => ("symbol", symbol),
            (None, Some(heading)) => ("heading", heading),
            (None, None) => ("text", text.as_str()),
        };
        let mut hasher = blake3::Hasher::new();
        for part in [self.namespace, self.path, kind, tag, own] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let count = self.seen.entry(*hasher.finalize().as_bytes()).or_default();
        hasher.update(&count.to_le_bytes());
        *count += 1;
        hasher.finalize().to_hex().to_string()
    }
}

/// The identifiers to try for a name, shortest first: the next one is needed when another passage has the one before.
pub(super) fn spellings(name: &str) -> impl Iterator<Item = &str> {
    (DIGITS..=name.len()).step_by(4).filter_map(|digits| name.get(..digits))
}
