//! The amount wanted, in flags and in the configuration, and for other engines' results.

use crate::support::{Tree, bare, run};
use serde_json::Value;
use std::path::PathBuf;

const QUESTION: &str = "oak bridge timber repair";

/// Notes that share all words of the question, some, one or none of them.
fn bridges() -> Tree {
    let tree = Tree::empty();
    let words: Vec<&str> = QUESTION.split(' ').collect();
    let others = ["herring", "lantern", "violin", "glacier", "ledger", "orchard", "saddle", "compass"];
    for at in 0..40 {
        let shared = match at {
            0..2 => 4,
            2..6 => 3,
            6..12 => 2,
            12..20 => 1,
            _ => 0,
        };
        let said: Vec<&str> = (0..shared).map(|word| words[(at + word) % 4]).collect();
        let (first, second) = (others[at % 8], others[(at / 8 + 3) % 8]);
        let text =
            format!("# Note {at}\n\n{} were seen by the {first} and the {second} in year {at}.\n", said.join(" "));
        tree.write(&format!("notes/n{at}.md"), &text);
    }
    tree.tamis(&["index"]).assert().success();
    tree
}

/// An answer of an index that records nothing.
fn answer(tree: &Tree, arguments: &[&str]) -> Value {
    let arguments = [&["search", "--json", "--no-refresh", QUESTION], arguments].concat();
    let output = tree.tamis(&arguments).env("TAMIS_TELEMETRY_RECORD", "off").output().expect("runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr)))
}

fn keep(answer: &Value) -> u64 {
    answer["cut"]["keep"].as_u64().unwrap_or_else(|| panic!("{answer}"))
}

fn reason(answer: &Value) -> &str {
    answer["cut"]["reason"].as_str().expect("a reason")
}

fn filtered(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = bare(&[&["cut"], arguments].concat());
    command.write_stdin(input);
    run(command)
}

/// The cut of other engines' results, for programs.
fn cut(arguments: &[&str], input: &str) -> Value {
    let (_, out, err) = filtered(&[&["--json"], arguments].concat(), input);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{err}"))
}

#[test]
fn the_word_sets_the_strictness_and_the_answer_says_so() {
    let tree = bridges();
    for (method, set) in [("background", "wanted: one (lambda=0.95)"), ("auto", "wanted: one")] {
        let wanted = |want: &str| answer(&tree, &["--cut", method, "--want", want]);
        let (one, some, all) = (wanted("one"), wanted("best"), wanted("all"));
        assert!(keep(&one) < keep(&all), "{method}: {} {}", reason(&one), reason(&all));
        assert!((keep(&one)..=keep(&all)).contains(&keep(&some)), "{method}: {}", reason(&some));
        assert_eq!(one["cut"]["diagnostics"]["want"], "one");
        assert!(reason(&one).ends_with(&format!("; {set}")), "{}", reason(&one));
        let auto = wanted("auto");
        assert!(auto["cut"]["diagnostics"].get("want").is_none() && !reason(&auto).contains("wanted"), "{auto}");
    }
    let otsu = answer(&tree, &["--cut", "otsu", "--want", "one"]);
    assert!(reason(&otsu).ends_with("; want=one has no effect on the cut otsu"), "{}", reason(&otsu));
    assert_eq!(keep(&otsu), keep(&answer(&tree, &["--cut", "otsu"])));
}

#[test]
fn the_configuration_says_it_for_every_search_and_a_flag_says_otherwise() {
    let tree = bridges();
    let usual = |method: &str| keep(&answer(&tree, &["--cut", method]));
    let by_flag = |method: &str| keep(&answer(&tree, &["--cut", method, "--want", "all"]));
    let before = [usual("background"), usual("auto")];
    let all = [by_flag("background"), by_flag("auto")];
    assert!(before[0] < all[0] && before[1] <= all[1], "{before:?} {all:?}");
    tree.write(".tamis/config.toml", "[search]\nwant = \"all\"\n");
    assert_eq!([usual("background"), usual("auto")], all);
    let one = answer(&tree, &["--cut", "background", "--want", "one"]);
    assert!(reason(&one).ends_with("wanted: one (lambda=0.95)"), "{}", reason(&one));
    assert_eq!(keep(&answer(&tree, &["--cut", "background", "--want", "auto"])), before[0]);
    let mut command = tree.tamis(&["config", "search.want", "--origin"]);
    assert_eq!(run(command).1.trim(), format!("\"all\"  # {}", tree.root().join(".tamis/config.toml").display()));
    command = tree.tamis(&["config", "search.want"]);
    command.env("TAMIS_SEARCH_WANT", "best");
    assert_eq!(run(command).1.trim(), "best");
    tree.write(".tamis/config.toml", "[search]\nwant = \"many\"\n");
    let (code, _, err) = run(tree.tamis(&["search", "x"]));
    assert_eq!(code, 2);
    assert!(err.contains("search.want = \"many\": must be one of auto, one, best, all"), "{err}");
}

#[test]
fn aims_bind_the_cut_that_reckons_with_them() {
    let tree = bridges();
    let auto = |arguments: &[&str]| answer(&tree, &[&["--cut", "auto", "--want", "all"], arguments].concat());
    let free = auto(&[]);
    let figure = |answer: &Value, name: &str| answer["cut"]["diagnostics"][name].as_f64().expect("a figure");
    let recall = auto(&["--target-recall", "0.99"]);
    assert!(keep(&recall) > keep(&free) && figure(&recall, "expected_recall") >= 0.99, "{}", reason(&recall));
    let precise = auto(&["--min-precision", "0.85"]);
    assert!(keep(&precise) < keep(&free) && figure(&precise, "expected_precision") >= 0.85, "{}", reason(&precise));
    assert!(keep(&auto(&["--strictness", "8"])) < keep(&auto(&["--strictness", "0.12"])));
    assert_eq!(keep(&auto(&["--budget-tokens", "1"])), 0);
    let some = keep(&auto(&["--budget-tokens", "60"]));
    assert!(0 < some && some < keep(&free), "{some} of {}", keep(&free));
}

#[test]
fn an_aim_that_the_cut_has_not_is_refused_before_anything_is_indexed() {
    let tree = Tree::new();
    for (arguments, message) in [
        (
            &["--cut", "background", "--target-recall", "0.9"][..],
            "--target-recall: cut background has no such aim; use --cut auto",
        ),
        (&["--cut", "otsu", "--strictness", "2"], "--strictness: cut otsu has no such aim; use --cut auto"),
        (
            &["--cut", "kneedle", "--min-precision", "0.5"],
            "--min-precision: cut kneedle has no such aim; use --cut auto",
        ),
        (
            &["--cut", "background", "--budget-tokens", "500"],
            "--budget-tokens: cut background has no such aim; use --cut auto",
        ),
        (&["--cut", "auto", "--target-recall", "1"], "--target-recall must be a number from 0 to 0.999 and is 1"),
        (&["--cut", "auto", "--min-precision", "-0.1"], "--min-precision must be a number from 0 to 0.999 and is -0.1"),
        (&["--cut", "auto", "--strictness", "11"], "--strictness must be a number from 0.1 to 10 and is 11"),
        (&["--cut", "auto", "--budget-tokens", "-1"], "must be a whole number of at least 0"),
        (&["--cut", "auto", "--strictness", "NaN"], "must be a finite number"),
        (&["--want", "many"], "possible values: auto, one, best, all"),
    ] {
        let (code, out, err) = run(tree.tamis(&[&["search", "oven"], arguments].concat()));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    }
    assert!(!tree.root().join(".tamis").exists(), "nothing is indexed for a question that cannot be asked");
}

#[test]
fn the_candidates_of_a_search_are_cut_alike_wherever_they_come_from() {
    let tree = bridges();
    // `auto` has more evidence in a search than these lists show.
    for (method, want) in [("background", "auto"), ("background", "all")] {
        let searched = answer(&tree, &["--explain", "--cut", method, "--want", want]);
        let pool = searched["pool"].as_array().expect("a pool");
        assert!(pool.len() > 20 && keep(&searched) > 0, "{searched}");
        let mean = searched["cut"]["diagnostics"]["background_mean"].to_string();
        let arguments = ["--method", method, "--want", want, "--background", &mean, "--sort"];
        let scored: String = pool.iter().map(|entry| format!("{entry}\n")).collect();
        assert_eq!(cut(&arguments, &scored)["keep"], searched["cut"]["keep"], "{method} {want}");
        // The legs alone, in any order; the quick model's weight is the same in both tools.
        let legs = |entry: &Value| format!("{}\t{}\t{}\n", entry["bm25"], entry["similarity"], entry["coverage"]);
        let table = format!("bm25\tsimilarity\tcoverage\n{}", pool.iter().rev().map(legs).collect::<String>());
        let fused = cut(&arguments, &table);
        assert_eq!(fused["keep"], searched["cut"]["keep"], "{method} {want}: {fused}");
        let numbers =
            |list: &[Value], key: &str| -> Vec<f64> { list.iter().filter_map(|one| one[key].as_f64()).collect() };
        let (values, mut scores) =
            (numbers(fused["lines"].as_array().expect("lines"), "value"), numbers(pool, "score"));
        // The evidence orders the pool.
        scores.sort_by(|a, b| b.total_cmp(a));
        assert_eq!((values.len(), scores.len()), (pool.len(), pool.len()));
        // A model has its weight in single precision.
        assert!(
            values.iter().zip(&scores).all(|(value, score)| (value - score).abs() < 1e-6),
            "{values:?}\n{scores:?}"
        );
    }
}

/// Candidates of two legs: some that stand out, and a tail.
fn hybrid(best: f64) -> String {
    let row = |rank: u32| {
        let high = if rank < 6 { best } else { 0.12 };
        let (similarity, bm25) = (high - 0.002 * f64::from(rank), 20.0 * high - 0.05 * f64::from(rank));
        format!("{{\"similarity\":{similarity:.4},\"bm25\":{bm25:.4},\"coverage\":{:.2},\"id\":{rank}}}\n", high)
    };
    (0..30).map(row).collect()
}

/// A file of passages drawn at random.
fn random(directory: &tempfile::TempDir, lines: &str) -> String {
    let path: PathBuf = directory.path().join("random.csv");
    std::fs::write(&path, lines).expect("written");
    path.to_string_lossy().into_owned()
}

/// Thirty passages with a mean similarity of 0.08 and words of the question in every tenth.
fn unrelated() -> String {
    let row = |at: u32| {
        format!("{:.3},{}\n", 0.04 + 0.04 * f64::from(at % 3), if at.is_multiple_of(10) { "2.0" } else { "" })
    };
    format!("similarity,bm25\n{}", (0..30).map(row).collect::<String>())
}

#[test]
fn a_sample_drawn_at_random_is_the_background_and_asks_whether_anything_stands_out() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let sample = random(&directory, &unrelated());
    let auto = ["--method", "auto", "--background-sample", &sample];
    let found = cut(&auto, &hybrid(0.7));
    assert_eq!((&found["keep"], &found["method"]), (&6.into(), &"auto".into()), "{found}");
    assert_eq!(found["diagnostics"]["background"], "measured");
    assert_eq!(found["diagnostics"]["gate"], "open");
    assert_eq!(found["diagnostics"]["values"], "similarity and bm25, fused with 0.6 of the similarity");
    let (code, out, err) = filtered(&auto, &hybrid(0.14));
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("Nothing clearly relevant."), "{err}");
    assert_eq!(cut(&[&auto[..], &["--no-gate"]].concat(), &hybrid(0.14))["method"], "auto");
    assert_eq!(cut(&["--background-sample", &sample], &hybrid(0.14))["method"], "gate", "auto is the default");
    let other = ["--method", "background", "--background-sample", &sample];
    assert_ne!(cut(&other, &hybrid(0.14))["method"], "gate", "auto alone asks");
}

#[test]
fn what_is_not_given_is_done_without_and_said() {
    let without = cut(&["--method", "auto"], &hybrid(0.7));
    assert_eq!(without["diagnostics"]["background"], "estimated");
    assert!(reason_of(&without).contains("; judged by this list alone"), "{without}");
    assert_eq!(without["diagnostics"]["gate"], "not asked: there is no evidence");
    let words = "bm25,coverage\n9,0.2\n3,0.1\n1,0.1\n";
    assert_eq!(cut(&["--method", "auto"], words)["method"], "gate", "words alone have a bound of their own");
    let vectors = cut(&["--method", "auto"], "similarity\n0.7\n0.3\n0.2\n");
    assert_eq!(vectors["diagnostics"]["values"], "similarity alone");
    assert_eq!(vectors["diagnostics"]["gate"], "not asked: there is no evidence");
    let scores = cut(&["--method", "auto", "--background", "0.1"], "0.9\n0.88\n0.2\n0.15\n");
    assert_eq!((&scores["keep"], &scores["diagnostics"]["background"]), (&2.into(), &"measured".into()));
}

fn reason_of(cut: &Value) -> &str {
    cut["reason"].as_str().expect("a reason")
}

#[test]
fn probabilities_come_with_the_lines_that_they_are_of() {
    let report = cut(&["--method", "auto"], &hybrid(0.7));
    let probabilities: Vec<f64> =
        report["probabilities"].as_array().expect("probabilities").iter().filter_map(Value::as_f64).collect();
    let lines = report["lines"].as_array().expect("lines");
    assert_eq!((probabilities.len(), lines.len()), (30, 30));
    assert!(probabilities.is_sorted_by(|a, b| a >= b));
    let kept = lines.iter().filter(|line| line["kept"] == true).count();
    assert_eq!(report["keep"], kept);
    assert_eq!((&lines[0]["line"], &lines[29]["line"]), (&1.into(), &30.into()));
    let (_, out, err) = filtered(&["--method", "auto"], &hybrid(0.7));
    assert_eq!(out.lines().count(), kept);
    assert!(err.contains(" look relevant (") && err.contains("%, …); the next has "), "{err}");
    for figure in ["expected_precision", "expected_recall"] {
        assert!(report["diagnostics"][figure].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)), "{report}");
    }
}

#[test]
fn the_word_and_the_aims_work_on_other_results_too() {
    let list: String = (0..60).map(|rank| format!("{:.4}\n", 0.2 + 0.7 * (-f64::from(rank) / 15.0).exp())).collect();
    for method in ["auto", "background", "relative"] {
        let keep = |want: &str| cut(&["--method", method, "--want", want], &list)["keep"].as_u64().expect("a number");
        assert!(keep("one") < keep("all"), "{method}");
    }
    let set = cut(&["--method", "background", "--want", "one"], &list);
    assert!(reason_of(&set).ends_with("; wanted: one (lambda=0.95)"), "{set}");
    assert_eq!(set["diagnostics"]["want"], "one");
    let costly: String = list.lines().map(|score| format!("{{\"score\":{score},\"tokens\":100}}\n")).collect();
    let budget = cut(&["--method", "auto", "--want", "all", "--budget-tokens", "350"], &costly);
    assert_eq!(budget["keep"], 3, "{budget}");
    let recall = cut(&["--method", "auto", "--target-recall", "0.95"], &list);
    assert!(recall["diagnostics"]["expected_recall"].as_f64() >= Some(0.95), "{recall}");
}

#[test]
fn what_cannot_be_done_is_refused_with_the_way_out() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let sample = random(&directory, "similarity\n0.1\n0.2\n");
    for (arguments, input, message) in [
        (
            &["--method", "background", "--target-recall", "0.9"][..],
            "1\n",
            "--target-recall: cut background has no such aim; use --method auto",
        ),
        (&["--method", "auto", "--strictness", "0"], "1\n", "--strictness must be a number from 0.1 to 10 and is 0"),
        (
            &["--method", "auto", "--budget-tokens", "9"],
            "1\n",
            "line 1: a budget needs the number `tokens` or the `text`",
        ),
        (&[], "{\"score\":1}\n{\"bm25\":1}\n", "line 2: no field score, which line 1 has"),
        (&["--lower-is-better"], "bm25\n3\n", "--lower-is-better: a higher similarity and bm25 are better"),
        (&["--background-sample", &sample], "similarity,bm25\n0.5,3\n", "no line has a bm25, which the input has"),
        (&["--background-sample", &sample], "0.5\n", "every line needs a score"),
        (&["--background-sample", "no/such/file"], "1\n", "no/such/file: cannot be read"),
        (&["--background-sample", &sample, "--background", "1"], "1\n", "cannot be used with"),
        (&["--fusion-weight", "1.5"], "1\n", "must be a number from 0 to 1"),
        (&[], "similarity,bm25\n0.5\n", "line 2: 1 field where the header has 2"),
    ] {
        let (code, out, err) = filtered(arguments, input);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    }
}

#[test]
fn tables_come_out_under_their_header_best_first() {
    let table = "id,similarity,bm25\na,0.1,0\nb,0.8,9\nc,0.12,0.1\nd,0.79,8.5";
    let (code, out, err) = filtered(&["--method", "fixed:k=3"], table);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out, "id,similarity,bm25\nb,0.8,9\nd,0.79,8.5\nc,0.12,0.1\n");
}
