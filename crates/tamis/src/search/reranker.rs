//! The place of a reranker: a model that reads the query and a passage together and says whether one answers the other.

use super::ranking::{Entry, Ranking};
use std::fmt::Debug;

/// A model that reads a query and a passage together, such as a cross-encoder.
///
/// A search asks it about its first entries, and what it says is one more piece of the evidence on them. Give one to an index with
/// [`IndexBuilder::reranker`](crate::handle::IndexBuilder::reranker).
///
/// ```
/// use std::sync::Arc;
/// use tamis::Index;
/// use tamis::search::{RerankedPassage, Reranker};
///
/// /// Takes a passage for an answer if it has every word of the query.
/// #[derive(Debug)]
/// struct EveryWord;
///
/// impl Reranker for EveryWord {
///     fn name(&self) -> &str {
///         "every-word"
///     }
///
///     fn probabilities(&self, query: &str, passages: &[RerankedPassage<'_>]) -> Result<Vec<Option<f64>>, String> {
///         let has_all = |text: &str| query.split(' ').all(|word| text.contains(word));
///         Ok(passages.iter().map(|passage| Some(if has_all(passage.text) { 0.9 } else { 0.1 })).collect())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven before baking bread.\n")?;
/// # std::fs::write(directory.path().join("bread.md"), "# Bread\n\nKneed the bread dough for ten minutes.\n")?;
/// let index = Index::builder(directory.path()).set("index.models", "static").reranker(Arc::new(EveryWord)).open()?;
/// index.refresh()?;
/// let answer = index.search("oven bread")?;
/// assert_eq!(answer.results[0].path, "oven.md");
/// assert_eq!(answer.cut.diagnostics["judge"], "every-word");
/// # Ok(())
/// # }
/// ```
pub trait Reranker: Debug + Send + Sync {
    /// Its name, for explanations and records: judgements under one reranker do not teach searches under another.
    fn name(&self) -> &str;

    /// The number of likeliest entries that it reads.
    fn depth(&self) -> usize {
        20
    }

    /// The weight of its order, if it compares the passages of one list better than it knows how many of them are relevant:
    /// where its opinions and the evidence are both standardized within the list, its weight in relation to the evidence.
    /// `None`: its probabilities hold for every collection.
    fn comparing(&self) -> Option<f64> {
        None
    }

    /// Returns, for each passage, the probability from 0 to 1 that it answers the query, as if half of all passages did.
    /// `None`: no opinion.
    ///
    /// # Errors
    /// A short reason. The search is then decided by scores alone, with a warning.
    fn probabilities(&self, query: &str, passages: &[RerankedPassage<'_>]) -> Result<Vec<Option<f64>>, String>;
}

/// A passage as a reranker reads it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RerankedPassage<'a> {
    /// Path of its document.
    pub path: &'a str,
    /// The document's title.
    pub title: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
}

impl<'a> RerankedPassage<'a> {
    /// A passage without a title.
    pub fn new(path: &'a str, text: &'a str) -> Self {
        RerankedPassage { path, title: None, text }
    }
}

/// The least deviation of opinions that compare passages. Those that are all alike say nothing.
const LEAST_DEVIATION: f64 = 1e-6;

/// The log odds beyond which an opinion is no surer.
const SUREST: f64 = 12.0;

/// Asks a reranker about the first entries and adds what it says to the evidence on them.
///
/// # Errors
/// The warning that it failed and nothing was added.
pub(super) fn rerank(reranker: &dyn Reranker, query: &str, ranking: &mut Ranking) -> Result<(), String> {
    // It reads the entries that are the likeliest so far.
    let mut first: Vec<&mut Entry> = ranking.entries.iter_mut().collect();
    first.sort_by(|a, b| b.log_odds().total_cmp(&a.log_odds()));
    first.truncate(reranker.depth());
    let passages = first.iter().map(|entry| &entry.best.passage).map(|passage| RerankedPassage {
        path: &passage.path,
        title: passage.title.as_deref(),
        text: &passage.text,
    });
    let probabilities = reranker
        .probabilities(query, &passages.collect::<Vec<_>>())
        .map_err(|reason| format!("decided without {}: {reason}", reranker.name()))?;
    let read: Vec<(&mut Entry, f64)> =
        first.into_iter().zip(probabilities).filter_map(|(entry, one)| Some((entry, one?))).collect();
    let odds = |probability: f64| (probability / (1.0 - probability)).ln().clamp(-SUREST, SUREST);
    let opinions: Vec<f64> = read.iter().map(|&(_, probability)| odds(probability)).collect();
    let added: Vec<f64> = match reranker.comparing() {
        None => opinions,
        Some(weight) => {
            let (_, deviation) = spread(&read.iter().map(|(entry, _)| entry.log_odds()).collect::<Vec<_>>());
            standardized(opinions).into_iter().map(|opinion| weight * deviation * opinion).collect()
        }
    };
    if !read.is_empty() {
        ranking.diagnostics.insert("judge".into(), reranker.name().into());
        ranking.diagnostics.insert("judged".into(), read.len().into());
    }
    for ((entry, probability), log_odds) in read.into_iter().zip(added) {
        entry.judged = Some(probability);
        entry.add_evidence("reranker", probability, log_odds);
    }
    Ok(())
}

/// The mean and the standard deviation of numbers.
fn spread(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    (mean, (numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count).sqrt())
}

/// Numbers in standard deviations from their mean; zeros if they are all alike.
fn standardized(numbers: Vec<f64>) -> Vec<f64> {
    let (mean, deviation) = spread(&numbers);
    let one = |number: f64| if deviation > LEAST_DEVIATION { (number - mean) / deviation } else { 0.0 };
    numbers.into_iter().map(one).collect()
}
