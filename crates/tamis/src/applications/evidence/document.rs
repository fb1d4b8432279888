//! A fragment or a claim as a document of the index.

use super::check::moment;
use serde_json::json;
use std::borrow::Cow;
use tamis_store::{Claim, EvidenceKey, Fragment, Page, domain};
use tamis_text::{Category, Document, Kind, Options, Role, read_statement};

/// A record that is a document.
pub(crate) enum Documented<'r> {
    /// A fragment, with the page that it is of.
    Fragment(Cow<'r, Fragment>, &'r Page),
    /// A claim.
    Claim(&'r Claim),
}

impl Documented<'_> {
    /// What tells it from all other records.
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

    /// All that its document is made of, by which one that is another now is told.
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

    /// Its document.
    ///
    /// Of a fragment filters can ask for the `page` and `domain`, and, which the store adds, for the `task`; its title is that
    /// of the page, and it is dated as the page was published, else as it was taken. Of a claim they can ask for the `task`,
    /// `type` and `status`.
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

/// When what a fragment says was published, else when it was taken.
fn dated<'f>(fragment: &'f Fragment, page: &'f Page) -> Option<&'f str> {
    page.published_at.as_deref().or(fragment.created_at.as_deref())
}

/// A document of a date and of attributes, without passages.
fn document(dated: Option<&str>, attributes: &[Option<(&str, String)>]) -> Document {
    // Times beyond the reach of a count of nanoseconds are none that anybody filters by.
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
