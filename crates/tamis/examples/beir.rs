//! Indexes a test collection in BEIR's layout through the library and prints how well it is ranked and cut.
//!
//! ```text
//! cargo run --release -p tamis --example beir -- DIR [--model static|minilm] [--cut METHOD[:PARAM=VALUE,…]] [--own-id]
//!     [--weight SHARE] [--foreign DIR]…
//! ```
//!
//! DIR holds `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`) and `qrels/test.tsv`. Ranking is
//! nDCG@10 over the queries that have a relevant document, without a cut; F1 is that of what the cut keeps, as a share of
//! the best F1 that any length of the same list has. `--own-id` leaves the query's own document out, `--weight` sets the
//! semantic leg's share in the fusion, and the first 60 queries of each `--foreign` collection ask for what is not there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use tamis::config::{Config, Origins};
use tamis::{Answer, Index, Location, Mode, RunOptions, SearchRequest, TextDocument};

type Grades = HashMap<String, HashMap<String, f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut directory, mut model, mut cut, mut own_id) = (None, "minilm".to_owned(), "background".to_owned(), false);
    let (mut weight, mut foreign) = ("auto".to_owned(), Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--model" => model = value()?,
            "--cut" => cut = value()?,
            "--own-id" => own_id = true,
            "--weight" => weight = value()?,
            "--foreign" => foreign.push(PathBuf::from(value()?)),
            _ => directory = Some(PathBuf::from(argument)),
        }
    }
    let directory = directory.ok_or("which directory?")?;

    let origins = Origins {
        flags: vec![
            ("index.models".into(), model.clone(), "--model".into()),
            ("search.model".into(), model.clone(), "--model".into()),
            ("search.fusion_weight".into(), weight, "--weight".into()),
        ],
        ..Origins::default()
    };
    let config = Config::load(&origins, None)?;
    let fixed = config.cut("fixed:k=100")?;
    let rule = config.cut(&cut)?;
    let home = tempfile::tempdir()?;
    let index = Index::open(Location::at(home.path(), None), config)?;
    let documents = corpus(&directory)?;
    for batch in documents.chunks(500) {
        index.put_documents(batch)?;
    }
    index.complete(RunOptions::WHOLE, &())?;

    let grades = grades(&directory.join("qrels/test.tsv"))?;
    let queries = queries(&directory)?;
    println!("{}: {} documents, {} queries, {model}", directory.display(), documents.len(), queries.len());
    for mode in [Mode::Lexical, Mode::Semantic, Mode::Hybrid] {
        let (mut ndcg, mut judged) = (0.0, 0);
        for (id, text) in &queries {
            let Some(relevant) = grades.get(id).filter(|grades| grades.values().any(|&grade| grade > 0.0)) else {
                continue;
            };
            let request = SearchRequest {
                cut: Some(fixed.clone()),
                mode: Some(mode),
                explain: true,
                ..SearchRequest::new(text.as_str())
            };
            let answer = index.search(&request, &Default::default())?;
            ndcg += ndcg_at_10(&ranking(&answer, own_id.then_some(id)).0, relevant);
            judged += 1;
        }
        println!("{mode:<9} nDCG@10 {:.4} over {judged} queries", ndcg / f64::from(judged.max(1)));
    }

    let (mut share, mut kept, mut answered, mut empty, mut silent) = (0.0, 0, 0, 0, 0);
    for (id, text) in &queries {
        let request = SearchRequest { cut: Some(rule.clone()), explain: true, ..SearchRequest::new(text.as_str()) };
        let answer = index.search(&request, &Default::default())?;
        let (ranking, keep) = ranking(&answer, own_id.then_some(id));
        match grades.get(id).filter(|grades| grades.values().any(|&grade| grade > 0.0)) {
            Some(relevant) => {
                share += share_of_best(&ranking, keep, relevant);
                kept += keep;
                empty += usize::from(keep == 0);
                answered += 1;
            }
            None => silent += usize::from(keep == 0),
        }
    }
    let (mut strangers, mut refused) = (0, 0);
    for directory in &foreign {
        for text in self::queries(directory)?.values().take(60) {
            let answer = index.search(&SearchRequest::new(text.as_str()), &Default::default())?;
            refused += usize::from(answer.cut.keep == 0);
            strangers += 1;
        }
    }
    let queries = queries.len() - answered;
    let answered = answered.max(1) as f64;
    println!(
        "{cut}: {:.3} of the best F1, {:.1} kept, {:.3} wrongly empty",
        share / answered,
        kept as f64 / answered,
        empty as f64 / answered
    );
    if queries > 0 {
        println!("{silent} of {queries} queries without a relevant document came back empty");
    }
    if strangers > 0 {
        println!("{refused} of {strangers} queries of other collections came back empty");
    }
    Ok(())
}

/// Documents best first, each once, and how many of them the cut keeps.
fn ranking<'a>(answer: &'a Answer, without: Option<&String>) -> (Vec<&'a str>, usize) {
    let mut seen = HashSet::new();
    let (mut ranking, mut keep) = (Vec::new(), 0);
    for entry in answer.pool.iter().flatten() {
        if Some(&entry.path) != without && seen.insert(entry.path.as_str()) {
            ranking.push(entry.path.as_str());
            keep += usize::from(entry.kept);
        }
    }
    (ranking, keep)
}

fn ndcg_at_10(ranking: &[&str], grades: &HashMap<String, f64>) -> f64 {
    let gain = |(rank, grade): (usize, f64)| grade / (rank as f64 + 2.0).log2();
    let mut ideal: Vec<f64> = grades.values().copied().filter(|&grade| grade > 0.0).collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let found =
        ranking.iter().take(10).map(|id| grades.get(*id).copied().unwrap_or(0.0)).enumerate().map(gain).sum::<f64>();
    found / ideal.into_iter().take(10).enumerate().map(gain).sum::<f64>()
}

fn share_of_best(ranking: &[&str], keep: usize, grades: &HashMap<String, f64>) -> f64 {
    let relevant = grades.values().filter(|&&grade| grade > 0.0).count() as f64;
    let mut found = 0.0;
    let mut f1 = vec![0.0];
    for (at, id) in ranking.iter().enumerate() {
        found += f64::from(grades.get(*id).is_some_and(|&grade| grade > 0.0));
        f1.push(2.0 * found / (at as f64 + 1.0 + relevant));
    }
    let best = f1.iter().copied().fold(0.0, f64::max);
    if best > 0.0 { f1[keep.min(ranking.len())] / best } else { 1.0 }
}

fn records(path: &Path) -> Result<Vec<serde_json::Value>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn field(record: &serde_json::Value, name: &str) -> String {
    record[name].as_str().unwrap_or_default().to_owned()
}

fn corpus(directory: &Path) -> Result<Vec<TextDocument>, Box<dyn Error>> {
    let document = |record: serde_json::Value| TextDocument {
        id: field(&record, "_id"),
        collection: "corpus".into(),
        title: Some(field(&record, "title")),
        text: field(&record, "text"),
    };
    Ok(records(&directory.join("corpus.jsonl"))?.into_iter().map(document).collect())
}

/// The judged queries, in the order of their identifiers.
fn queries(directory: &Path) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let judged = grades(&directory.join("qrels/test.tsv"))?;
    let all = records(&directory.join("queries.jsonl"))?;
    let unanswerable = |record: &serde_json::Value| {
        let metadata = &record["metadata"];
        metadata["answerable"] == false || metadata["answerability"][0] == "UNANSWERABLE"
    };
    let keep = |record: &serde_json::Value| judged.contains_key(&field(record, "_id")) || unanswerable(record);
    Ok(all.iter().filter(|record| keep(record)).map(|record| (field(record, "_id"), field(record, "text"))).collect())
}

fn grades(path: &Path) -> Result<Grades, Box<dyn Error>> {
    let mut grades = Grades::new();
    for line in fs::read_to_string(path)?.lines().skip(1) {
        let mut columns = line.split('\t');
        if let (Some(query), Some(document), Some(grade)) = (columns.next(), columns.next(), columns.next()) {
            grades.entry(query.into()).or_default().insert(document.into(), grade.trim().parse()?);
        }
    }
    Ok(grades)
}
