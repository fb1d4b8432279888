//! Public identifiers, computed from a passage's content and position, so that indexing again gives the same ones.

use std::collections::HashMap;

use crate::record::TextHash;

/// Fewest hexadecimal digits of a public identifier.
const DIGITS: usize = 12;

/// The properties that distinguish a passage from the others of its document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity<'p> {
    /// Its own language, else the document's.
    pub(crate) language: Option<&'p str>,
    pub(crate) kind: &'p str,
    pub(crate) symbol: Option<&'p str>,
    pub(crate) signature: Option<&'p str>,
    pub(crate) heading: Option<&'p str>,
    pub(crate) text: TextHash,
}

/// Assigns identifiers to the passages of one document, in document order.
pub(crate) struct PublicIds<'d> {
    namespace: &'d str,
    path: &'d str,
    seen: HashMap<[u8; 32], u32>,
}

impl<'d> PublicIds<'d> {
    pub(crate) fn new(namespace: &'d str, path: &'d str) -> PublicIds<'d> {
        PublicIds { namespace, path, seen: HashMap::new() }
    }

    /// Returns the full identifier, in hexadecimal. A passage with a symbol or heading keeps it while its text changes; any
    /// other keeps it wherever in the document its text moves. Equal passages are numbered.
    pub(crate) fn next(&mut self, passage: &Identity<'_>) -> String {
        let Identity { language, kind, symbol, signature, heading, text } = *passage;
        let text = text.to_string();
        let mut hasher = blake3::Hasher::new();
        let mut update = |parts: &[&str]| {
            for part in parts {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        };
        match (symbol, heading) {
            (Some(symbol), _) => {
                let (language, signature) = (language.unwrap_or_default(), signature.unwrap_or_default());
                update(&[self.namespace, language, self.path, kind, "symbol", symbol, signature]);
            }
            (None, Some(heading)) => update(&[self.namespace, self.path, kind, "heading", heading]),
            (None, None) => update(&[self.namespace, self.path, kind, "text", &text]),
        }
        let count = self.seen.entry(*hasher.finalize().as_bytes()).or_default();
        hasher.update(&count.to_le_bytes());
        *count += 1;
        hasher.finalize().to_hex().to_string()
    }
}

/// Prefixes of the full identifier to try, shortest first. A longer one is needed when another passage has the shorter.
pub(crate) fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    (DIGITS..=name.len()).step_by(4).filter_map(|digits| name.get(..digits))
}
