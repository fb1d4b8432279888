//! Loads the objects of a file within limits.
//!
//! Streams are unpacked up to a size. What remains is that an object can be far larger in memory than in the file (a list of
//! numbers takes two bytes each there), so the parts of objects are counted: before loading by what can separate them, and while
//! loading, where a file with too many loses the rest and is refused.

use std::cell::Cell;

use lopdf::{Dictionary, Document, LoadOptions, Object, Stream};

use crate::Skip;
use crate::lines::{contains, unescaped};

/// Most bytes that one stream of objects may unpack to.
const MAX_OBJECT_STREAM: usize = 2 << 20;

/// Most bytes that all streams of objects of a locked file may unpack to.
const MAX_LOCKED_OBJECTS: usize = 24 << 20;

/// Most parts of objects that the file may seem to have, and that are kept. Each takes two hundred bytes.
const MAX_PARTS: usize = 4_000_000;
const MAX_KEPT: usize = 1_500_000;

thread_local! {
    /// Parts that may still be kept by the file that this thread loads.
    static LEFT: Cell<usize> = const { Cell::new(0) };
}

pub fn load(bytes: &[u8]) -> Result<Document, Skip> {
    let head = &bytes[..bytes.len().min(2_048)];
    if !contains(head, b"%PDF-") {
        return Err(Skip::Damaged);
    }
    if parts(bytes) > MAX_PARTS {
        return Err(Skip::TooLarge);
    }
    // The library keeps all objects of a file that was locked with an empty password, so their streams share what may be kept.
    let streams = if names(bytes, b"Encrypt") { count(bytes, b"/ObjStm").max(1) } else { 1 };
    let most = (MAX_LOCKED_OBJECTS / streams).min(MAX_OBJECT_STREAM);
    LEFT.set(MAX_KEPT);
    let options = LoadOptions { filter: Some(keep), max_decompressed_size: Some(most), ..LoadOptions::default() };
    let loaded = Document::load_mem_with_options(bytes, options);
    let full = LEFT.take() == 0;
    match loaded {
        _ if full => Err(Skip::TooLarge),
        Ok(document) if !document.was_encrypted() && File(&document).get(&document.trailer, b"Encrypt").is_some() => {
            Err(Skip::Encrypted)
        }
        Ok(mut document) => {
            fill(&mut document, bytes);
            Ok(document)
        }
        Err(lopdf::Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. })) => Err(Skip::TooLarge),
        Err(
            lopdf::Error::InvalidPassword | lopdf::Error::Decryption(_) | lopdf::Error::UnsupportedSecurityHandler(_),
        ) => Err(Skip::Encrypted),
        Err(_) => Err(Skip::Damaged),
    }
}

/// Gives streams that do not say their length what stands before the word that ends them.
fn fill(document: &mut Document, bytes: &[u8]) {
    const END: &[u8] = b"endstream";
    let mut left = bytes.len();
    for object in document.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        let Some(start) = stream.start_position.filter(|_| stream.content.is_empty()) else { continue };
        let rest = bytes.get(start..).unwrap_or_default();
        let rest = &rest[..rest.len().min(left)];
        left -= rest.len();
        if let Some(length) = rest.windows(END.len()).position(|window| window == END) {
            left += rest.len() - length;
            stream.content = rest[..length].trim_ascii_end().to_vec();
        }
    }
}

/// The objects of a file, whatever refers to them.
#[derive(Clone, Copy)]
pub struct File<'a>(pub &'a Document);

impl<'a> File<'a> {
    /// What an object stands for, if it refers to another.
    pub fn resolved(self, object: &'a Object) -> Option<&'a Object> {
        self.0.dereference(object).ok().map(|(_, object)| object)
    }

    /// The value of a key, in the dictionary or elsewhere.
    pub fn get(self, dictionary: &'a Dictionary, key: &[u8]) -> Option<&'a Object> {
        self.resolved(dictionary.get(key).ok()?).filter(|value| !value.is_null())
    }

    /// The value of a key that is a dictionary.
    pub fn get_dictionary(self, dictionary: &'a Dictionary, key: &[u8]) -> Option<&'a Dictionary> {
        self.get(dictionary, key)?.as_dict().ok()
    }

    /// The value of a key that is a name.
    pub fn get_name(self, dictionary: &'a Dictionary, key: &[u8]) -> Option<&'a [u8]> {
        self.get(dictionary, key)?.as_name().ok()
    }

    /// A dictionary, or that of a stream.
    pub fn dictionary(self, object: &'a Object) -> Option<&'a Dictionary> {
        match self.resolved(object)? {
            Object::Dictionary(dictionary) => Some(dictionary),
            Object::Stream(stream) => Some(&stream.dict),
            _ => None,
        }
    }

    pub fn number(self, object: &'a Object) -> Option<f64> {
        let number = self.resolved(object)?.as_float().ok()?;
        Some(f64::from(number)).filter(|number| number.is_finite())
    }

    /// The unpacked content of a stream, whose filters may be described elsewhere.
    ///
    /// # Errors
    /// [`Skip::TooLarge`] beyond `most` bytes, [`Skip::Damaged`] if its filters are not known.
    pub fn content(self, stream: &'a Stream, most: usize) -> Result<Vec<u8>, Skip> {
        let refused = |error| match error {
            lopdf::Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. }) => Skip::TooLarge,
            _ => Skip::Damaged,
        };
        let refers = |object: &Object| match object {
            Object::Array(parts) => parts.iter().any(|part| matches!(part, Object::Reference(_))),
            object => matches!(object, Object::Reference(_)),
        };
        let filters = [&b"Filter"[..], b"DecodeParms"];
        if !filters.iter().any(|key| stream.dict.get(key).is_ok_and(refers)) {
            return stream.get_plain_content_with_limit(most).map_err(refused);
        }
        let mut own = stream.clone();
        for key in filters {
            let value = match self.get(&stream.dict, key) {
                Some(Object::Array(parts)) => Object::Array(
                    parts.iter().map(|part| self.resolved(part).cloned().unwrap_or(Object::Null)).collect(),
                ),
                Some(value) => value.clone(),
                None => continue,
            };
            own.dict.set(key, value);
        }
        own.get_plain_content_with_limit(most).map_err(refused)
    }
}

/// Keeps an object while there is room. The library takes what is returned for an object out of a stream of objects, and the
/// object itself otherwise; a stream is never in another.
fn keep(id: (u32, u16), object: &mut Object) -> Option<((u32, u16), Object)> {
    let left = LEFT.get().saturating_sub(weight(object));
    LEFT.set(left);
    let kept = if matches!(object, Object::Stream(_)) { Object::Null } else { object.clone() };
    (left > 0).then_some((id, kept))
}

/// The number of parts of an object.
fn weight(object: &Object) -> usize {
    let mut weight = 0;
    let mut rest = vec![object];
    while let Some(object) = rest.pop() {
        weight += 1;
        match object {
            Object::Array(parts) => rest.extend(parts),
            Object::Dictionary(parts) => rest.extend(parts.iter().map(|(_, part)| part)),
            Object::Stream(stream) => rest.extend(stream.dict.iter().map(|(_, part)| part)),
            _ => {}
        }
    }
    weight
}

/// An upper bound for the parts of objects that stand in the file itself.
fn parts(bytes: &[u8]) -> usize {
    let mut parts = 0;
    let mut within = false;
    for byte in bytes {
        let separates = matches!(byte, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ');
        let begins = matches!(byte, b'(' | b'<' | b'[' | b'{' | b'/' | b'%');
        parts += usize::from(begins || (!separates && !within));
        within = !separates && !matches!(byte, b'[' | b'{');
    }
    parts
}

/// Returns `true` if the file has this name anywhere, also with characters written as numbers.
fn names(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').any(|(start, _)| {
        // Each character can take three bytes, and one more tells the end: `/EncryptMetadata` is another name.
        let name = &bytes[start + 1..];
        let name = unescaped(&name[..name.len().min(3 * wanted.len() + 1)], b'#');
        name.strip_prefix(wanted).is_some_and(|rest| rest.first().is_none_or(|next| !next.is_ascii_alphanumeric()))
    })
}

fn count(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).filter(|window| *window == wanted).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_every_spelling() {
        assert!(names(b"<< /Encrypt 5 0 R >>", b"Encrypt") && names(b"<</#45ncryp#74<<", b"Encrypt"));
        assert!(!names(b"/EncryptMetadata true /Encryp", b"Encrypt"));
    }

    #[test]
    fn parts_count_what_could_be_an_object() {
        assert_eq!([parts(b"[1 2 3]"), parts(b"<</A/B>>"), parts(b"")], [4, 4, 0]);
    }
}
