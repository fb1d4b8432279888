//! Records of an import that could not be read.

use serde::Serialize;
use std::fmt;

/// A record of an input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadableRecord {
    /// Its place, in the words of its format: `issues.json: record 3`.
    pub position: String,
    /// Its fault.
    pub reason: String,
}

impl fmt::Display for UnreadableRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.position, self.reason)
    }
}

/// The number of records that a message names; further ones are only counted.
const NAMED: usize = 20;

/// Formats unreadable records for a message: one a line, the first twenty, and the number of further ones.
pub(super) fn listed(records: &[UnreadableRecord]) -> String {
    let mut lines: Vec<String> = records.iter().take(NAMED).map(|record| format!("  {record}")).collect();
    if records.len() > NAMED {
        lines.push(format!("  and {} more", records.len() - NAMED));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_twenty_are_named_and_the_rest_counted() {
        let record =
            |number: u64| UnreadableRecord { position: format!("record {number}"), reason: "no number".into() };
        let few: Vec<_> = (1..=20).map(record).collect();
        assert_eq!(listed(&few).lines().count(), 20);
        let many: Vec<_> = (1..=23).map(record).collect();
        let text = listed(&many);
        assert_eq!(text.lines().next(), Some("  record 1: no number"));
        assert_eq!(text.lines().last(), Some("  and 3 more"));
    }
}
