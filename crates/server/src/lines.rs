//! Lines of files as the entries of a page: a path once above its lines.

use crate::page::{Entry, Listing, PageInfo};
use crate::text::name;
use schemars::JsonSchema;
use serde::Serialize;

/// One or more lines of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileLines {
    /// Repository or project of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Path of the file.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// The text, with a line number where several lines are shown.
    pub text: String,
    /// True if the text names the path: it is the first of its file on this page.
    #[serde(skip)]
    pub heads: bool,
    /// What stands after the path.
    #[serde(skip)]
    pub about: String,
}

impl Entry for FileLines {
    fn text(&self) -> String {
        let namespace = self.namespace.as_ref().map(|one| format!("{}:", name(one))).unwrap_or_default();
        let heading =
            if self.heads { format!("{namespace}{}{}\n", name(&self.path), self.about) } else { String::new() };
        format!("{heading}{}\n", self.text)
    }

    fn body(&mut self) -> &mut String {
        &mut self.text
    }

    fn mark_shortened(&mut self) {}
}

/// Lines of files, and remarks.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LinesFound {
    /// The totals, in words.
    pub summary: String,
    /// The lines, by file.
    pub results: Vec<FileLines>,
    #[serde(flatten)]
    pub page: PageInfo,
}

impl LinesFound {
    /// An answer, whose page begins at `start`: there, and wherever another file begins, stands the path.
    pub fn new(summary: String, mut results: Vec<FileLines>, start: usize, warnings: Vec<String>) -> Self {
        for at in 0..results.len() {
            let place = |at: usize| (&results[at].namespace, &results[at].path);
            let heads = at == start || at == 0 || place(at) != place(at - 1);
            results[at].heads = heads;
        }
        LinesFound { summary, results, page: PageInfo { warnings, ..PageInfo::default() } }
    }

    /// Fingerprint of the list.
    pub fn names(&self) -> String {
        let lines = self.results.iter().flat_map(|one| [one.path.as_str(), one.text.as_str()]);
        crate::cursor::fingerprint(lines)
    }
}

impl Listing for LinesFound {
    type Entry = FileLines;
    const FENCED: bool = true;

    fn entries(&mut self) -> &mut Vec<FileLines> {
        &mut self.results
    }

    fn page(&mut self) -> &mut PageInfo {
        &mut self.page
    }
}
