//! The cost of each stage of ranking on one pool: `cargo bench -p tamis-rank --bench stages`.
//!
//! A search's pool has at most twice as many candidates as a leg proposes, 200 with the defaults; 800 shows how the cost
//! grows. Together the stages and the cut are to stay below 0.3 ms for 200, apart from near-copies, which read texts.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tamis_rank::{
    Adjustment, BackgroundEvidence, Decay, Evidence, Fusion, LanguageFactors, LanguageMatch, Phrasing, QueryNames,
    Recency, Shingles, best_scores, definition_factors, diversified, entries, fuse_phrasings, lowered, merged_ranks,
    near_copies, order, role_factor,
};

const QUERY: &str = "where does the walk_builder decide how many directories are read in parallel";
const ROLES: [&str; 4] = ["main", "test", "main", "changelog"];

/// Raw scores that fall unevenly, so that the processor cannot learn the branches.
fn evidence(candidates: usize) -> Vec<Evidence> {
    let ripple = |at: usize| ((at * 7919) % 1009) as f64 / 1009.0;
    let of = |at: usize| Evidence { similarity: Some(0.8 * ripple(at)), bm25: Some(25.0 * ripple(at + 400)) };
    (0..candidates).map(of).collect()
}

/// Names as in code; every fifth passage has no symbol.
fn symbols(candidates: usize) -> Vec<Option<String>> {
    let holders = ["WalkBuilder", "ParallelVisitor", "Worker", "GitignoreBuilder", "walk"];
    let names = ["new", "read_directories", "buildParallel", "is_hidden", "with_possible_reuse", "HTTPConnection"];
    let of = |at: usize| (!at.is_multiple_of(5)).then(|| format!("{}::{}", holders[at % 5], names[at % 6]));
    (0..candidates).map(of).collect()
}

fn stages(criterion: &mut Criterion) {
    for candidates in [200, 800] {
        let pool = evidence(candidates);
        let symbols = symbols(candidates);
        let mut group = criterion.benchmark_group("stages");
        let id = |stage| BenchmarkId::new(stage, candidates);

        let (language, recency) = (LanguageFactors::default(), Recency::default());
        let adjusted = |pool: &[Evidence]| -> Vec<Evidence> {
            let of = |(at, evidence): (usize, &Evidence)| {
                let language = language.factor(if at % 3 == 0 { LanguageMatch::Same } else { LanguageMatch::Other });
                let recency = recency.factor(Some(at as i64 * 86_400_000_000_000), 1_700_000_000_000_000_000, false);
                let adjustment = Adjustment::of(language, recency);
                Evidence {
                    similarity: evidence.similarity.map(|value| adjustment.similarity(value)),
                    bm25: evidence.bm25.map(|value| adjustment.bm25(value)),
                }
            };
            pool.iter().enumerate().map(of).collect()
        };
        group.bench_function(id("language and age"), |bencher| bencher.iter(|| adjusted(black_box(&pool))));

        for (name, fusion) in [("convex", Fusion::Convex { weight: 0.5 }), ("ranks", Fusion::Rrf { k: 60.0 })] {
            group.bench_function(id(name), |bencher| bencher.iter(|| fusion.fuse(black_box(&pool))));
        }

        let weighted = Fusion::Weighted { weight: 0.7 }.fuse(&pool);
        let decayed = || -> Vec<f64> {
            let (decay, now) = (Decay::default(), 1_700_000_000_000_000_000);
            let factor = |at: usize| decay.factor(Some(now - at as i64 * 86_400_000_000_000), now);
            black_box(&weighted).iter().enumerate().map(|(at, &value)| Decay::apply(value, factor(at))).collect()
        };
        group.bench_function(id("decay"), |bencher| bencher.iter(decayed));

        let factors = || {
            let names = QueryNames::of(black_box(QUERY));
            definition_factors(&names, symbols.iter().map(Option::as_deref))
        };
        group.bench_function(id("definitions"), |bencher| bencher.iter(factors));

        let found: Vec<(usize, Evidence)> = pool.iter().copied().enumerate().collect();
        let phrasing = |weight| Phrasing {
            weight,
            coverage: Some(0.7),
            background: BackgroundEvidence { similarity: Some(0.1), bm25: Some(0.5) },
            found: found.clone(),
        };
        let phrasings = [phrasing(1.0), phrasing(0.95), phrasing(0.9)];
        let merged = || {
            let scored = fuse_phrasings(black_box(&phrasings), Fusion::Convex { weight: 0.5 });
            (merged_ranks(&scored, candidates), best_scores(&scored, candidates))
        };
        group.bench_function(id("three phrasings"), |bencher| bencher.iter(merged));

        let whole = || {
            let mut scores = Fusion::Convex { weight: 0.5 }.fuse(&adjusted(black_box(&pool)));
            for ((at, score), factor) in scores.iter_mut().enumerate().zip(factors()) {
                *score = lowered(*score, role_factor(ROLES[at % 4])) * factor;
            }
            order(&scores)
        };
        group.bench_function(id("a whole search"), |bencher| bencher.iter(whole));

        // Four passages of a file, as in a tree of code.
        let files: Vec<usize> = (0..candidates).map(|at| at * 7919 % (candidates / 4)).collect();
        let values: Vec<f64> = (0..candidates).map(|at| 1.0 / (1.0 + at as f64)).collect();
        group.bench_function(id("entries"), |bencher| bencher.iter(|| entries(black_box(&files), black_box(&values))));
        group.finish();
    }
}

/// Near-copies among texts of 250 words, one of ten a copy. A search reads only texts that score alike.
fn near_copies_of_texts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("near-copies");
    for texts in [20, 200] {
        let text = |at: usize| {
            let original = if at % 10 == 9 { at - 1 } else { at };
            (0..250).map(|word| format!("word{} ", (original * 7919 + word * 31) % 5003)).collect::<String>()
        };
        let texts: Vec<String> = (0..texts).map(text).collect();
        let shingled = || -> Vec<Option<Shingles>> { texts.iter().map(|text| Some(Shingles::of(text))).collect() };
        group.bench_function(BenchmarkId::new("shingles", texts.len()), |bencher| bencher.iter(shingled));
        let shingles = shingled();
        group.bench_function(BenchmarkId::new("join", texts.len()), |bencher| {
            bencher.iter(|| near_copies(black_box(&shingles), |_, _| true));
        });
    }
    group.finish();
}

/// Diversity of ten results; vectors as long as those of the better model.
fn diversity(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("diversity");
    for kept in [50, 200] {
        let relevance: Vec<f64> = (0..kept).map(|at| 1.0 / (1.0 + at as f64 / 50.0)).collect();
        let vector =
            |at: usize| (0..384).map(|i| ((at * 31 + i * 17) % 101) as f32 / 101.0 - 0.5).collect::<Vec<f32>>();
        let vectors: Vec<Vec<f32>> = (0..kept).map(vector).collect();
        let alike = |a: usize, b: usize| {
            let products = vectors[a].chunks_exact(8).zip(vectors[b].chunks_exact(8));
            let add = |mut sums: [f32; 8], (x, y): (&[f32], &[f32])| {
                (0..8).for_each(|lane| sums[lane] += x[lane] * y[lane]);
                sums
            };
            f64::from(products.fold([0.0; 8], add).iter().sum::<f32>()) / 32.0
        };
        group.bench_function(BenchmarkId::new("ten of", kept), |bencher| {
            bencher.iter(|| diversified(black_box(&relevance), 0.7, 10, alike));
        });
    }
    group.finish();
}

criterion_group!(benches, stages, near_copies_of_texts, diversity);
criterion_main!(benches);
