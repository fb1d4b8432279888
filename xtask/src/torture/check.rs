//! What must hold after a disturbance: nothing acknowledged is lost, nothing is applied in part, and everything works.

use super::fixture::{KEPT_WORD, NOTE_WORD};
use super::ground::Ground;
use super::sandbox::{Ended, Sandbox};
use super::work::{NEW_NOTE_WORD, Reference, Work, note};
use anyhow::{Context, Result, bail, ensure};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What an index holds, by the names of things; without identifiers and times, which differ from run to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Print {
    /// Documents with their passages, by path.
    pub documents: BTreeMap<String, String>,
    /// Rows of the evidence graph.
    pub evidence: BTreeSet<String>,
    /// What people said of results.
    pub judgements: BTreeSet<String>,
}

/// The tables of the evidence graph.
const EVIDENCE: [&str; 6] =
    ["evidence_tasks", "evidence_works", "evidence_pages", "evidence_fragments", "evidence_claims", "evidence_edges"];

impl Print {
    /// Reads an index that no process has open. A copy is read, since reading recovers what a crash left, and that is for
    /// the program to do.
    ///
    /// # Errors
    /// The database is damaged, or a document has other passages than it says.
    pub fn of(sandbox: &Sandbox) -> Result<Print> {
        let mut print = Print::default();
        let copy = tempfile::tempdir()?;
        if let Some(database) = opened(&sandbox.index(), "tamis.db", copy.path())? {
            sound(&database, "tamis.db")?;
            let documents = "SELECT d.namespace || ' ' || d.path, d.collection, hex(d.content_hash), d.origin, d.passages, \
                             (SELECT count(*) FROM passages p WHERE p.document = d.id), \
                             (SELECT group_concat(a.name || '=' || a.value, char(10)) FROM attributes a WHERE a.document = d.id), \
                             (SELECT group_concat(line, char(10)) FROM (SELECT p.start_line || '-' || p.end_line || ' ' || p.kind \
                              || ' ' || coalesce(p.symbol, '') || ' ' || coalesce(p.heading, '') || ' ' || hex(t.hash) AS line \
                              FROM passages p JOIN texts t ON t.id = p.text_id WHERE p.document = d.id ORDER BY p.ordinal)) \
                             FROM documents d";
            for row in rows(&database, documents)? {
                let (path, rest) = row.split_once('\t').context("a path and more")?;
                let counts: Vec<&str> = rest.split('\t').skip(3).take(2).collect();
                ensure!(counts.first() == counts.get(1), "{path}: {counts:?} passages said and held");
                print.documents.insert(path.to_owned(), rest.to_owned());
            }
            for table in EVIDENCE {
                let rows = rows(&database, &format!("SELECT * FROM {table}"))?;
                print.evidence.extend(rows.into_iter().map(|row| format!("{table}\t{row}")));
            }
        }
        if let Some(usage) = opened(&sandbox.index(), "usage.db", copy.path())? {
            sound(&usage, "usage.db")?;
            let judgements =
                "SELECT s.id, j.passage, j.relevant FROM judgements j JOIN searches s ON s.number = j.search";
            print.judgements.extend(rows(&usage, judgements)?);
        }
        Ok(print)
    }

    /// Where two differ, for a message.
    pub fn difference(&self, other: &Print) -> String {
        let mut said = Vec::new();
        for path in self.documents.keys().chain(other.documents.keys()).collect::<BTreeSet<_>>() {
            match (self.documents.get(path), other.documents.get(path)) {
                (Some(_), None) => said.push(format!("only the first has {path}")),
                (None, Some(_)) => said.push(format!("only the second has {path}")),
                (one, two) if one != two => said.push(format!("{path}: {one:?} and {two:?}")),
                _ => {}
            }
        }
        for (name, one, two) in
            [("evidence", &self.evidence, &other.evidence), ("judgements", &self.judgements, &other.judgements)]
        {
            said.extend(one.difference(two).map(|row| format!("only the first has {name} {row}")));
            said.extend(two.difference(one).map(|row| format!("only the second has {name} {row}")));
        }
        let more = said.len().saturating_sub(6);
        said.truncate(6);
        let lines: Vec<String> = said.into_iter().map(|line| line.chars().take(600).collect()).collect();
        format!("{}{}", lines.join("; "), if more > 0 { format!("; and {more} more") } else { String::new() })
    }
}

/// Opens a copy of a database, with what was written ahead.
fn opened(index: &Path, name: &str, copy: &Path) -> Result<Option<Connection>> {
    if fs::metadata(index.join(name)).is_err() {
        return Ok(None);
    }
    for suffix in ["", "-wal"] {
        let file = format!("{name}{suffix}");
        if index.join(&file).exists() {
            fs::copy(index.join(&file), copy.join(&file)).with_context(|| file.clone())?;
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy.join(name), flags)?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    // Killed before its tables were made.
    Ok((tables > 0).then_some(connection))
}

fn sound(connection: &Connection, name: &str) -> Result<()> {
    for pragma in ["integrity_check", "foreign_key_check"] {
        let found = rows(connection, &format!("PRAGMA {pragma}"))?;
        ensure!(found.is_empty() || found == ["ok"], "{name}: {pragma}: {:?}", &found[..found.len().min(3)]);
    }
    Ok(())
}

/// The rows of a statement as text.
fn rows(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut found = statement.query([])?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let values: Result<Vec<String>, _> = (0..columns)
            .map(|column| {
                Ok::<_, rusqlite::Error>(match row.get_ref(column)? {
                    ValueRef::Null => "-".to_owned(),
                    ValueRef::Integer(value) => value.to_string(),
                    ValueRef::Real(value) => value.to_string(),
                    ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    ValueRef::Blob(bytes) => format!("{bytes:?}"),
                })
            })
            .collect();
        rows.push(values?.join("\t"));
    }
    Ok(rows)
}

/// What a few questions find, by either leg: passages with their scores.
///
/// # Errors
/// A search fails.
pub fn search_results(sandbox: &Sandbox) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for mode in ["lexical", "semantic"] {
        for query in [KEPT_WORD, "how the glacier helps"] {
            let answer =
                sandbox.json(&["search", "--json", "--no-refresh", "--mode", mode, "--cut", "fixed:k=8", query])?;
            let results = answer["results"].as_array().context("results")?;
            // Equal scores come in any order.
            let mut scores: Vec<String> =
                results.iter().map(|hit| format!("{:.3}", hit["score"].as_f64().unwrap_or(f64::NAN))).collect();
            scores.sort();
            let best = results.first().and_then(|hit| hit["path"].as_str()).unwrap_or("nothing");
            found.push(format!("{mode} {query:?}: {} results, {best} first, {}", results.len(), scores.join(" ")));
        }
    }
    Ok(found)
}

/// A search answers with what is always there.
///
/// # Errors
/// It does not.
pub fn answers(sandbox: &Sandbox, refresh: bool) -> Result<()> {
    let mut arguments = vec!["search", "--json", "--mode", "lexical", "--cut", "fixed:k=3", KEPT_WORD];
    if !refresh {
        arguments.push("--no-refresh");
    }
    let ended = sandbox.run(&arguments)?;
    ensure!(ended.code() == Some(0) && ended.out.contains("kept.md"), "the search for what is there: {ended}");
    Ok(())
}

/// `tamis doctor` runs, and finds nothing that it could not mend.
///
/// # Errors
/// It fails, or finds something else.
pub fn doctor(sandbox: &Sandbox, must_be_healthy: bool) -> Result<()> {
    let diagnosis = sandbox.json(&["doctor", "--check-only", "--json"])?;
    let checks = diagnosis["checks"].as_array().context("checks")?;
    let wrong = checks.iter().find(|check| check["state"] == "wrong");
    ensure!(wrong.is_none(), "doctor: {}", wrong.unwrap_or(&diagnosis));
    ensure!(!must_be_healthy || diagnosis["healthy"] == true, "doctor: {diagnosis}");
    Ok(())
}

/// `tamis doctor` runs where there is no room left, and finds nothing wrong but that.
///
/// # Errors
/// It fails, or finds something else.
pub fn doctor_without_room(sandbox: &Sandbox) -> Result<()> {
    let diagnosis = sandbox.json(&["doctor", "--check-only", "--json"])?;
    let checks = diagnosis["checks"].as_array().context("checks")?;
    let of_room = |check: &Value| check["message"].as_str().is_some_and(|message| message.contains("no space left"));
    let wrong = checks.iter().find(|check| check["state"] == "wrong" && !of_room(check));
    ensure!(wrong.is_none(), "doctor: {}", wrong.unwrap_or(&diagnosis));
    Ok(())
}

/// Everything that must hold after a piece of work was stopped or hindered, and after it is done again.
///
/// # Errors
/// What does not hold.
pub fn survived(
    ground: &Ground,
    sandbox: &Sandbox,
    work: Work,
    reference: &Reference,
    ended: &Ended,
    refresh: bool,
) -> Result<()> {
    // What was left, before anything opens it again.
    let left = Print::of(sandbox).context("right after it stopped")?;
    whole(work, &left, reference, ended).context("right after it stopped")?;
    notes(sandbox, work, ended).context("right after it stopped")?;
    if work != Work::IndexNew || refresh {
        answers(sandbox, refresh).context("right after it stopped")?;
    }
    doctor(sandbox, false).context("right after it stopped")?;

    let arguments = work.arguments(&ground.base);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let again = sandbox.run(&arguments)?;
    ensure!(work.is_done_again(&again), "done again, it {again}");
    sandbox.done(&["index"]).context("an index run afterwards")?;
    doctor(sandbox, true).context("done again")?;
    let after = Print::of(sandbox).context("done again")?;
    if work.is_repeatable() {
        ensure!(
            after == reference.after,
            "done again, it is not as undisturbed: {}",
            after.difference(&reference.after)
        );
        let results = search_results(sandbox)?;
        ensure!(
            results == reference.results,
            "done again, searches find {results:?}, undisturbed {:?}",
            reference.results
        );
    }
    ensure!(left.judgements.is_subset(&after.judgements), "judgements went: {}", left.difference(&after));
    if work == Work::Remember {
        let found =
            sandbox.done(&["search", "--json", "--mode", "lexical", NEW_NOTE_WORD]).context("the note again")?;
        ensure!(found.out.contains("corner of the street"), "the note is not found: {found}");
    }
    Ok(())
}

/// Every document is that of before or of after, an import is whole or nothing, what was acknowledged is there.
fn whole(work: Work, left: &Print, reference: &Reference, ended: &Ended) -> Result<()> {
    let Reference { before, after, .. } = reference;
    let is_run = matches!(work, Work::Index | Work::IndexNew);
    if is_run {
        for (path, document) in &left.documents {
            let known = [before.documents.get(path), after.documents.get(path)].contains(&Some(document));
            ensure!(known, "{path} is neither as before nor as after: {document}");
        }
        for (path, document) in &before.documents {
            let stays = after.documents.get(path) == Some(document);
            ensure!(!stays || left.documents.get(path) == Some(document), "{path} went, which nothing changed");
        }
    } else if work.is_repeatable() {
        let of = |print: &Print| (print.documents.clone(), print.evidence.clone());
        let applied = of(left) == of(after);
        ensure!(applied || of(left) == of(before), "applied in part: {}", left.difference(after));
    }
    if work != Work::IndexNew {
        ensure!(before.judgements.is_subset(&left.judgements), "judgements went: {}", before.difference(left));
    }
    let new: BTreeSet<_> = left.judgements.difference(&before.judgements).collect();
    if work == Work::Feedback {
        ensure!(new.is_empty() || new.len() == 3, "judgements taken down in part: {new:?}");
    }
    if !work.is_acknowledged(ended) {
        return Ok(());
    }
    match work {
        Work::Remember => {}
        Work::Feedback => ensure!(new.len() == 3, "acknowledged judgements are not there: {ended}"),
        _ if is_run && ended.out.contains("could not be read") => {
            // A file that fails to be read is named, and the rest is indexed.
            let missing = after.documents.iter().filter(|(path, document)| left.documents.get(*path) != Some(document));
            for (path, _) in missing {
                let named = path.rsplit(' ').next().is_some_and(|path| ended.out.contains(path));
                ensure!(named, "acknowledged and not there: {path}: {ended}");
            }
        }
        _ => {
            let same = left.documents == after.documents && left.evidence == after.evidence;
            ensure!(same, "acknowledged and not there: {}", left.difference(after));
        }
    }
    Ok(())
}

/// The files of notes hold every note that was acknowledged, each whole.
fn notes(sandbox: &Sandbox, work: Work, ended: &Ended) -> Result<()> {
    let mut text = String::new();
    for entry in fs::read_dir(sandbox.tree().join("memory"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            text.push_str(&fs::read_to_string(&path).with_context(|| path.display().to_string())?);
        }
    }
    ensure!(text.contains(&format!("the {NOTE_WORD} blows from the west\n")), "a note went: {text:?}");
    if text.contains("lamp") && !text.contains(&format!("{}\n", note())) {
        bail!("a note in part: {text:?}");
    }
    if work == Work::Remember && work.is_acknowledged(ended) {
        ensure!(text.contains(&note()), "an acknowledged note is not there: {text:?}");
    }
    Ok(())
}
