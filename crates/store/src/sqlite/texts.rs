//! The content of texts, compressed: each is a Zstandard frame of its own, so that any can be read alone.
//!
//! Most texts are short, so a dictionary has what code and prose usually begin with. It is a part of the format.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, Row, ffi};
use zstd_safe::{CCtx, CDict, CParameter, DCtx, DDict};

use crate::record::{NewPassage, TextHash};

/// Trained on the passages of this repository by `zstd --train`, to a size beyond which little is gained.
const DICTIONARY: &[u8] = include_bytes!("texts.zdict");
/// The level of compression. At higher ones, compressing takes twice to three times as long for a few per cent less.
const LEVEL: i32 = 3;
/// The largest content of a text in bytes, the same as SQLite's.
const MOST_BYTES: u64 = 1_000_000_000;

static COMPRESSION: LazyLock<CDict<'static>> = LazyLock::new(|| CDict::create(DICTIONARY, LEVEL));
static DECOMPRESSION: LazyLock<DDict<'static>> = LazyLock::new(|| DDict::create(DICTIONARY));

thread_local! {
    static COMPRESSOR: RefCell<CCtx<'static>> = RefCell::new(compressor());
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

fn compressor() -> CCtx<'static> {
    let mut compressor = CCtx::create();
    // The schema says which dictionary it is.
    let set = compressor.ref_cdict(&COMPRESSION).and_then(|_| compressor.set_parameter(CParameter::DictIdFlag(false)));
    set.expect("a parameter that Zstandard has");
    compressor
}

/// Returns a text as it is stored: compressed, or plain if that is no longer.
pub(crate) fn stored(text: &str) -> ToSqlOutput<'_> {
    match compressed(text) {
        Some(bytes) => ToSqlOutput::Owned(Value::Blob(bytes)),
        None => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
    }
}

/// Compresses a text; `None` if that does not make it smaller.
fn compressed(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
    COMPRESSOR.with_borrow_mut(|compressor| compressor.compress2(&mut bytes, text.as_bytes())).ok()?;
    (bytes.len() < text.len()).then_some(bytes)
}

/// Decompresses a text; `None` if it is damaged.
fn decompressed(bytes: &[u8]) -> Option<String> {
    let length = zstd_safe::get_frame_content_size(bytes).ok()??;
    let mut text = Vec::with_capacity(usize::try_from(length).ok().filter(|_| length <= MOST_BYTES)?);
    DECOMPRESSOR
        .with_borrow_mut(|decompressor| decompressor.decompress_using_ddict(&mut text, bytes, &DECOMPRESSION))
        .ok()?;
    String::from_utf8(text).ok()
}

/// Returns the content of a text, plain or compressed; empty if it is null, as for texts that were only hashed.
pub(crate) fn content<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Cow<'r, str>> {
    plain(row.get_ref(column)?)
}

fn plain(stored: ValueRef<'_>) -> rusqlite::Result<Cow<'_, str>> {
    match stored {
        ValueRef::Null => Ok(Cow::Borrowed("")),
        ValueRef::Blob(bytes) => decompressed(bytes).map(Cow::Owned).ok_or_else(damaged),
        text => Ok(Cow::Borrowed(text.as_str()?)),
    }
}

/// Registers what reads stored texts: `plain`, as [`content`] does, and `own_text`, a passage's own text.
pub(crate) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("plain", 1, flags, |context| Ok(plain(context.get_raw(0))?.into_owned()))?;
    connection.create_scalar_function("own_text", 3, flags, |context| {
        let embedded = plain(context.get_raw(0))?;
        Ok(own_text(&embedded, context.get(1)?, context.get_raw(2).as_str_or_null()?).to_owned())
    })
}

/// The error of a damaged text. With a message of its own it would lose its code.
fn damaged() -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), None)
}

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

impl<'p> Identity<'p> {
    /// That of a passage with the hash of its embedded text, in a document of a language.
    pub(crate) fn new(passage: &'p NewPassage, of_document: Option<&'p str>, text: TextHash) -> Identity<'p> {
        Identity {
            language: passage.language.as_deref().or(of_document),
            kind: &passage.kind,
            symbol: passage.symbol.as_deref(),
            signature: passage.signature.as_deref(),
            heading: passage.heading.as_deref(),
            text,
        }
    }
}

/// Assigns identifiers to the passages of one document, in document order.
///
/// Public identifiers, computed from a passage's content and position, so that indexing again gives the same ones.
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

/// Returns a passage's own text: the last bytes of the embedded text, or the text stored beside it.
pub(crate) fn own_text<'t>(embedded: &'t str, bytes: Option<i64>, own: Option<&'t str>) -> &'t str {
    match bytes {
        Some(bytes) => {
            let start = embedded.len().saturating_sub(bytes as usize);
            embedded.get(start..).unwrap_or(embedded)
        }
        None => own.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text as it is stored. A later library has to read it.
    const STORED: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x72, 0xd5, 0x01, 0x00, 0x03, 0xc2, 0x05, 0x79, 0xc4, 0x96, 0x46, 0x9d, 0xb9,
        0x86, 0x77, 0x12, 0xb4, 0x35, 0x9b, 0xf2, 0x88, 0xed, 0xad, 0x33, 0x9b, 0x72, 0x0d, 0x6b, 0xeb, 0x8d, 0x0a,
        0xfc, 0x8b, 0xb3, 0x81, 0x97, 0xe7, 0xb7, 0xad, 0x2e, 0x08, 0x58, 0x8b, 0xb4, 0x83, 0xb5, 0x29, 0x44, 0x4a,
        0x30, 0x0f, 0x76, 0xda, 0x94, 0xe4, 0x2f, 0xa7, 0xed, 0x90, 0x38, 0x21, 0x04,
    ];
    const TEXT: &str = "impl Mill\n/// Grinds the grain, and returns the flour.\npub fn grind(&self, grain: Grain) -> Result<Flour, Error> {";

    #[test]
    fn a_stored_text_is_read() {
        assert_eq!(decompressed(STORED).as_deref(), Some(TEXT));
    }

    #[test]
    fn damaged_texts_are_errors() {
        let bytes = compressed(TEXT).unwrap();
        for length in 0..bytes.len() {
            assert_eq!(decompressed(&bytes[..length]), None, "{length}");
        }
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let read = |bytes: &[u8]| connection.query_row("SELECT plain(?1)", [bytes], |row| row.get::<_, String>(0));
        assert_eq!(read(&bytes).unwrap(), TEXT);
        let error = read(b"(\xb5/\xfd").unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseCorrupt), "{error}");
    }

    proptest! {
        #[test]
        fn texts_come_back(text in ".{0,400}", times in 1usize..20) {
            let text = text.repeat(times);
            if let Some(bytes) = compressed(&text) {
                prop_assert!(bytes.len() < text.len());
                prop_assert_eq!(decompressed(&bytes), Some(text));
            }
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd];
            frame.extend(bytes);
            let _ = decompressed(&frame);
        }
    }
}
