//! Asks the questions of a list, each on an index that recorded nothing and after others.

use crate::answers::Answered;
use crate::index::{IndexedTree, Log};
use crate::list::{List, Question};
use anyhow::{Result, ensure};
use serde::Serialize;

/// The numbers of other questions after which each question is asked.
pub const PASTS: [usize; 7] = [0, 1, 2, 5, 10, 50, 200];

/// The answers to the questions of one list with one model.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The list.
    pub tree: String,
    /// The model of the semantic retriever.
    pub model: String,
    /// Documents of the tree.
    pub documents: u64,
    /// Passages of the tree.
    pub passages: u64,
    /// The numbers of other questions asked before.
    pub pasts: Vec<usize>,
    /// One for each question.
    pub questions: Vec<Series>,
}

/// One question, and its answer after each number of others.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// Its answers, in the order of [`Measured::pasts`].
    pub answers: Vec<Answered>,
}

/// Returns the questions of all lists but one, taken in turn from each.
#[must_use]
pub fn foreign(lists: &[List], tree: &str) -> Vec<Question> {
    let others: Vec<&List> = lists.iter().filter(|list| list.name != tree).collect();
    let longest = others.iter().map(|list| list.questions.len()).max().unwrap_or_default();
    let turn = |at: usize| others.iter().filter_map(move |list| list.questions.get(at));
    (0..longest).flat_map(turn).cloned().collect()
}

/// Asks every question of a list after each number of `pasts`, which ascend. Every answer comes from an index that recorded exactly
/// that many other questions: those of the other half of the list, in turn with `foreign` ones.
///
/// # Errors
/// A search fails, or there are too few other questions.
pub fn measure(list: &List, tree: &IndexedTree, foreign: &[Question], pasts: &[usize]) -> Result<Measured> {
    let mut questions: Vec<Series> =
        list.questions.iter().map(|question| Series { question: question.clone(), answers: Vec::new() }).collect();
    for half in 0..2 {
        let own = list.questions.iter().skip(1 - half).step_by(2);
        let others = alternating(own, foreign.iter());
        let most = pasts.last().copied().unwrap_or_default();
        ensure!(others.len() >= most, "{}: there are {} other questions, not {most}", list.name, others.len());
        let (mut log, mut asked) = (Log::default(), 0);
        for &past in pasts {
            if past > asked {
                tree.set_log(&log)?;
                let index = tree.open()?;
                for other in &others[asked..past] {
                    Answered::to(other, &index)?;
                }
                drop(index);
                (log, asked) = (tree.log()?, past);
            }
            for series in questions.iter_mut().skip(half).step_by(2) {
                tree.set_log(&log)?;
                series.answers.push(Answered::to(&series.question, &tree.open()?)?);
            }
        }
    }
    let (documents, passages) = (tree.documents, tree.passages);
    Ok(Measured {
        tree: list.name.clone(),
        model: tree.model().name().into(),
        documents,
        passages,
        pasts: pasts.into(),
        questions,
    })
}

/// Takes from both in turn, and goes on with the one that is left.
fn alternating<'a>(
    mut first: impl Iterator<Item = &'a Question>,
    mut second: impl Iterator<Item = &'a Question>,
) -> Vec<&'a Question> {
    let mut all = Vec::new();
    loop {
        let turn = [first.next(), second.next()];
        if turn.iter().all(Option::is_none) {
            return all;
        }
        all.extend(turn.into_iter().flatten());
    }
}
