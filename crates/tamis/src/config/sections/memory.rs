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
    use crate::config::{Config, tests::flags};

    #[test]
    fn memory_has_its_defaults_and_each_can_be_turned_off() {
        let memory = Config::built_in().memory;
        assert_eq!(memory.cut.as_ref().map(|rule| rule.name()), Some("auto"));
        assert_eq!((memory.diversity(), memory.decay.half_life_days), (None, None));
        assert_eq!(memory.decay.collections, ["notes", "sessions"]);
        let given = [("memory.cut", "off"), ("memory.diversity", "on"), ("memory.decay_half_life_days", "30")];
        let memory = flags(&given).expect("allowed").memory;
        assert!(memory.cut.is_none());
        assert_eq!((memory.diversity(), memory.decay.half_life_days), (Some(0.7), Some(30.0)));
        assert!(flags(&[("memory.decay", "")]).expect("allowed").memory.decay.collections.is_empty());
    }
}
