//! The evidence as the models of relevance read it.

/// What is known of a query and its corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryFeatures {
    /// Words of the query that the lexical retriever looked for.
    pub words: usize,
    /// Share of these that no searched passage has, 0 to 1.
    pub missing_words: f64,
    /// Names in the query ([`ProperNames`](crate::ProperNames)).
    pub names: usize,
    /// Share of these that no candidate holds, 0 to 1.
    pub missing_names: f64,
    /// Passages that were searched.
    pub passages: u64,
    /// True if the query has words that an answer must hold: identifiers, quoted phrases, numbers.
    pub reads_required: bool,
    /// Mean and standard deviation of the similarity of all searched passages, as shares of that of a passage on the query's subject.
    pub background: Option<(f64, f64)>,
}

/// What is known of an entry of a list. A retriever that took no part gives 0.
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
    /// Passages of it among the candidates.
    pub passages: usize,
    /// Its place by its score, from 0.
    pub rank: usize,
    /// Its score between that of a passage that has nothing to do with the query (0) and that of the first entry (1).
    pub normalized_score: f64,
    /// The kind of its text.
    pub text: TextKind,
    /// What of the query's words and names it has.
    pub matches: Matches,
    /// Bytes of its best passage.
    pub characters: usize,
    /// The highest similarity of its passages to the query under the better model, as a share of what a passage on the query's subject
    /// has under it; `None` where that model has embedded none of them.
    pub on_demand: Option<f64>,
}

/// The kind of text that an entry is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextKind {
    /// True for ordinary text, as opposed to tests, examples, changelogs and the like.
    pub is_main: bool,
    /// True for source code of programs, as opposed to documentation, data and everything that is no file.
    pub is_program: bool,
}

/// What of a query's words and names an entry has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Matches {
    /// True if it holds exactly what the query asks for: the definition of its name, the text of its message.
    pub exact: bool,
    /// Match of its name with the query, 0 to 1.
    pub name: f64,
    /// The greatest share of the query's words that the symbol or the heading of one of its passages has, 0 to 1.
    pub title: f64,
    /// Share of the words that an answer must hold, 0 to 1.
    pub required: f64,
    /// Share of the query's names that its passages hold, 0 to 1.
    pub names: f64,
}

/// The names of the evidence on an entry, in the order of its weights.
pub const ENTRY_FEATURES: [&str; 19] = [
    "similarity", "similarity_max", "similarity_deviation", "coverage", "coverage_max", "passages", "rank", "score",
    "other_role", "no_program", "length", "name", "title", "exact", "required", "held_names", "on_demand",
    "on_demand_deviation", "on_demand_missing",
];

/// The names of the evidence on a whole list, in the order of its weights.
pub const LIST_FEATURES: [&str; 32] = [
    "words", "corpus", "similarity_1", "similarity_3", "similarity_5", "coverage_1", "coverage_3", "coverage_5",
    "both", "exact", "title", "name", "has_required", "required", "has_names", "names", "missing_names",
    "missing_words", "background_deviations", "long", "long_similarity", "long_coverage", "long_both",
    "long_missing_words", "long_missing_names", "on_demand_1", "on_demand_3", "on_demand_5", "on_demand_lead",
    "on_demand_coverage", "on_demand_words", "on_demand_long",
];

/// Queries of fewer words are short, and those of more are long: they say what they mean in many words, of which any text has some.
const SHORT_WORDS: f64 = 12.0;
const LONG_WORDS: f64 = 60.0;

/// Corpora beyond these sizes count as ones of these: the models were fitted to few of them.
const SMALL_CORPUS: u64 = 300;
const LARGE_CORPUS: u64 = 5_000;

/// The most deviations from unrelated text that count, those of the best percent of the lists that the models were fitted to. Texts
/// that say nearly the same, such as the lines of a log, have a background of hardly any spread.
const MOST_DEVIATIONS: f64 = 8.0;

/// How far below the least of its list a similarity counts where there is none.
const STEP: f64 = 0.04;

/// The largest value of any evidence. Scores of a store that goes wrong must not decide.
const LARGEST: f64 = 50.0;

/// The greatest of some numbers, and the means of the greatest three and five.
fn tops(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(|a, b| b.total_cmp(a));
    [1, 3, 5].map(|count| {
        let first = &values[..values.len().min(count)];
        first.iter().sum::<f64>() / first.len().max(1) as f64
    })
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

fn flag(flag: bool) -> f64 {
    f64::from(u8::from(flag))
}

/// The values of a list in deviations from their mean, and a function for further ones. A list of equal values deviates by nothing.
fn deviations(values: &[f64]) -> impl Fn(f64) -> f64 {
    /// Keeps a list of almost equal values from counting as one with outliers.
    const LEAST: f64 = 0.05;
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt() + LEAST;
    move |value| ((value - mean) / deviation).clamp(-4.0, 4.0)
}

/// The share of the query's words that its list covers, from which a list counts as covered by words: 0 to 1.
pub fn covered(entries: &[EntryFeatures]) -> f64 {
    const NONE: f64 = 0.5;
    const FULL: f64 = 0.8;
    let best = entries.iter().map(|entry| finite(entry.coverage_max)).fold(0.0, f64::max);
    ((best - NONE) / (FULL - NONE)).clamp(0.0, 1.0)
}

/// The similarity of an entry under the better model.
fn on_demand(entry: &EntryFeatures) -> Option<f64> {
    entry.on_demand.filter(|similarity| similarity.is_finite()).map(|similarity| similarity.clamp(-LARGEST, LARGEST))
}

/// Returns the values of [`ENTRY_FEATURES`] for each entry of a list.
pub fn entry_values(query: &QueryFeatures, entries: &[EntryFeatures]) -> Vec<[f64; ENTRY_FEATURES.len()]> {
    let known: Vec<f64> = entries.iter().filter_map(on_demand).collect();
    let of_known = deviations(&known);
    let similarities: Vec<f64> = entries.iter().map(|entry| finite(entry.similarity_max)).collect();
    let of_similarities = deviations(&similarities);
    let least = known.iter().copied().fold(f64::INFINITY, f64::min) - STEP;
    let values = |entry: &EntryFeatures| {
        let better = on_demand(entry);
        let (own, deviation, missing) = match known.is_empty() {
            true => (0.0, 0.0, 0.0),
            false => {
                let own = better.unwrap_or(least);
                (own, of_known(own), flag(better.is_none()))
            }
        };
        let values = [
            finite(entry.similarity),
            finite(entry.similarity_max),
            of_similarities(finite(entry.similarity_max)),
            finite(entry.coverage),
            finite(entry.coverage_max),
            (entry.passages as f64).ln_1p(),
            (entry.rank as f64).ln_1p(),
            finite(entry.normalized_score).clamp(-1.0, 1.0),
            flag(!entry.text.is_main),
            flag(!entry.text.is_program),
            (entry.characters as f64).ln_1p(),
            finite(entry.matches.name),
            finite(entry.matches.title),
            flag(entry.matches.exact),
            if query.reads_required { finite(entry.matches.required) } else { 0.0 },
            finite(entry.matches.names),
            own,
            deviation,
            missing,
        ];
        values.map(|value| value.clamp(-LARGEST, LARGEST))
    };
    entries.iter().map(values).collect()
}

/// Returns the values of [`LIST_FEATURES`].
pub fn list_values(query: &QueryFeatures, entries: &[EntryFeatures]) -> [f64; LIST_FEATURES.len()] {
    let all = |of: fn(&EntryFeatures) -> f64| entries.iter().map(|entry| finite(of(entry))).collect::<Vec<f64>>();
    let best = |of: fn(&EntryFeatures) -> f64| all(of).into_iter().fold(0.0, f64::max);
    let words = (query.words as f64).ln_1p();
    let long = ((words - SHORT_WORDS.ln_1p()) / (LONG_WORDS.ln_1p() - SHORT_WORDS.ln_1p())).clamp(0.0, 1.0);
    let similarities = tops(all(|entry| entry.similarity_max));
    let coverages = tops(all(|entry| entry.coverage_max));
    let both = all(|entry| entry.similarity_max + entry.coverage_max).into_iter().fold(f64::NEG_INFINITY, f64::max);
    let both = finite(both);
    let has_names = flag(query.names > 0);
    let (missing_words, missing_names) = (finite(query.missing_words), finite(query.missing_names));
    let known: Vec<f64> = entries.iter().filter_map(on_demand).collect();
    let better = tops(known.clone());
    let lead = better[0] - known.iter().sum::<f64>() / known.len().max(1) as f64;
    let deviations = query.background.map_or(0.0, |(mean, deviation)| (similarities[0] - mean) / (deviation + 1e-3));
    let deviations = deviations.min(MOST_DEVIATIONS);
    let values = [
        words,
        (query.passages.clamp(SMALL_CORPUS, LARGE_CORPUS) as f64).ln_1p(),
        similarities[0],
        similarities[1],
        similarities[2],
        coverages[0],
        coverages[1],
        coverages[2],
        both,
        best(|entry| flag(entry.matches.exact)),
        best(|entry| entry.matches.title),
        best(|entry| entry.matches.name),
        flag(query.reads_required),
        if query.reads_required { best(|entry| entry.matches.required) } else { 0.0 },
        has_names,
        has_names * best(|entry| entry.matches.names),
        missing_names,
        missing_words,
        finite(deviations),
        long,
        long * similarities[0],
        long * coverages[0],
        long * both,
        long * missing_words,
        long * missing_names,
        better[0],
        better[1],
        better[2],
        lead,
        better[0] * coverages[0],
        better[0] * words,
        better[0] * long,
    ];
    values.map(|value| value.clamp(-LARGEST, LARGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(values: &[f64], names: &[&str], name: &str) -> f64 {
        values[names.iter().position(|known| *known == name).expect("a feature")]
    }

    #[test]
    fn a_list_is_read_by_its_best_entries_and_long_queries_count_as_long_and_short_ones_do_not() {
        let entry =
            |similarity_max, coverage_max| EntryFeatures { similarity_max, coverage_max, ..EntryFeatures::default() };
        let entries = [entry(0.4, 0.9), entry(1.0, 0.2), entry(0.7, 0.1)];
        let values = list_values(&QueryFeatures::default(), &entries);
        let of = |name| value(&values, &LIST_FEATURES, name);
        assert_eq!((of("similarity_1"), of("coverage_1")), (1.0, 0.9));
        assert!((of("similarity_3") - 0.7).abs() < 1e-12 && (of("both") - 1.3).abs() < 1e-12);
        assert_eq!((covered(&entries), covered(&entries[1..])), (1.0, 0.0));
        let long = |words| {
            value(&list_values(&QueryFeatures { words, ..QueryFeatures::default() }, &[]), &LIST_FEATURES, "long")
        };
        assert_eq!([0, 12, 60, 5_000].map(long), [0.0, 0.0, 1.0, 1.0]);
        assert!((0.2..0.8).contains(&long(25)));
    }

    #[test]
    fn an_entry_that_was_not_embedded_counts_below_the_least_of_its_list() {
        let entry = |on_demand| EntryFeatures { on_demand, ..EntryFeatures::default() };
        let values = entry_values(&QueryFeatures::default(), &[entry(Some(0.8)), entry(Some(0.5)), entry(None)]);
        let of = |at: usize, name| value(&values[at], &ENTRY_FEATURES, name);
        assert!((of(2, "on_demand") - 0.46).abs() < 1e-12 && of(2, "on_demand_missing") == 1.0);
        let without = entry_values(&QueryFeatures::default(), &[entry(None), entry(None)]);
        assert!(without.iter().all(|values| value(values, &ENTRY_FEATURES, "on_demand_missing") == 0.0));
    }
}
