//! The cost of `auto` on one query: `cargo xtask bench cut`.
//!
//! The scores decay as in a hybrid search, and differ from query to query, so that the processor cannot learn the branches. The
//! pools differ in the number of undecided candidates, on which the cost depends more than on the size of the pool.

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tamis_cut::{Auto, Background, Pool, Relevance, Rule, Want};

const BACKGROUND: Background = Background { mean: 0.34, deviation: 0.06, count: 10_000 };

/// Scores falling from 0.95 towards the background with this half-life in ranks, in small unequal steps.
fn pool(candidates: usize, half_life: f64, query: usize) -> Pool {
    let ripple = |rank: usize| 0.004 * ((rank * 7919 + query * 104_729) % 1009) as f64 / 1009.0;
    let score = |rank: usize| BACKGROUND.mean + 0.61 * (-(rank as f64) / half_life * 2.0_f64.ln()).exp() + ripple(rank);
    let mut scores: Vec<f64> = (0..candidates).map(score).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    let pool = Pool::scores(scores).and_then(|pool| pool.with_background(BACKGROUND));
    pool.expect("sorted scores and a finite background")
}

fn decide(criterion: &mut Criterion, group: &str, auto: &Auto, relevance: Relevance) {
    let mut group = criterion.benchmark_group(group);
    for (shape, candidates, half_life) in
        [("steep", 200, 4.0), ("usual", 200, 20.0), ("flat", 200, 80.0), ("plateau", 200, 1000.0), ("deep", 400, 40.0)]
    {
        let mut query = 0;
        let mut next = || {
            query += 1;
            pool(candidates, half_life, query).with_relevance(relevance)
        };
        let id = BenchmarkId::new(shape, candidates);
        group.bench_function(id, |bencher| {
            bencher.iter_batched(&mut next, |pool| auto.cut(black_box(&pool)), BatchSize::SmallInput);
        });
    }
    group.finish();
}

fn auto(criterion: &mut Criterion) {
    let learnt = |level| Relevance { level, spread: 0.1, ..Relevance::default() };
    decide(criterion, "auto, nothing known", &Auto::default(), Relevance::default());
    decide(criterion, "auto, many answers", &Auto::default(), learnt(0.45));
    decide(criterion, "auto, all wanted", &Auto { want: Want::All, ..Auto::default() }, Relevance::default());
    decide(criterion, "auto, recall", &Auto { target_recall: 0.9, ..Auto::default() }, Relevance::default());
}

/// Lists of a hundred scores with nothing else known: some good ones, then a tail that flattens out. `crates/python/benches/cut.py`
/// times such lists from Python.
fn bare(criterion: &mut Criterion) {
    let mut query = 0;
    let mut next = || {
        query += 1;
        let relevant = 1 + query * 17 % 29;
        let noise = |rank: usize| 0.03 * ((rank * 7919 + query * 104_729) % 1009) as f64 / 1009.0;
        let score = |rank: usize| 0.3 + 0.6 / (1.0 + ((rank as f64 - relevant as f64) / 3.0).exp()) + noise(rank);
        let mut scores: Vec<f64> = (0..100).map(score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        Pool::scores(scores).expect("sorted scores")
    };
    criterion.bench_function("auto, a bare list of 100", |bencher| {
        bencher.iter_batched(&mut next, |pool| Auto::default().cut(black_box(&pool)), BatchSize::SmallInput);
    });
}

/// A decision by given probabilities.
fn given(criterion: &mut Criterion) {
    let mut query = 0;
    let mut next = || {
        query += 1;
        let probability = |rank: usize| 0.9 / (1.0 + (rank + query % 3) as f64);
        pool(200, 20.0, query).with_probabilities((0..200).map(probability).collect())
    };
    criterion.bench_function("auto, 200 given probabilities", |bencher| {
        bencher.iter_batched(&mut next, |pool| Auto::default().cut(black_box(&pool)), BatchSize::SmallInput);
    });
}

criterion_group!(benches, auto, bare, given);
criterion_main!(benches);
