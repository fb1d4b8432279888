//! The gap threshold, with language and age before it.

use crate::support::{Tree, ask, notes, paths, refresh, search};
use tamis::config::{Config, Origins};
use tamis::{Answer, Index, Location, SearchRequest};

const DAY_NS: i64 = 86_400_000_000_000;

/// The same function in several languages among notes on other subjects.
fn tree() -> Tree {
    let notes = notes();
    let mut files: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.extend([
        ("incident.md", "---\nseverity: Critical\n---\n\nNo page could be fetched after the failure of the proxy.\n"),
        ("client/fetch.py", "def fetch_with_retry(url):\n    \"\"\"Fetch a page, waiting longer after each failure.\"\"\"\n    return retry(url)\n"),
        ("client/fetch.ts", "/** Fetch a page, waiting longer after each failure. */\nexport function fetchWithRetry(url: string) {\n  return retry(url);\n}\n"),
        ("client/fetch.cpp", "// Fetch a page, waiting longer after each failure.\nPage fetch_with_retry(Url url) {\n  return retry(url);\n}\n"),
        ("client/fetch.c", "// Fetch a page, waiting longer after each failure.\nstruct page fetch_with_retry(struct url url) {\n  return retry(url);\n}\n"),
    ]);
    Tree::new(&files)
}

fn from_file(tree: &Tree, text: &str) -> Index {
    tree.write(".tamis/config.toml", format!("[index]\nmodels = [\"static\"]\n{text}").as_bytes());
    let origins = Origins { project: Some(tree.root().join(".tamis/config.toml")), ..Origins::default() };
    let config = Config::load(&origins, None).expect("a valid file");
    let index = Index::at(Location::at(tree.root(), None), config).expect("opened");
    refresh(&index);
    index
}

const QUESTION: &str = "fetch a page waiting longer after each failure";

fn explained(index: &Index, query: &str, now_ns: Option<i64>) -> Answer {
    search(index, SearchRequest { explain: true, now_ns, ..SearchRequest::new(query) })
}

fn factor(answer: &Answer, path: &str) -> f64 {
    let pool = answer.pool.as_ref().expect("an explanation");
    pool.iter().find(|entry| entry.path == path).map(|entry| entry.distance_factor).expect("in the pool")
}

#[test]
fn a_hint_moves_the_same_language_first_and_a_related_one_next() {
    let tree = tree();
    let index = tree.indexed(&[("search.cut", "max_gap"), ("search.gate", "false"), ("rank.recency", "off")]);
    for (language, first) in
        [("python", "client/fetch.py"), ("typescript", "client/fetch.ts"), ("cpp", "client/fetch.cpp")]
    {
        let answer = explained(&index, &format!("{QUESTION} lang:{language}"), None);
        assert_eq!(paths(&answer).first(), Some(&first));
        assert_eq!(answer.language_hint.as_deref(), Some(language));
        assert_eq!(answer.query, QUESTION, "the hint is no word of the query");
        assert_eq!(factor(&answer, first), 0.85);
    }
    let answer = explained(&index, &format!("{QUESTION} lang:c"), None);
    assert_eq!((factor(&answer, "client/fetch.c"), factor(&answer, "client/fetch.cpp")), (0.85, 0.925));
    assert_eq!(factor(&answer, "client/fetch.py"), 1.0);
    assert_eq!(answer.cut.diagnostics["threshold_on"], "distance");

    let answer = explained(&index, &format!("{QUESTION} lang:python"), None);
    let threshold = answer.cut.threshold.expect("a threshold");
    let pool = answer.pool.as_ref().expect("an explanation");
    assert!(pool.len() > 10);
    for entry in pool {
        let distance = entry.distance_factor * (1.0 - entry.similarity.expect("a similarity"));
        assert_eq!(entry.kept, distance <= threshold + 1e-9, "{}: {distance} and {threshold}", entry.path);
    }
}

#[test]
fn age_moves_passages_away_by_the_cut_that_is_defined_so() {
    let tree = tree();
    let index = tree.indexed(&[("search.gate", "false")]);
    let now = 20_000 * DAY_NS;
    let dates = [
        ("client/fetch.py".to_owned(), now - 90 * DAY_NS),
        ("client/fetch.ts".to_owned(), now - 5_000 * DAY_NS),
        ("client/fetch.c".to_owned(), now + 90 * DAY_NS),
        ("incident.md".to_owned(), now - 5_000 * DAY_NS),
    ];
    crate::support::store(&index).set_dates(index.namespace(), &dates).expect("dated");
    let under = |cut: &str, settings: &[(&str, &str)]| {
        let settings: Vec<_> =
            [("search.gate", "false"), ("search.cut", cut)].iter().chain(settings).copied().collect();
        explained(&tree.open(&settings), QUESTION, Some(now))
    };
    let answer = under("max_gap", &[]);
    assert!((factor(&answer, "client/fetch.py") - 1.5).abs() < 1e-9, "half is left");
    assert!((factor(&answer, "client/fetch.ts") - 1.85).abs() < 1e-9, "the floor");
    assert_eq!(factor(&answer, "client/fetch.c"), 1.0, "a date in the future is today");
    assert!(["client/fetch.c", "client/fetch.cpp"].contains(&paths(&answer)[0]), "the old ones come later");

    assert_eq!(factor(&under("background", &[]), "client/fetch.ts"), 1.0, "another cut is not defined so");
    assert!((factor(&under("background", &[("rank.recency", "on")]), "client/fetch.ts") - 1.85).abs() < 1e-9);
    assert_eq!(factor(&under("max_gap", &[("rank.recency", "off")]), "client/fetch.ts"), 1.0);
    assert!((factor(&under("max_gap", &[]), "incident.md") - 1.7).abs() < 1e-9, "more is left of what is critical");
    let other = under("max_gap", &[("rank.recency_half_life_days", "10"), ("rank.recency_floor", "0.5")]);
    assert!((factor(&other, "client/fetch.py") - 1.5).abs() < 1e-9, "half-life and floor are settings");
}

/// Ages counted from today: a repository that was quiet for a year answered 3 of 10 questions.
#[test]
fn trap_a_quiet_year_empties_no_answer() {
    let tree = tree();
    refresh(&tree.open(&[]));
    let now = 20_000 * DAY_NS;
    let settings = [("search.gate", "false"), ("search.cut", "max_gap")];
    let index = tree.open(&settings);
    let documents = index.contents().documents(index.namespace()).expect("read");
    let old: Vec<(String, i64)> = documents.into_iter().map(|one| (one.path, now - 500 * DAY_NS)).collect();
    crate::support::store(&index).set_dates(index.namespace(), &old).expect("dated");
    let newest = [("client/fetch.py".to_owned(), now - 410 * DAY_NS)];
    crate::support::store(&index).set_dates(index.namespace(), &newest).expect("dated");

    let answer = explained(&index, QUESTION, Some(now));
    assert!(answer.cut.keep > 0, "{}", answer.cut.reason);
    assert_eq!(factor(&answer, "client/fetch.py"), 1.0, "the newest document is new");
    assert!((factor(&answer, "client/fetch.ts") - 1.5).abs() < 1e-9, "90 days older than the newest");
    let age =
        |path: &str| answer.pool.iter().flatten().find(|entry| entry.path == path).and_then(|entry| entry.age_days);
    assert_eq!((age("client/fetch.py"), age("client/fetch.ts")), (Some(0.0), Some(90.0)));

    let today = tree.open(&[&settings[..], &[("rank.recency_from", "today"), ("cut.max_gap.ceiling", "0.4")]].concat());
    let exact = explained(&today, QUESTION, Some(now));
    assert!((factor(&exact, "client/fetch.py") - 1.85).abs() < 1e-9, "as specified");
    assert_eq!(exact.cut.keep, 0, "{}", exact.cut.reason);

    let index = tree.open(&[
        ("search.gate", "false"),
        ("search.cut", "max_gap"),
        ("cut.max_gap.ceiling", "0.4"),
        ("rank.recency_from", "today"),
    ]);
    refresh(&index);
    let far = i64::MAX / 2;
    let answer = explained(&index, QUESTION, Some(far));
    assert_eq!(answer.cut.keep, 0, "{}", answer.cut.reason);
    assert!(answer.cut.reason.ends_with("; the nearest match is too old (rank.recency)"), "{}", answer.cut.reason);
}

/// The trap: configuration that is parsed, validated and never passed to the retriever.
#[test]
fn trap_settings_of_the_gap_and_of_reranking_reach_the_result() {
    let tree = tree();
    let base = "[search]\ncut = \"max_gap\"\ngate = false\n";
    let index =
        from_file(&tree, &format!("{base}[cut.max_gap]\nfloor = 0.01\nceiling = 0.02\n[rank]\nrecency = \"off\"\n"));
    assert_eq!(ask(&index, QUESTION).cut.keep, 0, "nothing is that near");
    let index =
        from_file(&tree, &format!("{base}[rank]\nrecency = \"off\"\nsame_language = 0.5\nrelated_language = 0.6\n"));
    let answer = explained(&index, &format!("{QUESTION} lang:cpp"), None);
    assert_eq!((factor(&answer, "client/fetch.cpp"), factor(&answer, "client/fetch.c")), (0.5, 0.6));
}

#[test]
fn without_adaptive_the_configured_threshold_filters_before_reranking_and_nothing_else_changes() {
    let tree = tree();
    let fixed = |configured: &str, adaptive: &str| {
        let settings = [
            ("search.cut", "max_gap"),
            ("search.gate", "false"),
            ("search.adaptive", adaptive),
            ("cut.max_gap.configured", configured),
            ("rank.recency", "off"),
        ];
        let index = tree.indexed(&settings);
        explained(&index, &format!("{QUESTION} lang:python"), None)
    };
    let answer = fixed("0.45", "false");
    let pool = answer.pool.as_ref().expect("an explanation");
    assert_eq!(answer.cut.diagnostics["threshold_method"], "configured");
    assert!(answer.cut.keep > 0 && answer.cut.keep < pool.len());
    for entry in pool {
        let raw = 1.0 - entry.similarity.expect("a similarity");
        assert_eq!(entry.kept, raw <= 0.45, "{} at {raw}, whatever its language", entry.path);
    }
    assert_eq!(paths(&answer).first(), Some(&"client/fetch.py"), "what passed is still reranked");
    assert_eq!(fixed("0.45", "true").cut.diagnostics["threshold_method"], "adaptive");
}

#[test]
fn any_cut_can_follow_the_language() {
    let tree = tree();
    for cut in ["auto", "background", "kneedle", "top_score", "autocut", "otsu"] {
        for mode in ["hybrid", "lexical"] {
            let index = tree.indexed(&[("search.cut", cut), ("search.gate", "false"), ("search.mode", mode)]);
            let answer = explained(&index, &format!("{QUESTION} lang:typescript"), None);
            assert_eq!(answer.pool.as_ref().expect("a pool")[0].path, "client/fetch.ts", "{cut} {mode}");
        }
    }
}
