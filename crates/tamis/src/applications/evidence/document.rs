//! A fragment or a claim as a document of the index.

use super::check::moment;
use serde_json::json;
use std::borrow::Cow;
use tamis_store::{Claim, EvidenceKey, Fragment, Page, domain};
use tamis_text::{Category, Document, Kind, Options, Role, read_statement};

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
