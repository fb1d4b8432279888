//! The built-in static model: a text's vector is the weighted mean of its tokens' rows.
//!
//! Nothing but a sum is computed, so a passage costs microseconds and a cold start a millisecond. The rows were distilled
//! from all-MiniLM-L6-v2 in the manner of Model2Vec (Tulkens and van Dongen, 2024) and then fitted to that model's
//! vectors of whole passages; `cargo xtask distill static` makes them again.

mod format;

use std::sync::OnceLock;

use rayon::prelude::*;

pub use format::{TableError, TokenTable};

use crate::{EmbedError, Embedder, ModelInfo, Provider, WordPiece, normalise};

/// The identifier of the built-in table.
pub(crate) const ID: &str = "static-256-v2";

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot;

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
}
