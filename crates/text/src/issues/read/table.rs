//! GitLab's export as a table: one row an issue or merge request, named columns.

use csv::{ReaderBuilder, StringRecord};

use super::address;
use super::fields::{Reason, state, time};
use super::record::Found;
use crate::issues::bots::is_bot;
use crate::issues::{Issue, IssueKind};

/// The columns that hold the number, and the kind that they number.
const NUMBERS: [(&str, IssueKind); 3] =
    [("issue id", IssueKind::Issue), ("mr iid", IssueKind::PullRequest), ("mr id", IssueKind::PullRequest)];

/// The rows of a table.
pub(super) struct Table<'t> {
    reader: csv::Reader<&'t [u8]>,
    columns: Vec<String>,
    number: usize,
    kind: IssueKind,
}

impl<'t> Table<'t> {
    /// `None` unless the first line names the columns of such a table.
    pub(super) fn new(text: &'t str) -> Option<Self> {
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let columns: Vec<String> = reader.headers().ok()?.iter().map(|name| name.trim().to_lowercase()).collect();
        let column = |wanted: &str| columns.iter().position(|name| name == wanted);
        let (number, kind) = NUMBERS.into_iter().find_map(|(name, kind)| Some((column(name)?, kind)))?;
        column("title")?;
        Some(Self { reader, columns, number, kind })
    }

    /// Every row with the line it begins on.
    pub(super) fn each(mut self, mut row: impl FnMut(u64, Result<Found, Reason>)) {
        let mut record = StringRecord::new();
        loop {
            let line = self.reader.position().line();
            match self.reader.read_record(&mut record) {
                Ok(false) => return,
                Ok(true) => {
                    let line = record.position().map_or(line, csv::Position::line);
                    row(line, self.issue(&record));
                }
                Err(error) => row(line, Err(error.to_string())),
            }
        }
    }

    fn issue(&self, record: &StringRecord) -> Result<Found, Reason> {
        if record.len() != self.columns.len() {
            return Err(format!("has {} fields, but there are {} columns", record.len(), self.columns.len()));
        }
        let cell = |names: &[&str]| {
            let at = names.iter().find_map(|wanted| self.columns.iter().position(|name| name == wanted))?;
            record.get(at).map(str::trim).filter(|text| !text.is_empty())
        };
        let date = |name: &str| match cell(&[&format!("{name} (utc)"), name]) {
            Some(text) => time(text).map(Some).ok_or_else(|| format!("`{name}` is {text:?}, not a time")),
            None => Ok(None),
        };
        let number = record.get(self.number).unwrap_or_default().trim();
        let number = number.trim_start_matches(['#', '!']).parse().ok().filter(|number| *number > 0);
        let number: u64 = number.ok_or_else(|| {
            format!("its number is {:?}, not a whole number from 1", record.get(self.number).unwrap_or_default())
        })?;
        let author = cell(&["author username", "author"]).map(str::to_owned);
        let said = cell(&["state"]).unwrap_or("open");
        let labels = cell(&["labels"]).unwrap_or_default().split(',').map(str::trim);
        let url = cell(&["url"]).map(str::to_owned);
        let issue = Issue {
            kind: self.kind,
            body: cell(&["description"]).unwrap_or_default().to_owned(),
            state: state(said).ok_or_else(|| format!("`state` is {said:?}, not open, closed or merged"))?,
            bot: author.as_deref().is_some_and(is_bot),
            author,
            labels: labels.filter(|label| !label.is_empty()).map(str::to_owned).collect(),
            milestone: cell(&["milestone"]).map(str::to_owned),
            locked: cell(&["locked"]).is_some_and(|text| matches!(text.to_lowercase().as_str(), "yes" | "true")),
            created_at: date("created at")?,
            updated_at: date("updated at")?,
            closed_at: date("closed at")?,
            merged_at: date("merged at")?,
            url,
            ..Issue::new(number, cell(&["title"]).unwrap_or_default())
        };
        Ok(Found { repository: issue.url.as_deref().and_then(address::repository), ..Found::issue(issue) })
    }
}
