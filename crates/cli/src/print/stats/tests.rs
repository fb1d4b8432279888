//! The whole page, as it reads without colour.

use super::super::{plain as printed, plain_in};
use super::*;
use std::collections::BTreeMap;
use tamis::telemetry::{
    Bucket, Comparison, CutSummary, Day, Distribution, Drift, Example, Judgements, Latency, OpenedCount, Reliability,
    Replay, Share, Similarities, SlowQuery,
};

fn share(name: &str, queries: u64, empty: u64, mean_kept: f64) -> Share {
    Share { name: name.into(), queries, empty, mean_kept }
}

fn stats() -> Stats {
    let counts = [(3, 0), (0, 0), (12, 2), (20, 3), (9, 0), (41, 9)];
    let day = |(at, &(queries, empty)): (usize, &(u64, u64))| Day {
        date: format!("2026-11-{:02}", 17 + at),
        queries,
        empty,
        kept_p50: (queries > 0).then_some(2.0),
        p95_ms: (queries > 0).then_some(8.0 + at as f64),
    };
    let bucket = |from, below, count| Bucket { from, below, count };
    let latency = |stage: &str, p50_ms: f64| Latency {
        stage: stage.into(),
        queries: 85,
        p50_ms,
        p95_ms: 2.0 * p50_ms,
        p99_ms: 3.0 * p50_ms,
        max_ms: 40.0 * p50_ms,
    };
    Stats {
        from: Some("2026-11-17T08:00:00Z".into()),
        to: Some("2026-11-22T08:00:00Z".into()),
        queries: 85,
        distinct_queries: 61,
        empty: 14,
        empty_rate: 14.0 / 85.0,
        shortened: 7,
        opened: OpenedCount { searches: 31, passages: 44 },
        judgements: Judgements {
            searches: 9,
            relevant: 14,
            not_relevant: 6,
            days: Vec::new(),
            reliability: Some(Reliability { bins: Vec::new(), calibration_error: 0.118, brier: 0.2 }),
        },
        lexical_candidates: Some(61.24),
        semantic_candidates: Some(100.0),
        candidates: Some(143.0),
        language_match_ratio: Some(0.9),
        mean_kept_distance: Some(0.4),
        days: counts.iter().enumerate().map(day).collect(),
        kept: Some(Distribution {
            count: 85,
            mean: 3.24,
            p50: 2.0,
            p90: 8.0,
            max: 12.0,
            histogram: vec![
                bucket(0.0, Some(1.0), 14),
                bucket(1.0, Some(2.0), 30),
                bucket(2.0, Some(3.0), 20),
                bucket(3.0, Some(5.0), 0),
                bucket(5.0, Some(9.0), 20),
                bucket(9.0, Some(17.0), 1),
            ],
        }),
        methods: vec![share("auto", 60, 0, 4.2), share("gate", 14, 14, 0.0), share("adaptive", 11, 0, 1.5)],
        gaps: Some(Distribution {
            count: 11,
            mean: 0.08,
            p50: 0.07,
            p90: 0.12,
            max: 0.15,
            histogram: vec![bucket(0.0, Some(0.05), 3), bucket(0.05, Some(0.1), 6), bucket(0.1, None, 2)],
        }),
        latency: vec![latency("embed", 0.21), latency("gather", 1.8), latency("total", 2.6)],
        entry_points: vec![share("cli", 80, 14, 3.0), share("library", 5, 0, 6.5)],
        modes: vec![share("hybrid", 85, 14, 3.2)],
        corpora: vec![share("all", 85, 14, 3.2)],
        fallbacks: vec![share("minilm-l6-v2 covers N of N passages", 6, 1, 2.0)],
        slowest: vec![SlowQuery {
            at: "2026-11-21T09:30:00Z".into(),
            total_ms: 104.0,
            stage: Some(("gather".into(), 80.0)),
            search_id: Some("7k2m9qrt".into()),
            text: Some("where does the cut\u{1b}[31m read the background of a query".into()),
        }],
        drift: vec![Drift {
            model: "static-256-v1".into(),
            calibrated_at: Some("2026-11-19T00:00:00Z".into()),
            before: Some(Similarities { queries: 15, best: Some(0.62), background: Some(0.11) }),
            after: Some(Similarities { queries: 70, best: Some(0.58), background: Some(0.12) }),
        }],
    }
}

#[test]
fn the_page_of_statistics() {
    let page = printed(|out| print(out, &stats(), &TimeZone::UTC));
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    insta::assert_snapshot!(page);
}

#[test]
fn a_single_query_has_no_course_of_days() {
    let one = Stats {
        queries: 1,
        distinct_queries: 1,
        empty: 0,
        empty_rate: 0.0,
        shortened: 0,
        opened: OpenedCount::default(),
        days: stats().days.into_iter().take(1).collect(),
        gaps: None,
        fallbacks: Vec::new(),
        drift: Vec::new(),
        ..stats()
    };
    let page = printed(|out| print(out, &one, &TimeZone::UTC));
    assert!(page.starts_with("1 query on 2026-11-17\nevery query found something\n"), "{page}");
    assert!(!page.contains("Similarity") && !page.contains("95% within  █"), "{page}");
}

#[test]
fn the_page_of_a_replay() {
    let cut = |cut: &str, kept_mean: f64, empty: u64, precision: f64| CutSummary {
        cut: cut.into(),
        kept_mean,
        kept_p50: 2.0,
        kept_p90: 9.0,
        empty,
        empty_rate: empty as f64 / 200.0,
        methods: BTreeMap::new(),
        precision: Some(precision),
        recall: Some(0.75),
    };
    let pair = |a: &str, b: &str| Comparison {
        a: a.into(),
        b: b.into(),
        differ: 90,
        differ_rate: 0.45,
        overlap: 0.71,
        only_a_answers: 3,
        only_b_answers: 21,
    };
    let gap = "max_gap:min_gap=0.1,floor=0.2,ceiling=0.5";
    let replay = Replay {
        searches: 200,
        judged: 12,
        unreadable: 0,
        period: Some(("2026-11-01T08:00:00Z".into(), "2026-11-22T09:05:00Z".into())),
        cuts: vec![cut("recorded", 3.12, 10, 0.6), cut(gap, 5.5, 31, 0.4), cut("auto", 3.0, 10, 0.625)],
        comparisons: vec![pair("recorded", gap), pair("recorded", "auto"), pair(gap, "auto")],
        examples: vec![Example {
            search_id: "7k2m9qrt".into(),
            at: "2026-11-20T10:00:00Z".into(),
            text: None,
            kept: vec![2, 40, 2],
            overlap: 0.05,
        }],
        notes: vec!["auto has learnt from these judgements".into()],
    };
    let page = printed(|out| print_replay(out, &replay, &TimeZone::UTC));
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    insta::assert_snapshot!(page);
}

#[test]
fn a_wide_terminal_shows_more_of_a_text() {
    let wide = plain_in(120, |out| print(out, &stats(), &TimeZone::UTC));
    assert!(wide.contains("read the background of a query") && wide.contains("covers N of N passages"), "{wide}");
    let huge = plain_in(1000, |out| print(out, &stats(), &TimeZone::UTC));
    assert!(huge.lines().all(|line| line.chars().count() <= 160));
}

#[test]
fn a_narrow_terminal_gets_a_page_that_fits() {
    for columns in [40, 60, 80] {
        let page = plain_in(columns, |out| print(out, &stats(), &TimeZone::UTC));
        assert!(page.lines().all(|line| line.chars().count() <= columns), "{columns}:\n{page}");
    }
}
