//! `[evidence]`: ranking the fragments of the evidence graph.

use tamis_cut::Rule;

use super::cuts::cut;
use crate::config::declare::section;

section! {
    /// Settings of ranking fragments.
    #[derive(Clone, Debug)]
    pub struct EvidenceConfig {
        /// The rule that ends the list of fragments for a claim: METHOD or METHOD:PARAM=VALUE,….
        pub cut: Box<dyn Rule> = "evidence.cut", cut("auto");
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
    fn the_cut_has_its_default_is_checked_and_takes_its_own_parameters() {
        let evidence = Config::built_in().evidence;
        assert_eq!(evidence.cut.name(), "auto");
        let kneedle = load("evidence.cut", "kneedle").expect("allowed").evidence.cut.to_string();
        assert_eq!(kneedle, "kneedle:sensitivity=1,min_results=3,max_results=50,pick=strongest");

        assert!(load("evidence.cut", "kneedl").expect_err("no such cut").contains("kneedle"));
        let flags = [("evidence.cut", "kneedle:min_results=2"), ("cut.kneedle.sensitivity", "2")];
        let flags = flags.map(|(key, value)| (key.to_owned(), value.to_owned(), "test".to_owned())).to_vec();
        let set = Config::load(&Origins { flags, ..Origins::default() }, None).expect("allowed").evidence.cut;
        assert!(set.to_string().starts_with("kneedle:sensitivity=2,min_results=2"), "{set}");
    }
}
