//! SciFact as a graph, if `TAMIS_TEST_DATA` has it: the import agrees with a direct count of the file.

#[path = "../../../../../lab/measure/src/bin/scifact_evidence/convert.rs"]
mod convert;

use crate::support::Tree;
use convert::{Abstract, ScifactClaim, TASK, convert, lines};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use tamis::RunOptions;
use tamis::evidence::{EvidenceImport, EvidenceRecord, Relation};

#[test]
fn scifact_is_imported_with_its_labels() {
    let Some(data) = std::env::var_os("TAMIS_TEST_DATA") else {
        let _ = writeln!(std::io::stderr(), "skipped the evidence of a test collection: TAMIS_TEST_DATA is not set");
        return;
    };
    let read = |name: &str| std::fs::read_to_string(Path::new(&data).join("data/scifact").join(name)).expect("a file");
    let claims: Vec<ScifactClaim> = lines(&read("claims.jsonl")).expect("claims");
    let corpus: Vec<Abstract> = lines(&read("corpus.jsonl")).expect("abstracts");
    let records = convert(&claims, &corpus).expect("converted");
    let tree = Tree::new(&[]);
    let index = tree.open(&[]);
    let import = EvidenceImport::new("scifact", records.clone());
    let summary = index.evidence().import(&import, &()).expect("imported");
    assert_eq!((summary.counts.added, summary.bad.len()), (records.len() as u64, 0));
    assert_eq!(index.evidence().records(None).expect("exported"), records);

    // By relation.
    let labels = |label: &str| {
        claims.iter().flat_map(|claim| &claim.evidence).filter(|rationale| rationale.label == label).count() as u64
    };
    let cited: usize = claims.iter().map(|claim| claim.cited_doc_ids.iter().collect::<BTreeSet<_>>().len()).sum();
    let documents = claims.iter().map(|it| it.evidence.iter().map(|one| &one.doc_id).collect::<BTreeSet<_>>());
    let decided: usize = documents.map(|documents| documents.len()).sum();
    let found = index.evidence().summary(None, Some(TASK)).expect("counted");
    assert_eq!((found.supporting, found.refuting), (labels("SUPPORT"), labels("CONTRADICT")));
    assert_eq!(found.neutral, (cited - decided) as u64);
    assert_eq!((found.supporting, found.refuting, found.neutral), (832, 463, 485), "of all of SciFact");
    assert_eq!((found.claims, found.tasks), (claims.len() as u64, 1));
    let abstracts: BTreeSet<_> = claims.iter().flat_map(|claim| &claim.cited_doc_ids).collect();
    assert_eq!((found.pages, found.works), (abstracts.len() as u64, abstracts.len() as u64));

    // By claim.
    let mut by_claim: BTreeMap<(String, Relation), usize> = BTreeMap::new();
    for record in index.evidence().records(None).expect("exported") {
        if let EvidenceRecord::Edge(edge) = record {
            *by_claim.entry((edge.target_id, edge.relation)).or_default() += 1;
        }
    }
    for claim in &claims {
        let stands = |relation| by_claim.get(&(claim.id.clone(), relation)).copied().unwrap_or_default();
        let labelled = |label: &str| claim.evidence.iter().filter(|rationale| rationale.label == label).count();
        assert_eq!(stands(Relation::Supports), labelled("SUPPORT"), "claim {}", claim.id);
        assert_eq!(stands(Relation::Refutes), labelled("CONTRADICT"), "claim {}", claim.id);
        let unlabelled = claim.cited_doc_ids.iter().collect::<BTreeSet<_>>().into_iter();
        let unlabelled = unlabelled.filter(|id| claim.evidence.iter().all(|rationale| rationale.doc_id != **id));
        assert_eq!(stands(Relation::Neutral), unlabelled.count(), "claim {}", claim.id);
    }

    // The same import again does nothing.
    let again = index.evidence().import(&import, &()).expect("imported");
    assert_eq!((again.counts.unchanged, again.counts.passages), (records.len() as u64, 0));
    let run = index.complete(RunOptions::WHOLE, &()).expect("embedded");
    assert!(run.embedding.embedded.get("static").is_some_and(|texts| *texts > 1_000), "{:?}", run.embedding.embedded);
    let again = index.complete(RunOptions::WHOLE, &()).expect("done").embedding;
    assert_eq!(again.embedded.len(), 0, "nothing is embedded twice");
}
