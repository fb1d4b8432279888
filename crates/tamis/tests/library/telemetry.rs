//! The record of queries, summarized and replayed, on real indexes.

use crate::support::{Tree, ask, assert_says, indexed_notes, notes_tree, search, store};
use std::fs;
use tamis::feedback::Label;
use tamis::telemetry::{Replay, ReplayRequest, Stats, StatsRequest};
use tamis::{Answer, Index, SearchRequest};
use tamis_cut::METHODS;
use tamis_store::Calibration;

fn stats(index: &Index) -> Stats {
    index.statistics().summarize(&StatsRequest::default()).expect("read")
}

fn replay(index: &Index, cuts: &[&str]) -> Replay {
    index.statistics().replay(&ReplayRequest::new(cuts.iter().map(ToString::to_string).collect())).expect("replayed")
}

fn with_cut(index: &Index, query: &str, cut: &str) -> Answer {
    search(index, SearchRequest::new(query).cut(cut))
}

/// Notes with some of them in tests and in a changelog, which are ranked down.
fn tree_of_roles() -> Tree {
    let tree = notes_tree();
    for (path, text) in [
        ("tests/oven_test.rs", "/// The oven is hot.\n#[test]\nfn the_oven_heats_to_220_degrees() {}\n"),
        ("tests/violin_test.py", "def test_violin_is_tuned_in_fifths():\n    \"\"\"The violin and its bow.\"\"\"\n"),
        ("CHANGELOG.md", "# Changelog\n\n## 2\n\n- The oven bakes bread.\n\n## 1\n\n- The violin is tuned.\n"),
    ] {
        tree.write(path, text.as_bytes());
    }
    tree
}

#[test]
fn a_search_without_a_cut_is_recorded_as_what_it_shows() {
    let (_tree, index) = indexed_notes(&[]);
    let answer = search(&index, SearchRequest::new("how hot must the oven be").all().limit(3));
    assert!(answer.results.len() == 3 && answer.cut.candidates > 3, "{:?}", answer.cut);
    let stats = stats(&index);
    let (method, kept) = stats.methods.iter().map(|one| (one.name.as_str(), one.mean_kept)).next().expect("a method");
    assert_eq!((method, kept, stats.shortened), ("off", 3.0, 0));
}

#[test]
fn a_cut_says_its_threshold_method_and_keeps_the_hinted_language() {
    let (_tree, index) = indexed_notes(&[("search.gate", "false")]);
    let answer = with_cut(&index, "oven", "max_gap");
    let stats = stats(&index);
    assert_eq!(stats.methods[0].name, answer.cut.diagnostics["threshold_method"].as_str().expect("text"));
    assert_eq!(stats.gaps.expect("one").max, answer.cut.diagnostics["gap_size"].as_f64().expect("a number"));

    let tree = tree_of_roles();
    let index = tree.indexed(&[("search.gate", "false")]);
    with_cut(&index, "violin", "fixed:k=2");
    assert_eq!(self::stats(&index).language_match_ratio, None, "no hint");
    search(&index, SearchRequest::new("violin").languages(["python"]).cut("fixed:k=1"));
    assert_eq!(self::stats(&index).language_match_ratio, Some(1.0));
}

#[test]
fn a_log_that_is_damaged_or_locked_or_of_nobody_never_fails_a_search() {
    let tree = notes_tree();
    let log = tree.root().join(".tamis/usage.db");
    let damaged = tree.indexed(&[]);
    fs::write(&log, "no database at all, but long enough to be looked at as one").expect("written");
    assert_eq!(ask(&damaged, "oven").results[0].path, "oven.md");
    assert!(damaged.feedback().recording_problem().is_some_and(|problem| problem.contains("usage.db")));
    fs::remove_file(&log).expect("removed");

    let locked = tree.open(&[]);
    ask(&locked, "oven");
    let holder = rusqlite::Connection::open(&log).expect("opened");
    holder.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let answer = ask(&locked, "oven");
    assert_eq!((answer.query_id.as_deref(), answer.results[0].path.as_str()), (None, "oven.md"));
    holder.execute_batch("COMMIT").expect("let go");
    assert!(ask(&locked, "oven").query_id.is_some() && locked.feedback().recording_problem().is_none());
    assert_eq!(stats(&locked).queries, 2);

    // A malformed table: the search is answered, and the search's own record is lost with the row.
    holder.execute_batch("DROP TABLE usage_quality").expect("dropped");
    assert_eq!(ask(&locked, "oven").results[0].path, "oven.md");
    let missing = locked.statistics().summarize(&StatsRequest::default()).expect_err("no table");
    assert!(missing.to_string().contains("usage_quality"), "{missing}");
}

#[test]
fn drift_is_counted_before_and_after_a_calibration() {
    let (_tree, index) = indexed_notes(&[]);
    let model = ask(&index, "oven").model.expect("a model");
    let calibration = |language: &str, calibrated_at_ms| Calibration {
        language: language.into(),
        threshold: 0.5,
        sample_size: 40,
        provider: "static".into(),
        model: model.clone(),
        calibrated_at_ms,
    };
    let later = tamis::dates::present().as_millisecond() + 60_000;
    store(&index).put_calibrations(&[calibration("rust", 1), calibration("python", later)]).expect("put");
    let drift = stats(&index).drift.remove(0);
    assert_eq!((drift.before.map(|before| before.queries), drift.after), (Some(1), None));
    let given = StatsRequest { calibrated_at_ms: Some([(model, 1)].into()), ..StatsRequest::default() };
    let drift = index.statistics().summarize(&given).expect("read").drift.remove(0);
    assert_eq!((drift.before, drift.after.map(|after| after.queries)), (None, Some(1)));
}

#[test]
fn a_replay_keeps_what_the_search_itself_keeps_whatever_was_recorded() {
    let tree = tree_of_roles();
    for fusion in ["convex", "weighted"] {
        let index = tree.indexed(&[("search.fusion", fusion)]);
        for query in ["how hot must the oven be for bread", "violin tuned fifths", "zzyzx qwrtplk"] {
            for recorded in ["auto", "max_gap", "top_score"] {
                // A record never holds the threshold of each candidate's language, and without a weighing rule no probabilities.
                let known = |name: &&str| *name != "language" && (*name != "auto" || recorded == "auto");
                let names: Vec<&str> = METHODS.iter().map(|method| method.name).filter(known).collect();
                index.statistics().purge(true).expect("purged");
                with_cut(&index, query, recorded);
                let replay = replay(&index, &names);
                for (name, summary) in names.iter().zip(&replay.cuts[1..]) {
                    let cut = with_cut(&index, query, name).cut;
                    let methods: Vec<_> = summary.methods.keys().collect();
                    let expected = (cut.keep as f64, vec![&cut.method]);
                    assert_eq!((summary.kept_mean, methods), expected, "{query}: {name} after {recorded}, {fusion}");
                }
            }
        }
    }
}

#[test]
fn a_replay_of_what_was_recorded_changes_nothing() {
    let tree = tree_of_roles();
    for fusion in ["convex", "rrf", "weighted"] {
        let index = tree.indexed(&[("search.fusion", fusion)]);
        index.statistics().purge(true).expect("purged");
        for query in ["oven", "violin tuned fifths", "how do ships enter the harbour", "zzyzx qwrtplk"] {
            with_cut(&index, query, "otsu");
        }
        let replay = replay(&index, &["otsu", "fixed:k=1"]);
        assert_eq!((replay.searches, replay.judged, replay.comparisons.len()), (4, 0, 3));
        let [same, ..] = &replay.comparisons[..] else { panic!("three pairs") };
        assert_eq!((same.a.as_str(), same.b.as_str(), same.differ, same.overlap), ("recorded", "otsu", 0, 1.0));
        assert_eq!(replay.cuts[2].kept_p90, 1.0);
        assert_eq!(stats(&index).queries, 4, "a replay takes nothing down");
    }

    let index = tree.indexed(&[("search.gate", "false")]);
    for cut in ["max_gap", "auto", "background"] {
        index.statistics().purge(true).expect("purged");
        let answer = with_cut(&index, "violin tuned in fifths lang:python", cut);
        let replay = replay(&index, &[cut]);
        assert_eq!(replay.cuts[0].kept_mean, answer.cut.keep as f64);
        assert_eq!(replay.comparisons[0].differ, 0, "{cut}");
    }

    let index = tree.indexed(&[("search.mode", "lexical"), ("search.gate", "false")]);
    index.statistics().purge(true).expect("purged");
    let answer = ask(&index, "oven bread");
    let replay = replay(&index, &["max_gap", "background"]);
    assert_eq!(replay.cuts[0].kept_mean, answer.cut.keep as f64);
    assert_eq!(replay.cuts[1].methods.keys().collect::<Vec<_>>(), ["background"]);
    assert_eq!(replay.comparisons[2].differ, 0, "background decides in place of max_gap");
}

#[test]
fn a_replay_tells_which_cut_does_better_and_what_it_cannot_replay() {
    let (_tree, index) = indexed_notes(&[("search.gate", "false")]);
    let answer = with_cut(&index, "oven bread", "fixed:k=4");
    let id = answer.query_id.as_deref().expect("recorded");
    index.feedback().judge(id, &["1", "2"], Label::Relevant).expect("judged");
    index.feedback().judge(id, &["3", "4"], Label::NotRelevant).expect("judged");
    let replay = replay(&index, &["fixed:k=1", "fixed:k=3", "auto"]);
    let figures: Vec<_> = replay.cuts[..3].iter().map(|cut| (cut.precision, cut.recall)).collect();
    assert_eq!(figures, [(Some(0.5), Some(1.0)), (Some(1.0), Some(0.5)), (Some(2.0 / 3.0), Some(1.0))]);
    assert_eq!(replay.judged, 1);
    assert_says(replay.notes.concat(), &["auto decides by the recorded probabilities"]);
}
