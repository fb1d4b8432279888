//! Keys of records in the evidence graph.

use std::fmt;

use super::{CLAIM_PATH, Edge, EvidenceRecord, FRAGMENT_PATH, NodeType, Relation};

/// The key of a record within its namespace. A key has at most one record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EvidenceKey {
    /// A task, by its identifier.
    Task(String),
    /// A work, by its identifier.
    Work(String),
    /// A page, by its identifier.
    Page(String),
    /// A fragment, by its identifier.
    Fragment(String),
    /// A claim, by its identifier.
    Claim(String),
    /// An edge, by its ends and its kind.
    Edge {
        /// The start of the edge.
        source: (NodeType, String),
        /// The end of the edge.
        target: (NodeType, String),
        /// The kind of the edge.
        kind: EdgeKind,
    },
}

/// The kind of an edge. Two records have at most one edge of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// `origin`.
    Origin,
    /// A fragment's stance: `supports`, `refutes` or `neutral`.
    Stance,
    /// `cites`.
    Cites,
}

impl EvidenceKey {
    /// Returns the key of the record whose document has this path ([`EvidenceRecord::path`]); `None` for other paths.
    pub fn of_path(path: &str) -> Option<EvidenceKey> {
        let fragment = path.strip_prefix(FRAGMENT_PATH).map(|id| EvidenceKey::Fragment(id.to_owned()));
        fragment.or_else(|| path.strip_prefix(CLAIM_PATH).map(|id| EvidenceKey::Claim(id.to_owned())))
    }

    /// Returns the key of a record that an edge can start from or lead to.
    pub fn node(kind: NodeType, id: impl Into<String>) -> EvidenceKey {
        let id = id.into();
        match kind {
            NodeType::Fragment => EvidenceKey::Fragment(id),
            NodeType::Claim => EvidenceKey::Claim(id),
            NodeType::Page => EvidenceKey::Page(id),
            NodeType::Work => EvidenceKey::Work(id),
        }
    }
}

impl EvidenceRecord {
    /// Returns the key of the record.
    pub fn key(&self) -> EvidenceKey {
        match self {
            EvidenceRecord::Task(task) => EvidenceKey::Task(task.id.clone()),
            EvidenceRecord::Work(work) => EvidenceKey::Work(work.id.clone()),
            EvidenceRecord::Page(page) => EvidenceKey::Page(page.id.clone()),
            EvidenceRecord::Fragment(fragment) => EvidenceKey::Fragment(fragment.id.clone()),
            EvidenceRecord::Claim(claim) => EvidenceKey::Claim(claim.id.clone()),
            EvidenceRecord::Edge(edge) => EvidenceKey::Edge {
                source: (edge.source_type, edge.source_id.clone()),
                target: (edge.target_type, edge.target_id.clone()),
                kind: edge.relation.kind(),
            },
        }
    }

    /// Returns the keys of the records that this one needs.
    pub fn refers_to(&self) -> Vec<EvidenceKey> {
        match self {
            EvidenceRecord::Task(_) | EvidenceRecord::Work(_) => Vec::new(),
            EvidenceRecord::Page(page) => page.work_id.iter().cloned().map(EvidenceKey::Work).collect(),
            EvidenceRecord::Fragment(fragment) => vec![EvidenceKey::Page(fragment.page_id.clone())],
            EvidenceRecord::Claim(claim) => vec![EvidenceKey::Task(claim.task_id.clone())],
            EvidenceRecord::Edge(Edge { source_type, source_id, target_type, target_id, .. }) => vec![
                EvidenceKey::node(*source_type, source_id.as_str()),
                EvidenceKey::node(*target_type, target_id.as_str()),
            ],
        }
    }
}

impl Relation {
    /// Returns the kind of an edge with this relation.
    pub fn kind(self) -> EdgeKind {
        match self {
            Relation::Origin => EdgeKind::Origin,
            Relation::Cites => EdgeKind::Cites,
            Relation::Supports | Relation::Refutes | Relation::Neutral => EdgeKind::Stance,
        }
    }
}

impl fmt::Display for EvidenceKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvidenceKey::Task(id) => write!(formatter, "task {id:?}"),
            EvidenceKey::Work(id) => write!(formatter, "work {id:?}"),
            EvidenceKey::Page(id) => write!(formatter, "page {id:?}"),
            EvidenceKey::Fragment(id) => write!(formatter, "fragment {id:?}"),
            EvidenceKey::Claim(id) => write!(formatter, "claim {id:?}"),
            EvidenceKey::Edge { source: (from, source), target: (to, target), kind } => {
                let name = match kind {
                    EdgeKind::Origin => "origin edge",
                    EdgeKind::Stance => "stance",
                    EdgeKind::Cites => "cites edge",
                };
                write!(formatter, "{name} from {from} {source:?} to {to} {target:?}")
            }
        }
    }
}
