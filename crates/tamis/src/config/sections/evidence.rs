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
