//! The table of times.

use super::ledger::{Entries, Served};
use std::fmt::Write;
use std::time::Duration;

/// The times of one disturbance.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Until Patroni names a primary again, unless it never lost it.
    pub primary: Option<Duration>,
    /// Until the program serves again.
    pub served: Served,
}

/// Formats the times of disturbances of one kind as a Markdown table.
pub fn times(kind: &str, all: &[Times]) -> String {
    let mut text = format!("\n| {kind} ({} times) | p50 | longest |\n| --- | --- | --- |\n", all.len());
    let mut row = |name: &str, of: &dyn Fn(&Times) -> Option<Duration>| {
        let mut values: Vec<f64> = all.iter().filter_map(of).map(|time| time.as_secs_f64()).collect();
        values.sort_by(f64::total_cmp);
        if let (Some(middle), Some(last)) = (values.get(values.len() / 2), values.last()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {name} | {middle:.1} s | {last:.1} s |");
        }
    };
    row("a primary is there again", &|times| times.primary);
    row("a search is answered again", &|times| times.served.search);
    row("a change is accepted again", &|times| times.served.change);
    row("a change is accepted, after the primary is there", &|times| {
        Some(times.served.change?.saturating_sub(times.primary?))
    });
    text
}

/// Formats what was acknowledged and what failed.
pub fn calls(entries: &Entries) -> String {
    let mut text = String::from("\nacknowledged:");
    for (call, count) in &entries.acknowledged {
        let _ = write!(text, " {count} of {call:?},");
    }
    let text = text.trim_end_matches(',');
    let mut text = format!("{text}\nfailed, as callers saw it:\n");
    for ((call, message), count) in &entries.failures {
        let _ = writeln!(text, "{count:>6} {call:?}: {message}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_middle_and_the_longest() {
        let one = |primary: u64, change: u64| Times {
            primary: Some(Duration::from_secs(primary)),
            served: Served { search: None, change: Some(Duration::from_secs(change)) },
        };
        let text = times("kill", &[one(20, 21), one(18, 18), one(25, 24)]);
        assert!(text.contains("| kill (3 times) |"), "{text}");
        assert!(text.contains("| a primary is there again | 20.0 s | 25.0 s |"), "{text}");
        assert!(text.contains("| a change is accepted again | 21.0 s | 24.0 s |"), "{text}");
        assert!(text.contains("after the primary is there | 0.0 s | 1.0 s |") && !text.contains("answered"), "{text}");
    }
}
