//! temporary
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use tamis::config::{Config, Origins};
use tamis::{Index, Location, RunOptions, SearchRequest, TextDocument};
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Vec<String> = std::env::args().collect();
    let (dir, model, out) = (PathBuf::from(&a[1]), &a[2], &a[3]);
    let cache = PathBuf::from(&a[4]);
    let origins = Origins { flags: vec![("index.models".into(), model.clone(), "m".into()), ("search.model".into(), model.clone(), "m".into()), ("gate.margin".into(), "-10".into(), "g".into())], ..Origins::default() };
    let config = Config::load(&origins, None)?;
    fs::create_dir_all(&cache)?;
    let fresh = !cache.join(".tamis/tamis.db").exists();
    let index = Index::open(Location::at(&cache, None), config)?;
    let rec = |p: PathBuf| -> Vec<serde_json::Value> { fs::read_to_string(p).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect() };
    let f = |r: &serde_json::Value, n: &str| r[n].as_str().unwrap_or_default().to_owned();
    if fresh {
        let docs: Vec<TextDocument> = rec(dir.join("corpus.jsonl")).iter().map(|r| TextDocument { id: f(r, "_id"), collection: "corpus".into(), title: Some(f(r, "title")), text: f(r, "text") }).collect();
        for b in docs.chunks(500) { index.put_documents(b)?; }
    }
    index.complete(RunOptions::WHOLE, &())?;
    let mut grades: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for l in fs::read_to_string(dir.join("qrels/test.tsv"))?.lines().skip(1) { let c: Vec<&str> = l.split('\t').collect(); grades.entry(c[0].into()).or_default().insert(c[1].into(), c[2].trim().parse()?); }
    let foreign: Vec<(String, String)> = a[5..].iter().flat_map(|d| { let g: std::collections::HashSet<String> = fs::read_to_string(PathBuf::from(d).join("qrels/test.tsv")).unwrap().lines().skip(1).map(|l| l.split('\t').next().unwrap().to_owned()).collect(); rec(PathBuf::from(d).join("queries.jsonl")).iter().filter(|r| g.contains(&f(r, "_id"))).take(60).map(|r| (format!("foreign-{d}-{}", f(r, "_id")), f(r, "text"))).collect::<Vec<_>>() }).collect();
    let mut lines = String::new();
    let qs: Vec<(String, String)> = rec(dir.join("queries.jsonl")).iter().filter(|r| grades.contains_key(&f(r, "_id")) || r["metadata"]["answerable"] == false || r["metadata"]["answerability"][0] == "UNANSWERABLE").map(|r| (f(r, "_id"), f(r, "text"))).chain(foreign).collect();
    for (id, text) in qs {
        let ans = index.search(&SearchRequest { explain: true, ..SearchRequest::new(text.as_str()) }, &Default::default())?;
        let g = grades.get(&id);
        let pool: Vec<_> = ans.pool.iter().flatten().map(|e| serde_json::json!([e.path, e.bm25, e.similarity, e.coverage, e.score, g.and_then(|g| g.get(&e.path)).copied().unwrap_or(0.0)])).collect();
        let total = g.map_or(0, |g| g.values().filter(|&&v| v > 0.0).count());
        lines.push_str(&serde_json::json!({"id": id, "text": text, "pool": pool, "relevant": total, "diag": ans.cut.diagnostics}).to_string());
        lines.push('\n');
    }
    fs::write(out, lines)?;
    Ok(())
}
