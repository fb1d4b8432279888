//! Language and age: the adjustments of a candidate besides the query.
//!
//! Age decides between memories that say the same, never between what they say: a factor that halves every month soon puts the
//! one good answer below this week's noise. With a half-life, which the user chooses, decay orders the kept candidates. The cut
//! reads values without decay either way.

use std::collections::BTreeMap;

use tamis_cut::Rule;
use tamis_rank::{Adjustment, Decay, LanguageMatch};
use tamis_store::StoredPassage;
use tamis_text::{Language, Relation};

use super::context::Context;
use super::query::Query;
use crate::Error;
use crate::config::{DecayConfig, RankConfig, RecencyFrom, RecencyUse};

/// The adjustments of the candidates of one search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Adjustments {
    /// The language to prefer.
    pub hint: Option<&'static str>,
    /// The reference times for ages; `None`: age changes nothing.
    ages: Option<Ages>,
    config: RankConfig,
}

/// The reference times for ages.
#[derive(Clone, Debug, PartialEq)]
struct Ages {
    now_ns: i64,
    /// The date of the newest document of each namespace; empty: ages are counted from the present.
    newest: BTreeMap<String, i64>,
}

impl Ages {
    /// Returns the time that the ages of a namespace's passages are counted from, which is never in the future.
    fn from(&self, namespace: &str) -> i64 {
        self.newest.get(namespace).map_or(self.now_ns, |&newest| newest.min(self.now_ns))
    }
}

/// The severities that keep more of their value over time.
const SEVERE: [&str; 2] = ["critical", "major"];

/// Returns the adjustments of a search under `rule`. Memories decay by other settings, so age leaves them alone unless it is on
/// for every search.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn adjustments_under(context: &Context<'_>, query: &Query, rule: &dyn Rule) -> Result<Adjustments, Error> {
    let Query { hint, now_ns, memory, .. } = *query;
    let config = context.index.config.rank;
    let aged = match config.use_recency {
        RecencyUse::On => true,
        RecencyUse::Off => false,
        RecencyUse::Auto => rule.reads_aged_distances() && !memory,
    };
    let newest = match config.recency_from {
        RecencyFrom::Newest if aged => context.index.store.newest_dates()?.into_iter().collect(),
        _ => BTreeMap::new(),
    };
    Ok(Adjustments { hint, ages: aged.then_some(Ages { now_ns, newest }), config })
}

impl Adjustments {
    /// Returns a passage's language: the stored one, or else that of its path.
    pub fn language_of<'p>(&self, passage: &'p StoredPassage) -> Option<&'p str> {
        passage.language.as_deref().or_else(|| Language::detect(&passage.path, "").map(|found| found.name))
    }

    /// Returns the relation of a passage's language to the hinted one.
    pub fn language(&self, passage: &StoredPassage) -> LanguageMatch {
        match self.hint.and_then(|hint| Some(Language::relation(hint, self.language_of(passage)?))) {
            Some(Relation::Same) => LanguageMatch::Same,
            Some(Relation::Related) => LanguageMatch::Related,
            Some(Relation::Other) | None => LanguageMatch::Other,
        }
    }

    /// Returns the date that a passage's age is counted from: its last commit if known, or else the file's last change.
    fn date(passage: &StoredPassage) -> Option<i64> {
        passage.dated_ns.or(Some(passage.modified_ns).filter(|&modified| modified > 0))
    }

    /// Returns the adjustment of a passage.
    pub fn adjustment(&self, passage: &StoredPassage) -> Adjustment {
        let language = self.hint.map_or(1.0, |_| self.config.language.factor(self.language(passage)));
        let severe = passage.severity.as_deref().is_some_and(|severity| SEVERE.contains(&severity));
        let recency = self
            .ages
            .as_ref()
            .map_or(1.0, |ages| self.config.recency.factor(Self::date(passage), ages.from(&passage.namespace), severe));
        Adjustment::new(language, recency)
    }

    /// Returns `true` if age adjusts candidates.
    pub fn by_age(&self) -> bool {
        self.ages.is_some()
    }

    /// The age of a passage in days, as it moves the passage; `None` where age moves nothing or there is no date.
    pub fn age_days(&self, passage: &StoredPassage) -> Option<f64> {
        let from = self.ages.as_ref()?.from(&passage.namespace);
        Some(((from as f64 - Self::date(passage)? as f64) / 86_400e9).max(0.0))
    }

    /// Returns its settings for a scoring key, by name.
    pub fn scoring(&self) -> impl Iterator<Item = (&'static str, String)> {
        let RankConfig { language, recency, .. } = self.config;
        let by_language = self.hint.map(|_| ("language", format!("{} {}", language.same, language.related)));
        let from = if self.config.recency_from == RecencyFrom::Newest { " newest" } else { "" };
        let age = || format!("{} {} {}{from}", recency.half_life_days, recency.floor, recency.severe_floor);
        let by_age = self.ages.as_ref().map(|_| ("recency", age()));
        [by_language, by_age].into_iter().flatten()
    }
}

/// The effect of age in one search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchDecay<'a> {
    /// The collections in which age counts, and the half-life; `None`: age does not count.
    config: Option<&'a DecayConfig>,
    now_ns: i64,
}

impl<'a> SearchDecay<'a> {
    /// A search without ages.
    pub const NONE: SearchDecay<'static> = SearchDecay { config: None, now_ns: 0 };

    /// Creates the configured effect, with ages counted from `now_ns`.
    pub fn new(config: &'a DecayConfig, now_ns: i64) -> Self {
        SearchDecay { config: Some(config).filter(|config| !config.collections.is_empty()), now_ns }
    }

    fn decay(&self) -> Option<Decay> {
        self.config?.half_life_days.map(|half_life_days| Decay { half_life_days })
    }

    /// Returns `true` if values decay with age.
    pub fn is_on(&self) -> bool {
        self.decay().is_some()
    }

    /// Returns `true` if age only decides between memories that say the same.
    pub fn breaks_ties(&self) -> bool {
        self.config.is_some() && !self.is_on()
    }

    /// Returns the date of a passage: its own or its document's, never that of the file. `None` if its age does not count.
    pub fn date(&self, passage: &StoredPassage) -> Option<i64> {
        let config = self.config?;
        let name = passage.path.rsplit('/').next().unwrap_or(&passage.path);
        let ages = config.collections.contains(&passage.collection)
            && !config.evergreen.iter().any(|evergreen| evergreen.eq_ignore_ascii_case(name));
        passage.dated_ns.filter(|_| ages)
    }

    /// Returns the decay factor of a passage, in (0, 1].
    pub fn factor(&self, passage: &StoredPassage) -> f64 {
        self.decay().map_or(1.0, |decay| decay.factor(self.date(passage), self.now_ns))
    }
}

/// Returns the effect of age for a question: the configured one for memories, or none.
pub(crate) fn search_decay<'a>(context: &Context<'a>, query: &Query) -> SearchDecay<'a> {
    if query.memory { SearchDecay::new(&context.index.config.memory.decay, query.now_ns) } else { SearchDecay::NONE }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origins};
    use crate::handle::Index;
    use crate::search::SearchRequest;
    use crate::{Answer, Location, RunOptions, TextDocument};

    const DAY: i64 = 86_400_000_000_000;
    const NOW: i64 = 20_000 * DAY;

    /// Notes by path, age in days where they have a date, and text.
    type Notes<'a> = &'a [(&'a str, Option<i64>, &'a str)];

    fn noted(directory: &std::path::Path, settings: &[(&str, &str)], notes: Notes<'_>) -> Index {
        // No file belongs to these collections, so the memories can be given directly.
        let quick = [("index.models", "static"), ("memory.collections", "diary,other"), ("memory.decay", "diary")];
        let flags = quick.iter().chain(settings).map(|&(key, value)| (key.into(), value.into(), "test".into()));
        let config = Config::load(&Origins { flags: flags.collect(), ..Origins::default() }, None).expect("valid");
        let index = Index::at(Location::at(directory, None), config).expect("opened");
        let document = |&(path, _, text): &(&str, Option<i64>, &str)| TextDocument {
            id: path.to_owned(),
            collection: if path.starts_with("other") { "other" } else { "diary" }.into(),
            title: None,
            text: text.to_owned(),
        };
        index.put_documents(&notes.iter().map(document).collect::<Vec<_>>()).expect("put");
        let date = |&(path, age, _): &(&str, Option<i64>, &str)| Some((path.to_owned(), NOW - age? * DAY));
        let dates: Vec<(String, i64)> = notes.iter().filter_map(date).collect();
        index.store.set_dates(&index.namespace, &dates).expect("dated");
        index.complete(RunOptions::WHOLE, &()).expect("completed");
        index
    }

    fn recall(index: &Index, query: &str) -> Answer {
        let request = SearchRequest::memory(query).explain().now_ns(Some(NOW));
        index.search(&request).expect("searched")
    }

    fn found(answer: &Answer) -> Vec<&str> {
        answer.results.iter().map(|hit| hit.path.as_str()).collect()
    }

    /// Returns the decay factor of each candidate, by path.
    fn left(answer: &Answer) -> Vec<(&str, f64)> {
        let mut left: Vec<_> = answer.pool.iter().flatten().map(|one| (one.path.as_str(), one.decay)).collect();
        left.sort_by_key(|&(path, _)| path);
        left
    }

    const BACKUPS: &str = "Backups of the database go to the second disk every night at two.";

    const STRONG: (&str, &str) = ("memory.decay_half_life_days", "30");

    #[test]
    fn the_newest_of_memories_that_say_the_same_stands_first_and_repetitions_last() {
        let directory = tempfile::tempdir().expect("a directory");
        let other = "Backups of the database are encrypted before they leave the machine.";
        let index = noted(
            directory.path(),
            &[("memory.cut", "fixed:k=4")],
            &[
                ("a-old.md", Some(30), BACKUPS),
                ("b-new.md", Some(0), BACKUPS),
                ("c-older.md", Some(60), BACKUPS),
                ("d-other.md", Some(700), other),
            ],
        );
        let answer = recall(&index, "where do the backups of the database go every night");
        assert_eq!(found(&answer), ["b-new.md", "d-other.md", "a-old.md", "c-older.md"]);
        assert!(left(&answer).iter().all(|&(_, left)| left == 1.0));
        let pool = answer.pool.as_ref().expect("explained");
        let ages = |path: &str| pool.iter().find(|entry| entry.path == path).map(|entry| (entry.age_days, entry.rank));
        assert_eq!([ages("b-new.md"), ages("c-older.md")], [Some((Some(0.0), Some(1))), Some((Some(60.0), Some(4)))]);
    }

    #[test]
    fn a_correction_stands_before_what_it_corrects() {
        let directory = tempfile::tempdir().expect("a directory");
        let index = noted(
            directory.path(),
            &[("memory.cut", "fixed:k=5")],
            &[
                ("a-old.md", Some(60), BACKUPS),
                (
                    "b-other.md",
                    Some(1),
                    "Backups of the database now have a page of their own in the handbook for new people.",
                ),
                ("c-correction.md", Some(30), "Correction: backups of the database go to the third disk."),
                ("c-now.md", Some(20), "Backups of the database now go to the fourth disk every night at two."),
                ("d-older.md", Some(90), "Backups of the database moved to the first disk."),
            ],
        );
        let answer = recall(&index, "to which disk do the backups of the database go");
        let at = |path: &str| found(&answer).iter().position(|one| *one == path).expect("kept");
        assert!(at("c-now.md").max(at("c-correction.md")) < at("a-old.md"), "{:?}", found(&answer));
        assert!(at("a-old.md") < at("b-other.md").min(at("d-older.md")), "{:?}", found(&answer));
    }

    /// Decay used to put whatever was said this week before the answer.
    #[test]
    fn age_never_outweighs_what_a_memory_says() {
        let directory = tempfile::tempdir().expect("a directory");
        let notes: Notes<'_> = &[
            ("old.md", Some(700), BACKUPS),
            ("new.md", Some(0), "The second disk of the database server makes a noise at night."),
        ];
        let index = noted(directory.path(), &[("memory.cut", "fixed:k=2")], notes);
        let query = "where do the backups of the database go";
        assert_eq!(found(&recall(&index, query)), ["old.md", "new.md"]);
        drop(index);
        let directory = tempfile::tempdir().expect("a directory");
        let index = noted(directory.path(), &[("memory.cut", "fixed:k=2"), STRONG], notes);
        assert_eq!(found(&recall(&index, query)), ["new.md", "old.md"], "unless it is asked to");
    }

    #[test]
    fn a_half_life_halves_the_score() {
        let directory = tempfile::tempdir().expect("a directory");
        let index = noted(
            directory.path(),
            &[("memory.cut", "top_score"), STRONG],
            &[("a-old.md", Some(30), BACKUPS), ("b-new.md", Some(0), BACKUPS), ("c-older.md", Some(60), BACKUPS)],
        );
        let answer = recall(&index, "where do the backups of the database go");
        assert_eq!(left(&answer), [("a-old.md", 0.5), ("b-new.md", 1.0), ("c-older.md", 0.25)]);
        assert_eq!(found(&answer), ["b-new.md", "a-old.md", "c-older.md"]);
        for (hit, left) in answer.results.iter().zip([1.0, 0.5, 0.25]) {
            let (similarity, r) = (hit.similarity.expect("known"), hit.bm25.expect("known"));
            let fused = 0.7 * similarity + 0.3 * r / (1.0 + r);
            assert!((hit.score - fused * left).abs() < 1e-9, "{}", hit.path);
        }
    }

    #[test]
    fn undated_evergreen_and_other_collections_do_not_decay() {
        let directory = tempfile::tempdir().expect("a directory");
        let notes: Notes<'_> = &[
            ("MEMORY.md", Some(900), BACKUPS),
            ("deep/memory.md", Some(900), BACKUPS),
            ("undated.md", None, BACKUPS),
            ("tomorrow.md", Some(-1), BACKUPS),
            ("dated.md", Some(15), BACKUPS),
            ("other.md", Some(900), BACKUPS),
        ];
        let index = noted(directory.path(), &[STRONG], notes);
        let answer = recall(&index, "where do the backups of the database go");
        let others = ["deep/memory.md", "other.md", "tomorrow.md", "undated.md"].map(|path| (path, 1.0));
        let expected = [&[("MEMORY.md", 1.0), ("dated.md", 0.5f64.sqrt())], &others[..]].concat();
        assert_eq!(left(&answer), expected);
    }

    /// A floor on decayed values would forget everything older than two months, however well it answers.
    #[test]
    fn trap_an_old_memory_is_still_the_answer_where_nothing_newer_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let notes: Notes<'_> = &[
            ("2023-01-01.md", Some(700), BACKUPS),
            ("a.md", Some(1), "The violin is tuned in fifths; rosin on the bow makes the string speak."),
            ("b.md", Some(2), "Apple trees in the orchard are pruned in late winter before the buds open."),
            ("c.md", Some(3), "Ships wait outside the harbour for the tide and the pilot."),
        ];
        let index = noted(directory.path(), &[STRONG], notes);
        let answer = recall(&index, "backups of the database on the second disk");
        assert_eq!(found(&answer), ["2023-01-01.md"], "{}", answer.cut.reason);
    }

    #[test]
    fn age_counts_once_and_only_for_memories_that_decay() {
        let notes: Notes<'_> = &[("old.md", Some(60), BACKUPS)];
        for (setting, decay) in [(("memory.cut", "max_gap"), 0.25), (("memory.decay", ""), 1.0)] {
            let directory = tempfile::tempdir().expect("a directory");
            let index = noted(directory.path(), &[setting, STRONG], notes);
            let pool = recall(&index, "backups of the database on the second disk").pool.expect("explained");
            assert_eq!((pool[0].distance_factor, pool[0].decay), (1.0, decay), "{setting:?}");
            let plain = SearchRequest::new("backups of the database").explain().now_ns(Some(NOW));
            assert_eq!(left(&index.search(&plain).expect("searched")), [("old.md", 1.0)], "{setting:?}");
        }
    }
}
