//! Compares two ways to load the built-in transformer: the graph that this crate builds, and an ONNX file of the same model.
//!
//! ```text
//! venv/bin/python tools/models/export_onnx.py target/onnx
//! cargo run --release -p tamis-embed --example onnx_loading -- target/onnx
//! ```
//!
//! Prints the time of loading and of a first query, with and without rearranged weights, the lowest cosine to the vectors of the
//! original model, and passages a CPU second. The ways take turns, so that other work on the machine disturbs all alike.
//! `docs/research/onnx-loading.md` has the results.

mod cpu;

use cpu::cpu_seconds;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rten::{Model, ModelOptions, RunOptions, Value};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use tamis_embed::{Embedder, LocalModel, MiniLm, Purpose, WordPiece, dot};

const TEXTS: &str = include_str!("../tests/fixtures/multilingual.txt");
const REFERENCE: &[u8] = include_bytes!("../tests/fixtures/minilm-reference.f32");
const ROUNDS: usize = 15;
const QUERY: &str = "how is a stale index detected";

fn main() -> Result<(), Box<dyn Error>> {
    let directory =
        std::env::args().nth(1).ok_or("usage: onnx_loading DIRECTORY (made by tools/models/export_onnx.py)")?;
    let files = ["int8", "f32"].map(|name| Path::new(&directory).join(name));
    for (prepack, purpose) in [(false, Purpose::Query), (true, Purpose::Passages)] {
        loading(&files, prepack, purpose)?;
    }
    let models: Vec<(&str, Box<dyn Embedder>)> = vec![
        ("built-in", Box::new(MiniLm::load(Purpose::Passages)?)),
        ("ONNX int8", Box::new(LocalModel::open(&files[0])?)),
        ("ONNX f32", Box::new(LocalModel::open(&files[1])?)),
    ];
    agreement(&models)?;
    throughput(&models)
}

/// An ONNX file and its weights in memory, as they would be in a binary.
struct Embedded {
    graph: &'static [u8],
    weights: &'static [u8],
}

impl Embedded {
    fn read(directory: &Path) -> Result<Self, Box<dyn Error>> {
        let read = |name: &str| fs::read(directory.join(name)).map(|bytes| &*bytes.leak());
        Ok(Self { graph: read("model.onnx")?, weights: read("weights.data")? })
    }

    fn load(&self, prepack: bool) -> Result<Model, Box<dyn Error>> {
        let mut options = ModelOptions::with_all_ops();
        options.prepack_weights(prepack);
        options.external_data_static("weights.data", self.weights);
        Ok(options.load_static_slice(self.graph)?)
    }
}

fn loading(files: &[std::path::PathBuf; 2], prepack: bool, purpose: Purpose) -> Result<(), Box<dyn Error>> {
    let embedded = [Embedded::read(&files[0])?, Embedded::read(&files[1])?];
    let tokenizer = WordPiece::uncased_bert();
    let ids = tokenizer.tokenize(QUERY, 254);
    let ids: Vec<i32> = [101].into_iter().chain(ids.iter().map(|&id| id as i32)).chain([102]).collect();
    let mut times: [Vec<(f64, f64)>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let model = MiniLm::load(purpose)?;
        let loaded = start.elapsed();
        model.embed_query(QUERY)?;
        times[0].push((loaded.as_secs_f64(), start.elapsed().as_secs_f64()));
        drop(model);
        for (embedded, times) in embedded.iter().zip(&mut times[1..]) {
            let start = Instant::now();
            let model = embedded.load(prepack)?;
            let loaded = start.elapsed();
            run(&model, &ids)?;
            times.push((loaded.as_secs_f64(), start.elapsed().as_secs_f64()));
        }
    }
    println!("{ROUNDS} loads, weights rearranged: {prepack}; median and best in ms, without and with one query");
    for (name, times) in ["built-in", "ONNX int8", "ONNX f32"].iter().zip(times) {
        let (loads, queries): (Vec<f64>, Vec<f64>) = times.into_iter().unzip();
        let [(load, best_load), (query, best_query)] = [loads, queries].map(|mut times| {
            times.sort_by(f64::total_cmp);
            (times[times.len() / 2] * 1e3, times[0] * 1e3)
        });
        println!("{name:10} load {load:6.1} ({best_load:6.1})   load and query {query:6.1} ({best_query:6.1})");
    }
    Ok(())
}

fn run(model: &Model, ids: &[i32]) -> Result<(), Box<dyn Error>> {
    let shape = [1, ids.len()];
    let input = |name| model.node_id(name).map_err(|error| error.to_string());
    let ids = NdTensor::from_data(shape, ids.to_vec());
    let mask = NdTensor::from_data(shape, vec![1i32; ids.len()]);
    let inputs =
        vec![(input("input_ids")?, Value::from(ids).into()), (input("attention_mask")?, Value::from(mask).into())];
    model.run_n(inputs, [input("last_hidden_state")?], Some(RunOptions::default()))?;
    Ok(())
}

fn agreement(models: &[(&str, Box<dyn Embedder>)]) -> Result<(), Box<dyn Error>> {
    let texts: Vec<&str> = TEXTS.trim_end_matches('\n').split('\n').chain([TEXTS]).collect();
    let reference: Vec<f32> = REFERENCE.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    let ours = models[0].1.embed_passages(&texts)?;
    for (name, model) in models {
        let vectors = model.embed_passages(&texts)?;
        let known = vectors
            .iter()
            .zip(&ours)
            .zip(reference.chunks_exact(384))
            .filter(|((vector, _), _)| vector.iter().any(|&x| x != 0.0));
        let (mut lowest, mut furthest) = (1.0f32, 0.0f32);
        for ((vector, our), original) in known {
            lowest = lowest.min(dot(vector, original));
            furthest = vector.iter().zip(our).map(|(x, y)| (x - y).abs()).fold(furthest, f32::max);
        }
        println!(
            "{name:10} lowest cosine to the original {lowest:.6}, largest difference of an entry to built-in {furthest:.1e}"
        );
    }
    Ok(())
}

fn throughput(models: &[(&str, Box<dyn Embedder>)]) -> Result<(), Box<dyn Error>> {
    let words: Vec<&str> = TEXTS.split_whitespace().collect();
    let passages: Vec<String> = (0..200)
        .map(|at| words.iter().cycle().skip(at * 37).take(100).copied().collect::<Vec<_>>().join(" "))
        .collect();
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    let mut seconds = vec![0.0; models.len()];
    for part in passages.chunks(25) {
        for ((_, model), seconds) in models.iter().zip(&mut seconds) {
            let before = cpu_seconds()?;
            model.embed_passages(part)?;
            *seconds += cpu_seconds()? - before;
        }
    }
    for ((name, _), seconds) in models.iter().zip(seconds) {
        println!("{name:10} {:.1} passages of 100 words a CPU second", passages.len() as f64 / seconds);
    }
    Ok(())
}
