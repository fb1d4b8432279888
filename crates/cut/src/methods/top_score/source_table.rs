//! Sources of a merged list that follow tables of their own.

use super::TopScore;
use crate::pool::Pool;

/// The candidates of one source in a merged list, such as notes among notes and conversations, with the table that
/// [`TopScore`] applies to them in place of its own.
///
/// The best score of the whole list chooses the tier; the source's table gives the line. A candidate of a strict source can
/// therefore be left out while later ones stay, and the kept candidates no longer begin the list. The owner of the list
/// moves the candidates that reach the line of their source to the front, in their order:
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
    /// The source's name in the plural, for the reason.
    pub source: String,
    /// Its table.
    pub table: TopScore,
    /// The values of its candidates, which are in the pool too, in any order.
    pub values: Vec<f64>,
}

impl Pool {
    /// The pool with tables for the candidates of some sources, for [`TopScore`]; the others follow the rule's own.
    pub fn with_source_tables(self, tables: Vec<SourceTable>) -> Self {
        self.with(tables)
    }

    /// The tables of sources.
    pub fn source_tables(&self) -> &[SourceTable] {
        self.get::<Vec<SourceTable>>().map_or(&[], Vec::as_slice)
    }
}
