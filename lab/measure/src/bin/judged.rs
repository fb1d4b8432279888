//! Measures the ranking of the lexical retriever: nDCG@10 and recall@100 on judged collections in the layout of BEIR.
//!
//! ```text
//! cargo xtask lab judged $TAMIS_TEST_DATA/data/scifact
//! ```
//!
//! Each document is one passage with the title as its heading, or with `--title-in-text` as the start of its text, which
//! is how such collections are usually searched.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;
use tamis_store::prelude::*;
use tamis_store::{Access, Change, EmbeddedStore, FileStat, Filter, LexicalQuery, NewDocument, NewPassage, TextForm};

type Judgements = HashMap<String, HashMap<String, f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut title_in_text = false;
    println!("{:<20} {:>6} {:>9} {:>11} {:>9}", "collection", "asked", "nDCG@10", "recall@100", "ms/query");
    for argument in std::env::args().skip(1) {
        if argument == "--title-in-text" {
            title_in_text = true;
            continue;
        }
        measure(Path::new(&argument), title_in_text)?;
    }
    Ok(())
}

fn measure(collection: &Path, title_in_text: bool) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite)?;
    let mut changes = Vec::new();
    for line in std::fs::read_to_string(collection.join("corpus.jsonl"))?.lines() {
        changes.push(Change::Put(document(&serde_json::from_str(line)?, title_in_text)));
    }
    store.apply(&changes)?;
    store.publish(&mut |_| Ok(()))?;

    let judgements = judgements(&collection.join("qrels/test.tsv"))?;
    let (mut gain, mut recall, mut asked, mut seconds) = (0.0, 0.0, 0.0, 0.0);
    for line in std::fs::read_to_string(collection.join("queries.jsonl"))?.lines() {
        let query: Value = serde_json::from_str(line)?;
        let Some(judged) = judgements.get(text(&query, "_id")) else { continue };
        if judged.values().all(|&grade| grade <= 0.0) {
            continue;
        }
        let start = Instant::now();
        let found = store.lexical(&LexicalQuery::new(text(&query, "text")), &Filter::default(), 100)?;
        seconds += start.elapsed().as_secs_f64();
        let ids: Vec<_> = found.hits.iter().map(|hit| hit.passage).collect();
        // The judged collections of bug reports ask with a report that is in the corpus itself.
        let ranking: Vec<String> = store
            .passages(&[], &ids)?
            .into_iter()
            .map(|passage| passage.path)
            .filter(|path| path != text(&query, "_id"))
            .collect();
        gain += ndcg(&ranking, judged, 10);
        let right = judged.values().filter(|&&grade| grade > 0.0).count();
        let hit = ranking.iter().filter(|path| judged.get(*path).is_some_and(|&grade| grade > 0.0)).count();
        recall += hit as f64 / right as f64;
        asked += 1.0;
    }
    let name = collection.file_name().unwrap_or_default().to_string_lossy();
    println!("{name:<20} {asked:>6} {:>9.4} {:>11.4} {:>9.3}", gain / asked, recall / asked, 1000.0 * seconds / asked);
    Ok(())
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn document(value: &Value, title_in_text: bool) -> NewDocument {
    let title = text(value, "title");
    let body = text(value, "text");
    let (heading, body) = if title_in_text || title.is_empty() {
        (None, format!("{title}\n{body}"))
    } else {
        (Some(title.to_owned()), body.to_owned())
    };
    NewDocument {
        file: FileStat { size: body.len() as u64, ..FileStat::default() },
        passages: vec![NewPassage { heading, ..NewPassage::new("section", 1..=1, body, TextForm::Prose) }],
        ..NewDocument::new("judged", "docs", text(value, "_id"))
    }
}

fn judgements(path: &Path) -> Result<Judgements, Box<dyn Error>> {
    let mut judgements = Judgements::new();
    for line in std::fs::read_to_string(path)?.lines().skip(1) {
        let mut columns = line.split('\t');
        if let (Some(query), Some(document), Some(grade)) = (columns.next(), columns.next(), columns.next()) {
            judgements.entry(query.to_owned()).or_default().insert(document.to_owned(), grade.trim().parse()?);
        }
    }
    Ok(judgements)
}

/// Normalised discounted cumulative gain with linear gains, as trec_eval computes it.
fn ndcg(ranking: &[String], judged: &HashMap<String, f64>, depth: usize) -> f64 {
    let discounted = |grades: &mut dyn Iterator<Item = f64>| -> f64 {
        grades.take(depth).zip(2..).map(|(grade, rank)| grade / f64::from(rank).log2()).sum()
    };
    let mut ideal: Vec<f64> = judged.values().copied().filter(|&grade| grade > 0.0).collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let found = discounted(&mut ranking.iter().map(|path| judged.get(path).copied().unwrap_or(0.0).max(0.0)));
    found / discounted(&mut ideal.into_iter())
}
