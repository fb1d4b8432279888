//! `[search]`: gathering candidates, fusing them and cutting the list.

use serde::Serialize;
use tamis_cut::{Guarantee, Rule, Want};

use super::cuts::cut_or_off;
use super::model_names;
use crate::config::declare::{auto_or_number, choice, flag, integer, section, text, word};
use crate::config::words::words;

words! {
    /// The retrievers that gather candidates.
    #[derive(Default, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Mode {
        /// Words and vectors.
        #[default]
        Hybrid = "hybrid",
        /// Words alone.
        Lexical = "lexical",
        /// Vectors alone.
        Semantic = "semantic",
    }
}

impl Mode {
    /// Returns `true` if the lexical retriever takes part.
    pub fn lexical(self) -> bool {
        self != Mode::Semantic
    }

    /// Returns `true` if the semantic retriever takes part.
    pub fn semantic(self) -> bool {
        self != Mode::Lexical
    }
}

section! {
    /// Settings of a search.
    #[derive(Clone, Debug)]
    pub struct SearchConfig {
        /// Most results shown. Does not change which passages are relevant.
        pub top_k: usize = "search.top_k", integer(1..=100, 10);
        /// The rule that decides where relevance ends: METHOD or METHOD:PARAM=VALUE,…; off: list the
        /// first results as they are ranked, without the gate.
        pub cut: Option<Box<dyn Rule>> = "search.cut", cut_or_off("auto");
        /// Strictness of cuts that have one; auto: the cut's own choice.
        pub want: Want = "search.want", choice(Want::NAMES, "auto").map(|word| word.parse().unwrap_or_default());
        /// Guarantee calibrated on judged queries, such as recall=0.9, that replaces the cut's own choice; off: none.
        pub guarantee: Option<Guarantee> = "search.guarantee", text("off").check(|entry, text| match text.as_str() {
            "off" => Ok(None),
            _ => text.parse().map(Some).map_err(|error| entry.refuse(&*text, format!("a guarantee or off ({error})"))),
        });
        /// Recalibrate the probabilities of other results from judgements.
        pub learn: bool = "search.learn", flag(true);
        /// Return nothing when nothing in the corpus stands out.
        pub gate: bool = "search.gate", flag(true);
        /// Also search the namespaces that the same owner shares.
        pub sharing: bool = "search.sharing", flag(true);
        /// Retrievers that gather candidates.
        pub mode: Mode = "search.mode", word();
        /// Candidates from each retriever, at least 4 · top_k; more where they are of fewer than 100 documents.
        pub pool: usize = "search.pool", integer(20..=1000, 100);
        /// Method that combines the scores of the two retrievers.
        pub fusion: String = "search.fusion", choice(&["convex", "rrf", "weighted"], "convex");
        /// Weight of the semantic retriever in the fusion; auto: the model's own.
        pub fusion_weight: Option<f64> = "search.fusion_weight", auto_or_number(0.0..=1.0, None);
        /// Model of the semantic retriever; auto: the best one that covers the corpus.
        pub model: String = "search.model", text("auto").check(model_names::one);
        /// Bring the index up to date before each search.
        pub refresh: bool = "search.refresh", flag(true);
    }
}
