//! Sources of a merged list that are held to tables of their own.

use crate::methods::top_score::TopScore;

/// The candidates of one source in a merged list, such as notes among notes and conversations, and the table that
/// [`TopScore`] holds them to in place of its own.
///
/// The tier is that of the best score of the whole list; the line is the source's. So a candidate of a strict source can be
/// left out while later ones of others stay, and what is kept is no longer the beginning of the list. Whoever has the list puts
/// those first that reach the line of their source, in their order:
///
/// ```
/// use tamis_cut::{Pool, Rule, SourceTable, TopScore};
///
/// let rule = TopScore::default();
/// let notes = TopScore { high_multiplier: 0.9, ..rule.clone() };
/// // By score; the second is a note.
/// let scores = [0.8, 0.6, 0.45, 0.3];
/// let line = |position: usize| if position == 1 { notes.line(scores[0]) } else { rule.line(scores[0]) };
/// let mut order = [0, 1, 2, 3];
/// order.sort_by_key(|&position| scores[position] < line(position));
///
/// let tables = vec![SourceTable { source: "notes".into(), table: notes.clone(), values: vec![0.6] }];
/// let cut = rule.cut(&Pool::scores(scores)?.with_source_tables(tables));
/// assert_eq!(order[..cut.keep], [0, 2]);
/// # Ok::<(), tamis_cut::PoolError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SourceTable {
    /// The source's name, in the plural, as reasons give it.
    pub source: String,
    /// Its table.
    pub table: TopScore,
    /// The values of its candidates, which stand in the pool too, in any order.
    pub values: Vec<f64>,
}
