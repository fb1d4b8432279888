//! What a search counts: files, issues and notes, each with its passages.

use crate::support::{Tree, ask, notes, paths, refresh, search};
use tamis::feedback::Label;
use tamis::telemetry::ReplayRequest;
use tamis::{Answer, Index, SearchRequest};
use tamis_cut::parse;

/// Sections of one book on ovens, each a passage of its own.
fn book(subject: &str) -> String {
    let sections = [
        ("Heat", "Heat the oven to 220 degrees before the loaf goes in."),
        ("Stone", "A stone in the oven keeps the heat when the door is opened."),
        ("Steam", "Steam in the oven keeps the crust of the loaf soft for ten minutes."),
        ("Door", "The door of the oven stays closed while the bread rises."),
        ("Cleaning", "Clean the oven when it is cold, with soda and a wet cloth."),
        ("Light", "The light of the oven is changed with the power switched off."),
    ];
    let filler = "The baker writes down what was done on which day, and reads it again before the next time, so that nothing is \
        forgotten and everything that went well can be done the same way by whoever is in the bakery then.";
    let sections =
        sections.iter().map(|(name, text)| format!("## {name}\n\n{text} {subject}\n\n{filler}\n\n{filler}\n\n"));
    format!("# The book of {subject}\n\n{}", sections.collect::<String>())
}

fn tree() -> Tree {
    let notes = notes();
    let files: Vec<(&str, &str)> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    tree.write("book.md", book("Ovens of stone.").as_bytes());
    tree
}

fn indexed(tree: &Tree, settings: &[(&str, &str)]) -> Index {
    tree.indexed(&[&[("search.gate", "false")], settings].concat())
}

fn with_cut(cut: &str) -> SearchRequest {
    SearchRequest::new("how is the oven heated").cut(parse(cut).expect("a rule"))
}

fn counted(answer: &Answer) -> &str {
    answer.cut.diagnostics["counted"].as_str().expect("a word")
}

#[test]
fn an_entry_is_one_result_with_its_other_passages() {
    let tree = tree();
    let index = indexed(&tree, &[]);
    let all = search(&index, with_cut("fixed:k=100"));
    let mut distinct = paths(&all);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), all.results.len(), "each file once: {:?}", paths(&all));
    assert_eq!((counted(&all), all.cut.candidates), ("entries", 13), "{:?}", all.cut);
    let book = all.results.iter().find(|hit| hit.path == "book.md").expect("the book");
    assert!(book.passages.len() >= 5, "{book:?}");
    assert!(book.passages.is_sorted_by(|a, b| a.score >= b.score) && book.score >= book.passages[0].score);
    assert!(book.passages.iter().all(|passage| passage.id != book.id && !passage.snippet.contains('\n')));
    assert!(book.entry.ends_with("/book.md"), "{}", book.entry);

    // Of an entry only what is as good as the last one kept.
    let two = search(&index, with_cut("fixed:k=2"));
    let last = two.results[1].score;
    assert_eq!(two.results.len(), 2);
    for hit in &two.results {
        let of_all = all.results.iter().find(|other| other.entry == hit.entry).expect("the same entry");
        let expected = of_all.passages.iter().filter(|passage| passage.score >= last);
        assert_eq!(hit.passages.iter().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
    assert!(search(&index, with_cut("fixed:k=1")).results[0].passages.is_empty());

    let answer = ask(&index, "how is the oven heated");
    assert_eq!(answer.cut.keep + answer.cut.dropped, answer.cut.candidates);
    assert!(answer.cut.diagnostics["passages"].as_u64() > Some(answer.cut.candidates as u64));
    assert_eq!(answer.cut.diagnostics["copies"], 0);

    let answer = search(&index, with_cut("fixed:k=3").paths(["book.md"]));
    assert_eq!((counted(&answer), answer.results.len(), answer.cut.keep), ("passages", 3, 3));
    assert_eq!(paths(&answer), ["book.md"; 3]);

    let passages = search(&index, with_cut("top_score")).cut.candidates;
    assert!(passages >= 18, "{passages}");
    for cut in ["max_gap", "kneedle", "top_score", "language"] {
        let answer = search(&index, with_cut(cut).limit(1000));
        assert_eq!((counted(&answer), answer.cut.candidates), ("passages", passages), "{cut}");
        assert_eq!(answer.results.len(), answer.cut.keep, "{cut}");
        assert!(answer.results.iter().all(|hit| hit.passages.is_empty() && hit.copies.is_empty()), "{cut}");
    }

    let grouped = search(&index, with_cut("fixed:k=5").limit(3));
    assert_eq!((grouped.results.len(), grouped.cut.keep, grouped.shown()), (3, 5, 3));
    let flat = search(&index, with_cut("fixed:k=5").limit(3).passages());
    assert_eq!((flat.cut.keep, flat.shown()), (5, 3));
    let mut ids: Vec<&str> = grouped.results.iter().map(|hit| hit.id.as_str()).collect();
    ids.extend(grouped.results.iter().flat_map(|hit| &hit.passages).map(|passage| passage.id.as_str()));
    let mut flat_ids: Vec<&str> = flat.results.iter().map(|hit| hit.id.as_str()).collect();
    assert!(flat.results.is_sorted_by(|a, b| a.score >= b.score));
    assert!(flat.results.iter().all(|hit| hit.passages.is_empty()));
    assert_eq!(
        flat.results.iter().map(|hit| hit.rank).collect::<Vec<_>>(),
        (1..=flat.results.len()).collect::<Vec<_>>()
    );
    ids.sort_unstable();
    flat_ids.sort_unstable();
    assert_eq!(ids, flat_ids);

    let tokens = |answer: &Answer| -> usize {
        let ids = answer.results.iter().flat_map(|hit| {
            std::iter::once(hit.id.clone()).chain(hit.passages.iter().map(|passage| passage.id.clone()))
        });
        let text = |id: String| crate::support::store(&index).find(&id, 1).expect("read")[0].text.clone();
        ids.map(|id| tamis_text::estimate_tokens(&text(id))).sum()
    };
    let two = |cut: &str| search(&index, with_cut(cut).limit(1000).paths(["book.md", "oven.md"]));
    let free = two("auto:strictness=0.1");
    assert!(free.results.iter().any(|hit| !hit.passages.is_empty()), "{:?}", free.cut);
    for budget in [100, 300, 600] {
        let answer = two(&format!("auto:strictness=0.1,budget_tokens={budget}"));
        assert!(tokens(&answer) <= budget, "{budget}: {}", tokens(&answer));
    }

    let answer = search(&index, with_cut("fixed:k=13").limit(1000));
    let book = answer.results.iter().find(|hit| hit.path == "book.md").expect("the book");
    let further = book.passages.last().expect("another passage").id.clone();
    let id = answer.query_id.as_deref().expect("recorded");
    let judged = index.feedback().judge(id, &[&further], Label::Relevant).expect("judged");
    assert!(judged[0].rank.is_some_and(|rank| rank > 13), "its rank is behind the entries: {judged:?}");
    let replay = index.statistics().replay(&ReplayRequest::new(vec!["fixed:k=13".into(), "fixed:k=1".into()]));
    let replay = replay.expect("replayed");
    assert_eq!((replay.judged, replay.cuts[1].recall), (1, Some(1.0)), "the entry is among the thirteen");
}

#[test]
fn what_says_the_same_elsewhere_stands_under_the_first() {
    let tree = tree();
    let index = indexed(&tree, &[]);
    let before = search(&index, with_cut("fixed:k=100"));
    tree.write("v3/book.md", book("Ovens of stone.").as_bytes());
    // One section of it is another one.
    let changed = book("Ovens of stone.").replace(
        "Clean the oven when it is cold, with soda and a wet cloth.",
        "An oven cleans itself at five hundred degrees: everything in it burns to ashes, which are swept out by hand later.",
    );
    tree.write("v2/book.md", changed.as_bytes());
    refresh(&index);
    let answer = search(&index, with_cut("fixed:k=100"));
    let books: Vec<&str> = paths(&answer).into_iter().filter(|path| path.ends_with("book.md")).collect();
    assert_eq!(books.len(), 2, "the changed section counts by itself: {books:?}");
    let best = answer.results.iter().find(|hit| hit.path.ends_with("book.md")).expect("a book");
    let mut copies: Vec<&str> = best.copies.iter().map(|copy| copy.path.as_str()).collect();
    copies.push(&best.path);
    copies.sort_unstable();
    assert_eq!(copies, ["book.md", "v2/book.md", "v3/book.md"]);
    assert_eq!(answer.cut.candidates, before.cut.candidates + 1);
    let other = answer.results.iter().filter(|hit| hit.path.ends_with("book.md")).nth(1).expect("another");
    assert_eq!(
        (other.path.as_str(), other.title.as_deref()),
        ("v2/book.md", Some("The book of Ovens of stone. > Cleaning"))
    );
    // Every passage of the pool is in one place.
    let pool = search(&index, SearchRequest { explain: true, ..with_cut("auto") }).pool.expect("a pool");
    let passages: usize = pool.iter().map(|entry| entry.passages).sum();
    let folded: usize = pool.iter().map(|entry| entry.copies).sum();
    assert_eq!(passages + folded, search(&index, with_cut("top_score")).cut.candidates);
}

#[test]
fn a_search_by_entries_is_replayed_as_it_was() {
    let tree = tree();
    tree.write("v3/book.md", book("Ovens of stone.").as_bytes());
    for fusion in ["convex", "rrf", "weighted"] {
        let index = indexed(&tree, &[("search.fusion", fusion)]);
        for cut in ["auto", "background", "otsu", "fixed:k=4", "kneedle", "top_score", "max_gap"] {
            for recorded in ["auto", "top_score"] {
                index.statistics().purge(true).expect("purged");
                search(&index, with_cut(recorded));
                let replay = index.statistics().replay(&ReplayRequest::new(vec![cut.to_owned()])).expect("replayed");
                index.statistics().purge(true).expect("purged");
                let keep = search(&index, with_cut(cut)).cut.keep;
                // Ranks of passages say nothing of the order by which a list of another unit was made.
                if fusion != "rrf" || recorded == cut {
                    assert_eq!(replay.cuts[1].kept_mean, keep as f64, "{cut} after {recorded}, {fusion}");
                }
            }
        }
    }
}

#[test]
fn a_file_that_says_it_again_and_again_comes_first_however_scores_are_fused() {
    let tree = Tree::new(&[]);
    let chapters = ["bellows", "pipes", "pedals", "stops", "keys"].map(|part| {
        format!("## The {part}\n\nThe {part} of the organ are tuned each spring, before the first concert of the season.\n\n")
    });
    tree.write("instrument.md", format!("# Instrument\n\n{}", chapters.concat()).as_bytes());
    tree.write("letter.md", b"# Letter\n\nThe organ is tuned on Monday, so there is no music before evening.\n");
    tree.write("garden.md", b"# Garden\n\nThe roses are cut in spring.\n");
    let asked = |fusion: &str, variants: &[&str], cut: &str| {
        let index = indexed(&tree, &[("search.fusion", fusion)]);
        let variants = variants.iter().map(|text| text.parse().expect("a variant")).collect();
        let request = SearchRequest::new("how the organ is tuned").cut(parse(cut).expect("a rule"));
        search(&index, SearchRequest { variants, ..request })
    };
    for (fusion, variants) in [("convex", &[][..]), ("rrf", &[]), ("convex", &["tuning an organ"])] {
        let answer = asked(fusion, variants, "background");
        assert_eq!(answer.results[0].path, "instrument.md", "{fusion} {variants:?}");
        let flat = asked(fusion, variants, "kneedle");
        assert_eq!(flat.results[0].path, "letter.md", "{fusion} {variants:?}: its one passage is the best");
        assert!(answer.results.is_sorted_by(|a, b| a.score >= b.score), "{fusion}: scores follow the order");
    }
}
