//! What must be in the database at the end.

use super::cluster::Cluster;
use super::ledger::Entries;
use super::load::{FILES, TREE, Tamis, text_of};
use anyhow::{Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use xtask::torture::sandbox::Sandbox;

/// The number of notes that are also searched for.
const SEARCHED: usize = 5;

/// Compares the database with what was acknowledged, and looks whether it is sound.
///
/// # Errors
/// Something is missing, or a document is there in part.
pub fn check(cluster: &Cluster, tamis: &Tamis<'_>, tree: &Sandbox, entries: &Entries) -> Result<()> {
    let notes =
        "SELECT namespace || ' ' || replace(text, E'\\n', ' ') FROM tamis.passages WHERE namespace LIKE 'note%'";
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for line in cluster.query("tamis", notes)? {
        let (namespace, text) = line.split_once(' ').unwrap_or_default();
        found.entry(namespace.to_owned()).or_default().push_str(text);
    }
    let has = |name: &&String| found.get(*name).is_some_and(|text| text.contains(&text_of(name)));
    missing("notes", entries.notes.iter().filter(|name| !has(name)))?;

    let judged = "SELECT s.id FROM tamis.usage_judgements j JOIN tamis.usage_searches s USING (namespace) \
         WHERE s.number = j.search AND j.relevant";
    let judged: BTreeSet<String> = cluster.query("tamis", judged)?.into_iter().collect();
    missing("judgements", entries.judged.iter().filter(|id| !judged.contains(*id)))?;

    let documents = format!(
        "SELECT d.path, count(p.*) = d.passages, count(DISTINCT substring(p.text FROM 'mark([0-9]+)x')), \
         min(substring(p.text FROM 'mark([0-9]+)x')::bigint) FROM tamis.documents d \
         JOIN tamis.passages p USING (namespace, document) WHERE d.namespace = '{TREE}' GROUP BY d.path, d.passages"
    );
    let documents = cluster.query("tamis", &documents)?;
    ensure!(documents.len() == FILES, "{} of {FILES} documents are in the index", documents.len());
    for line in documents {
        let fields: Vec<&str> = line.split('|').collect();
        let [path, is_whole, rounds, round] = fields.as_slice() else { anyhow::bail!("{line}: four fields expected") };
        ensure!(*is_whole == "t" && *rounds == "1", "{path} is there in part: {line}");
        let round: u64 = round.parse()?;
        ensure!(
            round >= entries.round,
            "{path} is that of round {round}, and round {} was acknowledged",
            entries.round
        );
    }

    println!("{}", tamis.done(tree, TREE, &["store", "check", "--check-only"])?.trim());
    for name in entries.notes.iter().rev().take(SEARCHED) {
        let arguments =
            ["search", "--json", "--no-refresh", "--mode", "lexical", "--namespace", name, &format!("{name}x")];
        let answer = tamis.done(tree, TREE, &arguments)?;
        ensure!(answer.contains(&text_of(name)), "a search does not find the note {name}: {answer}");
    }
    Ok(())
}

fn missing<'a>(kind: &str, missing: impl Iterator<Item = &'a String>) -> Result<()> {
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    let named = missing.iter().take(10).copied().collect::<Vec<_>>().join(", ");
    ensure!(missing.is_empty(), "{} acknowledged {kind} are missing: {named}", missing.len());
    Ok(())
}
