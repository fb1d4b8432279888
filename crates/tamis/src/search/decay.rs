//! The age of memories.
//!
//! Age decides between memories that say the same, never between what they say: a factor that halves every month soon puts the
//! one good answer below this week's noise. With a half-life, which the user chooses, decay orders the kept candidates. The cut
//! reads values without decay either way.

use super::candidate::Candidate;
use crate::config::DecayConfig;
use tamis_rank::Decay;
use tamis_store::StoredPassage;

/// The effect of age in one search.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchDecay<'a> {
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

    /// Returns the value of a candidate after decay.
    pub fn aged(candidate: &Candidate) -> f64 {
        Decay::apply(candidate.score, candidate.decay)
    }
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
        let request = SearchRequest { explain: true, now_ns: Some(NOW), ..SearchRequest::memory(query) };
        index.search(&request).expect("searched")
    }

    fn found(answer: &Answer) -> Vec<&str> {
        answer.results.iter().map(|hit| hit.path.as_str()).collect()
    }

    /// Returns the decay factor of each candidate, by path.
    fn left(answer: &Answer) -> Vec<(&str, f64)> {
        let mut left: Vec<(&str, f64)> =
            answer.pool.iter().flatten().map(|entry| (entry.path.as_str(), entry.decay)).collect();
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
        assert_eq!(ages("b-new.md"), Some((Some(0.0), Some(1))));
        assert_eq!(ages("c-older.md"), Some((Some(60.0), Some(4))));
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
        let expected = [
            ("MEMORY.md", 1.0),
            ("dated.md", 0.5f64.sqrt()),
            ("deep/memory.md", 1.0),
            ("other.md", 1.0),
            ("tomorrow.md", 1.0),
            ("undated.md", 1.0),
        ];
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
    fn age_moves_nothing_twice() {
        let directory = tempfile::tempdir().expect("a directory");
        let index = noted(directory.path(), &[("memory.cut", "max_gap"), STRONG], &[("old.md", Some(60), BACKUPS)]);
        let answer = recall(&index, "backups of the database on the second disk");
        let pool = answer.pool.as_ref().expect("explained");
        assert_eq!((pool[0].distance_factor, pool[0].decay), (1.0, 0.25));
    }

    #[test]
    fn without_decay_nothing_changes() {
        let directory = tempfile::tempdir().expect("a directory");
        let index = noted(directory.path(), &[("memory.decay", ""), STRONG], &[("old.md", Some(60), BACKUPS)]);
        assert_eq!(left(&recall(&index, "backups of the database")), [("old.md", 1.0)]);
    }

    #[test]
    fn searches_that_are_not_of_memories_do_not_decay() {
        let directory = tempfile::tempdir().expect("a directory");
        let index = noted(directory.path(), &[], &[("old.md", Some(60), BACKUPS)]);
        let request =
            SearchRequest { explain: true, now_ns: Some(NOW), ..SearchRequest::new("backups of the database") };
        let answer = index.search(&request).expect("searched");
        assert_eq!(left(&answer), [("old.md", 1.0)]);
    }
}
