//! Thresholds by language, from the configuration file and from a calibration to the search that uses them.

use crate::support::Tree;
use std::fs;
use std::path::Path;
use tamis::calibrate::{CalibrateMethod, CalibrateReport, CalibrateRequest, Outcome, ThresholdSource};
use tamis::config::{Config, Origins};
use tamis::{Error, Index, Location};

const SUBJECTS: [&str; 8] = ["oven", "anchor", "violin", "comet", "glacier", "parser", "invoice", "orchard"];
const VERBS: [&str; 5] = ["open", "measure", "repair", "describe", "release"];

/// The source files of a language: one subject a file, so that symbols of one file are related.
fn sources(extension: &str, function: impl Fn(&str, &str) -> String) -> Vec<(String, String)> {
    let file = |subject: &&str| {
        let functions: Vec<String> = VERBS.iter().map(|verb| function(verb, subject)).collect();
        (format!("src/{subject}.{extension}"), functions.join("\n"))
    };
    SUBJECTS.iter().map(file).collect()
}

fn rust(verb: &str, subject: &str) -> String {
    format!(
        "/// {verb} the {subject} and say what became of the {subject}.\npub fn {verb}_{subject}({subject}: &str) -> String {{\n    \
         let mut {subject}_state = {subject}.to_owned();\n    {subject}_state.push_str(\"{verb}\");\n    {subject}_state\n}}\n"
    )
}

fn python(verb: &str, subject: &str) -> String {
    format!(
        "def {verb}_{subject}({subject}):\n    \"\"\"{verb} the {subject} and say what became of the {subject}.\"\"\"\n    \
         {subject}_state = str({subject})\n    {subject}_state += \"{verb}\"\n    return {subject}_state\n"
    )
}

fn write(tree: &Tree, files: &[(String, String)]) {
    files.iter().for_each(|(path, text)| tree.write(path, text.as_bytes()));
}

fn open(root: &Path, environment: &[(&str, &str)]) -> Index {
    let location = Location::at(root, None);
    let mut variables = vec![("TAMIS_INDEX_MODELS".to_owned(), "static".to_owned())];
    variables.extend(environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let origins = Origins { project: Some(location.config_file()), environment: variables, ..Origins::default() };
    Index::at(location, Config::load(&origins, None).expect("a configuration")).expect("opened")
}

fn indexed(files: &[(String, String)]) -> (Tree, Index) {
    let directory = Tree::new(&[]);
    write(&directory, files);
    let index = open(directory.root(), &[]);
    index.refresh().expect("indexed");
    (directory, index)
}

fn both() -> Vec<(String, String)> {
    [sources("rs", rust), sources("py", python)].concat()
}

fn calibrate(index: &Index, request: &CalibrateRequest) -> CalibrateReport {
    index.calibration().run(request, &()).expect("calibrated")
}

fn configure(tree: &Tree, text: &str) {
    tree.write(".tamis/config.toml", text.as_bytes());
}

/// The threshold in force under the model called `name`.
fn held(index: &Index, name: &str, language: &str) -> (f64, Option<ThresholdSource>) {
    let thresholds = index.calibration().thresholds(Some(&index.models().info(name).expect("a model"))).expect("read");
    (thresholds.threshold(Some(language)), thresholds.by_language.get(language).map(|(_, source)| *source))
}

#[test]
fn a_calibration_is_what_later_searches_are_held_against() {
    let (directory, index) = indexed(&both());
    assert_eq!(held(&index, "static", "rust"), (0.70, Some(ThresholdSource::BuiltIn)));
    let report = calibrate(&index, &CalibrateRequest::default());
    assert_eq!(report.provider, "static");
    let names: Vec<&str> = report.languages.iter().map(|language| language.language.as_str()).collect();
    assert_eq!(names, ["python", "rust"]);
    for language in &report.languages {
        assert_eq!(language.outcome, Outcome::Calibrated, "{language:?}");
        assert_eq!((language.symbols, language.same_file_pairs, language.different_file_pairs), (40, 80, 500));
        let measured = language.measured.expect("measured");
        assert!(measured.mean_same > measured.mean_different && measured.separation > 0.9, "{measured:?}");
        assert!(language.written);
        let expected = (measured.threshold, Some(ThresholdSource::Calibrated));
        assert_eq!(held(&index, "static", &language.language), expected, "in this process");
        assert_eq!(held(&open(directory.root(), &[]), "static", &language.language), expected, "in the next one");
    }
    let file = dunce::canonicalize(directory.root().join(".tamis/config.toml")).expect("there");
    assert_eq!(report.config_file, Some(file));
    fs::remove_file(directory.root().join(".tamis/config.toml")).expect("removed");
    let rust = report.languages[1].measured.expect("measured").threshold;
    assert_eq!(held(&open(directory.root(), &[]), "static", "rust").0, rust, "from the index alone");

    let (_directory, index) = indexed(&both());
    let warning = |name: &str| {
        index.calibration().thresholds(Some(&index.models().info(name).expect("a model"))).expect("read").warning
    };
    assert_eq!(warning("minilm"), None, "nothing was calibrated");
    calibrate(&index, &CalibrateRequest::default());
    assert_eq!(warning("static"), None);
    let told = warning("minilm").expect("told");
    let (from, to) = (index.models().id("static").expect("known"), index.models().id("minilm").expect("known"));
    let expected = format!(
        "embedding model changed from {from} to {to}; calibrated thresholds are ignored until `tamis calibrate`"
    );
    assert_eq!(told, expected);
    assert_eq!(held(&index, "minilm", "rust"), (0.70, Some(ThresholdSource::BuiltIn)));
    assert_eq!(warning("minilm"), None, "once");
    assert_eq!(warning("static"), None);
    assert_eq!(warning("minilm"), Some(expected), "another change");
    assert!(index.calibration().thresholds(None).expect("read").warning.is_none());
}

/// A calibration changed no default answer, and did not say so.
#[test]
fn trap_a_calibration_changes_the_default_answer() {
    let (directory, index) = indexed(&both());
    let ask = |settings: &[(&str, &str)], query: &str| {
        let settings = [&[("TAMIS_SEARCH_GATE", "false"), ("TAMIS_TELEMETRY_RECORD", "off")], settings].concat();
        let index = open(directory.root(), &settings);
        index.search(tamis::SearchRequest::new(query).explain()).expect("answered")
    };
    // No word of it is in the sources, and the model sees a likeness.
    let query = "stove";
    let before = ask(&[], query);
    let pool = before.pool.as_ref().expect("explained");
    assert!(before.cut.keep > 0 && pool.iter().all(|entry| entry.coverage == Some(0.0)), "{:?}", before.cut);
    let nearest = pool.iter().filter_map(|entry| entry.similarity).reduce(f64::max).expect("compared");

    let report = calibrate(&index, &CalibrateRequest::default());
    assert!(report.effect.starts_with("cut auto: a code passage that shares no word"), "{}", report.effect);
    let least = report.languages.iter().filter_map(|language| Some(language.measured?.threshold)).fold(1.0, f64::min);
    assert!(nearest < least, "the query must lie below the thresholds: {nearest} and {least}");
    let after = ask(&[], query);
    assert_eq!(after.cut.keep, 0, "{:?}", after.cut);
    assert!(after.cut.reason.contains("less similar than the language's threshold demands"), "{}", after.cut.reason);
    let short = after.cut.diagnostics["below_language_threshold"].as_u64().expect("counted");
    let passages = after.pool.as_ref().expect("explained").iter().map(|entry| entry.passages).sum::<usize>();
    assert_eq!(short as usize, passages, "all of them, and not only the best of each file");

    // What words find needs no similarity, a manual value goes before a calibrated one, and another cut does not ask.
    let words = ask(&[], "oven");
    assert!(words.cut.keep > 0 && words.results.iter().all(|hit| hit.path.contains("oven")), "{:?}", words.cut);
    let manual = [("TAMIS_SEARCH_THRESHOLDS_RUST", "0.01")];
    assert!(ask(&manual, query).results.iter().all(|hit| hit.language.as_deref() == Some("rust")));
    assert!(ask(&manual, query).cut.keep > 0);
    let other = ask(&[("TAMIS_SEARCH_CUT", "background")], query);
    assert!(other.cut.keep > 0 && !other.cut.diagnostics.contains_key("below_language_threshold"), "{:?}", other.cut);
}

#[test]
fn the_same_seed_gives_the_same_thresholds_whatever_the_order_in_the_store() {
    let files = both();
    let (_first, index) = indexed(&files);
    let directory = Tree::new(&[]);
    let other = open(directory.root(), &[]);
    for file in files.iter().rev() {
        write(&directory, std::slice::from_ref(file));
        other.refresh().expect("indexed");
    }
    let all = |index: &Index, seed| {
        let report = calibrate(index, &CalibrateRequest { seed, dry_run: true, ..CalibrateRequest::default() });
        report.languages.into_iter().map(|language| (language.language, language.measured)).collect::<Vec<_>>()
    };
    assert_eq!(all(&index, 7), all(&index, 7));
    assert_eq!(all(&index, 7), all(&other, 7));
    assert_ne!(all(&index, 7), all(&index, 8), "another seed draws other pairs");
}

/// The trap: a configuration that is parsed and never handed on.
#[test]
fn thresholds_of_the_configuration_are_handed_on_under_their_model() {
    let directory = Tree::new(&[]);
    configure(&directory, "[search.thresholds]\ndefault = 0.5\n\"C++\" = 0.33\nrs = 0.70\njs = 0.41\n");
    let index = open(directory.root(), &[("TAMIS_SEARCH_THRESHOLDS_PYTHON", "0.22")]);
    for (language, expected) in [("cpp", 0.33), ("rust", 0.70), ("typescript", 0.41), ("python", 0.22)] {
        assert_eq!(held(&index, "static", language), (expected, Some(ThresholdSource::Manual)), "{language}");
    }
    assert_eq!([held(&index, "static", "tsx").0, held(&index, "static", "kotlin").0], [0.41, 0.5]);
    let names: Vec<String> = index.config().keys().into_iter().map(|key| key.name).collect();
    assert!(names.contains(&"search.thresholds.cpp".into()) && !names.contains(&"search.thresholds.kotlin".into()));

    let directory = Tree::new(&[]);
    let id = open(directory.root(), &[]).models().id("static").expect("a model");
    let table = "provider = \"static\"\ncalibrated_at = 2026-01-31T12:00:00Z\nrust = 0.44\nts = 0.43\n";
    configure(&directory, &format!("[search.calibrated]\nmodel = \"{id}\"\n{table}"));
    let index = open(directory.root(), &[]);
    assert_eq!(held(&index, "static", "rust"), (0.44, Some(ThresholdSource::Calibrated)));
    assert_eq!(held(&index, "static", "tsx").0, 0.43);
    assert_eq!(held(&index, "minilm", "rust"), (0.70, Some(ThresholdSource::BuiltIn)));
}

#[test]
fn a_calibration_of_one_language_keeps_the_others_and_needs_no_file() {
    let (directory, index) = indexed(&both());
    let all = calibrate(&index, &CalibrateRequest::default());
    let languages = vec!["Rust".into()];
    let request = CalibrateRequest { method: CalibrateMethod::P10, languages, ..CalibrateRequest::default() };
    let rust = calibrate(&open(directory.root(), &[]), &request);
    assert_eq!(rust.languages.len(), 1);
    let threshold = |report: &CalibrateReport, at: usize| report.languages[at].measured.expect("measured").threshold;
    assert_ne!(threshold(&rust, 0), threshold(&all, 1));
    let next = open(directory.root(), &[]);
    assert_eq!(held(&next, "static", "rust").0, threshold(&rust, 0));
    assert_eq!(held(&next, "static", "python").0, threshold(&all, 0));

    let (directory, index) = indexed(&both());
    configure(&directory, "search = [\n");
    let report = calibrate(&index, &CalibrateRequest::default());
    assert_eq!(report.config_file, None);
    assert!(report.warnings[0].contains("config.toml: not written (not valid TOML"), "{:?}", report.warnings);
    assert_eq!(held(&index, "static", "rust").1, Some(ThresholdSource::Calibrated));

    let (directory, _) = indexed(&both());
    for (cut, start) in [("language", "cut language: a passage must be"), ("otsu", "cut otsu: nothing changes")] {
        let index = open(directory.root(), &[("TAMIS_SEARCH_CUT", cut)]);
        let report = calibrate(&index, &CalibrateRequest { dry_run: true, ..CalibrateRequest::default() });
        assert!(report.effect.starts_with(start), "{}", report.effect);
    }
}

#[test]
fn what_cannot_be_calibrated_is_skipped_and_says_so() {
    let few = sources("rs", rust).into_iter().take(3).collect::<Vec<_>>();
    let one_file =
        ("src/all.py".to_owned(), sources("py", python).into_iter().map(|(_, text)| text).collect::<String>());
    let (directory, index) = indexed(&[few, vec![one_file]].concat());
    let report = calibrate(&index, &CalibrateRequest::default());
    let outcomes: Vec<_> = report.languages.iter().map(|found| (found.language.as_str(), found.outcome)).collect();
    assert_eq!(outcomes, [("python", Outcome::OneSideEmpty), ("rust", Outcome::TooFewSymbols)]);
    assert!(report.languages.iter().all(|language| !language.written) && report.config_file.is_none());
    assert!(!directory.root().join(".tamis/config.toml").exists());
    assert_eq!(held(&index, "static", "rust"), (0.70, Some(ThresholdSource::BuiltIn)));

    let (_directory, index) = indexed(&both());
    let other = CalibrateRequest { model: Some("minilm".into()), ..CalibrateRequest::default() };
    let error = index.calibration().run(&other, &()).expect_err("no vectors");
    assert!(matches!(error, Error::NotEmbedded { symbols: 80, .. }), "{error}");
    assert!(error.to_string().contains("refresh the index"), "{error}");

    // Each file holds all subjects and each verb once: a file reveals nothing about the subject of a symbol.
    let file = |at: usize| {
        let function = |(of, subject): (usize, &&str)| rust(&format!("{}_{at}", VERBS[of % VERBS.len()]), subject);
        (format!("src/mixed_{at}.rs"), SUBJECTS.iter().enumerate().map(function).collect::<String>())
    };
    let (_directory, index) = indexed(&(0..6).map(file).collect::<Vec<_>>());
    let report = calibrate(&index, &CalibrateRequest::default());
    assert_eq!((report.languages[0].outcome, report.languages[0].written), (Outcome::DoesNotSeparate, false));
    assert_eq!(held(&index, "static", "rust").1, Some(ThresholdSource::BuiltIn));
    let report = calibrate(&index, &CalibrateRequest { force: true, dry_run: true, ..CalibrateRequest::default() });
    assert!(!report.languages[0].written);
    let report = calibrate(&index, &CalibrateRequest { force: true, ..CalibrateRequest::default() });
    assert!(report.languages[0].written);
    assert_eq!(held(&index, "static", "rust").1, Some(ThresholdSource::Calibrated));
    assert_eq!(index.calibration().clear().expect("cleared"), (1, Vec::new()));
    assert_eq!(held(&index, "static", "rust").1, Some(ThresholdSource::BuiltIn));
}
