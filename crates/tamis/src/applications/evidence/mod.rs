//! The evidence graph: claims, the fragments of pages that support or contradict them, and their origins.
//!
//! `check` validates a record ([`EvidenceRecord`]) by itself, and `import` reads JSON Lines and makes a fragment or a claim
//! a document that searches find like any other. [`EvidenceGraph::import`] adds records.
//!
//! SQL statements read the graph ([`EvidenceGraph::query_sql`], `sql`); `views` are statements with a name. `search` finds claims or
//! fragments similar to a text, and the fragments relevant to a claim.

mod check;
mod import;
mod search;
mod sql;
mod views;

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use serde_json::json;
use tamis_store::domain;
use tamis_text::{Category, Document, Kind, Options, Role, read_statement};

use crate::Error;
use crate::file::write_file;
use crate::handle::Index;
use check::moment;

pub use import::{EvidenceImport, EvidenceLine};
pub use search::{
    EvidenceTarget, RankRequest, RankedClaim, RankedEvidence, RankedFragment, VectorMatch, VectorMatches,
    VectorSearchRequest,
};
pub use sql::{SqlAnswer, SqlLimits, SqlRequest};
pub use tamis_store::{
    Claim, Edge, EvidenceKey, EvidenceRecord, EvidenceSummary, Fragment, LONGEST_EVIDENCE_TEXT, LONGEST_SQL_TIME,
    MOST_SQL_BYTES, MOST_SQL_ROWS, NodeType, Page, Part, Problem, Relation, SQL_TABLES, SqlColumn, SqlQuery, SqlTable,
    SqlValue, Task, Work,
};
pub use views::{ParameterType, ViewColumn, ViewDescription, ViewParameter, ViewRequest, views};

/// The evidence graph of an index: claims, fragments, and what supports or contradicts them. From [`Index::evidence`].
#[derive(Clone, Copy)]
pub struct EvidenceGraph<'a> {
    pub(super) index: &'a Index,
}

// The namespace of a call on the evidence graph: always exactly one.

impl EvidenceGraph<'_> {
    /// Returns the namespace of a call: the one named, or else the index's own. `allowed`: the namespaces the caller
    /// may read; `None`: all.
    ///
    /// # Errors
    /// A missing or unreadable namespace, which give the same error, or no namespace named and no own one.
    pub(crate) fn namespace(&self, named: Option<&str>, allowed: Option<&[String]>) -> Result<String, Error> {
        let mut names = self.index.namespace_names()?;
        names.retain(|name| allowed.is_none_or(|allowed| allowed.contains(name)));
        let wanted = match (named, self.index.own_namespace(), names.as_slice()) {
            (Some(named), _, _) => Some(named),
            (None, Some(own), _) if names.iter().any(|name| name == own) => Some(own),
            (None, _, [only]) => Some(only.as_str()),
            _ => None,
        };
        match wanted.filter(|wanted| names.iter().any(|name| name == wanted)) {
            Some(wanted) => Ok(wanted.to_owned()),
            None => {
                let value = named.map_or_else(|| "none".to_owned(), |named| format!("{named:?}"));
                Err(Error::argument("namespace", value, format!("one of {}", names.join(", "))))
            }
        }
    }
}

// A fragment or a claim as a document of the index.

/// A record that is indexed as a document.
pub(crate) enum Documented<'r> {
    /// A fragment and its page.
    Fragment(Cow<'r, Fragment>, &'r Page),
    /// A claim.
    Claim(&'r Claim),
}

impl Documented<'_> {
    /// The key that identifies the record.
    pub fn key(&self) -> EvidenceKey {
        match self {
            Documented::Fragment(fragment, _) => EvidenceKey::Fragment(fragment.id.clone()),
            Documented::Claim(claim) => EvidenceKey::Claim(claim.id.clone()),
        }
    }

    /// The path of its document.
    pub fn path(&self) -> String {
        match self {
            Documented::Fragment(fragment, _) => Fragment::path(&fragment.id),
            Documented::Claim(claim) => Claim::path(&claim.id),
        }
    }

    /// Everything its document is made of; a change of it means that the document has changed.
    pub fn content(&self) -> String {
        match self {
            Documented::Fragment(fragment, page) => {
                let Page { id, url, title, .. } = page;
                json!([fragment.text, fragment.heading, id, url, title, dated(fragment, page)]).to_string()
            }
            Documented::Claim(Claim { task_id, text, claim_type, status, created_at, .. }) => {
                json!([text, task_id, claim_type, status, created_at]).to_string()
            }
        }
    }

    /// Its document. A fragment can be filtered by `page`, `domain` and, which the store adds, `task`. Its title is
    /// that of the page, and its date is the page's publication, or else the fragment's own time. A claim can be
    /// filtered by `task`, `type` and `status`.
    pub fn document(&self, options: &Options) -> Document {
        match self {
            Documented::Fragment(fragment, page) => {
                let named = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
                let (title, heading) = (named(&page.title), named(&fragment.heading));
                let domain = page.url.as_deref().and_then(domain);
                let attributes = [Some(("page", page.id.clone())), domain.map(|domain| ("domain", domain))];
                let under = heading.clone().or_else(|| title.clone());
                let passages = read_statement(Kind::Fragment, &fragment.text, under.as_deref(), options);
                let document = document(dated(fragment, page), &attributes);
                Document { title: title.or(heading), passages, ..document }
            }
            Documented::Claim(claim) => {
                let attributes = [
                    Some(("task", claim.task_id.clone())),
                    claim.claim_type.clone().map(|kind| ("type", kind)),
                    claim.status.clone().map(|status| ("status", status)),
                ];
                let passages = read_statement(Kind::Claim, &claim.text, None, options);
                Document { passages, ..document(claim.created_at.as_deref(), &attributes) }
            }
        }
    }
}

/// The publication date of a fragment's page, or else the fragment's own time.
fn dated<'f>(fragment: &'f Fragment, page: &'f Page) -> Option<&'f str> {
    page.published_at.as_deref().or(fragment.created_at.as_deref())
}

/// A document with a date and attributes, without passages.
fn document(dated: Option<&str>, attributes: &[Option<(&str, String)>]) -> Document {
    // Times outside the range of a nanosecond count are dropped; nobody filters by them.
    let nanoseconds = |text: &str| moment(text).and_then(|moment| i64::try_from(moment.as_nanosecond()).ok());
    Document {
        language: None,
        category: Category::Prose,
        role: Role::Main,
        title: None,
        severity: None,
        dated_ns: dated.and_then(nanoseconds),
        attributes: attributes.iter().flatten().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        notes: Vec::new(),
        passages: Vec::new(),
    }
}

// The beginning of a text, in one line.

/// The most characters given up to end a preview at a word.
const GIVEN_UP: usize = 30;

/// Returns the text in one line of at most `most` characters. A shortened text ends at a word if one ends nearby,
/// followed by `…`.
pub(crate) fn preview(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(most) else { return line };
    let room = line[..end].char_indices().next_back().map_or(0, |(last, _)| last);
    let whole = line[..room].trim_end();
    let is_end_of_word = line[room..].starts_with(' ') || line[..room].ends_with(' ');
    let word = whole.rfind(' ').filter(|&space| !is_end_of_word && whole[space..].chars().count() <= GIVEN_UP);
    format!("{}…", &whole[..word.unwrap_or(whole.len())])
}

// Export and summary of the evidence.

impl EvidenceGraph<'_> {
    /// Returns all records of a namespace's evidence, as they were imported: tasks, works, pages, fragments, claims,
    /// edges, each sorted by identifier. `None`: the namespace that the index is used in.
    ///
    /// # Errors
    /// A namespace that is missing or has to be named, or a store that cannot be read.
    pub fn records(&self, namespace: Option<&str>) -> Result<Vec<EvidenceRecord>, Error> {
        Ok(self.index.store.evidence(&self.namespace(namespace, None)?)?)
    }

    /// Writes the records of [`Index::evidence`], one a line, in the form that
    /// [`EvidenceImport::from_inputs`] reads. Returns the number of records.
    ///
    /// # Errors
    /// As [`EvidenceGraph::records`], and where `out` cannot be written.
    pub fn export(&self, namespace: Option<&str>, out: &mut dyn Write) -> Result<u64, Error> {
        let records = self.records(namespace)?;
        let failed =
            |error: std::io::Error| Error::argument("output", error.to_string(), "something that can be written");
        for record in &records {
            serde_json::to_writer(&mut *out, record).map_err(|error| failed(error.into()))?;
            out.write_all(b"\n").map_err(failed)?;
        }
        out.flush().map_err(failed)?;
        Ok(records.len() as u64)
    }

    /// Writes [`EvidenceGraph::export`] to a file as [`write_file`] does: a regular file is replaced whole or not at
    /// all. Returns the number of records.
    ///
    /// # Errors
    /// As [`EvidenceGraph::records`], and where the file cannot be written.
    pub fn export_to(&self, namespace: Option<&str>, file: &Path) -> Result<u64, Error> {
        write_file(file, |out| self.export(namespace, out))
    }

    /// Summarizes a namespace's evidence: all of it, or the part related to one task.
    ///
    /// # Errors
    /// As [`EvidenceGraph::records`].
    pub fn summary(&self, namespace: Option<&str>, task: Option<&str>) -> Result<EvidenceSummary, Error> {
        Ok(self.index.store.evidence_summary(&self.namespace(namespace, None)?, task)?)
    }

    /// Summarizes the evidence of each namespace that has any, by name.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn summaries(&self) -> Result<Vec<EvidenceSummary>, Error> {
        let of = |namespace: String| self.index.store.evidence_summary(&namespace, None);
        let mut names = self.index.namespace_names()?;
        names.sort();
        let all = names.into_iter().map(of).collect::<Result<Vec<_>, _>>()?;
        Ok(all.into_iter().filter(|summary| !summary.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_ends_with_a_word_and_never_within_a_character() {
        assert_eq!([preview("short\n  text", 10), preview("exactly ten", 11)], ["short text", "exactly ten"]);
        assert_eq!([preview("one two three", 9), preview("one two three", 8)], ["one two…", "one two…"]);
        assert_eq!([preview("one two three", 7), preview("ééééééééé", 5)], ["one…", "éééé…"]);
        let long = "x".repeat(500);
        assert_eq!(preview(&format!("a {long}"), 200).chars().count(), 200, "no word ends near");
        for most in 1..40 {
            let cut = preview("Ünder the harbour wall, 🦀 crabs are waiting", most);
            assert!(cut.chars().count() <= most, "{most}: {cut}");
        }
    }
}
