//! The figures of one list or of several together.

use crate::answers::Answered;
use crate::list::Topic;
use crate::measure::{Measured, Series};
use serde::Serialize;

/// How well questions were served after one number of other questions.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Questions with an answer in the tree.
    pub answerable: usize,
    /// Share of them with an expected document as the first of the pool.
    pub first: f64,
    /// Share of them with an expected document among the first ten of the pool.
    pub first_ten: f64,
    /// Share of them with an expected document kept.
    pub expected_kept: f64,
    /// Median number of results kept for them.
    pub kept_median: usize,
    /// The number of results that nine tenths of them do not exceed.
    pub kept_90: usize,
    /// Median number of documents kept for them.
    pub documents_median: usize,
    /// Share of them with an empty answer.
    pub wrongly_empty: f64,
    /// Questions on a neighbouring subject that the tree does not answer.
    pub near: usize,
    /// Share of them with an answer that is not empty.
    pub near_answered: f64,
    /// Questions on a far subject.
    pub far: usize,
    /// Share of them with an answer that is not empty.
    pub far_answered: f64,
}

/// How far answers moved after one number of other questions.
#[derive(Clone, Debug, Serialize)]
pub struct Drift {
    /// The number of other questions.
    pub past: usize,
    /// Questions compared.
    pub questions: usize,
    /// Share of the questions whose kept set differs by more than a quarter, and by more than one result, from the first answer.
    pub drifted: f64,
    /// Share of the questions whose answer was not empty at first and is now.
    pub emptied: f64,
}

/// The questions that were not served.
pub type Misses<'a> = Vec<(&'a Measured, &'a Series, &'a Answered)>;

impl Figures {
    /// Returns the figures of all questions of these lists, after the number of other questions at place `past`.
    #[must_use]
    pub fn of(lists: &[&Measured], past: usize) -> Figures {
        let answers = |topic: Topic| -> Vec<&Answered> {
            let series = lists.iter().flat_map(|list| &list.questions);
            series.filter(|series| series.question.topic == topic).map(|series| &series.answers[past]).collect()
        };
        let (answerable, near, far) = (answers(Topic::Answerable), answers(Topic::Near), answers(Topic::Far));
        let within = |most: usize| move |answer: &Answered| answer.rank.is_some_and(|rank| rank <= most);
        let kept = sorted(&answerable, |answer| answer.kept.len());
        Figures {
            answerable: answerable.len(),
            first: share(&answerable, within(1)),
            first_ten: share(&answerable, within(10)),
            expected_kept: share(&answerable, |answer| answer.expected_kept),
            kept_median: quantile(&kept, 50),
            kept_90: quantile(&kept, 90),
            documents_median: quantile(&sorted(&answerable, |answer| answer.documents), 50),
            wrongly_empty: share(&answerable, Answered::is_empty),
            near: near.len(),
            near_answered: share(&near, |answer| !answer.is_empty()),
            far: far.len(),
            far_answered: share(&far, |answer| !answer.is_empty()),
        }
    }
}

impl Drift {
    /// Returns the drift of all questions of these lists, one for each number of other questions but the first.
    #[must_use]
    pub fn of(lists: &[&Measured]) -> Vec<Drift> {
        let pasts = lists.first().map_or(&[][..], |list| &list.pasts);
        let series: Vec<&Series> = lists.iter().flat_map(|list| &list.questions).collect();
        let drift = |(at, &past): (usize, &usize)| Drift {
            past,
            questions: series.len(),
            drifted: share(&series, |series| series.answers[at].drifted_from(&series.answers[0])),
            emptied: share(&series, |series| series.answers[at].is_empty() && !series.answers[0].is_empty()),
        };
        pasts.iter().enumerate().skip(1).map(drift).collect()
    }
}

impl Measured {
    /// Returns the questions that were not served after the number of other questions at place `past`.
    #[must_use]
    pub fn misses(&self, past: usize) -> Misses<'_> {
        let answered = self.questions.iter().map(|series| (self, series, &series.answers[past]));
        answered.filter(|(_, series, answer)| !answer.serves(&series.question)).collect()
    }
}

fn share<T>(items: &[&T], holds: impl Fn(&T) -> bool) -> f64 {
    let count = items.iter().filter(|&&item| holds(item)).count();
    if items.is_empty() { 0.0 } else { count as f64 / items.len() as f64 }
}

fn sorted(answers: &[&Answered], number: impl Fn(&Answered) -> usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = answers.iter().map(|answer| number(answer)).collect();
    numbers.sort_unstable();
    numbers
}

/// The smallest number that at least so many percent of the sorted ones do not exceed.
fn quantile(sorted: &[usize], percent: usize) -> usize {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::Question;

    fn answered(rank: Option<usize>, kept: &[&str], expected_kept: bool) -> Answered {
        Answered {
            rank,
            expected_kept,
            kept: kept.iter().map(|&id| id.to_owned()).collect(),
            documents: kept.len(),
            first: None,
            method: "auto".into(),
            reason: String::new(),
        }
    }

    fn series(topic: Topic, answers: Vec<Answered>) -> Series {
        Series { question: Question { ask: "how".into(), topic, expect: vec!["a.md".into()] }, answers }
    }

    fn list(questions: Vec<Series>) -> Measured {
        let (tree, model) = ("house".to_owned(), "static".to_owned());
        Measured { tree, model, documents: 9, passages: 20, pasts: vec![0, 5], questions }
    }

    #[test]
    fn figures_count_each_kind_of_question_by_itself() {
        let list = list(vec![
            series(Topic::Answerable, vec![answered(Some(1), &["1", "2"], true); 2]),
            series(Topic::Answerable, vec![answered(Some(4), &["3", "4", "5"], false); 2]),
            series(Topic::Answerable, vec![answered(None, &[], false); 2]),
            series(Topic::Near, vec![answered(None, &["6"], false); 2]),
            series(Topic::Far, vec![answered(None, &[], false); 2]),
        ]);
        let figures = Figures::of(&[&list], 0);
        let third = 1.0 / 3.0;
        assert_eq!((figures.answerable, figures.near, figures.far), (3, 1, 1));
        assert_eq!((figures.first, figures.first_ten, figures.expected_kept), (third, 2.0 / 3.0, third));
        assert_eq!((figures.kept_median, figures.kept_90, figures.wrongly_empty), (2, 3, third));
        assert_eq!((figures.near_answered, figures.far_answered), (1.0, 0.0));
        let missed: Vec<Option<usize>> = list.misses(0).iter().map(|(_, _, answer)| answer.rank).collect();
        assert_eq!(missed, [Some(4), None, None]);
    }

    #[test]
    fn one_result_or_a_quarter_is_no_drift() {
        let eight = ["1", "2", "3", "4", "5", "6", "7", "8"];
        let pair = |before: &[&str], after: &[&str]| {
            let answers = vec![answered(Some(1), before, true), answered(Some(1), after, true)];
            Drift::of(&[&list(vec![series(Topic::Answerable, answers)])]).remove(0)
        };
        assert_eq!(pair(&eight, &eight[..6]).drifted, 0.0);
        assert_eq!(pair(&eight, &eight[..5]).drifted, 1.0);
        assert_eq!(pair(&eight[..1], &eight[..2]).drifted, 0.0);
        assert_eq!(pair(&eight[..1], &eight[..3]).drifted, 1.0);
        let emptied = pair(&eight[..1], &[]);
        assert_eq!((emptied.past, emptied.drifted, emptied.emptied), (5, 0.0, 1.0));
    }
}
