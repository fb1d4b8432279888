//! The content of an index, for comparison before and after a disturbance.

use super::fixture::KEPT_WORD;
use super::sandbox::Sandbox;
use anyhow::{Context, Result, ensure};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The content of an index, by names. Identifiers and times are left out, since they differ from run to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Documents with their passages, by path.
    pub documents: BTreeMap<String, String>,
    /// Rows of the evidence graph.
    pub evidence: BTreeSet<String>,
    /// Judgements of results.
    pub judgements: BTreeSet<String>,
}

/// The tables of the evidence graph.
const EVIDENCE: [&str; 6] =
    ["evidence_tasks", "evidence_works", "evidence_pages", "evidence_fragments", "evidence_claims", "evidence_edges"];

impl Snapshot {
    /// Reads an index that no process has open. It reads a copy: reading recovers from a crash, and that is up to the program.
    ///
    /// # Errors
    /// The database is damaged, or a document has another number of passages than its row states.
    pub fn of(sandbox: &Sandbox) -> Result<Snapshot> {
        let mut print = Snapshot::default();
        let copy = tempfile::tempdir()?;
        if let Some(database) = opened(&sandbox.index(), "tamis.db", copy.path())? {
            sound(&database, "tamis.db")?;
            let documents = "SELECT d.namespace || ' ' || d.path, d.collection, hex(d.content_hash), d.origin, d.passages, \
                             (SELECT count(*) FROM passages p WHERE p.document = d.document), \
                             (SELECT group_concat(a.name || '=' || a.value, char(10)) FROM attributes a WHERE a.document = d.document), \
                             (SELECT group_concat(line, char(10)) FROM (SELECT p.start_line || '-' || p.end_line || ' ' || p.kind \
                              || ' ' || coalesce(p.symbol, '') || ' ' || coalesce(p.heading, '') || ' ' || hex(t.hash) AS line \
                              FROM passages p JOIN texts t ON t.id = p.text_id WHERE p.document = d.document ORDER BY p.ordinal)) \
                             FROM documents d";
            for row in rows(&database, documents)? {
                let (path, rest) = row.split_once('\t').context("a path and more")?;
                let counts: Vec<&str> = rest.split('\t').skip(3).take(2).collect();
                ensure!(counts.first() == counts.get(1), "{path}: {counts:?} passages stated and stored");
                print.documents.insert(path.to_owned(), rest.to_owned());
            }
            for table in EVIDENCE {
                let rows = rows(&database, &format!("SELECT * FROM {table}"))?;
                print.evidence.extend(rows.into_iter().map(|row| format!("{table}\t{row}")));
            }
        }
        if let Some(usage) = opened(&sandbox.index(), "usage.db", copy.path())? {
            sound(&usage, "usage.db")?;
            let judgements = "SELECT s.id, j.passage, j.relevant FROM usage_judgements j \
                 JOIN usage_searches s ON s.number = j.search";
            print.judgements.extend(rows(&usage, judgements)?);
        }
        Ok(print)
    }

    /// Describes the differences of two snapshots.
    pub fn difference(&self, other: &Snapshot) -> String {
        let mut lines = Vec::new();
        for path in self.documents.keys().chain(other.documents.keys()).collect::<BTreeSet<_>>() {
            match (self.documents.get(path), other.documents.get(path)) {
                (Some(_), None) => lines.push(format!("only the first has {path}")),
                (None, Some(_)) => lines.push(format!("only the second has {path}")),
                (one, two) if one != two => lines.push(format!("{path}: {one:?} and {two:?}")),
                _ => {}
            }
        }
        for (name, one, two) in
            [("evidence", &self.evidence, &other.evidence), ("judgements", &self.judgements, &other.judgements)]
        {
            lines.extend(one.difference(two).map(|row| format!("only the first has {name} {row}")));
            lines.extend(two.difference(one).map(|row| format!("only the second has {name} {row}")));
        }
        let more = lines.len().saturating_sub(6);
        lines.truncate(6);
        let lines: Vec<String> = lines.into_iter().map(|line| line.chars().take(600).collect()).collect();
        format!("{}{}", lines.join("; "), if more > 0 { format!("; and {more} more") } else { String::new() })
    }
}

/// Opens a copy of a database with its write-ahead log.
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
    // The program may have been killed before it made the tables.
    Ok((tables > 0).then_some(connection))
}

fn sound(connection: &Connection, name: &str) -> Result<()> {
    for pragma in ["integrity_check", "foreign_key_check"] {
        let found = rows(connection, &format!("PRAGMA {pragma}"))?;
        ensure!(found.is_empty() || found == ["ok"], "{name}: {pragma}: {:?}", &found[..found.len().min(3)]);
    }
    Ok(())
}

/// Returns the rows of a statement as text.
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

/// Runs a few searches by either retriever and returns passages with their scores.
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
            // Passages with equal scores come in any order.
            let mut scores: Vec<String> =
                results.iter().map(|hit| format!("{:.3}", hit["score"].as_f64().unwrap_or(f64::NAN))).collect();
            scores.sort();
            let best = results.first().and_then(|hit| hit["path"].as_str()).unwrap_or("nothing");
            found.push(format!("{mode} {query:?}: {} results, {best} first, {}", results.len(), scores.join(" ")));
        }
    }
    Ok(found)
}
