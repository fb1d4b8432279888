//! `[evidence]`: ranking and comparing the fragments and claims of the evidence graph.

use super::cuts::cut;
use crate::config::declare::{integer, number, section};
use tamis_cut::Rule;

section! {
    /// Settings of ranking and comparing fragments and claims.
    #[derive(Clone, Debug)]
    pub struct EvidenceConfig {
        /// Fragments that words propose for a claim, to be ordered by their similarity to it.
        pub candidates: usize = "evidence.candidates", integer(3..=1000, 150);
        /// The rule that ends the list of fragments for a claim: METHOD or METHOD:PARAM=VALUE,….
        pub cut: Box<dyn Rule> = "evidence.cut", cut("auto");
        /// Minimum similarity to a text of the claims or fragments compared with it.
        pub min_similarity: f64 = "evidence.min_similarity", number(0.0..=1.0, 0.5);
        /// Most claims or fragments returned for a text.
        pub top_k: usize = "evidence.top_k", integer(1..=50, 10);
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
    fn the_defaults_are_those_that_are_promised() {
        let evidence = Config::built_in().evidence;
        assert_eq!((evidence.candidates, evidence.min_similarity, evidence.top_k), (150, 0.5, 10));
        assert_eq!(evidence.cut.name(), "auto");
        let kneedle = load("evidence.cut", "kneedle").expect("allowed").evidence.cut.to_string();
        assert_eq!(kneedle, "kneedle:sensitivity=1,min_results=3,max_results=50,pick=strongest");
    }

    #[test]
    fn the_cut_is_checked_and_takes_its_parameters_from_its_own_table() {
        assert!(load("evidence.cut", "kneedl").expect_err("no such cut").contains("kneedle"));
        assert!(load("evidence.top_k", "51").expect_err("too many").contains("1 to 50"));
        let set = load("cut.auto.strictness", "2").expect("allowed").evidence.cut.to_string();
        assert!(set.contains("strictness=2"), "{set}");
    }
}
