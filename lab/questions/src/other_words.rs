//! Lists of questions kept elsewhere, one JSON object a line, to trees that were fetched beforehand.

use crate::list::{List, Question, Source, Topic};
use crate::place::Place;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
struct Line {
    tree: String,
    kind: Topic,
    ask: String,
    #[serde(default)]
    expect: Vec<String>,
    #[serde(default)]
    quote: Option<String>,
}

/// Reads the lists of a directory, by name. A question whose quote is no longer in its file is left out.
///
/// # Errors
/// A list cannot be read.
pub fn lists(directory: &Path, trees: &Path) -> Result<Vec<List>> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(Vec::new()) };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files.iter().map(|path| list(path, trees)).collect()
}

/// Returns where the tree of a list is.
#[must_use]
pub fn place(list: &List) -> Place {
    match &list.source {
        Source::Directory { path, .. } if path.is_dir() => Place::Tree { root: path.clone(), notes: false },
        _ => Place::Missing("its tree is not here".to_owned()),
    }
}

/// A query in the code's own words.
#[derive(Deserialize)]
struct Query {
    tree: String,
    ask: String,
    expect: Vec<String>,
}

/// Reads queries in the code's own words: `questions.jsonl`, and `repositories.tsv` with the folder of each repository that is searched.
/// A query whose files are not in the checkout is left out.
///
/// # Errors
/// A file cannot be read.
pub fn queries_by_repository(directory: &Path, checkouts: &Path) -> Result<Vec<List>> {
    let Ok(table) = fs::read_to_string(directory.join("repositories.tsv")) else { return Ok(Vec::new()) };
    let text = fs::read_to_string(directory.join("questions.jsonl"))?;
    let parse = |line: &str| -> Result<Query> { serde_json::from_str(line).with_context(|| line.to_owned()) };
    let queries = text.lines().filter(|line| !line.is_empty()).map(parse).collect::<Result<Vec<Query>>>()?;
    let mut lists = Vec::new();
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [name, .., folder] = cells[..] else { continue };
        let folder = if folder == "None" { "" } else { folder };
        let root = checkouts.join(name).join(folder);
        let under = |file: &String| {
            let file = file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/');
            root.join(file).is_file().then(|| file.to_owned())
        };
        let questions = queries.iter().filter(|query| query.tree == name).filter_map(|query| {
            let expect: Vec<String> = query.expect.iter().filter_map(under).collect();
            (!expect.is_empty()).then(|| Question::answered_by(&query.ask, expect))
        });
        let questions = questions.collect();
        let source = Source::Directory { path: root, notes: false };
        lists.push(List { about: format!("queries to {name}"), name: format!("words/{name}"), source, questions });
    }
    Ok(lists)
}

fn list(path: &Path, trees: &Path) -> Result<List> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let parse = |line: &str| -> Result<Line> {
        serde_json::from_str(line).with_context(|| format!("{}: {line}", path.display()))
    };
    let lines = text.lines().filter(|line| !line.is_empty()).map(parse).collect::<Result<Vec<Line>>>()?;
    let name = lines.first().map(|line| line.tree.clone()).unwrap_or_default();
    let root = trees.join(&name);
    let holds = |line: &Line| match (&line.quote, line.expect.first()) {
        (Some(quote), Some(file)) => {
            fs::read(root.join(file)).is_ok_and(|text| String::from_utf8_lossy(&text).contains(quote))
        }
        _ => true,
    };
    let questions = lines.iter().filter(|line| holds(line)).map(|line| Question {
        ask: line.ask.clone(),
        topic: line.kind,
        expect: line.expect.clone(),
        itself: None,
    });
    let questions: Vec<Question> = questions.collect();
    if root.is_dir() && questions.len() < lines.len() {
        eprintln!("{name}: {} questions left out, whose quotes are gone", lines.len() - questions.len());
    }
    Ok(List { about: name.clone(), source: Source::Directory { path: root, notes: false }, name, questions })
}
