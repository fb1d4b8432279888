//! Views of SciFact, if `TAMIS_TEST_DATA` has it: each agrees with a direct count of the file, and every view with a
//! query on the store's own tables.

use crate::evidence::graph::subjects;
use crate::evidence::scifact::{SciFact, scifact, scifact_with};
use std::collections::{BTreeMap, BTreeSet};
use tamis::evidence::{Relation, SqlAnswer, SqlLimits, SqlValue, ViewRequest};
use tamis::{Error, Index};

fn ask(index: &Index, view: &str, given: &[(&str, &str)]) -> SqlAnswer {
    let request = ViewRequest {
        parameters: given.iter().map(|(name, value)| ((*name).into(), SqlValue::Text((*value).into()))).collect(),
        limits: SqlLimits { limit: 200, timeout: 2000, ..SqlLimits::default() },
        ..ViewRequest::new(view)
    };
    let answer = index.evidence().query_view(&request).unwrap_or_else(|error| panic!("{view}: {error}"));
    println!("{view} {given:?}: {} rows in {:.1} ms", answer.row_count, answer.elapsed_ms);
    answer
}

/// These columns, a row a line.
fn lines(answer: &SqlAnswer, columns: &[&str]) -> Vec<String> {
    let place = |name: &&str| answer.columns.iter().position(|column| column == name).expect("a column");
    let places: Vec<usize> = columns.iter().map(place).collect();
    let cell = |value: &SqlValue| match value {
        SqlValue::Null => "-".to_owned(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => format!("{number:.4}"),
        SqlValue::Text(text) => text.clone(),
    };
    answer.rows.iter().map(|row| places.iter().map(|&at| cell(&row[at])).collect::<Vec<_>>().join(" ")).collect()
}

/// The counts of each claim in the file: supports, refutes, neutral, abstracts with a label.
fn counted(claims: &SciFact) -> BTreeMap<String, [usize; 4]> {
    let count = |claim: &crate::evidence::scifact::convert::ScifactClaim| {
        let labelled = |label: &str| claim.evidence.iter().filter(|rationale| rationale.label == label).count();
        let decided: BTreeSet<&String> = claim.evidence.iter().map(|rationale| &rationale.doc_id).collect();
        let cited: BTreeSet<&String> = claim.cited_doc_ids.iter().collect();
        [labelled("SUPPORT"), labelled("CONTRADICT"), cited.difference(&decided).count(), decided.len()]
    };
    claims.claims.iter().map(|claim| (claim.id.clone(), count(claim))).collect()
}

#[test]
fn views_of_scifact_give_what_a_direct_count_gives() {
    let Some(graph) = scifact() else { return };
    assert_eq!(disputed(&graph), 0, "no claim of SciFact has labels of both kinds");
    counts(&graph);
}

#[test]
fn views_of_scifact_with_every_third_label_turned_give_what_a_direct_count_gives() {
    let turned = |claims: &mut [crate::evidence::scifact::convert::ScifactClaim]| {
        let rationales = claims.iter_mut().flat_map(|claim| &mut claim.evidence);
        rationales.step_by(3).for_each(|rationale| {
            let other = if rationale.label == "SUPPORT" { "CONTRADICT" } else { "SUPPORT" };
            rationale.label = other.to_owned();
        });
    };
    let Some(graph) = scifact_with(turned) else { return };
    assert!(disputed(&graph) > 100, "{}", disputed(&graph));
    counts(&graph);
}

/// Claims with labels of both kinds.
fn disputed(graph: &SciFact) -> usize {
    counted(graph).values().filter(|[supports, refutes, ..]| *supports > 0 && *refutes > 0).count()
}

fn counts(graph: &SciFact) {
    let index = &graph.index;
    let claims = counted(graph);

    let mut disputed: Vec<(&String, f64, usize)> = claims
        .iter()
        .filter(|(_, [supports, refutes, ..])| *supports > 0 && *refutes > 0)
        .map(|(id, [supports, refutes, neutral, _])| {
            let n = supports + refutes + neutral;
            (id, *supports.min(refutes) as f64 / n as f64, n)
        })
        .collect();
    disputed.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.2.cmp(&a.2)).then(a.0.cmp(b.0)));
    let expected: Vec<String> = disputed.iter().map(|(id, score, n)| format!("{id} {n} {score:.4}")).collect();
    let contradictions = ask(index, "v_contradictions", &[]);
    assert_eq!(lines(&contradictions, &["claim_id", "n", "controversy"]), expected[..expected.len().min(200)]);
    assert_eq!(contradictions.truncated, expected.len() > 200);
    assert_eq!(ask(index, "v_contradictions", &[("task_id", "scifact")]).rows, contradictions.rows);
    assert!(ask(index, "v_contradictions", &[("task_id", "other")]).rows.is_empty());

    let mut summed: Vec<(&String, &[usize; 4])> = claims.iter().collect();
    summed.sort_by_key(|(id, [supports, refutes, ..])| (std::cmp::Reverse(supports + refutes), *id));
    let expected: Vec<String> = summed
        .iter()
        .take(200)
        .map(|(id, [supports, refutes, neutral, sources])| format!("{id} {supports} {refutes} {neutral} {sources}"))
        .collect();
    let summary = ask(index, "v_claim_evidence_summary", &[]);
    assert!(summary.truncated, "{} claims", claims.len());
    assert_eq!(lines(&summary, &["claim_id", "supports", "refutes", "neutral", "sources"]), expected);

    let mut unsupported: Vec<(&String, usize)> = claims
        .iter()
        .filter(|(_, [supports, ..])| *supports == 0)
        .map(|(id, [_, refutes, ..])| (id, *refutes))
        .collect();
    unsupported.sort_by_key(|(id, refutes)| (std::cmp::Reverse(*refutes), *id));
    let expected: Vec<String> = unsupported.iter().take(200).map(|(id, refutes)| format!("{id} {refutes}")).collect();
    assert_eq!(lines(&ask(index, "v_unsupported_claims", &[]), &["claim_id", "refutes"]), expected);

    // The claim with most evidence, fragment by fragment.
    let busiest = graph.claims.iter().max_by_key(|claim| claim.evidence.len()).expect("a claim");
    let chain = ask(index, "v_evidence_chain", &[("claim_id", &busiest.id)]);
    let count = |relation: &str| lines(&chain, &["relation"]).iter().filter(|found| *found == relation).count();
    let [supports, refutes, neutral, _] = claims[&busiest.id];
    assert_eq!([count("supports"), count("refutes"), count("neutral")], [supports, refutes, neutral]);
    let pages: BTreeSet<String> = lines(&chain, &["page_id"]).into_iter().collect();
    assert_eq!(pages, busiest.evidence.iter().map(|r| r.doc_id.clone()).chain(busiest.cited_doc_ids.clone()).collect());

    // By abstract: the claims that it supports, and the number of supports.
    let mut by_source: BTreeMap<&str, (BTreeSet<&str>, usize, BTreeSet<&str>)> = BTreeMap::new();
    for claim in &graph.claims {
        for rationale in &claim.evidence {
            let (supported, edges, judged) = by_source.entry(&rationale.doc_id).or_default();
            judged.insert(&claim.id);
            if rationale.label == "SUPPORT" {
                supported.insert(&claim.id);
                *edges += 1;
            }
        }
    }
    let first = |mut ordered: Vec<(&str, f64)>| -> Vec<String> {
        ordered.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        ordered.iter().take(200).map(|(id, value)| format!("{id} {value:.4}")).collect()
    };
    let supporting = || by_source.iter().filter(|(_, (supported, ..))| !supported.is_empty());
    let authority = supporting().map(|(id, (supported, ..))| (*id, supported.len() as f64)).collect();
    assert_eq!(lines(&ask(index, "v_source_authority", &[]), &["source_id", "authority"]), first(authority));
    let impact = supporting().map(|(id, (_, edges, _))| (*id, 0.3 * *edges as f64)).collect();
    assert_eq!(lines(&ask(index, "v_source_impact", &[]), &["source_id", "impact"]), first(impact));
    let mut orphans: Vec<(&str, usize)> = by_source.iter().map(|(id, (.., judged))| (*id, judged.len())).collect();
    orphans.sort_by_key(|(id, judged)| (std::cmp::Reverse(*judged), *id));
    let expected: Vec<String> = orphans.iter().take(200).map(|(id, judged)| format!("{id} {judged}")).collect();
    assert_eq!(lines(&ask(index, "v_orphan_sources", &[]), &["source_id", "claims"]), expected);

    // No year is known, so everything is in one row.
    let timeline = ask(index, "v_evidence_timeline", &[]);
    let sum = |of: usize| claims.values().map(|counts| counts[of]).sum::<usize>();
    let expected = format!("- {} {} {} {}", claims.len(), sum(0), sum(1), sum(2));
    assert_eq!(lines(&timeline, &["year", "claims", "supports", "refutes", "neutral"]), [expected]);
    let freshness = lines(&ask(index, "v_evidence_freshness", &[]), &["claim_id", "dated", "undated", "mean_age"]);
    let judged = claims.iter().filter(|(_, [supports, refutes, ..])| supports + refutes > 0);
    let expected: Vec<String> =
        judged.take(200).map(|(id, [supports, refutes, ..])| format!("{id} 0 {} -", supports + refutes)).collect();
    assert_eq!(freshness, expected);

    // SciFact says nothing about citations, origins and years.
    for view in [
        "v_claim_origins", "v_citation_flow", "v_citation_chains", "v_bibliographic_coupling", "v_citation_age_gap",
        "v_emerging_consensus", "v_outdated_evidence", "v_reference_candidates",
    ] {
        assert!(ask(index, view, &[]).rows.is_empty(), "{view}");
    }
}

#[test]
fn every_view_runs_through_the_guard_with_every_parameter() {
    let graph =
        subjects().claim("c", "t", "Apple trees are pruned in winter.").stand("orchard", Relation::Supports, "c");
    let (_tree, index) = graph.index(&[]);
    let views = index.evidence().views();
    assert_eq!(views.len(), 17);
    for view in views {
        let bare = ask(&index, &view.name, &[]);
        let told: Vec<&String> = view.columns.iter().map(|column| &column.name).collect();
        assert_eq!(bare.columns.iter().collect::<Vec<_>>(), told, "{}", view.name);
        let given: Vec<(&str, &str)> = view
            .parameters
            .iter()
            .map(|parameter| (parameter.name.as_str(), if parameter.name == "now" { "2026-01-01" } else { "1" }))
            .collect();
        ask(&index, &view.name, &given);
        for one in &given {
            ask(&index, &view.name, &[*one]);
        }
    }
    let summary = ask(&index, "v_claim_evidence_summary", &[("task_id", "t")]);
    assert_eq!(lines(&summary, &["claim_id", "supports", "sources"]), ["c 1 1"]);
    let injected = ask(&index, "v_claim_evidence_summary", &[("task_id", "t' OR '1'='1")]);
    assert!(injected.rows.is_empty(), "a value is a value");
    let limits = SqlLimits { limit: 0, ..SqlLimits::default() };
    let refused = index.evidence().query_view(&ViewRequest { limits, ..ViewRequest::new("v_contradictions") });
    assert!(matches!(refused, Err(Error::Argument { name: "limit", .. })));
    let elsewhere = ViewRequest { namespace: Some("elsewhere".into()), ..ViewRequest::new("v_contradictions") };
    assert!(matches!(index.evidence().query_view(&elsewhere), Err(Error::Argument { name: "namespace", .. })));
}
