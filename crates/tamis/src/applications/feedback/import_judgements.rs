//! Imports judgements made elsewhere: each judged query is searched, and its judgements are recorded as if people had
//! made them on that answer.

use super::Feedback;
use crate::Error;
use crate::applications::evaluate::{EvaluationError, TestQuery, queries};
use crate::handle::now_ms;
use crate::progress::{Observer, Stage};
use crate::search::{Context, IMPORTED_JUDGEMENTS, SearchRequest, search_under};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use tamis_eval::QueryKind;

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
            let allowed = "on for judgements to be taken down, since each belongs to a recorded search";
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
        let request =
            SearchRequest { entry_point: Some(IMPORTED_JUDGEMENTS.into()), ..SearchRequest::new(query.text.as_str()) };
        let answer = search_under(&Context::of(self.index), &request, None, &Default::default())?;
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
