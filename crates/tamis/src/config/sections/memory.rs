//! `[memory]`: searching memories, that is notes and conversations. Age counts among them, and they often say the same twice.

use super::cuts::cut_or_off;
use crate::config::declare::{flag, list, number, section};
use tamis_cut::Rule;
use tamis_rank::Decay;

section! {
    /// Settings of a search of memories that replace those of other searches.
    #[derive(Clone, Debug)]
    pub struct MemoryConfig {
        /// Collections that a search of memories reads when it names none.
        pub collections: Vec<String> = "memory.collections", list(&["notes", "sessions"]);
        /// The rule that decides where relevance ends among memories: METHOD or METHOD:PARAM=VALUE,…; off: keep everything,
        /// without the gate.
        pub cut: Option<Box<dyn Rule>> = "memory.cut", cut_or_off("top_score");
        /// Decay with age.
        pub decay: DecayConfig;
        /// Put memories that say something new before those that repeat one further up. Does not change what is kept.
        pub diversify: bool = "memory.diversity", flag(true);
        /// Weight of relevance against novelty in that order; 1: relevance alone.
        pub diversity_lambda: f64 = "memory.diversity_lambda", number(0.0..=1.0, 0.7);
    }
}

impl MemoryConfig {
    /// Returns the weight of relevance against novelty in the order of kept results, 0 to 1; `None`: order by relevance.
    pub fn diversity(&self) -> Option<f64> {
        self.diversify.then_some(self.diversity_lambda)
    }
}

section! {
    /// Decay of memories with age.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DecayConfig {
        /// Collections whose passages decay with age; empty: none.
        pub collections: Vec<String> = "memory.decay", list(&["notes", "sessions"]);
        /// The rate of decay.
        pub decay: Decay;
        /// Names of files whose passages never decay, whatever their date.
        pub evergreen: Vec<String> = "memory.evergreen", list(&["MEMORY.md"]);
    }
}

section! {
    for Decay {
        /// Days after which half of a memory's score is left. Memories without a date do not decay.
        half_life_days: f64 = "memory.decay_half_life_days", number(0.1..=36_500.0, Decay::default().half_life_days);
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origins};

    fn load(key: &str, value: &str) -> Result<Config, String> {
        let flags = vec![(key.to_owned(), value.to_owned(), "test".to_owned())];
        Config::load(&Origins { flags, ..Origins::default() }, None).map_err(|error| error.to_string())
    }

    #[test]
    fn memory_has_its_defaults_and_each_can_be_turned_off() {
        let memory = Config::built_in().memory;
        assert_eq!(memory.cut.as_ref().map(|rule| rule.name()), Some("top_score"));
        assert_eq!(memory.diversity(), Some(0.7));
        assert_eq!(memory.decay.decay.half_life_days, 30.0);
        assert_eq!(memory.decay.collections, ["notes", "sessions"]);

        assert!(load("memory.cut", "off").expect("allowed").memory.cut.is_none());
        assert_eq!(load("memory.diversity", "off").expect("allowed").memory.diversity(), None);
        assert!(load("memory.decay", "").expect("allowed").memory.decay.collections.is_empty());
        let error = load("memory.cut", "top_scorr").expect_err("no such cut");
        assert!(error.contains("memory.cut") && error.contains("top_score"), "{error}");

        let config = load("cut.top_score.floor", "0.25").expect("allowed");
        let rule = config.memory.cut.expect("a rule");
        assert!(rule.to_string().contains("floor=0.25"), "{rule}");
    }
}
