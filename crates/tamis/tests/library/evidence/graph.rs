//! A graph under construction.

use crate::support::Tree;
use tamis::evidence::{Claim, Edge, EvidenceImport, EvidenceRecord, Fragment, NodeType, Page, Relation, Task};
use tamis::{Index, RunOptions};

/// An edge from a node to another one.
pub fn edge(relation: Relation, source: (NodeType, String), target: (NodeType, String)) -> Edge {
    let ((source_type, source_id), (target_type, target_id)) = (source, target);
    let (nli_edge_confidence, note, created_at) = (Some(0.8), None, None);
    Edge { source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note, created_at }
}

/// Records, and an index of them with the quick model.
#[derive(Default)]
pub struct Graph(Vec<EvidenceRecord>);

impl Graph {
    pub fn claim(mut self, id: &str, task: &str, text: &str) -> Self {
        let task_id = task.to_owned();
        self.0.push(EvidenceRecord::Claim(Claim { id: id.into(), task_id, text: text.into(), ..Claim::default() }));
        let known = |record: &EvidenceRecord| matches!(record, EvidenceRecord::Task(known) if known.id == task);
        if !self.0.iter().any(known) {
            let question = format!("what of {task}?");
            self.0.push(EvidenceRecord::Task(Task { id: task.into(), question, ..Task::default() }));
        }
        self
    }

    /// Adds a fragment on a page of its own.
    pub fn fragment(mut self, id: &str, text: &str) -> Self {
        let page_id = format!("page of {id}");
        self.0.push(EvidenceRecord::Page(Page { id: page_id.clone(), ..Page::default() }));
        let fragment = Fragment { id: id.into(), page_id, text: text.into(), ..Fragment::default() };
        self.0.push(EvidenceRecord::Fragment(fragment));
        self
    }

    pub fn stand(mut self, fragment: &str, relation: Relation, claim: &str) -> Self {
        let ends = ((NodeType::Fragment, fragment.into()), (NodeType::Claim, claim.into()));
        self.0.push(EvidenceRecord::Edge(edge(relation, ends.0, ends.1)));
        self
    }

    pub fn index(self, settings: &[(&str, &str)]) -> (Tree, Index) {
        let tree = Tree::new(&[]);
        let index = tree.open(settings);
        index.evidence().import(&EvidenceImport::new("graph", self.0), &()).expect("imported");
        index.complete(RunOptions::WHOLE, &()).expect("embedded");
        (tree, index)
    }
}

/// Fragments on many subjects, which form a background.
pub fn subjects() -> Graph {
    crate::support::notes().iter().fold(Graph::default(), |graph, (path, text)| {
        graph.fragment(path.trim_end_matches(".md"), text.trim_start_matches("# On the "))
    })
}
