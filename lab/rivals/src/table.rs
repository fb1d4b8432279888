//! The tables of the measurements, in Markdown.

use crate::measure::Measured;
use std::fmt::Write;
use std::time::Duration;

/// One cell that may be unknown.
fn cell<T>(value: Option<T>, shown: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".into(), shown)
}

fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..0.01 => format!("{:.1} ms", seconds * 1000.0),
        0.01..1.0 => format!("{:.0} ms", seconds * 1000.0),
        _ => format!("{seconds:.1} s"),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0} MB", bytes as f64 / 1e6)
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// The table for the README: what becomes of a question.
pub fn answers(measured: &[Measured]) -> String {
    let mut out = String::from(
        "| | right file first | right file above the line | right file above or just below the line | files above the line | wrongly empty | rightly empty |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for row in measured.iter().filter(|row| row.failed.is_none()) {
        let below = row.shares.in_view.filter(|_| row.shares.in_view > row.shares.in_ten);
        let shares = [row.shares.first, row.shares.in_ten, below].map(|share| cell(share, percent)).join(" | ");
        let shown = cell(row.shares.shown, |shown| format!("{shown:.1}"));
        let empty = [row.shares.empty_wrongly, row.shares.empty_rightly].map(|share| cell(share, percent)).join(" | ");
        writeln!(out, "| {} | {shares} | {shown} | {empty} |", row.name).expect("a string takes everything");
    }
    out
}

/// The table of what a reader compares first.
pub fn short(measured: &[Measured]) -> String {
    let mut out = String::from(
        "| tool | index | size | search, new process | search, warm | expected file first | in the first ten |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for row in measured.iter().filter(|row| row.failed.is_none()) {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            row.name,
            cell(row.index.as_ref().map(|index| index.wall), time),
            cell(row.stored, megabytes),
            cell(row.cold.as_ref().map(|cold| cold.wall), time),
            cell(row.warm, time),
            cell(row.shares.first, percent),
            cell(row.shares.in_ten, percent)
        )
        .expect("a string takes everything");
    }
    let reason = |row: &Measured| Some(format!("{} ({})", row.name, brief(row.failed.as_ref()?)));
    let failed: Vec<String> = measured.iter().filter_map(reason).collect();
    if !failed.is_empty() {
        writeln!(out, "\nWithout figures: {}.", failed.join(", ")).expect("a string takes everything");
    }
    remarks(&mut out, measured);
    out
}

/// Adds a sentence for each remark.
fn remarks(out: &mut String, measured: &[Measured]) {
    for row in measured {
        for remark in &row.remarks {
            // A message can have lines, and marks of tables.
            let remark: Vec<&str> = remark.split_whitespace().take(MOST_WORDS).collect();
            writeln!(out, "\n{} {}.", row.name, remark.join(" ").replace('|', "/")).expect("a string takes everything");
        }
    }
}

/// Words of a remark that are shown; messages of other programs can be long.
const MOST_WORDS: usize = 40;

/// The whole table.
pub fn whole(measured: &[Measured]) -> String {
    let mut out = String::from(
        "| tool | version | index: time | processor | memory | size | new process: time | processor | memory | warm | first | in ten | files shown |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for row in measured {
        let version = &row.version;
        match &row.failed {
            Some(reason) => {
                writeln!(out, "| {} | {version} | {} | | | | | | | | | | |", row.name, reason.replace('|', "/"))
            }
            None => writeln!(
                out,
                "| {} | {version} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.name,
                cell(row.index.as_ref().map(|index| index.wall), time),
                cell(row.index.as_ref().map(|index| index.cpu), time),
                cell(row.index.as_ref().map(|index| index.resident), megabytes),
                cell(row.stored, megabytes),
                cell(row.cold.as_ref().map(|cold| cold.wall), time),
                cell(row.cold.as_ref().map(|cold| cold.cpu), time),
                cell(row.cold.as_ref().map(|cold| cold.resident), megabytes),
                cell(row.warm, time),
                cell(row.shares.first, percent),
                cell(row.shares.in_ten, percent),
                cell(row.shares.shown, |shown| format!("{shown:.1}"))
            ),
        }
        .expect("a string takes everything");
    }
    remarks(&mut out, measured);
    out.push_str("\n| tool | called as |\n| --- | --- |\n");
    for row in measured {
        writeln!(out, "| {} | {} |", row.name, row.called).expect("a string takes everything");
    }
    out
}

/// The share of questions whose expected file is in the first ten, tree by tree.
pub fn by_tree(measured: &[Measured]) -> String {
    let trees: Vec<&String> =
        measured.iter().find(|row| row.failed.is_none()).map_or(Vec::new(), |row| row.trees.keys().collect());
    let names: Vec<&str> = measured.iter().filter(|row| row.failed.is_none()).map(|row| row.name).collect();
    let mut out = format!("| in the first ten | {} |\n| --- |{}\n", names.join(" | "), " ---: |".repeat(names.len()));
    for tree in trees {
        let shares = measured.iter().filter(|row| row.failed.is_none());
        let shares: Vec<String> = shares.map(|row| cell(row.trees.get(tree).copied(), percent)).collect();
        writeln!(out, "| {tree} | {} |", shares.join(" | ")).expect("a string takes everything");
    }
    out
}

/// A reason in a few words, for the short table.
fn brief(reason: &str) -> &'static str {
    let lower = reason.to_lowercase();
    let needs_download = ["download", "offline", "hub", "network", "connect", "prebuil", "fetch"];
    if lower.contains("not done after") {
        return "does not end offline";
    }
    if needs_download.iter().any(|word| lower.contains(word)) { "needs a download" } else { "does not run here" }
}
