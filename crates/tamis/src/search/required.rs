//! The terms that an answer must hold, looked for in the candidates.

use super::candidate::Candidate;
use tamis_rank::RequiredTerms;
use tamis_store::StoredPassage;

/// Notes for each candidate what share of the terms it holds, without quotations and hyphenated words that no candidate holds. Nothing is
/// noted if nothing is required.
pub(super) fn look_for(terms: &RequiredTerms, candidates: &mut [Candidate]) {
    if terms.is_empty() {
        return;
    }
    // A passage that shares no word with the query need not be read.
    let shares_words = |candidate: &Candidate| candidate.scores.coverage.is_none_or(|coverage| coverage > 0.0);
    let mut terms = terms.clone();
    terms.retain_held(|term| {
        let mut read = candidates.iter().filter(|candidate| shares_words(candidate));
        read.any(|candidate| term.is_in(&texts(&candidate.passage)))
    });
    for candidate in candidates.iter_mut().filter(|_| !terms.is_empty()) {
        candidate.required = Some(if shares_words(candidate) { share(&terms, &candidate.passage) } else { 0.0 });
    }
}

pub(super) fn share(terms: &RequiredTerms, passage: &StoredPassage) -> f64 {
    terms.share(&texts(passage)).unwrap_or_default()
}

/// What can hold a term: the text of a passage, its path and its names.
fn texts(passage: &StoredPassage) -> Vec<&str> {
    let named = [&passage.symbol, &passage.heading, &passage.title].into_iter().flatten().map(String::as_str);
    [passage.text.as_str(), passage.path.as_str()].into_iter().chain(named).collect()
}

#[cfg(test)]
mod tests {
    use super::super::candidate::Scores;
    use super::super::candidate::test_support::passage;
    use super::*;

    #[test]
    fn a_quotation_that_no_candidate_holds_is_not_required() {
        let required = |query: &str| {
            let passages = [(1, "connection reset by peer"), (2, "retry_limit of the client")];
            let candidate = |(number, text)| Candidate::new(passage(number, "a.md", text), Scores::default());
            let mut candidates = passages.map(candidate);
            look_for(&RequiredTerms::of(query), &mut candidates);
            candidates.map(|candidate| candidate.required)
        };
        assert_eq!(required("\"connection reset\" of the client"), [Some(1.0), Some(0.0)]);
        assert_eq!(required("\"connection lost\" of the client"), [None, None]);
        assert_eq!(required("\"connection lost\" by retry_limit"), [Some(0.0), Some(1.0)]);
        assert_eq!(required("parse_config of the client"), [Some(0.0), Some(0.0)], "an identifier is required");
        assert_eq!(required("retry-limit"), [Some(0.0), Some(1.0)]);
        assert_eq!(required("well-known"), [None, None]);
    }
}
