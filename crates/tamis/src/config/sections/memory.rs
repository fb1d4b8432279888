//! `[memory]`: searching memories, that is notes and conversations. They often say the same twice, and then the newer one counts.

use tamis_cut::Rule;

use super::cuts::cut_or_off;
use crate::config::declare::{auto_or_number, flag, list, number, section};

section! {
    /// Settings of a search of memories that replace those of other searches.
    #[derive(Clone, Debug)]
    pub struct MemoryConfig {
        /// Collections that a search of memories reads when it names none.
        pub collections: Vec<String> = "memory.collections", list(&["notes", "sessions"]);
        /// The rule that decides where relevance ends among memories: METHOD or METHOD:PARAM=VALUE,…; off: keep everything,
        /// without the gate.
        pub cut: Option<Box<dyn Rule>> = "memory.cut", cut_or_off("auto");
        /// The effect of age.
        pub decay: DecayConfig;
        /// Order kept memories by novelty as well as relevance (maximal marginal relevance). Does not change what is kept. Without it,
        /// only one that repeats another in nearly the same words comes after all others.
        pub diversify: bool = "memory.diversity", flag(false);
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
    /// The effect of age on memories.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DecayConfig {
        /// Collections in which the age of a passage counts; empty: none.
        pub collections: Vec<String> = "memory.decay", list(&["notes", "sessions"]);
        /// Days after which half of a memory's value is left in the order of what is kept. auto: age never outweighs what a memory says;
        /// of those that say the same, the newest comes first.
        pub half_life_days: Option<f64> = "memory.decay_half_life_days", auto_or_number(0.1..=36_500.0, None);
        /// Names of files whose passages never decay, whatever their date.
        pub evergreen: Vec<String> = "memory.evergreen", list(&["MEMORY.md"]);
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
        assert_eq!(memory.cut.as_ref().map(|rule| rule.name()), Some("auto"));
        assert_eq!(memory.diversity(), None);
        assert_eq!(memory.decay.half_life_days, None);
        assert_eq!(memory.decay.collections, ["notes", "sessions"]);

        assert!(load("memory.cut", "off").expect("allowed").memory.cut.is_none());
        assert_eq!(load("memory.diversity", "on").expect("allowed").memory.diversity(), Some(0.7));
        assert_eq!(load("memory.decay_half_life_days", "30").expect("allowed").memory.decay.half_life_days, Some(30.0));
        assert!(load("memory.decay", "").expect("allowed").memory.decay.collections.is_empty());
        let error = load("memory.cut", "top_scorr").expect_err("no such cut");
        assert!(error.contains("memory.cut") && error.contains("top_score"), "{error}");

        let table = ("cut.top_score.floor".to_owned(), "0.25".to_owned(), "test".to_owned());
        let cut = ("memory.cut".to_owned(), "top_score".to_owned(), "test".to_owned());
        let config = Config::load(&Origins { flags: vec![table, cut], ..Origins::default() }, None).expect("allowed");
        let rule = config.memory.cut.expect("a rule");
        assert!(rule.to_string().contains("floor=0.25"), "{rule}");
    }
}
