//! An export yields issues or an error; each issue has a document, and its record reads back unchanged.

use crate::whole;
use tamis_text::{Issue, Options, read_issues};

pub fn check(data: &[u8]) {
    let archive = match read_issues(data) {
        Ok(archive) => archive,
        Err(error) => return assert!(error.to_string().len() < 4000, "{error}"),
    };
    for bad in &archive.bad {
        assert!(bad.reason.len() < 2000, "{bad:?}");
    }
    for issue in &archive.issues {
        let document = issue.document(&Options::default());
        whole::embed(&document);
        whole_lines(issue, &document);
        let record = serde_json::to_string(issue).expect("JSON");
        assert_eq!(*issue, serde_json::from_str::<Issue>(&record).expect("its own record"), "{record}");
        let mut twice = issue.clone();
        twice.merge(issue.clone());
        assert_eq!(twice.comments.len(), issue.comments.len(), "an issue merged with itself: {record}");
    }
}

/// Every passage names lines that the rendered issue has.
fn whole_lines(issue: &Issue, document: &tamis_text::Document) {
    let lines = issue.rendered().lines().count();
    for passage in &document.passages {
        assert!(1 <= passage.start_line && passage.start_line <= passage.end_line, "{passage:?}");
        assert!(passage.end_line as usize <= lines.max(1), "{lines} lines and {passage:?}");
    }
}
