//! Searching claims and fragments similar to a text.

use crate::evidence::graph::subjects;
use tamis::Index;
use tamis::evidence::{EvidenceTarget, Relation, VectorMatches, VectorSearchRequest};

fn claims() -> crate::evidence::graph::Graph {
    let long = format!("Sieves are for flour. {}", "Flour falls through the sieve and the bran stays. ".repeat(150));
    subjects()
        .claim("strokes", "health", "Folic acid makes strokes rarer.")
        .claim("folate", "health", "Folate lowers the risk of a stroke.")
        .claim("worms", "garden", "Worms loosen the soil.")
        .claim("sieves", "kitchen", &long)
        .fragment("long", &long)
        .stand("orchard", Relation::Supports, "worms")
}

fn search(index: &Index, request: VectorSearchRequest) -> VectorMatches {
    index.evidence().vector_search(&request).expect("searched")
}

fn ids(found: &VectorMatches) -> Vec<&str> {
    found.matches.iter().map(|found| found.id.as_str()).collect()
}

fn text(text: &str, least: f64) -> VectorSearchRequest {
    VectorSearchRequest { min_similarity: Some(least), ..VectorSearchRequest::new(text) }
}

#[test]
fn matches_are_most_similar_first_and_cut_by_similarity_or_another_rule() {
    let (_tree, index) = claims().index(&[]);
    let found = search(&index, text("does folic acid make strokes rarer", 0.1));
    assert_eq!(ids(&found)[..2], ["strokes", "folate"], "{found:?}");
    assert!(found.matches.windows(2).all(|pair| pair[0].similarity >= pair[1].similarity));
    assert!(found.matches.iter().all(|one| one.similarity >= 0.1 && one.similarity <= 1.0));
    assert_eq!((found.cut.method.as_str(), found.cut.threshold), ("similarity", Some(0.1)));
    assert!(found.cut.reason.contains("have similarity 0.1 or more"), "{}", found.cut.reason);

    // A text of several passages is one match, and all of its passages were compared.
    let sieves = search(&index, text("flour and a sieve", 0.0));
    assert_eq!(ids(&sieves).iter().filter(|id| **id == "sieves").count(), 1);
    assert!(sieves.total_searched > 4, "{}", sieves.total_searched);
    let preview = &sieves.matches[0].text_preview;
    assert!(preview.chars().count() <= 200 && preview.ends_with('…'), "{preview}");

    let fragments = VectorSearchRequest { target: EvidenceTarget::Fragments, ..text("an apple tree in winter", 0.1) };
    assert_eq!(ids(&search(&index, fragments))[0], "orchard");

    let of = |task: &str, target| {
        let request = VectorSearchRequest { task: Some(task.into()), target, ..text("apple trees and strokes", 0.0) };
        let found = search(&index, request);
        (ids(&found).into_iter().map(str::to_owned).collect::<Vec<_>>(), found.total_searched)
    };
    let (mut health, searched) = of("health", EvidenceTarget::Claims);
    health.sort();
    assert_eq!((health, searched), (vec!["folate".to_owned(), "strokes".to_owned()], 2));
    assert_eq!(of("garden", EvidenceTarget::Fragments), (vec!["orchard".to_owned()], 1));
    assert_eq!(of("none", EvidenceTarget::Claims), (Vec::new(), 0));

    let at = |top_k| {
        let target = EvidenceTarget::Fragments;
        search(&index, VectorSearchRequest { top_k: Some(top_k), target, ..text("bread from the oven", 0.05) })
    };
    let (two, all) = (at(2), at(50));
    assert_eq!(two.matches[..], all.matches[..2]);
    assert_eq!((two.cut.keep, two.total_searched), (all.cut.keep, all.total_searched));
    assert!(two.cut.keep > 2);

    let found = search(&index, text("folic acid", 1.0));
    assert!(found.matches.is_empty() && found.cut.reason.contains("below 1"), "{}", found.cut.reason);
    assert!(found.query_id.is_some(), "one that found nothing is recorded too");
    let (_tree, empty) = crate::evidence::graph::Graph::default().claim("c", "t", "A claim alone.").index(&[]);
    let fragments = VectorSearchRequest { target: EvidenceTarget::Fragments, ..text("folic acid", 0.5) };
    let nothing = search(&empty, fragments);
    assert_eq!((nothing.total_searched, nothing.cut.reason.as_str()), (0, "there is nothing to compare"));

    let cut = |query: &str, cut: &str| {
        let cut = Some(cut.to_owned());
        search(&index, VectorSearchRequest { cut, ..VectorSearchRequest::new(query) })
    };
    let found = cut("does folic acid make strokes rarer", "fixed:k=1");
    assert_eq!((ids(&found), found.cut.method.as_str()), (vec!["strokes"], "fixed"));
    let nothing = cut("the parliament of Portugal", "fixed:k=3");
    assert_eq!((nothing.matches.len(), nothing.cut.method.as_str()), (0, "gate"), "{}", nothing.cut.reason);

    let error =
        |request: VectorSearchRequest| index.evidence().vector_search(&request).expect_err("refused").to_string();
    assert_eq!(error(VectorSearchRequest { top_k: Some(51), ..text("x", 0.5) }), "top_k = 51: must be 1 to 50");
    assert_eq!(error(VectorSearchRequest { top_k: Some(0), ..text("x", 0.5) }), "top_k = 0: must be 1 to 50");
    assert_eq!(error(text("x", 1.5)), "min_similarity = 1.5: must be 0 to 1");
    assert!(error(text(" ", 0.5)).starts_with("query = "));
    let both = VectorSearchRequest { cut: Some("auto".to_owned()), ..text("x", 0.5) };
    assert!(error(both).contains("left out where a cut (auto) decides"));
    assert!("papers".parse::<EvidenceTarget>().is_err());
}
