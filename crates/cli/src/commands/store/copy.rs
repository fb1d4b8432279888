//! `tamis store copy`: copies an index and says what is equal.

use crate::args::StoreCopyArguments;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::text::{count, counted, label};
use crate::progress::Progress;
use anyhow::Result;
use std::io::{self, Write};
use tamis::config::Config;
use tamis::copy::{Compared, CopyOptions, CopyReport, NamespaceComparison, Place, Written, copy_between};

/// Copies, and prints the comparison.
///
/// # Errors
/// A place holds no index, or cannot be read or written.
pub fn run(arguments: &StoreCopyArguments, config: &Config, output: &Output) -> Result<Exit> {
    let options = CopyOptions {
        namespaces: arguments.namespaces.clone(),
        delete: arguments.delete,
        tree: config.store.namespace.clone(),
    };
    interrupt::install()?;
    let report = {
        let progress = Progress::at_once(output);
        copy_between(&Place::parse(&arguments.from), &Place::parse(&arguments.to), &options, &progress)?
    };
    if arguments.json {
        let mut json = serde_json::to_value(&report)?;
        json["equal"] = report.is_equal().into();
        output.json(&json)?;
    } else {
        let mut out = output.styled();
        show(&mut out, &report, arguments.delete)?;
        out.flush()?;
    }
    if report.interrupted {
        output.note("stopped; what was copied is kept, and the same command goes on there");
        return Ok(Exit::Interrupted);
    }
    Ok(if report.is_equal() { Exit::Found } else { Exit::Error })
}

fn show(out: &mut impl Write, report: &CopyReport, delete: bool) -> io::Result<()> {
    writeln!(out, "{}", written(&report.written))?;
    if report.interrupted {
        return Ok(());
    }
    for namespace in &report.namespaces {
        show_namespace(out, namespace, delete)?;
    }
    for (compared, one) in [
        (report.settings, "setting"),
        (report.thresholds, "threshold"),
        (report.searches, "recorded search"),
        (report.queries, "quality row"),
    ] {
        if compared.from > 0 {
            writeln!(out, "{}", items(&compared, one))?;
        }
    }
    if let Some(reason) = &report.settings_left {
        writeln!(out, "{reason}")?;
    }
    if report.other_namespaces > 0 {
        writeln!(out, "the copy has {} besides", counted(report.other_namespaces, "namespace"))?;
    }
    match report.is_equal() {
        true => writeln!(out, "equal: the copy has everything that the source has"),
        false => writeln!(out, "not equal: see above; the same command tries again"),
    }
}

/// What was written, in a sentence.
fn written(written: &Written) -> String {
    let parts = [
        (written.documents, "document"),
        (written.vectors, "vector"),
        (written.evidence, "record of evidence"),
        (written.settings, "setting"),
        (written.thresholds, "threshold"),
        (written.searches, "recorded search"),
        (written.queries, "quality row"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, one)| many(*number, one)).collect();
    let wrote = if parts.is_empty() { "nothing to copy".to_owned() } else { format!("copied {}", parts.join(", ")) };
    match written.deleted {
        0 => wrote,
        deleted => format!("{wrote}; deleted {}", counted(deleted, "document")),
    }
}

fn show_namespace(out: &mut impl Write, namespace: &NamespaceComparison, delete: bool) -> io::Result<()> {
    let verdict = if namespace.is_equal() { "equal" } else { "different" };
    writeln!(out, "{}: {verdict}", label(&namespace.name))?;
    for (compared, one) in [
        (namespace.documents, "document"),
        (namespace.passages, "passage"),
        (namespace.texts, "text"),
        (namespace.evidence, "record of evidence"),
    ] {
        if compared.from > 0 || compared.to > 0 {
            writeln!(out, "  {}", items(&compared, one))?;
        }
    }
    for model in &namespace.vectors {
        writeln!(out, "  {} of {}", items(&model.vectors, "vector"), label(&model.model))?;
    }
    for item in &namespace.differing {
        writeln!(out, "  differs: {}", label(item))?;
    }
    if namespace.kept > 0 {
        let way_out = if delete { "" } else { "; --delete deletes them" };
        writeln!(out, "  kept: {} that the source does not have{way_out}", counted(namespace.kept, "document"))?;
    }
    Ok(())
}

/// The number of items, and how many of them differ or are missing.
fn items(compared: &Compared, one: &str) -> String {
    let number = many(compared.from, one);
    match (compared.different, compared.to) {
        (0, to) if to == compared.from => number,
        (0, to) => format!("{number} ({} in the copy)", count(to)),
        (different, _) => format!("{number}, {} different or missing in the copy", count(different)),
    }
}

fn many(number: u64, one: &str) -> String {
    match (number, one) {
        (1, one) => format!("1 {one}"),
        (number, "record of evidence") => format!("{} records of evidence", count(number)),
        (number, "recorded search") => format!("{} recorded searches", count(number)),
        (number, one) => format!("{} {one}s", count(number)),
    }
}
