//! What tells a record of the evidence graph from all others.

use std::fmt;

use super::{CLAIM_PATH, Edge, EvidenceRecord, FRAGMENT_PATH, NodeType, Relation};

/// What tells a record from all others of its namespace. Two records of one key can not be there together.
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
    /// An edge, by its ends and the place that it takes between them.
    Edge {
        /// What it starts from.
        source: (NodeType, String),
        /// What it leads to.
        target: (NodeType, String),
        /// The place that it takes.
        place: EdgePlace,
    },
}

/// A place between two records, which one edge can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgePlace {
    /// That of `origin`.
    Origin,
    /// That of a fragment's stand: `supports`, `refutes` or `neutral`.
    Stand,
    /// That of `cites`.
    Cites,
}

impl EvidenceKey {
    /// The key of the record whose document has this path ([`EvidenceRecord::path`]), where one could.
    pub fn of_path(path: &str) -> Option<EvidenceKey> {
        let fragment = path.strip_prefix(FRAGMENT_PATH).map(|id| EvidenceKey::Fragment(id.to_owned()));
        fragment.or_else(|| path.strip_prefix(CLAIM_PATH).map(|id| EvidenceKey::Claim(id.to_owned())))
    }

    /// The key of a record that an edge can start from or lead to.
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
    /// What tells it from all others of its namespace.
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
                place: edge.relation.place(),
            },
        }
    }

    /// What must be there for it to be.
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
    /// The place that an edge of it takes.
    pub fn place(self) -> EdgePlace {
        match self {
            Relation::Origin => EdgePlace::Origin,
            Relation::Cites => EdgePlace::Cites,
            Relation::Supports | Relation::Refutes | Relation::Neutral => EdgePlace::Stand,
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
            EvidenceKey::Edge { source: (from, source), target: (to, target), place } => {
                let name = match place {
                    EdgePlace::Origin => "origin edge",
                    EdgePlace::Stand => "stand",
                    EdgePlace::Cites => "cites edge",
                };
                write!(formatter, "{name} from {from} {source:?} to {to} {target:?}")
            }
        }
    }
}
