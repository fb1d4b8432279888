//! Judgements by a model: a chat model at an OpenAI-compatible endpoint grades the candidates of past or given queries 0 to 3, and
//! the grades become judgements that the cut learns from.
//!
//! The prompt is that of UMBRELA, as used in the TREC 2024 RAG track (`prompt`). A reply is read strictly (`reply`); each pair of
//! query and passage is graded once and its grade kept (`grader`), so that a run that ends at its budget (`budget`) goes
//! on where it was. [`Grading::check`] says how far the model agrees with people before anyone relies on it (`check`).
//!
//! Text leaves the machine here if the endpoint is elsewhere. That needs a model that the user configured or trusts
//! (`judge.model`), and for past queries their owner's consent to keep query texts (`telemetry.queries`).

mod budget;
mod check;
mod grader;
mod prompt;
mod queries_file;
mod reply;

pub use budget::{JudgeBudget, JudgeSpent, JudgeStop};
pub use check::{CheckReport, CheckedPair};
pub use queries_file::queries_from_file;
pub use tamis_eval::Agreement;
pub use tamis_store::{GradedPassage, ModelGrade, RemovedGrades};

use crate::Error;
use crate::handle::{Index, now_ms};
use crate::progress::{Observer, Stage};
use crate::search::{IMPORTED_JUDGEMENTS, MODEL_JUDGEMENTS, SearchRequest};
use budget::{EXPECTED_REPLY, estimated};
use grader::{Grader, Outcome};
use serde::Serialize;
use tamis_embed::Chat;
use tamis_store::{RecordedSearch, ScoringKind, StoredPassage, UsageLog};

/// Grades results with a chat model. From [`Index::judge`].
#[derive(Clone, Copy)]
pub struct Grading<'a> {
    index: &'a Index,
}

impl Index {
    /// Grades by a chat model, and the judgements made from them.
    pub fn judge(&self) -> Grading<'_> {
        Grading { index: self }
    }
}

/// The queries to grade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgeQueries {
    /// The last so many different queries whose text is kept, with the candidates that they had.
    Past(usize),
    /// These, which are searched anew.
    Given(Vec<String>),
}

/// What to grade and what it may cost. [`JudgeRequest::new`] takes the rest from the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeRequest {
    /// The queries.
    pub queries: JudgeQueries,
    /// Candidates of each, the best first, 1 to 100. `None`: `judge.depth`.
    pub depth: Option<usize>,
    /// Lowest grade that counts as relevant, 1 to 3. `None`: `judge.relevant_from`.
    pub relevant_from: Option<u8>,
    /// What may be spent.
    pub budget: JudgeBudget,
    /// Ask again for pairs whose replies could not be used.
    pub retry_failed: bool,
}

impl JudgeRequest {
    /// These queries, with the configuration's settings and the usual budget.
    pub fn new(queries: JudgeQueries) -> Self {
        let budget = JudgeBudget::default();
        JudgeRequest { queries, depth: None, relevant_from: None, budget, retry_failed: false }
    }
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgeReport {
    /// The model that graded.
    pub model: String,
    /// Lowest grade that counts as relevant.
    pub relevant_from: u8,
    /// Queries of which candidates were graded, now or before.
    pub queries: u64,
    /// Pairs graded now.
    pub graded: u64,
    /// Pairs that an earlier run had graded.
    pub reused: u64,
    /// Pairs without a grade, since the model's reply could not be used.
    pub failed: u64,
    /// Passages judged relevant.
    pub relevant: u64,
    /// Passages judged not relevant.
    pub not_relevant: u64,
    /// Candidates of past queries that have left the index.
    pub gone: u64,
    /// What was spent.
    pub spent: JudgeSpent,
    /// Why the run ended early; `None`: everything is graded.
    pub stopped: Option<JudgeStop>,
    /// Each pair with what the model said of it.
    pub grades: Vec<GradedCandidate>,
}

/// A candidate with what the model said of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GradedCandidate {
    /// The identifier of the search.
    pub query_id: String,
    /// The query.
    pub query: String,
    /// The candidate's rank, from 1.
    pub rank: usize,
    /// The passage's identifier.
    pub passage: String,
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path of its document.
    pub path: String,
    /// Its first line.
    pub start_line: u32,
    /// The grade, 0 to 3; `None`: the reply could not be used.
    pub grade: Option<u8>,
    /// Whether that counts as relevant; `None` without a grade.
    pub relevant: Option<bool>,
    /// The model's reason, or what is wrong with its reply.
    pub reason: String,
    /// True if an earlier run had graded it.
    pub reused: bool,
}

/// What a run would send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgePlan {
    /// The model that would grade.
    pub model: String,
    /// The address that would receive the texts.
    pub url: String,
    /// Queries.
    pub queries: u64,
    /// Pairs of a query and a passage.
    pub pairs: u64,
    /// Pairs that an earlier run has graded, which are not sent.
    pub reused: u64,
    /// Calls to make, without those that repeat an unusable reply.
    pub calls: u64,
    /// Estimated tokens of prompts and replies together.
    pub tokens: u64,
    /// The budget, at which a run ends.
    pub budget: JudgeBudget,
    /// Every message to be sent.
    pub messages: Vec<PlannedMessage>,
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedMessage {
    /// The query.
    pub query: String,
    /// The path of the passage, or the document of a test collection.
    pub path: String,
    /// The passage's first line; `None` for a document of a test collection.
    pub start_line: Option<u32>,
    /// The whole text that would be sent.
    pub prompt: String,
}

/// A query with the passages to grade.
struct Query {
    text: String,
    /// The best candidates with their ranks from 1.
    passages: Vec<(usize, StoredPassage)>,
    /// Candidates that have left the index.
    gone: u64,
}

impl Grading<'_> {
    /// Grades the candidates of queries, and records the grades as judgements of their searches. What a person judged stands
    /// whatever the model says. Everything is kept as it comes: a run that is stopped or fails is continued by the next.
    ///
    /// # Errors
    /// No model is configured or it cannot be asked, an argument is out of range, past queries without their text, or the log
    /// cannot be written.
    pub fn run(&self, request: &JudgeRequest, observer: &dyn Observer) -> Result<JudgeReport, Error> {
        let (name, chat) = self.chat(true)?;
        let (depth, relevant_from) = self.checked(request)?;
        let log = self.recording_log()?;
        let mut grader = Grader::new(&chat, name, log, request.budget, request.retry_failed);
        let mut report = JudgeReport {
            model: chat.config().id(),
            relevant_from,
            queries: 0,
            graded: 0,
            reused: 0,
            failed: 0,
            relevant: 0,
            not_relevant: 0,
            gone: 0,
            spent: JudgeSpent::default(),
            stopped: None,
            grades: Vec::new(),
        };
        let searches = self.searches(&request.queries, log)?;
        observer.stage(Stage::Answer, searches.len() as u64);
        for asked in &searches {
            if observer.cancelled() {
                report.stopped = Some(JudgeStop::Interrupted);
                break;
            }
            let search = match asked {
                Asked::Past(search) => (**search).clone(),
                Asked::Given(text) => self.searched(text, log)?,
            };
            let query = self.query(&search, asked.text(), depth)?;
            report.gone += query.gone;
            let already = report.grades.len();
            let graded = self.grade(&query, &search.id, &mut grader, observer, &mut report);
            // What was graded counts, also where the next call failed.
            let new = &report.grades[already..];
            if !new.is_empty() {
                report.queries += 1;
            }
            self.record(&search.id, new, &query, &grader, log)?;
            graded?;
            observer.advance(1);
            if report.stopped.is_some() {
                break;
            }
        }
        report.spent = grader.spent;
        Ok(report)
    }

    /// What [`Grading::run`] would send. Nothing is sent, and no search is recorded.
    ///
    /// # Errors
    /// As [`Grading::run`], except that the model's key is not needed.
    pub fn plan(&self, request: &JudgeRequest) -> Result<JudgePlan, Error> {
        let (name, chat) = self.chat(false)?;
        let (depth, _) = self.checked(request)?;
        let log = self.index.usage.log()?;
        let grader = Grader::new(&chat, name, log, request.budget, request.retry_failed);
        let mut plan = empty_plan(&chat, request.budget);
        for asked in self.searches(&request.queries, log)? {
            let query = match &asked {
                Asked::Past(search) => self.query(search, asked.text(), depth)?,
                Asked::Given(text) => {
                    let passages = self.index.searcher().ranked_passages(&SearchRequest::new(text.as_str()), depth)?;
                    Query { text: text.clone(), passages: (1..).zip(passages).collect(), gone: 0 }
                }
            };
            plan.queries += 1;
            for (_, passage) in &query.passages {
                let (path, line) = (passage.path.clone(), Some(passage.start_line));
                plan.add(&grader, &query.text, &shown(passage), path, line)?;
            }
        }
        Ok(plan)
    }

    /// The last judgements that were made from grades, latest first, at most `limit`.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn graded(&self, limit: usize) -> Result<Vec<GradedPassage>, Error> {
        Ok(self.index.usage.log()?.graded(limit)?)
    }

    /// Deletes the grades of a model with the judgements made from them; `None`: of all models. A model is named as the
    /// configuration or as the list names it.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn remove(&self, model: Option<&str>) -> Result<RemovedGrades, Error> {
        let id = model.map(|model| match self.index.models.chat(model, false) {
            Ok(chat) => chat.config().id(),
            Err(_) => model.to_owned(),
        });
        Ok(self.index.usage.log()?.remove_grades(id.as_deref())?)
    }

    /// The configured chat model with its name. `to_ask`: its key is needed.
    fn chat(&self, to_ask: bool) -> Result<(&str, Chat), Error> {
        let name = self.index.config.judge.model.as_deref().ok_or_else(|| {
            let allowed = "the name of a [models.NAME] with provider = \"openai\" that grades passages";
            Error::argument("judge.model", "off", allowed)
        })?;
        Ok((name, self.index.models.chat(name, to_ask)?))
    }

    fn checked(&self, request: &JudgeRequest) -> Result<(usize, u8), Error> {
        let depth = request.depth.unwrap_or(self.index.config.judge.depth);
        if !(1..=100).contains(&depth) {
            return Err(Error::argument("depth", depth.to_string(), "1 to 100"));
        }
        Ok((depth, self.relevant_from(request.relevant_from)?))
    }

    fn relevant_from(&self, asked: Option<u8>) -> Result<u8, Error> {
        match asked.unwrap_or(self.index.config.judge.relevant_from) {
            grade @ 1..=3 => Ok(grade),
            grade => Err(Error::argument("relevant from", grade.to_string(), "1 to 3")),
        }
    }

    /// The log, where judgements can be recorded.
    fn recording_log(&self) -> Result<&dyn UsageLog, Error> {
        if !self.index.config.telemetry.record {
            let allowed = "on for judgements to be recorded, since each belongs to a recorded search";
            return Err(Error::argument("telemetry.record", "off", allowed));
        }
        self.index.usage.log()
    }

    /// The queries, past ones with their searches.
    fn searches(&self, queries: &JudgeQueries, log: &dyn UsageLog) -> Result<Vec<Asked>, Error> {
        let limit = match queries {
            JudgeQueries::Given(texts) => return Ok(texts.iter().cloned().map(Asked::Given).collect()),
            JudgeQueries::Past(limit) => *limit,
        };
        if !self.index.config.telemetry.queries {
            let allowed =
                "on for past queries to be judged, since only then is their text kept; or give queries in a file";
            return Err(Error::argument("telemetry.queries", "off", allowed));
        }
        let mut past = Vec::new();
        for id in log.searches_with_text(MODEL_JUDGEMENTS, limit)? {
            let Some(search) = log.search(&id)? else { continue };
            // Imported queries are judged, and the candidates of the others are not passages of the index.
            let of_passages = matches!(search.scoring.kind, ScoringKind::Search | ScoringKind::Memories);
            if of_passages && search.entry_point != IMPORTED_JUDGEMENTS && !search.candidates.is_empty() {
                past.push(Asked::Past(Box::new(search)));
            }
        }
        Ok(past)
    }

    /// Searches a query, so that its candidates can be judged, and returns the record. An earlier one that is just the same is
    /// taken in its place, and one that is not is replaced, unless a person judged it.
    fn searched(&self, text: &str, log: &dyn UsageLog) -> Result<RecordedSearch, Error> {
        let request = SearchRequest { entry_point: Some(MODEL_JUDGEMENTS.into()), ..SearchRequest::new(text) };
        let answer = self.index.searcher().search_under(&request, None, &Default::default(), &())?;
        let unrecorded = || {
            let reason = self.index.usage.problem().unwrap_or_else(|| "the search could not be recorded".into());
            Error::path(&self.index.location.directory, reason)
        };
        let id = answer.query_id.ok_or_else(unrecorded)?;
        let search = log.search(&id)?.ok_or_else(unrecorded)?;
        let Some(earlier) = log.search_of(&search.query_hash, MODEL_JUDGEMENTS, &id)? else { return Ok(search) };
        let what = |search: &RecordedSearch| {
            let passages = search.candidates.iter().map(|candidate| candidate.passage.clone()).collect::<Vec<_>>();
            (search.namespace.clone(), search.mode.clone(), search.model.clone(), search.scoring.clone(), passages)
        };
        if what(&earlier) == what(&search) {
            log.forget(&id)?;
            return Ok(earlier);
        }
        if log.judgements(&earlier.id)?.iter().all(|judgement| judgement.grade.is_some()) {
            log.forget(&earlier.id)?;
        }
        Ok(search)
    }

    /// The best candidates of a search, as far as the index still has them.
    fn query(&self, search: &RecordedSearch, text: &str, depth: usize) -> Result<Query, Error> {
        let mut query = Query { text: text.to_owned(), passages: Vec::new(), gone: 0 };
        for (candidate, rank) in search.candidates.iter().take(depth).zip(1..) {
            let found = self.index.store.find(&candidate.passage, 1)?;
            match found.into_iter().find(|found| found.id == candidate.passage) {
                Some(passage) => query.passages.push((rank, passage)),
                None => query.gone += 1,
            }
        }
        Ok(query)
    }

    /// Grades the passages of a query and adds them to the report.
    fn grade(
        &self,
        query: &Query,
        query_id: &str,
        grader: &mut Grader<'_>,
        observer: &dyn Observer,
        report: &mut JudgeReport,
    ) -> Result<(), Error> {
        for (rank, passage) in &query.passages {
            if observer.cancelled() {
                report.stopped = Some(JudgeStop::Interrupted);
                return Ok(());
            }
            let (grade, reused) = match grader.grade(&query.text, &shown(passage))? {
                Outcome::Recorded { grade, reused } => (grade, reused),
                Outcome::Stopped(stop) => {
                    report.stopped = Some(stop);
                    return Ok(());
                }
            };
            let relevant = grade.grade.map(|grade| grade >= report.relevant_from);
            let counted = match (relevant, reused) {
                (None, _) => &mut report.failed,
                (_, true) => &mut report.reused,
                (_, false) => &mut report.graded,
            };
            *counted += 1;
            report.relevant += u64::from(relevant == Some(true));
            report.not_relevant += u64::from(relevant == Some(false));
            report.grades.push(GradedCandidate {
                query_id: query_id.to_owned(),
                query: query.text.clone(),
                rank: *rank,
                passage: passage.id.clone(),
                namespace: passage.namespace.clone(),
                path: passage.path.clone(),
                start_line: passage.start_line,
                grade: grade.grade,
                relevant,
                reason: grade.reason,
                reused,
            });
        }
        Ok(())
    }

    /// Records the judgements that grades amount to.
    fn record(
        &self,
        query_id: &str,
        grades: &[GradedCandidate],
        query: &Query,
        grader: &Grader<'_>,
        log: &dyn UsageLog,
    ) -> Result<(), Error> {
        let mut judged = Vec::new();
        for graded in grades {
            let Some(relevant) = graded.relevant else { continue };
            let passage = query.passages.iter().find(|(rank, _)| *rank == graded.rank);
            let Some((_, passage)) = passage else { continue };
            if let Some(record) = grader.recorded(&query.text, &shown(passage))? {
                judged.push((graded.passage.as_str(), relevant, record.number));
            }
        }
        log.judge_by_grades(query_id, &judged, now_ms())?;
        Ok(())
    }
}

/// A query that is to be judged.
enum Asked {
    /// A recorded search with its text.
    Past(Box<RecordedSearch>),
    /// A query to search.
    Given(String),
}

impl Asked {
    fn text(&self) -> &str {
        match self {
            Asked::Past(search) => search.query_text.as_deref().unwrap_or_default(),
            Asked::Given(text) => text,
        }
    }
}

/// A passage as the model sees it: its place and name, then its text.
fn shown(passage: &StoredPassage) -> String {
    let name = passage.symbol.as_ref().or(passage.heading.as_ref()).or(passage.title.as_ref());
    let name = name.map(|name| format!(": {name}")).unwrap_or_default();
    format!("{}{name}\n\n{}", passage.path, passage.text)
}

fn empty_plan(chat: &Chat, budget: JudgeBudget) -> JudgePlan {
    JudgePlan {
        model: chat.config().id(),
        url: chat.url(),
        queries: 0,
        pairs: 0,
        reused: 0,
        calls: 0,
        tokens: 0,
        budget,
        messages: Vec::new(),
    }
}

impl JudgePlan {
    /// Adds a pair, unless it is graded already.
    fn add(
        &mut self,
        grader: &Grader<'_>,
        query: &str,
        passage: &str,
        path: String,
        start_line: Option<u32>,
    ) -> Result<(), Error> {
        self.pairs += 1;
        if grader.recorded(query, passage)?.is_some() {
            self.reused += 1;
            return Ok(());
        }
        let prompt = prompt::prompt(query, passage);
        self.calls += 1;
        self.tokens += estimated(&prompt) + EXPECTED_REPLY;
        self.messages.push(PlannedMessage { query: query.to_owned(), path, start_line, prompt });
        Ok(())
    }
}
