//! A ranked pool on its way to the cut: its candidates, its entries, and the values that the rule reads.

use super::candidate::Ranked;
use std::collections::HashSet;
use tamis_cut::{Admitted, SourceTable};
use tamis_store::PassageId;

/// The pool in order, with the values that the rule reads.
pub(super) struct Listed {
    /// The candidates, best first. If the rule admits by raw scores, admitted ones come before the others. If entries are
    /// counted, the passage that stands for each comes before all other passages.
    pub ranked: Vec<Ranked>,
    /// The entries, in the order of their best passages; `None` if passages are counted.
    pub entries: Option<Vec<Entry>>,
    /// The values that the rule reads, descending.
    pub values: Vec<f64>,
    /// The value of a passage that has nothing to do with the query.
    pub background: Option<f64>,
    /// The number of admitted candidates and the test, if the rule admits by raw scores.
    pub admitted: Option<Admitted>,
    /// The candidates of collections with a table of their own. Those above their threshold come before the others.
    pub source_tables: Vec<SourceTable>,
    /// The candidates that fall short of the threshold of their language.
    pub short: HashSet<PassageId>,
}

impl Listed {
    /// Puts the counted candidates, which come first, in another order: position by position, the one that stands there now.
    pub fn reorder(&mut self, order: &[usize]) {
        // Candidates without a finite value are not in the pool, and stay behind those that are.
        let counted = self.entries.as_ref().map_or(self.ranked.len(), Vec::len);
        let order: Vec<usize> = order.iter().copied().chain(order.len()..counted).collect();
        // Other passages stand behind the counted ones and keep their places, so entries still find theirs.
        let mut counted: Vec<Option<Ranked>> = self.ranked.drain(..order.len()).map(Some).collect();
        self.ranked.splice(..0, order.iter().filter_map(|&at| counted[at].take()));
        if let Some(entries) = &mut self.entries {
            let mut places = vec![0; order.len()];
            order.iter().enumerate().for_each(|(place, &at)| places[at] = place);
            let mut moved: Vec<Option<Entry>> = std::mem::take(entries).into_iter().map(Some).collect();
            *entries = order.iter().filter_map(|&at| moved[at].take()).collect();
            for (original, copy) in entries.iter_mut().flat_map(|entry| &mut entry.copies) {
                for place in [original, copy] {
                    *place = places.get(*place).copied().unwrap_or(*place);
                }
            }
        }
    }
}

/// The other passages of an entry, besides the one that stands for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    /// Their positions among the ranked ones, best first.
    pub further: Vec<usize>,
    /// Those of them that no answer shows: comments that say nothing.
    pub mutes: Vec<usize>,
    /// Near-copies of its passages in other documents: the position of its own passage, and that of the copy.
    pub copies: Vec<(usize, usize)>,
}
