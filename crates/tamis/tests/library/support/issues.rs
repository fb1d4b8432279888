//! Issues in an index.

use tamis::import::IssueImport;
use tamis::{Index, RunOptions};
use tamis_text::{Issue, IssueComment, IssueState};

/// Imports issues into the index's own namespace and embeds them.
pub fn put(index: &Index, issues: &[Issue]) {
    let import = IssueImport { origin: "test".into(), issues: issues.to_vec(), ..IssueImport::default() };
    index.imports().issues(&import, &()).expect("imported");
    index.complete(RunOptions::WHOLE, &()).expect("completed");
}

pub fn closed(number: u64, title: &str, body: &str) -> Issue {
    Issue { body: body.into(), state: IssueState::Closed, ..Issue::new(number, title) }
}

pub fn said(author: &str, body: &str) -> IssueComment {
    let created_at = "2024-03-01T10:00:00Z".parse().ok();
    IssueComment { author: Some(author.into()), created_at, ..IssueComment::new(body) }
}
