//! A static table as Model2Vec saves it: one matrix with a row for each token.

use safetensors::SafeTensors;

use crate::bert::floats;
use crate::normalise;

/// The matrix goes by one of these names.
const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

pub(super) struct Table {
    dimension: usize,
    rows: Vec<f32>,
}

impl Table {
    /// Reads the table of a safetensors file; `None` when the file holds something else.
    pub(super) fn find(file: &[u8]) -> Result<Option<Self>, String> {
        let tensors =
            SafeTensors::deserialize(file).map_err(|error| format!("model.safetensors is not one: {error}"))?;
        let Some((name, tensor)) = NAMES.into_iter().find_map(|name| Some((name, tensors.tensor(name).ok()?))) else {
            return Ok(None);
        };
        if let Some(other) = tensors.names().into_iter().find(|&other| other != name) {
            return Err(format!("model.safetensors holds {other} besides {name}; only a single matrix is supported"));
        }
        match *tensor.shape() {
            [rows, dimension] if rows > 0 && dimension > 0 => {
                Ok(Some(Self { dimension, rows: floats(name, &tensor)? }))
            }
            _ => Err(format!("model.safetensors: {name} has shape {:?}; expected two dimensions", tensor.shape())),
        }
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the mean of rows, scaled to length one. A token without a row adds nothing.
    pub(super) fn mean<'a>(&self, ids: impl Iterator<Item = &'a u32>) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimension];
        for &id in ids {
            let start = id as usize * self.dimension;
            for (total, &entry) in sum.iter_mut().zip(self.rows.get(start..).unwrap_or_default()) {
                *total += entry;
            }
        }
        normalise(&mut sum);
        sum
    }
}
