//! Judged collections in the BEIR layout: `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`.

use crate::list::{List, Question, Source, Topic};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
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
    let known: BTreeMap<String, TextDocument> =
        documents(directory)?.into_iter().map(|document| (document.id.clone(), document)).collect();
    // Equal identifiers alone say nothing: where both are numbered, they mean different things.
    let is_itself = |query: &Query| {
        let first = query.text.lines().next().unwrap_or_default();
        let same =
            |document: &TextDocument| document.title.as_deref() == Some(first) || document.text.starts_with(first);
        !first.is_empty() && known.get(&query.id).is_some_and(same)
    };
    let unanswerable =
        |query: &Query| query.metadata.get("answerable").is_some_and(|flag| flag == false || flag == "UNANSWERABLE");
    let question = |query: &Query| {
        let expect = relevant.get(query.id.as_str()).cloned().unwrap_or_default();
        let topic = if expect.is_empty() { Topic::Near } else { Topic::Answerable };
        let itself = is_itself(query).then(|| query.id.clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_no_answer_to_itself_and_equal_numbers_say_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).expect("written");
        fs::create_dir(directory.path().join("qrels")).expect("made");
        write(
            "corpus.jsonl",
            "{\"_id\": \"1\", \"title\": \"The pump leaks\", \"text\": \"Since Monday.\"}\n{\"_id\": \"2\", \"text\": \"A valve\"}\n",
        );
        write(
            "queries.jsonl",
            "{\"_id\": \"1\", \"text\": \"The pump leaks\\nSince Monday.\"}\n{\"_id\": \"2\", \"text\": \"pumps\"}\n",
        );
        write("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\t2\t1\n2\t1\t1\n");
        let list = list(directory.path(), 9).expect("a list");
        let itself: Vec<Option<&str>> = list.questions.iter().map(|question| question.itself.as_deref()).collect();
        assert_eq!(itself, [Some("1"), None]);
    }
}
