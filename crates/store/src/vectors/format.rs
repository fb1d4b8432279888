//! The layout of a vector file: a header of 512 bytes, then sections that each begin at a multiple of 64 bytes.
//!
//! | section | content |
//! | --- | --- |
//! | int8 codes | one row a passage, the dimension padded to a multiple of 64 |
//! | int8 scales | f32 a row |
//! | passages | u64 a row, strictly ascending |
//! | documents | u32 a row |
//! | sign scales | f32 a row, rows padded to a multiple of 64 |
//! | sign codes | in groups of 64 rows: for each byte of the code, that byte of the 64 rows |
//! | namespaces | u32 a row |
//! | centres | f32: the mean of the rows of each namespace |
//! | centres' namespaces | u32 a centre, strictly ascending |
//! | groups' centres | u32 a group of 64 rows: the centre that all its rows share, or the largest number |
//!
//! All sizes follow from the dimension and the count, so a header cannot point outside its file. Numbers are in the byte order
//! of the writing machine. Another byte order reads as another version, and the file is rebuilt.

use std::ops::Range;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::VectorError;
use super::quantize::PADDING;

/// The largest dimension that an index can have.
pub const MAX_DIMENSION: usize = 65_536;
/// The largest length of a model's name, in bytes.
pub const MAX_MODEL_BYTES: usize = 256;

const MAGIC: [u8; 8] = *b"TAMISVEC";
pub(crate) const VERSION: u32 = 2;
pub(crate) const HEADER_BYTES: usize = 512;
const BYTE_ORDER: u32 = 0x0102_0304;
/// Rows of sign codes come in groups of this many.
pub(crate) const GROUP: usize = 64;
const ALIGNMENT: usize = 64;

/// The mark of a group whose rows have several centres.
pub(crate) const MIXED: u32 = u32::MAX;

/// The owner of a passage.
///
/// Each namespace is coded separately, so that a search of one does not depend on the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// The document.
    pub document: u32,
    /// The namespace of the document.
    pub namespace: u32,
}

impl From<u32> for Owner {
    /// Makes the owner of a document in the only namespace.
    fn from(document: u32) -> Owner {
        Owner { document, namespace: 0 }
    }
}

/// The identity of a vector file. A file of another identity is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The random number of the database with the passages.
    pub instance: [u8; 16],
    /// The model that made the vectors; at most [`MAX_MODEL_BYTES`] bytes.
    pub model: String,
    /// The model's dimension, 1 to [`MAX_DIMENSION`].
    pub dimension: usize,
}

impl Identity {
    pub(crate) fn check(&self) -> Result<(), VectorError> {
        check_dimension(self.dimension)?;
        if self.model.len() > MAX_MODEL_BYTES {
            return Err(VectorError::ModelName { model: self.model.clone() });
        }
        Ok(())
    }
}

pub(crate) fn check_dimension(dimension: usize) -> Result<(), VectorError> {
    if (1..=MAX_DIMENSION).contains(&dimension) {
        Ok(())
    } else {
        Err(VectorError::UnsupportedDimension { received: dimension })
    }
}

/// The file name for a model's vectors, such as `minilm.tvec`: safe on any file system, and different for different models.
///
/// ```
/// use tamis_store::vectors::file_name;
///
/// assert_eq!(file_name("minilm"), "minilm.tvec");
/// assert!(file_name("org/model:1").starts_with("org_model_1-"));
/// ```
#[must_use]
pub fn file_name(model: &str) -> String {
    const KEPT: usize = 80;
    let safe =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || "_-".contains(character);
    if !model.is_empty() && model.len() <= KEPT && model.chars().all(safe) {
        return format!("{model}.tvec");
    }
    // Case is folded, because some file systems ignore it; the hash distinguishes it.
    let readable: String = model
        .chars()
        .take(KEPT)
        .map(|character| character.to_ascii_lowercase())
        .map(|character| if safe(character) { character } else { '_' })
        .collect();
    let hash = blake3::hash(model.as_bytes()).to_hex();
    format!("{readable}-{}.tvec", &hash[..12])
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) identity: Identity,
    pub(crate) count: usize,
    /// The number of namespaces of the rows.
    pub(crate) centres: usize,
    pub(crate) seq: u64,
    /// Blake3 of all bytes after the header.
    pub(crate) body: [u8; 32],
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Stale(String),
    Corrupt(String),
}

/// The header as it is written.
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Fields {
    format: Format,
    instance: [u8; 16],
    dimension: u32,
    model_bytes: u32,
    count: u64,
    seq: u64,
    body: [u8; 32],
    centres: u32,
    model: [u8; MAX_MODEL_BYTES],
    unused: [u8; HEADER_BYTES - 380],
    checksum: [u8; 32],
}

/// What tells a file of this format and version from others.
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Format {
    magic: [u8; 8],
    byte_order: u32,
    version: u32,
}

impl Fields {
    /// The checksum of everything before it.
    fn sum(&self) -> [u8; 32] {
        let (content, _) = self.as_bytes().split_at(HEADER_BYTES - 32);
        *blake3::hash(content).as_bytes()
    }
}

impl Header {
    pub(crate) fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let Identity { instance, model: name, dimension } = &self.identity;
        let mut model = [0; MAX_MODEL_BYTES];
        model[..name.len()].copy_from_slice(name.as_bytes());
        let mut fields = Fields {
            format: Format { magic: MAGIC, byte_order: BYTE_ORDER, version: VERSION },
            instance: *instance,
            dimension: *dimension as u32,
            model_bytes: name.len() as u32,
            count: self.count as u64,
            seq: self.seq,
            body: self.body,
            centres: self.centres as u32,
            model,
            unused: [0; HEADER_BYTES - 380],
            checksum: [0; 32],
        };
        fields.checksum = fields.sum();
        zerocopy::transmute!(fields)
    }

    /// Reads the header at the start of a file and checks it against the file's length.
    pub(crate) fn parse(file: &[u8]) -> Result<(Self, Layout), Refusal> {
        let corrupt = |reason: &str| Refusal::Corrupt(reason.to_owned());
        let Ok((fields, _)) = Fields::read_from_prefix(file) else {
            return Err(corrupt("the file is shorter than its header"));
        };
        if fields.format.magic != MAGIC {
            return Err(corrupt("the file does not begin as a vector file does"));
        }
        if fields.format.byte_order != BYTE_ORDER {
            return Err(Refusal::Stale("the file was written in another byte order".to_owned()));
        }
        let version = fields.format.version;
        if version != VERSION {
            return Err(Refusal::Stale(format!("the file is of version {version}, this program writes {VERSION}")));
        }
        if fields.sum() != fields.checksum {
            return Err(corrupt("the header does not match its checksum"));
        }
        let Fields { instance, seq, body, .. } = fields;
        let (dimension, centres) = (fields.dimension as usize, fields.centres as usize);
        let count = usize::try_from(fields.count).map_err(|_| corrupt("the count is out of range"))?;
        let model = &fields.model[..MAX_MODEL_BYTES.min(fields.model_bytes as usize)];
        let model = String::from_utf8(model.to_vec()).map_err(|_| corrupt("the model's name is not text"))?;
        check_dimension(dimension).map_err(|_| corrupt("the dimension is out of range"))?;
        let layout = Layout::new(dimension, count, centres).ok_or_else(|| corrupt("the count is out of range"))?;
        if layout.file_bytes() != file.len() {
            return Err(Refusal::Corrupt(format!(
                "the file has {} bytes where {} belong",
                file.len(),
                layout.file_bytes()
            )));
        }
        Ok((Self { identity: Identity { instance, model, dimension }, count, centres, seq, body }, layout))
    }
}

/// The byte offsets of the sections of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) int8_codes: Range<usize>,
    pub(crate) int8_scales: Range<usize>,
    pub(crate) passages: Range<usize>,
    pub(crate) documents: Range<usize>,
    pub(crate) sign_scales: Range<usize>,
    pub(crate) sign_codes: Range<usize>,
    pub(crate) namespaces: Range<usize>,
    pub(crate) centres: Range<usize>,
    pub(crate) centre_namespaces: Range<usize>,
    pub(crate) group_centres: Range<usize>,
}

impl Layout {
    /// Returns `None` when the count exceeds the capacity of a file.
    pub(crate) fn new(dimension: usize, count: usize, centres: usize) -> Option<Self> {
        u32::try_from(count).ok()?;
        let padded = dimension.next_multiple_of(PADDING);
        let rows = count.checked_next_multiple_of(GROUP)?;
        let mut end = HEADER_BYTES;
        let mut section = |items: usize, bytes: usize| {
            let start = end.checked_next_multiple_of(ALIGNMENT)?;
            end = start.checked_add(items.checked_mul(bytes)?)?;
            Some(start..end)
        };
        Some(Self {
            int8_codes: section(count, padded)?,
            int8_scales: section(count, 4)?,
            passages: section(count, 8)?,
            documents: section(count, 4)?,
            sign_scales: section(rows, 4)?,
            sign_codes: section(rows, padded / 8)?,
            namespaces: section(count, 4)?,
            centres: section(centres, padded.checked_mul(4)?)?,
            centre_namespaces: section(centres, 4)?,
            group_centres: section(rows / GROUP, 4)?,
        })
    }

    pub(crate) fn file_bytes(&self) -> usize {
        self.group_centres.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(dimension: usize, count: usize) -> Header {
        let identity = Identity { instance: [9; 16], model: "static".to_owned(), dimension };
        Header { identity, count, centres: count.min(3), seq: 77, body: [3; 32] }
    }

    fn file(header: &Header) -> Vec<u8> {
        let mut file = header.to_bytes().to_vec();
        file.resize(Layout::new(header.identity.dimension, header.count, header.centres).unwrap().file_bytes(), 0);
        file
    }

    proptest! {
        #[test]
        fn a_header_reads_back(dimension in 1_usize..300, count in 0_usize..300) {
            let header = header(dimension, count);
            let (read, layout) = Header::parse(&file(&header)).unwrap();
            prop_assert_eq!(read, header);
            for section in [&layout.int8_codes, &layout.passages, &layout.sign_scales, &layout.centres, &layout.group_centres] {
                prop_assert_eq!(section.start % ALIGNMENT, 0);
            }
        }

        #[test]
        fn any_flipped_bit_of_the_header_is_refused(byte in 0..HEADER_BYTES, bit in 0..8) {
            let mut file = file(&header(100, 10));
            file[byte] ^= 1_u8 << bit;
            prop_assert!(Header::parse(&file).is_err());
        }

        #[test]
        fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..1000)) {
            prop_assert!(Header::parse(&bytes).is_err());
        }
    }

    #[test]
    fn a_count_that_overflows_is_refused_and_file_names_differ_and_are_safe() {
        for count in [u32::MAX as usize + 1, usize::MAX / 64, usize::MAX] {
            assert_eq!(Layout::new(384, count, 1), None);
            assert!(matches!(Header::parse(&header(384, count).to_bytes()), Err(Refusal::Corrupt(_))));
        }
        let names = ["a/b", "a:b", "A_b", "a_b", "", "..", "é", &"x".repeat(300)].map(file_name);
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name}");
            assert!(name.ends_with(".tvec") && name.len() < 120 && !name.starts_with('.'), "{name}");
            let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
            assert!(name.chars().all(is_plain), "{name}");
        }
    }
}
