//! Flags of `tamis evidence`.

use super::evidence_find::{EvidenceRankArguments, EvidenceSearchArguments};
use super::{SqlArguments, ViewArguments, ViewsArguments};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use tamis::evidence::{Claim, Edge, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work};

/// Flags of `tamis evidence`.
#[derive(Debug, Args)]
#[command(subcommand_value_name = "ACTION", subcommand_help_heading = "Actions")]
pub struct EvidenceArguments {
    /// The action.
    #[command(subcommand)]
    pub action: EvidenceAction,
}

/// An action on the evidence graph.
#[derive(Debug, Subcommand)]
pub enum EvidenceAction {
    /// Add one record, or replace it; searches find it at once
    Add(Box<EvidenceAddArguments>),
    /// List the fragments about a claim, best first, until a cut ends the list
    Rank(EvidenceRankArguments),
    /// Find the claims or fragments closest to a text, by meaning alone
    Search(EvidenceSearchArguments),
    /// Write all records as JSON Lines, which `tamis import evidence` reads
    Export(EvidenceExportArguments),
    /// Query the evidence graph in SQL
    Sql(SqlArguments),
    /// List the named queries
    Views(ViewsArguments),
    /// Run a named query
    View(ViewArguments),
}

/// Flags of `tamis evidence export`.
#[derive(Debug, Args)]
pub struct EvidenceExportArguments {
    /// File to write in place of standard output; an existing file is replaced
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Export this namespace, in place of the current one
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
}

/// Flags of `tamis evidence add`.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "RECORD",
    subcommand_help_heading = "Records",
    after_help = "\
Examples:
  tamis evidence add task --id t1 --question \"Does folic acid help?\"
  tamis evidence add page --id p1 --url https://example.org/trial --title \"A trial\"
  tamis evidence add fragment --id f1 --page-id p1 --text \"Folic acid lowered the risk by a third.\"
  tamis evidence add claim --id c1 --task-id t1 --text \"Folic acid helps.\"
  tamis evidence add edge --source-id f1 --target-id c1 --relation supports --nli-edge-confidence 0.9

A record replaces the whole record of the same name: a flag that you leave out empties its field."
)]
pub struct EvidenceAddArguments {
    /// The record.
    #[command(subcommand)]
    pub record: EvidenceRecordArguments,
    /// Add it to this namespace in place of the current one; a new one is made
    #[arg(long, value_name = "NAME", global = true)]
    pub namespace: Option<String>,
    /// Record this origin, by which `tamis import --remove` removes it again
    #[arg(long, value_name = "ORIGIN", global = true, default_value = "evidence add")]
    pub origin: String,
    /// Print what was done as JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// One record.
#[derive(Debug, Clone, Subcommand)]
pub enum EvidenceRecordArguments {
    /// Add a question to investigate
    Task {
        /// Name, unique among tasks
        #[arg(long)]
        id: String,
        /// The question
        #[arg(long)]
        question: String,
        /// Status of the work on it
        #[arg(long)]
        status: Option<String>,
        /// Time of asking: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        created_at: Option<String>,
    },
    /// Add a publication
    Work {
        /// Name, unique among works
        #[arg(long)]
        id: String,
        /// Title
        #[arg(long)]
        title: String,
        /// Author; repeatable
        #[arg(long = "author", value_name = "AUTHOR")]
        authors: Vec<String>,
        /// Year of publication
        #[arg(long, allow_negative_numbers = true)]
        year: Option<i64>,
        /// Journal, conference or publisher
        #[arg(long)]
        venue: Option<String>,
        /// DOI
        #[arg(long)]
        doi: Option<String>,
        /// Number of citations
        #[arg(long, value_name = "COUNT")]
        citation_count: Option<u32>,
    },
    /// Add a page that was read
    Page {
        /// Name, unique among pages
        #[arg(long)]
        id: String,
        /// Address
        #[arg(long)]
        url: Option<String>,
        /// Title
        #[arg(long)]
        title: Option<String>,
        /// Work that it belongs to
        #[arg(long, value_name = "ID")]
        work_id: Option<String>,
        /// Time of publication: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        published_at: Option<String>,
        /// Time of reading: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        fetched_at: Option<String>,
    },
    /// Add a piece of a page's text
    Fragment {
        /// Name, unique among fragments
        #[arg(long)]
        id: String,
        /// Page that it comes from
        #[arg(long, value_name = "ID")]
        page_id: String,
        /// Text
        #[arg(long)]
        text: String,
        /// Headings above it
        #[arg(long)]
        heading: Option<String>,
        /// Position on the page, from 0
        #[arg(long)]
        position: Option<u32>,
        /// Time of the excerpt: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        created_at: Option<String>,
    },
    /// Add a statement that may be true or false
    Claim {
        /// Name, unique among claims
        #[arg(long)]
        id: String,
        /// Task that it belongs to
        #[arg(long, value_name = "ID")]
        task_id: String,
        /// The statement
        #[arg(long)]
        text: String,
        /// Type of statement
        #[arg(long = "type", value_name = "TYPE")]
        claim_type: Option<String>,
        /// Confidence of its author, from 0 to 1
        #[arg(long)]
        confidence: Option<f64>,
        /// Status of the work on it
        #[arg(long)]
        status: Option<String>,
        /// Time of the statement: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        created_at: Option<String>,
    },
    /// Add a relation: of a fragment to a claim, or a citation
    Edge {
        /// Type of its source: fragment, page or work
        #[arg(long, value_name = "TYPE", default_value = "fragment", value_parser = node)]
        source_type: NodeType,
        /// Name of its source
        #[arg(long, value_name = "ID")]
        source_id: String,
        /// Type of its target: claim, page or work
        #[arg(long, value_name = "TYPE", default_value = "claim", value_parser = node)]
        target_type: NodeType,
        /// Name of its target
        #[arg(long, value_name = "ID")]
        target_id: String,
        /// Relation: origin, supports, refutes, neutral or cites
        #[arg(long, value_parser = relation)]
        relation: Relation,
        /// Confidence of the judgement, from 0 to 1
        #[arg(long, value_name = "CONFIDENCE")]
        nli_edge_confidence: Option<f64>,
        /// Remark
        #[arg(long)]
        note: Option<String>,
        /// Time of the judgement: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        created_at: Option<String>,
    },
}

impl EvidenceRecordArguments {
    /// The record in the graph's own form.
    pub fn record(&self) -> EvidenceRecord {
        match self.clone() {
            Self::Task { id, question, status, created_at } => {
                EvidenceRecord::Task(Task { id, question, status, created_at })
            }
            Self::Work { id, title, authors, year, venue, doi, citation_count } => {
                EvidenceRecord::Work(Work { id, title, authors, year, venue, doi, citation_count })
            }
            Self::Page { id, url, title, work_id, published_at, fetched_at } => {
                EvidenceRecord::Page(Page { id, url, title, work_id, published_at, fetched_at })
            }
            Self::Fragment { id, page_id, text, heading, position, created_at } => {
                EvidenceRecord::Fragment(Fragment { id, page_id, text, heading, position, created_at })
            }
            Self::Claim { id, task_id, text, claim_type, confidence, status, created_at } => {
                EvidenceRecord::Claim(Claim { id, task_id, text, claim_type, confidence, status, created_at })
            }
            Self::Edge {
                source_type,
                source_id,
                target_type,
                target_id,
                relation,
                nli_edge_confidence,
                note,
                created_at,
            } => EvidenceRecord::Edge(Edge {
                source_type,
                source_id,
                target_type,
                target_id,
                relation,
                nli_edge_confidence,
                note,
                created_at,
            }),
        }
    }
}

fn node(name: &str) -> Result<NodeType, String> {
    let names = || NodeType::ALL.map(NodeType::as_str).join(", ");
    NodeType::named(name).ok_or_else(|| format!("must be one of {}", names()))
}

fn relation(name: &str) -> Result<Relation, String> {
    let names = || Relation::ALL.map(Relation::as_str).join(", ");
    Relation::named(name).ok_or_else(|| format!("must be one of {}", names()))
}
