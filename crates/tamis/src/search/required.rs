//! The terms that an answer must hold, looked for in the candidates.

use super::candidate::Candidate;
use std::sync::Arc;
use tamis_rank::RequiredTerms;
use tamis_store::StoredPassage;

/// Notes for each candidate what share of the terms it holds. `passages` are those of the candidates, in their order. Nothing
/// is noted if nothing is required.
pub(super) fn look_for(terms: &RequiredTerms, candidates: &mut [Candidate], passages: &[Arc<StoredPassage>]) {
    if terms.is_empty() {
        return;
    }
    for (candidate, passage) in candidates.iter_mut().zip(passages) {
        // A passage that shares no word with the query need not be read.
        let shares_words = candidate.coverage.is_none_or(|coverage| coverage > 0.0);
        candidate.required = Some(if shares_words { share(terms, passage) } else { 0.0 });
    }
}

pub(super) fn share(terms: &RequiredTerms, passage: &StoredPassage) -> f64 {
    let named = [&passage.symbol, &passage.heading, &passage.title].into_iter().flatten().map(String::as_str);
    let texts: Vec<&str> = [passage.text.as_str(), passage.path.as_str()].into_iter().chain(named).collect();
    terms.share(&texts).unwrap_or_default()
}
