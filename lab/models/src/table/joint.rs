//! The second part of the recipe: code is found by what is said about it, and prose stays where the first part put it.

use rayon::prelude::*;
use tamis_embed::dot;

use super::pairs::{Pair, tokens};
use super::questions;
use super::random::Random;
use super::training::{Bag, Batch, Trainer, bag};
use super::translations::Translation;

const SEED: u64 = 1;

/// Pairs of a batch.
const BATCH: usize = 1024;

/// Times that each pair is seen.
const EPOCHS: f32 = 4.0;

/// Divides the similarities of a batch.
pub const TEMPERATURE: f32 = 0.05;

/// Step of Adam at the start; it falls to zero linearly.
pub const RATE: f32 = 3e-3;

/// Passages of prose beside a batch of pairs, which keep the vector that the first part gave them, and the weight of their loss against
/// that of pairs.
const PROSE: (usize, f32) = (2048, 20.0);

/// Translated paragraphs beside a batch of pairs, which get the vector of their original, and the weight of their loss.
const TRANSLATIONS: (usize, f32) = (512, 1.0);

/// Share of the descriptions that stay as they are; others become questions and keywords.
const PLAIN: f32 = 0.5;

/// Share of the codes that are cut.
const CUT: f32 = 0.2;

/// Share of the codes that keep the rest of their comment.
const COMMENT: f32 = 0.3;

/// Pairs that the report asks for and looks through.
const ASKED: usize = 2_000;
const SEARCHED: usize = 8_000;

/// Texts with the vector that each should have.
pub struct Texts {
    bags: Vec<Bag>,
    targets: Vec<Vec<f32>>,
    order: Vec<usize>,
    next: usize,
}

impl Texts {
    fn new(bags: Vec<Bag>, targets: &[f32], dimension: usize, random: &mut Random) -> Self {
        let mut order: Vec<usize> = (0..bags.len()).collect();
        random.shuffle(&mut order);
        Self { bags, targets: targets.chunks_exact(dimension).map(<[f32]>::to_vec).collect(), order, next: 0 }
    }

    /// Adds the next texts to a batch.
    fn draw(&mut self, (count, weight): (usize, f32), batch: &mut Batch) {
        for _ in 0..count.min(self.order.len()) {
            let at = self.order[self.next % self.order.len()];
            self.next += 1;
            batch.texts.push(self.bags[at].clone());
            batch.targets.push((self.targets[at].clone(), weight / count as f32));
        }
    }
}

fn vectors(trainer: &Trainer, bags: &[Bag]) -> Vec<f32> {
    trainer.vectors(&bags.iter().collect::<Vec<_>>()).0
}

/// Trains the rows and returns them.
pub fn train(
    mut trainer: Trainer,
    pairs: &[Pair],
    held_out: &[Pair],
    prose: &[String],
    translations: &[Translation],
) -> Vec<f32> {
    let mut random = Random::new(SEED);
    let dimension = trainer.dimension();
    let bags = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| bag(&tokens(text))).collect::<Vec<_>>();
    let kept = bags(&mut prose.iter());
    let at = vectors(&trainer, &kept);
    let mut prose = Texts::new(kept, &at, dimension, &mut random);
    let at = vectors(&trainer, &bags(&mut translations.iter().map(|pair| &pair.english)));
    let translated = bags(&mut translations.iter().map(|pair| &pair.text));
    let mut translations = Texts::new(translated, &at, dimension, &mut random);

    let size = BATCH.min(pairs.len());
    let steps = (EPOCHS * pairs.len() as f32 / size as f32) as usize;
    let report = (steps / 8).max(1);
    println!("held-out reciprocal rank {:.4} before", reciprocal_rank(&trainer, held_out));
    let mut order: Vec<usize> = Vec::new();
    let mut losses = (0.0, 0.0);
    for step in 0..steps {
        if order.len() < size {
            order = (0..pairs.len()).collect();
            random.shuffle(&mut order);
        }
        let mut batch = Batch::default();
        for at in order.split_off(order.len() - size) {
            let pair = &pairs[at];
            batch.queries.push(bag(&tokens(&questions::asked(pair, PLAIN, &mut random))));
            batch.codes.push(bag(&view(pair, &mut random)));
            let hash = blake3::hash(pair.sentence.to_lowercase().as_bytes());
            batch.same.push(u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("32 bytes are more than 8")));
        }
        prose.draw(PROSE, &mut batch);
        translations.draw(TRANSLATIONS, &mut batch);
        let loss = trainer.step(&batch, 1.0 - step as f32 / steps as f32);
        losses = (losses.0 + loss.0, losses.1 + loss.1);
        if (step + 1) % report == 0 {
            let (pairs, texts) = (losses.0 / report as f32, losses.1 / report as f32);
            let rank = reciprocal_rank(&trainer, held_out);
            println!(
                "step {} of {steps}: losses {pairs:.4} and {texts:.4}, held-out reciprocal rank {rank:.4}",
                step + 1
            );
            losses = (0.0, 0.0);
        }
    }
    trainer.into_rows()
}

/// The code of a pair, sometimes cut as a long function is, sometimes with more of its comment.
fn view(pair: &Pair, random: &mut Random) -> Vec<u16> {
    const SHORTEST: usize = 40;
    let mut code = pair.code.clone();
    if random.unit() < CUT && code.len() > SHORTEST {
        code.truncate(SHORTEST + random.below(code.len() - SHORTEST));
    }
    if random.unit() < COMMENT {
        code.extend(&pair.rest);
    }
    code
}

/// Returns the mean reciprocal rank, 0 beyond the tenth, of the code of held-out sentences among held-out code.
fn reciprocal_rank(trainer: &Trainer, held_out: &[Pair]) -> f32 {
    let dimension = trainer.dimension();
    let queries: Vec<Bag> = held_out.iter().take(ASKED).map(|pair| bag(&tokens(&pair.sentence))).collect();
    let codes: Vec<Bag> = held_out.iter().take(SEARCHED).map(|pair| bag(&pair.code)).collect();
    let (queries, codes) = (vectors(trainer, &queries), vectors(trainer, &codes));
    let sum: f32 = queries
        .par_chunks_exact(dimension)
        .enumerate()
        .map(|(at, query)| {
            let own = dot(query, &codes[at * dimension..][..dimension]);
            let better = codes.chunks_exact(dimension).filter(|code| dot(query, code) > own).count();
            if better < 10 { 1.0 / (better + 1) as f32 } else { 0.0 }
        })
        .collect::<Vec<f32>>()
        .iter()
        .sum();
    sum / (queries.len() / dimension).max(1) as f32
}
