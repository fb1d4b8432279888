//! The tables of an evaluation's report.

use crate::page::Page;
use crate::print::table::Columns;
use crate::print::text::{label, visible};
use owo_colors::OwoColorize;
use std::io;
use tamis_eval::{Metric, Report, Table};

/// Writes the tables: one figure of every method on every collection, then the other figures averaged over the collections.
/// `verbose` writes all tables, each with a note on reading it.
///
/// # Errors
/// `out` cannot be written.
pub fn tables(out: &mut dyn Page, report: &Report, metric: Metric, verbose: bool) -> io::Result<()> {
    for (at, table) in chosen(report, metric, verbose).into_iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", label(&table.title).bold())?;
        if verbose && !table.note.is_empty() {
            writeln!(out, "{}", visible(&table.note).dimmed())?;
        }
        write(out, &table)?;
    }
    Ok(())
}

fn chosen(report: &Report, metric: Metric, verbose: bool) -> Vec<Table> {
    use Metric::*;
    if verbose {
        let mut tables = report.tables();
        if !matches!(metric, RelativeF1 | ShareOfBestF1) {
            tables.insert(1.min(tables.len()), report.comparison_table(metric));
        }
        return tables;
    }
    let mut kept = vec![RelativeF1, ShareOfBestF1, F1, Precision, Recall, Kept, CharactersKept];
    if report.options.beta != 1.0 {
        kept.insert(2, FBeta);
    }
    let means: [(&str, &[Metric]); 4] = [
        ("What is kept", &kept),
        ("Shares that came back empty", &[AnswerableEmpty, UnanswerableEmpty, ForeignEmpty, F1EveryQuery]),
        ("Probabilities", &[CalibrationError, Brier, LogLoss]),
        ("Stability and time", &[DepthChange, DepthUnchanged, Microseconds]),
    ];
    let means = means.map(|(title, metrics)| report.mean_table(title, "", metrics));
    let tables = [report.collection_table(), report.comparison_table(metric)].into_iter().chain(means);
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// Writes a table with names on the left and figures on the right, and a gap before the methods for reference.
fn write(out: &mut dyn Page, table: &Table) -> io::Result<()> {
    let heading = |(at, heading): (usize, &String)| format!("{}{}", if at == 0 { "" } else { ">" }, visible(heading));
    let headings: Vec<String> = table.header.iter().enumerate().map(heading).collect();
    let mut columns = Columns::new(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for (at, row) in table.rows.iter().enumerate() {
        if at > 0 && at == table.given {
            columns.row(row.iter().map(|_| String::new()));
        }
        columns.row(row.iter().map(|cell| visible(cell).into_owned()));
    }
    columns.write(out)
}
