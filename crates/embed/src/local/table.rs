//! A static table as Model2Vec saves it: a matrix of token vectors, in newer files with the row and the weight of each token.

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::bert::floats;
use crate::normalise;

/// The matrix goes by one of these names.
const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

/// The row of each token, where tokens share rows.
const MAPPING: &str = "mapping";

/// The weight of each token, where rows are not weighted already.
const WEIGHTS: &str = "weights";

pub(super) struct Table {
    dimension: usize,
    rows: Vec<f32>,
    mapping: Option<Vec<usize>>,
    weights: Option<Vec<f32>>,
}

impl Table {
    /// Reads the table of a safetensors file; `None` when the file holds something else.
    pub(super) fn find(file: &[u8]) -> Result<Option<Self>, String> {
        let tensors =
            SafeTensors::deserialize(file).map_err(|error| format!("model.safetensors is not one: {error}"))?;
        let Some((name, tensor)) = NAMES.into_iter().find_map(|name| Some((name, tensors.tensor(name).ok()?))) else {
            return Ok(None);
        };
        if let Some(other) = tensors.names().into_iter().find(|&other| ![name, MAPPING, WEIGHTS].contains(&other)) {
            return Err(format!(
                "model.safetensors holds {other} besides {name}; supported are {name}, {MAPPING} and {WEIGHTS}"
            ));
        }
        let (rows, dimension) = match *tensor.shape() {
            [rows, dimension] if rows > 0 && dimension > 0 => (rows, dimension),
            ref shape => return Err(format!("model.safetensors: {name} has shape {shape:?}; expected two dimensions")),
        };
        let mapping = tensors.tensor(MAPPING).ok().map(|tensor| whole_numbers(&tensor)).transpose()?;
        if let Some(row) = mapping.iter().flatten().find(|&&row| row >= rows) {
            return Err(format!("model.safetensors: {MAPPING} names row {row} of {rows}"));
        }
        let weights = tensors.tensor(WEIGHTS).ok().map(|tensor| numbers(WEIGHTS, &tensor)).transpose()?;
        let tokens = mapping.as_ref().map_or(rows, Vec::len);
        if let Some(weights) = weights.as_ref().filter(|weights| weights.len() != tokens) {
            return Err(format!("model.safetensors: {} {WEIGHTS} for {tokens} tokens", weights.len()));
        }
        Ok(Some(Self { dimension, rows: numbers(name, &tensor)?, mapping, weights }))
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the mean of rows, scaled to length one. A token without a row adds nothing.
    pub(super) fn mean<'a>(&self, ids: impl Iterator<Item = &'a u32>) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimension];
        for id in ids.map(|&id| id as usize) {
            let row = match &self.mapping {
                Some(mapping) => mapping.get(id).copied(),
                None => Some(id),
            };
            let Some(row) = row.and_then(|row| self.rows.get(row * self.dimension..)) else { continue };
            let weight = self.weights.as_ref().and_then(|weights| weights.get(id)).copied().unwrap_or(1.0);
            for (total, &entry) in sum.iter_mut().zip(row) {
                *total += weight * entry;
            }
        }
        normalise(&mut sum);
        sum
    }
}

/// Returns the entries of a tensor of floats, or of bytes with one scale for all, which scaling to length one undoes.
fn numbers(name: &str, tensor: &TensorView<'_>) -> Result<Vec<f32>, String> {
    match tensor.dtype() {
        Dtype::I8 => Ok(tensor.data().iter().map(|&byte| f32::from(byte as i8)).collect()),
        _ => floats(name, tensor),
    }
}

/// Returns the rows of a mapping.
fn whole_numbers(tensor: &TensorView<'_>) -> Result<Vec<usize>, String> {
    let data = tensor.data();
    let numbers: Vec<i64> = match tensor.dtype() {
        Dtype::I64 => data.as_chunks::<8>().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect(),
        Dtype::I32 => data.as_chunks::<4>().0.iter().map(|&bytes| i64::from(i32::from_le_bytes(bytes))).collect(),
        other => {
            return Err(format!("model.safetensors: {MAPPING} is of type {other:?}; supported are I64 and I32"));
        }
    };
    let row = |number: i64| {
        usize::try_from(number).map_err(|_| format!("model.safetensors: {MAPPING} holds {number}; expected rows"))
    };
    numbers.into_iter().map(row).collect()
}
