//! The same question gives the same answer from a directory and from PostgreSQL: the list that the cut keeps, in order, and its reason.
#![cfg(feature = "postgres")]

use crate::postgres::TestDatabase;
use crate::support::{Tree, refresh, search};
use std::fs;
use std::path::Path;
use tamis::config::Config;
use tamis::{Answer, Index, Mode, SearchRequest};

/// Texts and questions that are written for benchmarks, and code.
const QUESTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/questions");
const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
const CODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../rank/src");

fn add(tree: &Tree, from: &str, to: &str) {
    for entry in fs::read_dir(from).expect("listed") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            tree.write(&format!("{to}/{name}"), &fs::read(&path).expect("read"));
        }
    }
}

fn questions() -> Vec<String> {
    let mut questions = Vec::new();
    for list in ["notes", "guides"] {
        let path = Path::new(QUESTIONS).join("lists").join(list).with_extension("toml");
        let list: toml::Table = fs::read_to_string(path).expect("read").parse().expect("a list");
        let answerable = list["answerable"].as_array().expect("questions").iter();
        questions.extend(answerable.map(|asked| asked["ask"].as_str().expect("text").to_owned()));
        let groups = list["unanswerable"].as_table().expect("groups").values();
        let unanswerable = groups.flat_map(|group| group.as_array().expect("questions"));
        questions.extend(unanswerable.map(|asked| asked.as_str().expect("text").to_owned()));
    }
    assert!(questions.len() >= 40, "{}", questions.len());
    // Names, words that are everywhere, and the text of a message, which are looked up apart from both legs.
    let others = [
        "NearCopies",
        "entry_value",
        "path:docs the cut",
        "the index",
        "config.toml: search.top_k = 0: must be 1 to 100",
    ];
    questions.extend(others.map(str::to_owned));
    questions
}

/// What an answer decides. Scores are compared to four digits.
fn decided(answer: &Answer) -> String {
    let rounded = |value: f64| (value * 1e4).round() / 1e4 + 0.0;
    let mut text = format!("{} of {}: {}\n", answer.cut.keep, answer.cut.candidates, answer.cut.reason);
    for hit in &answer.results {
        text += &format!("{}:{}-{} {:.4}\n", hit.path, hit.start_line, hit.end_line, rounded(hit.score));
    }
    let nearest: Vec<_> = answer.nearest.iter().map(|nearest| (&nearest.path, nearest.start_line)).collect();
    text + &format!("{} {:?} {nearest:?}", answer.cut.method, answer.model)
}

fn variants(question: &str) -> Vec<(&'static str, SearchRequest)> {
    let request = || SearchRequest::new(question).limit(100);
    let cut = |text: &str| Some(Config::built_in().cut(text).expect("a cut"));
    let phrased = format!("intent:{question} in short").parse().expect("a variant");
    vec![
        ("as asked", request()),
        ("by words", SearchRequest { mode: Some(Mode::Lexical), ..request() }),
        ("by vectors", SearchRequest { mode: Some(Mode::Semantic), ..request() }),
        ("without a gate", SearchRequest { gate: Some(false), ..request() }),
        ("above the background", SearchRequest { cut: cut("background"), ..request() }),
        ("passages of some paths", SearchRequest { passages: true, paths: vec!["docs/c*".into()], ..request() }),
        ("in other words too", SearchRequest { variants: vec![phrased], ..request() }),
    ]
}

#[test]
fn the_same_question_gives_the_same_answer() {
    let Some(database) = TestDatabase::create() else { return };
    let url = database.url();
    let tree = Tree::new(&[]);
    add(&tree, &format!("{QUESTIONS}/notes"), "notes");
    add(&tree, DOCS, "docs");
    add(&tree, CODE, "src");
    let in_database = |tree: &Tree, namespace| tree.open(&[("store.url", &url), ("store.namespace", namespace)]);
    // Another repository in the database, with many of the same words, changes nothing.
    let other = Tree::new(&[]);
    add(&other, &format!("{QUESTIONS}/notes"), "notes");
    refresh(&in_database(&other, "other"));

    let directory: Index = tree.open(&[]);
    let there = in_database(&tree, "here");
    let passages = refresh(&directory).passages;
    assert_eq!(refresh(&there).passages, passages);
    assert!(passages > 300, "{passages}");
    let (mut different, mut asked, mut empty) = (Vec::new(), 0, 0);
    for question in questions() {
        for (how, request) in variants(&question) {
            let [ours, theirs] = [&directory, &there].map(|index| decided(&search(index, request.clone())));
            asked += 1;
            empty += usize::from(ours.starts_with("0 of"));
            if ours != theirs {
                different.push(format!("{question:?} {how}\n{ours}\nPostgreSQL: {theirs}"));
            }
        }
    }
    assert!(different.is_empty(), "{} of {asked} differ:\n{}", different.len(), different.join("\n\n"));
    assert!(empty > asked / 20 && empty < asked / 2, "{empty} of {asked} are empty");
}
