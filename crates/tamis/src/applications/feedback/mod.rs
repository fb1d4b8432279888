//! Learning from use: the index records its searches, people judge the results, and guarantees are calibrated on the
//! judgements.
//!
//! The search records itself (`search::record`). [`Feedback::judge`] takes judgements of its passages, and
//! [`Feedback::import`] those of a collection that was judged elsewhere. [`Feedback::opened`] records which shown results were
//! read in full, which says less. With
//! [`SearchRequest::guarantee`](crate::SearchRequest::guarantee) an answer keeps a promise calibrated on both. Nothing leaves
//! the machine.

mod import_judgements;
mod opened;

pub use import_judgements::ImportReport;
pub use opened::Opened;

use crate::Error;
use crate::access::{MOST_ALIKE, readable};
use crate::handle::{Index, now_ms};
use crate::search::most_below;
use serde::Serialize;
pub use tamis_store::SearchSummary;
use tamis_store::{RecordedSearch, UsageLog};

/// Recorded searches and the judgements of their results. From [`Index::feedback`].
#[derive(Clone, Copy)]
pub struct Feedback<'a> {
    index: &'a Index,
}

impl Index {
    /// Recorded searches and the judgements of their results.
    pub fn feedback(&self) -> Feedback<'_> {
        Feedback { index: self }
    }
}

/// The relevance of a passage to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// The passage answers the query.
    Relevant,
    /// The passage does not answer the query.
    NotRelevant,
    /// Earlier judgements of the passage are taken back, and nothing is said of it.
    Unjudged,
}

/// A recorded judgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Judged {
    /// The passage's identifier.
    pub passage: String,
    /// Its location: path of the document and first line; `None` if it is no longer in the index.
    pub place: Option<(String, u32)>,
    /// Its relevance to the query.
    pub relevance: Label,
    /// Its rank among the search's candidates, from 1; `None`: outside the pool, so that no cut could have kept it.
    pub rank: Option<usize>,
}

impl Feedback<'_> {
    /// Records judgements of passages for a recorded search: all of them or, on an error, none. A passage is named by
    /// its identifier, a prefix of it (at least four digits), or its rank in that answer. A passage outside the
    /// candidates is recorded too. The last judgement of a passage counts. [`Label::Unjudged`] takes back what was said of it for
    /// this question.
    ///
    /// # Errors
    /// No search of that identifier is recorded, a passage is not in the index, or the log cannot be written.
    pub fn judge(&self, query_id: &str, passages: &[&str], relevance: Label) -> Result<Vec<Judged>, Error> {
        self.judge_allowed(query_id, passages, relevance, None)
    }

    /// Does the same as [`Feedback::judge`] for a caller who may read only these namespaces (`None`: all). A search or
    /// passage of another namespace looks the same as a missing one.
    ///
    /// # Errors
    /// As [`Feedback::judge`].
    pub fn judge_allowed(
        &self,
        query_id: &str,
        passages: &[&str],
        relevance: Label,
        allowed: Option<&[String]>,
    ) -> Result<Vec<Judged>, Error> {
        let log = self.index.usage.log()?;
        let unknown = || self.unknown_query(log, query_id, allowed);
        let search = log.search(query_id)?.filter(|search| is_readable(search, allowed)).ok_or_else(unknown)?;
        let judged: Vec<Judged> =
            passages.iter().map(|wanted| self.judged(&search, wanted, relevance, allowed)).collect::<Result<_, _>>()?;
        let passages = judged.iter().map(|judged| judged.passage.as_str());
        let relevant = match relevance {
            Label::Relevant => true,
            Label::NotRelevant => false,
            Label::Unjudged => {
                log.unjudge(query_id, &passages.collect::<Vec<_>>())?.ok_or_else(unknown)?;
                return Ok(judged);
            }
        };
        let said: Vec<(&str, bool)> = passages.map(|passage| (passage, relevant)).collect();
        // Another process may have deleted it since.
        log.judge(query_id, &said, now_ms())?.ok_or_else(unknown)?;
        Ok(judged)
    }

    /// Returns the last recorded searches, latest first, at most `limit`.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn searches(&self, limit: usize) -> Result<Vec<SearchSummary>, Error> {
        Ok(self.index.usage.log()?.recent(limit)?)
    }

    /// Deletes a recorded search with its judgements.
    ///
    /// # Errors
    /// No search of that identifier is recorded, or the log cannot be written.
    pub fn forget(&self, query_id: &str) -> Result<(), Error> {
        let log = self.index.usage.log()?;
        if log.forget(query_id)? { Ok(()) } else { Err(self.unknown_query(log, query_id, None)) }
    }

    /// Returns `true` if any result was ever judged. A log that cannot be read has no judgements.
    pub fn has_judgements(&self) -> bool {
        let version = self.index.usage.log().ok().and_then(|log| log.label_version().ok());
        version.is_some_and(|version| version.judgements.0 > 0)
    }

    /// Returns the reason why the last search could not be recorded; `None` if it was recorded or recording is off.
    pub fn recording_problem(&self) -> Option<String> {
        self.index.usage.problem()
    }

    fn judged(
        &self,
        search: &RecordedSearch,
        wanted: &str,
        relevance: Label,
        allowed: Option<&[String]>,
    ) -> Result<Judged, Error> {
        let (passage, rank) = self.passage_of(search, wanted, allowed)?;
        let found = self.index.store.find(&passage, 1)?.into_iter().find(|found| found.id == passage);
        let found = found.filter(|found| readable(allowed, &found.namespace));
        let place = found.map(|found| (found.path, found.start_line));
        Ok(Judged { passage, place, relevance, rank })
    }

    /// The identifier that `wanted` names, and its rank from 1 if it was a candidate.
    fn passage_of(
        &self,
        search: &RecordedSearch,
        wanted: &str,
        allowed: Option<&[String]>,
    ) -> Result<(String, Option<usize>), Error> {
        let candidates = &search.candidates;
        let digits = !wanted.is_empty() && wanted.bytes().all(|byte| byte.is_ascii_digit());
        if digits && wanted.len() < SHORTEST_PREFIX {
            // Ranks go on below the line, as far as an answer names results there.
            let shown = search.shown.as_ref().map_or(0, Vec::len).max(search.kept as usize);
            let last = candidates.len().min(shown + most_below(shown));
            let rank = wanted.parse::<usize>().ok().filter(|rank| (1..=last).contains(rank));
            let allowed = match last {
                0 => "the identifier of a passage: that search had no candidates".to_owned(),
                count => format!("a rank from 1 to {count}, or the identifier of a passage"),
            };
            let rank = rank.ok_or_else(|| Error::argument("passage", wanted, allowed))?;
            return Ok((candidates[rank - 1].passage.clone(), Some(rank)));
        }
        let prefix = wanted.to_ascii_lowercase();
        if prefix.len() < SHORTEST_PREFIX || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let allowed = "the rank of a result, or the identifier of a passage or the first four of its digits";
            return Err(Error::argument("passage", format!("{wanted:?}"), allowed));
        }
        // A candidate takes precedence over other passages, even if the index no longer holds it.
        let ranked = candidates.iter().zip(1..).filter(|(candidate, _)| candidate.passage.starts_with(&prefix));
        let found: Vec<(&str, usize)> = ranked.map(|(candidate, rank)| (candidate.passage.as_str(), rank)).collect();
        let exact = found.iter().find(|(passage, _)| *passage == prefix);
        match (exact, found.as_slice()) {
            (Some(&(passage, rank)), _) | (None, &[(passage, rank)]) => return Ok((passage.to_owned(), Some(rank))),
            (None, []) => {}
            (None, _) => return Err(ambiguous(wanted)),
        }
        let mut found = self.index.store.find(&prefix, MOST_ALIKE)?;
        found.retain(|passage| readable(allowed, &passage.namespace));
        match found.as_slice() {
            [] => Err(Error::NotFound { wanted: wanted.to_owned(), nearest: None }),
            [passage] => Ok((passage.id.clone(), None)),
            _ => Err(ambiguous(wanted)),
        }
    }

    fn unknown_query(&self, log: &dyn UsageLog, query_id: &str, allowed: Option<&[String]>) -> Error {
        // Other callers' searches stay private.
        let recent = if allowed.is_none() { log.recent(1000).unwrap_or_default() } else { Vec::new() };
        let nearest = recent
            .iter()
            .map(|search| (strsim::normalized_damerau_levenshtein(query_id, &search.id), &search.id))
            .filter(|(similarity, _)| *similarity >= 0.7)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let mut allowed = "the identifier of a recorded search".to_owned();
        if let Some((_, id)) = nearest {
            allowed.push_str(&format!(" (did you mean {id}?)"));
        }
        if !self.index.config.telemetry.record {
            allowed.push_str("; searches are not recorded, since telemetry is off");
        }
        Error::argument("query id", query_id, allowed)
    }
}

/// Returns `true` if a caller may read everything a search covered.
fn is_readable(search: &RecordedSearch, allowed: Option<&[String]>) -> bool {
    readable(allowed, &search.namespace) || search.namespace.split(',').all(|namespace| readable(allowed, namespace))
}

/// The least length of an identifier's prefix; a shorter number is a rank.
const SHORTEST_PREFIX: usize = 4;

fn ambiguous(wanted: &str) -> Error {
    Error::argument("passage", format!("{wanted:?}"), "longer: several passages begin so")
}
