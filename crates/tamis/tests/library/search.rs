//! The pipeline from the configuration to the result, with a test for each fault that others shipped.

use crate::support::{Tree, ask, assert_says, indexed_notes, notes, notes_tree, refresh, search};
use rayon::prelude::*;
use tamis::config::{Config, Origins};
use tamis::{Mode, SearchRequest};

#[test]
fn a_result_marks_its_words_and_is_read_by_the_beginning_of_its_identifier() {
    let (_tree, index) = indexed_notes(&[]);
    let hit = ask(&index, "how are apple trees pruned").results.remove(0);
    let marked: Vec<&str> = hit.highlights.iter().map(|range| &hit.snippet[range.clone()]).collect();
    assert!(marked.contains(&"pruned") && marked.contains(&"trees"), "{marked:?}");
    assert_eq!(index.get(&hit.id[..8]).expect("by its beginning").path, "orchard.md");
    let request =
        |mode, cut| SearchRequest { mode, ..SearchRequest::new("oven").cut(tamis_cut::parse(cut).expect("a rule")) };
    assert_says(index.search(request(Some(Mode::Lexical), "max_gap")).expect_err("refused"), &["max_gap", "lexical"]);
    let none = SearchRequest { limit: Some(0), ..request(None, "auto") };
    assert_says(index.search(none).expect_err("refused"), &["limit = 0", "1 to 1000"]);
}

#[test]
fn an_empty_index_answers_with_nothing() {
    let tree = Tree::new(&[]);
    let index = tree.indexed(&[]);
    for cut in tamis_cut::METHODS {
        let rule = index.config().cut(cut.name).expect("a rule");
        let answer = search(&index, SearchRequest { cut: Some(rule), ..SearchRequest::new("anything") });
        assert_eq!((answer.results.len(), answer.cut.candidates), (0, 0), "{}", cut.name);
    }
}

/// The trap: a pool that follows the caller's limit makes the limit decide relevance.
#[test]
fn trap_the_limit_only_shortens_what_is_already_decided() {
    let tree = many("harbour");
    let index = tree.indexed(&[("search.gate", "false")]);
    for method in tamis_cut::METHODS {
        let rule = index.config().cut(method.name).expect("a rule");
        let at = |limit| {
            let request =
                SearchRequest { limit: Some(limit), cut: Some(rule.clone()), ..SearchRequest::new("harbour tide") };
            search(&index, request)
        };
        let (few, many) = (at(2), at(50));
        assert_eq!(few.cut.keep, many.cut.keep, "{}", method.name);
        assert_eq!(few.cut.candidates, many.cut.candidates, "{}", method.name);
        let ids = |answer: &tamis::Answer| answer.results.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>();
        assert!(ids(&many).starts_with(&ids(&few)), "{}", method.name);
        assert_eq!(many.results.len(), many.cut.keep.min(50), "{}", method.name);
    }

    let answer = search(&index, SearchRequest { explain: true, ..SearchRequest::new("harbour tide") });
    let pool = answer.pool.expect("an explanation");
    assert_eq!(pool.len(), answer.cut.candidates);
    assert!(pool.iter().all(|entry| entry.bm25.is_some() && entry.similarity.is_some() && entry.coverage.is_some()));
    assert!(pool.windows(2).all(|pair| pair[0].score >= pair[1].score));

    let index = tree.indexed(&[("search.fusion", "rrf"), ("search.gate", "false"), ("search.cut", "background")]);
    let answer = ask(&index, "harbour tide");
    assert!(answer.results[0].score < 0.04, "reciprocal ranks order");
    let threshold = answer.cut.threshold.expect("a threshold");
    assert!(threshold > 0.1, "the threshold {threshold} is on the scale of the convex values");
}

/// The trap: configuration that is parsed, validated and never passed to the search.
#[test]
fn trap_settings_reach_the_result() {
    let tree = many("harbour");
    let write = |text: &str| tree.write(".tamis/config.toml", text.as_bytes());
    let answer = |query: &str| {
        let origins = Origins { project: Some(tree.root().join(".tamis/config.toml")), ..Origins::default() };
        let config = Config::load(&origins, None).expect("a valid file");
        let index = tamis::Index::at(tamis::Location::at(tree.root(), None), config).expect("opened");
        refresh(&index);
        ask(&index, query)
    };
    let base = "[index]\nmodels = [\"static\"]\n[search]\ngate = false\n";
    write(&format!("{base}cut = \"fixed:k=7\"\n"));
    assert_eq!(answer("harbour tide").cut.keep, 7);
    write(&format!("{base}cut = \"fixed:k=9\"\ntop_k = 4\n"));
    let short = answer("harbour tide");
    assert_eq!((short.cut.keep, short.results.len()), (9, 4));
    write(&format!("{base}cut = \"max_gap\"\nadaptive = false\n[cut.max_gap]\nconfigured = 0.0\n"));
    assert_eq!(answer("harbour tide").cut.keep, 0);
    write(&format!("{base}mode = \"lexical\"\n"));
    let lexical = answer("harbour tide");
    assert_eq!((lexical.mode_used.as_str(), lexical.model.as_deref()), ("lexical", None));
    assert!(lexical.results.iter().all(|hit| hit.similarity.is_none()));
    // A cut that counts passages has so many of each leg; others look deeper for a hundred files.
    write(&format!("{base}cut = \"max_gap\"\npool = 25\n"));
    assert!(answer("harbour tide").cut.candidates <= 50);
}

/// Forty notes on one subject, each in other words, among the others.
fn many(subject: &str) -> Tree {
    let tree = notes_tree();
    let verbs = ["waits", "sleeps", "opens", "closes", "fills", "empties", "freezes", "shines"];
    for number in 0..40 {
        let verb = verbs[number % verbs.len()];
        let text = format!(
            "# {subject} {number}\n\nThe {subject} {verb} at the tide of day {number}, pilot {}.\n",
            number * 7
        );
        tree.write(&format!("many/{subject}-{number}.md"), text.as_bytes());
    }
    tree
}

#[test]
fn many_threads_of_a_pool_can_search_with_the_transformer_at_once() {
    let notes = notes();
    let files: Vec<(&str, &str)> = notes.iter().take(4).map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    let index = tree.indexed(&[("index.models", "minilm")]);
    // A fresh handle has not loaded the model: the first searches race for that, too.
    drop(index);
    let index = tree.open(&[("index.models", "minilm"), ("telemetry.record", "off")]);
    let kept: Vec<usize> = (0..24).into_par_iter().map(|_| ask(&index, "what does the harbour do").cut.keep).collect();
    assert!(kept.iter().all(|&keep| keep == kept[0]), "{kept:?}");
}

#[test]
fn a_caller_can_waive_the_gate() {
    let tree = notes_tree();
    let query = "quantum chromodynamics lattice";
    for gate in ["true", "false"] {
        let index = tree.indexed(&[("search.gate", gate)]);
        let open = search(&index, SearchRequest::new(query).gate(false));
        assert!(open.cut.keep > 0);
        assert_says(open.cut.reason, &["the gate is off and would have refused"]);
        let shut = search(&index, SearchRequest::new(query).gate(true));
        assert!(shut.results.is_empty() && shut.cut.method == "gate", "{:?}", shut.cut);
    }
}
