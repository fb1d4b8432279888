//! Runs a transformer over tokens and pools its output to one vector a text.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rten::{Model, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use crate::normalise;

/// The way the vectors of a text's tokens become the vector of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The mean over all tokens.
    Mean,
    /// The first token's vector.
    First,
    /// The last token's vector.
    Last,
    /// The mean over all tokens, each weighted by its place: the first counts once, the tenth ten times.
    WeightedMean,
    /// None: the model's own last layer makes one vector of a text, its logits.
    Logits,
}

/// The tokens of one text, or of two read together, special tokens included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    pub ids: Vec<i32>,
    /// The place of the second text's first token; the number of tokens where there is one text.
    pub second: usize,
}

impl FromIterator<i32> for Tokens {
    fn from_iter<T: IntoIterator<Item = i32>>(ids: T) -> Self {
        let ids: Vec<i32> = ids.into_iter().collect();
        Tokens { second: ids.len(), ids }
    }
}

impl Tokens {
    fn len(&self) -> usize {
        self.ids.len()
    }
}

/// A loaded transformer with the inputs and output that BERT models have.
pub struct Encoder {
    model: Model,
    ids: NodeId,
    mask: NodeId,
    types: Option<NodeId>,
    output: NodeId,
    pooling: Pooling,
    /// Single-threaded pools, one for each batch that runs at a time.
    pools: Mutex<Vec<Arc<ThreadPool>>>,
}

/// Returns the number of cores that this process may use.
pub fn all_cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Returns the number of threads of the pool that the caller runs in. A caller in a pool of one wants no other core kept busy.
pub fn pool_threads() -> NonZeroUsize {
    match rayon::current_thread_index() {
        Some(_) => NonZeroUsize::new(rayon::current_num_threads()).unwrap_or(NonZeroUsize::MIN),
        None => NonZeroUsize::MAX,
    }
}

impl Encoder {
    /// Finds the inputs and the output of a model by the names that BERT exports use.
    ///
    /// # Errors
    /// An input or the output is missing, or the model has an input that this crate cannot fill.
    pub fn new(model: Model, pooling: Pooling) -> Result<Self, String> {
        let name_of = |id: NodeId| model.node_info(id).and_then(|node| node.name().map(str::to_owned));
        let inputs: Vec<String> = model.input_ids().iter().filter_map(|&id| name_of(id)).collect();
        let outputs: Vec<String> = model.output_ids().iter().filter_map(|&id| name_of(id)).collect();
        if let Some(unknown) =
            inputs.iter().find(|name| !["input_ids", "attention_mask", "token_type_ids"].contains(&name.as_str()))
        {
            return Err(format!("its input {unknown:?} is not one of input_ids, attention_mask and token_type_ids"));
        }
        let input = |name: &str| {
            model
                .find_node(name)
                .filter(|_| inputs.iter().any(|input| input == name))
                .ok_or_else(|| format!("it has no input {name:?}; its inputs are {}", inputs.join(", ")))
        };
        let (ids, mask, types) = (input("input_ids")?, input("attention_mask")?, input("token_type_ids").ok());
        let names: &[&str] = match pooling {
            Pooling::Logits => &["logits"],
            _ => &["last_hidden_state", "token_embeddings"],
        };
        let output = names
            .iter()
            .find(|name| outputs.iter().any(|output| output == *name))
            .and_then(|name| model.find_node(name))
            .ok_or_else(|| {
                format!("it has no output {}; its outputs are {}", names.join(" or "), outputs.join(", "))
            })?;
        Ok(Self { model, ids, mask, types, output, pooling, pools: Mutex::default() })
    }

    /// Returns one vector a text, in order: of unit length, unless pooling says otherwise. Every text needs at least one token.
    ///
    /// # Errors
    /// The runtime's message.
    pub fn encode(&self, texts: &[Tokens], batching: Batching, threads: NonZeroUsize) -> Result<Vec<Vec<f32>>, String> {
        let lengths: Vec<usize> = texts.iter().map(Tokens::len).collect();
        in_batches(&lengths, batching, threads, |members| {
            let pool = self.take_pool();
            let tokens: Vec<&Tokens> = members.iter().map(|&text| &texts[text]).collect();
            let vectors = self.run(&tokens, Some(Arc::clone(&pool)));
            self.give_back(pool);
            vectors
        })
    }

    /// Returns the vector of one text as soon as possible: every core works on it.
    ///
    /// # Errors
    /// The runtime's message.
    pub fn encode_one(&self, text: &Tokens) -> Result<Vec<f32>, String> {
        Ok(self.run(&[text], None)?.into_iter().next().unwrap_or_default())
    }

    fn run(&self, batch: &[&Tokens], pool: Option<Arc<ThreadPool>>) -> Result<Vec<Vec<f32>>, String> {
        let width = batch.iter().map(|tokens| tokens.len()).max().unwrap_or(0);
        let shape = [batch.len(), width];
        let mut ids = NdTensor::<i32, 2>::zeros(shape);
        let mut mask = NdTensor::<i32, 2>::zeros(shape);
        let mut types = NdTensor::<i32, 2>::zeros(shape);
        for (row, tokens) in batch.iter().enumerate() {
            for (column, &id) in tokens.ids.iter().enumerate() {
                ids[[row, column]] = id;
                mask[[row, column]] = 1;
                types[[row, column]] = i32::from(column >= tokens.second);
            }
        }
        let mut inputs = vec![(self.ids, Value::from(ids).into()), (self.mask, Value::from(mask).into())];
        if let Some(input) = self.types {
            inputs.push((input, Value::from(types).into()));
        }
        let options = RunOptions::default().with_thread_pool(pool);
        let [hidden] = self.model.run_n(inputs, [self.output], Some(options)).map_err(|error| error.to_string())?;
        if self.pooling == Pooling::Logits {
            return logits(hidden, batch.len());
        }
        let hidden: NdTensor<f32, 3> =
            hidden.try_into().map_err(|_| "its output is not a float tensor of three dimensions".to_owned())?;
        if hidden.size(0) != batch.len() || hidden.size(1) != width {
            return Err(format!("its output has shape {:?} for an input of {shape:?}", hidden.shape()));
        }
        Ok(batch.iter().enumerate().map(|(row, tokens)| self.pool(&hidden, row, tokens.len())).collect())
    }

    fn pool(&self, hidden: &NdTensor<f32, 3>, row: usize, tokens: usize) -> Vec<f32> {
        let sum = |taken: usize| {
            let mut vector = vec![0.0; hidden.size(2)];
            for token in 0..taken {
                let states = hidden.slice([row, token]);
                for (sum, &state) in vector.iter_mut().zip(states.iter()) {
                    *sum += state;
                }
            }
            vector
        };
        let unit = |mut vector: Vec<f32>| {
            normalise(&mut vector);
            vector
        };
        match self.pooling {
            Pooling::Mean => unit(sum(tokens)),
            Pooling::First => unit(sum(tokens.min(1))),
            Pooling::Last => {
                let last = tokens.checked_sub(1).map(|last| hidden.slice([row, last]).iter().copied().collect());
                unit(last.unwrap_or_else(|| vec![0.0; hidden.size(2)]))
            }
            Pooling::WeightedMean => {
                let mut vector = vec![0.0; hidden.size(2)];
                for token in 0..tokens {
                    for (sum, &state) in vector.iter_mut().zip(hidden.slice([row, token]).iter()) {
                        *sum += state * (token + 1) as f32;
                    }
                }
                unit(vector)
            }
            // The model pooled by itself.
            Pooling::Logits => Vec::new(),
        }
    }

    fn take_pool(&self) -> Arc<ThreadPool> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.pop().unwrap_or_else(|| Arc::new(ThreadPool::with_num_threads(1)))
    }

    fn give_back(&self, pool: Arc<ThreadPool>) {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner).push(pool);
    }
}

/// Returns the logits of each text.
fn logits(output: Value, texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let logits: NdTensor<f32, 2> =
        output.try_into().map_err(|_| "its output logits is not a float tensor of two dimensions".to_owned())?;
    if logits.size(0) != texts {
        return Err(format!("its output logits has shape {:?} for {texts} texts", logits.shape()));
    }
    Ok((0..texts).map(|text| logits.slice(text).iter().copied().collect()).collect())
}

// Divides texts into batches. Padding is wasted work, so texts of similar length go together.

/// An order of texts, divided into batches.
#[derive(Debug, PartialEq, Eq)]
pub struct Batches {
    /// Positions of texts, longest first, so that the last batches to finish are the short ones.
    pub order: Vec<usize>,
    /// Ranges of `order`, each a batch.
    pub ranges: Vec<Range<usize>>,
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
pub fn in_batches(
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
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn similar_lengths_go_together_unless_the_order_is_kept() {
        let batches = by_length(&[3, 100, 4, 90, 3], 12);
        assert_eq!(batches.order, [1, 3, 2, 0, 4]);
        assert_eq!(batches.ranges, [0..1, 1..2, 2..5]);
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
