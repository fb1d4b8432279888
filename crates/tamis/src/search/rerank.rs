//! Rerankers: models that read the query and a passage together and say whether one answers the other.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tamis_embed::{EmbedError, Reranker as CrossEncoder, WordPiece};

use super::ranking::{Entry, Ranking};
use crate::index::path_line;
use crate::models::outside_pool;

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
pub(crate) fn rerank(reranker: &dyn Reranker, query: &str, ranking: &mut Ranking) -> Result<(), String> {
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

/// The entries that every model reads, and those that one reads that is as fast as the built-in model, which reads as many.
const FIRST: usize = 6;
const DEPTH: usize = 24;

/// The time of a pair up to which a model is as fast as the built-in one.
const AS_FAST: Duration = Duration::from_millis(30);

/// Tokens of a passage that a model reads, as many as the built-in one. What tells passages apart stands there, and time grows with
/// length.
const TOKENS: usize = 128;

/// Pairs kept in each half of the cache. When a half is full the older one goes.
const REMEMBERED: usize = 10_000;

/// The time during which a model that failed is not asked again, so that not every search waits for it.
const OUTAGE: Duration = Duration::from_secs(30);

/// The weight of a cross-encoder's order relative to that of the scores: where both are standardized, two thirds of the
/// evidence stay with the scores.
const COMPARING: f64 = 0.5;

/// Where the model comes from. It is loaded on first use.
type Source = Box<dyn Fn() -> Result<Arc<dyn CrossEncoder>, EmbedError> + Send + Sync>;

/// A cross-encoder that reads the first entries of a search.
pub(crate) struct ModelReranker {
    name: String,
    /// The weight of its order; `None` if its probabilities hold as they are.
    comparing: Option<f64>,
    source: Source,
    model: Mutex<Option<Arc<dyn CrossEncoder>>>,
    known: Mutex<Known>,
    /// The time of a pair, when it last read the first entries.
    pace: Mutex<Option<Duration>>,
    failed: Mutex<Option<(Instant, String)>>,
}

/// Log odds of pairs by their hash, in two halves by age.
#[derive(Default)]
struct Known {
    young: HashMap<[u8; 32], f32>,
    old: HashMap<[u8; 32], f32>,
}

impl Known {
    fn get(&self, pair: &[u8; 32]) -> Option<f32> {
        self.young.get(pair).or_else(|| self.old.get(pair)).copied()
    }

    fn add(&mut self, pair: [u8; 32], log_odds: f32) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(pair, log_odds);
    }
}

impl ModelReranker {
    /// Makes a reranker of a model that `source` loads.
    pub fn new(name: impl Into<String>, source: Source) -> Self {
        let (model, known, pace, failed) = Default::default();
        ModelReranker { name: name.into(), comparing: Some(COMPARING), source, model, known, pace, failed }
    }

    /// Takes its probabilities at their word, since they were calibrated on the collection.
    pub fn calibrated(self) -> Self {
        ModelReranker { comparing: None, ..self }
    }

    fn model(&self) -> Result<Arc<dyn CrossEncoder>, EmbedError> {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = model.as_ref() {
            return Ok(model.clone());
        }
        Ok(model.insert((self.source)()?).clone())
    }

    /// Reads what is not known yet. Returns the log odds of each text; `None` for those that the model is too slow for.
    fn log_odds(&self, query: &str, texts: &[String]) -> Result<Vec<Option<f32>>, EmbedError> {
        let pairs: Vec<[u8; 32]> = texts.iter().map(|text| pair(query, text)).collect();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = || self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let mut odds: Vec<Option<f32>> = {
            let known = known();
            pairs.iter().map(|pair| known.get(pair)).collect()
        };
        let (first, further): (Vec<usize>, Vec<usize>) =
            (0..texts.len()).filter(|&at| odds[at].is_none()).partition(|&at| at < FIRST);
        for part in [first, further] {
            let is_first = part.first().is_some_and(|&at| at < FIRST);
            if part.is_empty() || !is_first && pace().is_some_and(|pace| pace > AS_FAST) {
                continue;
            }
            let asked: Vec<&str> = part.iter().map(|&at| texts[at].as_str()).collect();
            let model = self.model()?;
            let start = Instant::now();
            let scores = model.score(query, &asked)?;
            *pace() = Some(start.elapsed() / asked.len() as u32);
            let mut known = known();
            for (&at, score) in part.iter().zip(scores) {
                odds[at] = Some(score);
                known.add(pairs[at], score);
            }
        }
        Ok(odds)
    }
}

/// The identity of a query with a text.
fn pair(query: &str, text: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(query.len() as u64).to_le_bytes());
    hasher.update(query.as_bytes());
    hasher.update(text.as_bytes());
    *hasher.finalize().as_bytes()
}

/// A passage as a cross-encoder reads it: the end of its path, its title unless it begins with it, and its text, with names divided
/// into words.
fn text_of(passage: &RerankedPassage<'_>) -> String {
    let path = path_line(passage.path);
    let title = passage.title.map(str::trim).filter(|title| !title.is_empty());
    let text = match title.filter(|title| !passage.text.trim_start_matches(['#', ' ', '\n']).starts_with(title)) {
        Some(title) => format!("{path}\n{title}\n{}", passage.text),
        None => format!("{path}\n{}", passage.text),
    };
    WordPiece::uncased_bert().divided(&text, TOKENS)
}

impl Reranker for ModelReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn depth(&self) -> usize {
        DEPTH
    }

    fn comparing(&self) -> Option<f64> {
        self.comparing
    }

    fn probabilities(&self, query: &str, passages: &[RerankedPassage<'_>]) -> Result<Vec<Option<f64>>, String> {
        let failed = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, reason)) = failed().as_ref().filter(|(since, _)| since.elapsed() < OUTAGE) {
            return Err(reason.clone());
        }
        let texts: Vec<String> = passages.iter().map(text_of).collect();
        // A shared thread would take up another search while it waits, with the model being loaded.
        let query = WordPiece::uncased_bert().divided(query, usize::MAX);
        match outside_pool(|| self.log_odds(&query, &texts)) {
            Ok(odds) => Ok(odds.into_iter().map(|odds| Some(1.0 / (1.0 + (-f64::from(odds?)).exp()))).collect()),
            Err(error) => {
                let reason = error.to_string();
                *failed() = Some((Instant::now(), reason.clone()));
                Err(reason)
            }
        }
    }
}

impl std::fmt::Debug for ModelReranker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ModelReranker").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tamis_embed::{Provider, RerankerInfo};

    /// Gives the length of the passage, after a wait, and counts what it reads. An empty passage makes it fail.
    #[derive(Debug)]
    struct Lengths {
        info: RerankerInfo,
        wait: Duration,
        read: AtomicUsize,
    }

    impl CrossEncoder for Lengths {
        fn info(&self) -> &RerankerInfo {
            &self.info
        }

        fn score(&self, _: &str, passages: &[&str]) -> Result<Vec<f32>, EmbedError> {
            self.read.fetch_add(passages.len(), Ordering::Relaxed);
            std::thread::sleep(self.wait);
            if passages.contains(&"a.md") {
                return Err(EmbedError::Model { model: "lengths".to_owned(), reason: "nothing to read".to_owned() });
            }
            Ok(passages.iter().map(|passage| passage.len() as f32 - "a.md\nabc".len() as f32).collect())
        }
    }

    fn reranker(wait: Duration) -> (ModelReranker, Arc<Lengths>) {
        let info = RerankerInfo { id: "lengths".to_owned(), provider: Provider::Local };
        let model = Arc::new(Lengths { info, wait, read: AtomicUsize::new(0) });
        let given = model.clone();
        (ModelReranker::new("lengths", Box::new(move || Ok(given.clone()))), model)
    }

    fn passages(texts: &[&'static str]) -> Vec<RerankedPassage<'static>> {
        texts.iter().map(|text| RerankedPassage { path: "a.md", title: None, text }).collect()
    }

    #[test]
    fn log_odds_become_probabilities_and_a_pair_is_read_once() {
        let (reranker, model) = reranker(Duration::ZERO);
        let found = reranker.probabilities("q", &passages(&["abc", "abcdef", "a"])).expect("read");
        assert_eq!(found[0], Some(0.5));
        assert!(found[1].expect("read") > 0.95 && found[2].expect("read") < 0.12);
        reranker.probabilities("q", &passages(&["a", "abcd"])).expect("read");
        assert_eq!(model.read.load(Ordering::Relaxed), 4);
        reranker.probabilities("another", &passages(&["a"])).expect("read");
        assert_eq!(model.read.load(Ordering::Relaxed), 5);
    }

    #[test]
    fn a_slow_model_reads_the_first_entries_alone() {
        let distinct: Vec<String> = (0..DEPTH).map(|at| format!("abc{at}")).collect();
        let listed: Vec<RerankedPassage<'_>> =
            distinct.iter().map(|text| RerankedPassage { path: "a.md", title: None, text }).collect();
        let (slow, model) = reranker(AS_FAST * FIRST as u32 + Duration::from_millis(1));
        for _ in 0..2 {
            let found = slow.probabilities("q", &listed).expect("read");
            assert!(found[..FIRST].iter().all(Option::is_some) && found[FIRST..].iter().all(Option::is_none));
            assert_eq!(model.read.load(Ordering::Relaxed), FIRST, "and none of them twice");
        }
        let (fast, model) = reranker(Duration::ZERO);
        assert!(fast.probabilities("q", &listed).expect("read").iter().all(Option::is_some));
        assert_eq!(model.read.load(Ordering::Relaxed), DEPTH);
    }

    #[test]
    fn a_model_that_failed_is_left_alone_for_a_while() {
        let (reranker, model) = reranker(Duration::ZERO);
        let error = reranker.probabilities("q", &passages(&[""])).expect_err("fails");
        assert!(error.contains("nothing to read"), "{error}");
        assert_eq!(reranker.probabilities("q", &passages(&["abc"])), Err(error));
        assert_eq!(model.read.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn many_searches_of_one_pool_share_a_reranker() {
        let info = RerankerInfo { id: "lengths".to_owned(), provider: Provider::Local };
        let load = move || {
            // Loading a transformer waits for a pool of its own.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
            pool.install(|| std::thread::sleep(Duration::from_millis(20)));
            let model = Lengths { info: info.clone(), wait: Duration::ZERO, read: AtomicUsize::new(0) };
            Ok(Arc::new(model) as Arc<dyn CrossEncoder>)
        };
        let reranker = ModelReranker::new("lengths", Box::new(load));
        let (done, waited) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
            let ask = |at: usize| reranker.probabilities(&at.to_string(), &passages(&["abc"])).expect("read");
            let found: Vec<_> = pool.install(|| (0..40).into_par_iter().map(ask).collect());
            done.send(found.len()).expect("sent");
        });
        assert_eq!(waited.recv_timeout(Duration::from_secs(60)), Ok(40));
    }

    #[test]
    fn a_passage_is_read_below_its_path_and_title_with_names_divided() {
        let passage = |title, text| RerankedPassage { path: "a/b/src/bin/main.rs", title, text };
        assert_eq!(text_of(&passage(Some("Ovens"), "Heat it.")), "src/bin/main.rs\nOvens\nHeat it.");
        assert_eq!(text_of(&passage(Some("Ovens"), "# Ovens\n\nHeat it.")), "src/bin/main.rs\n# Ovens\n\nHeat it.");
        assert_eq!(text_of(&passage(None, "fn heatOven_now()")), "src/bin/main.rs\nfn heat Oven now()");
        let long = "word ".repeat(500);
        assert!((TOKENS - 20..TOKENS).contains(&text_of(&passage(None, &long)).matches("word").count()));
    }

    #[test]
    fn the_memory_of_pairs_is_bounded() {
        let mut known = Known::default();
        for at in 0..3 * REMEMBERED {
            known.add(pair("q", &at.to_string()), at as f32);
        }
        assert!(known.young.len() + known.old.len() <= 2 * REMEMBERED);
        assert!(known.get(&pair("q", "1")).is_none());
        assert!(known.get(&pair("q", &(3 * REMEMBERED - 1).to_string())).is_some());
    }
}
