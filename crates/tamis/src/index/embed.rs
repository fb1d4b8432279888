//! Embeds passages without a vector: from the user's cache if it has the vector, else with the model.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tamis_embed::ModelInfo;
use tamis_store::{ModelKey, StoreError, TextHash, TextToEmbed};

use super::document::model_input;
use super::embedding_cache::{RunCache, remember};
use super::report::RunReport;
use super::{RunOptions, publish};
use crate::Error;
use crate::handle::{Index, now_ms};
use crate::progress::{Observer, Stage};

/// Texts whose vectors are committed together. A killed run loses at most this much work.
const TEXTS_A_BATCH: usize = 1024;

/// The most for a slow model, which shows progress. Each part is committed at once.
const TEXTS_A_SLOW_BATCH: usize = 64;

/// The least for it, which it begins with.
const TEXTS_A_FIRST_BATCH: usize = 8;

/// Time of a part, so that whoever stops a run waits no longer.
const PART: Duration = Duration::from_millis(700);

/// The steps of embedding in the background.
pub(crate) struct Pace {
    /// Texts between two looks at the observer.
    texts: usize,
    /// Vectors to collect before a commit, and the longest wait.
    commit: usize,
    commit_every: Duration,
}

/// Beside calls, which should not notice. After each commit the next search has to read the database again.
pub(crate) const BESIDE_CALLS: Pace = Pace { texts: 4, commit: 512, commit_every: Duration::from_secs(20) };

/// In a process that can be killed at any time, and should hear soon that another one writes.
pub(crate) const ALONE: Pace = Pace { texts: 64, commit: 256, commit_every: Duration::from_secs(3) };

/// Embeds the passages without a vector: always for the first model, for the others if they lack no more than is allowed. Vectors
/// from the cache cost nothing and are always taken. Passages of an unusable model stay pending.
pub(crate) fn embed(
    index: &Index,
    options: RunOptions,
    observer: &dyn Observer,
    report: &mut RunReport,
) -> Result<(), Error> {
    let mut looked_up = false;
    for (position, name) in index.config.index.models.iter().enumerate() {
        let (allowed, time) = match position {
            0 => (u64::MAX, Duration::MAX),
            // Another process makes these vectors already, and nobody waits for all of them.
            _ if options.embed_for < Duration::MAX && index.store.is_embedding() => (0, Duration::ZERO),
            _ => (options.most(index.models.is_remote(name)), options.embed_for),
        };
        let Some(mut run) = report.tolerate(ModelRun::new(index, name, options.hurried))? else { continue };
        let mut missing = run.missing()?;
        if missing == 0 {
            continue;
        }
        let started = Instant::now();
        if !report.interrupted && missing > allowed {
            report.tolerate(run.look_up(observer))?;
            missing = run.missing()?;
        }
        if !report.interrupted && missing > 0 && missing <= allowed {
            observer.stage(Stage::Embed(name.clone()), missing);
            report.tolerate(run.embed(time, observer))?;
            report.interrupted = observer.cancelled();
            missing = run.missing()?;
        }
        if missing > 0 {
            report.embedding.pending.insert(name.clone(), missing);
        }
        looked_up |= run.cache.is_open();
        if run.finish(report) > 0 {
            report.time(&format!("embed_{name}"), started);
            publish(index, observer, report)?;
        }
    }
    if looked_up {
        remember(index, &report.embedding.cached)?;
    }
    build_indexes(index, report)
}

/// Builds what large namespaces are searched with.
fn build_indexes(index: &Index, report: &mut RunReport) -> Result<(), Error> {
    if report.interrupted {
        return Ok(());
    }
    let started = Instant::now();
    index.store.build_indexes()?;
    report.time("build_indexes", started);
    Ok(())
}

/// Embeds every passage without a vector of one model.
pub(crate) fn embed_with(
    index: &Index,
    name: &str,
    observer: &dyn Observer,
    report: &mut RunReport,
) -> Result<(), Error> {
    let started = Instant::now();
    let Some(mut run) = report.tolerate(ModelRun::new(index, name, false))? else { return Ok(()) };
    report.tolerate(run.embed(Duration::MAX, observer))?;
    run.finish(report);
    report.time(&format!("embed_{name}"), started);
    Ok(())
}

/// Embeds the passages without a vector of the models in small steps. The observer follows each step and can wait in it. The right
/// to write is held for each commit only.
fn embed_missing<'a>(
    index: &Index,
    models: impl Iterator<Item = &'a String>,
    pace: &Pace,
    observer: &dyn Observer,
) -> Result<RunReport, Error> {
    let mut report = RunReport::default();
    let mut looked_up = false;
    for name in models {
        let Some(mut run) = report.tolerate(ModelRun::new(index, name, false))? else { continue };
        let missing = run.missing()?;
        if missing == 0 || observer.cancelled() {
            continue;
        }
        let started = Instant::now();
        observer.stage(Stage::Embed(name.clone()), missing);
        begin(index, name, missing, observer)?;
        report.tolerate(run.embed_in_small_steps(pace, observer))?;
        report.interrupted |= observer.cancelled();
        let missing = run.missing()?;
        if missing > 0 {
            report.embedding.pending.insert(name.clone(), missing);
        }
        looked_up |= run.cache.is_open();
        if run.finish(&mut report) > 0 && !report.interrupted {
            report.time(&format!("embed_{name}"), started);
            let _writing = index.wait_to_write(observer)?;
            publish(index, observer, &mut report)?;
        }
    }
    if looked_up && !report.interrupted {
        let _writing = index.wait_to_write(observer)?;
        remember(index, &report.embedding.cached)?;
    }
    build_indexes(index, &mut report)?;
    Ok(report)
}

/// The size of a slow model's next part, by the time that a part took.
fn next_part(texts: usize, took: Duration) -> usize {
    let fitting = texts as f64 * PART.as_secs_f64() / took.as_secs_f64().max(1e-6);
    (fitting as usize).clamp(1, TEXTS_A_SLOW_BATCH)
}

/// A vector that a model made.
struct Made {
    /// The hash of the text.
    text: TextHash,
    /// The hash of all that the model read.
    input: TextHash,
    vector: Vec<f32>,
}

/// Returns the hash of what a model reads of a text. It is the cache's key: the cache is shared by trees in which the text has other
/// paths.
fn input_hash(text: &TextToEmbed, input: &str) -> TextHash {
    if input == text.text { text.hash } else { TextHash::from_text(input) }
}

/// One model's part of a run. The model is loaded at the first text that the cache lacks.
struct ModelRun<'a> {
    index: &'a Index,
    name: &'a str,
    info: ModelInfo,
    cache: RunCache,
    hurried: bool,
    embedded: u64,
    cached: u64,
}

impl<'a> ModelRun<'a> {
    /// Creates a run without asking an endpoint, since nothing may be missing.
    fn new(index: &'a Index, name: &'a str, hurried: bool) -> Result<Self, Error> {
        let info = index.models.described(name)?;
        let cache = RunCache::new(&index.config.index.embedding_cache, &info);
        Ok(ModelRun { index, name, info, cache, hurried, embedded: 0, cached: 0 })
    }

    /// Learns the dimension, which is part of the cache's key and must be that of the vectors in the index.
    fn connect(&mut self) -> Result<(), Error> {
        if self.info.dimension == 0 {
            self.info = self.index.models.info(self.name)?;
        }
        self.index.check_dimension(self.name, &self.info.id, self.info.dimension)
    }

    /// Returns the number of passages without a vector.
    fn missing(&self) -> Result<u64, Error> {
        let coverage = self.index.store.coverage(&self.info.id, &self.index.embedded_here())?;
        Ok(coverage.passages.saturating_sub(coverage.embedded))
    }

    fn unembedded(&self, limit: usize) -> Result<Vec<TextToEmbed>, Error> {
        Ok(self.index.store.unembedded(&self.info.id, &self.index.embedded_here(), limit)?)
    }

    /// Takes vectors from the cache as long as it has most of them, without loading a model. A cache that has none costs one
    /// small query.
    fn look_up(&mut self, observer: &dyn Observer) -> Result<(), Error> {
        self.connect()?;
        let mut limit = TEXTS_A_SLOW_BATCH;
        while self.cache.open() && !observer.cancelled() {
            let texts = self.unembedded(limit)?;
            let left = self.known(&texts)?.len();
            // The texts that it lacks come again with the next ones.
            if 2 * left >= texts.len() {
                break;
            }
            limit = TEXTS_A_BATCH;
        }
        Ok(())
    }

    fn embed(&mut self, time: Duration, observer: &dyn Observer) -> Result<(), Error> {
        self.connect()?;
        let begun = Instant::now();
        let is_over = || observer.cancelled() || begun.elapsed() >= time;
        let is_slow = self.info.max_tokens.is_some();
        let mut at_once = if is_slow { TEXTS_A_FIRST_BATCH } else { TEXTS_A_BATCH };
        while !is_over() {
            let texts = self.unembedded(TEXTS_A_BATCH)?;
            if texts.is_empty() {
                break;
            }
            let left = self.known(&texts)?;
            observer.advance((texts.len() - left.len()) as u64);
            let mut rest = left.as_slice();
            while !rest.is_empty() && !is_over() {
                let (part, after) = rest.split_at(at_once.min(rest.len()));
                let started = Instant::now();
                self.make(part)?;
                observer.advance(part.len() as u64);
                if is_slow {
                    at_once = next_part(part.len(), started.elapsed());
                }
                rest = after;
            }
        }
        Ok(())
    }

    fn embed_in_small_steps(&mut self, pace: &Pace, observer: &dyn Observer) -> Result<(), Error> {
        self.connect()?;
        while !observer.cancelled() {
            let here = self.index.embedded_here();
            let texts = self.index.store.most_telling(&self.info.id, &here, TEXTS_A_BATCH)?;
            if texts.is_empty() {
                break;
            }
            let left = {
                let _writing = self.index.wait_to_write(observer)?;
                self.known(&texts)?
            };
            observer.advance((texts.len() - left.len()) as u64);
            let (mut kept, mut since) = (Vec::new(), Instant::now());
            for part in left.chunks(pace.texts) {
                if observer.cancelled() {
                    break;
                }
                match self.made(part) {
                    Ok(rows) => kept.extend(rows),
                    Err(error) => {
                        // The vectors made before the failure are still good.
                        self.keep(kept, observer)?;
                        return Err(error);
                    }
                }
                observer.advance(part.len() as u64);
                if kept.len() >= pace.commit || since.elapsed() >= pace.commit_every {
                    self.keep(std::mem::take(&mut kept), observer)?;
                    since = Instant::now();
                }
            }
            self.keep(kept, observer)?;
        }
        Ok(())
    }

    /// Stores vectors. If another process writes for long, the cache still has them.
    fn keep(&mut self, made: Vec<Made>, observer: &dyn Observer) -> Result<(), Error> {
        if made.is_empty() {
            return Ok(());
        }
        let (model, rows) = self.cached(made);
        let _writing = self.index.wait_to_write(observer)?;
        self.index.store.put_vectors(&model, &rows)?;
        self.embedded += rows.len() as u64;
        Ok(())
    }

    /// Adds vectors to the cache, and returns them by the hash of their text.
    fn cached(&mut self, made: Vec<Made>) -> (ModelKey, Vec<(TextHash, Vec<f32>)>) {
        let dimension = made.first().map_or(self.info.dimension, |made| made.vector.len());
        let model = ModelKey { id: self.info.id.clone(), dimension };
        let (texts, inputs): (Vec<TextHash>, Vec<_>) =
            made.into_iter().map(|made| (made.text, (made.input, made.vector))).unzip();
        self.cache.put(&model, &inputs);
        (model, texts.into_iter().zip(inputs.into_iter().map(|(_, vector)| vector)).collect())
    }

    /// Stores the vectors that the cache has, and returns the texts that it lacks.
    fn known<'t>(&mut self, texts: &'t [TextToEmbed]) -> Result<Vec<&'t TextToEmbed>, Error> {
        if !self.cache.open() {
            return Ok(texts.iter().collect());
        }
        let model = ModelKey { id: self.info.id.clone(), dimension: self.info.dimension };
        let input = |text: &TextToEmbed| input_hash(text, &model_input(&self.info, &text.path, &text.text));
        let inputs: Vec<TextHash> = texts.iter().map(input).collect();
        let vectors: HashMap<TextHash, Vec<f32>> = self.cache.get(&model, &inputs).into_iter().collect();
        if vectors.is_empty() {
            return Ok(texts.iter().collect());
        }
        let row = |(text, input): (&TextToEmbed, &TextHash)| Some((text.hash, vectors.get(input)?.clone()));
        let rows: Vec<(TextHash, Vec<f32>)> = texts.iter().zip(&inputs).filter_map(row).collect();
        self.index.store.put_vectors(&model, &rows)?;
        self.cached += rows.len() as u64;
        let found: HashSet<TextHash> = rows.into_iter().map(|(hash, _)| hash).collect();
        Ok(texts.iter().filter(|text| !found.contains(&text.hash)).collect())
    }

    /// Embeds texts with the model.
    fn made(&self, texts: &[&TextToEmbed]) -> Result<Vec<Made>, Error> {
        let inputs: Vec<Cow<'_, str>> =
            texts.iter().map(|text| model_input(&self.info, &text.path, &text.text)).collect();
        let read: Vec<&str> = inputs.iter().map(AsRef::as_ref).collect();
        let vectors = self.index.models.embed_passages(self.name, &read, self.hurried)?;
        let made = |((text, input), vector): ((&&TextToEmbed, &Cow<'_, str>), Vec<f32>)| Made {
            text: text.hash,
            input: input_hash(text, input),
            vector,
        };
        Ok(texts.iter().zip(&inputs).zip(vectors).map(made).collect())
    }

    /// Embeds texts with the model, stores the vectors, and adds them to the cache.
    fn make(&mut self, texts: &[&TextToEmbed]) -> Result<(), Error> {
        let made = self.made(texts)?;
        let (model, rows) = self.cached(made);
        self.index.store.put_vectors(&model, &rows)?;
        self.embedded += rows.len() as u64;
        Ok(())
    }

    /// Adds the results to the report, and returns the number of new vectors.
    fn finish(mut self, report: &mut RunReport) -> u64 {
        self.cache.prune();
        for (done, count) in
            [(&mut report.embedding.embedded, self.embedded), (&mut report.embedding.cached, self.cached)]
        {
            if count > 0 {
                *done.entry(self.name.to_owned()).or_default() += count;
            }
        }
        if self.cache.remark.is_some() {
            report.embedding.uncached = self.cache.remark;
        }
        self.embedded + self.cached
    }
}

// How far a process is that embeds in the background, for `Index::status`.

/// The property that holds the beginning of the last embedding in the background.
const PROGRESS_PROPERTY: &str = "embedding";

/// The state of embedding in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct EmbeddingProgress {
    /// The model.
    pub model: String,
    /// The number of passages that it has embedded.
    pub embedded: u64,
    /// The number of all passages.
    pub passages: u64,
    /// About how many seconds the rest takes, once that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
}

/// The beginning of an embedding.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Beginning {
    model: String,
    at_ms: i64,
    missing: u64,
}

/// Notes that a model begins to embed in the background.
pub(crate) fn begin(index: &Index, model: &str, missing: u64, observer: &dyn Observer) -> Result<(), Error> {
    let beginning = Beginning { model: model.to_owned(), at_ms: now_ms(), missing };
    let text = serde_json::to_string(&beginning).unwrap_or_default();
    let _writing = index.wait_to_write(observer)?;
    Ok(index.store.set_property(PROGRESS_PROPERTY, &text)?)
}

/// Returns the seconds that the rest takes at the speed so far.
fn seconds_left(beginning: &Beginning, missing: u64, now_ms: i64) -> Option<u64> {
    let done = beginning.missing.checked_sub(missing).filter(|done| *done > 0)?;
    let took = u64::try_from(now_ms - beginning.at_ms).ok()?;
    Some((took * missing).div_ceil(done * 1000))
}

/// Does the work of [`Index::embedding_progress`].
pub(super) fn progress(index: &Index) -> Result<Option<EmbeddingProgress>, Error> {
    if !index.store.is_embedding() {
        return Ok(None);
    }
    let beginning = index.store.property(PROGRESS_PROPERTY)?.and_then(|text| serde_json::from_str(&text).ok());
    let Some(beginning) = beginning.filter(|it: &Beginning| index.config.index.models.contains(&it.model)) else {
        return Ok(None);
    };
    let coverage = index.store.coverage(&index.models.id(&beginning.model)?, &index.embedded_here())?;
    Ok(Some(EmbeddingProgress {
        embedded: coverage.embedded,
        passages: coverage.passages,
        seconds_left: seconds_left(&beginning, coverage.passages.saturating_sub(coverage.embedded), now_ms()),
        model: beginning.model,
    }))
}

// Embedding in the background: one process an index makes the vectors that the better models lack.

/// The property that says that a process of its own has embedded here.
pub(super) const BACKGROUND_PROPERTY: &str = "background";

/// The wait for those that only look whether somebody embeds.
const GLANCE: Duration = Duration::from_millis(500);

/// Pause between two attempts to begin while another process embeds.
const RETRY: Duration = Duration::from_secs(1);

/// Does the work of [`Index::embed_missing`].
pub(super) fn beside_calls(index: &Index, observer: &dyn Observer) -> Result<RunReport, Error> {
    let _embedding = loop {
        match index.store.wait_to_embed(Duration::ZERO) {
            Err(StoreError::Busy { .. }) if !observer.cancelled() => std::thread::sleep(RETRY),
            taken => break taken?,
        }
    };
    embed_missing(index, index.config.index.models.iter(), &BESIDE_CALLS, observer)
}

/// Does the work of [`Index::embed_alone`].
pub(super) fn alone(index: &Index, observer: &dyn Observer) -> Result<Option<RunReport>, Error> {
    let _embedding = match index.store.wait_to_embed(GLANCE) {
        Err(StoreError::Busy { .. }) => return Ok(None),
        taken => taken?,
    };
    if !index.has_embedded_alone()? {
        let _writing = index.wait_to_write(observer)?;
        index.store.set_property(BACKGROUND_PROPERTY, "embedded")?;
    }
    let models = index.config.index.models.iter().filter(|name| !index.models.is_remote(name));
    embed_missing(index, models, &ALONE, observer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_slow_model_takes_less_than_a_second() {
        for (texts, millis, expected) in [(8, 70, 64), (8, 700, 8), (64, 7000, 6), (8, 60_000, 1), (8, 0, 64)] {
            assert_eq!(next_part(texts, Duration::from_millis(millis)), expected, "{texts} in {millis} ms");
        }
    }

    #[test]
    fn the_time_left_follows_from_the_speed_so_far() {
        let beginning = Beginning { model: "minilm".into(), at_ms: 1000, missing: 300 };
        assert_eq!(seconds_left(&beginning, 200, 11_000), Some(20));
        assert_eq!([seconds_left(&beginning, 299, 1500), seconds_left(&beginning, 0, 11_000)], [Some(150), Some(0)]);
        // Nothing is done yet, more passages came, the clock was set back.
        for (missing, now) in [(300, 11_000), (400, 11_000), (200, 0)] {
            assert_eq!(seconds_left(&beginning, missing, now), None, "{missing} at {now}");
        }
    }
}
