//! Opened results as weak judgements, and learning that is switched off, through the library.

use crate::support::{Tree, indexed_notes, search, store};
use tamis::feedback::{Label, Opened};
use tamis::related::RelatedRequest;
use tamis::search::SearchCaller;
use tamis::telemetry::{OpenedCount, StatsRequest};
use tamis::{Answer, Index, SearchRequest};
use tamis_store::OpenedSearch;

fn somebody() -> SearchCaller {
    SearchCaller::session(&["test", "somebody"])
}

/// Searches as a caller, with so many results shown.
fn ask(index: &Index, caller: SearchCaller, query: &str, shown: usize) -> Answer {
    let request = SearchRequest {
        caller: Some(caller),
        limit: Some(shown),
        cut: Some(index.config().cut("fixed:k=6").expect("a cut")),
        ..SearchRequest::new(query)
    };
    search(index, request)
}

fn opened(index: &Index) -> Vec<OpenedSearch> {
    store(index).usage().expect("a log").opened(99).expect("read")
}

#[test]
fn openings_are_recorded_for_what_the_caller_was_shown() {
    let (_tree, index) = indexed_notes(&[("search.gate", "false")]);
    let answer = ask(&index, somebody(), "how hot must the oven be", 3);
    let (second, third) = (&answer.results[1], &answer.results[2]);
    // By path, by identifier, by a line, and by what is related to it; each counts once.
    assert_eq!(index.feedback().opened(&index.get(&second.path).expect("read"), &somebody(), "test get"), 1);
    assert_eq!(index.feedback().opened(&index.get(&second.id).expect("read"), &somebody(), "test get"), 0);
    let line = format!("{}:{}", third.path, third.start_line);
    assert_eq!(index.feedback().opened(&index.get(&line).expect("read"), &somebody(), "test get"), 1);
    let related = index.related().find(&RelatedRequest::new(&answer.results[0].id), &()).expect("related");
    assert_eq!(index.feedback().opened(&related, &somebody(), "test related"), 1);

    let log = opened(&index);
    assert_eq!(log.len(), 1);
    assert_eq!(Some(&log[0].search.id), answer.query_id.as_ref());
    assert_eq!(log[0].opened, [&second.id, &third.id, &answer.results[0].id].map(Clone::clone));
    assert_eq!(log[0].search.query_text, None);
    let stats = index.statistics().summarize(&StatsRequest::default()).expect("read");
    assert_eq!(stats.opened, OpenedCount { searches: 1, passages: 3 });

    let (_tree, index) = indexed_notes(&[("search.gate", "false")]);
    let answer = ask(&index, somebody(), "oven", 2);
    let hidden = ask(&index, SearchCaller::connection(), "oven", 6).results[4].id.clone();
    let open = |id: &str, caller: &SearchCaller| index.feedback().opened(Opened::Passage(id), caller, "test get");
    assert_eq!(open(&hidden, &somebody()), 0, "a candidate below the limit");
    assert_eq!(open(&answer.results[0].id, &SearchCaller::session(&["test", "other"])), 0);
    assert_eq!(open(&answer.results[0].id, &SearchCaller::command_line()), 0);
    assert_eq!(open("ffffffffffff", &somebody()), 0);
    // Only the beginning of this answer reached the caller.
    index.feedback().shown_in_part(answer.query_id.as_deref().expect("recorded"), &[&answer.results[0].id]);
    assert_eq!((open(&answer.results[1].id, &somebody()), open(&answer.results[0].id, &somebody())), (0, 1));
    // A search that names no caller is credited with nothing.
    let violin = crate::support::ask(&index, "violin").results[0].id.clone();
    assert_eq!(open(&violin, &somebody()), 0);
}

#[test]
fn openings_are_off_by_a_key_and_fail_nothing() {
    for off in [("telemetry.opened", "off"), ("telemetry.record", "off")] {
        let (tree, index) = indexed_notes(&[off]);
        let answer = ask(&index, somebody(), "oven", 3);
        assert_eq!(index.feedback().opened(&index.get("oven.md").expect("read"), &somebody(), "test get"), 0);
        assert_eq!(index.feedback().recording_problem(), None);
        if answer.query_id.is_some() {
            let on = tree.open(&[]);
            let later = on.feedback().opened(&on.get("oven.md").expect("read"), &somebody(), "test get");
            assert_eq!((later, opened(&on).len()), (0, 0), "what was shown meanwhile is not known either");
        }
    }

    let (tree, index) = indexed_notes(&[]);
    std::fs::create_dir(tree.root().join(".tamis/usage.db")).expect("made");
    assert_eq!(index.feedback().opened(&index.get("oven.md").expect("read"), &somebody(), "test get"), 0);
    assert!(index.feedback().recording_problem().expect("a problem").contains("usage.db"));
}

/// Three pages on each of several subjects, in other words.
fn pages() -> Tree {
    let tree = Tree::new(&[]);
    for (subject, other) in [
        ("oven", "bread is baked on a stone"),
        ("violin", "the bow needs rosin"),
        ("orchard", "apple trees are pruned in winter"),
        ("beehive", "the queen and her brood are looked for in spring"),
        ("lighthouse", "a lens of glass prisms turns once in ten seconds"),
        ("harbour", "ships wait for the pilot"),
        ("telescope", "a mirror gathers the light of stars"),
    ] {
        let texts = [
            format!("How the {subject} works and why {other} with every {subject}."),
            format!("Buying a second hand {subject} costs money; ask whether {other} before you pay."),
            format!("My grandfather had an old {subject} in the village, and as he said, {other}, mostly on Sundays."),
        ];
        for (at, text) in texts.iter().enumerate() {
            tree.write(&format!("{subject}{at}.md"), format!("# Page {at}\n\n{text}\n").as_bytes());
        }
    }
    tree
}

/// A search of the pages as memories under `auto`, which has no other evidence there than scores and labels.
fn of_memories(index: &Index, query: &str) -> SearchRequest {
    let cut = Some(index.config().cut("auto").expect("a cut"));
    SearchRequest { collections: vec!["docs".into()], cut, ..SearchRequest::memory(query) }
}

/// The source of the level at which `auto` takes relevance to end, for a query that nobody asks otherwise.
fn basis(index: &Index) -> String {
    let answer = search(index, of_memories(index, "ships wait in the harbour"));
    answer.cut.diagnostics["basis"].as_str().expect("a basis").to_owned()
}

/// Asks several queries and opens the last of three results of each.
fn open_last(index: &Index) -> Vec<Answer> {
    let queries = [
        "bread in the oven", "a bow for the violin", "prune the orchard", "the queen of a beehive",
        "the lens of a lighthouse",
    ];
    let answers = queries.map(|query| {
        let cut = index.config().cut("fixed:k=3").expect("a cut");
        let request = SearchRequest { caller: Some(somebody()), cut: Some(cut), ..of_memories(index, query) };
        let answer = search(index, request);
        assert_eq!(answer.results.len(), 3, "{query}");
        index.feedback().opened(Opened::Passage(&answer.results[2].id), &somebody(), "test get");
        answer
    });
    answers.to_vec()
}

#[test]
fn the_cut_learns_from_opened_results_and_from_what_was_said_instead() {
    let learned = |settings: &[(&str, &str)], judge: bool| {
        let tree = pages();
        let index = tree.indexed(&[&[("search.gate", "false")], settings].concat());
        for answer in open_last(&index).into_iter().filter(|_| judge).take(2) {
            let query_id = answer.query_id.as_deref().expect("recorded");
            index.feedback().judge(query_id, &["1"], Label::Relevant).expect("judged");
        }
        basis(&index)
    };
    let built_in = learned(&[("telemetry.opened", "off")], false);
    assert!(!built_in.contains("quer"), "{built_in}");
    assert!(learned(&[], false).starts_with("5 "), "five queries with opened results");
    assert!(learned(&[("telemetry.opened", "off")], true).starts_with("2 "), "two that were judged");
    assert!(learned(&[], true).starts_with("5 "), "a judged query counts once, and its openings no more");
}

/// Asks about each subject and labels its three pages, all of which answer, and the three pages below them, which do not.
fn label_six(index: &Index, label: impl Fn(&Answer, usize, bool)) {
    for subject in ["oven", "violin", "orchard", "beehive", "lighthouse", "harbour", "telescope"] {
        for question in [format!("how does the {subject} work"), format!("buying an old {subject}"), subject.to_owned()]
        {
            let cut = Some(index.config().cut("fixed:k=6").expect("a cut"));
            let answer = search(
                index,
                SearchRequest { caller: Some(somebody()), limit: Some(6), cut, ..of_memories(index, &question) },
            );
            for (at, hit) in answer.results.iter().enumerate() {
                label(&answer, at, hit.path.starts_with(subject));
            }
        }
    }
}

#[test]
fn judgements_move_the_level_and_so_do_opened_results() {
    let level = |index: &Index| {
        let answer = search(index, of_memories(index, "ships wait in the harbour"));
        answer.cut.diagnostics["level"].as_f64().expect("a level")
    };
    let tree = pages();
    let judged = tree.indexed(&[("search.gate", "false")]);
    let built_in = level(&judged);
    label_six(&judged, |answer, at, right| {
        let label = if right { Label::Relevant } else { Label::NotRelevant };
        let query_id = answer.query_id.as_deref().expect("recorded");
        judged.feedback().judge(query_id, &[&(at + 1).to_string()], label).expect("judged");
    });
    let by_judgements = (level(&judged) - built_in).abs();
    let tree = pages();
    let used = tree.indexed(&[("search.gate", "false")]);
    label_six(&used, |answer, at, right| {
        if right {
            used.feedback().opened(Opened::Passage(&answer.results[at].id), &somebody(), "test get");
        }
    });
    let by_use = (level(&used) - built_in).abs();
    println!("level {built_in}, moved by {by_judgements} and {by_use}");
    assert!(by_judgements > 0.01 && by_use > 0.01, "{by_judgements} and {by_use}");
}

#[test]
fn learning_that_is_off_freezes_the_cut_and_says_so() {
    let tree = pages();
    let frozen = tree.indexed(&[("search.learn", "off"), ("search.gate", "false")]);
    let learning = tree.open(&[("search.gate", "false")]);
    let fresh = basis(&frozen);
    open_last(&learning);
    let answer = search(&learning, of_memories(&learning, "the mirror of a telescope"));
    let query_id = answer.query_id.as_deref().expect("recorded");
    learning.feedback().judge(query_id, &["1"], Label::Relevant).expect("judged");
    learning.feedback().judge(query_id, &["2", "3"], Label::NotRelevant).expect("judged");
    assert!(basis(&learning).starts_with("6 "), "five opened and one judged");
    assert_eq!(basis(&frozen), fresh);
    let answer = search(&frozen, of_memories(&frozen, "the mirror of a telescope"));
    assert_eq!(answer.cut.diagnostics["learning"], "off (search.learn)");
    assert_eq!(answer.cut.diagnostics["basis"], fresh.as_str());
    let learnt = search(&learning, of_memories(&learning, "the mirror of a telescope"));
    assert!(!learnt.cut.diagnostics.contains_key("learning"));
    let off = tree.open(&[("telemetry.record", "off")]);
    let said = search(&off, of_memories(&off, "the mirror of a telescope")).cut.diagnostics["learning"].clone();
    assert!(said.as_str().expect("text").contains("telemetry.record"), "{said}");
    let fixed =
        SearchRequest { cut: Some(frozen.config().cut("fixed").expect("a cut")), ..of_memories(&frozen, "oven") };
    assert!(!search(&frozen, fixed).cut.diagnostics.contains_key("learning"), "a rule that never learns");
}
