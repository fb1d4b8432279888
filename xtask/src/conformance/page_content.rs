//! What the page is shown besides the project: hostile texts, large files, and the report of an evaluation.

use super::fixture::Fixture;
use crate::run::root;
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A text that would run if it became markup, in a file whose name would too.
const HOSTILE: &str = "# The hostile kettle <img src=x onerror=alert(1)>\n\nThe hostile kettle says <script>alert(2)</script> and \
    [click](javascript:alert(3)), \"><img src=x onerror=alert(1)> and \u{202e}backwards\u{202c}.\n";

/// Days of the tide table, two lines each.
const DAYS: usize = 15_000;

/// Entries of the logbook, which makes 5 MB.
const ENTRIES: usize = 60_000;

/// Writes the files, and imports issues and evidence that would run too.
///
/// # Errors
/// A file cannot be written, or an import fails.
pub(super) fn add(fixture: &Fixture) -> Result<()> {
    let write = |name: &str, text: String| fs::write(fixture.project.join(name), text);
    write("kettle \"><img src=x onerror=alert(4)>.md", HOSTILE.to_owned())?;
    write("tides.txt", (0..DAYS).map(|day| format!("The tide table of {day}\n\n")).collect())?;
    let entry = |day| {
        format!("Logbook entry {day}: the wind came from the west, and the keeper wrote nothing else that day.\n")
    };
    write("logbook.txt", (0..ENTRIES).map(entry).collect())?;
    let imports = root().join("xtask/conformance/imports/page");
    for (what, file) in [("issues", "issues.jsonl"), ("evidence", "evidence.jsonl")] {
        fixture.output(&["import", what, "--quiet", &imports.join(file).to_string_lossy()])?;
    }
    Ok(())
}

/// Evaluates a small collection and returns the file with its report.
///
/// # Errors
/// A file cannot be written, or the evaluation fails.
pub(super) fn report(fixture: &Fixture) -> Result<PathBuf> {
    let collection = fixture.project.with_file_name("judged");
    write_collection(&collection)?;
    let report = fixture.output(&["eval", &collection.to_string_lossy(), "--cut", "auto", "--json"])?;
    let file = fixture.project.with_file_name("report.json");
    fs::write(&file, report)?;
    Ok(file)
}

/// Writes a test collection: what one does to a few things, a question for each thing, and one that nothing answers.
fn write_collection(directory: &Path) -> Result<()> {
    let things = ["kettle", "lantern", "harbour", "orchard", "compass", "violin", "glacier", "furnace", "saddle"];
    let tasks = ["repair", "clean", "store", "measure", "paint", "move"];
    let lines = |records: Vec<Value>| records.iter().map(|record| format!("{record}\n")).collect::<String>();
    let document = |thing: &str, task: &str| {
        let text = format!("To {task} the {thing}, begin in the morning. It must be dry before anybody can {task} it.");
        json!({"_id": format!("{thing}-{task}"), "title": format!("How to {task} a {thing}"), "text": text})
    };
    let documents = things.iter().flat_map(|thing| tasks.map(|task| document(thing, task)));
    let asked: Vec<(&str, &str)> = things.into_iter().zip(tasks.into_iter().cycle()).collect();
    let query = |(thing, task): &(&str, &str)| json!({"_id": thing, "text": format!("{task} the old {thing}")});
    let foreign = json!({"_id": "airline", "text": "quarterly revenue of the airline"});
    let relevant = |(thing, task): &(&str, &str)| format!("{thing}\t{thing}-{task}\t1\n");
    fs::create_dir_all(directory.join("qrels"))?;
    fs::write(directory.join("corpus.jsonl"), lines(documents.collect()))?;
    fs::write(directory.join("queries.jsonl"), lines(asked.iter().map(query).chain([foreign]).collect()))?;
    let judgements: String = asked.iter().map(relevant).collect();
    fs::write(
        directory.join("qrels/test.tsv"),
        format!("query-id\tcorpus-id\tscore\n{judgements}airline\tkettle-clean\t0\n"),
    )?;
    Ok(())
}
