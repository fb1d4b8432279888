//! Writes the evidence on each entry of the lists of many questions, from which the model of relevance is fitted.

use crate::exact::exact_questions;
use crate::index::IndexedTree;
use crate::list::{List, Question, Source};
use crate::model::Model;
use crate::place::{Place, test_data};
use crate::{collection, history, other_words, own_words};
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tamis::SearchRequest;

/// Entries of a list that are written.
const ENTRIES: usize = 60;

/// Questions of each kind that are taken of a collection and of a history.
const EACH: usize = 100;

/// The places of the questions besides the lists of this project: by default those in `TAMIS_TEST_DATA` and `target`. What is not there
/// is skipped.
#[derive(Clone, Debug)]
pub struct Places {
    /// Lists of questions, one JSON object a line.
    pub questions: PathBuf,
    /// The trees that they ask.
    pub trees: PathBuf,
    /// Judged collections in the BEIR layout.
    pub collections: PathBuf,
    /// Checkouts of repositories with their history.
    pub histories: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        let root = crate::place::root();
        let data = test_data().unwrap_or_default();
        let [questions, collections] = ["questions", "data"].map(|name| data.join(name));
        let [trees, histories] = ["target/trees", "target/histories"].map(|path| root.join(path));
        Places { questions, trees, collections, histories }
    }
}

/// Asks all questions and writes the evidence, one question a line.
///
/// # Errors
/// A tree cannot be indexed or searched, or the output cannot be written.
pub fn write_evidence(places: &Places, mut output: impl Write) -> Result<()> {
    let mut ask = |list: &List, place: &Place, families: [Option<&str>; 3]| -> Result<()> {
        let started = Instant::now();
        let tree = IndexedTree::new(list, place, Model::Late)?;
        let index = tree.open()?;
        let mut asked: Vec<(&str, Question)> = Vec::new();
        let [own, exact, words] = families;
        asked.extend(own.into_iter().flat_map(|family| list.questions.iter().cloned().map(move |q| (family, q))));
        if let Some(family) = exact {
            let all = exact_questions(&tree, &index)?.into_iter().map(|(_, question)| (family, question));
            asked.extend(collection::evenly(all.collect(), EACH / 2));
        }
        if let Some(family) = words {
            asked.extend(own_words::questions(tree.root())?.into_iter().map(|question| (family, question)));
        }
        for (family, question) in &asked {
            // A report that asks for its duplicates is no answer to itself, and nobody's own report is there yet.
            let others: Vec<String> = question.itself.iter().map(|itself| format!("!/{itself}")).collect();
            let answer = index.search(SearchRequest::new(&question.ask).paths(others).limit(1000).explain())?;
            let entry = |entry: &tamis::search::PoolEntry| {
                let values: BTreeMap<&str, f64> =
                    entry.evidence.iter().map(|part| (part.name.as_str(), part.value)).collect();
                json!({ "path": entry.path, "relevant": question.expect.contains(&entry.path), "evidence": values })
            };
            let pool = answer.pool.unwrap_or_default();
            let entries: Vec<_> = pool.iter().take(ENTRIES).map(entry).collect();
            let late_weight = answer.cut.diagnostics.get("late_weight");
            let line = json!({
                "family": family, "list": list.name, "topic": question.topic, "ask": question.ask,
                "late_weight": late_weight, "entries": entries,
            });
            writeln!(output, "{line}")?;
        }
        eprintln!("{}: {} questions in {:.0?}", list.name, asked.len(), started.elapsed());
        Ok(())
    };
    for list in List::all()? {
        let place = Place::of(&list)?;
        if let Place::Missing(reason) = &place {
            eprintln!("{}: skipped: {reason}", list.name);
            continue;
        }
        let is_code = matches!(list.source, Source::Crate { .. });
        ask(&list, &place, [Some("lists"), is_code.then_some("exact"), is_code.then_some("own words")])?;
    }
    for list in other_words::lists(&places.questions, &places.trees)? {
        let place = other_words::place(&list);
        if let Place::Missing(reason) = &place {
            eprintln!("{}: skipped: {reason}", list.name);
            continue;
        }
        ask(&list, &place, [Some("other words"), None, Some("own words")])?;
    }
    for directory in directories(&places.histories)? {
        let list = history::list(&directory, EACH)?;
        ask(&list, &Place::Tree { root: directory, notes: false }, [Some("commits"), None, None])?;
    }
    for directory in directories(&places.collections)? {
        if directory.join("corpus.jsonl").is_file() {
            let list = collection::list(&directory, EACH)?;
            ask(&list, &Place::Collection(directory), [Some("collections"), None, None])?;
        }
    }
    Ok(())
}

/// The directories in a directory, by name; none if it does not exist.
fn directories(directory: &Path) -> Result<Vec<PathBuf>> {
    if !directory.is_dir() {
        eprintln!("{}: skipped: there is no such directory", directory.display());
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    let mut found: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    Ok(found)
}
