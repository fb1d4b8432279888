//! Judged collections in the BEIR layout: `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`.

use crate::list::{List, Question, Source, Topic};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tamis::TextDocument;

/// The collection that the documents are put into.
const NAME: &str = "texts";

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct Query {
    #[serde(rename = "_id")]
    id: String,
    text: String,
    #[serde(default)]
    metadata: serde_json::Value,
}

/// Reads the documents of a collection.
///
/// # Errors
/// The file cannot be read, or a line is no document.
pub fn documents(directory: &Path) -> Result<Vec<TextDocument>> {
    let document = |document: Document| TextDocument {
        id: document.id,
        collection: NAME.to_owned(),
        title: Some(document.title).filter(|title| !title.is_empty()),
        text: document.text,
    };
    Ok(lines(&directory.join("corpus.jsonl"))?.into_iter().map(document).collect())
}

/// Reads the queries of a collection: at most `most` of those with a relevant document, evenly chosen, and half as many of those
/// that say that nothing answers them. A query that is itself a document does not expect itself.
///
/// # Errors
/// A file cannot be read, or a line of it cannot be understood.
pub fn list(directory: &Path, most: usize) -> Result<List> {
    let path = directory.join("qrels/test.tsv");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut relevant: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [query, document, grade] = fields[..] else { continue };
        if grade.trim().parse::<f64>().is_ok_and(|grade| grade > 0.0) {
            relevant.entry(query).or_default().push(document.to_owned());
        }
    }
    let queries: Vec<Query> = lines(&directory.join("queries.jsonl"))?;
    let known: BTreeSet<String> = documents(directory)?.into_iter().map(|document| document.id).collect();
    // Where both are numbered, equal numbers mean different things.
    let names_itself = queries.iter().all(|query| known.contains(&query.id))
        && queries.iter().any(|query| query.id.parse::<u64>().is_err());
    let unanswerable =
        |query: &Query| query.metadata.get("answerable").is_some_and(|flag| flag == false || flag == "UNANSWERABLE");
    let question = |query: &Query| {
        let expect = relevant.get(query.id.as_str()).cloned().unwrap_or_default();
        let topic = if expect.is_empty() { Topic::Near } else { Topic::Answerable };
        let itself = names_itself.then(|| query.id.clone());
        Question { ask: query.text.clone(), topic, expect, itself }
    };
    let answerable: Vec<Question> =
        queries.iter().filter(|query| relevant.contains_key(query.id.as_str())).map(question).collect();
    let unanswered: Vec<Question> = queries
        .iter()
        .filter(|query| !relevant.contains_key(query.id.as_str()) && unanswerable(query))
        .map(question)
        .collect();
    let mut questions = evenly(answerable, most);
    questions.extend(evenly(unanswered, most / 2));
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = Source::Collection { path: directory.to_owned() };
    Ok(List { about: format!("the judged collection {name}"), name, source, questions })
}

/// Takes at most so many of a list, at even distances.
pub fn evenly<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let count = all.len();
    let keeps = move |at: usize| count <= most || at * most / count != (at + 1) * most / count;
    all.into_iter().enumerate().filter(|(at, _)| keeps(*at)).map(|(_, one)| one).collect()
}

fn lines<T: for<'d> Deserialize<'d>>(path: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let parse = |line: &str| serde_json::from_str(line).with_context(|| format!("{}: {line}", path.display()));
    text.lines().filter(|line| !line.trim().is_empty()).map(parse).collect()
}
