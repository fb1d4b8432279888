//! Flags of `tamis evidence`.

use super::evidence_find::{EvidenceRankArguments, EvidenceSearchArguments};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use tamis::evidence::{Claim, Edge, EvidenceRecord, Fragment, NodeType, Page, Relation, Task, Work};

/// Flags of `tamis evidence`.
#[derive(Debug, Args)]
#[command(subcommand_value_name = "ACTION", subcommand_help_heading = "Actions")]
pub struct EvidenceArguments {
    /// What to do.
    #[command(subcommand)]
    pub action: EvidenceAction,
}

/// What to do with evidence.
#[derive(Debug, Subcommand)]
pub enum EvidenceAction {
    /// Add one record, or replace it; found at once
    Add(Box<EvidenceAddArguments>),
    /// Find the fragments that have to do with a claim: words propose, similarity orders, a cut ends the list
    Rank(EvidenceRankArguments),
    /// Find the claims or fragments that are like a text, by meaning alone
    Search(EvidenceSearchArguments),
    /// Give back all records as JSON Lines, as `tamis import evidence` reads them
    Export(EvidenceExportArguments),
}

/// Flags of `tamis evidence export`.
#[derive(Debug, Args)]
pub struct EvidenceExportArguments {
    /// The file to write, in place of standard output; one that is there is replaced
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The namespace whose evidence is meant, in place of the one you stand in
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

A record takes the place of the one of the same name, whole: a flag that is left out empties its field."
)]
pub struct EvidenceAddArguments {
    /// The record.
    #[command(subcommand)]
    pub record: EvidenceRecordArguments,
    /// The namespace it goes to, in place of the one you stand in; a new one is made
    #[arg(long, value_name = "NAME", global = true)]
    pub namespace: Option<String>,
    /// Where it comes from, by which it can be taken out again
    #[arg(long, value_name = "ORIGIN", global = true, default_value = "evidence add")]
    pub origin: String,
    /// Print what was done as JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// One record.
#[derive(Debug, Clone, Subcommand)]
pub enum EvidenceRecordArguments {
    /// A question that is looked into
    Task {
        /// Its name, unique among tasks
        #[arg(long)]
        id: String,
        /// What is asked
        #[arg(long)]
        question: String,
        /// How far it is
        #[arg(long)]
        status: Option<String>,
        /// When it was asked: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        created_at: Option<String>,
    },
    /// A publication
    Work {
        /// Its name, unique among works
        #[arg(long)]
        id: String,
        /// Its title
        #[arg(long)]
        title: String,
        /// Who wrote it; several times for several
        #[arg(long = "author", value_name = "AUTHOR")]
        authors: Vec<String>,
        /// The year it came out
        #[arg(long, allow_negative_numbers = true)]
        year: Option<i64>,
        /// Where it came out
        #[arg(long)]
        venue: Option<String>,
        /// Its DOI
        #[arg(long)]
        doi: Option<String>,
        /// How often it is cited
        #[arg(long, value_name = "COUNT")]
        citation_count: Option<u32>,
    },
    /// A page that was read
    Page {
        /// Its name, unique among pages
        #[arg(long)]
        id: String,
        /// Its address
        #[arg(long)]
        url: Option<String>,
        /// Its title
        #[arg(long)]
        title: Option<String>,
        /// The work that it is of
        #[arg(long, value_name = "ID")]
        work_id: Option<String>,
        /// When it was published: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        published_at: Option<String>,
        /// When it was read: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        fetched_at: Option<String>,
    },
    /// A piece of a page's text
    Fragment {
        /// Its name, unique among fragments
        #[arg(long)]
        id: String,
        /// The page that it is from
        #[arg(long, value_name = "ID")]
        page_id: String,
        /// Its text
        #[arg(long)]
        text: String,
        /// The headings that it stands under
        #[arg(long)]
        heading: Option<String>,
        /// Its place on the page, from 0
        #[arg(long)]
        position: Option<u32>,
        /// When it was taken: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        created_at: Option<String>,
    },
    /// A statement that may be true or not
    Claim {
        /// Its name, unique among claims
        #[arg(long)]
        id: String,
        /// The task that it answers to
        #[arg(long, value_name = "ID")]
        task_id: String,
        /// What it says
        #[arg(long)]
        text: String,
        /// What sort of statement it is
        #[arg(long = "type", value_name = "TYPE")]
        claim_type: Option<String>,
        /// How sure whoever wrote it is, from 0 to 1
        #[arg(long)]
        confidence: Option<f64>,
        /// How far it is looked into
        #[arg(long)]
        status: Option<String>,
        /// When it was made: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        created_at: Option<String>,
    },
    /// How one record stands to another: a fragment to a claim, or with `--relation cites` a page or work to another
    Edge {
        /// What it starts from: fragment, page or work
        #[arg(long, value_name = "TYPE", default_value = "fragment", value_parser = node)]
        source_type: NodeType,
        /// Which one
        #[arg(long, value_name = "ID")]
        source_id: String,
        /// What it leads to: claim, page or work
        #[arg(long, value_name = "TYPE", default_value = "claim", value_parser = node)]
        target_type: NodeType,
        /// Which one
        #[arg(long, value_name = "ID")]
        target_id: String,
        /// What the first is to the second: origin, supports, refutes, neutral or cites
        #[arg(long, value_parser = relation)]
        relation: Relation,
        /// How sure whatever judged it is, from 0 to 1
        #[arg(long, value_name = "CONFIDENCE")]
        nli_edge_confidence: Option<f64>,
        /// A remark
        #[arg(long)]
        note: Option<String>,
        /// When it was drawn: a date or a time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        created_at: Option<String>,
    },
}

impl EvidenceRecordArguments {
    /// The record as the graph has it.
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
