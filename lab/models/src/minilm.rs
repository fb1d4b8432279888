//! `cargo xtask distill minilm CHECKPOINT`: makes the built-in transformer's files from the published checkpoint.
//!
//! Matrices become signed bytes with a factor for each output and group of inputs (each word, for the embeddings);
//! everything else stays f32. The result is checked against its SHA-256, which proves that the committed files come from this
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

/// Makes the parts from the checkpoint that the only argument names.
pub fn make(arguments: &[String]) -> Result<()> {
    let [checkpoint] = arguments else {
        bail!(
            "usage: cargo xtask distill minilm path/to/model.safetensors (of all-MiniLM-L6-v2; see lab/models/README.md)"
        )
    };
    let input = fs::read(checkpoint).with_context(|| format!("cannot read {checkpoint}"))?;
    let found = sha256(&input);
    println!("input  {found}  {checkpoint}");
    ensure!(found == CHECKPOINT, "{checkpoint} is not the expected checkpoint; its SHA-256 must be {CHECKPOINT}");
    let about = format!(
        "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0, model.safetensors {CHECKPOINT}; weights quantised to int8"
    );
    let output = quantise(&input, about)?;
    let made = sha256(&output);
    println!("output {made}");
    ensure!(made == RESULT, "the result differs from the recorded one, whose SHA-256 is {RESULT}");
    for (part, bytes) in output.chunks(output.len().div_ceil(PARTS)).enumerate() {
        let file = format!("../../models/minilm-{0}/minilm-l6-v2-int8.safetensors.{0}", part + 1);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
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

fn quantise(checkpoint: &[u8], about: String) -> Result<Vec<u8>> {
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
                let (codes, scales) = codes(&values, width);
                result.push((format!("{name}_codes"), bytes(codes, vec![words, width])));
                result.push((format!("{name}_scale"), floats(&scales)));
            }
            [outputs, inputs] if name.starts_with("encoder.") => {
                ensure!(inputs % GROUP == 0, "tensor {name} has {inputs} inputs; expected a multiple of {GROUP}");
                let groups = inputs / GROUP;
                let (codes, scales) = codes(&values, GROUP);
                let codes = transpose(&codes, outputs, inputs);
                result.push((format!("{name}_t"), bytes(codes, vec![inputs, outputs])));
                let scales = floats(&transpose(&scales, outputs, groups));
                result.push((format!("{name}_scale"), Tensor { shape: vec![groups, outputs], ..scales }));
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

/// Encodes rows as signed bytes with a factor each: the largest absolute entry over 127.
fn codes(values: &[f32], width: usize) -> (Vec<i8>, Vec<f32>) {
    let scales: Vec<f32> = values
        .chunks_exact(width)
        .map(|row| row.iter().fold(0.0f32, |largest, x| largest.max(x.abs())) / 127.0)
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
