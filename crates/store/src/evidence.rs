//! The evidence graph: tasks ask, claims answer, fragments of pages support or refute claims, and pages belong to works that
//! cite each other.
//!
//! The fields of the records are the columns that SQL reads, and the keys of the JSON Lines for import and export.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::names;

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

#[cfg(feature = "clap")]
fn whole(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "must be a whole number")
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
    #[cfg_attr(feature = "clap", arg(long, allow_negative_numbers = true, value_parser = whole))]
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

names!(NodeType { Fragment = "fragment", Claim = "claim", Page = "page", Work = "work" });
names!(Relation {
    Origin = "origin",
    Supports = "supports",
    Refutes = "refutes",
    Neutral = "neutral",
    Cites = "cites",
});

impl Relation {
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

/// Returns the host of a URL in lower case, without its port and without a leading `www.`: `example.org` for
/// `https://www.Example.org:8080/a?b`; `None` for a text without a host, such as a DOI or a path.
///
/// Only the parts of RFC 3986, section 3 up to the host are parsed, so that a URL that is malformed after its host, as many in
/// web pages are, has a domain too.
pub fn domain(url: &str) -> Option<String> {
    let (scheme, rest) = url.trim().split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|part| part.is_ascii_alphanumeric() || matches!(part, '+' | '-' | '.'));
    // Browsers treat a backslash as a slash.
    let authority = rest.split(['/', '?', '#', '\\']).next().filter(|_| is_scheme)?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(address) => address.split_once(']')?.0,
        None => host.split_once(':').map_or(host, |(host, _)| host),
    };
    let host = host.trim_end_matches('.').to_lowercase();
    let host = host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(&host);
    let fits = !host.is_empty() && !host.contains(|part: char| part.is_whitespace() || part.is_control());
    fits.then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::domain;

    #[test]
    fn hosts_are_found_and_written_alike() {
        let cases = [
            ("https://www.Example.org:8080/a?b=https://other.net", Some("example.org")),
            ("http://example.org", Some("example.org")),
            ("https://user:secret@docs.example.org./x", Some("docs.example.org")),
            ("https://example.org?q=1@evil.net", Some("example.org")),
            ("https://example.org#www.x", Some("example.org")),
            ("https://example.org\\@evil.net", Some("example.org")),
            ("https://[2001:DB8::1]:443/", Some("2001:db8::1")),
            ("https://de.wikipedia.org/wiki/Käse kuchen", Some("de.wikipedia.org")),
            ("https://Käse.example", Some("käse.example")),
            ("https://www.com/", Some("www.com")),
            ("https://www2.example.org", Some("www2.example.org")),
            ("ftp://files.example.org/a", Some("files.example.org")),
            ("  https://example.org/  ", Some("example.org")),
        ];
        let none = [
            "file:///etc/hosts", "10.1038/nature12373", "doi:10.1038/nature12373", "/a/b://c", "https://",
            "https://:80/", "https://[::1/", "https://a b.org/", "mailto:ada@example.org", "",
        ]
        .map(|text| (text, None));
        for (url, expected) in cases.into_iter().chain(none) {
            assert_eq!(domain(url).as_deref(), expected, "{url}");
        }
    }
}
