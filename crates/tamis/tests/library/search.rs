//! The pipeline from the configuration to the result, with a test for each fault that others shipped.

use crate::support::{Tree, ask, assert_says, indexed_notes, notes, notes_tree, search};
use rayon::prelude::*;
use tamis::{Mode, SearchRequest};

#[test]
fn a_result_marks_its_words_and_is_read_by_the_beginning_of_its_identifier() {
    let (_tree, index) = indexed_notes(&[]);
    let hit = ask(&index, "how are apple trees pruned").results.remove(0);
    let marked: Vec<&str> = hit.highlights.iter().map(|range| &hit.snippet[range.clone()]).collect();
    assert!(marked.contains(&"pruned") && marked.contains(&"trees"), "{marked:?}");
    assert_eq!(index.get(&hit.id[..8]).expect("by its beginning").path, "orchard.md");
    let request = |mode, cut| SearchRequest { mode, ..SearchRequest::new("oven").cut(cut) };
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
        let answer = search(&index, SearchRequest::new("anything").cut(rule));
        assert_eq!((answer.results.len(), answer.cut.candidates), (0, 0), "{}", cut.name);
    }
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
fn what_makes_a_message_speaks_against_everything_else() {
    // Words must be rare to make a message.
    let days = (1..=20).map(|day| (format!("day-{day}.md"), format!("# Day {day}\n\nThe lamp was lit at dusk.\n")));
    let days: Vec<(String, String)> = days.collect();
    let mut files: Vec<(&str, &str)> = days.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.extend([
        ("mount.rs", "pub fn mount(name: &str) {\n    panic!(\"cannot mount shelf {name} on the north wall\");\n}\n"),
        ("walls.md", "# Walls\n\nThe north wall holds shelf oak and shelf elm. Mount no shelf on other walls.\n"),
    ]);
    let tree = Tree::new(&files);
    let index = tree.indexed(&[("index.models", "static")]);
    let pool = |query: &str| {
        let answer = search(&index, SearchRequest::new(query).explain());
        let pool = answer.pool.expect("explained").into_iter();
        let of = |name: &'static str| {
            move |entry: &tamis::search::PoolEntry| entry.evidence.iter().any(|one| one.name == name)
        };
        pool.map(|entry| (entry.path.clone(), of("exact_message")(&entry), of("exact_elsewhere")(&entry)))
            .collect::<Vec<_>>()
    };
    let found = pool("error: cannot mount shelf oak on the north wall");
    assert_eq!(found[0], ("mount.rs".to_owned(), true, false), "{found:?}");
    assert!(found[1..].iter().all(|(_, makes, elsewhere)| !makes && *elsewhere), "{found:?}");
    let found = pool("which shelf is on the north wall");
    assert!(found.iter().all(|(_, makes, elsewhere)| !makes && !elsewhere), "a question: {found:?}");

    let is_elsewhere = |query: &str| {
        let pool = search(&index, SearchRequest::new(query).explain()).pool.expect("explained");
        let speaks = |entry: &tamis::search::PoolEntry| {
            entry.evidence.iter().any(|one| one.name == "message_of_another_program")
        };
        pool.iter().any(speaks)
    };
    assert!(is_elsewhere("TypeError: the shelf must be north of a door"));
    for query in [
        "error: cannot mount shelf oak on the north wall",
        "TypeError: mount() got no shelf",
        "Wall error: the shelf must be north of a door",
        "the shelf must be north of a door",
    ] {
        assert!(!is_elsewhere(query), "{query}");
    }
}

#[test]
fn a_caller_can_waive_the_gate() {
    let tree = notes_tree();
    let query = "quantum chromodynamics lattice";
    for gate in ["true", "false"] {
        let index = tree.indexed(&[("search.gate", gate)]);
        let open = search(&index, SearchRequest::new(query).no_gate());
        assert!(open.cut.keep > 0);
        assert_says(open.cut.reason, &["the gate is off and would have refused"]);
        let usual = search(&index, SearchRequest::new(query));
        assert_eq!(usual.results.is_empty() && usual.cut.method == "gate", gate == "true", "{:?}", usual.cut);
    }
}
