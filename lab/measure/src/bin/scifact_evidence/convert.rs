//! SciFact's claims and abstracts as evidence records.
//!
//! | SciFact | record |
//! | --- | --- |
//! | all of it | one task, `scifact` |
//! | a claim | a claim with its number |
//! | an abstract that a claim cites | a work and its page, both with the abstract's number |
//! | a rationale: the sentences of one abstract that together decide a claim | a fragment `ABSTRACT:SENTENCE,…` |
//! | the label of a rationale | an edge from it: SUPPORT is `supports`, CONTRADICT is `refutes` |
//! | an abstract that a claim cites and that has no rationale for it | a fragment `ABSTRACT`, whole, with a `neutral` edge |
//!
//! The unit of an edge is a claim and a rationale, like that of the labels in the file: there are as many `supports` as
//! labels SUPPORT and as many `refutes` as labels CONTRADICT (832 and 463 in all 1,109 claims), and as many `neutral`
//! as pairs of a claim and a cited abstract without a label (485; one claim cites an abstract twice). No fragment takes
//! two stands on a claim, since no rationale is labelled twice. SciFact says nothing about citations between abstracts
//! or origins of claims.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use tamis::evidence::{Claim, Edge, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work};

/// The task that all claims belong to.
pub const TASK: &str = "scifact";

/// A line of `claims.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct ScifactClaim {
    pub id: String,
    pub claim: String,
    pub cited_doc_ids: Vec<String>,
    pub evidence: Vec<Rationale>,
}

/// Sentences of an abstract that together decide a claim.
#[derive(Clone, Debug, Deserialize)]
pub struct Rationale {
    pub doc_id: String,
    pub label: String,
    pub sentences: Vec<usize>,
}

/// A line of `corpus.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct Abstract {
    #[serde(rename = "_id")]
    pub id: String,
    pub title: String,
    pub metadata: Sentences,
}

/// The division of an abstract into sentences.
#[derive(Clone, Debug, Deserialize)]
pub struct Sentences {
    pub sentences: Vec<String>,
}

/// The lines of a file.
pub fn lines<T: for<'de> Deserialize<'de>>(text: &str) -> Result<Vec<T>, serde_json::Error> {
    text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
}

/// The records, in the order of an export.
pub fn convert(claims: &[ScifactClaim], corpus: &[Abstract]) -> Result<Vec<EvidenceRecord>, String> {
    let corpus: BTreeMap<&str, &Abstract> = corpus.iter().map(|one| (one.id.as_str(), one)).collect();
    let found =
        |id: &str| corpus.get(id).copied().ok_or_else(|| format!("abstract {id} is cited and not in the corpus"));
    let question =
        "Which of these claims do the abstracts that they cite support, and which do they refute?".to_owned();
    let task = Task { id: TASK.into(), question, ..Task::default() };
    let mut records = BTreeMap::new();
    let mut add = |record: EvidenceRecord| records.insert(record.key(), record);
    add(EvidenceRecord::Task(task));
    for claim in claims {
        let ScifactClaim { id, claim: text, cited_doc_ids, evidence } = claim;
        add(EvidenceRecord::Claim(Claim {
            id: id.clone(),
            task_id: TASK.into(),
            text: text.clone(),
            ..Claim::default()
        }));
        let decided: BTreeSet<&str> = evidence.iter().map(|rationale| rationale.doc_id.as_str()).collect();
        let cited: BTreeSet<&str> = cited_doc_ids.iter().map(String::as_str).collect();
        for &id in cited.union(&decided) {
            let title = found(id)?.title.clone();
            add(EvidenceRecord::Work(Work { id: id.into(), title: title.clone(), ..Work::default() }));
            let page = Page { id: id.into(), title: Some(title), work_id: Some(id.into()), ..Page::default() };
            add(EvidenceRecord::Page(page));
        }
        for rationale in evidence {
            let relation = match rationale.label.as_str() {
                "SUPPORT" => Relation::Supports,
                "CONTRADICT" => Relation::Refutes,
                other => return Err(format!("claim {id}: the label {other:?} is neither SUPPORT nor CONTRADICT")),
            };
            let fragment = passage(found(&rationale.doc_id)?, Some(&rationale.sentences))?;
            add(edge(&fragment.id, relation, id));
            add(EvidenceRecord::Fragment(fragment));
        }
        for &unlabelled in cited.difference(&decided) {
            let fragment = passage(found(unlabelled)?, None)?;
            add(edge(&fragment.id, Relation::Neutral, id));
            add(EvidenceRecord::Fragment(fragment));
        }
    }
    Ok(records.into_values().collect())
}

/// Some sentences of an abstract, or all.
fn passage(of: &Abstract, numbers: Option<&[usize]>) -> Result<Fragment, String> {
    let all = &of.metadata.sentences;
    let mut numbers: Vec<usize> = numbers.map_or_else(|| (0..all.len()).collect(), <[usize]>::to_vec);
    numbers.sort_unstable();
    let sentence = |number: &usize| {
        let sentence = all.get(*number).ok_or_else(|| format!("abstract {} has no sentence {number}", of.id))?;
        Ok(sentence.trim())
    };
    let text = numbers.iter().map(sentence).collect::<Result<Vec<&str>, String>>()?.join(" ");
    let id = match numbers.len() == all.len() {
        true => of.id.clone(),
        false => {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            format!("{}:{}", of.id, numbers.join(","))
        }
    };
    let position = numbers.first().and_then(|first| u32::try_from(*first).ok());
    Ok(Fragment { id, page_id: of.id.clone(), text, position, ..Fragment::default() })
}

fn edge(fragment: &str, relation: Relation, claim: &str) -> EvidenceRecord {
    EvidenceRecord::Edge(Edge {
        source_type: NodeType::Fragment,
        source_id: fragment.to_owned(),
        target_type: NodeType::Claim,
        target_id: claim.to_owned(),
        relation,
        nli_edge_confidence: None,
        note: None,
        created_at: None,
    })
}
