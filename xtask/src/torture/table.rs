//! The table of results.

use super::plan::{Kind, Round};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::time::Duration;

/// The outcome of a round that lost nothing.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// True when the disturbance hit the work while it went on.
    pub landed: bool,
    /// A description of the round.
    pub summary: String,
}

/// The line of one kind.
#[derive(Clone, Debug, Default)]
struct Line {
    tried: u64,
    landed: u64,
    survived: u64,
    lost: u64,
    skipped: u64,
}

/// The table, and the rounds that lost something.
#[derive(Debug, Default)]
pub struct Table {
    lines: BTreeMap<Kind, Line>,
    lost: Vec<(Round, String)>,
    skipped: BTreeMap<Kind, String>,
}

impl Table {
    /// Adds a round. A round that lost something counts as landed.
    pub fn take(&mut self, round: Round, outcome: Result<Outcome, String>) {
        let line = self.lines.entry(round.kind).or_default();
        line.tried += 1;
        match outcome {
            Ok(outcome) => {
                line.landed += u64::from(outcome.landed);
                line.survived += 1;
            }
            Err(reason) => {
                line.landed += 1;
                line.lost += 1;
                self.lost.push((round, reason));
            }
        }
    }

    /// Adds a round that this machine cannot do.
    pub fn skip(&mut self, round: Round, reason: &str) {
        self.lines.entry(round.kind).or_default().skipped += 1;
        self.skipped.insert(round.kind, reason.to_owned());
    }

    /// Returns true when nothing was lost.
    pub fn is_clean(&self) -> bool {
        self.lost.is_empty()
    }

    /// Returns the number of rounds so far.
    pub fn rounds(&self) -> u64 {
        self.lines.values().map(|line| line.tried + line.skipped).sum()
    }

    /// Formats the table and the rounds that lost something.
    pub fn text(&self, took: Duration) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, took);
        text
    }

    fn write(&self, text: &mut String, took: Duration) -> fmt::Result {
        writeln!(text, "{:8} {:>6} {:>7} {:>9} {:>5}", "kind", "tried", "landed", "survived", "lost")?;
        let mut all = Line::default();
        for (kind, line) in &self.lines {
            let Line { tried, landed, survived, lost, skipped } = line;
            writeln!(text, "{:8} {tried:>6} {landed:>7} {survived:>9} {lost:>5}", kind.to_string())?;
            all.tried += tried;
            all.landed += landed;
            all.survived += survived;
            all.lost += lost;
            all.skipped += skipped;
        }
        let Line { tried, landed, survived, lost, .. } = all;
        writeln!(text, "{:8} {tried:>6} {landed:>7} {survived:>9} {lost:>5}   in {} s", "all", took.as_secs())?;
        for (kind, reason) in &self.skipped {
            writeln!(text, "skipped: {} {kind} rounds: {reason}", self.lines[kind].skipped)?;
        }
        for (round, reason) in &self.lost {
            writeln!(text, "\nlost: {}\n{}", round.command(), reason.trim())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_counts_and_names_the_rounds_that_lost_something() {
        let mut table = Table::default();
        let round = |kind, number| Round { kind, number, seed: 9 };
        table.take(round(Kind::Kill, 1), Ok(Outcome { landed: true, summary: String::new() }));
        table.take(round(Kind::Kill, 2), Ok(Outcome { landed: false, summary: String::new() }));
        table.take(round(Kind::Fault, 1), Err("a note went".into()));
        table.skip(round(Kind::Disk, 1), "nothing can be mounted");
        let text = table.text(Duration::from_secs(3));
        let columns: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(columns[1], ["kill", "2", "1", "2", "0"]);
        assert_eq!(columns[2], ["fault", "1", "1", "0", "1"]);
        assert!(text.contains("cargo xtask torture --seed 9 --round 1 fault\na note went"), "{text}");
        assert!(text.contains("skipped: 1 disk rounds: nothing can be mounted"), "{text}");
        assert!(!table.is_clean());
        assert_eq!(table.rounds(), 4);
    }
}
