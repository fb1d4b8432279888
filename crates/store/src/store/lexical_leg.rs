//! Searching by words.

use crate::error::Result;
use crate::filter::Filter;
use crate::hits::{LexicalHits, LexicalQuery, LexicalScore};
use crate::record::PassageId;

/// Scores passages by BM25.
pub trait LexicalLeg: Send + Sync {
    /// Returns the `k` passages that match the query's words best.
    fn lexical(&self, query: &LexicalQuery, filter: &Filter, k: usize) -> Result<LexicalHits>;

    /// Returns the scores that [`lexical`](LexicalLeg::lexical) gives with the same filter, for any passages, in the order
    /// given. Of the filter only the namespaces count, because they determine the frequencies; a passage of another
    /// namespace scores 0.
    fn bm25(&self, query: &LexicalQuery, filter: &Filter, ids: &[PassageId]) -> Result<Vec<LexicalScore>>;

    /// Returns the first `limit` passages that define a symbol whose name, or the last part of it, is `name` as spelled; ascending.
    /// `name` has no separators: it finds `Store::open` by `open`.
    fn defining(&self, name: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>>;

    /// Returns the first `limit` passages whose text holds all words of `text`, function words too, in any order and by their
    /// stems; ascending. Without words there are none.
    fn containing(&self, text: &str, filter: &Filter, limit: usize) -> Result<Vec<PassageId>>;
}
