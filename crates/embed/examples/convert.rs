//! `cargo xtask distill minilm CHECKPOINT`: makes the built-in transformer's files from the published checkpoint. `cargo xtask
//! distill judge WEIGHTS` makes the judge's file from trained weights.
//!
//! Matrices become signed bytes with a factor for each output and group of inputs (each word, for the embeddings);
//! everything else stays f32. The judge's matrices have one factor for each output and seven bits: products of such bytes never
//! overflow on processors without VNNI, so that every machine computes the same. The transformer's result is checked against its SHA-256, which proves that the committed files come from this
//! program, and divided among the crates `tamis-model-minilm-1` to `-3`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sha2::{Digest, Sha256};

/// SHA-256 of `model.safetensors` of all-MiniLM-L6-v2, and of the result.
const CHECKPOINT: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
const RESULT: &str = "726a8ca21641661feef1ef189b46525705aae9cf0ac52912e298ba63d0f0c63a";

/// Inputs of a linear layer that share a factor, for each output. With one factor for all inputs of an output the lowest
/// cosine to the original over the texts of the tests is 0.9989, with groups of 64 it is 0.9994.
const GROUP: usize = 64;

/// The number of crates that the result is divided among.
const PARTS: usize = 3;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let checkpoint = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["judge", weights] => return judge(weights),
        [checkpoint] => checkpoint,
        _ => bail!("usage: convert path/to/model.safetensors (of all-MiniLM-L6-v2; see tools/models/README.md)"),
    };
    let input = fs::read(checkpoint).with_context(|| format!("cannot read {checkpoint}"))?;
    let found = sha256(&input);
    println!("input  {found}  {checkpoint}");
    ensure!(found == CHECKPOINT, "{checkpoint} is not the expected checkpoint; its SHA-256 must be {CHECKPOINT}");
    let about = format!(
        "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0, model.safetensors {CHECKPOINT}; weights quantised to int8"
    );
    let output = quantise(&input, Form { group: Some(GROUP), most: 127.0, positions: None }, about)?;
    let made = sha256(&output);
    println!("output {made}");
    ensure!(made == RESULT, "the result differs from the recorded one, whose SHA-256 is {RESULT}");
    write("minilm", "minilm-l6-v2-int8.safetensors", &output, PARTS)
}

/// Divides a file among the crates of a model.
fn write(model: &str, name: &str, file: &[u8], parts: usize) -> Result<()> {
    for (part, bytes) in file.chunks(file.len().div_ceil(parts)).enumerate() {
        let number = part + 1;
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{model}-{number}/{name}.{number}"));
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Tokens of a pair, and so positions of the judge.
const JUDGE_POSITIONS: usize = 160;

fn judge(weights: &str) -> Result<()> {
    let input = fs::read(weights).with_context(|| format!("cannot read {weights}"))?;
    let about = format!(
        "layers of all-MiniLM-L6-v2 (Apache-2.0) trained as a cross-encoder, {}; weights quantised to int8",
        sha256(&input)
    );
    let output = quantise(&input, Form { group: None, most: 63.0, positions: Some(JUDGE_POSITIONS) }, about)?;
    println!("{} bytes, SHA-256 {}", output.len(), sha256(&output));
    write("judge", "judge-int8.safetensors", &output, 2)
}

/// The form of the result.
#[derive(Clone, Copy)]
struct Form {
    /// Inputs of a linear layer that share a factor; all of them where absent.
    group: Option<usize>,
    /// The largest byte.
    most: f32,
    /// The positions that are kept; all where absent.
    positions: Option<usize>,
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A tensor of the result.
struct Tensor {
    kind: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

fn quantise(checkpoint: &[u8], form: Form, about: String) -> Result<Vec<u8>> {
    let tensors = SafeTensors::deserialize(checkpoint)?;
    let mut result: Vec<(String, Tensor)> = Vec::new();
    for (name, tensor) in tensors.iter() {
        // The vector of a text needs neither: positions are counted, and the pooler's output is unused.
        if name.ends_with("position_ids") || name.starts_with("pooler.") {
            continue;
        }
        ensure!(tensor.dtype() == Dtype::F32, "tensor {name} is of type {:?}; expected F32", tensor.dtype());
        let values: Vec<f32> =
            tensor.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        match *tensor.shape() {
            [words, width] if name.ends_with("word_embeddings.weight") => {
                let (codes, scales) = codes(&values, width, form.most);
                result.push((format!("{name}_codes"), bytes(codes, vec![words, width])));
                result.push((format!("{name}_scale"), floats(&scales)));
            }
            [outputs, inputs] if name.starts_with("encoder.") => {
                let group = form.group.unwrap_or(inputs);
                ensure!(inputs % group == 0, "tensor {name} has {inputs} inputs; expected a multiple of {group}");
                let groups = inputs / group;
                let (codes, scales) = codes(&values, group, form.most);
                let codes = transpose(&codes, outputs, inputs);
                result.push((format!("{name}_t"), bytes(codes, vec![inputs, outputs])));
                let scales = floats(&transpose(&scales, outputs, groups));
                result.push((format!("{name}_scale"), Tensor { shape: vec![groups, outputs], ..scales }));
            }
            [_, width] if name.ends_with("position_embeddings.weight") && form.positions.is_some() => {
                let kept = form.positions.unwrap_or_default();
                ensure!(values.len() >= kept * width, "tensor {name} has fewer than {kept} rows");
                result.push((name.to_owned(), Tensor { shape: vec![kept, width], ..floats(&values[..kept * width]) }));
            }
            _ => result.push((
                name.to_owned(),
                Tensor { kind: Dtype::F32, shape: tensor.shape().to_vec(), bytes: tensor.data().to_vec() },
            )),
        }
    }
    let views = result
        .iter()
        .map(|(name, tensor)| Ok((name.as_str(), TensorView::new(tensor.kind, tensor.shape.clone(), &tensor.bytes)?)))
        .collect::<Result<Vec<_>>>()?;
    let about = HashMap::from([("source".to_owned(), about)]);
    Ok(safetensors::serialize(views, Some(about))?)
}

/// Encodes rows as signed bytes with a factor each: the largest absolute entry over the largest byte.
fn codes(values: &[f32], width: usize, most: f32) -> (Vec<i8>, Vec<f32>) {
    let scales: Vec<f32> = values
        .chunks_exact(width)
        .map(|row| row.iter().fold(0.0f32, |largest, x| largest.max(x.abs())) / most)
        .collect();
    let codes = values
        .chunks_exact(width)
        .zip(&scales)
        .flat_map(|(row, &scale)| row.iter().map(move |x| (x / scale.max(f32::MIN_POSITIVE)).round() as i8))
        .collect();
    (codes, scales)
}

fn transpose<T: Copy>(values: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..rows * columns).map(|at| values[at % rows * columns + at / rows]).collect()
}

fn bytes(codes: Vec<i8>, shape: Vec<usize>) -> Tensor {
    Tensor { kind: Dtype::I8, shape, bytes: codes.into_iter().map(|code| code as u8).collect() }
}

fn floats(values: &[f32]) -> Tensor {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Tensor { kind: Dtype::F32, shape: vec![values.len()], bytes }
}
