//! Searching memories through the library: what a request may ask. What is found and kept is a transcript.

use crate::support::{Tree, paths, search};
use tamis::{RunOptions, SearchRequest, TextDocument};

#[test]
fn any_search_can_ask_for_diversity_and_memories_do_without() {
    let tree = Tree::new(&[]);
    // Collections that no file belongs to, so that the memories can be given directly.
    let index = tree.open(&[("memory.collections", "diary,papers"), ("memory.diversity", "on")]);
    let document = |(id, text): (&str, &str)| {
        let collection = id.split('/').next().unwrap_or(id).to_owned();
        TextDocument { id: id.to_owned(), collection, title: None, text: text.to_owned() }
    };
    let notes = [
        ("diary/a.md", "The lighthouse lamp turns once in ten seconds."),
        ("diary/b.md", "The lamp of the lighthouse turns once in ten seconds."),
        ("diary/c.md", "The lighthouse keeper counts the ships and writes them into the ledger every evening."),
        ("papers/far.md", "How the lamp of a lighthouse turns."),
    ];
    index.put_documents(&notes.map(document)).expect("put");
    index.complete(RunOptions::WHOLE, &()).expect("completed");
    let query = "how often does the lighthouse lamp turn";
    let asked = |diversity, mut request: SearchRequest| {
        request.ranking.diversity = diversity;
        search(&index, request.cut("fixed:k=3").collections(["diary"]))
    };
    let diverse = asked(Some(0.3), SearchRequest::new(query));
    assert_eq!(paths(&diverse), ["diary/a.md", "diary/c.md", "diary/b.md"]);
    let plain = asked(Some(1.0), SearchRequest::memory(query));
    assert_eq!(paths(&plain), ["diary/a.md", "diary/b.md", "diary/c.md"]);
    let papers = SearchRequest::memory(query).collections(["papers"]);
    assert_eq!(paths(&search(&index, papers)), ["papers/far.md"]);
}

#[test]
fn settings_out_of_range_are_told_the_range() {
    let mut request = SearchRequest::memory("x");
    request.ranking.diversity = Some(1.5);
    assert_eq!(request.check().expect_err("refused").to_string(), "diversity = 1.5: must be 0 to 1");
    let promise = SearchRequest::memory("x").guarantee("recall=0.9").check();
    assert!(promise.is_err_and(|error| error.to_string().starts_with("guarantee")), "scores of notes are others");
    let refused = |key: &str, value: &str| {
        let flags = vec![(key.to_owned(), value.to_owned(), "test".to_owned())];
        let origins = tamis::config::Origins { flags, ..Default::default() };
        tamis::config::Config::load(&origins, None).expect_err("refused").to_string()
    };
    let message = refused("cut.top_score.notes.low_bound", "0.9");
    assert!(message.contains("cut.top_score.notes.low_bound = 0.9: must be at most its high_bound"), "{message}");
    assert!(refused("cut.top_score.wiki.floor", "-1").contains("must be 0 to 10"));
    assert!(refused("memory.decay_half_life_days", "0").contains("0.1 to 36500"));
}

/// The pieces of a divided note share lines: the second says little that the first does not.
#[test]
fn neighbours_that_share_lines_stand_apart() {
    let line = |at: usize| {
        format!("The harbour pilot wrote entry {at}: tide {at} metres, {at} ships waiting, and the lamp was lit.\n")
    };
    let long: String = (0..60).map(line).collect();
    let short = "Ask the harbour pilot for the tide before the ships come in.\n";
    let tree = Tree::new(&[("memory/log.md", &long), ("memory/pilot.md", short)]);
    let pieces = [("memory.cut", "off"), ("memory.diversity", "on"), ("memory.diversity_lambda", "0.3")];
    let index = tree.indexed(&pieces);
    let request = SearchRequest::memory("harbour pilot, tide and ships waiting");
    let answer = search(&index, request.passages().explain());
    let of_log = answer.results.iter().filter(|hit| hit.path == "memory/log.md");
    let lines: Vec<(u32, u32)> = of_log.map(|hit| (hit.start_line, hit.end_line)).collect();
    assert!(lines.len() > 1, "{lines:?}");
    let overlap = |a: &(u32, u32), b: &(u32, u32)| a.0 <= b.1 && b.0 <= a.1;
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|pair| overlap(&pair[0], &pair[1])), "neighbours share lines: {sorted:?}");
    let (first, second) = (&answer.results[0], &answer.results[1]);
    let same = |hit: &tamis::Hit| (hit.start_line, hit.end_line);
    assert!(first.path != second.path || !overlap(&same(first), &same(second)), "{lines:?}");
}

#[test]
fn notes_fade_by_the_date_of_their_name_and_never_by_that_of_their_file() {
    let text = "Backups of the database go to the second disk every night at two.\n";
    let tree = Tree::new(&[
        ("memory/2026-10-01.md", text),
        ("memory/2026-10-31.md", text),
        ("memory/undated.md", text),
        ("MEMORY.md", text),
        ("memory/dated.md", "---\ndate: 2026-09-01\n---\n\nBackups of the database go to the second disk.\n"),
    ]);
    let index = tree.indexed(&[("memory.decay_half_life_days", "30")]);
    let day = 86_400_000_000_000_i64;
    // Noon of 2026-11-01, when 2026-10-31 has begun everywhere.
    let now_ns = Some(20_758 * day + day / 2);
    let request = SearchRequest::memory("backups of the database").explain().now_ns(now_ns);
    let answer = search(&index, request);
    let pool = answer.pool.as_deref().expect("explained");
    let left = |path: &str| pool.iter().find(|entry| entry.path == path).map(|entry| entry.decay).expect("found");
    assert_eq!((left("memory/undated.md"), left("MEMORY.md")), (1.0, 1.0));
    assert!((0.94..=1.0).contains(&left("memory/2026-10-31.md")), "{}", left("memory/2026-10-31.md"));
    let month = left("memory/2026-10-01.md") / left("memory/2026-10-31.md");
    assert!((month - 0.5).abs() < 0.002, "{month}: an hour more or less where clocks are put back");
    assert!(left("memory/dated.md") < 0.26);
}
