//! The evidence graph: tasks ask, claims answer, fragments of pages support or refute claims, and pages belong to works that
//! cite each other.
//!
//! The fields of the records are the columns that SQL reads, and the keys of the JSON Lines for import and export.

mod address;
mod key;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use address::domain;
pub use key::{EdgeKind, EvidenceKey};

/// The collection of the documents of fragments and claims.
pub const EVIDENCE_COLLECTION: &str = "evidence";

/// The prefix of the path of a fragment's document.
pub(crate) const FRAGMENT_PATH: &str = "fragment:";
/// The prefix of the path of a claim's document.
pub(crate) const CLAIM_PATH: &str = "claim:";

/// The most bytes of a record's text, because SQL must be able to read it as one value.
pub const LONGEST_EVIDENCE_TEXT: usize = 32 * 1024;

/// One record of the graph, which is one line of a file of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum EvidenceRecord {
    /// A question under research.
    Task(Task),
    /// A publication, on whichever pages it appears.
    Work(Work),
    /// A page that was read.
    Page(Page),
    /// A piece of a page's text.
    Fragment(Fragment),
    /// A statement that may be true or false.
    Claim(Claim),
    /// A relation between two records.
    Edge(Edge),
}

/// A question under research.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Its identifier, unique among tasks.
    pub id: String,
    /// The question.
    pub question: String,
    /// Its status, in free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The time of asking: RFC 3339, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
}

/// A publication.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Its identifier, unique among works.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its authors. In SQL a JSON array.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// The year of publication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    /// The venue of publication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venue: Option<String>,
    /// Its DOI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    /// The number of citations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation_count: Option<u32>,
}

/// A page that was read. Its `domain`, in SQL, is the host of the address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Its identifier, unique among pages.
    pub id: String,
    /// Its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The work on the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_id: Option<String>,
    /// The time of publication: RFC 3339, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
    /// The time of reading: RFC 3339, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched_at: Option<String>,
}

/// A piece of a page's text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fragment {
    /// Its identifier, unique among fragments.
    pub id: String,
    /// The page it comes from.
    pub page_id: String,
    /// Its text, at most [`LONGEST_EVIDENCE_TEXT`] bytes.
    pub text: String,
    /// The headings above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Its position on the page, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// The time of extraction: RFC 3339, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
}

/// A statement that may be true or false.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its identifier, unique among claims.
    pub id: String,
    /// The task that it answers.
    pub task_id: String,
    /// Its text, at most [`LONGEST_EVIDENCE_TEXT`] bytes.
    pub text: String,
    /// The type of statement, in free text.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub claim_type: Option<String>,
    /// The author's confidence, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The status of its examination, in free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The time of writing: RFC 3339, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
}

/// A relation between two records, identified by source, target and relation. A fragment has at most one of `supports`,
/// `refutes` and `neutral` to a claim; a new one replaces it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The type of its start: a fragment, or for `cites` a page or a work.
    pub source_type: NodeType,
    /// The identifier of its start.
    pub source_id: String,
    /// The type of its end: a claim, or for `cites` a page or a work.
    pub target_type: NodeType,
    /// The identifier of its end.
    pub target_id: String,
    /// The relation of the start to the end.
    pub relation: Relation,
    /// The confidence in the relation, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nli_edge_confidence: Option<f64>,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The time of drawing: RFC 3339, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
}

/// The type of a record that an edge can start from or lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeType {
    /// A [`Fragment`].
    Fragment,
    /// A [`Claim`].
    Claim,
    /// A [`Page`].
    Page,
    /// A [`Work`].
    Work,
}

/// The relation of an edge's source to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The claim was taken from the fragment.
    Origin,
    /// The fragment supports the claim.
    Supports,
    /// The fragment refutes the claim.
    Refutes,
    /// The fragment concerns the claim and does neither, or is not judged yet.
    Neutral,
    /// The page or work cites the other one.
    Cites,
}

impl EvidenceRecord {
    /// Returns the path of its document, `fragment:ID` or `claim:ID`; `None` for records without one.
    pub fn path(&self) -> Option<String> {
        match self {
            EvidenceRecord::Fragment(fragment) => Some(Fragment::path(&fragment.id)),
            EvidenceRecord::Claim(claim) => Some(Claim::path(&claim.id)),
            _ => None,
        }
    }
}

impl Fragment {
    /// Returns the path of the document of the fragment with this identifier.
    pub fn path(id: &str) -> String {
        format!("{FRAGMENT_PATH}{id}")
    }
}

impl Claim {
    /// Returns the path of the document of the claim with this identifier.
    pub fn path(id: &str) -> String {
        format!("{CLAIM_PATH}{id}")
    }
}

impl NodeType {
    /// All values.
    pub const ALL: [NodeType; 4] = [NodeType::Fragment, NodeType::Claim, NodeType::Page, NodeType::Work];

    /// Returns the name in JSON and SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            NodeType::Fragment => "fragment",
            NodeType::Claim => "claim",
            NodeType::Page => "page",
            NodeType::Work => "work",
        }
    }

    /// Returns the value with this name.
    pub fn named(name: &str) -> Option<NodeType> {
        NodeType::ALL.into_iter().find(|node| node.as_str() == name)
    }
}

impl Relation {
    /// All values.
    pub const ALL: [Relation; 5] =
        [Relation::Origin, Relation::Supports, Relation::Refutes, Relation::Neutral, Relation::Cites];

    /// Returns the name in JSON and SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Relation::Origin => "origin",
            Relation::Supports => "supports",
            Relation::Refutes => "refutes",
            Relation::Neutral => "neutral",
            Relation::Cites => "cites",
        }
    }

    /// Returns the value with this name.
    pub fn named(name: &str) -> Option<Relation> {
        Relation::ALL.into_iter().find(|relation| relation.as_str() == name)
    }

    /// Returns `true` if it can connect these types: `cites` connects pages and works, all others lead from a fragment
    /// to a claim.
    pub fn leads(self, source: NodeType, target: NodeType) -> bool {
        let cites = |node: NodeType| matches!(node, NodeType::Page | NodeType::Work);
        match self {
            Relation::Cites => cites(source) && cites(target),
            _ => source == NodeType::Fragment && target == NodeType::Claim,
        }
    }

    /// Returns `true` for a fragment's stance on a claim, of which there is at most one.
    pub fn is_stance(self) -> bool {
        matches!(self, Relation::Supports | Relation::Refutes | Relation::Neutral)
    }
}

impl fmt::Display for NodeType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
