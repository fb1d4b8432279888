//! Ranking the fragments relevant to a claim.

use crate::evidence::graph::{Graph, subjects};
use tamis::Index;
use tamis::evidence::{Edge, EvidenceRecord, RankRequest, RankedEvidence, Relation};

fn strokes() -> Graph {
    subjects()
        .claim("c1", "t1", "Folic acid makes strokes rarer.")
        .claim("c2", "t2", "Worms loosen the soil.")
        .fragment("trial", "Strokes were a tenth rarer among those who took folic acid.")
        .fragment("review", "A review of folic acid supplements and the risk of a stroke.")
        .fragment("doubt", "Folic acid had no effect on stroke in another trial.")
        .fragment("swim", "Of the strokes in swimming the butterfly is rarer than the crawl; strokes of rarer kinds, rarer still, are left out, and the acid smell of the pool.")
        .fragment("worms", "Worms turn the soil over and loosen it.")
        .stand("trial", Relation::Supports, "c1")
        .stand("trial", Relation::Origin, "c1")
        .stand("review", Relation::Origin, "c1")
        .stand("worms", Relation::Supports, "c2")
}

fn rank(index: &Index, request: RankRequest) -> RankedEvidence {
    index.evidence().rank(&request).expect("ranked")
}

fn edges(index: &Index) -> Vec<Edge> {
    let edge = |record| if let EvidenceRecord::Edge(edge) = record { Some(edge) } else { None };
    index.evidence().records(None).expect("read").into_iter().filter_map(edge).collect()
}

/// A request with a cut that keeps everything.
fn whole() -> RankRequest {
    RankRequest { cut: Some("fixed:k=1000".to_owned()), ..RankRequest::new("c1") }
}

#[test]
fn fragments_are_ranked_by_vectors_and_filtered_by_task() {
    let (_tree, index) = strokes().index(&[]);
    let found = rank(&index, whole());
    let ids: Vec<&str> = found.fragments.iter().map(|fragment| fragment.id.as_str()).collect();
    assert!(found.fragments.iter().all(|fragment| fragment.bm25 > 0.0), "proposed by words: {ids:?}");
    assert!(!ids.contains(&"tax") && found.proposed < 17, "what shares no word is not proposed: {ids:?}");
    // The similarity is that of the vectors, and determines the order.
    let model = found.model.as_str();
    let passage =
        |path: &str| index.contents().document_passages(index.namespace(), path).expect("read").remove(0).passage;
    let claim = index.contents().vectors(model, &[passage("claim:c1")]).expect("read").remove(0).expect("a vector");
    for fragment in &found.fragments {
        let at = passage(&format!("fragment:{}", fragment.id));
        let all = tamis_store::Filter::namespace(index.namespace());
        let found = crate::support::store(&index).similarities(model, &claim, &all, &[at]).expect("compared");
        let similarity = found[0].expect("a vector");
        assert!((f64::from(similarity) - fragment.similarity).abs() < 1e-4, "{}", fragment.id);
    }
    assert!(found.fragments.windows(2).all(|pair| pair[0].similarity >= pair[1].similarity), "{ids:?}");
    let ranks: Vec<usize> = found.fragments.iter().map(|fragment| fragment.proposed_rank).collect();
    assert!(ranks.windows(2).any(|pair| pair[0] > pair[1]), "words would have had another order: {ranks:?}");

    let found = rank(&index, whole());
    let known = |id: &str| {
        let fragment = found.fragments.iter().find(|fragment| fragment.id == id).expect("found");
        (fragment.relation, fragment.is_origin, fragment.page_id.as_str())
    };
    assert_eq!(known("trial"), (Some(Relation::Supports), true, "page of trial"));
    assert_eq!(known("review"), (Some(Relation::Origin), true, "page of review"));
    assert_eq!(known("doubt"), (None, false, "page of doubt"));

    let of = |tasks: &[&str]| {
        let tasks = tasks.iter().map(|&task| task.to_owned()).collect();
        let found = rank(&index, RankRequest { tasks, ..whole() });
        let mut ids: Vec<String> = found.fragments.into_iter().map(|fragment| fragment.id).collect();
        ids.sort();
        (ids, found.searched)
    };
    assert_eq!(of(&["t1"]), (vec!["review".into(), "trial".into()], 2));
    assert_eq!(of(&["t1", "t2"]).1, 3);
    let unknown = of(&["t9"]);
    assert_eq!((unknown.0.len(), unknown.1), (0, 0), "nothing is an answer");

    let error = |request: RankRequest| index.evidence().rank(&request).expect_err("refused").to_string();
    assert_eq!(error(RankRequest::new("c")), "claim c: not in the index");
    assert!(error(RankRequest::new("c11")).contains("did you mean c1?"));
    assert!(error(RankRequest { limit: Some(0), ..RankRequest::new("c1") }).starts_with("limit = 0"));
    let elsewhere = RankRequest { namespace: Some("elsewhere".into()), ..RankRequest::new("c1") };
    assert!(error(elsewhere).starts_with("namespace = \"elsewhere\""));
    let none = RankRequest { allowed_namespaces: Some(vec!["other".into()]), ..RankRequest::new("c1") };
    assert!(error(none).starts_with("namespace"));
}

#[test]
fn auto_ends_the_list_and_a_limit_only_shortens_it() {
    let (_tree, index) = strokes().index(&[]);
    let found = rank(&index, RankRequest::new("c1"));
    assert_eq!(found.cut.method, "auto");
    assert!(!found.fragments.is_empty() && found.fragments[0].id == "trial", "{:?}", found.cut);
    assert!(found.stands_out, "{}", found.stands_out_reason);
    assert_eq!(found.cut.keep, found.fragments.len());
    let (_tree, all) = strokes().index(&[("evidence.cut", "auto:want=all")]);
    let all = rank(&all, RankRequest::new("c1"));
    assert!(all.fragments.len() > 1 && all.fragments.len() >= found.fragments.len(), "{:?}", all.cut);
    let (_tree, strict) = strokes().index(&[("evidence.cut", "auto:want=one")]);
    assert_eq!(rank(&strict, RankRequest::new("c1")).fragments.len(), 1, "from the configuration to the result");
}

#[test]
fn kneedle_can_be_chosen_in_both_of_its_forms() {
    let kneedle = |more: &[(&str, &str)]| {
        let settings = [&[("evidence.cut", "kneedle")], more].concat();
        let (_tree, index) = strokes().index(&settings);
        let whole = rank(&index, RankRequest::new("c1"));
        let two = rank(&index, RankRequest { limit: Some(2), ..RankRequest::new("c1") });
        (whole, two)
    };
    let (found, two) = kneedle(&[]);
    assert_eq!(found.cut.method, "kneedle");
    assert!(found.fragments.len() >= 3 && found.fragments[0].id == "trial", "{:?}", found.cut);
    assert_eq!(two.fragments[..], found.fragments[..2], "a limit only shortens");
    assert_eq!(two.cut.keep, found.cut.keep);
    let (first, _) = kneedle(&[("cut.kneedle.pick", "first")]);
    let (_tree, index) = strokes().index(&[]);
    let rule = "kneedle:pick=first".to_owned();
    let asked = rank(&index, RankRequest { cut: Some(rule), ..RankRequest::new("c1") });
    assert_eq!((first.cut.keep, &first.cut.diagnostics), (asked.cut.keep, &asked.cut.diagnostics));
    let (one, _) = kneedle(&[("cut.kneedle.min_results", "1"), ("cut.kneedle.max_results", "1")]);
    assert_eq!(one.fragments.len(), 1, "from the configuration to the result");
}

#[test]
fn linking_stores_neutral_edges_for_what_is_new_and_leaves_the_rest() {
    let (_tree, index) = strokes().index(&[]);
    let before = edges(&index);
    let now = "2026-06-30T12:00:00Z".parse().expect("a time");
    let link = RankRequest { link: true, limit: Some(3), now: Some(now), ..whole() };
    let found = rank(&index, link.clone());
    let new: Vec<&str> = found.fragments.iter().filter(|one| one.linked).map(|one| one.id.as_str()).collect();
    assert!(!new.is_empty() && !new.contains(&"trial") && !new.contains(&"review"), "{new:?}");
    assert_eq!(found.linked, new.len());
    let after = edges(&index);
    assert!(before.iter().all(|edge| after.contains(edge)), "nothing that was judged is replaced");
    let added: Vec<&Edge> = after.iter().filter(|edge| !before.contains(edge)).collect();
    assert_eq!(added.len(), new.len());
    for edge in added {
        assert_eq!((edge.relation, edge.nli_edge_confidence), (Relation::Neutral, None));
        assert_eq!(edge.created_at.as_deref(), Some("2026-06-30T12:00:00Z"));
        assert!(edge.note.as_ref().is_some_and(|note| note.contains("not judged")), "{edge:?}");
    }
    // The linked fragments belong to the claim's task from now on.
    let of_task = rank(&index, RankRequest { tasks: vec!["t1".into()], ..whole() });
    assert!(new.iter().all(|id| of_task.fragments.iter().any(|fragment| fragment.id == *id)));
    let again = rank(&index, link);
    assert_eq!((again.linked, edges(&index)), (0, after), "the same again stores nothing");
}

#[test]
fn a_claim_on_what_is_not_there_still_gets_its_three_and_is_told_that_nothing_stands_out() {
    let graph =
        strokes().claim("c3", "t3", "The king of Portugal taxed the apple bread of ten opera singers and the queen.");
    let (_tree, index) = graph.index(&[("evidence.cut", "kneedle")]);
    let found = rank(&index, RankRequest::new("c3"));
    assert!(!found.stands_out && !found.stands_out_reason.is_empty(), "{}", found.stands_out_reason);
    assert!(!found.fragments.is_empty(), "{:?}", found.cut);
    let (_tree, index) = strokes().claim("c4", "t3", "Quxz frobnicates.").index(&[]);
    let nothing = rank(&index, RankRequest::new("c4"));
    assert!(nothing.fragments.is_empty() && nothing.proposed == 0, "{:?}", nothing.cut);
    assert!(!nothing.stands_out && !nothing.cut.reason.is_empty());
    assert!(nothing.query_id.is_some(), "one that found nothing is recorded too");
}
