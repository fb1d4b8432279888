//! Fits the rows of the table to the transformer's vectors of passages.
//!
//! A passage's vector is the normalised sum of its tokens' rows; the loss is one minus its cosine to the transformer's
//! projected vector. Stochastic gradient descent, a passage at a time, with Adagrad's step for each row (Duchi, Hazan and
//! Singer, 2011): frequent tokens soon move little, and rare ones stay near their start.

use tamis_embed::normalise;

use super::pairs::tokens;
use super::random::Random;
use super::space::Space;
use super::teacher::WIDTH;
use super::training::bag;

/// Probability of a token at which its first row gets half its length (Arora, Liang and Ma, 2017).
const RARE: f32 = 1e-4;
const EPOCHS: usize = 10;
/// Step of the first epoch; it falls to zero linearly.
const RATE: f32 = 0.1;
/// The initial sum of squared gradients of a row. A larger one holds rare tokens closer to their first rows.
const INITIAL_SQUARES: f32 = 0.1;
/// One passage in this many is held out for the report.
const HELD_OUT: usize = 32;
const SEED: u64 = 1;
/// Tokens before this one are special, unused or single characters; the rest are in order of frequency.
const FIRST_WORD: usize = 1996;

/// A passage's distinct tokens with their counts, and the direction that its vector should have.
struct Example {
    tokens: Vec<(usize, f32)>,
    target: Vec<f32>,
}

/// Fits the rows of the table and returns them, laid end to end.
pub fn fit(space: &Space, tokens: &[f32], passages: &[String], vectors: &[f32]) -> Vec<f32> {
    let examples: Vec<Example> =
        passages.iter().zip(vectors.chunks_exact(WIDTH)).map(|(text, vector)| example(space, text, vector)).collect();
    let mut table = Rows::start(space, tokens, &examples);
    println!("held-out cosine {:.4} before", table.held_out(&examples));
    let mut order: Vec<usize> = (0..examples.len()).filter(|at| at % HELD_OUT != 0).collect();
    let mut random = Random::new(SEED);
    for epoch in 0..EPOCHS {
        random.shuffle(&mut order);
        let rate = RATE * (1.0 - epoch as f32 / EPOCHS as f32);
        for &at in &order {
            table.step(&examples[at], rate);
        }
        println!("held-out cosine {:.4} after {} epochs", table.held_out(&examples), epoch + 1);
    }
    table.rows
}

fn example(space: &Space, text: &str, vector: &[f32]) -> Example {
    // About as many tokens as the transformer saw.
    let mut tokens = tokens(text);
    tokens.truncate(254);
    let tokens = bag(&tokens).into_iter().map(|(token, count)| (token as usize, count)).collect();
    let mut target = space.project(vector);
    normalise(&mut target);
    Example { tokens, target }
}

struct Rows {
    dimension: usize,
    rows: Vec<f32>,
    squares: Vec<f32>,
}

impl Rows {
    /// Starts with the transformer's vector of each token, less the mean of all, and a lower weight for likelier tokens.
    fn start(space: &Space, tokens: &[f32], examples: &[Example]) -> Self {
        let dimension = space.dimension();
        let mut rows: Vec<f32> = tokens.chunks_exact(WIDTH).flat_map(|vector| space.project(vector)).collect();
        let count = rows.len() / dimension;
        let mut mean = vec![0.0; dimension];
        for row in rows.chunks_exact(dimension) {
            mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x / count as f32);
        }
        let likely = probabilities(count, examples);
        for (row, probability) in rows.chunks_exact_mut(dimension).zip(likely) {
            row.iter_mut().zip(&mean).for_each(|(x, mean)| *x -= mean);
            normalise(row);
            row.iter_mut().for_each(|x| *x *= RARE / (RARE + probability));
        }
        Self { dimension, rows, squares: vec![INITIAL_SQUARES; count] }
    }

    fn row(&mut self, token: usize) -> &mut [f32] {
        &mut self.rows[token * self.dimension..][..self.dimension]
    }

    fn sum(&self, example: &Example) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimension];
        for &(token, count) in &example.tokens {
            let row = &self.rows[token * self.dimension..][..self.dimension];
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += count * x);
        }
        sum
    }

    /// Moves the rows of a passage's tokens against the gradient of the loss.
    fn step(&mut self, example: &Example, rate: f32) {
        let sum = self.sum(example);
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length < 1e-6 {
            return;
        }
        let cosine = sum.iter().zip(&example.target).map(|(x, y)| x * y).sum::<f32>() / length;
        let gradient: Vec<f32> =
            sum.iter().zip(&example.target).map(|(x, target)| (cosine * x / length - target) / length).collect();
        let mean_square = gradient.iter().map(|x| x * x).sum::<f32>() / self.dimension as f32;
        for &(token, count) in &example.tokens {
            self.squares[token] += mean_square * count * count;
            let step = rate * count / self.squares[token].sqrt();
            self.row(token).iter_mut().zip(&gradient).for_each(|(x, gradient)| *x -= step * gradient);
        }
    }

    /// Returns the mean cosine to the target over the held-out passages.
    fn held_out(&self, examples: &[Example]) -> f32 {
        let held: Vec<f32> = examples
            .iter()
            .step_by(HELD_OUT)
            .map(|example| {
                let mut vector = self.sum(example);
                normalise(&mut vector);
                tamis_embed::dot(&vector, &example.target)
            })
            .collect();
        held.iter().sum::<f32>() / held.len().max(1) as f32
    }
}

/// Estimates the probability of each token: half from its position in the vocabulary by Zipf's law, half from the corpus.
fn probabilities(count: usize, examples: &[Example]) -> Vec<f32> {
    let mut seen = vec![0.0f32; count];
    for &(token, times) in examples.iter().flat_map(|example| &example.tokens) {
        seen[token] += times;
    }
    let total = seen.iter().sum::<f32>().max(1.0);
    let zipf = |id: usize| 0.1 / ((id + 1).saturating_sub(FIRST_WORD).max(1) as f32 + 2.7);
    seen.iter().enumerate().map(|(id, times)| (zipf(id) + times / total) / 2.0).collect()
}
