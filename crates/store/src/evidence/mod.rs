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
#[cfg_attr(feature = "clap", derive(clap::Subcommand))]
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
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Task {
    /// Identifier, unique among tasks.
    #[cfg_attr(feature = "clap", arg(long))]
    pub id: String,
    /// The question.
    #[cfg_attr(feature = "clap", arg(long))]
    pub question: String,
    /// Status of the work on it, in free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub status: Option<String>,
    /// Time of asking: a date or a time (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub created_at: Option<String>,
}

/// A publication.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Work {
    /// Identifier, unique among works.
    #[cfg_attr(feature = "clap", arg(long))]
    pub id: String,
    /// Title.
    #[cfg_attr(feature = "clap", arg(long))]
    pub title: String,
    /// Author, each by itself; a JSON array in SQL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "clap", arg(long = "author", value_name = "AUTHOR"))]
    pub authors: Vec<String>,
    /// Year of publication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, allow_negative_numbers = true))]
    pub year: Option<i64>,
    /// Journal, conference or publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub venue: Option<String>,
    /// DOI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub doi: Option<String>,
    /// Number of citations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COUNT"))]
    pub citation_count: Option<u32>,
}

/// A page that was read. Its `domain`, in SQL, is the host of the address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Page {
    /// Identifier, unique among pages.
    #[cfg_attr(feature = "clap", arg(long))]
    pub id: String,
    /// Address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub url: Option<String>,
    /// Title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub title: Option<String>,
    /// Work that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub work_id: Option<String>,
    /// Time of publication: a date or a time (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub published_at: Option<String>,
    /// Time of reading: a date or a time (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub fetched_at: Option<String>,
}

/// A piece of a page's text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Fragment {
    /// Identifier, unique among fragments.
    #[cfg_attr(feature = "clap", arg(long))]
    pub id: String,
    /// Page that it comes from.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub page_id: String,
    /// Text, at most 32 KiB.
    #[cfg_attr(feature = "clap", arg(long))]
    pub text: String,
    /// Headings above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub heading: Option<String>,
    /// Position on the page, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub position: Option<u32>,
    /// Time of the excerpt: a date or a time (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub created_at: Option<String>,
}

/// A statement that may be true or false.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Claim {
    /// Identifier, unique among claims.
    #[cfg_attr(feature = "clap", arg(long))]
    pub id: String,
    /// Task that it belongs to.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub task_id: String,
    /// Text, at most 32 KiB.
    #[cfg_attr(feature = "clap", arg(long))]
    pub text: String,
    /// Type of statement, in free text.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long = "type", value_name = "TYPE"))]
    pub claim_type: Option<String>,
    /// Confidence of its author, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub confidence: Option<f64>,
    /// Status of the work on it, in free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub status: Option<String>,
    /// Time of the statement: a date or a time (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub created_at: Option<String>,
}

/// A relation between two records, identified by source, target and relation. A fragment has at most one of `supports`,
/// `refutes` and `neutral` to a claim; a new one replaces it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Edge {
    /// Type of its source: fragment, or page or work of a citation.
    #[cfg_attr(feature = "clap", arg(long, value_name = "TYPE", default_value = "fragment"))]
    pub source_type: NodeType,
    /// Identifier of its source.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub source_id: String,
    /// Type of its target: claim, or page or work of a citation.
    #[cfg_attr(feature = "clap", arg(long, value_name = "TYPE", default_value = "claim"))]
    pub target_type: NodeType,
    /// Identifier of its target.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub target_id: String,
    /// Relation of the source to the target.
    #[cfg_attr(feature = "clap", arg(long))]
    pub relation: Relation,
    /// Confidence in the relation, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "CONFIDENCE"))]
    pub nli_edge_confidence: Option<f64>,
    /// Remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long))]
    pub note: Option<String>,
    /// Time of the judgement: a date or a time (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub created_at: Option<String>,
}

/// The type of a record that an edge can start from or lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum NodeType {
    /// A fragment.
    Fragment,
    /// A claim.
    Claim,
    /// A page.
    Page,
    /// A work.
    Work,
}

/// The relation of an edge's source to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
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
