//! Trains the rows for two aims at once: the sentence about a function finds its code, and text keeps the vector it had.
//!
//! A batch holds pairs of a description and code, and passages of text. The loss of the pairs is the cross-entropy of the right
//! partner among all of the batch, in both directions (InfoNCE: van den Oord, Li and Vinyals, 2018). The loss of a passage is one
//! minus the cosine to its target. Adam (Kingma and Ba, 2015) steps only the rows that a batch has.

use rayon::prelude::*;
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

/// A bag of tokens with their counts.
pub type Bag = Vec<(u16, f32)>;

/// Sorts tokens and counts them.
pub fn bag(tokens: &[u16]) -> Bag {
    let mut tokens = tokens.to_vec();
    tokens.sort_unstable();
    tokens.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f32)).collect()
}

/// The examples of a batch.
#[derive(Default)]
pub struct Batch {
    /// Descriptions, as many as `codes`.
    pub queries: Vec<Bag>,
    /// The code that each describes.
    pub codes: Vec<Bag>,
    /// A number for each description. Equal ones are not held against each other.
    pub same: Vec<u64>,
    /// Texts, as many as `targets`.
    pub texts: Vec<Bag>,
    /// The direction of each text, of length one, and the weight of its loss.
    pub targets: Vec<(Vec<f32>, f32)>,
}

/// The rows in training.
pub struct Trainer {
    dimension: usize,
    rows: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
    steps: i32,
    temperature: f32,
    rate: f32,
}

const FIRST_DECAY: f32 = 0.9;
const SECOND_DECAY: f32 = 0.999;

impl Trainer {
    pub fn new(rows: Vec<f32>, dimension: usize, temperature: f32, rate: f32) -> Self {
        let entries = rows.len();
        Self { dimension, rows, mean: vec![0.0; entries], square: vec![0.0; entries], steps: 0, temperature, rate }
    }

    pub fn into_rows(self) -> Vec<f32> {
        self.rows
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The normalised sums of bags, laid end to end, and their lengths before.
    pub fn vectors(&self, bags: &[&Bag]) -> (Vec<f32>, Vec<f32>) {
        let mut vectors = vec![0.0; bags.len() * self.dimension];
        let lengths = vectors
            .par_chunks_exact_mut(self.dimension)
            .zip(bags)
            .map(|(vector, bag)| {
                for &(token, count) in bag.iter() {
                    let row = &self.rows[token as usize * self.dimension..][..self.dimension];
                    vector.iter_mut().zip(row).for_each(|(sum, x)| *sum += count * x);
                }
                let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
                vector.iter_mut().for_each(|x| *x /= length);
                length
            })
            .collect();
        (vectors, lengths)
    }

    /// Takes one step, at a share of the full rate. Returns the mean loss of the pairs and of the texts.
    pub fn step(&mut self, batch: &Batch, share: f32) -> (f32, f32) {
        let (pairs, width) = (batch.queries.len(), self.dimension);
        let bags: Vec<&Bag> = batch.queries.iter().chain(&batch.codes).chain(&batch.texts).collect();
        let (vectors, lengths) = self.vectors(&bags);
        let mut gradients = vec![0.0; vectors.len()];
        let (queries, rest) = vectors.split_at(pairs * width);
        let (codes, texts) = rest.split_at(pairs * width);
        let mut pair_loss = 0.0;
        if pairs > 0 {
            let mut scores = product(queries, codes, pairs, width, pairs, false, true, 1.0 / self.temperature);
            pair_loss = cross_entropy(&mut scores, pairs, &batch.same);
            // Now the derivative of the loss by each score.
            let scale = 1.0 / self.temperature;
            gradients[..pairs * width]
                .copy_from_slice(&product(&scores, codes, pairs, pairs, width, false, false, scale));
            gradients[pairs * width..2 * pairs * width]
                .copy_from_slice(&product(&scores, queries, pairs, pairs, width, true, false, scale));
        }
        let mut text_loss = 0.0;
        let share_of_text = 1.0 / batch.texts.len().max(1) as f32;
        for ((gradient, vector), (target, weight)) in
            gradients[2 * pairs * width..].chunks_exact_mut(width).zip(texts.chunks_exact(width)).zip(&batch.targets)
        {
            text_loss += share_of_text * (1.0 - tamis_embed::dot(vector, target));
            gradient.iter_mut().zip(target).for_each(|(gradient, x)| *gradient = -x * weight);
        }
        // From the vector of length one back to the sum.
        gradients.par_chunks_exact_mut(width).zip(vectors.par_chunks_exact(width)).zip(&lengths).for_each(
            |((gradient, vector), length)| {
                let along = gradient.iter().zip(vector).map(|(g, x)| g * x).sum::<f32>();
                gradient.iter_mut().zip(vector).for_each(|(g, x)| *g = (*g - along * x) / length);
            },
        );
        self.adam(&bags, &gradients, share);
        (pair_loss, text_loss)
    }

    fn adam(&mut self, bags: &[&Bag], gradients: &[f32], share: f32) {
        self.steps += 1;
        let width = self.dimension;
        let uses = uses(bags, self.rows.len() / width);
        let first = 1.0 - FIRST_DECAY.powi(self.steps);
        let second = 1.0 - SECOND_DECAY.powi(self.steps);
        let rate = self.rate * share;
        self.rows
            .par_chunks_exact_mut(width)
            .zip(self.mean.par_chunks_exact_mut(width))
            .zip(self.square.par_chunks_exact_mut(width))
            .zip(&uses)
            .with_min_len(64)
            .for_each_init(
                || vec![0.0; width],
                |gradient, (((row, mean), square), uses)| {
                    if uses.is_empty() {
                        return;
                    }
                    gradient.fill(0.0);
                    for &(bag, count) in uses {
                        let of_bag = &gradients[bag as usize * width..][..width];
                        gradient.iter_mut().zip(of_bag).for_each(|(sum, g)| *sum += count * g);
                    }
                    for (((x, m), v), &g) in
                        row.iter_mut().zip(mean.iter_mut()).zip(square.iter_mut()).zip(gradient.iter())
                    {
                        *m = FIRST_DECAY * *m + (1.0 - FIRST_DECAY) * g;
                        *v = SECOND_DECAY * *v + (1.0 - SECOND_DECAY) * g * g;
                        *x -= rate * (*m / first) / ((*v / second).sqrt() + 1e-8);
                    }
                },
            );
    }
}

/// The bags that have each token, and how often.
fn uses(bags: &[&Bag], tokens: usize) -> Vec<Vec<(u32, f32)>> {
    let mut uses = vec![Vec::new(); tokens];
    for (number, bag) in bags.iter().enumerate() {
        for &(token, count) in bag.iter() {
            uses[token as usize].push((number as u32, count));
        }
    }
    uses
}

/// Turns scores into the derivative of the cross-entropy of the diagonal, by rows and by columns. Returns the loss.
fn cross_entropy(scores: &mut [f32], size: usize, same: &[u64]) -> f32 {
    scores.par_chunks_exact_mut(size).enumerate().for_each(|(at, row)| {
        for (other, score) in row.iter_mut().enumerate() {
            if other != at && same[other] == same[at] {
                *score = f32::NEG_INFINITY;
            }
        }
    });
    let log_sum = |values: &mut dyn Iterator<Item = f32>, largest: f32| {
        values.map(|x| (x - largest).exp()).sum::<f32>().ln() + largest
    };
    let rows: Vec<f32> = scores
        .par_chunks_exact(size)
        .map(|row| log_sum(&mut row.iter().copied(), row.iter().copied().fold(f32::NEG_INFINITY, f32::max)))
        .collect();
    let mut largest = vec![f32::NEG_INFINITY; size];
    for row in scores.chunks_exact(size) {
        largest.iter_mut().zip(row).for_each(|(largest, &x)| *largest = largest.max(x));
    }
    let mut columns = vec![0.0f32; size];
    for row in scores.chunks_exact(size) {
        columns.iter_mut().zip(row).zip(&largest).for_each(|((sum, &x), largest)| *sum += (x - largest).exp());
    }
    columns.iter_mut().zip(&largest).for_each(|(sum, largest)| *sum = sum.ln() + largest);
    let loss = (0..size).map(|at| (rows[at] + columns[at]) / 2.0 - scores[at * size + at]).sum::<f32>() / size as f32;
    scores.par_chunks_exact_mut(size).zip(&rows).enumerate().for_each(|(at, (row, sum))| {
        for (score, column) in row.iter_mut().zip(&columns) {
            *score = ((*score - sum).exp() + (*score - column).exp()) / (2.0 * size as f32);
        }
        row[at] -= 1.0 / size as f32;
    });
    loss
}

/// A product of matrices, either of which may be transposed, times a factor. The result has `rows` times `columns` entries.
#[allow(clippy::too_many_arguments)]
fn product(
    a: &[f32],
    b: &[f32],
    rows: usize,
    inner: usize,
    columns: usize,
    a_transposed: bool,
    b_transposed: bool,
    alpha: f32,
) -> Vec<f32> {
    let mut out = vec![0.0; rows * columns];
    let a = if a_transposed {
        NdTensorView::from_data([inner, rows], a).transposed()
    } else {
        NdTensorView::from_data([rows, inner], a)
    };
    let b = if b_transposed {
        NdTensorView::from_data([columns, inner], b).transposed()
    } else {
        NdTensorView::from_data([inner, columns], b)
    };
    GemmExecutor::<f32, f32, f32>::new()
        .gemm(
            &mut out,
            GemmInputA::Unpacked(a),
            GemmInputB::Unpacked(b),
            GemmOptions { alpha, ..GemmOptions::default() },
        )
        .expect("the shapes fit");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_lowers_the_loss() {
        let rows: Vec<f32> = (0..40).map(|at| ((at * 37 % 11) as f32 - 5.0) / 5.0).collect();
        let mut trainer = Trainer::new(rows, 4, 0.2, 0.02);
        let batch = Batch {
            queries: vec![bag(&[0, 1]), bag(&[2]), bag(&[3, 3])],
            codes: vec![bag(&[4]), bag(&[5, 6]), bag(&[7])],
            same: vec![0, 1, 2],
            texts: vec![bag(&[8]), bag(&[9, 0])],
            targets: vec![(vec![1.0, 0.0, 0.0, 0.0], 1.0), (vec![0.0, 1.0, 0.0, 0.0], 1.0)],
        };
        let first = trainer.step(&batch, 1.0);
        for _ in 0..50 {
            trainer.step(&batch, 1.0);
        }
        let last = trainer.step(&batch, 1.0);
        assert!(last.0 < first.0 * 0.7 && last.1 < first.1 * 0.7, "{first:?} {last:?}");
    }

    #[test]
    fn equal_descriptions_are_not_held_against_each_other() {
        let mut scores = vec![1.0, 5.0, 0.0, 2.0];
        let loss = cross_entropy(&mut scores, 2, &[7, 7]);
        assert!(loss.abs() < 1e-6 && scores.iter().all(|x| x.abs() < 1e-6), "{loss} {scores:?}");
    }
}
