//! Searching memories: as a search does by default, the weighted fusion and the tiers of the best score under `top_score`, and the
//! effect of every cut on a hit by words alone, by meaning alone, on nonsense and on an empty pool. Age is tested beside its code.

use crate::support::{Tree, paths, search};
use tamis::{Answer, Index, RunOptions, SearchRequest, TextDocument};
use tamis_cut::METHODS;

/// Collections that no file belongs to, so that the memories can be given directly.
const MEMORIES: [(&str, &str); 2] = [("memory.collections", "diary,sessions"), ("memory.decay", "diary,sessions")];

/// An index of notes, each a document of the collection that its path begins with.
fn noted(tree: &Tree, settings: &[(&str, &str)], notes: &[(&str, &str)]) -> Index {
    let index = tree.open(&[&MEMORIES, settings].concat());
    let document = |&(path, text): &(&str, &str)| TextDocument {
        id: path.to_owned(),
        collection: path.split('/').next().unwrap_or(path).to_owned(),
        title: None,
        text: text.to_owned(),
    };
    index.put_documents(&notes.iter().map(document).collect::<Vec<_>>()).expect("put");
    index.complete(RunOptions::WHOLE, &()).expect("completed");
    index
}

/// The same in a tree of its own.
fn noted_alone(settings: &[(&str, &str)], notes: &[(&str, &str)]) -> (Tree, Index) {
    let tree = Tree::new(&[]);
    let index = noted(&tree, settings, notes);
    (tree, index)
}

fn recall(index: &Index, query: &str) -> Answer {
    search(index, SearchRequest { explain: true, ..SearchRequest::memory(query) })
}

fn recall_with(index: &Index, cut: &str, query: &str) -> Answer {
    let cut = Some(index.config().cut(cut).expect("a rule"));
    search(index, SearchRequest { explain: true, cut, ..SearchRequest::memory(query) })
}

const MONTH: &[(&str, &str)] = &[
    ("diary/baking.md", "Heat the oven to 220 degrees and bake the bread on a stone for forty minutes."),
    ("diary/garden.md", "Apple trees in the orchard are pruned in late winter before the buds open."),
    ("diary/music.md", "The violin is tuned in fifths; rosin on the bow makes the string speak."),
    ("diary/money.md", "The tax return is due in May; receipts are kept for seven years."),
    ("diary/harbour.md", "Ships wait outside the harbour for the tide and the pilot."),
    ("diary/parts.md", "The replacement pump is XJ-4471 from the shop on the corner."),
    ("diary/glacier.md", "The glacier moves a metre a day and leaves a moraine of broken rock behind."),
    ("diary/bicycle.md", "A bicycle chain lasts longer when it is cleaned and oiled every few weeks."),
    ("sessions/monday", "alice: the lighthouse lamp turns once in ten seconds\nbob: behind a lens of glass prisms"),
    ("papers/orchard.md", "How apple trees are pruned: cut the apple trees in late winter."),
];

#[test]
fn memories_are_weighed_and_cut_as_a_search_is() {
    let (_tree, index) = noted_alone(&[], MONTH);
    for query in
        ["when are the apple trees pruned", "how often does the lamp of the lighthouse turn", "XJ-4471", "zzqx"]
    {
        let remembered = recall(&index, query);
        let collections = vec!["diary".into(), "sessions".into()];
        let searched = search(&index, SearchRequest { explain: true, collections, ..SearchRequest::new(query) });
        let probabilities = |answer: &Answer| answer.results.iter().map(|hit| hit.probability).collect::<Vec<_>>();
        assert_eq!(paths(&remembered), paths(&searched), "{query}");
        assert_eq!(probabilities(&remembered), probabilities(&searched), "{query}");
        assert_eq!(remembered.cut.method, searched.cut.method, "{query}");
    }
}

#[test]
fn values_are_those_of_the_weighted_fusion_and_a_limit_only_shortens() {
    let (_tree, index) = noted_alone(&[("memory.cut", "top_score")], MONTH);
    let answer = recall(&index, "when are the apple trees pruned");
    assert_eq!(answer.cut.method, "top_score");
    let pool = answer.pool.as_deref().expect("explained");
    assert!(pool.iter().any(|entry| entry.bm25 == Some(0.0)), "one that the words did not find");
    for entry in pool {
        // A leg that did not find a candidate has its score computed.
        let (similarity, r) = (entry.similarity.expect("computed"), entry.bm25.expect("computed"));
        let expected = 0.7 * similarity + 0.3 * r / (1.0 + r);
        let lowered = entry.score < expected && entry.role != "main";
        assert!((entry.score - expected).abs() < 1e-9 || lowered, "{}: {} for {expected}", entry.path, entry.score);
    }

    let at = |limit| {
        let request = SearchRequest { limit: Some(limit), ..SearchRequest::memory("apple trees, bread and the tide") };
        let request = SearchRequest { cut: Some(index.config().cut("fixed:k=8").expect("a rule")), ..request };
        search(&index, request)
    };
    let all = at(50);
    assert_eq!(all.results.len(), 8, "{}", all.cut.reason);
    for limit in 1..8 {
        let few = at(limit);
        assert_eq!(paths(&few), paths(&all)[..limit], "at {limit}");
        assert_eq!(few.cut.keep, all.cut.keep);
    }
}

#[test]
fn every_cut_keeps_a_perfect_hit_of_either_leg_and_no_nonsense() {
    let (tree, index) = noted_alone(&[], MONTH);
    for method in METHODS {
        for query in ["kubernetes ingress controller", "quantum chromodynamics lattice", "zzqx"] {
            let answer = recall_with(&index, method.name, query);
            assert!(answer.results.is_empty(), "{} {query}: {:?}", method.name, paths(&answer));
            assert_eq!(answer.cut.method, "gate");
            assert!(!answer.cut.reason.is_empty());
        }
    }
    // Without the gate, cuts by shape and by count always keep something; those by evidence do not.
    let index = noted(&tree, &[("search.gate", "false")], &[]);
    for (cut, silent) in [("top_score", true), ("max_gap", true), ("language", true), ("fixed", false), ("otsu", false)]
    {
        let answer = recall_with(&index, cut, "kubernetes ingress controller");
        assert_eq!(answer.results.is_empty(), silent, "{cut}: {}", answer.cut.reason);
    }

    let index = noted(&tree, &[], &[]);
    for method in METHODS {
        for query in ["XJ-4471", "XJ-4471 pump"] {
            let answer = recall_with(&index, method.name, query);
            assert_eq!(
                paths(&answer).first(),
                Some(&"diary/parts.md"),
                "{} {query}: {}",
                method.name,
                answer.cut.reason
            );
        }
    }

    let (_tree, index) = noted_alone(&[("telemetry.record", "off")], MONTH);
    let query = "boat dock captain sea";
    let pool = recall_with(&index, "fixed", query).pool.expect("explained");
    assert!(pool.iter().all(|entry| entry.bm25 == Some(0.0)), "no word in common");
    for method in METHODS {
        let answer = recall_with(&index, method.name, query);
        let found = paths(&answer).first().copied();
        match method.name {
            // Its thresholds are those of code, 0.65 without a calibration: this has 0.64.
            "language" => assert_eq!(found, None, "{}", answer.cut.reason),
            name => assert_eq!(found, Some("diary/harbour.md"), "{name}: {}", answer.cut.reason),
        }
    }
}

#[test]
fn an_empty_memory_is_silent_under_every_cut() {
    let tree = Tree::new(&[("src/lib.rs", "pub fn pump() {}\n")]);
    let index = noted(&tree, &[], &[]);
    crate::support::refresh(&index);
    for method in METHODS {
        let answer = recall_with(&index, method.name, "anything at all");
        assert_eq!((answer.results.len(), answer.cut.candidates, answer.cut.keep), (0, 0, 0), "{}", method.name);
        assert_eq!(answer.index.passages, 0, "code is no memory");
        assert!(!answer.cut.reason.is_empty());
    }
}

#[test]
fn without_a_cut_everything_comes_up_to_the_limit_and_no_gate_is_asked() {
    let (_tree, index) = noted_alone(&[("memory.cut", "off")], MONTH);
    let answer = recall(&index, "quantum chromodynamics lattice");
    assert_eq!((answer.cut.method.as_str(), answer.cut.keep, answer.results.len()), ("off", 9, 9));
    let scores: Vec<f64> = answer.results.iter().map(|hit| hit.score).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let few = search(&index, SearchRequest { limit: Some(3), ..SearchRequest::memory("quantum lattice") });
    assert_eq!(few.results.len(), 3);
    // A requested cut applies together with its gate.
    assert_eq!(recall_with(&index, "fixed", "quantum chromodynamics lattice").cut.method, "gate");
}

#[test]
fn each_collection_is_held_to_its_own_table_from_the_configuration_to_the_result() {
    let tree = Tree::new(&[]);
    let both = &[
        ("sessions/one", "bob: the lighthouse lamp turns once in ten seconds"),
        (
            "diary/two.md",
            "The lighthouse lamp turns, I think, once in ten seconds or so, behind shutters that my uncle painted.",
        ),
        ("sessions/three", "alice: how does the lamp of the lighthouse turn? behind a lens of glass prisms"),
        ("diary/far.md", "Apple trees are pruned in late winter."),
    ];
    let query = "how often does the lighthouse lamp turn";
    let plain = [("memory.cut", "top_score"), ("cut.top_score.high_multiplier", "0.4")];
    let plain = [&plain[..], &[("cut.top_score.middle_multiplier", "0.4")]].concat();
    let all = recall(&noted(&tree, &plain, both), query);
    assert_eq!(paths(&all), ["sessions/one", "sessions/three", "diary/two.md"], "{}", all.cut.reason);
    assert!(all.cut.threshold.is_some());

    let strict =
        [("cut.top_score.sessions.high_multiplier", "0.99"), ("cut.top_score.sessions.middle_multiplier", "0.99")];
    let held = recall(&noted(&tree, &[&plain[..], &strict].concat(), &[]), query);
    assert_eq!(paths(&held), ["sessions/one", "diary/two.md"], "{}", held.cut.reason);
    assert!(held.cut.reason.contains("; sessions need "), "{}", held.cut.reason);
    assert_eq!(held.cut.threshold, None, "there is not one line for all");
    assert!(held.cut.diagnostics.contains_key("line_sessions"));
    let pool = held.pool.as_deref().expect("explained");
    let kept: Vec<(&str, bool)> = pool.iter().map(|entry| (entry.path.as_str(), entry.kept)).collect();
    assert_eq!(kept[1..3], [("diary/two.md", true), ("sessions/three", false)], "the kept ones come first");

    // Even the best candidate can come from a source that is too strict for it.
    let shut = ["low_bound", "high_bound", "floor"].map(|key| format!("cut.top_score.sessions.{key}"));
    let shut: Vec<(&str, &str)> = shut.iter().map(|key| (key.as_str(), "10")).collect();
    let held = recall(&noted(&tree, &[&plain[..], &shut].concat(), &[]), query);
    assert_eq!(paths(&held), ["diary/two.md"], "{}", held.cut.reason);
    assert_eq!(held.results[0].rank, 1);
}

#[test]
fn memories_are_notes_and_sessions_and_counted_before_and_after_the_cut() {
    let (tree, index) = noted_alone(&[("memory.cut", "top_score")], MONTH);
    let found = recall(&index, "pruning apple trees");
    recall(&index, "quantum chromodynamics lattice");
    let stats = index.statistics().summarize(&tamis::telemetry::StatsRequest::default()).expect("read");
    assert_eq!((stats.queries, stats.empty), (2, 1), "also the one that found nothing");
    assert_eq!(stats.candidates, Some(9.0), "before the cut");
    let by_cut = stats.methods.iter().find(|share| share.name == "top_score").expect("told");
    assert_eq!((by_cut.queries, by_cut.mean_kept), (1, found.cut.keep as f64), "after it");
    assert_eq!(stats.corpora[0].name, "diary,sessions");

    assert_eq!(paths(&recall(&index, "pruning apple trees")), ["diary/garden.md"]);
    assert_eq!(paths(&recall(&index, "how often does the lamp of the lighthouse turn")), ["sessions/monday"]);
    let papers = SearchRequest { collections: vec!["papers".into()], ..SearchRequest::memory("pruning apple trees") };
    assert_eq!(paths(&search(&index, papers)), ["papers/orchard.md"]);
    let index = noted(&tree, &[("memory.collections", "papers,diary"), ("memory.cut", "top_score")], &[]);
    assert_eq!(recall(&index, "pruning apple trees").results.len(), 2);
}

#[test]
fn diversity_goes_by_vectors_and_by_words_where_there_are_none() {
    let tree = Tree::new(&[]);
    let notes = &[
        ("diary/a.md", "The lighthouse lamp turns once in ten seconds."),
        ("diary/b.md", "The lamp of the lighthouse turns once in ten seconds."),
        ("diary/c.md", "The lighthouse keeper counts the ships and writes them into the ledger every evening."),
        ("diary/far.md", "Apple trees are pruned in late winter."),
    ];
    let query = "how often does the lighthouse lamp turn";
    let plain = noted(&tree, &[("memory.cut", "fixed:k=3")], notes);
    let plain = recall(&plain, query);
    assert_eq!(paths(&plain), ["diary/a.md", "diary/b.md", "diary/c.md"], "{}", plain.cut.reason);
    let diverse = |lambda| [("memory.diversity", "on"), ("memory.diversity_lambda", lambda)];
    let even = noted(&tree, &[&diverse("0.3")[..], &[("memory.cut", "fixed:k=3")]].concat(), &[]);
    let even = recall(&even, query);
    assert_eq!(paths(&even), ["diary/a.md", "diary/c.md", "diary/b.md"]);
    assert_eq!((even.cut.keep, &even.cut.reason), (plain.cut.keep, &plain.cut.reason), "what is kept is the same");
    let ranks: Vec<_> = even.pool.as_deref().expect("explained").iter().map(|entry| entry.rank).collect();
    assert_eq!(ranks, [Some(1), Some(3), Some(2), None], "the pool stays in its order");

    // Any search can request diversity, and memories can do without.
    let asked = |diversity, request: SearchRequest| {
        let collections = vec!["diary".into()];
        search(&noted(&tree, &[("memory.cut", "fixed:k=3")], &[]), SearchRequest { diversity, collections, ..request })
    };
    let cut = tamis_cut::parse("fixed:k=3").ok();
    let other = asked(Some(0.3), SearchRequest { cut, ..SearchRequest::new(query) });
    assert_eq!(paths(&other), ["diary/a.md", "diary/c.md", "diary/b.md"]);
    assert_eq!(paths(&asked(Some(1.0), SearchRequest::memory(query))), paths(&plain));

    let tree = Tree::new(&[]);
    let notes = &[
        ("diary/a.md", "zorblat quexing vrimple zorblat quexing"),
        ("diary/b.md", "zorblat quexing vrimple zorblat quexing now"),
        ("diary/c.md", "zorblat and then something else entirely happened on the way to the harbour"),
    ];
    let index = noted(&tree, &diverse("0.2"), notes);
    let request = SearchRequest { mode: Some(tamis::Mode::Lexical), ..SearchRequest::memory("zorblat quexing") };
    let request = SearchRequest { cut: tamis_cut::parse("fixed").ok(), ..request };
    assert_eq!(paths(&search(&index, request)), ["diary/a.md", "diary/c.md", "diary/b.md"]);
}

#[test]
fn settings_out_of_range_are_told_the_range() {
    let request = SearchRequest { diversity: Some(1.5), ..SearchRequest::memory("x") };
    assert_eq!(request.check().expect_err("refused").to_string(), "diversity = 1.5: must be 0 to 1");
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
    let answer = search(&index, SearchRequest { explain: true, ..request.passages() });
    let lines: Vec<(u32, u32)> = answer
        .results
        .iter()
        .filter(|hit| hit.path == "memory/log.md")
        .map(|hit| (hit.start_line, hit.end_line))
        .collect();
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
    let request = SearchRequest { explain: true, now_ns, ..SearchRequest::memory("backups of the database") };
    let answer = search(&index, request);
    let pool = answer.pool.as_deref().expect("explained");
    let left = |path: &str| pool.iter().find(|entry| entry.path == path).map(|entry| entry.decay).expect("found");
    assert_eq!((left("memory/undated.md"), left("MEMORY.md")), (1.0, 1.0));
    assert!((0.94..=1.0).contains(&left("memory/2026-10-31.md")), "{}", left("memory/2026-10-31.md"));
    let month = left("memory/2026-10-01.md") / left("memory/2026-10-31.md");
    assert!((month - 0.5).abs() < 0.002, "{month}: an hour more or less where clocks are put back");
    assert!(left("memory/dated.md") < 0.26);
}
