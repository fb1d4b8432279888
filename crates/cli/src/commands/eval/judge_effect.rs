//! What a judge changes: the same queries decided with it and without.

use crate::progress::Progress;
use serde::Serialize;
use std::sync::{Mutex, PoisonError};
use tamis::{Observer, Stage};
use tamis_eval::{CollectionReport, Metric, NO_FIGURE, Report, Table};

/// The change that a judge makes.
#[derive(Debug, Serialize)]
pub struct JudgeEffect {
    /// Name of the cut that asked it.
    cut: String,
    /// Each collection, and the means of several at the end.
    collections: Vec<Effect>,
}

/// The figures of one collection, or their means.
#[derive(Debug, Serialize)]
struct Effect {
    /// The collection's name.
    collection: String,
    /// The order of the pool: normalised discounted cumulative gain of the first ten.
    ndcg_at_10: Pair,
    /// F1 of what the cut keeps.
    f1: Pair,
    /// Documents that the cut keeps of an answerable query.
    kept: Pair,
    /// Share of the answerable queries that came back empty.
    answerable_empty: Pair,
    /// Processor time of a query in milliseconds, decisions of all measured cuts included, where the system tells it.
    cpu_ms: Pair,
}

/// A figure without the judge and with it.
#[derive(Clone, Copy, Debug, Serialize)]
struct Pair {
    without: Option<f64>,
    with: Option<f64>,
}

/// One of the two runs.
pub struct Side<'r> {
    /// Its report.
    pub report: &'r Report,
    /// Processor time for all queries of each collection in seconds, where the system tells it.
    pub cpu_seconds: &'r [Option<f64>],
}

impl Side<'_> {
    fn cpu_ms(&self, at: usize) -> Option<f64> {
        let queries = self.report.collections.get(at)?.queries.len();
        let seconds = self.cpu_seconds.get(at).copied().flatten()?;
        (queries > 0).then(|| seconds * 1000.0 / queries as f64)
    }
}

impl JudgeEffect {
    /// Compares two reports on the same queries, under the cut of this name.
    pub fn of(without: &Side<'_>, with: &Side<'_>, cut: &str) -> Self {
        let sides = without.report.collections.iter().zip(&with.report.collections).enumerate();
        let effect = |(at, (before, after)): (usize, (&CollectionReport, &CollectionReport))| {
            let ranking = |report: &CollectionReport| report.ranking.get("ndcg_at_10").copied();
            let figure = |metric: Metric| {
                let of = |report: &CollectionReport| report.method(cut)?.figures.get(&metric).copied();
                Pair { without: of(before), with: of(after) }
            };
            Effect {
                collection: after.name.clone(),
                ndcg_at_10: Pair { without: ranking(before), with: ranking(after) },
                f1: figure(Metric::F1),
                kept: figure(Metric::Kept),
                answerable_empty: figure(Metric::AnswerableEmpty),
                cpu_ms: Pair { without: without.cpu_ms(at), with: with.cpu_ms(at) },
            }
        };
        let mut collections: Vec<Effect> = sides.map(effect).collect();
        if collections.len() > 1 {
            collections.push(means(&collections));
        }
        JudgeEffect { cut: cut.to_owned(), collections }
    }

    /// The figures as a table.
    pub fn table(&self) -> Table {
        let row = |effect: &Effect| {
            let figures = [
                cell(effect.ndcg_at_10, |value| format!("{value:.3}")),
                cell(effect.f1, |value| format!("{value:.3}")),
                cell(effect.kept, |value| format!("{value:.1}")),
                cell(effect.answerable_empty, |value| format!("{:.0}%", value * 100.0)),
                cell(effect.cpu_ms, |value| format!("{value:.0} ms")),
            ];
            std::iter::once(effect.collection.clone()).chain(figures).collect()
        };
        let header = ["collection", "nDCG@10", "F1", "kept", "wrongly empty", "CPU a query"];
        Table {
            title: format!("Without the reranker → with it, under the cut {}", self.cut),
            note: "Processor time includes the decisions of every measured cut, and the reranker's start.".to_owned(),
            header: header.map(str::to_owned).to_vec(),
            rows: self.collections.iter().map(row).collect(),
            given: self.collections.len(),
        }
    }
}

/// The mean of each figure over the collections that have both of its sides.
fn means(effects: &[Effect]) -> Effect {
    let mean = |figure: fn(&Effect) -> Pair| {
        let both: Vec<(f64, f64)> = effects.iter().map(figure).filter_map(|pair| pair.without.zip(pair.with)).collect();
        let over = |side: fn(&(f64, f64)) -> f64| {
            (!both.is_empty()).then(|| both.iter().map(side).sum::<f64>() / both.len() as f64)
        };
        Pair { without: over(|both| both.0), with: over(|both| both.1) }
    };
    Effect {
        collection: "mean".to_owned(),
        ndcg_at_10: mean(|effect| effect.ndcg_at_10),
        f1: mean(|effect| effect.f1),
        kept: mean(|effect| effect.kept),
        answerable_empty: mean(|effect| effect.answerable_empty),
        cpu_ms: mean(|effect| effect.cpu_ms),
    }
}

fn cell(pair: Pair, shown: impl Fn(f64) -> String) -> String {
    match (pair.without, pair.with) {
        (None, None) => NO_FIGURE.to_owned(),
        (without, with) => {
            let side = |value: Option<f64>| value.map_or(NO_FIGURE.to_owned(), &shown);
            format!("{} → {}", side(without), side(with))
        }
    }
}

/// A progress that also notes the processor time at which the queries begin.
pub struct QueryTime<'p> {
    progress: &'p Progress,
    began: Mutex<Option<f64>>,
}

impl<'p> QueryTime<'p> {
    /// Passes everything on to `progress`.
    pub fn new(progress: &'p Progress) -> Self {
        QueryTime { progress, began: Mutex::default() }
    }

    /// Processor seconds of this process since the queries began.
    pub fn seconds(&self) -> Option<f64> {
        let began = *self.began.lock().unwrap_or_else(PoisonError::into_inner);
        Some(cpu_seconds()? - began?)
    }
}

impl Observer for QueryTime<'_> {
    fn stage(&self, stage: Stage, total: u64) {
        if stage == Stage::Answer {
            *self.began.lock().unwrap_or_else(PoisonError::into_inner) = cpu_seconds();
        }
        self.progress.stage(stage, total);
    }

    fn advance(&self, steps: u64) {
        self.progress.advance(steps);
    }

    fn cancelled(&self) -> bool {
        self.progress.cancelled()
    }
}

/// Processor time of all threads of this process so far.
#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(ndcg: Pair) -> Effect {
        let none = Pair { without: None, with: None };
        Effect { collection: "c".into(), ndcg_at_10: ndcg, f1: none, kept: none, answerable_empty: none, cpu_ms: none }
    }

    #[test]
    fn a_mean_takes_only_collections_with_both_sides() {
        let pair = |without, with| effect(Pair { without, with });
        let mean = means(&[pair(Some(0.2), Some(0.4)), pair(Some(0.4), Some(0.8)), pair(Some(0.9), None)]).ndcg_at_10;
        assert!((mean.without.unwrap() - 0.3).abs() < 1e-12 && (mean.with.unwrap() - 0.6).abs() < 1e-12, "{mean:?}");
    }

    #[test]
    fn a_side_without_a_figure_is_marked() {
        let collections = vec![effect(Pair { without: Some(0.25), with: None })];
        let rows = JudgeEffect { cut: "auto".into(), collections }.table().rows;
        assert_eq!(rows[0][1..3], [format!("0.250 → {NO_FIGURE}"), NO_FIGURE.to_owned()]);
    }

    #[cfg(unix)]
    #[test]
    fn processor_time_never_falls() {
        let before = cpu_seconds().expect("told");
        assert!((0..1000u64).sum::<u64>() > 0 && cpu_seconds().expect("told") >= before);
    }
}
