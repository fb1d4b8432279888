//! The gap threshold, with language and age before it.

use crate::support::{Tree, notes, paths, refresh, search};
use tamis::{Answer, Index, SearchRequest};

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

const QUESTION: &str = "fetch a page waiting longer after each failure";

fn explained(index: &Index, query: &str, now_ns: Option<i64>) -> Answer {
    search(index, SearchRequest::new(query).explain().now_ns(now_ns))
}

fn factor(answer: &Answer, path: &str) -> f64 {
    let pool = answer.pool.as_ref().expect("an explanation");
    pool.iter().find(|entry| entry.path == path).map(|entry| entry.distance_factor).expect("in the pool")
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
    let age = |path: &str| answer.pool.iter().flatten().find(|one| one.path == path).and_then(|one| one.age_days);
    assert_eq!((age("client/fetch.py"), age("client/fetch.ts")), (Some(0.0), Some(90.0)));

    let today = tree.open(&[&settings[..], &[("rank.recency_from", "today"), ("cut.max_gap.ceiling", "0.4")]].concat());
    let exact = explained(&today, QUESTION, Some(now));
    assert!((factor(&exact, "client/fetch.py") - 1.85).abs() < 1e-9, "as specified");
    assert_eq!(exact.cut.keep, 0, "{}", exact.cut.reason);

    let max_gap = [("search.cut", "max_gap"), ("cut.max_gap.ceiling", "0.4")];
    let index = tree.open(&[&[("search.gate", "false"), ("rank.recency_from", "today")][..], &max_gap].concat());
    refresh(&index);
    let far = i64::MAX / 2;
    let answer = explained(&index, QUESTION, Some(far));
    assert_eq!(answer.cut.keep, 0, "{}", answer.cut.reason);
    assert!(answer.cut.reason.ends_with("; the nearest match is too old (rank.recency)"), "{}", answer.cut.reason);
}
