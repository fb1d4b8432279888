//! What people said of the passages of one question, which every later search of the same question obeys.
//!
//! A question is the same where its words and the namespaces searched are. Its model, filters and settings may differ, since people
//! judge passages and not scores. What was only opened says nothing here.

use super::candidate::Candidate;
use super::judged_queries::IMPORTED_JUDGEMENTS;
use super::query::SearchRequest;
use super::ranking::Entry;
use super::scope::Scope;
use super::searcher::Searcher;
use std::collections::HashMap;
use tamis_store::{JudgedSearch, RecordedSearch};

/// The name of this evidence.
pub(super) const JUDGED: &str = "judged";

/// What a judgement adds to the log odds: more than all other evidence together, which rarely reaches 10.
const LOG_ODDS: f64 = 25.0;

/// The last judgement of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    relevant: bool,
    /// True if the passage stood for its entry, so that the entry was judged as a whole.
    of_entry: bool,
}

/// The last judgement of each passage of a question, by the passage's public identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JudgedPassages(HashMap<String, Said>);

impl JudgedPassages {
    /// Returns the judgements of the searches of one question.
    fn from_searches(searches: &[JudgedSearch]) -> Self {
        let mut all: Vec<_> =
            searches.iter().flat_map(|judged| judged.judgements.iter().map(move |one| (&judged.search, one))).collect();
        all.sort_by_key(|(_, judgement)| judgement.at_ms);
        let said = all.into_iter().map(|(search, judgement)| {
            let said = Said { relevant: judgement.relevant, of_entry: stood_for_entry(search, &judgement.passage) };
            (judgement.passage.clone(), said)
        });
        JudgedPassages(said.collect())
    }

    /// Adds the judgements to the evidence on the entries of a list, and notes them on these and their passages.
    ///
    /// A relevant passage makes its entry relevant. A passage that is not relevant speaks against its entry if it stands or stood
    /// for it; otherwise only the passage itself is no longer shown. Near-copies count like the passages that they repeat.
    pub fn weigh(&self, entries: &mut [Entry]) {
        if self.0.is_empty() {
            return;
        }
        let said = |candidate: &Candidate| self.0.get(&candidate.passage.id).copied();
        for entry in entries {
            for other in &mut entry.others {
                other.label = said(other).map(|said| said.relevant);
                other.hidden |= other.label == Some(false);
            }
            let own = said(&entry.best).map(|said| Said { of_entry: true, ..said });
            let others = || entry.others.iter().chain(entry.copies.iter().map(|copy| &copy.candidate));
            let all = || others().filter_map(said).chain(own);
            let relevant = match all().any(|said| said.relevant) {
                true => Some(true),
                false => all().any(|said| said.of_entry).then_some(false),
            };
            entry.label = relevant;
            if let Some(relevant) = relevant {
                let sign = if relevant { 1.0 } else { -1.0 };
                entry.add_evidence(JUDGED, sign, sign * LOG_ODDS);
            }
        }
    }
}

/// Returns `true` if a passage stood for its entry in a search, as far as the record tells.
fn stood_for_entry(search: &RecordedSearch, passage: &str) -> bool {
    let mut candidates = (0..).zip(&search.candidates);
    candidates
        .any(|(place, candidate)| candidate.passage == passage && candidate.entry.is_none_or(|entry| entry == place))
}

impl SearchRequest {
    /// Returns `true` for searches whose judgements are imported. Imported again, they rest on the same answers as the first time.
    pub(super) fn imports_judgements(&self) -> bool {
        self.entry_point.as_deref() == Some(IMPORTED_JUDGEMENTS)
    }
}

impl Searcher<'_> {
    /// Returns what people said of the passages of a question. Nothing was said if the log cannot be read or nothing is recorded.
    pub(super) fn judged_passages(&self, request: &SearchRequest, scope: &Scope, text: &str) -> JudgedPassages {
        if request.memory || request.imports_judgements() || !self.index.config.telemetry.record {
            return JudgedPassages::default();
        }
        let hash = blake3::hash(text.as_bytes());
        let namespace = scope.label(&self.index.namespace);
        let log = self.index.usage.log();
        let searches = log.ok().and_then(|log| log.judged_as(hash.as_bytes(), &namespace).ok());
        JudgedPassages::from_searches(&searches.unwrap_or_default())
    }
}
