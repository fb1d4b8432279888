//! Search by page: the kept entries with their passages, by document.

use super::answer::CutReport;
use super::candidate::Candidate;
use super::query::SearchRequest;
use super::searcher::Searcher;
use super::stopwatch::Stopwatch;
use crate::Error;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tamis_store::{DocumentId, StoredPassage};

/// A document with kept passages.
pub(crate) struct FoundPage {
    /// Its relevant passages, best first; at least one.
    pub passages: Vec<Arc<StoredPassage>>,
    /// Their best similarity; `None` if nothing was compared.
    pub similarity: Option<f64>,
}

/// The pages of a search.
pub(crate) struct FoundPages {
    /// The pages, best first.
    pub pages: Vec<FoundPage>,
    /// Documents that say the same as one of the pages. They are as relevant, though no page of their own.
    pub copies: HashSet<DocumentId>,
    /// The number of relevant passages, and the reason.
    pub cut: CutReport,
    /// The reason why a different model, or fewer legs, answered.
    pub fallback_reason: Option<String>,
}

impl FoundPages {
    /// Returns `true` if a document is one of the pages, or says the same as one.
    pub fn holds(&self, document: DocumentId) -> bool {
        let mut pages = self.pages.iter().filter_map(|page| page.passages.first());
        pages.any(|first| first.document == document) || self.copies.contains(&document)
    }
}

impl Searcher<'_> {
    /// Returns the pages of a search's kept passages, in their order. Gate and cut are those of every search.
    pub(crate) fn pages(&self, request: &SearchRequest, clock: &mut Stopwatch) -> Result<FoundPages, Error> {
        request.check()?;
        let asked = request.tuned_rule(&self.index.config)?;
        let retrieved = self.retrieve(request, &self.filter(request), self.depth(asked.rule()), clock)?;
        let decided = self.decide(&retrieved, asked.rule(), clock)?;
        let copies = decided.ranking.entries.iter().take(decided.cut.keep).flat_map(|entry| &entry.copies);
        let copies = copies.map(|copy| copy.candidate.passage.document).collect();
        let kept = decided.kept();
        let mut others: Vec<&Candidate> = kept.iter().flat_map(|kept| &kept.further).copied().collect();
        others.sort_by_key(|candidate| candidate.place);
        let mut places: HashMap<DocumentId, usize> = HashMap::new();
        let mut pages: Vec<FoundPage> = Vec::new();
        for candidate in kept.iter().map(|kept| &kept.entry.best).chain(others) {
            let (passage, similarity) = (candidate.passage.clone(), candidate.scores.similarity);
            let place = *places.entry(passage.document).or_insert(pages.len());
            match pages.get_mut(place) {
                Some(page) => {
                    page.similarity = page.similarity.into_iter().chain(similarity).reduce(f64::max);
                    page.passages.push(passage);
                }
                None => pages.push(FoundPage { passages: vec![passage], similarity }),
            }
        }
        Ok(FoundPages { pages, copies, cut: decided.cut, fallback_reason: retrieved.plan.fallback_reason })
    }
}
