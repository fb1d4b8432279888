//! The speed of the store in PostgreSQL, beside the embedded one on the same tree: indexing, searching by one client and by sixteen,
//! how many of the true nearest passages it finds under filters of all sizes, and a small namespace among many.

use crate::clients::Result;
use crate::database::VARIABLE;
use crate::mcp::quantile;
use crate::tree::{grow, ms, read_and_hash, timed};
use crate::{BYTES_A_PASSAGE, QUESTIONS, open, open_with};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;
use tamis::{Index, SearchRequest};
use tamis_embed::{Embedder, StaticModel, dot};
use tamis_store::prelude::*;
use tamis_store::{Filter, PassageId, PostgresStore};

/// The clients at once, and the searches of each.
const CLIENTS: usize = 16;
const EACH: usize = 24;

/// The passages of the small namespace, and the number of other namespaces around it.
const SMALL: u64 = 10_000;
const OTHERS: usize = 1_000;

/// Files of each of the others.
const FILES: usize = 12;

/// The nearest passages that are compared with the true ones.
const NEAREST: usize = 100;

pub fn run(passages: u64) -> Result<()> {
    let url = std::env::var(VARIABLE).map_err(|_| format!("{VARIABLE} must name a database, postgres://…"))?;
    let home = tempfile::tempdir()?;
    let tree = home.path().join("tree");
    let grown = grow(&tree, passages * BYTES_A_PASSAGE)?;
    let multiplied = if grown.rounds > 1 { ", real ones multiplied" } else { "" };
    read_and_hash(&tree)?;

    let embedded = open(&tree, &["static"])?;
    let (took, report) = timed(|| Ok(embedded.refresh()?))?;
    let rate = report.counts.passages as f64 / took.as_secs_f64();
    println!("first index, one directory: {} passages{multiplied}, {rate:.0} a second", report.counts.passages);
    let index = in_database(&tree, &url, "large")?;
    let (took, report) = timed(|| Ok(index.refresh()?))?;
    let other = report.counts.passages as f64 / took.as_secs_f64();
    println!(
        "first index, PostgreSQL: {} passages{multiplied}, {other:.0} a second, {:.2} of one directory",
        report.counts.passages,
        other / rate
    );
    println!("  seconds by stage: {}", stages(&report.timings_ms));

    let reference = searches("one directory", &embedded)?;
    crowd(&embedded, reference)?;
    drop(embedded);
    let one = searches("PostgreSQL", &index)?;
    println!("  {:.1} x one directory", one / reference);
    crowd(&index, one)?;
    recall(&url)?;
    among_many(&tree, &url, home.path())
}

fn in_database(tree: &Path, url: &str, namespace: &str) -> Result<Index> {
    open_with(tree, &[("index.models", "static"), ("store.url", url), ("store.namespace", namespace)])
}

fn stages(times: &std::collections::BTreeMap<String, f64>) -> String {
    let stage = |(stage, time): (&String, &f64)| format!("{stage} {:.1}", time / 1000.0);
    times.iter().map(stage).collect::<Vec<_>>().join(", ")
}

/// Warm searches from one client. Returns their median in milliseconds.
fn searches(name: &str, index: &Index) -> Result<f64> {
    for query in QUESTIONS.iter().cycle().take(24) {
        index.search(SearchRequest::new(*query))?;
    }
    let mut times = Vec::new();
    let mut by_stage = std::collections::BTreeMap::<String, f64>::new();
    for query in QUESTIONS.iter().cycle().take(120) {
        let (took, answer) = timed(|| Ok(index.search(SearchRequest::new(*query))?))?;
        for (stage, time) in answer.timings_ms {
            *by_stage.entry(stage).or_default() += time / 120.0;
        }
        times.push(ms(took));
    }
    let median = quantile(&mut times, 0.5);
    println!("search, warm, {name}: p50 {median:.1} ms, p95 {:.1} ms", quantile(&mut times, 0.95));
    let by_stage: Vec<String> = by_stage.iter().map(|(stage, mean)| format!("{stage} {mean:.1}")).collect();
    println!("  mean ms by stage: {}", by_stage.join(", "));
    Ok(median)
}

/// Searches of many clients at once.
fn crowd(index: &Index, one: f64) -> Result<()> {
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let mut times: Vec<f64> = std::thread::scope(|scope| {
        let client = || {
            let mut times = Vec::new();
            while let Some(at) = Some(next.fetch_add(1, SeqCst)).filter(|&at| at < CLIENTS * EACH) {
                let query = QUESTIONS[at % QUESTIONS.len()];
                let searched = timed(|| Ok(index.search(SearchRequest::new(query))?));
                times.push(searched.map(|(took, _)| ms(took)).map_err(|error| error.to_string()));
            }
            times
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect::<std::result::Result<_, _>>()
    })?;
    let rate = times.len() as f64 / started.elapsed().as_secs_f64();
    let median = quantile(&mut times, 0.5);
    println!(
        "{CLIENTS} clients at once: p50 {median:.1} ms, p95 {:.1} ms, {rate:.0} a second; {:.1} x one client",
        quantile(&mut times, 0.95),
        median / one
    );
    Ok(())
}

/// How many of the true nearest passages are found: among all, and under filters by path that a tenth, a hundredth and a thousandth
/// of the passages pass.
fn recall(url: &str) -> Result<()> {
    let store = PostgresStore::open(url, "large")?;
    let model = StaticModel::built_in();
    let id = model.model().id.clone();
    let documents = store.documents("large")?;
    let all: Vec<PassageId> = store.select(&Filter::namespace("large"))?.iter().map(|found| found.passage).collect();
    let mut vectors: Vec<(PassageId, Vec<f32>)> = Vec::with_capacity(all.len());
    for ids in all.chunks(10_000) {
        let found = store.vectors(&id, &["large".to_owned()], ids)?;
        vectors.extend(ids.iter().zip(found).filter_map(|(id, vector)| Some((*id, vector?))));
    }
    for part in [1, 10, 100, 1_000] {
        // Every so many files, by their names.
        let globs: Vec<String> = if part == 1 {
            Vec::new()
        } else {
            documents.iter().map(|document| document.path.clone()).step_by(part).collect()
        };
        let filter = Filter { path_globs: globs, ..Filter::namespace("large") };
        let passing: HashSet<PassageId> = store.select(&filter)?.iter().map(|found| found.passage).collect();
        let (mut found, mut wanted, mut times) = (0, 0, Vec::new());
        for query in QUESTIONS {
            let vector = model.embed_query(query)?;
            let mut truth: Vec<(f32, PassageId)> = vectors
                .iter()
                .filter(|(id, _)| passing.contains(id))
                .map(|(id, stored)| (dot(stored, &vector), *id))
                .collect();
            truth.sort_by(|a, b| b.0.total_cmp(&a.0));
            // Passages as near as the last one count as well as it.
            let last = truth.get(NEAREST - 1).or(truth.last()).map_or(f32::MIN, |(similarity, _)| *similarity);
            let truth: HashSet<PassageId> =
                truth.iter().take_while(|(similarity, _)| *similarity >= last - 1e-6).map(|(_, id)| *id).collect();
            store.nearest(&id, &vector, &filter, NEAREST)?;
            let (took, nearest) = timed(|| Ok(store.nearest(&id, &vector, &filter, NEAREST)?))?;
            times.push(ms(took));
            wanted += truth.len().min(NEAREST);
            found += nearest.hits.iter().filter(|hit| truth.contains(&hit.passage)).count();
        }
        println!(
            "nearest {NEAREST} of {} passages (1/{part}): {:.4} of the true ones, p50 {:.1} ms",
            passing.len(),
            found as f64 / wanted as f64,
            quantile(&mut times, 0.5)
        );
    }
    Ok(())
}

/// A namespace among many others.
fn among_many(tree: &Path, url: &str, home: &Path) -> Result<()> {
    let small = home.join("small");
    grow(&small, SMALL * BYTES_A_PASSAGE)?;
    let small = in_database(&small, url, "small")?;
    let passages = small.refresh()?.counts.passages;
    let alone = searches("a small namespace beside the large one", &small)?;
    // Each of the others is a few files of the tree.
    let mut files = Vec::new();
    collect(tree, &mut files)?;
    let mut written = 0;
    let (took, ()) = timed(|| {
        for number in 0..OTHERS {
            let place = home.join(format!("other-{number}"));
            for file in files.iter().cycle().skip(number * FILES).take(FILES) {
                let target = place.join(file.strip_prefix(tree)?);
                std::fs::create_dir_all(target.parent().unwrap_or(&place))?;
                std::fs::copy(file, target)?;
            }
            written += in_database(&place, url, &format!("other-{number}"))?.refresh()?.counts.passages;
            std::fs::remove_dir_all(&place)?;
        }
        Ok(())
    })?;
    println!(
        "{OTHERS} more namespaces: {written} passages, {:.0} a second; the small one has {passages}",
        written as f64 / took.as_secs_f64()
    );
    let among = searches("the small namespace among them all", &small)?;
    println!("  {:.2} x before", among / alone);
    Ok(())
}

/// Adds all files of a directory, by name.
pub fn collect(directory: &Path, files: &mut Vec<std::path::PathBuf>) -> Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(directory)?.collect::<std::io::Result<_>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != ".tamis" {
                collect(&path, files)?;
            }
        } else {
            files.push(path);
        }
    }
    Ok(())
}
