//! What every usage log does, as tests that run on each of them.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{
    CallerKey, OpenedCount, Opening, Purged, QueryQuality, RETAINED, RecordedCandidate, RecordedSearch, Result,
    ScoringKey, ScoringKind, StoreError, UsageLog,
};

/// A log, and what the tests do to it from outside.
pub(crate) trait TestLog {
    /// The log, empty at first.
    fn log(&self) -> &dyn UsageLog;

    /// Opens the log as another process would.
    fn look_from_elsewhere(&self, look: &dyn Fn(&dyn UsageLog));

    /// Runs statements past the log, in the words of what keeps it.
    fn run(&self, sqlite: &str, postgres: &str);

    /// Deletes unjudged searches except the last ones.
    fn purge(&self, retained: i64) -> u64;

    /// Deletes rows of quality up to a number.
    fn purge_quality(&self, last: i64) -> u64;
}

/// Makes a test of each function, which `$run` calls with a log and what the tests do to it.
macro_rules! contract {
    ($run:path) => {
        $crate::usage::contract_tests::contract! { $run;
            a_search_comes_back_as_it_was_recorded_also_to_another_process
            any_text_and_figure_comes_back
            the_last_word_on_a_passage_counts_and_the_earlier_stay
            what_was_said_of_a_passage_can_be_taken_back_for_its_question
            the_oldest_without_a_judgement_go_and_judged_ones_stay
            recording_keeps_the_log_at_its_size
            what_cannot_be_a_search_is_refused
            threads_share_one_log
            judgements_are_those_of_a_simple_model
            the_judged_searches_of_one_query_are_found_by_its_hash_and_namespace
            only_what_was_shown_to_the_same_caller_counts_as_opened
            the_latest_search_that_showed_it_is_credited
            an_answer_that_was_shown_in_part_counts_by_that_part
            openings_go_with_their_search_and_with_the_telemetry
            a_search_looked_for_too_far_back_is_not_credited
            a_query_is_recorded_with_its_search_or_not_at_all_also_if_it_found_nothing
            a_damaged_search_is_an_error_that_names_the_damage
            a_period_holds_its_beginning_and_not_its_end_and_the_last_ones_come
            numbers_that_are_none_are_left_out
            the_oldest_rows_go
            purging_deletes_what_nobody_judged_and_says_how_much
            any_row_comes_back
        }
    };
    ($run:path; $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                $run(&|test| $crate::usage::contract_tests::$name(test.log(), test));
            }
        )*
    };
}
pub(crate) use contract;

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

pub fn a_search_comes_back_as_it_was_recorded_also_to_another_process(log: &dyn UsageLog, test: &dyn TestLog) {
    let first = search("aaaa", &["p1", "p2", "p3"]);
    let bare = RecordedSearch { query_text: None, model: None, score_background: None, ..search("bbbb", &[]) };
    at_last(|| log.record(&first));
    at_last(|| log.record(&bare));
    let look = |log: &dyn UsageLog| {
        assert_eq!(log.search("aaaa").unwrap(), Some(first.clone()));
        assert_eq!([log.search("bbbb").unwrap(), log.search("cccc").unwrap()], [Some(bare.clone()), None]);
        let recent: Vec<String> = log.recent(9).unwrap().into_iter().map(|summary| summary.id).collect();
        assert_eq!(recent, ["bbbb", "aaaa"], "the latest first");
        assert_eq!(log.recent(1).unwrap().len(), 1);
    };
    look(log);
    test.look_from_elsewhere(&look);
}

pub fn any_text_and_figure_comes_back(log: &dyn UsageLog, _: &dyn TestLog) {
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

pub fn the_judged_searches_of_one_query_are_found_by_its_hash_and_namespace(log: &dyn UsageLog, test: &dyn TestLog) {
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
        caller: Some(CallerKey::from_parts(["session", "one"])),
        shown: Some((0..passages.len().min(2) as u32).collect()),
    }
}

pub fn the_last_word_on_a_passage_counts_and_the_earlier_stay(log: &dyn UsageLog, _: &dyn TestLog) {
    at_last(|| log.record(&search("aaaa", &["p1", "p2"])));
    at_last(|| log.record(&search("bbbb", &["p1"])));
    assert_eq!(log.judge("zzzz", &[("p1", true)], 1).unwrap(), None);
    assert_eq!(log.judge("aaaa", &[], 1).unwrap(), Some(vec![]));
    assert_eq!(log.judged().unwrap(), [], "judging nothing is no judgement");
    let twice = [("p1", false), ("p1", true), ("elsewhere", true)];
    let taken = log.judge("aaaa", &twice, 1).unwrap().unwrap();
    assert_eq!(taken.iter().map(|judgement| judgement.in_pool).collect::<Vec<_>>(), [true, true, false]);
    assert!(log.judgements("aaaa").unwrap().iter().all(|one| one.relevant), "the last one counts");
    log.judge("aaaa", &[("p1", false), ("p2", false)], 2).unwrap();
    let judged = log.judged().unwrap();
    assert_eq!(judged.len(), 1);
    assert_eq!(judged[0].search, search("aaaa", &["p1", "p2"]));
    let said: Vec<_> = judged[0].judgements.iter().map(|j| (j.passage.as_str(), j.relevant, j.at_ms)).collect();
    assert_eq!(said, [("elsewhere", true, 1), ("p1", false, 2), ("p2", false, 2)]);
    assert_eq!(log.judgements("aaaa").unwrap(), judged[0].judgements);
    assert_eq!(log.judgements("zzzz").unwrap(), []);
    assert_eq!(log.judgement_version().unwrap().0, 5);
    let summary = &log.recent(9).unwrap()[1];
    assert_eq!((summary.id.as_str(), summary.relevant, summary.not_relevant), ("aaaa", 1, 2));
    assert!(log.forget("aaaa").unwrap() && !log.forget("aaaa").unwrap());
    assert_eq!(log.judged().unwrap(), []);
    assert_eq!(log.judgement_version().unwrap().0, 0, "judgements go with their search");
}

pub fn what_was_said_of_a_passage_can_be_taken_back_for_its_question(log: &dyn UsageLog, _: &dyn TestLog) {
    let same = |id: &str| RecordedSearch { query_hash: [7; 32], ..search(id, &["p", "q"]) };
    let elsewhere = RecordedSearch { namespace: "there".into(), ..same("dddd") };
    for one in [same("aaaa"), same("bbbb"), search("cccc", &["p"]), elsewhere] {
        at_last(|| log.record(&one));
        log.judge(&one.id, &[("p", true)], 1).unwrap();
    }
    log.judge("bbbb", &[("p", false), ("q", true)], 2).unwrap();
    let version = log.judgement_version().unwrap();
    assert_eq!(log.unjudge("bbbb", &["p", "never"]).unwrap(), Some(3), "both of one search, and one of the other");
    assert_ne!(log.judgement_version().unwrap(), version);
    let left = |id: &str| log.judgements(id).unwrap().into_iter().map(|one| one.passage).collect::<Vec<_>>();
    assert_eq!([left("aaaa"), left("bbbb"), left("cccc"), left("dddd")], [vec![], vec!["q"], vec!["p"], vec!["p"]]);
    let judged: Vec<String> = log.judged().unwrap().into_iter().map(|one| one.search.id).collect();
    assert_eq!(judged, ["bbbb", "cccc", "dddd"], "a search without a judgement is judged no more");
    assert_eq!(log.unjudge("none", &["p"]).unwrap(), None);
}

pub fn the_oldest_without_a_judgement_go_and_judged_ones_stay(log: &dyn UsageLog, test: &dyn TestLog) {
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

pub fn recording_keeps_the_log_at_its_size(log: &dyn UsageLog, test: &dyn TestLog) {
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

pub fn what_cannot_be_a_search_is_refused(log: &dyn UsageLog, _: &dyn TestLog) {
    let mut wrong = search("aaaa", &["p"]);
    wrong.kept = 2;
    assert!(matches!(log.record(&wrong), Err(StoreError::Invalid { .. })));
    at_last(|| log.record(&search("aaaa", &["p"])));
    assert!(log.record(&search("aaaa", &["q"])).is_err(), "the identifier is taken");
    assert_eq!(log.recent(9).unwrap().len(), 1);
}

pub fn a_damaged_search_is_an_error_that_names_the_damage(log: &dyn UsageLog, test: &dyn TestLog) {
    for (id, sqlite, postgres, said) in [
        ("aaaa", "evidence = x'1f00'", "evidence = '\\x1f00'", "does not match the candidates"),
        ("bbbb", "scoring = 'convex 0.5'", "scoring = 'convex 0.5'", "\"convex 0.5\" is not a scoring key"),
    ] {
        at_last(|| log.record(&search(id, &["p", "q"])));
        let [sqlite, postgres] =
            [sqlite, postgres].map(|set| format!("UPDATE usage_searches SET {set} WHERE id = '{id}'"));
        test.run(&sqlite, &postgres);
        let error = log.search(id).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

pub fn threads_share_one_log(log: &dyn UsageLog, _: &dyn TestLog) {
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

pub fn judgements_are_those_of_a_simple_model(log: &dyn UsageLog, _: &dyn TestLog) {
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

fn caller(name: &str) -> CallerKey {
    CallerKey::from_parts(["session", name])
}

/// An opening of passages by a caller.
pub(crate) fn opening<'a>(name: &str, passages: &'a [&'a str], since_ms: i64) -> Opening<'a> {
    Opening { caller: caller(name), entry_point: "mcp get", passages, since_ms, at_ms: since_ms + 5 }
}

/// A search by a caller that showed the candidates at these positions.
pub(crate) fn shown(id: &str, name: &str, positions: &[u32]) -> RecordedSearch {
    let (caller, shown) = (Some(caller(name)), Some(positions.to_vec()));
    RecordedSearch { at_ms: 1000, caller, shown, ..search(id, &["p0", "p1", "p2", "p3"]) }
}

fn opened(log: &dyn UsageLog) -> Vec<(String, Vec<String>)> {
    let logged = log.logged_searches(0, 99).unwrap().into_iter().filter(|one| !one.openings.is_empty());
    logged.map(|one| (one.search.id, one.openings.into_iter().map(|opening| opening.passage).collect())).collect()
}

pub fn only_what_was_shown_to_the_same_caller_counts_as_opened(log: &dyn UsageLog, _: &dyn TestLog) {
    at_last(|| log.record(&shown("aaaa", "one", &[0, 1])));
    at_last(|| log.record(&shown("bbbb", "two", &[0, 1, 2])));
    assert_eq!(log.record_opened(&opening("one", &["p2"], 0)).unwrap(), 0, "a candidate that was not shown");
    assert_eq!(log.record_opened(&opening("one", &["elsewhere"], 0)).unwrap(), 0);
    assert_eq!(log.record_opened(&opening("three", &["p0"], 0)).unwrap(), 0, "a caller that never searched");
    assert_eq!(log.record_opened(&opening("one", &["p1"], 1001)).unwrap(), 0, "the search was too long ago");
    assert_eq!(log.record_opened(&opening("one", &[], 0)).unwrap(), 0);
    assert_eq!(opened(log), []);
    assert_eq!(log.record_opened(&opening("one", &["p1", "p3"], 0)).unwrap(), 1);
    assert_eq!(log.record_opened(&opening("one", &["p1"], 0)).unwrap(), 0, "again");
    assert_eq!(opened(log), [("aaaa".to_owned(), vec!["p1".to_owned()])]);
    let count = |namespace| log.opened_count(None, None, namespace).unwrap();
    assert_eq!(count(None), OpenedCount { searches: 1, passages: 1 });
    assert_eq!(count(Some("here")), count(None));
    assert_eq!(count(Some("there")), OpenedCount::default());
    assert_eq!(log.opened_count(Some(6), None, None).unwrap(), OpenedCount::default());
}

pub fn the_latest_search_that_showed_it_is_credited(log: &dyn UsageLog, _: &dyn TestLog) {
    at_last(|| log.record(&shown("aaaa", "one", &[3, 1])));
    at_last(|| log.record(&shown("bbbb", "one", &[0, 1])));
    at_last(|| log.record(&RecordedSearch { shown: None, ..shown("cccc", "one", &[]) }));
    log.record_opened(&opening("one", &["p1"], 0)).unwrap();
    log.record_opened(&opening("one", &["p3"], 0)).unwrap();
    let expected = [("aaaa".to_owned(), vec!["p3".to_owned()]), ("bbbb".to_owned(), vec!["p1".to_owned()])];
    assert_eq!(opened(log), expected);
}

pub fn an_answer_that_was_shown_in_part_counts_by_that_part(log: &dyn UsageLog, _: &dyn TestLog) {
    let positions = |id: &str| log.search(id).unwrap().unwrap().shown;
    at_last(|| log.record(&shown("aaaa", "one", &[2, 0, 1])));
    log.narrow_shown("aaaa", &["p0", "p2", "p3"]).unwrap();
    assert_eq!(positions("aaaa"), Some(vec![2, 0]));
    assert_eq!(log.record_opened(&opening("one", &["p1", "p3"], 0)).unwrap(), 0);
    log.narrow_shown("zzzz", &["p0"]).unwrap();
    at_last(|| log.record(&RecordedSearch { shown: None, ..shown("bbbb", "one", &[]) }));
    log.narrow_shown("bbbb", &["p0"]).unwrap();
    assert_eq!(positions("bbbb"), None);
    // What was shown twice is opened once, in the order shown.
    at_last(|| log.record(&shown("cccc", "two", &[3, 0, 3, 9])));
    assert_eq!(log.record_opened(&opening("two", &["p0", "p3", "p3"], 0)).unwrap(), 2);
    assert_eq!(opened(log), [("cccc".to_owned(), vec!["p3".to_owned(), "p0".to_owned()])]);
    log.narrow_shown("cccc", &["p3"]).unwrap();
    assert_eq!(positions("cccc"), Some(vec![3, 3]));
    log.narrow_shown("cccc", &[]).unwrap();
    assert_eq!(positions("cccc"), Some(vec![]));
}

pub fn openings_go_with_their_search_and_with_the_telemetry(log: &dyn UsageLog, test: &dyn TestLog) {
    for id in ["aaaa", "bbbb", "cccc"] {
        at_last(|| log.record(&shown(id, id, &[0, 1])));
        log.record_opened(&opening(id, &["p0"], 0)).unwrap();
    }
    log.judge("cccc", &[("p1", true)], 2).unwrap();
    log.forget("aaaa").unwrap();
    assert_eq!(opened(log).len(), 2);
    test.purge(0);
    assert_eq!(opened(log).len(), 1, "an opened search is kept no longer than others; a judged one stays");
    log.purge_telemetry(false).unwrap();
    assert_eq!(opened(log), []);
    assert_eq!(log.judged().unwrap().len(), 1);
}

pub fn a_search_looked_for_too_far_back_is_not_credited(log: &dyn UsageLog, _: &dyn TestLog) {
    for number in 0..51 {
        let position = u32::from(number > 0);
        at_last(|| log.record(&shown(&format!("s{number}"), "one", &[position])));
    }
    assert_eq!(log.record_opened(&opening("one", &["p0"], 0)).unwrap(), 0, "50 others came after it");
    assert_eq!(log.record_opened(&opening("one", &["p1"], 0)).unwrap(), 1);
}

/// A row with every value.
pub(crate) fn quality(at_ms: i64) -> QueryQuality {
    QueryQuality {
        at_ms,
        entry_point: "cli".into(),
        namespace: "here".into(),
        corpus: "code,docs".into(),
        query_hash: [7; 32],
        query_text: Some("what is \u{1f9c0}".into()),
        search_id: Some("aaaa".into()),
        model: Some("static-256-v1".into()),
        mode: "hybrid".into(),
        lexical_candidates: Some(3),
        semantic_candidates: Some(4),
        candidates: 5,
        kept: 2,
        dropped: 3,
        returned: 1,
        top_k: 1,
        threshold: Some(0.3),
        threshold_method: "adaptive".into(),
        gap_size: Some(0.125),
        mean_kept_distance: Some(0.25),
        language_match_ratio: Some(0.5),
        best_similarity: Some(0.75),
        similarity_mean: Some(0.0625),
        milliseconds: [("cut".to_owned(), 0.25), ("gather".to_owned(), 1.5)].into(),
        total_ms: 2.5,
        fallback_reason: Some("no vectors yet".into()),
    }
}

/// A query that found nothing, by words alone.
pub(crate) fn empty(at_ms: i64) -> QueryQuality {
    QueryQuality {
        at_ms,
        entry_point: "library".into(),
        namespace: "here".into(),
        corpus: "all".into(),
        mode: "lexical".into(),
        lexical_candidates: Some(0),
        top_k: 10,
        threshold_method: "configured".into(),
        ..QueryQuality::default()
    }
}

pub(crate) fn times(found: &[QueryQuality]) -> Vec<i64> {
    found.iter().map(|quality| quality.at_ms).collect()
}

pub fn a_query_is_recorded_with_its_search_or_not_at_all_also_if_it_found_nothing(
    log: &dyn UsageLog,
    test: &dyn TestLog,
) {
    at_last(|| log.record_query(&search("aaaa", &[]), Some(&empty(1))));
    at_last(|| log.record_query(&search("bbbb", &["p"]), Some(&quality(2))));
    assert!(log.record_query(&search("bbbb", &["p"]), Some(&quality(3))).is_err(), "the identifier is taken");
    let look = |log: &dyn UsageLog| assert_eq!(log.quality(None, None, 9).unwrap(), [empty(1), quality(2)]);
    look(log);
    test.look_from_elsewhere(&look);
}

pub fn a_period_holds_its_beginning_and_not_its_end_and_the_last_ones_come(log: &dyn UsageLog, _: &dyn TestLog) {
    for at in [30, 10, 20, 40] {
        let recorded = RecordedSearch { at_ms: at, ..search(&format!("s{at}"), &[]) };
        at_last(|| log.record_query(&recorded, Some(&empty(at))));
    }
    // Rows come by their times, searches in the order in which they were recorded.
    for (since, until, limit, rows, ids) in [
        (None, None, 9, &[10, 20, 30, 40][..], &["s30", "s10", "s20", "s40"][..]),
        (Some(20), Some(40), 9, &[20, 30], &["s30", "s20"]),
        (None, None, 2, &[30, 40], &["s20", "s40"]),
        (Some(41), None, 9, &[], &[]),
    ] {
        assert_eq!(times(&log.quality(since, until, limit).unwrap()), rows, "{since:?} {until:?}");
        assert_eq!(log.search_ids(since, until, limit).unwrap(), ids, "{since:?} {until:?}");
    }
}

pub fn numbers_that_are_none_are_left_out(log: &dyn UsageLog, _: &dyn TestLog) {
    let (threshold, gap_size) = (Some(f64::NAN), Some(f64::INFINITY));
    let milliseconds = [("cut".to_owned(), f64::NAN)].into();
    let wrong = QueryQuality { threshold, gap_size, milliseconds, total_ms: f64::NAN, ..empty(1) };
    // A stage without a number must not lose the row or make it unreadable.
    at_last(|| log.record_query(&search("aaaa", &[]), Some(&wrong)));
    let found = log.quality(None, None, 9).unwrap();
    assert_eq!((found[0].threshold, found[0].gap_size, found[0].total_ms), (None, None, 0.0));
    assert!(found[0].milliseconds.is_empty());
}

pub fn the_oldest_rows_go(log: &dyn UsageLog, test: &dyn TestLog) {
    for at in 1..=9 {
        at_last(|| log.record_query(&search(&at.to_string(), &[]), Some(&empty(at))));
    }
    assert_eq!(test.purge_quality(5), 5);
    assert_eq!(times(&log.quality(None, None, 9).unwrap()), [6, 7, 8, 9]);
    // Simulates what recording does on its own after far too many rows.
    test.run(
        "UPDATE sqlite_sequence SET seq = 200000 WHERE name = 'usage_quality'",
        "ALTER TABLE usage_quality ALTER COLUMN number RESTART WITH 200001",
    );
    for at in 10..=74 {
        at_last(|| log.record_query(&search(&at.to_string(), &[]), Some(&empty(at))));
    }
    assert_eq!(log.quality(None, None, 999).unwrap()[0].at_ms, 10, "the rows far behind are gone");
}

pub fn purging_deletes_what_nobody_judged_and_says_how_much(log: &dyn UsageLog, _: &dyn TestLog) {
    for id in ["a", "b", "c"] {
        at_last(|| log.record_query(&search(id, &["p", "q"]), Some(&quality(1))));
    }
    log.judge("b", &[("p", true), ("q", false)], 2).unwrap();
    let purged = log.purge_telemetry(false).unwrap();
    assert_eq!(purged, Purged { queries: 3, searches: 2, judgements: 0, judged_kept: 1 });
    assert_eq!(log.judged().unwrap().len(), 1);
    assert_eq!(log.purge_telemetry(false).unwrap(), Purged { judged_kept: 1, ..Purged::default() });
    let purged = log.purge_telemetry(true).unwrap();
    assert_eq!(purged, Purged { queries: 0, searches: 1, judgements: 2, judged_kept: 0 });
    assert_eq!(log.judgement_version().unwrap().0, 0);
}

pub fn any_row_comes_back(log: &dyn UsageLog, _: &dyn TestLog) {
    let texts = || prop::collection::vec(prop_oneof![any::<String>(), Just("\0\u{10ffff}".to_owned())], 5);
    let numbers = prop::collection::vec(any::<u32>(), 5);
    let figure = prop::option::of(-1e9f64..1e9);
    let strategy = (texts(), numbers, figure, 0i64..i64::MAX);
    proptest!(ProptestConfig::with_cases(24), |((texts, numbers, figure, at_ms) in strategy)| {
        log.purge_telemetry(true).unwrap();
        let row = QueryQuality {
            entry_point: texts[0].clone(),
            namespace: texts[1].clone(),
            query_text: Some(texts[2].clone()),
            threshold_method: texts[3].clone(),
            milliseconds: [(texts[4].clone(), 0.5)].into(),
            candidates: numbers[0],
            kept: numbers[1],
            dropped: numbers[2],
            returned: numbers[3],
            top_k: numbers[4],
            threshold: figure,
            similarity_mean: figure,
            ..empty(at_ms)
        };
        at_last(|| log.record_query(&search("aaaa", &[]), Some(&row)));
        prop_assert_eq!(log.quality(None, None, 9).unwrap(), vec![row]);
    });
}
