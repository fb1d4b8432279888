//! `tamis eval` on small collections made up here.

use crate::support::{bare, run};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Documents of two made-up collections, by identifier.
const HOUSE: [(&str, &str); 12] = [
    ("tide", "The moon raises two tides a day; at new and full moon they are highest."),
    ("oven", "Heat the oven to 240 degrees and bake the bread on a stone for forty minutes."),
    ("dough", "Bread dough of flour, water, salt and yeast rises covered in a warm place."),
    ("violin", "A violin is tuned in fifths, and its bow is rubbed with rosin."),
    ("hive", "The beekeeper opens the hive in spring and looks for the queen and her brood."),
    ("ledger", "Every entry in the ledger has a debit and a credit of the same amount."),
    ("glass", "Molten glass is gathered on an iron pipe, blown, and cooled slowly."),
    ("chain", "A bicycle chain lasts longer when it is cleaned and oiled every few weeks."),
    ("orchard", "Apple trees in the orchard are pruned in late winter before the buds open."),
    ("harbour", "Ships wait outside the harbour for the tide and the pilot."),
    ("telescope", "A telescope gathers light with a mirror whose diameter sets what it resolves."),
    ("glacier", "The glacier moves a metre a day and leaves a moraine of broken rock."),
];
const FIRM: [(&str, &str); 10] = [
    ("patent", "A patent application lists its claims after the description of the invention."),
    ("audit", "The auditor samples invoices and confirms balances with the bank."),
    ("payroll", "Payroll taxes are withheld each month and paid to the revenue office."),
    ("lease", "The lease of the warehouse ends after five years unless it is renewed."),
    ("merger", "Shareholders vote on the merger after the fairness opinion is filed."),
    ("tariff", "Import tariffs on steel depend on the country of origin."),
    ("bond", "The coupon of the bond is paid twice a year until maturity."),
    ("pension", "Pension contributions vest after three years of employment."),
    ("recall", "The manufacturer recalls the airbags because of a faulty inflator."),
    ("broker", "The broker charges a commission for every trade in securities."),
];

/// Two collections, and a cache of their own.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place { directory: tempfile::tempdir().expect("a temporary directory") };
        let queries = [
            ("q1", "tides and the moon", json!({})),
            ("q2", "how hot should the oven be for bread", json!({})),
            ("q3", "when does the beekeeper open the hive", json!({})),
            ("q4", "how is a violin tuned", json!({})),
            ("q5", "who repaired the antenna of the submarine", json!({ "answerable": false })),
            ("q6", "bread", json!({})),
        ];
        let qrels = "query-id\tcorpus-id\tscore\nq1\ttide\t2\nq1\tharbour\t1\nq2\toven\t1\nq3\thive\t1\nq4\tviolin\t1\nq6\toven\t1\nq6\tdough\t1\n";
        place.collection("house", &HOUSE, &queries, qrels);
        let queries = [
            ("f1", "when are payroll taxes withheld", json!({})),
            ("f2", "commission of the broker for securities", json!({})),
        ];
        place.collection("firm", &FIRM, &queries, "f1\tpayroll\t1\nf2\tbroker\t1\n");
        place
    }

    fn collection(&self, name: &str, documents: &[(&str, &str)], queries: &[(&str, &str, Value)], qrels: &str) {
        let lines = |values: Vec<Value>| values.iter().map(|value| format!("{value}\n")).collect::<String>();
        let document = |(id, text): &(&str, &str)| json!({ "_id": id, "title": "", "text": text });
        let query =
            |(id, text, metadata): &(&str, &str, Value)| json!({ "_id": id, "text": text, "metadata": metadata });
        self.write(&format!("{name}/corpus.jsonl"), &lines(documents.iter().map(document).collect()));
        self.write(&format!("{name}/queries.jsonl"), &lines(queries.iter().map(query).collect()));
        self.write(&format!("{name}/qrels/test.tsv"), qrels);
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(&path, text).expect("written");
        path
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    /// Exit status, standard output and standard error of `tamis eval` here, with the quick model.
    fn eval(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = bare(&[&["eval"], arguments].concat());
        command.current_dir(self.root()).env("TAMIS_CACHE", self.root().join("cache"));
        command.env("TAMIS_CONFIG_HOME", self.root().join("home")).env("TAMIS_INDEX_MODELS", "static");
        run(command)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let (code, out, err) = self.eval(&[arguments, &["--json"]].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).expect("JSON")
    }

    fn fails(&self, arguments: &[&str]) -> String {
        let (code, out, err) = self.eval(arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        err
    }
}

fn method<'a>(report: &'a Value, name: &str) -> &'a Value {
    let methods = report["collections"][0]["methods"].as_array().expect("methods");
    methods.iter().find(|method| method["name"] == name).unwrap_or_else(|| panic!("{name} is missing"))
}

#[test]
fn every_cut_is_held_against_the_references() {
    let place = Place::new();
    let (code, out, err) = place.eval(&["house", "--foreign", "firm"]);
    assert_eq!(code, 0, "{err}");
    for name in ["background", "max_gap", "otsu", "fixed-1", "fixed-5", "fixed-fitted", "fixed-known", "oracle"] {
        assert!(
            out.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))),
            "{name} is missing:\n{out}"
        );
    }
    assert!(out.contains("nDCG@10") && out.contains("less fixed-fitted"), "{out}");
    assert!(err.contains("house: 12 documents, 5 answerable, 1 unanswerable, 2 foreign queries, static"), "{err}");
    let (_, only, err) = place.eval(&["house", "--cut", "otsu", "--cut", "background:lambda=0.8", "-q"]);
    assert!(only.contains("otsu") && only.contains("background:lambda=0.8") && !only.contains("max_gap"), "{only}");
    assert_eq!(err, "");
}

#[test]
fn what_is_not_there_comes_back_empty_unless_the_gate_is_off() {
    let place = Place::new();
    let report = place.json(&["house", "--foreign", "firm", "--cut", "background"]);
    let figures = &method(&report, "background")["figures"];
    assert_eq!(figures["foreign_empty"], json!(1.0), "{figures}");
    assert_eq!(figures["answerable_empty"], json!(0.0));
    assert_eq!(method(&report, "oracle")["figures"]["share_of_best_f1"], json!(1.0));
    assert_eq!(report["collections"][0]["queries"].as_array().map(Vec::len), Some(8));
    let open = place.json(&["house", "--foreign", "firm", "--cut", "background", "--no-gate"]);
    assert_eq!(method(&open, "background")["figures"]["foreign_empty"], json!(0.0));
    // A collection's own queries are not foreign to it.
    let both = place.json(&["house", "firm", "--foreign", "house", "--foreign", "firm", "--foreign-queries", "1"]);
    let foreign: Vec<&Value> = both["collections"].as_array().expect("two").iter().map(|one| &one["foreign"]).collect();
    assert_eq!(foreign, [&json!(1), &json!(1)]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_the_second_run_embeds_nothing() {
    let place = Place::new();
    let arguments = ["house", "--foreign", "firm", "--json", "--seed", "7", "-v"];
    let (code, first, log) = place.eval(&arguments);
    assert_eq!(code, 0, "{log}");
    assert!(log.contains("embedding with static (12)"), "{log}");
    let (_, second, log) = place.eval(&arguments);
    assert!(!log.contains("embedding"), "{log}");
    assert!(first == second, "the report differs from one run to the next");
    // Another corpus gets another index.
    place.write(
        "house/corpus.jsonl",
        &HOUSE.map(|(id, text)| format!("{}\n", json!({ "_id": id, "text": text }))).concat(),
    );
    assert!(place.eval(&arguments).2.contains("embedding with static (12)"));
}

#[test]
fn reports_for_programs_and_for_people() {
    let place = Place::new();
    let (code, csv, _) = place.eval(&["house", "--csv", "--cut", "otsu", "-q"]);
    let columns = csv.lines().next().map_or(0, |line| line.split(',').count());
    assert!(code == 0 && columns > 3 && csv.lines().skip(1).any(|line| line.contains("otsu")), "{csv}");
    let (code, markdown, _) = place.eval(&["house", "--markdown", "--cut", "otsu", "-q"]);
    assert!(code == 0 && markdown.contains("| otsu |"), "{markdown}");
    let (code, out, err) = place.eval(&["house", "--html", "report.html", "--metric", "recall", "--cut", "otsu"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Recall") && err.contains("wrote report.html"), "{out}{err}");
    let page = fs::read_to_string(place.root().join("report.html")).expect("written");
    assert!(page.contains("<svg") && page.contains("otsu") && !page.contains("<script"), "{} bytes", page.len());
}

#[test]
fn depths_times_limits_and_options_reach_the_report() {
    let place = Place::new();
    let report = place.json(&[
        "house", "--cut", "fixed:k=3", "--depths", "1,5", "--timings", "--limit-queries", "4", "--beta", "2",
        "--resamples", "50", "--baseline", "fixed-3",
    ]);
    let fixed = method(&report, "fixed:k=3");
    assert_eq!(fixed["depths"].as_array().map(Vec::len), Some(2), "{fixed}");
    assert!(fixed["figures"]["microseconds"].as_f64().is_some_and(|time| time > 0.0));
    assert_eq!(report["collections"][0]["answerable"], json!(4));
    let options = &report["options"];
    assert_eq!(
        (&options["beta"], &options["resamples"], &options["baseline"]),
        (&json!(2.0), &json!(50), &json!("fixed-3"))
    );
    let lexical = place.json(&["house", "--mode", "lexical"]);
    assert!(method(&lexical, "background")["figures"].is_object());
    assert!(place.fails(&["house", "--mode", "lexical", "--cut", "max_gap"]).contains("max_gap"));
}

#[test]
fn the_querys_own_document_is_left_out() {
    let place = Place::new();
    let queries = [("oven", HOUSE[1].1, json!({}))];
    place.collection("twins", &HOUSE, &queries, "oven\tdough\t1\n");
    let share = |arguments: &[&str]| {
        let report = place.json(&[&["twins", "--cut", "fixed:k=1", "--no-gate"], arguments].concat());
        method(&report, "fixed:k=1")["figures"]["share_of_best_f1"].as_f64().expect("a figure")
    };
    assert_eq!((share(&[]), share(&["--own-id"])), (0.0, 1.0));
    assert_eq!((share(&["--own-id={}"]), share(&["--own-id=paper/{}"])), (1.0, 0.0));
    let (_, _, err) = place.eval(&["twins", "--cut", "fixed:k=1", "--own-id"]);
    assert!(err.contains("twins: queries whose own document is left out: 1 of 1"), "{err}");
}

#[test]
fn a_query_that_is_a_part_of_a_document_leads_to_it_by_a_pattern() {
    let place = Place::new();
    let queries = [("oven_method", HOUSE[1].1, json!({}))];
    place.collection("facets", &HOUSE, &queries, "oven_method\tdough\t1\n");
    let run = |own: &str| place.eval(&["facets", "--cut", "fixed:k=1", "--no-gate", "--json", own]);
    let (code, _, err) = run("--own-id");
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("facets: no query's identifier leads to a document") && err.contains("--own-id='{}_*'"),
        "{err}"
    );
    let (_, out, err) = run("--own-id={}_*");
    assert!(err.contains("facets: queries whose own document is left out: 1 of 1"), "{err}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(method(&report, "fixed:k=1")["figures"]["share_of_best_f1"], json!(1.0));
    assert!(place.fails(&["facets", "--own-id=facet"]).contains("must have {} once"));
}

#[test]
fn numbers_that_coincide_by_chance_take_no_document_out() {
    let place = Place::new();
    let numbers: Vec<String> = (0..HOUSE.len()).map(|number| number.to_string()).collect();
    let documents: Vec<(&str, &str)> = numbers.iter().zip(HOUSE).map(|(id, (_, text))| (id.as_str(), text)).collect();
    let asked = |texts: [&'static str; 3]| {
        texts.iter().enumerate().map(|(at, text)| (["0", "1", "2"][at], *text, json!({}))).collect::<Vec<_>>()
    };
    let questions = asked(["how is a violin tuned", "who prunes the trees", "what does a telescope gather"]);
    place.collection("counted", &documents, &questions, "0\t3\t1\n1\t8\t1\n2\t10\t1\n");
    let error = place.fails(&["counted", "--cut", "fixed:k=1", "--own-id"]);
    assert!(error.contains("3 queries have the number of a document") && error.contains("by chance"), "{error}");
    // If queries and documents match in content, shared numbers are not a coincidence.
    place.collection("same", &documents, &asked([HOUSE[0].1, HOUSE[1].1, HOUSE[2].1]), "0\t9\t1\n1\t2\t1\n2\t1\t1\n");
    let (code, _, err) = place.eval(&["same", "--cut", "fixed:k=1", "--own-id"]);
    assert!(code == 0 && err.contains("left out: 3 of 3"), "{err}");
}

#[test]
fn flags_that_would_be_ignored_are_refused() {
    let place = Place::new();
    for ignored in [
        &["--cut", "fixed"][..],
        &["--foreign", "firm"],
        &["--metric", "f1"],
        &["--baseline", "fixed-3"],
        &["--beta", "2"],
        &["--resamples", "10"],
        &["--depths", "5"],
        &["--timings"],
        &["--cold"],
        &["--no-gate"],
    ] {
        let error = place.fails(&[&["house", "--judged", "2"], ignored].concat());
        assert!(error.contains("cannot be used with") && error.contains(ignored[0]), "{error}");
    }
    assert!(place.fails(&["house", "--foreign-queries", "3"]).contains("--foreign"));
    // Neither a collection itself nor a copy of it is foreign to it.
    place.collection("copy", &FIRM, &[("q1", "tides and the moon", json!({}))], "q1\tlease\t1\n");
    for itself in ["house", "copy"] {
        let error = place.fails(&["house", "--cut", "fixed", "--foreign", itself]);
        assert!(
            error.contains(&format!(
                "--foreign {itself}: all of its queries are asked of the evaluated collections too"
            )),
            "{error}"
        );
    }
    let (code, _, err) = place.eval(&["house", "firm", "--cut", "fixed", "--foreign", "house"]);
    assert!(code == 0 && err.contains("house: all queries of --foreign are its own too"), "{err}");
    assert!(place.fails(&["house", "--cut", "fixed-5"]).contains("did you mean \"fixed:k=5\"?"));
}

#[test]
fn any_engines_run_is_cut_without_an_index() {
    let place = Place::new();
    place.write(
        "bm25.run",
        "q1 Q0 a 1 9.1 x\nq1 Q0 b 2 9.0 x\nq1 Q0 c 3 1.0 x\nq1 Q0 d 4 0.9 x\nq2 Q0 a 1 3 x\nq9 Q0 a 1 3 x\n",
    );
    place.write("qrels.txt", "q1 0 a 1\nq1 0 b 1\nq2 0 z 1\n");
    let report = place.json(&["--run", "bm25.run", "--qrels", "qrels.txt", "--cut", "autocut", "--cut", "fixed:k=3"]);
    assert_eq!(report["collections"][0]["name"], json!("bm25"));
    assert_eq!(method(&report, "autocut")["kept"]["documents"], json!([2, 1]));
    let (code, out, err) = place.eval(&["--run", "bm25.run", "--qrels", "qrels.txt"]);
    assert!(code == 0 && out.contains("kneedle") && err.contains("not judged and left out: 1"), "{out}{err}");
    assert!(!place.root().join("cache").exists(), "nothing is indexed");
    assert!(place.fails(&["--run", "none.run", "--qrels", "qrels.txt"]).contains("none.run"));
    place.write("bad.run", "q1 Q0 a 1 9.1 x\nq1 Q0 b two x\n");
    assert!(place.fails(&["--run", "bad.run", "--qrels", "qrels.txt"]).contains("bad.run, line 2"));
}

#[test]
fn two_reports_are_compared() {
    let place = Place::new();
    let report = |name: &str, share: &str| {
        // The same method name in both, with another setting behind it.
        let mut command = bare(&["eval", "house", "--cut", "top_score", "--json"]);
        command.current_dir(place.root()).env("TAMIS_CACHE", place.root().join("cache"));
        command.env("TAMIS_CONFIG_HOME", place.root().join("home")).env("TAMIS_INDEX_MODELS", "static");
        let (code, out, err) = run({
            command.env("TAMIS_CUT_TOP_SCORE_HIGH_MULTIPLIER", share);
            command
        });
        assert_eq!(code, 0, "{err}");
        place.write(name, &out);
    };
    report("before.json", "0.95");
    report("after.json", "0.1");
    let (code, out, err) = place.eval(&["--compare", "before.json", "after.json"]);
    assert!(code == 0 && out.contains("top_score") && out.contains("house"), "{out}{err}");
    let (_, out, _) = place.eval(&["--compare", "before.json", "after.json", "--json"]);
    assert!(serde_json::from_str::<Value>(&out).is_ok_and(|value| value.is_object()), "{out}");
    place.write("other.json", "{\"format\": 999}");
    assert!(place.fails(&["--compare", "before.json", "other.json"]).contains("format 999"));
    assert!(place.fails(&["--compare", "before.json", "none.json"]).contains("none.json"));
    assert!(place.fails(&["--compare", "before.json"]).contains("2 values required"));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let place = Place::new();
    assert!(place.fails(&[]).contains("<DIR>"));
    assert!(place.fails(&["none"]).contains("none: "));
    assert!(place.fails(&["house", "--foreign", "none"]).contains("none: "));
    assert!(place.fails(&["house", "--split", "dev"]).contains("the splits here are test"));
    assert!(place.fails(&["house", "--cut", "otsuu"]).contains("did you mean"));
    assert!(place.fails(&["house", "--cut", "fixed:k=0"]).contains("from 1 to"));
    assert!(place.fails(&["house", "--baseline", "nobody"]).contains("\"nobody\" is not among the methods"));
    assert!(place.fails(&["house", "--beta", "0"]).contains("above 0"));
    assert!(place.fails(&["house", "--metric", "luck"]).contains("share_of_best_f1"));
    assert!(place.fails(&["house", "--model", "nobody"]).contains("nobody"));
    assert!(place.fails(&["house", "--model", "auto"]).contains("--model auto"));
    assert!(place.fails(&["house", "--run", "x", "--qrels", "y"]).contains("cannot be used with"));
    assert!(place.fails(&["--run", "x", "--qrels", "y", "--own-id"]).contains("cannot be used with"));
    assert!(place.fails(&["--run", "x", "--qrels", "y", "--cold"]).contains("cannot be used with"));
    assert!(place.fails(&["--run", "x"]).contains("--qrels"));
    assert!(place.fails(&["house", "./house"]).contains("another collection has the name house too"));

    let corpus = place.root().join("house/corpus.jsonl");
    let good = fs::read_to_string(&corpus).expect("there");
    fs::write(&corpus, format!("{good}{{\"_id\": \"x\"\n")).expect("written");
    assert!(place.fails(&["house"]).contains("corpus.jsonl, line 13: not JSON"));
    fs::write(&corpus, good).expect("written");
    place.write("house/qrels/test.tsv", "q1\tnowhere\t1\n");
    assert!(place.fails(&["house"]).contains("none of the 1 judged documents"));
    place.write("house/qrels/test.tsv", "q1\ttide\t1\nq2\toven\tgood\n");
    assert!(place.fails(&["house"]).contains("test.tsv, line 2: the grade is \"good\""));
    place.write("house/qrels/test.tsv", "q1\ttide\t1\n");
    fs::remove_file(place.root().join("house/queries.jsonl")).expect("removed");
    assert!(place.fails(&["house"]).contains("queries.jsonl"));
}
