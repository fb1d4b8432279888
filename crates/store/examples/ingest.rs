//! Measures the speed of storing and answering, on any directory of text.
//!
//! ```text
//! cargo run --release -p tamis-store --example ingest -- ~/.cargo/registry/src [passages]
//! ```
//!
//! Files are cut at blank lines into passages of 300 to 1,500 characters; nothing is written to the directory.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tamis_store::prelude::*;
use tamis_store::{Access, Change, EmbeddedStore, Filter, LexicalQuery, ModelKey, NewDocument, NewPassage, TextForm};

const BATCH: usize = 2_000;
const QUERIES: usize = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().ok_or("usage: ingest DIRECTORY [PASSAGES]")?);
    let wanted = arguments.next().map_or(Ok(50_000), |count| count.parse())?;
    let documents = read(&root, wanted)?;
    let passages: usize = documents.iter().map(|document| document.passages.len()).sum();
    let bytes: u64 = documents.iter().map(|document| document.size).sum();
    println!("{} documents, {passages} passages, {:.1} MB", documents.len(), bytes as f64 / 1e6);
    let questions = questions(&documents);
    let path = documents[0].path.clone();

    let directory = tempfile::tempdir()?;
    let store = EmbeddedStore::open(directory.path(), Access::ReadWrite)?;
    let mut batches: Vec<Vec<Change>> = vec![Vec::new()];
    let mut room = BATCH;
    for document in documents {
        if room < document.passages.len() {
            batches.push(Vec::new());
            room = BATCH;
        }
        room = room.saturating_sub(document.passages.len());
        if let Some(batch) = batches.last_mut() {
            batch.push(Change::Put(document));
        }
    }
    let held = store.writer()?;
    let time = Instant::now();
    for batch in &batches {
        store.apply(batch)?;
    }
    rate("database", passages, time.elapsed());
    let time = Instant::now();
    store.publish(&mut |_| Ok(()))?;
    rate("lexical index", passages, time.elapsed());

    let model = ModelKey { id: "random".into(), dimension: 256 };
    let mut seed = 1u64;
    let time = Instant::now();
    loop {
        let texts = store.unembedded(&model.id, &Filter::default(), 4 * BATCH)?;
        if texts.is_empty() {
            break;
        }
        let vectors: Vec<_> = texts.iter().map(|text| (text.hash, random_vector(&mut seed, model.dimension))).collect();
        store.put_vectors(&model, &vectors)?;
    }
    rate("vectors", passages, time.elapsed());
    let time = Instant::now();
    store.publish(&mut |_| Ok(()))?;
    rate("vector file", passages, time.elapsed());

    let time = Instant::now();
    store.apply(&batches[0][..1])?;
    println!("one document again: {:.1} ms", milliseconds(time.elapsed()));
    let time = Instant::now();
    store.publish(&mut |_| Ok(()))?;
    println!("publishing it:      {:.1} ms", milliseconds(time.elapsed()));
    drop(held);

    let filters = [
        ("everything", Filter::default()),
        ("one glob", Filter { path_globs: vec!["*.rs".into()], ..Filter::default() }),
        ("one role", Filter { roles: vec!["test".into()], ..Filter::default() }),
        ("one file", Filter { path_globs: vec![format!("/{path}")], ..Filter::default() }),
    ];
    for (name, filter) in &filters {
        let time = Instant::now();
        let first = store.lexical(&LexicalQuery::new(&questions[0]), filter, 1)?;
        println!(
            "\n{name}: {} passages; first query {:.2} ms",
            first.statistics.passages,
            milliseconds(time.elapsed())
        );
        let mut lexical = Vec::new();
        let mut scores = Vec::new();
        let mut semantic = Vec::new();
        let mut similarities = Vec::new();
        let mut reading = Vec::new();
        for question in &questions {
            let query = LexicalQuery::new(question);
            let vector = random_vector(&mut seed, model.dimension);
            let found = timed(&mut lexical, || store.lexical(&query, filter, 100))?;
            let near = timed(&mut semantic, || store.nearest(&model.id, &vector, filter, 100))?;
            let by_words: Vec<_> = found.hits.iter().map(|hit| hit.passage).collect();
            let by_vector: Vec<_> = near.hits.iter().map(|hit| hit.passage).collect();
            timed(&mut scores, || store.bm25(&query, filter, &by_vector))?;
            timed(&mut similarities, || store.similarities(&model.id, &vector, filter, &by_words))?;
            timed(&mut reading, || store.passages(&by_words[..by_words.len().min(10)]))?;
        }
        quantiles("lexical, best 100", &mut lexical);
        quantiles("BM25 of 100", &mut scores);
        quantiles("nearest 100", &mut semantic);
        quantiles("similarities of 100", &mut similarities);
        quantiles("10 passages", &mut reading);
    }
    let summary = store.summary()?;
    println!("\nbytes: {:?}", summary.sizes);
    let time = Instant::now();
    println!("check: {:?} in {:.0} ms", store.check()?.problems, milliseconds(time.elapsed()));
    let time = Instant::now();
    drop(store);
    println!("closing: {:.1} ms", milliseconds(time.elapsed()));
    let time = Instant::now();
    let again = EmbeddedStore::open(directory.path(), Access::ReadOnly)?;
    again.lexical(&LexicalQuery::new(&questions[0]), &Filter::default(), 10)?;
    println!("opening and first answer: {:.1} ms", milliseconds(time.elapsed()));
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn rate(what: &str, passages: usize, time: Duration) {
    println!("{what:<14} {:>9.0} passages/s ({:.2} s)", passages as f64 / time.as_secs_f64(), time.as_secs_f64());
}

fn timed<T>(times: &mut Vec<f64>, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    times.push(milliseconds(start.elapsed()));
    result
}

fn quantiles(what: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("  {what:<20} p50 {:>7.3} ms  p95 {:>7.3} ms  p99 {:>7.3} ms", at(0.5), at(0.95), at(0.99));
}

fn random(seed: &mut u64) -> u64 {
    // xorshift64: good enough to vary the measurements, and the same every time.
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn random_vector(seed: &mut u64, dimension: usize) -> Vec<f32> {
    (0..dimension).map(|_| (random(seed) % 2_001) as f32 / 1_000.0 - 1.0).collect()
}

/// Questions of eight consecutive words of a text.
fn questions(documents: &[NewDocument]) -> Vec<String> {
    let mut seed = 42;
    let mut questions = Vec::new();
    while questions.len() < QUERIES {
        let document = &documents[random(&mut seed) as usize % documents.len()];
        let passage = &document.passages[random(&mut seed) as usize % document.passages.len()];
        let words: Vec<&str> = passage
            .text
            .split(|character: char| !character.is_alphanumeric() && character != '_')
            .filter(|word| word.len() > 1)
            .collect();
        if words.len() > 8 {
            let start = random(&mut seed) as usize % (words.len() - 8);
            questions.push(words[start..start + 8].join(" "));
        }
    }
    questions
}

fn read(root: &Path, wanted: usize) -> Result<Vec<NewDocument>, Box<dyn Error>> {
    let mut documents = Vec::new();
    let mut passages = 0;
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(directory)?.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let code = path.extension().is_some_and(|extension| extension == "rs");
            let prose = path.extension().is_some_and(|extension| extension == "md");
            let Some(text) = (code || prose).then(|| std::fs::read_to_string(&path).ok()).flatten() else { continue };
            let relative = path.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
            let document = document(relative, &text, code);
            passages += document.passages.len();
            if !document.passages.is_empty() {
                documents.push(document);
            }
            if passages >= wanted {
                return Ok(documents);
            }
        }
    }
    Ok(documents)
}

fn document(path: String, text: &str, code: bool) -> NewDocument {
    let form = if code { TextForm::Code } else { TextForm::Prose };
    let role = if path.contains("/tests/") { "test" } else { "main" };
    let mut passages = Vec::new();
    let (mut piece, mut start, mut line) = (String::new(), 1, 0);
    for current in text.lines() {
        line += 1;
        let full = piece.len() > 300 && current.trim().is_empty() || piece.len() + current.len() > 1_500;
        if full && !piece.trim().is_empty() {
            passages.push(passage(std::mem::take(&mut piece), start, line - 1, form, role));
            start = line;
        }
        piece.extend(current.chars().take(1_500));
        piece.push('\n');
    }
    if !piece.trim().is_empty() {
        passages.push(passage(piece, start, line.max(1), form, role));
    }
    NewDocument {
        language: Some(if code { "rust" } else { "markdown" }.into()),
        role: role.into(),
        size: text.len() as u64,
        passages,
        ..NewDocument::new("measured", if code { "code" } else { "docs" }, path)
    }
}

fn passage(text: String, start_line: u32, end_line: u32, form: TextForm, role: &str) -> NewPassage {
    NewPassage { role: role.into(), ..NewPassage::new("lines", start_line..=end_line, text, form) }
}
