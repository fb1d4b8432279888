//! Measures how well a model alone ranks, on collections in the BEIR layout.
//!
//! ```text
//! cargo xtask lab ndcg MODEL DIRECTORY...
//! ```
//!
//! MODEL is `static`, `static:TABLE.bin`, `minilm`, or the path of a model's directory; each DIRECTORY holds
//! `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`. Prints nDCG@10 (gain: the grade; discount: log2 of the rank plus
//! one) as the mean over judged queries, and the mean over collections. A query's own document is left out.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use tamis_embed::{Embedder, LocalModel, MiniLm, StaticModel, TokenTable, dot};

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

/// Grades of the documents of each query.
type Judgements = HashMap<String, HashMap<String, f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let model = open(&arguments.next().ok_or("usage: ndcg MODEL DIRECTORY...")?)?;
    println!("model {}", model.model().id);
    let mut figures = Vec::new();
    for directory in arguments {
        let figure = evaluate(model.as_ref(), Path::new(&directory))?;
        println!("{figure:.4}  {directory}");
        figures.push(figure);
    }
    if !figures.is_empty() {
        println!("{:.4}  mean of {}", figures.iter().sum::<f64>() / figures.len() as f64, figures.len());
    }
    Ok(())
}

fn open(name: &str) -> Result<Box<dyn Embedder>, Box<dyn Error>> {
    Ok(match name.split_once(':') {
        None if name == "static" => {
            let table = TokenTable::from_bytes(StaticModel::built_in_bytes())?;
            Box::new(StaticModel::new("static", table)?)
        }
        None if name == "minilm" => Box::new(MiniLm::load()?),
        Some(("static", path)) => {
            let file: &'static [u8] = fs::read(path)?.leak();
            Box::new(StaticModel::new(path, TokenTable::from_bytes(file)?)?)
        }
        _ => Box::new(LocalModel::open(Path::new(name))?),
    })
}

fn evaluate(model: &dyn Embedder, directory: &Path) -> Result<f64, Box<dyn Error>> {
    let corpus = read(&directory.join("corpus.jsonl"))?;
    let texts: Vec<String> = corpus.iter().map(|document| format!("{} {}", document.title, document.text)).collect();
    let vectors = model.embed_passages(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    let judgements = judgements(&fs::read_to_string(directory.join("qrels/test.tsv"))?)?;
    let mut sum = 0.0;
    let mut count = 0;
    for query in read(&directory.join("queries.jsonl"))? {
        let Some(grades) = judgements.get(&query.id) else { continue };
        let vector = model.embed_query(&query.text)?;
        let mut ranking: Vec<(f32, &str)> = corpus
            .iter()
            .zip(&vectors)
            .filter(|(document, _)| document.id != query.id)
            .map(|(document, passage)| (dot(&vector, passage), document.id.as_str()))
            .collect();
        ranking.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        let gains = ranking.iter().take(10).map(|(_, id)| grades.get(*id).copied().unwrap_or(0.0));
        let mut ideal: Vec<f64> = grades.iter().filter(|(id, _)| **id != query.id).map(|(_, &grade)| grade).collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let best = discounted(ideal.into_iter().take(10));
        if best > 0.0 {
            sum += discounted(gains) / best;
            count += 1;
        }
    }
    Ok(sum / f64::from(count.max(1)))
}

fn discounted(gains: impl Iterator<Item = f64>) -> f64 {
    gains.enumerate().map(|(rank, gain)| gain / (rank as f64 + 2.0).log2()).sum()
}

fn read(path: &Path) -> Result<Vec<Document>, Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut seen = HashSet::new();
    let documents: Vec<Document> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(documents.into_iter().filter(|document| seen.insert(document.id.clone())).collect())
}

fn judgements(text: &str) -> Result<Judgements, Box<dyn Error>> {
    let mut judgements = Judgements::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split('\t');
        if let (Some(query), Some(document), Some(grade)) = (fields.next(), fields.next(), fields.next()) {
            judgements.entry(query.to_owned()).or_default().insert(document.to_owned(), grade.trim().parse()?);
        }
    }
    Ok(judgements)
}
