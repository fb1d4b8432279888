//! The built-in static model: a text's vector is the weighted mean of its tokens' rows.
//!
//! Nothing but a sum is computed, so a passage costs microseconds and a cold start a millisecond. The rows were distilled
//! from all-MiniLM-L6-v2 in the manner of Model2Vec (Tulkens and van Dongen, 2024) and then fitted to that model's
//! vectors of whole passages; `cargo xtask distill static` makes them again.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::{EmbedError, Embedder, ModelInfo, Provider, WordPiece, normalise};

/// The identifier of the built-in table.
pub const ID: &str = "static-256-v2";

/// Below this number of texts, the thread pool costs more than it saves.
const FEW: usize = 32;

/// The built-in token table: 256 dimensions, no limit on length, tens of thousands of passages a second on one core.
///
/// Words that the vocabulary cannot spell are left out. When nothing is left, the vector is zero.
///
/// ```
/// use tamis_embed::{Embedder, StaticModel, dot};
///
/// let model = StaticModel::built_in();
/// let query = model.embed_query("how do I bake bread")?;
/// let passages = model.embed_passages(&["A recipe for a sourdough loaf", "The index is rebuilt when it is stale"])?;
/// assert!(dot(&query, &passages[0]) > dot(&query, &passages[1]));
/// # Ok::<(), tamis_embed::EmbedError>(())
/// ```
#[derive(Debug)]
pub struct StaticModel {
    info: ModelInfo,
    table: TokenTable<'static>,
    tokenizer: &'static WordPiece,
}

impl StaticModel {
    /// Returns the shared model, prepared on first use.
    ///
    /// # Panics
    /// Never: the table and the vocabulary come with the crate and are tested together.
    pub fn built_in() -> &'static Self {
        static SHARED: OnceLock<StaticModel> = OnceLock::new();
        SHARED.get_or_init(|| {
            let table = TokenTable::from_bytes(tamis_model_static::TABLE).expect("the built-in table is whole");
            Self::new(ID, table).expect("the built-in table fits the vocabulary")
        })
    }

    /// Returns the file of the built-in table, for tools that compare or convert tables.
    #[must_use]
    pub fn built_in_bytes() -> &'static [u8] {
        tamis_model_static::TABLE
    }

    /// Makes a model from another table over the uncased BERT vocabulary.
    ///
    /// # Errors
    /// The number of rows differs from the number of tokens in the vocabulary.
    pub fn new(id: &str, table: TokenTable<'static>) -> Result<Self, EmbedError> {
        let tokenizer = WordPiece::uncased_bert();
        if table.rows() != tokenizer.size() {
            return Err(EmbedError::Model {
                model: id.to_owned(),
                reason: format!("the table has {} rows for a vocabulary of {} tokens", table.rows(), tokenizer.size()),
            });
        }
        let info = ModelInfo {
            id: id.to_owned(),
            dimension: table.dimension(),
            max_tokens: None,
            provider: Provider::Static,
            fusion_weight: 0.6,
        };
        Ok(Self { info, table, tokenizer })
    }

    fn embed(&self, text: &str, ids: &mut Vec<u32>) -> Vec<f32> {
        self.tokenizer.bag(text, ids);
        let mut vector = vec![0.0; self.info.dimension];
        for &id in ids.iter() {
            self.table.add_row(id as usize, &mut vector);
        }
        normalise(&mut vector);
        vector
    }
}

impl Embedder for StaticModel {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.len() < FEW {
            let mut ids = Vec::new();
            return Ok(texts.iter().map(|text| self.embed(text, &mut ids)).collect());
        }
        Ok(texts.par_iter().with_min_len(FEW / 2).map_init(Vec::new, |ids, text| self.embed(text, ids)).collect())
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(self.embed(text, &mut Vec::new()))
    }
}

// The file of a token table: a header, one scale a row, then the rows as signed bytes, all little endian.
//
// | bytes | content |
// | --- | --- |
// | 0..8 | `TAMISTBL` |
// | 8..12, 12..16, 16..20 | version (1), rows, dimension, as u32 |
// | 20..52 | BLAKE3 of everything after the header |
// | 52..64 | zero |
// | 64.. | `rows` scales as f32, then `rows * dimension` signed bytes |
//
// An entry is its byte times its row's scale. The table is read in place; nothing is decoded at start.

const MAGIC: &[u8; 8] = b"TAMISTBL";
const VERSION: u32 = 1;
const HEADER: usize = 64;

/// An unusable token table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The first bytes are those of another kind of file.
    #[error("not a token table: expected a file that begins with TAMISTBL")]
    NotATable,
    /// The file is of a version this build does not read.
    #[error("token table of version {found}; this build reads version {VERSION}")]
    Version {
        /// The version in the header.
        found: u32,
    },
    /// The file is shorter or longer than its header says.
    #[error("token table of {found} bytes; {rows} rows of {dimension} need {expected}")]
    Size {
        /// Bytes present.
        found: usize,
        /// Bytes needed.
        expected: u64,
        /// Rows named by the header.
        rows: u32,
        /// Dimension named by the header.
        dimension: u32,
    },
    /// A scale is not a finite number.
    #[error("the scale of row {row} of the token table is {value}; expected a finite number")]
    Scale {
        /// The row.
        row: usize,
        /// The scale found.
        value: f32,
    },
    /// The content does not match the checksum.
    #[error("the token table does not match its checksum; it is damaged")]
    Checksum,
    /// The entries to encode do not make whole rows, or are not finite.
    #[error("{entries} entries cannot be encoded as rows of {dimension}: {reason}")]
    Entries {
        /// The number of entries given.
        entries: usize,
        /// The length of a row.
        dimension: usize,
        /// The fault.
        reason: &'static str,
    },
}

/// A table of rows of signed bytes with a scale each, borrowed from the bytes of its file.
///
/// ```
/// use tamis_embed::TokenTable;
///
/// let file = TokenTable::encode(&[1.0, -0.5, 0.0, 0.0], 2)?;
/// let table = TokenTable::from_bytes(&file)?;
/// let mut sum = [0.0; 2];
/// table.add_row(0, &mut sum);
/// assert!((sum[0] - 1.0).abs() < 0.01 && (sum[1] + 0.5).abs() < 0.01);
/// # Ok::<(), tamis_embed::TableError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TokenTable<'a> {
    dimension: usize,
    scales: &'a [[u8; 4]],
    entries: &'a [u8],
    checksum: [u8; 32],
}

impl<'a> TokenTable<'a> {
    /// Reads a table in place. Checks the header and the scales; [`verify`](Self::verify) checks the rest.
    ///
    /// # Errors
    /// The bytes are not a whole table of this version, or a scale is not finite.
    pub fn from_bytes(file: &'a [u8]) -> Result<Self, TableError> {
        let word = |at: usize| -> Option<[u8; 4]> { file.get(at..at + 4)?.try_into().ok() };
        let header = file.get(..HEADER).filter(|header| header.starts_with(MAGIC)).ok_or(TableError::NotATable)?;
        let number = |at| word(at).map(u32::from_le_bytes).ok_or(TableError::NotATable);
        let (version, rows, dimension) = (number(8)?, number(12)?, number(16)?);
        if version != VERSION {
            return Err(TableError::Version { found: version });
        }
        let expected = HEADER as u64 + u64::from(rows) * (4 + u64::from(dimension));
        if file.len() as u64 != expected || dimension == 0 {
            return Err(TableError::Size { found: file.len(), expected, rows, dimension });
        }
        let (scales, entries) = file[HEADER..].split_at(rows as usize * 4);
        let (scales, _) = scales.as_chunks::<4>();
        for (row, &scale) in scales.iter().enumerate() {
            let value = f32::from_le_bytes(scale);
            if !value.is_finite() {
                return Err(TableError::Scale { row, value });
            }
        }
        let mut checksum = [0; 32];
        checksum.copy_from_slice(&header[20..52]);
        Ok(Self { dimension: dimension as usize, scales, entries, checksum })
    }

    /// Checks the content against the checksum of the header: about 2 ms for the built-in table.
    ///
    /// # Errors
    /// They differ.
    pub fn verify(&self) -> Result<(), TableError> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.scales.as_flattened());
        hasher.update(self.entries);
        if hasher.finalize().as_bytes() == &self.checksum { Ok(()) } else { Err(TableError::Checksum) }
    }

    /// Encodes rows of `dimension` entries each, laid end to end. The scale of a row is its largest absolute entry over 127, and
    /// entries are rounded to the nearest multiple, so an entry is off by at most half its row's scale.
    ///
    /// # Errors
    /// The entries do not make whole rows, or one is not finite.
    pub fn encode(rows: &[f32], dimension: usize) -> Result<Vec<u8>, TableError> {
        let refuse = |reason| TableError::Entries { entries: rows.len(), dimension, reason };
        if dimension == 0 || !rows.len().is_multiple_of(dimension) {
            return Err(refuse("the last row is incomplete"));
        }
        let count = u32::try_from(rows.len() / dimension).map_err(|_| refuse("there are too many rows"))?;
        let width = u32::try_from(dimension).map_err(|_| refuse("the rows are too long"))?;
        if rows.iter().any(|x| !x.is_finite()) {
            return Err(refuse("one is not finite"));
        }
        let mut content = Vec::with_capacity(rows.len() + count as usize * 4);
        let scale_of = |row: &[f32]| row.iter().fold(0.0f32, |largest, x| largest.max(x.abs())) / 127.0;
        for row in rows.chunks_exact(dimension) {
            content.extend(scale_of(row).to_le_bytes());
        }
        for row in rows.chunks_exact(dimension) {
            let scale = scale_of(row);
            let factor = if scale > 0.0 { 1.0 / scale } else { 0.0 };
            content.extend(row.iter().map(|x| (x * factor).round().clamp(-127.0, 127.0) as i8 as u8));
        }
        let mut file = Vec::with_capacity(HEADER + content.len());
        file.extend(MAGIC);
        for number in [VERSION, count, width] {
            file.extend(number.to_le_bytes());
        }
        file.extend(blake3::hash(&content).as_bytes());
        file.resize(HEADER, 0);
        file.extend(content);
        Ok(file)
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.scales.len()
    }

    /// Returns the number of entries in a row.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Adds a row to a sum. A missing row adds nothing; entries beyond the shorter of the two are left alone.
    pub fn add_row(&self, row: usize, sum: &mut [f32]) {
        let Some(&scale) = self.scales.get(row) else { return };
        let scale = f32::from_le_bytes(scale);
        let start = row * self.dimension;
        for (total, &entry) in sum.iter_mut().zip(&self.entries[start..start + self.dimension]) {
            *total += scale * f32::from(entry as i8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot;
    use proptest::prelude::*;

    #[test]
    fn texts_without_known_words_have_zero_vectors() {
        let model = StaticModel::built_in();
        let known = model.embed_query("a stale index").unwrap();
        for text in ["", "   ", "\u{7}", "\u{1F9EC}"] {
            let vector = model.embed_query(text).unwrap();
            assert_eq!((vector.len(), dot(&vector, &known)), (256, 0.0), "{text:?}");
        }
    }

    #[test]
    fn many_texts_and_one_give_the_same_vectors_in_order() {
        let model = StaticModel::built_in();
        let texts: Vec<String> = (0..100).map(|n| format!("passage number {n} about topic {}", n * 7)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let together = model.embed_passages(&texts).unwrap();
        for (text, vector) in texts.iter().zip(&together) {
            assert_eq!(vector, &model.embed_query(text).unwrap());
            assert!((dot(vector, vector) - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn the_built_in_table_matches_its_checksum() {
        TokenTable::from_bytes(tamis_model_static::TABLE).unwrap().verify().unwrap();
    }

    #[test]
    fn a_table_for_another_vocabulary_is_refused() {
        let bytes = TokenTable::encode(&[1.0, 2.0], 2).unwrap();
        let table = TokenTable::from_bytes(Box::leak(bytes.into_boxed_slice())).unwrap();
        let message = StaticModel::new("mine", table).unwrap_err().to_string();
        assert!(message.contains("1 rows") && message.contains("30522"), "{message}");
    }

    #[test]
    fn damage_is_named() {
        let file = TokenTable::encode(&[1.0, 2.0, 3.0, 4.0], 2).unwrap();
        let read = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut damaged = file.clone();
            change(&mut damaged);
            TokenTable::from_bytes(&damaged).and_then(|table| table.verify()).unwrap_err()
        };
        assert_eq!(read(&|file| file[0] = b'X'), TableError::NotATable);
        assert_eq!(read(&|file| file.truncate(30)), TableError::NotATable);
        assert_eq!(read(&|file| file[8] = 9), TableError::Version { found: 9 });
        assert!(matches!(read(&|file| file.truncate(70)), TableError::Size { found: 70, expected: 76, .. }));
        assert!(matches!(read(&|file| file[12] = 255), TableError::Size { rows: 255, .. }));
        assert!(matches!(read(&|file| file[64..68].fill(255)), TableError::Scale { row: 0, .. }));
        assert_eq!(read(&|file| *file.last_mut().unwrap() ^= 1), TableError::Checksum);
    }

    #[test]
    fn incomplete_rows_and_infinite_entries_are_not_encoded() {
        for (rows, dimension) in [(vec![1.0; 3], 2), (vec![1.0], 0), (vec![f32::NAN, 1.0], 2)] {
            assert!(matches!(TokenTable::encode(&rows, dimension), Err(TableError::Entries { .. })));
        }
    }

    proptest! {
        #[test]
        fn entries_come_back_within_half_a_step(rows in prop::collection::vec(-1e3f32..1e3, 0..12usize).prop_map(|mut rows| {
            rows.truncate(rows.len() / 3 * 3);
            rows
        })) {
            let file = TokenTable::encode(&rows, 3).unwrap();
            let table = TokenTable::from_bytes(&file).unwrap();
            for (index, row) in rows.chunks(3).enumerate() {
                let step = row.iter().fold(0.0f32, |largest, x| largest.max(x.abs())) / 127.0;
                let mut sum = [0.0; 3];
                table.add_row(index, &mut sum);
                for (x, y) in row.iter().zip(sum) {
                    prop_assert!((x - y).abs() <= step * 0.501);
                }
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), valid_start in any::<bool>()) {
            let mut file = if valid_start { TokenTable::encode(&[1.0; 4], 2).unwrap() } else { Vec::new() };
            file.extend(bytes);
            let _ = TokenTable::from_bytes(&file).map(|table| table.verify());
        }
    }
}
