//! A reranker of the user's choice in a search, against an endpoint in the same process.

use crate::support::endpoint::{Endpoint, scores};
use crate::support::{Tree, paths, search};
use std::sync::Arc;
use tamis::config::{Config, Origins};
use tamis::search::{RerankedPassage, Reranker};
use tamis::{Answer, Index, Location, SearchRequest};

const QUERY: &str = "how hot must the oven be for bread";

/// A reranker that takes what speaks of a shop for an answer, and nothing else.
fn for_shops() -> Endpoint {
    let score = |text: &str| if text.contains("shop") { 0.999 } else { 0.001 };
    Endpoint::start(move |request, _| Some((200, scores(request.documents().into_iter().map(score)))))
}

fn tree() -> Tree {
    Tree::new(&[
        ("oven.md", "# The oven\n\nHeat the oven to 220 degrees before the bread goes in.\n"),
        ("shop.md", "# The shop\n\nIn summer the shop sells bread and lemonade at the corner.\n"),
        ("tide.md", "# The tide\n\nShips wait for the tide before they leave the harbour.\n"),
        ("violin.md", "# The violin\n\nThe bow needs rosin, and the strings are tuned in fifths.\n"),
    ])
}

/// The configuration of a user with these models and settings.
fn configured(tree: &Tree, models: &str, settings: &[(&str, &str)]) -> Config {
    let user = tree.root().join(".user/config.toml");
    std::fs::create_dir_all(user.parent().expect("a directory")).expect("made");
    std::fs::write(&user, models).expect("written");
    let usual = [("index.models", "static"), ("search.gate", "false"), ("rerank.model", "reader")];
    let flags = usual.iter().chain(settings).map(|&(key, value)| (key.into(), value.into(), "test".into()));
    let origins = Origins { user: Some(user), flags: flags.collect(), ..Origins::default() };
    Config::load(&origins, None).expect("a valid configuration")
}

fn reader(url: &str) -> String {
    format!("[models.reader]\nprovider = \"rerank\"\nurl = \"{url}\"\nmodel = \"m\"\nmax_retries = 0\n")
}

fn index(tree: &Tree, url: &str, settings: &[(&str, &str)]) -> Index {
    let index = Index::at(Location::at(tree.root(), None), configured(tree, &reader(url), settings)).expect("opened");
    index.refresh().expect("refreshed");
    index
}

fn ask(index: &Index) -> Answer {
    search(index, SearchRequest::new(QUERY).explain())
}

/// Asks and asserts that the scores alone decided, with a warning. Returns the warning.
fn unread(index: &Index) -> String {
    let answer = ask(index);
    assert_eq!(answer.results[0].path, "oven.md");
    assert!(!answer.cut.diagnostics.contains_key("judge") && answer.results[0].judged.is_none());
    let warning = answer.warnings.into_iter().find(|warning| warning.starts_with("decided without "));
    warning.expect("a warning")
}

#[test]
fn a_reranker_decides_under_its_calibration_and_no_pair_is_sent_twice() {
    let (tree, endpoint) = (tree(), for_shops());
    let index = index(&tree, &endpoint.url, &[("rerank.slope", "0.9")]);
    let fast = SearchRequest::new(QUERY).fast();
    assert_eq!(search(&index, fast.clone()).results[0].path, "oven.md");
    assert!(endpoint.calls() == 0, "--fast asks nobody");

    let answer = ask(&index);
    assert_eq!(paths(&answer)[0], "shop.md");
    let judged = 1.0 / (1.0 + (-0.9 * (0.999f64 / 0.001).ln()).exp());
    assert!((answer.results[0].judged.expect("read") - judged).abs() < 1e-6 && answer.warnings.is_empty());
    let name = answer.cut.diagnostics["judge"].as_str().expect("a name");
    assert!(name.starts_with("rerank:m@127.0.0.1:"), "{name}");
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 1);
    let sent = &requests[0];
    assert!(sent.head.starts_with("POST /v1/rerank "), "{}", sent.head);
    assert_eq!((&sent.body["query"], &sent.body["model"]), (&QUERY.into(), &"m".into()));
    assert_eq!(answer.cut.diagnostics["judged"], sent.documents().len());
    assert!(sent.documents().iter().any(|text| text.contains("220 degrees")));

    assert_eq!(ask(&index).results[0].path, "shop.md");
    assert_eq!(search(&index, fast).results[0].path, "oven.md");
    assert_eq!(endpoint.calls(), 1);

    let (tree, endpoint) = (self::tree(), for_shops());
    let index = self::index(&tree, &endpoint.url, &[]);
    let other = search(&index, SearchRequest::new(QUERY).cut("max_gap"));
    assert!(!other.cut.diagnostics.contains_key("judge") && endpoint.calls() == 0);
    let answer = ask(&index);
    assert_eq!(endpoint.calls(), 1);
    let judged = answer.pool.expect("explained").into_iter().find(|one| one.path == "shop.md").expect("there").judged;
    assert!((judged.expect("read") - 0.999).abs() < 1e-6);
    search(&index, SearchRequest::new(format!("{QUERY} {}", "please ".repeat(60))));
    assert_eq!(endpoint.calls(), 2, "a long query is read too");
}

#[test]
fn a_reranker_that_fails_leaves_the_decision_to_the_scores() {
    let (tree, endpoint) = (tree(), Endpoint::start(|_, _| Some((500, "busy".to_owned()))));
    let index = index(&tree, &endpoint.url, &[]);
    let warning = unread(&index);
    assert!(warning.contains("rerank:m@127.0.0.1") && warning.contains("status 500: busy"), "{warning}");
    assert_eq!(unread(&index), warning, "a while passes before it is asked again");
    assert_eq!(endpoint.calls(), 1);

    let tree = self::tree();
    let config = configured(&tree, "[models.reader]\nprovider = \"cross-encoder\"\npath = \"nowhere\"\n", &[]);
    let index = Index::at(Location::at(tree.root(), None), config).expect("opened");
    index.refresh().expect("refreshed");
    let warning = unread(&index);
    assert!(warning.contains("decided without cross-encoder:reader: ") && warning.contains("nowhere"), "{warning}");
}

/// A reranker that the program gives.
#[derive(Debug)]
struct Own;

impl Reranker for Own {
    fn name(&self) -> &str {
        "own"
    }

    fn probabilities(&self, _: &str, passages: &[RerankedPassage<'_>]) -> Result<Vec<Option<f64>>, String> {
        Ok(passages.iter().map(|passage| Some(if passage.text.contains("rosin") { 0.999 } else { 0.001 })).collect())
    }
}

#[test]
fn a_reranker_of_the_program_wins() {
    let (tree, endpoint) = (tree(), for_shops());
    let config = configured(&tree, &reader(&endpoint.url), &[]);
    let index = Index::builder(tree.root()).config(config).reranker(Arc::new(Own)).open().expect("opened");
    index.refresh().expect("refreshed");
    assert_eq!(ask(&index).cut.diagnostics["judge"], "own");
    assert!(endpoint.calls() == 0);
}
