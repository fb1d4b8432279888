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
    /// Share of them with an expected document kept: above the line.
    pub expected_kept: f64,
    /// Share of them with an expected document above the line, or among the few below it.
    pub visible: f64,
    /// Mean number of results kept for them.
    pub kept_mean: f64,
    /// Median number of results kept for them.
    pub kept_median: usize,
    /// The number of results that nine tenths of them do not exceed.
    pub kept_90: usize,
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
    /// Expected calibration error of the probabilities shown, in ten bins: the mean difference between what is said and what is so.
    pub calibration_error: f64,
    /// The probability of the best entry that a tenth, a half and nine tenths of the answerable questions do not exceed.
    pub best: [f64; 3],
    /// Mean milliseconds until an answer.
    pub milliseconds: f64,
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
            visible: share(&answerable, |answer| answer.visible),
            kept_mean: kept.iter().sum::<usize>() as f64 / kept.len().max(1) as f64,
            kept_median: quantile(&kept, 50),
            kept_90: quantile(&kept, 90),
            wrongly_empty: share(&answerable, Answered::is_empty),
            near: near.len(),
            near_answered: share(&near, |answer| !answer.is_empty()),
            far: far.len(),
            far_answered: share(&far, |answer| !answer.is_empty()),
            calibration_error: calibration_error(
                [&answerable, &near, &far].into_iter().flatten().flat_map(|answer| &answer.probabilities),
            ),
            best: [10, 50, 90].map(|percent| {
                let promille = quantile(&sorted(&answerable, |answer| (1000.0 * answer.best) as usize), percent);
                promille as f64 / 1000.0
            }),
            milliseconds: {
                let all = [&answerable, &near, &far].into_iter().flatten();
                let count = answerable.len() + near.len() + far.len();
                all.map(|answer| answer.milliseconds).sum::<f64>() / count.max(1) as f64
            },
        }
    }
}

/// The mean difference, over bins of a tenth weighed by their size, between the mean probability and the share that was right.
fn calibration_error<'a>(shown: impl Iterator<Item = &'a (f64, bool)>) -> f64 {
    let mut bins = [(0.0, 0.0); 10];
    let mut count = 0.0;
    for &(probability, right) in shown {
        let (said, so) = &mut bins[((10.0 * probability) as usize).min(9)];
        *said += probability;
        *so += f64::from(u8::from(right));
        count += 1.0;
    }
    bins.iter().map(|(said, so): &(f64, f64)| (said - so).abs()).sum::<f64>() / f64::max(count, 1.0)
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
            visible: expected_kept,
            probabilities: kept.iter().map(|_| (0.5, expected_kept)).collect(),
            best: 0.5,
            milliseconds: 2.0,
            first: None,
            method: "auto".into(),
            reason: String::new(),
        }
    }

    fn series(topic: Topic, answers: Vec<Answered>) -> Series {
        Series { question: Question { topic, ..Question::answered_by("how", vec!["a.md".into()]) }, answers }
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
        assert_eq!((figures.visible, figures.kept_mean, figures.milliseconds), (third, 5.0 / 3.0, 2.0));
        // Two of six results are right, and all say one half.
        assert!((figures.calibration_error - (0.5 - third)).abs() < 1e-9 && figures.best == [0.5; 3], "{figures:?}");
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
        assert_eq!([pair(&eight, &eight[..6]).drifted, pair(&eight, &eight[..5]).drifted], [0.0, 1.0]);
        assert_eq!([pair(&eight[..1], &eight[..2]).drifted, pair(&eight[..1], &eight[..3]).drifted], [0.0, 1.0]);
        let emptied = pair(&eight[..1], &[]);
        assert_eq!((emptied.past, emptied.drifted, emptied.emptied), (5, 0.0, 1.0));
    }
}
