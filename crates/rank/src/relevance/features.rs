//! The evidence as the model reads it.

/// What is known of a query and its corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryFeatures {
    /// Words of the query that the lexical leg looked for.
    pub words: usize,
    /// Passages that were searched.
    pub passages: u64,
    /// True if the query has words that an answer must hold: identifiers, quoted phrases, numbers.
    pub reads_required: bool,
}

/// What is known of an entry of a list. A leg that took no part gives 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EntryFeatures {
    /// Similarity of its best passage to the query, as a share of what a passage on the query's subject has under the model.
    pub similarity: f64,
    /// The highest such share of any of its passages.
    pub similarity_max: f64,
    /// Share of the query's IDF mass that its best passage has, 0 to 1.
    pub coverage: f64,
    /// The highest such share of any of its passages.
    pub coverage_max: f64,
    /// Its place by its score, from 0.
    pub rank: usize,
    /// Its score between that of a passage that has nothing to do with the query (0) and that of the first entry (1).
    pub normalized_score: f64,
    /// True for ordinary text, as opposed to tests, examples, changelogs and the like.
    pub is_main: bool,
    /// True if it holds exactly what the query asks for: the definition of its name, the text of its message.
    pub exact: bool,
    /// Match of its name with the query, 0 to 1.
    pub name: f64,
    /// The greatest share of the query's words that the symbol or the heading of one of its passages has, 0 to 1.
    pub title: f64,
    /// Share of the words that an answer must hold, 0 to 1.
    pub required: f64,
    /// Bytes of its best passage.
    pub characters: usize,
    /// Cosine similarity of its best passage to the query under the better model, where that has read it.
    pub late: Option<f64>,
}

/// The names of the evidence that the model reads, in the order of its weights.
pub const FEATURES: [&str; 31] = [
    "similarity", "similarity_max", "coverage", "coverage_max", "coverage_by_words", "coverage_by_best", "rank",
    "score", "other_role", "length", "name", "exact", "required", "required_best", "corpus", "words",
    "similarity_best", "coverage_best", "coverage_best_by_words", "similarity_by_words", "shortfall", "title", "late",
    "late_relative", "late_deviation", "late_best", "late_by_best", "late_best_by_coverage", "late_best_by_words",
    "late_by_words", "late_missing",
];

/// The similarity of a passage on a query's subject under the better model.
const LATE_REFERENCE: f64 = 0.5;

/// How far below the least of its list a late similarity counts where there is none.
const LATE_STEP: f64 = 0.02;

/// The late similarity of an entry, which is a cosine whatever the caller gives.
fn late_of(entry: &EntryFeatures) -> Option<f64> {
    entry.late.filter(|late| late.is_finite()).map(|late| late.clamp(-1.0, 1.0))
}

/// The late similarities of a list.
pub(super) struct LateStatistics {
    least: f64,
    best: f64,
    /// Mean of the best five.
    top: f64,
    mean: f64,
    deviation: f64,
}

impl LateStatistics {
    /// Reads those of a list; `None` if no entry has one.
    pub fn of(entries: &[EntryFeatures]) -> Option<Self> {
        let mut known: Vec<f64> = entries.iter().filter_map(late_of).collect();
        known.sort_by(|a, b| b.total_cmp(a));
        let (&best, &least) = (known.first()?, known.last()?);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (all, top) = (mean(&known), mean(&known[..known.len().min(5)]));
        let deviation = (known.iter().map(|late| (late - all).powi(2)).sum::<f64>() / known.len() as f64).sqrt();
        Some(LateStatistics { least, best, top, mean: all, deviation: deviation + 1e-6 })
    }
}

/// Returns the values of [`FEATURES`] for each entry of a list.
pub(super) fn values(
    query: &QueryFeatures,
    entries: &[EntryFeatures],
    late: Option<&LateStatistics>,
) -> Vec<[f64; FEATURES.len()]> {
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let best =
        |of: fn(&EntryFeatures) -> f64| entries.iter().map(of).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let (words, corpus) =
        ((query.words as f64).ln_1p(), (query.passages.clamp(SMALL_CORPUS, LARGE_CORPUS) as f64).ln_1p());
    let similarity_best = best(|entry| entry.similarity_max);
    let coverage_best = best(|entry| entry.coverage_max);
    let required_best = if query.reads_required { best(|entry| entry.required) } else { 0.0 };
    let flag = |flag: bool| f64::from(u8::from(flag));
    let entry = |entry: &EntryFeatures| {
        let [similarity, similarity_max, coverage, coverage_max] =
            [entry.similarity, entry.similarity_max, entry.coverage, entry.coverage_max].map(finite);
        let own = [
            similarity,
            similarity_max,
            coverage,
            coverage_max,
            coverage * words,
            coverage * coverage_best,
            (entry.rank as f64).ln_1p(),
            finite(entry.normalized_score).clamp(-1.0, 1.0),
            flag(!entry.is_main),
            (entry.characters as f64).ln_1p(),
            finite(entry.name),
            flag(entry.exact),
            if query.reads_required { finite(entry.required) } else { 0.0 },
            required_best,
            corpus,
            words,
            similarity_best,
            coverage_best,
            coverage_best * words,
            similarity * words,
            (ENOUGH - coverage_max - similarity_max.max(0.0)).max(0.0),
            finite(entry.title),
        ];
        let of_late = late.map_or([0.0; 9], |list| {
            let known = late_of(entry);
            let own = known.unwrap_or(list.least - LATE_STEP);
            let share = |similarity: f64| similarity / LATE_REFERENCE;
            [
                share(own),
                share(own - list.top),
                (own - list.mean) / list.deviation,
                share(list.best),
                share(own) * share(list.best),
                share(list.best) * coverage_best,
                share(list.best) * words,
                share(own) * words,
                flag(known.is_none()),
            ]
        });
        let mut values = [0.0; FEATURES.len()];
        values[..own.len()].copy_from_slice(&own);
        values[own.len()..].copy_from_slice(&of_late);
        values.map(|value| value.clamp(-LARGEST, LARGEST))
    };
    entries.iter().map(entry).collect()
}

/// The sum of coverage and similarity that an entry with an answer mostly has. What lacks it counts by how much it lacks.
const ENOUGH: f64 = 0.8;

/// Corpora beyond these sizes count as ones of these: the model was fitted to few of them.
const SMALL_CORPUS: u64 = 300;
const LARGE_CORPUS: u64 = 5_000;

/// The largest value of any evidence. Scores of a store that goes wrong must not decide.
const LARGEST: f64 = 50.0;
