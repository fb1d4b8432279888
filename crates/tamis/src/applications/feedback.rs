//! Learning from use: the index records its searches, people judge the results, and guarantees are calibrated on the
//! judgements.
//!
//! The search records itself (`search::recording`). [`Feedback::judge`] takes judgements of its passages, and
//! [`Feedback::import`] those of a collection that was judged elsewhere. [`Feedback::opened`] records which shown results were
//! read in full, which says less. With
//! [`SearchRequest::guarantee`](crate::SearchRequest::guarantee) an answer keeps a promise calibrated on both. Nothing leaves
//! the machine.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Serialize;
use tamis_eval::QueryKind;
use tamis_store::{Judgement, Opening, RecordedSearch, ScoringKind, StoredPassage, UsageLog};

use super::evaluate::{EvaluationError, TestQuery, queries};
use crate::Error;
use crate::get::Excerpt;
use crate::handle::{Index, MOST_ALIKE, now_ms, readable};
use crate::progress::{Observer, Stage};
use crate::related::Related;
use crate::search::{Asker, Context, IMPORTED_JUDGEMENTS, SearchCaller, SearchRequest, most_below, search_under};

pub use tamis_store::SearchSummary;

/// Recorded searches and the judgements of their results. From [`Index::feedback`].
#[derive(Clone, Copy)]
pub struct Feedback<'a> {
    pub(super) index: &'a Index,
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
    /// Its symbol, or else the heading right above it; `None` if it has none or is no longer in the index.
    pub title: Option<String>,
    /// Its relevance to the query.
    pub relevance: Label,
    /// Its rank among the search's candidates, from 1; `None`: outside the pool, so that no cut could have kept it.
    pub rank: Option<usize>,
}

/// A recorded search, with what was said of its results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ListedSearch {
    /// The search.
    #[serde(flatten)]
    pub search: SearchSummary,
    /// Its judgements, the last one of each passage, in the order in which they were made.
    pub judged: Vec<Judged>,
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

    /// Returns `true` if later searches obey judgements of a recorded search. Those of memories, issues and evidence ignore all judgements.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn is_obeyed(&self, query_id: &str) -> Result<bool, Error> {
        let search = self.index.usage.log()?.search(query_id)?;
        Ok(search.is_some_and(|search| search.scoring.kind == ScoringKind::Search))
    }

    /// Returns the last recorded searches, latest first, at most `limit`.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn searches(&self, limit: usize) -> Result<Vec<ListedSearch>, Error> {
        let log = self.index.usage.log()?;
        let listed = |search: SearchSummary| {
            let is_judged = search.relevant + search.not_relevant > 0;
            let recorded = if is_judged { log.search(&search.id)? } else { None };
            let candidates = recorded.map(|recorded| recorded.candidates).unwrap_or_default();
            let said = if is_judged { log.judgements(&search.id)? } else { Vec::new() };
            let judged = |Judgement { passage, relevant, .. }: Judgement| {
                let rank = candidates.iter().position(|candidate| candidate.passage == passage).map(|at| at + 1);
                self.described(passage, rank, if relevant { Label::Relevant } else { Label::NotRelevant }, None)
            };
            let judged = said.into_iter().map(judged).collect::<Result<_, Error>>()?;
            Ok(ListedSearch { search, judged })
        };
        log.recent(limit)?.into_iter().map(listed).collect()
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
        let version = self.index.usage.log().ok().and_then(|log| log.judgement_version().ok());
        version.is_some_and(|(count, _)| count > 0)
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
        self.described(passage, rank, relevance, allowed)
    }

    /// A judgement with the place and the title of its passage.
    fn described(
        &self,
        passage: String,
        rank: Option<usize>,
        relevance: Label,
        allowed: Option<&[String]>,
    ) -> Result<Judged, Error> {
        let found = self.index.store.find(&passage, 1)?.into_iter().find(|found| found.id == passage);
        let found = found.filter(|found| readable(allowed, &found.namespace));
        let heading = |found: &StoredPassage| {
            let headings = found.heading.as_deref().or(found.title.as_deref())?;
            headings.rsplit(" > ").next().map(str::to_owned)
        };
        let title = found.as_ref().and_then(|found| found.symbol.clone().or_else(|| heading(found)));
        let place = found.map(|found| (found.path, found.start_line));
        Ok(Judged { passage, place, title, relevance, rank })
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
    Error::argument("passage", format!("{wanted:?}"), "longer: the identifiers of several passages begin with it")
}

// Opened results: whoever reads a result in full that a search has shown finds that it looks right. Only statistics count them.

/// Text that a caller read, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened<'a> {
    /// A passage, by its identifier.
    Passage(&'a str),
    /// Lines of a document.
    Lines {
        /// The repository or project it belongs to.
        namespace: &'a str,
        /// Its path.
        path: &'a str,
        /// First line read, from 1.
        first: u32,
        /// Last line read.
        last: u32,
    },
}

impl<'a> From<&'a Excerpt> for Opened<'a> {
    fn from(excerpt: &'a Excerpt) -> Self {
        let Excerpt { namespace, path, start_line, end_line, id, .. } = excerpt;
        match id {
            Some(id) => Opened::Passage(id),
            None => Opened::Lines { namespace, path, first: *start_line, last: *end_line },
        }
    }
}

impl<'a> From<&'a Related> for Opened<'a> {
    fn from(related: &'a Related) -> Self {
        Opened::Passage(&related.passage.id)
    }
}

impl Feedback<'_> {
    /// Records that a caller opened text, at its latest search that showed a passage of it, and returns how many shown
    /// passages are newly opened. What was not shown to this caller is not recorded, since nothing is known of it.
    /// `entry_point`: where it was opened, such as `cli get`.
    ///
    /// The query's text is neither needed nor stored. Nothing is recorded when `telemetry.opened` or `telemetry.record` is
    /// off. Reading never fails or waits because of it: what cannot be recorded now is not, and
    /// [`Feedback::recording_problem`] says why.
    ///
    /// ```
    /// use tamis::SearchRequest;
    /// use tamis::search::{Asker, SearchCaller};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
    /// # let index = tamis::Index::builder(directory.path()).set("index.models", "static").open()?;
    /// # index.refresh()?;
    /// let caller = SearchCaller::session(&["editor", "window 3"]);
    /// let request = SearchRequest::new("oven temperature").asker(Asker::at("editor").called_by(caller));
    /// let answer = index.search(request)?;
    /// let excerpt = index.get(&answer.results[0].id)?;
    /// assert_eq!(index.feedback().opened(&excerpt, &caller, "editor get"), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn opened<'a>(&self, opened: impl Into<Opened<'a>>, caller: &SearchCaller, entry_point: &str) -> u64 {
        if !self.index.config.telemetry.opened() {
            return 0;
        }
        self.index.usage.attempt(|| self.record_opened(opened.into(), caller, entry_point)).unwrap_or_default()
    }

    fn record_opened(&self, opened: Opened<'_>, caller: &SearchCaller, entry_point: &str) -> Result<u64, Error> {
        let passages: Vec<String> = match opened {
            Opened::Passage(id) => vec![id.to_owned()],
            Opened::Lines { namespace, path, first, last } => {
                let passages = self.index.store.document_passages(namespace, path)?;
                let read = passages.into_iter().filter(|one| one.start_line <= last && one.end_line >= first);
                read.map(|one| one.id).collect()
            }
        };
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let at_ms = now_ms();
        let window = i64::try_from(caller.window.as_millis()).unwrap_or(i64::MAX);
        let since_ms = at_ms.saturating_sub(window);
        let opening = Opening { caller: caller.key, entry_point, passages: &passages, since_ms, at_ms };
        Ok(self.index.usage.log()?.record_opened(&opening)?)
    }

    /// Notes that the answer of a recorded search reached its caller in part: only these passages were shown. What was not
    /// shown is then neither credited nor taken for passed over.
    pub fn shown_in_part(&self, query_id: &str, passages: &[&str]) {
        if self.index.config.telemetry.opened() {
            self.index.usage.attempt(|| Ok(self.index.usage.log()?.narrow_shown(query_id, passages)?));
        }
    }
}

// Imports judgements made elsewhere: each judged query is searched, and its judgements are recorded as if people had
// made them on that answer.

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// The number of queries searched and judged.
    pub queries: u64,
    /// The number of passages judged relevant.
    pub relevant: u64,
    /// The number of relevant passages that were not among the candidates, so that no cut could have kept them.
    pub outside_pool: u64,
    /// The number of passages judged not relevant.
    pub not_relevant: u64,
    /// The number of queries left out because none of their relevant documents is in the index.
    pub skipped: u64,
    /// The number of judgements left out because their document is not in the index.
    pub unknown_documents: u64,
    /// Notes for people about the files.
    pub notes: Vec<String>,
}

/// The number of queries searched before their judgements are recorded. Learning from judgements runs once a batch, and
/// an interrupted import loses at most one batch.
const BATCH: usize = 64;

/// The judgements to record of one search.
struct Said {
    id: String,
    /// Passages, each once, and true if relevant.
    passages: Vec<(String, bool)>,
}

impl Feedback<'_> {
    /// Records the judgements of a directory in BEIR's layout (`queries.jsonl`, `qrels/SPLIT.tsv`). Its documents are
    /// named by their path in this index or by the identifier of a passage. A relevant document makes its best ranked
    /// passage relevant, or its first if none was a candidate; a document that is not relevant makes all of its
    /// candidates so. Importing again replaces the previous import. Judgements recorded before an error or interruption
    /// stay.
    ///
    /// # Errors
    /// A missing or malformed file, recording that is off or fails, or a search that fails.
    pub fn import(
        &self,
        directory: &Path,
        split: &str,
        observer: &dyn Observer,
    ) -> Result<ImportReport, EvaluationError> {
        if !self.index.config.telemetry.record {
            let allowed = "on for judgements to be recorded, since each belongs to a recorded search";
            return Err(Error::argument("telemetry.record", "off", allowed).into());
        }
        let (queries, notes) = queries(directory, split)?;
        let judged: Vec<TestQuery> = queries.into_iter().filter(|query| query.kind == QueryKind::Judged).collect();
        observer.stage(Stage::Answer, judged.len() as u64);
        let mut report = ImportReport { notes, ..ImportReport::default() };
        for batch in judged.chunks(BATCH) {
            let mut said = Vec::with_capacity(batch.len());
            for query in batch {
                if observer.cancelled() {
                    return Err(EvaluationError::Interrupted);
                }
                said.extend(self.ask(query, &mut report)?);
                observer.advance(1);
            }
            let log = self.index.usage.log()?;
            for Said { id, passages } in &said {
                let passages: Vec<(&str, bool)> =
                    passages.iter().map(|(passage, relevant)| (passage.as_str(), *relevant)).collect();
                log.judge(id, &passages, now_ms()).map_err(Error::from)?;
                report.queries += 1;
            }
        }
        if report.queries == 0 {
            let reason = format!(
                "none of the relevant documents of its {} judged queries is in the index of {}; documents are named by their \
                 path there",
                judged.len(),
                self.index.location.root.display()
            );
            return Err(EvaluationError::Path { path: directory.to_owned(), reason });
        }
        Ok(report)
    }

    /// Searches a query and returns the judgements to record; `None` if none of its relevant documents is in the index.
    fn ask(&self, query: &TestQuery, report: &mut ImportReport) -> Result<Option<Said>, EvaluationError> {
        let mut documents: Vec<(bool, Vec<String>)> = Vec::new();
        for (document, &grade) in &query.judged {
            match self.document_passages(document)? {
                passages if passages.is_empty() => report.unknown_documents += 1,
                passages => documents.push((grade > 0, passages)),
            }
        }
        if !documents.iter().any(|(relevant, _)| *relevant) {
            report.skipped += 1;
            return Ok(None);
        }
        let request = SearchRequest::new(query.text.as_str()).asker(Asker::at(IMPORTED_JUDGEMENTS));
        let answer = search_under(&Context::unobserved(self.index), &request, None, &Default::default())?;
        let id = answer.query_id.ok_or_else(|| EvaluationError::Path {
            path: self.index.location.directory.clone(),
            reason: self.recording_problem().unwrap_or_else(|| "the search could not be recorded".into()),
        })?;

        let search = self.index.usage.log()?.search(&id).map_err(Error::from)?;
        let candidates = search.map(|search| search.candidates).unwrap_or_default();
        let ranks: HashMap<&str, usize> =
            candidates.iter().enumerate().map(|(rank, candidate)| (candidate.passage.as_str(), rank)).collect();
        // A passage that belongs to two documents is relevant if either is.
        let mut said: BTreeMap<String, bool> = BTreeMap::new();
        for (relevant, passages) in documents {
            let ranked = passages.iter().filter(|passage| ranks.contains_key(passage.as_str()));
            if relevant {
                let best = ranked.min_by_key(|passage| ranks.get(passage.as_str()));
                report.relevant += 1;
                report.outside_pool += u64::from(best.is_none());
                said.extend(best.or(passages.first()).map(|passage| (passage.clone(), true)));
            } else {
                for passage in ranked {
                    report.not_relevant += 1;
                    said.entry(passage.clone()).or_insert(false);
                }
            }
        }
        Ok(Some(Said { id, passages: said.into_iter().collect() }))
    }

    /// The identifiers of the passages of the document at a path, or of the passage with that identifier.
    fn document_passages(&self, name: &str) -> Result<Vec<String>, Error> {
        let passages = self.index.store.document_passages(&self.index.namespace, name)?;
        if !passages.is_empty() {
            return Ok(passages.into_iter().map(|passage| passage.id).collect());
        }
        let hexadecimal = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let found = if hexadecimal { self.index.store.find(&name.to_ascii_lowercase(), 1)? } else { Vec::new() };
        Ok(found.into_iter().map(|passage| passage.id).filter(|id| id.eq_ignore_ascii_case(name)).collect())
    }
}
