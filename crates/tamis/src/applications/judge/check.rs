//! How far a model's grades agree with people's on a test collection.

use super::budget::{JudgeSpent, JudgeStop};
use super::grader::{Grader, Outcome};
use super::{Grading, JudgePlan, JudgeRequest, empty_plan};
use crate::applications::evaluate::{EvaluationError, JudgedPair, judged_pairs};
use crate::progress::{Observer, Stage};
use serde::Serialize;
use std::path::Path;
use tamis_eval::Agreement;

/// The agreement of a model with people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    /// The model that graded.
    pub model: String,
    /// Pairs that people judged and whose texts are there.
    pub pairs: u64,
    /// Pairs graded now.
    pub graded: u64,
    /// Pairs that an earlier run had graded.
    pub reused: u64,
    /// Pairs without a grade, since the model's reply could not be used.
    pub failed: u64,
    /// Lowest grade of the model that counts as relevant.
    pub relevant_from: u8,
    /// Lowest grade of people that counts as relevant: 1, or 2 where they graded up to 3.
    pub people_relevant_from: i32,
    /// Agreement on relevant or not: people in rows, the model in columns, not relevant first.
    pub relevance: Agreement,
    /// Agreement on the grades 0 to 3, where people graded up to 2 or 3: people in rows.
    pub grades: Option<Agreement>,
    /// What was spent.
    pub spent: JudgeSpent,
    /// Why the run ended early; `None`: every pair is graded.
    pub stopped: Option<JudgeStop>,
    /// What people should know about the figures.
    pub notes: Vec<String>,
    /// Each graded pair.
    pub checked: Vec<CheckedPair>,
}

/// A pair that people and the model judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedPair {
    /// The query's identifier in the collection.
    pub query_id: String,
    /// The document's identifier.
    pub document: String,
    /// What people said.
    pub people: i32,
    /// What the model said; `None`: its reply could not be used.
    pub model: Option<u8>,
    /// The model's reason, or what is wrong with its reply.
    pub reason: String,
}

impl Grading<'_> {
    /// Grades the pairs that people judged in a directory in BEIR's layout (`corpus.jsonl`, `queries.jsonl`,
    /// `qrels/SPLIT.tsv`), in a fixed random order, so that a budget grades a sample, and says how far the model agrees with
    /// them. Grades are kept as those of [`Grading::run`] are; no judgement is made from them. Only the budget and
    /// `relevant_from` of the request count, and whether to ask again where a reply could not be used.
    ///
    /// # Errors
    /// As [`Grading::run`]; a file that is missing or malformed.
    pub fn check(
        &self,
        directory: &Path,
        split: &str,
        request: &JudgeRequest,
        observer: &dyn Observer,
    ) -> Result<CheckReport, EvaluationError> {
        let (name, chat) = self.chat(true)?;
        let relevant_from = self.relevant_from(request.relevant_from)?;
        let (pairs, mut notes) = sampled(directory, split)?;
        let log = self.index.usage.log()?;
        let mut grader = Grader::new(&chat, name, log, request.budget, request.retry_failed);
        let (mut checked, mut stopped) = (Vec::new(), None);
        let (mut graded, mut reused, mut failed) = (0, 0, 0);
        observer.stage(Stage::Answer, pairs.len() as u64);
        for pair in &pairs {
            if observer.cancelled() {
                stopped = Some(JudgeStop::Interrupted);
                break;
            }
            match grader.grade(&pair.query, &pair.text)? {
                Outcome::Stopped(stop) => {
                    stopped = Some(stop);
                    break;
                }
                Outcome::Recorded { grade, reused: before } => {
                    let counted = match (grade.grade, before) {
                        (None, _) => &mut failed,
                        (_, true) => &mut reused,
                        (_, false) => &mut graded,
                    };
                    *counted += 1;
                    checked.push(CheckedPair {
                        query_id: pair.query_id.clone(),
                        document: pair.document.clone(),
                        people: pair.grade,
                        model: grade.grade,
                        reason: grade.reason,
                    });
                }
            }
            observer.advance(1);
        }
        let highest = pairs.iter().map(|pair| pair.grade).max().unwrap_or_default();
        let people_relevant_from = if highest >= 3 { 2 } else { 1 };
        let both: Vec<(i32, u8)> = checked.iter().filter_map(|pair| Some((pair.people, pair.model?))).collect();
        let relevance = |&(people, model): &(i32, u8)| {
            (usize::from(people >= people_relevant_from), usize::from(model >= relevant_from))
        };
        let relevance = Agreement::of(&both.iter().map(relevance).collect::<Vec<_>>(), 2);
        let scale = |&(people, model): &(i32, u8)| (people.max(0) as usize, usize::from(model));
        let grades = (2..=3).contains(&highest);
        let grades = grades.then(|| Agreement::of(&both.iter().map(scale).collect::<Vec<_>>(), 4));
        notes.extend(remarks(&both, highest, people_relevant_from));
        Ok(CheckReport {
            model: chat.config().id(),
            pairs: pairs.len() as u64,
            graded,
            reused,
            failed,
            relevant_from,
            people_relevant_from,
            relevance,
            grades,
            spent: grader.spent,
            stopped,
            notes,
            checked,
        })
    }

    /// What [`Grading::check`] would send. Nothing is sent.
    ///
    /// # Errors
    /// As [`Grading::check`], except that the model's key is not needed.
    pub fn plan_check(
        &self,
        directory: &Path,
        split: &str,
        request: &JudgeRequest,
    ) -> Result<JudgePlan, EvaluationError> {
        let (name, chat) = self.chat(false)?;
        let (pairs, _) = sampled(directory, split)?;
        let grader = Grader::new(&chat, name, self.index.usage.log()?, request.budget, request.retry_failed);
        let mut plan = empty_plan(&chat, request.budget);
        let mut queries: Vec<&str> = pairs.iter().map(|pair| pair.query_id.as_str()).collect();
        queries.sort_unstable();
        queries.dedup();
        plan.queries = queries.len() as u64;
        for pair in &pairs {
            plan.add(&grader, &pair.query, &pair.text, pair.document.clone(), None)?;
        }
        Ok(plan)
    }
}

/// The judged pairs in a random order that is always the same.
fn sampled(directory: &Path, split: &str) -> Result<(Vec<JudgedPair>, Vec<String>), EvaluationError> {
    let (mut pairs, notes) = judged_pairs(directory, split)?;
    pairs.sort_by_cached_key(|pair| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(pair.query_id.as_bytes()).update(&[0]).update(pair.document.as_bytes());
        *hasher.finalize().as_bytes()
    });
    Ok((pairs, notes))
}

/// What limits the figures.
fn remarks(both: &[(i32, u8)], highest: i32, people_relevant_from: i32) -> Vec<String> {
    let mut notes = Vec::new();
    let relevant = both.iter().filter(|(people, _)| *people >= people_relevant_from).count();
    if !both.is_empty() && (relevant == 0 || relevant == both.len()) {
        let which = if relevant == 0 { "not relevant" } else { "relevant" };
        notes.push(format!(
            "people judged all {} graded pairs {which}, so agreement says little; use judgements of both kinds",
            both.len()
        ));
    }
    if highest == 2 {
        notes.push("people graded 0 to 2 and the model 0 to 3, so grades agree less than they could".into());
    }
    notes
}
