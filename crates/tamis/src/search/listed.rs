//! A ranked pool on its way to the cut: its candidates, its entries, and the values that the rule reads.

use super::adjustments::Adjustments;
use super::candidate::Ranked;
use super::entries;
use super::shift;
use std::collections::{BTreeMap, HashMap, HashSet};
use tamis_cut::Pool;
use tamis_rank::WeighedEvidence;
use tamis_store::PassageId;

/// The pool in order, with the values that the rule reads.
pub(super) struct Listed {
    /// The candidates, best first. If the rule admits by raw scores, admitted ones come before the others; so do candidates above
    /// the threshold of a collection with a table of its own. If entries are counted, the passage that stands for each comes before
    /// all other passages.
    pub ranked: Vec<Ranked>,
    /// The entries, in the order of their best passages; `None` if passages are counted.
    pub entries: Option<Vec<Entry>>,
    /// The values that the rule reads, with their background.
    pub pool: Pool,
    /// The candidates that fall short of the threshold of their language.
    pub short: HashSet<PassageId>,
    /// The adjustments by language and age, if the candidates were ranked by fused scores.
    pub adjustments: Option<Adjustments>,
    /// The evidence on each counted candidate; empty if it was not weighed.
    pub evidence: Vec<WeighedEvidence>,
    /// The probability of relevance of each counted candidate, which does not ascend, if it is known.
    pub probabilities: Option<Vec<f64>>,
    /// The order that the evidence gave the counted candidates, as positions in the pool; empty if it was not weighed.
    pub order: Vec<usize>,
    /// Figures of the evidence, for the diagnostics of the cut.
    pub diagnostics: BTreeMap<String, serde_json::Value>,
    /// The reasons why a model or a threshold that should have taken part did not.
    pub warning: Option<String>,
}

impl Listed {
    /// Candidates with the values that the rule reads, before anything is grouped or weighed.
    pub fn new(ranked: Vec<Ranked>, pool: Pool) -> Self {
        Listed {
            ranked,
            entries: None,
            pool,
            short: HashSet::new(),
            adjustments: None,
            evidence: Vec::new(),
            probabilities: None,
            order: Vec::new(),
            diagnostics: BTreeMap::new(),
            warning: None,
        }
    }

    /// Returns the candidates that the cut counts: the first ones.
    pub fn counted(&self) -> &[Ranked] {
        &self.ranked[..self.entries.as_ref().map_or(self.ranked.len(), Vec::len)]
    }

    /// Returns the value of a passage that has nothing to do with the query.
    pub fn background(&self) -> Option<f64> {
        self.pool.background().map(|background| background.mean)
    }

    /// Returns the probability of the candidate at this place, if it is known.
    pub fn probability(&self, place: usize) -> Option<f64> {
        self.probabilities.as_ref()?.get(place).copied()
    }

    /// Returns the probability of the candidate at this place by the evidence alone, before judgements and exact finds moved it.
    pub fn probability_by_evidence(&self, place: usize) -> Option<f64> {
        self.evidence.get(place).map(shift::probability_by_evidence).or_else(|| self.probability(place))
    }

    /// Returns the position in the pool of the candidate at this place, which the evidence may have moved.
    pub fn place_in_pool(&self, place: usize) -> usize {
        self.order.get(place).copied().unwrap_or(place)
    }

    /// Returns the positions of the other passages of the entry at this place.
    pub fn further(&self, place: usize) -> &[usize] {
        self.entries.as_ref().and_then(|entries| entries.get(place)).map_or(&[], |entry| &entry.further)
    }

    /// Returns, for each candidate, the position of the best passage of its entry.
    pub fn entry_places(&self) -> Vec<u32> {
        let mut places: Vec<u32> = vec![0; self.ranked.len()];
        match &self.entries {
            Some(entries) => {
                for (place, entry) in (0..).zip(entries) {
                    let copies = entry.copies.iter().map(|&(_, copy)| copy);
                    let of_entry = entry.further.iter().copied().chain(copies).chain([place as usize]);
                    of_entry.for_each(|at| places[at] = place);
                }
            }
            None => places = entries::places(&self.ranked),
        }
        places
    }

    /// Returns the documents with a near-copy of a candidate, by the candidate's position.
    pub fn copied_documents(&self) -> HashMap<usize, Vec<String>> {
        let mut documents: HashMap<usize, Vec<String>> = HashMap::new();
        for &(original, copy) in self.entries.iter().flatten().flat_map(|entry| &entry.copies) {
            documents.entry(original).or_default().push(self.ranked[copy].passage.path.clone());
        }
        documents
    }

    /// Puts the counted candidates, which come first, in another order: position by position, the one that stands there now.
    pub fn reorder(&mut self, order: &[usize]) {
        // Candidates without a finite value are not in the pool, and stay behind those that are.
        let order: Vec<usize> = order.iter().copied().chain(order.len()..self.counted().len()).collect();
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
