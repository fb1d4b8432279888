//! What a search counts: files, issues and notes, each with its passages.

use crate::support::{Tree, notes, search};
use tamis::telemetry::ReplayRequest;
use tamis::{Index, SearchRequest};
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
