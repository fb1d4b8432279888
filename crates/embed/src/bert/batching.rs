//! Divides texts into batches. Padding is wasted work, so texts of similar length go together.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An order of texts, divided into batches.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Batches {
    /// Positions of texts, longest first, so that the last batches to finish are the short ones.
    pub(super) order: Vec<usize>,
    /// Ranges of `order`, each a batch.
    pub(super) ranges: Vec<Range<usize>>,
}

/// The way passages are divided into batches. It changes speed, not vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batching {
    /// Sorted by length, with a limit on the tokens in a batch. The default, with 256 tokens.
    ByLength {
        /// The number of tokens in a batch, padding included. A longer text is a batch of its own.
        tokens: usize,
    },
    /// A fixed number of texts a batch, in the order given, padded to the longest. A plain loop does this; it is here to
    /// measure the gain of sorting.
    AsGiven {
        /// The number of texts in a batch; 0 counts as 1.
        texts: usize,
    },
}

impl Default for Batching {
    /// Batches small enough to stay in the processor's caches; `docs/research/minilm-throughput.md` has the measurement.
    fn default() -> Self {
        Self::ByLength { tokens: 256 }
    }
}

/// The work of one thread: vectors with the positions of their texts.
type Part = Result<Vec<(usize, Vec<f32>)>, String>;

/// Divides texts of these lengths, in tokens, into batches. `encode` gets the positions of a batch's texts and returns a vector for
/// each; `threads` of them run at a time. Returns the vectors in the order of the texts.
///
/// # Errors
/// The first message of `encode`.
pub(crate) fn in_batches(
    lengths: &[usize],
    batching: Batching,
    threads: NonZeroUsize,
    encode: impl Fn(&[usize]) -> Result<Vec<Vec<f32>>, String> + Sync,
) -> Result<Vec<Vec<f32>>, String> {
    let batches = divide(lengths, batching);
    let threads = threads.get().min(batches.ranges.len());
    let next = AtomicUsize::new(0);
    let work = || -> Part {
        let mut done = Vec::new();
        while let Some(batch) = batches.ranges.get(next.fetch_add(1, Ordering::Relaxed)) {
            let members = &batches.order[batch.clone()];
            let vectors = encode(members);
            if vectors.is_err() {
                // The other threads need not finish: their vectors will be thrown away.
                next.store(batches.ranges.len(), Ordering::Relaxed);
            }
            done.extend(members.iter().copied().zip(vectors?));
        }
        Ok(done)
    };
    let parts: Vec<Part> = if threads <= 1 {
        vec![work()]
    } else {
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            handles
                .into_iter()
                .map(|handle| handle.join().unwrap_or_else(|_| Err("the runtime panicked".to_owned())))
                .collect()
        })
    };
    let mut vectors = vec![Vec::new(); lengths.len()];
    for part in parts {
        for (text, vector) in part? {
            vectors[text] = vector;
        }
    }
    Ok(vectors)
}

/// Divides texts of these lengths, in tokens, into batches.
fn divide(lengths: &[usize], batching: Batching) -> Batches {
    match batching {
        Batching::ByLength { tokens } => by_length(lengths, tokens),
        Batching::AsGiven { texts } => {
            let size = texts.max(1);
            let ranges = (0..lengths.len()).step_by(size).map(|start| start..(start + size).min(lengths.len()));
            Batches { order: (0..lengths.len()).collect(), ranges: ranges.collect() }
        }
    }
}

/// Sorts texts by length, longest first, and divides them into batches of at most `budget` tokens, padding included. A text longer
/// than the budget is a batch of its own. Equal lengths keep their order.
fn by_length(lengths: &[usize], budget: usize) -> Batches {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&text| std::cmp::Reverse(lengths[text]));
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < order.len() {
        let padded = lengths[order[start]].max(1);
        let end = (start + (budget / padded).max(1)).min(order.len());
        ranges.push(start..end);
        start = end;
    }
    Batches { order, ranges }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn similar_lengths_go_together() {
        let batches = by_length(&[3, 100, 4, 90, 3], 12);
        assert_eq!(batches.order, [1, 3, 2, 0, 4]);
        assert_eq!(batches.ranges, [0..1, 1..2, 2..5]);
    }

    #[test]
    fn the_order_given_can_be_kept() {
        let batches = divide(&[3, 100, 4], Batching::AsGiven { texts: 2 });
        assert_eq!((batches.order, batches.ranges), (vec![0, 1, 2], vec![0..2, 2..3]));
    }

    proptest! {
        #[test]
        fn every_text_is_in_one_batch_within_the_budget(lengths in prop::collection::vec(0usize..300, 0..80), budget in 0usize..600) {
            let batches = by_length(&lengths, budget);
            let mut seen = batches.order.clone();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
            let mut next = 0;
            for batch in batches.ranges {
                prop_assert_eq!(batch.start, next);
                prop_assert!(batch.end > batch.start);
                next = batch.end;
                let longest = lengths[batches.order[batch.start]];
                prop_assert!(batch.len() == 1 || longest * batch.len() <= budget);
            }
            prop_assert_eq!(next, lengths.len());
        }
    }
}
