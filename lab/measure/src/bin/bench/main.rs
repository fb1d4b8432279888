//! The speed of Tamis on a large tree: `cargo xtask bench [PASSAGES]`, and `cargo xtask bench mcp [PASSAGES]` for the
//! server for agents, `cargo xtask bench api [PASSAGES]` for the JSON API, and `cargo xtask bench postgres [PASSAGES]` for the store in
//! a database. `cargo xtask bench equality` measures answers instead: those from a database against those from a directory.
//!
//! The tree is made of the sources of the crates that the build itself has downloaded, copied until there are about as many passages as
//! asked for (50,000); where they do not suffice, they come again with other words. Each figure is printed with a ratio to a reference
//! measured in the same run, since machines differ and are noisy: reading and hashing the same bytes for indexing, a plain scan of all
//! vectors for searching, the runtime's own way to use the transformer for embedding (`throughput.rs`).

mod api;
mod clients;
mod database;
mod equality;
mod mcp;
mod postgres;
mod processes;
mod tree;

use clients::{Server, StdioClient, search};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tamis::config::{Config, Origins};
use tamis::{Index, Location, SearchRequest};
use tamis_embed::{Embedder, MiniLm, StaticModel};
use tamis_store::prelude::*;
use tamis_store::{Access, EmbeddedStore, Filter, ModelKey, TextHash};
use tree::{count, grow, median, ms, read_and_hash, stat_all, timed};

/// About the bytes of text that make a passage of such sources.
const BYTES_A_PASSAGE: u64 = 620;

/// Up to this many passages, the transformer's vectors are measured too. They need 1.5 kB a passage.
const MOST_WITH_TRANSFORMER: u64 = 100_000;

const QUESTIONS: [&str; 12] = [
    "how is a stale index detected",
    "where are retries with backoff handled",
    "parse a duration such as 5 minutes",
    "walk a directory and honour ignore files",
    "compile a regular expression to a finite automaton",
    "lock free queue between threads",
    "HashMap with a faster hash function",
    "serialize an enum as an internally tagged map",
    "error when a UTF-8 sequence is invalid",
    "memory map a file for reading",
    "pretty print a table in the terminal",
    "IndexWriter::commit",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if_eq("mcp").is_some() {
        return mcp::run(arguments.next().map_or(Ok(100_000), |text| text.parse())?);
    }
    if arguments.next_if_eq("api").is_some() {
        return api::run(arguments.next().map_or(Ok(100_000), |text| text.parse())?);
    }
    if arguments.next_if_eq("postgres").is_some() {
        return postgres::run(arguments.next().map_or(Ok(100_000), |text| text.parse())?);
    }
    if arguments.next_if_eq("equality").is_some() {
        if !equality::run(arguments)? {
            std::process::exit(1);
        }
        return Ok(());
    }
    let wanted: u64 = arguments.next().map_or(Ok(50_000), |text| text.parse())?;
    let home = tempfile::tempdir()?;
    let tree = home.path().join("tree");
    let grown = grow(&tree, wanted * BYTES_A_PASSAGE)?;
    let files = count(&tree)?;
    let real = if grown.rounds > 1 {
        format!("; the sources {} times over, each time with other words", grown.rounds)
    } else {
        String::new()
    };
    println!("tree: {files} files, {:.1} MB{real}", grown.bytes as f64 / 1e6);

    // Reference: the same bytes, listed, read and hashed on one core. The first pass warms the file cache.
    read_and_hash(&tree)?;
    let (reference, _) = timed(|| read_and_hash(&tree))?;

    let index = open(&tree, &["static"])?;
    let (took, report) = timed(|| Ok(index.refresh()?))?;
    let rate = report.counts.passages as f64 / took.as_secs_f64();
    println!(
        "first index, static: {} passages in {:.2} s, {rate:.0} passages/s; {:.1} x reading and hashing ({:.2} s)",
        report.counts.passages,
        took.as_secs_f64(),
        took.as_secs_f64() / reference.as_secs_f64(),
        reference.as_secs_f64()
    );
    let (took, words) = timed(|| words_alone(&index))?;
    println!("words of the same texts, tantivy on one thread: {:.2} s for {words} passages", took.as_secs_f64());
    let (took, peak, bytes) = processes::first_index(&tree, &home.path().join("other"))?;
    println!(
        "first index, its process: {took:.2} s, {peak} MB at most; {:.0} bytes a passage on disk",
        bytes as f64 / report.counts.passages as f64
    );
    let (took, _) = timed(|| Ok(index.refresh()?))?;
    let stat = median(5, || stat_all(&tree).map(drop))?;
    println!(
        "unchanged check: {:.1} ms for {files} files, {:.1} ms for 5,000; {:.1} x listing them on one core",
        ms(took),
        ms(took) * 5000.0 / files as f64,
        took.as_secs_f64() / stat.as_secs_f64()
    );

    searches("static", &index, StaticModel::built_in())?;
    drop(index);
    let (cold, cold_resident) = cold(&tree, "static")?;
    println!(
        "search, cold process, static: p50 {:.0} ms with the check, {} MB resident at most",
        ms(cold),
        cold_resident
    );
    served(&tree)?;
    processes::report(&tree)?;
    if wanted > MOST_WITH_TRANSFORMER {
        return Ok(());
    }

    // Vectors of the transformer for every passage: real ones for the first 2,000, the others with their entries
    // reversed, since the cost of a scan depends on their number and not on their values.
    let index = open(&tree, &["static", "minilm"])?;
    let model = MiniLm::load()?;
    let (embedded, rate) = fill(&index, &model)?;
    println!("embedding, minilm: {rate:.1} passages/s over {embedded} passages of the tree");
    searches("minilm", &index, &model)?;
    drop(index);
    let (cold, cold_resident) = self::cold(&tree, "minilm")?;
    println!(
        "search, cold process, minilm: p50 {:.0} ms with the check, {} MB resident at most",
        ms(cold),
        cold_resident
    );
    Ok(())
}

fn open(tree: &Path, models: &[&str]) -> Result<Index, Box<dyn Error>> {
    open_with(tree, &[("index.models", &models.join(","))])
}

fn open_with(tree: &Path, settings: &[(&str, &str)]) -> Result<Index, Box<dyn Error>> {
    let flag = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned(), "bench".to_owned());
    let origins = Origins { flags: settings.iter().map(flag).collect(), ..Origins::default() };
    Ok(Index::at(Location::at(tree, None), Config::load(&origins, None)?)?)
}

/// Indexes the texts of all passages with tantivy alone: its default words, one thread. Returns their number.
fn words_alone(index: &Index) -> Result<usize, Box<dyn Error>> {
    let mut schema = tantivy::schema::Schema::builder();
    let body = schema.add_text_field("body", tantivy::schema::TEXT);
    let directory = tempfile::tempdir()?;
    let words = tantivy::Index::create_in_dir(directory.path(), schema.build())?;
    let mut writer: tantivy::IndexWriter = words.writer_with_num_threads(1, 50_000_000)?;
    let store = EmbeddedStore::open(&index.location().directory, Access::ReadOnly)?;
    let all = store.select(&Filter::default())?;
    for part in all.chunks(1000) {
        let ids: Vec<_> = part.iter().map(|passage| passage.passage).collect();
        for passage in store.passages(&[], &ids)? {
            writer.add_document(tantivy::doc!(body => passage.text))?;
        }
    }
    writer.commit()?;
    Ok(all.len())
}

/// Warm searches, against a plain scan of as many vectors of the same length.
fn searches(name: &str, index: &Index, model: &dyn Embedder) -> Result<(), Box<dyn Error>> {
    let request = |query: &str| SearchRequest::new(query);
    for query in QUESTIONS {
        index.search(request(query))?;
    }
    let mut times = Vec::new();
    let mut kept = 0;
    let mut stages: BTreeMap<String, f64> = BTreeMap::new();
    for query in QUESTIONS.iter().cycle().take(240) {
        let (took, answer) = timed(|| Ok(index.search(request(query))?))?;
        assert_eq!(answer.model.as_deref(), Some(model.model().id.as_str()));
        kept += answer.cut.keep;
        for (stage, milliseconds) in answer.timings_ms {
            *stages.entry(stage).or_default() += milliseconds / 240.0;
        }
        times.push(took);
    }
    times.sort();
    let passages = index.contents().coverage(&model.model().id, &Filter::default())?.embedded as usize;
    let dimension = model.model().dimension;
    let vectors = vec![0.01f32; passages * dimension];
    let query = vec![0.5f32; dimension];
    let scan = median(5, || {
        let best = vectors.chunks(dimension).map(|vector| tamis_embed::dot(vector, &query)).fold(f32::MIN, f32::max);
        assert!(std::hint::black_box(best) > 0.0);
        Ok(())
    })?;
    let p50 = times[times.len() / 2];
    println!(
        "search, warm, {name}: p50 {:.2} ms, p95 {:.2} ms on {passages} passages; {:.2} x a plain scan of the vectors ({:.2} ms); {:.1} kept",
        ms(p50),
        ms(times[times.len() * 95 / 100]),
        p50.as_secs_f64() / scan.as_secs_f64(),
        ms(scan),
        kept as f64 / times.len() as f64
    );
    let stages: Vec<String> = stages.iter().map(|(stage, mean)| format!("{stage} {mean:.2}")).collect();
    println!("  mean ms by stage: {}", stages.join(", "));
    Ok(())
}

/// Warm searches of a server's process: time, processor and memory.
fn served(tree: &Path) -> Result<(), Box<dyn Error>> {
    let mut server = Server::start(tree, "static", &["--no-refresh"])?;
    let mut client = StdioClient::of(&mut server)?;
    for query in QUESTIONS {
        client.ask(&search(query))?;
    }
    let (before, mut times) = (server.processor()?, Vec::new());
    for query in QUESTIONS.iter().cycle().take(240) {
        times.push(client.ask(&search(query))?);
    }
    let used = server.processor()?.saturating_sub(before);
    times.sort();
    println!(
        "search, server, static: p50 {:.2} ms, p95 {:.2} ms, {:.2} ms of processor time, {:.0} MB resident",
        ms(times[times.len() / 2]),
        ms(times[times.len() * 95 / 100]),
        ms(used) / times.len() as f64,
        server.megabytes()?
    );
    Ok(())
}

/// Whole processes: the median time, and the largest resident memory in MB.
fn cold(tree: &Path, model: &str) -> Result<(Duration, u64), Box<dyn Error>> {
    let program = processes::program()?;
    let mut times = Vec::new();
    let mut resident = 0;
    for query in QUESTIONS {
        let mut command = Command::new(&program);
        command.args(["search", query, "--json"]).current_dir(tree).env("TAMIS_CONFIG_HOME", tree.join(".none"));
        command.env("TAMIS_INDEX_MODELS", if model == "static" { "static" } else { "static,minilm" });
        let (took, output) = timed(|| Ok(command.output()?))?;
        if output.status.code() == Some(2) {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        times.push(took);
        // Once more under the shell, to read its memory.
        if resident == 0 {
            let time = Command::new("/usr/bin/time")
                .args(["-f", "%M"])
                .arg(&program)
                .args(["search", query, "--json"])
                .current_dir(tree)
                .env("TAMIS_INDEX_MODELS", if model == "static" { "static" } else { "static,minilm" })
                .output();
            let peak =
                time.ok().and_then(|output| String::from_utf8_lossy(&output.stderr).lines().last()?.parse().ok());
            resident = peak.map_or(0, |kilobytes: u64| kilobytes / 1000);
        }
    }
    times.sort();
    Ok((times[times.len() / 2], resident))
}

/// Gives every passage a vector of the transformer. Returns the number really embedded, and the rate.
fn fill(index: &Index, model: &MiniLm) -> Result<(usize, f64), Box<dyn Error>> {
    let key = ModelKey { id: model.model().id.clone(), dimension: model.model().dimension };
    let store = EmbeddedStore::open(&index.location().directory, Access::ReadWrite)?;
    let mut real: Vec<Vec<f32>> = Vec::new();
    let mut rate = 0.0;
    loop {
        let texts = store.unembedded(&key.id, &Filter::default(), 2000)?;
        if texts.is_empty() {
            break;
        }
        let vectors: Vec<Vec<f32>> = if real.is_empty() {
            let inputs: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
            let (took, vectors) = timed(|| Ok(model.embed_passages(&inputs)?))?;
            rate = inputs.len() as f64 / took.as_secs_f64();
            real = vectors;
            real.clone()
        } else {
            let shift = texts.len() % (key.dimension - 1) + 1;
            let turned = |vector: &Vec<f32>| {
                let mut vector = vector.clone();
                vector.rotate_left(shift);
                vector
            };
            real.iter().cycle().take(texts.len()).map(turned).collect()
        };
        let rows: Vec<(TextHash, Vec<f32>)> = texts.iter().map(|text| text.hash).zip(vectors).collect();
        store.put_vectors(&key, &rows)?;
    }
    store.publish(&mut |_| Ok(()))?;
    Ok((real.len(), rate))
}
