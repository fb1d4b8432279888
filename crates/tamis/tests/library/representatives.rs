//! The passage that an answer shows of an entry.

use crate::support::issues::{closed, put, said};
use crate::support::{Tree, ask_for_all, notes_tree};
use tamis::{Answer, Hit};
use tamis_text::{Issue, IssueComment};

fn of<'a>(answer: &'a Answer, path: &str) -> &'a Hit {
    answer.results.iter().find(|hit| hit.path == path).unwrap_or_else(|| panic!("{path}: {:?}", answer.results))
}

#[test]
fn a_long_definition_is_shown_from_its_head() {
    let tree = notes_tree();
    let step = |at: usize| format!("    let stage_{at} = kiln.fire(stage_{at}, celsius({at}), minutes({at}));\n");
    let body: String = (0..150).map(step).collect();
    let end = "    // Glazing: the second firing melts the glaze on the pot.\n    kiln.glaze(pot)\n";
    let text = format!(
        "/// Burns clay.\npub fn burn_clay(kiln: &Kiln, pot: Pot) -> Pot {{\n{body}{end}}}\n\npub fn other() {{}}\n"
    );
    tree.write("src/kiln.rs", text.as_bytes());
    let index = tree.indexed(&[("search.gate", "false")]);
    let shown = |query: &str| of(&ask_for_all(&index, query), "src/kiln.rs").clone();
    for query in ["where is burn_clay defined", "burn_clay glaze"] {
        let named = shown(query);
        assert_eq!((named.start_line, named.symbol.as_deref()), (1, Some("burn_clay")), "{query}: {named:?}");
    }
    let inner = shown("the second firing melts the glaze on the pot");
    assert!(inner.start_line > 100, "the part that says it is much better: {inner:?}");
    let answer = ask_for_all(&index, "burn_clay glaze");
    assert!(answer.results.is_sorted_by(|a, b| a.score >= b.score), "the entry keeps its value");
}

#[test]
fn a_heading_without_text_stands_for_no_page() {
    let tree = notes_tree();
    let filler = "The crane operator writes down each load, its weight and the wind, and signs the sheet at the end of the shift. ";
    let sections: String = (1..6)
        .map(|at| format!("### Release {at}\n\nIn release {at} the hook moved. {}\n\n", filler.repeat(60)))
        .collect();
    tree.write(
        "crane.md",
        format!("# Crane\n\n{}\n\n## Behaviour change history\n\n{sections}", filler.repeat(14)).as_bytes(),
    );
    let index = tree.indexed(&[("search.gate", "false")]);
    let answer = ask_for_all(&index, "behaviour change history");
    let crane = of(&answer, "crane.md");
    let bare = |text: &str| text.trim() == "## Behaviour change history";
    assert!(!bare(&crane.snippet), "{crane:?}");
    assert!(crane.passages.iter().any(|passage| bare(&passage.snippet)), "it is a passage of its own: {crane:?}");
}

#[test]
fn an_issue_shows_no_comment_that_says_nothing() {
    let tree = Tree::new(&[]);
    let index = tree.indexed(&[("search.gate", "false")]);
    let answer = "The driver of the network card sleeps too long. Load it with power saving off, then the interface is up at once.";
    let by_bot = IssueComment {
        bot: true,
        ..said("helper[bot]", "The network interface stays down after resume: this was closed.")
    };
    let empty = ["+1", "same here", "Any update on this?", "Closing in favour of #12", "duplicate of #3"];
    let mut comments: Vec<IssueComment> = empty.iter().map(|text| said("bob", text)).collect();
    comments.extend([by_bot, said("ada", answer)]);
    let issue = Issue {
        comments,
        ..closed(7, "Network interface stays down after resume", "It needs a restart by hand. Nothing is in the log.")
    };
    let others =
        (20..40).map(|at| closed(at, &format!("Button {at} has no label"), "Screen readers say nothing of it."));
    put(&index, &others.chain([issue]).collect::<Vec<_>>());
    let found = ask_for_all(&index, "network interface stays down after resume");
    let hit = of(&found, "issue:7");
    let shown: Vec<&str> = std::iter::once(hit.snippet.as_str())
        .chain(hit.passages.iter().map(|passage| passage.snippet.as_str()))
        .collect();
    assert!(shown.iter().any(|text| text.contains("driver of the network card")), "{shown:?}");
    assert_eq!(shown.len(), 2, "the body and the answer: {shown:?}");
    assert!(hit.kind == "issue" || hit.snippet.contains("driver"), "{hit:?}");
}
