//! Grades pairs with a model, within a budget, each pair once.

use super::budget::{JudgeBudget, JudgeSpent, JudgeStop};
use super::{prompt, reply};
use crate::Error;
use crate::handle::now_ms;
use tamis_embed::{Chat, EmbedError};
use tamis_store::{RecordedGrade, UsageLog};

/// Tries at a reply that can be read, the first included.
const TRIES: usize = 2;

/// A model that grades pairs, with what it has spent.
pub(super) struct Grader<'a> {
    chat: &'a Chat,
    /// The model's name in the configuration.
    name: &'a str,
    log: &'a dyn UsageLog,
    budget: JudgeBudget,
    retry_failed: bool,
    pub spent: JudgeSpent,
}

/// What became of a pair.
pub(super) enum Outcome {
    /// There is a record of it, with or without a grade. `reused`: an earlier run made it.
    Recorded { grade: RecordedGrade, reused: bool },
    /// The run has to end.
    Stopped(JudgeStop),
}

impl<'a> Grader<'a> {
    pub fn new(chat: &'a Chat, name: &'a str, log: &'a dyn UsageLog, budget: JudgeBudget, retry_failed: bool) -> Self {
        Grader { chat, name, log, budget, retry_failed, spent: JudgeSpent::default() }
    }

    /// The record of a pair from an earlier run that need not be made again.
    pub fn recorded(&self, query: &str, passage: &str) -> Result<Option<RecordedGrade>, Error> {
        let known = self.log.grade(&self.chat.config().id(), &prompt::key(query, passage))?;
        Ok(known.filter(|known| known.grade.is_some() || !self.retry_failed))
    }

    /// Grades a pair that has no record yet, and records it at once, so that no call is ever made twice. A reply that cannot be
    /// read is asked for once more, and then recorded as failed.
    ///
    /// # Errors
    /// The model cannot be asked, or the log cannot be written.
    pub fn grade(&mut self, query: &str, passage: &str) -> Result<Outcome, Error> {
        if let Some(grade) = self.recorded(query, passage)? {
            return Ok(Outcome::Recorded { grade, reused: true });
        }
        let prompt = prompt::prompt(query, passage);
        let mut problem = String::new();
        for attempt in 0..TRIES {
            match self.spent.check(self.budget, &prompt) {
                Err(stop) if attempt == 0 => return Ok(Outcome::Stopped(stop)),
                // What came first stands.
                Err(_) => break,
                Ok(()) => {}
            }
            let answer = self.chat.ask(&prompt).map_err(|error| self.unusable(&error))?;
            self.spent.add(&prompt, &answer);
            match reply::read(&answer) {
                Ok((grade, reason)) => return self.record(query, passage, Some(grade), &reason),
                Err(wrong) => problem = wrong,
            }
        }
        self.record(query, passage, None, &problem)
    }

    fn record(&self, query: &str, passage: &str, grade: Option<u8>, reason: &str) -> Result<Outcome, Error> {
        let key = prompt::key(query, passage);
        let grade = self.log.record_grade(&self.chat.config().id(), &key, grade, reason, now_ms())?;
        Ok(Outcome::Recorded { grade, reused: false })
    }

    fn unusable(&self, error: &EmbedError) -> Error {
        let kept =
            if self.spent.calls > 0 { "; the grades so far are kept, and the next run goes on from there" } else { "" };
        Error::Model { model: self.name.to_owned(), reason: format!("{error}{kept}") }
    }
}
