//! A small part of `cargo xtask questions`, so that a change for the worse is noticed before whole trees are measured.

use tamis_questions::{Drift, Figures, IndexedTree, List, Measured, Model, PASTS, Place, foreign, measure, place};

/// Small trees, two of which come with this project.
const TREES: [&str; 3] = ["guides", "notes", "ureq"];

/// Measures a list with the static model; `None`, with a printed reason, if its tree is not here.
fn measured(lists: &[List], name: &str, pasts: &[usize]) -> Option<Measured> {
    let list = lists.iter().find(|list| list.name == name).expect("a list of this name");
    let place = Place::of(list).expect("the expected files exist");
    if let Place::Missing(reason) = &place {
        println!("skipped: {name}: {reason}");
        return None;
    }
    let tree = IndexedTree::new(list, &place, Model::Static).expect("indexed");
    Some(measure(list, &tree, &foreign(lists, name), pasts).expect("asked"))
}

#[test]
fn every_list_has_its_questions_and_names_existing_files() {
    let lists = List::all().expect("readable lists");
    assert!(lists.len() >= 14, "{} lists", lists.len());
    place::locked(&lists).expect("the locked versions");
    let mut found = 0;
    for list in &lists {
        let answerable = list.questions.iter().filter(|question| !question.expect.is_empty()).count();
        assert_eq!((answerable, list.questions.len()), (15, 20), "{}", list.name);
        found += usize::from(!matches!(Place::of(list).expect("the expected files exist"), Place::Missing(_)));
    }
    assert!(found >= 2, "the project's own trees are always here");
}

#[test]
fn a_tree_of_guides_is_served() {
    let lists = List::all().expect("readable lists");
    let guides = measured(&lists, "guides", &PASTS[..1]).expect("it comes with the project");
    let figures = Figures::of(&[&guides], 0);
    assert_eq!((figures.answerable, figures.near, figures.far), (15, 3, 2));
    assert!(figures.first_ten >= 0.8, "{figures:?}");
    assert!(figures.expected_kept >= 0.4, "{figures:?}");
    assert!(figures.kept_mean <= 8.0, "{figures:?}");
    assert!(figures.wrongly_empty <= 0.4, "{figures:?}");
    assert!(figures.far_answered <= 0.5, "{figures:?}");
}

#[test]
fn other_questions_hardly_change_an_answer_and_never_empty_it() {
    let lists = List::all().expect("readable lists");
    let measured: Vec<Measured> = std::thread::scope(|scope| {
        let asked: Vec<_> = TREES.iter().map(|name| scope.spawn(|| measured(&lists, name, &PASTS))).collect();
        asked.into_iter().filter_map(|tree| tree.join().expect("no panic")).collect()
    });
    assert!(measured.len() >= 2, "two of the trees come with the project");
    let mut moved = Vec::new();
    for (tree, series) in measured.iter().flat_map(|tree| tree.questions.iter().map(move |series| (tree, series))) {
        let first = &series.answers[0];
        for (past, answer) in PASTS.iter().zip(&series.answers) {
            let emptied = answer.is_empty() && !first.is_empty();
            if answer.drifted_from(first) || emptied {
                let (before, after) = (first.kept.len(), answer.kept.len());
                moved.push(format!(
                    "{}: {:?} kept {before}, after {past} others {after}",
                    tree.tree, series.question.ask
                ));
            }
        }
    }
    let drift = Drift::of(&measured.iter().collect::<Vec<_>>());
    assert!(moved.is_empty(), "{}\n{drift:#?}", moved.join("\n"));
}
