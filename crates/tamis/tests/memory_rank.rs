//! How memories are searched: the weighted fusion, the tiers of the best score, age and diversity, with a test for each fault
//! that others shipped.

mod support;

use support::{Tree, paths, refresh, search};
use tamis::{Answer, Index, SearchRequest, TextDocument};

/// Notes without dates, each a document of the collection `notes`.
fn noted(tree: &Tree, settings: &[(&str, &str)], notes: &[(&str, &str)]) -> Index {
    let index = tree.open(settings);
    let document = |&(path, text): &(&str, &str)| TextDocument {
        id: path.to_owned(),
        collection: "notes".into(),
        title: None,
        text: text.to_owned(),
    };
    index.put_documents(&notes.iter().map(document).collect::<Vec<_>>()).expect("put");
    index.complete(tamis::RunOptions::WHOLE, &()).expect("completed");
    index
}

fn recall(index: &Index, query: &str) -> Answer {
    search(index, SearchRequest { explain: true, ..SearchRequest::memory(query) })
}

const MONTH: &[(&str, &str)] = &[
    ("memory/baking.md", "Heat the oven to 220 degrees and bake the bread on a stone for forty minutes."),
    ("memory/garden.md", "Apple trees in the orchard are pruned in late winter before the buds open."),
    ("memory/music.md", "The violin is tuned in fifths; rosin on the bow makes the string speak."),
    ("memory/money.md", "The tax return is due in May; receipts are kept for seven years."),
    ("memory/harbour.md", "Ships wait outside the harbour for the tide and the pilot."),
    ("memory/parts.md", "The replacement pump is XJ-4471 from the shop on the corner."),
];

#[test]
fn a_memory_is_found_by_the_weighted_fusion_of_raw_values() {
    let tree = Tree::new(&[]);
    let index = noted(&tree, &[], MONTH);
    let answer = recall(&index, "when are the apple trees pruned");
    assert_eq!(paths(&answer)[0], "memory/garden.md");
    assert_eq!(answer.cut.method, "top_score");
    for entry in answer.pool.as_deref().unwrap_or_default() {
        let (similarity, r) = (entry.similarity.expect("computed"), entry.bm25.expect("computed"));
        let expected = 0.7 * similarity + 0.3 * r / (1.0 + r);
        assert!((entry.score - expected).abs() < 1e-9, "{}: {} is not {expected}", entry.path, entry.score);
    }
}
