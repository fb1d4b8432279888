//! Views through the store and its guard. What they count is tested beside them, on graphs counted by hand.

use crate::evidence::graph::subjects;
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
        let value = |name: &str| match name {
            "now" => "2026-01-01",
            "relation" => "supports",
            "max_steps" => "2",
            _ => "1",
        };
        let names = view.parameters.iter().map(|parameter| parameter.name.as_str());
        let given: Vec<(&str, &str)> = names.map(|name| (name, value(name))).collect();
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
