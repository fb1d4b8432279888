//! Searches: recording, judging, purging.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::TestLog;
use crate::error::Result;
use crate::{CallerKey, RETAINED, RecordedCandidate, RecordedSearch, ScoringKey, ScoringKind, StoreError, UsageLog};

/// Writes to the log although others keep it, or the whole machine, busy.
pub(crate) fn at_last<T>(write: impl Fn() -> Result<T>) -> T {
    for _ in 0..100 {
        match write() {
            Err(StoreError::Busy { .. }) => {}
            other => return other.unwrap(),
        }
    }
    panic!("the log stays busy");
}

pub fn a_search_comes_back_as_it_was_recorded_also_to_another_process(test: &dyn TestLog) {
    let log = test.log();
    let first = search("aaaa", &["p1", "p2", "p3"]);
    let bare = RecordedSearch { query_text: None, model: None, score_background: None, ..search("bbbb", &[]) };
    at_last(|| log.record(&first));
    at_last(|| log.record(&bare));
    let look = |log: &dyn UsageLog| {
        assert_eq!(log.search("aaaa").unwrap(), Some(first.clone()));
        assert_eq!(log.search("bbbb").unwrap(), Some(bare.clone()));
        assert_eq!(log.search("cccc").unwrap(), None);
        let recent: Vec<String> = log.recent(9).unwrap().into_iter().map(|summary| summary.id).collect();
        assert_eq!(recent, ["bbbb", "aaaa"], "the latest first");
        assert_eq!(log.recent(1).unwrap().len(), 1);
    };
    look(log);
    test.look_from_elsewhere(&look);
}

pub fn any_text_and_figure_comes_back(test: &dyn TestLog) {
    let log = test.log();
    let odd = RecordedSearch {
        query_text: Some("zero \0 and \u{10ffff}1 \u{10ffff}\0".into()),
        method: "'; DROP TABLE usage_searches; --".into(),
        namespace: "here,there".into(),
        passages: u64::MAX,
        score_background: Some(f64::INFINITY),
        similarity_mean: Some(-0.0),
        similarity_deviation: Some(f64::MIN_POSITIVE),
        ..search("aaaa", &["p\0", "{p,\"q\"}", ""])
    };
    at_last(|| log.record(&odd));
    assert_eq!(log.search("aaaa").unwrap(), Some(odd));
    at_last(|| log.record(&RecordedSearch { score_background: Some(f64::NAN), ..search("bbbb", &[]) }));
    assert_eq!(log.search("bbbb").unwrap().unwrap().score_background, None, "not a number is no figure");
    let judged = log.judge("aaaa", &[("p\0", true), ("p", false)], 1).unwrap().unwrap();
    assert_eq!(judged.iter().map(|one| one.in_pool).collect::<Vec<_>>(), [true, false]);
    assert_eq!(log.judgements("aaaa").unwrap(), judged);
    assert_eq!(log.judged().unwrap()[0].judgements, judged);
}

pub fn judging_nothing_is_no_judgement(test: &dyn TestLog) {
    let log = test.log();
    at_last(|| log.record(&search("aaaa", &["p"])));
    assert_eq!(log.judge("aaaa", &[], 1).unwrap(), Some(vec![]));
    let twice = [("p", true), ("p", false)];
    assert!(log.judged().unwrap().is_empty());
    assert_eq!(log.judge("aaaa", &twice, 1).unwrap().unwrap().len(), 2);
    assert_eq!(log.judgements("aaaa").unwrap().len(), 1);
    assert!(!log.judgements("aaaa").unwrap()[0].relevant, "the last one counts");
}

pub fn the_judged_searches_of_one_query_are_found_by_its_hash_and_namespace(test: &dyn TestLog) {
    let log = test.log();
    let other = |id: &str, query: u8, namespace: &str| RecordedSearch {
        query_hash: [query; 32],
        namespace: namespace.into(),
        ..search(id, &["p1", "p2"])
    };
    assert_eq!(log.judged_as(&[1; 32], "here").unwrap(), []);
    let searches = [("a", 1, "here"), ("b", 1, "here"), ("c", 1, "there"), ("d", 2, "here"), ("e", 1, "here")];
    for (id, query, namespace) in searches {
        at_last(|| log.record(&other(id, query, namespace)));
        if id != "e" {
            log.judge(id, &[("p1", true), ("p1", false)], 1).unwrap();
        }
    }
    let look = |log: &dyn UsageLog| {
        let judged = log.judged_as(&[1; 32], "here").unwrap();
        assert_eq!(judged.iter().map(|one| one.search.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(judged[0].search, other("a", 1, "here"));
        assert_eq!(judged[0].judgements, log.judgements("a").unwrap());
        assert_eq!(log.judged_as(&[1; 32], "nowhere").unwrap(), []);
    };
    look(log);
    test.look_from_elsewhere(&look);
}

/// A search with these candidates.
pub(crate) fn search(id: &str, passages: &[&str]) -> RecordedSearch {
    let candidate = |(at, passage): (usize, &&str)| RecordedCandidate {
        passage: (*passage).to_owned(),
        similarity: Some(0.8 - 0.01 * at as f32),
        bm25: (at % 2 == 0).then_some(3.5),
        coverage: Some(0.5),
        score: Some(1.0 - 0.02 * at as f32),
        probability: None,
        entry: None,
        required: None,
        exact: None,
    };
    RecordedSearch {
        id: id.to_owned(),
        at_ms: 1_700_000_000_123,
        entry_point: "search".into(),
        namespace: "here".into(),
        query_hash: *blake3::hash(id.as_bytes()).as_bytes(),
        query_text: Some("what is \u{1f9c0}".into()),
        mode: "hybrid".into(),
        model: Some("static-256-v1".into()),
        method: "background".into(),
        scoring: ScoringKey::new(ScoringKind::Search, "convex 0.5").with("pool", 100),
        kept: passages.len().min(2) as u32,
        passages: 4000,
        score_background: Some(0.31),
        similarity_mean: Some(0.1),
        similarity_deviation: Some(0.05),
        bm25_mean: None,
        candidates: passages.iter().enumerate().map(candidate).collect(),
        caller: Some(CallerKey::of(["session", "one"])),
        shown: Some((0..passages.len().min(2) as u32).collect()),
    }
}

pub fn the_last_word_on_a_passage_counts_and_the_earlier_stay(test: &dyn TestLog) {
    let log = test.log();
    at_last(|| log.record(&search("aaaa", &["p1", "p2"])));
    at_last(|| log.record(&search("bbbb", &["p1"])));
    assert_eq!(log.judge("zzzz", &[("p1", true)], 1).unwrap(), None);
    let taken = log.judge("aaaa", &[("p1", true), ("elsewhere", true)], 1).unwrap().unwrap();
    assert_eq!(taken.iter().map(|judgement| judgement.in_pool).collect::<Vec<_>>(), [true, false]);
    log.judge("aaaa", &[("p1", false), ("p2", false)], 2).unwrap();
    let judged = log.judged().unwrap();
    assert_eq!(judged.len(), 1);
    assert_eq!(judged[0].search, search("aaaa", &["p1", "p2"]));
    let said: Vec<_> = judged[0].judgements.iter().map(|j| (j.passage.as_str(), j.relevant, j.at_ms)).collect();
    assert_eq!(said, [("elsewhere", true, 1), ("p1", false, 2), ("p2", false, 2)]);
    assert_eq!(log.judgements("aaaa").unwrap(), judged[0].judgements);
    assert_eq!(log.judgements("zzzz").unwrap(), []);
    assert_eq!(log.label_version().unwrap().judgements.0, 4);
    let summary = &log.recent(9).unwrap()[1];
    assert_eq!((summary.id.as_str(), summary.relevant, summary.not_relevant), ("aaaa", 1, 2));
    assert!(log.forget("aaaa").unwrap() && !log.forget("aaaa").unwrap());
    assert_eq!(log.judged().unwrap(), []);
    assert_eq!(log.label_version().unwrap().judgements.0, 0, "judgements go with their search");
}

pub fn what_was_said_of_a_passage_can_be_taken_back_for_its_question(test: &dyn TestLog) {
    let log = test.log();
    let same = |id: &str| RecordedSearch { query_hash: [7; 32], ..search(id, &["p", "q"]) };
    let elsewhere = RecordedSearch { namespace: "there".into(), ..same("dddd") };
    for one in [same("aaaa"), same("bbbb"), search("cccc", &["p"]), elsewhere] {
        at_last(|| log.record(&one));
        log.judge(&one.id, &[("p", true)], 1).unwrap();
    }
    log.judge("bbbb", &[("p", false), ("q", true)], 2).unwrap();
    let version = log.label_version().unwrap();
    assert_eq!(log.unjudge("bbbb", &["p", "never"]).unwrap(), Some(3), "both of one search, and one of the other");
    assert_ne!(log.label_version().unwrap(), version);
    let left = |id: &str| log.judgements(id).unwrap().into_iter().map(|one| one.passage).collect::<Vec<_>>();
    assert_eq!([left("aaaa"), left("bbbb"), left("cccc"), left("dddd")], [vec![], vec!["q"], vec!["p"], vec!["p"]]);
    let judged: Vec<String> = log.judged().unwrap().into_iter().map(|one| one.search.id).collect();
    assert_eq!(judged, ["bbbb", "cccc", "dddd"], "a search without a judgement is judged no more");
    assert_eq!(log.unjudge("none", &["p"]).unwrap(), None);
}

pub fn the_oldest_without_a_judgement_go_and_judged_ones_stay(test: &dyn TestLog) {
    let log = test.log();
    for number in 0..10 {
        at_last(|| log.record(&search(&format!("s{number}"), &["p"])));
    }
    log.judge("s0", &[("p", true)], 1).unwrap();
    log.judge("s5", &[("p", false)], 1).unwrap();
    assert_eq!(log.purge().unwrap(), 0, "ten are far from too many");
    assert_eq!(test.purge(3), 5);
    let left: Vec<String> = log.recent(99).unwrap().into_iter().map(|summary| summary.id).collect();
    assert_eq!(left, ["s9", "s8", "s7", "s5", "s0"]);
}

pub fn recording_keeps_the_log_at_its_size(test: &dyn TestLog) {
    let log = test.log();
    // As if more than enough had been recorded before.
    test.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100) \
         INSERT INTO usage_searches(id, at_ms, entry_point, namespace, query_hash, mode, method, scoring, kept, candidates, \
         passages, candidate_ids, evidence) \
         SELECT 'old' || i, 0, 'search', '', zeroblob(32), 'lexical', 'fixed', 'search; fusion=', 0, 0, 0, '[]', x'00' FROM n",
        "INSERT INTO usage_searches(id, at_ms, entry_point, namespace, query_hash, mode, method, scoring, kept, candidates, \
         passages, candidate_ids, evidence) SELECT 'old' || i, 0, 'search', '', decode(repeat('00', 32), 'hex'), 'lexical', 'fixed', \
         'search; fusion=', 0, 0, 0, '{}', '\\x00' FROM generate_series(1, 10100) i",
    );
    for number in 0..64 {
        at_last(|| log.record(&search(&format!("new{number}"), &["p"])));
    }
    let count = log.recent(usize::MAX).unwrap().len();
    assert!((RETAINED..RETAINED + 64).contains(&count), "{count}");
    assert!(log.search("new0").unwrap().is_some() && log.search("old1").unwrap().is_none());
}

pub fn what_cannot_be_a_search_is_refused(test: &dyn TestLog) {
    let log = test.log();
    let mut wrong = search("aaaa", &["p"]);
    wrong.kept = 2;
    assert!(matches!(log.record(&wrong), Err(StoreError::Invalid { .. })));
    at_last(|| log.record(&search("aaaa", &["p"])));
    assert!(log.record(&search("aaaa", &["q"])).is_err(), "the identifier is taken");
    assert_eq!(log.recent(9).unwrap().len(), 1);
}

pub fn damaged_evidence_is_an_error_and_not_a_panic(test: &dyn TestLog) {
    let log = test.log();
    at_last(|| log.record(&search("aaaa", &["p", "q"])));
    test.run("UPDATE usage_searches SET evidence = x'1f00'", "UPDATE usage_searches SET evidence = '\\x1f00'");
    assert!(log.search("aaaa").unwrap_err().to_string().contains("does not match the candidates"));
}

pub fn threads_share_one_log(test: &dyn TestLog) {
    let log = test.log();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..20 {
                    at_last(|| log.record(&search(&format!("{thread}-{number}"), &["p"])));
                }
            });
        }
    });
    assert_eq!(log.recent(1000).unwrap().len(), 80);
}

pub fn a_scoring_key_of_no_known_form_is_damage_and_names_itself(test: &dyn TestLog) {
    let log = test.log();
    at_last(|| log.record(&search("aaaa", &["p"])));
    test.run("UPDATE usage_searches SET scoring = 'convex 0.5'", "UPDATE usage_searches SET scoring = 'convex 0.5'");
    assert!(log.search("aaaa").unwrap_err().to_string().contains("\"convex 0.5\" is not a scoring key"));
}

pub fn judgements_are_those_of_a_simple_model(test: &dyn TestLog) {
    let log = test.log();
    let said = prop::collection::vec((0usize..4, 0usize..6, any::<bool>()), 0..24);
    proptest!(ProptestConfig::with_cases(12), |(said in said)| {
        log.purge_telemetry(true).unwrap();
        let pool = ["p0", "p1", "p2"];
        for number in 0..4 {
            at_last(|| log.record(&search(&format!("s{number}"), &pool)));
        }
        let mut model: BTreeMap<usize, BTreeMap<String, bool>> = BTreeMap::new();
        for (at, (search, passage, relevant)) in said.into_iter().enumerate() {
            let passage = format!("p{passage}");
            log.judge(&format!("s{search}"), &[(&passage, relevant)], at as i64).unwrap();
            model.entry(search).or_default().insert(passage, relevant);
        }
        let judged = log.judged().unwrap();
        prop_assert_eq!(judged.len(), model.len());
        for (judged, (search, expected)) in judged.into_iter().zip(model) {
            prop_assert_eq!(judged.search.id, format!("s{search}"));
            prop_assert!(judged.judgements.iter().all(|j| j.in_pool == pool.contains(&j.passage.as_str())));
            let said: BTreeMap<String, bool> = judged.judgements.into_iter().map(|j| (j.passage, j.relevant)).collect();
            prop_assert_eq!(said, expected);
        }
    });
}
