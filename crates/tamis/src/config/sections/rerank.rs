//! `[rerank]`: a cross-encoder of the user's choice that reads the first entries of a search.

use super::model_names;
use crate::config::declare::{auto_or_number, integer, section, text};

section! {
    /// Settings of the reranker.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RerankConfig {
        /// Reranker that judges the best entries, under the cut auto: a [models.NAME] with provider rerank or cross-encoder; off: none.
        pub model: Option<String> = "rerank.model", text("off").check(model_names::reranker);
        /// Milliseconds that a search waits for the reranker's endpoint.
        pub timeout_ms: usize = "rerank.timeout_ms", integer(10..=60_000, 2000);
        /// Factor that calibrates the reranker's log odds; auto: 1, and without an offset they are not calibrated.
        pub slope: Option<f64> = "rerank.slope", auto_or_number(0.01..=100.0, None);
        /// Number that calibrates the reranker's log odds, added after the factor; auto: 0, and without a slope they are not calibrated.
        pub offset: Option<f64> = "rerank.offset", auto_or_number(-100.0..=100.0, None);
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origins, tests::flags};

    #[test]
    fn a_reranker_in_a_directory_sends_nothing_and_needs_no_trust() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("config.toml");
        let text = "[rerank]\nmodel = \"house\"\n[models.house]\nprovider = \"cross-encoder\"\npath = \"house\"\n";
        std::fs::write(&file, text).expect("written");
        let config = Config::load(&Origins { project: Some(file), ..Origins::default() }, None).expect("valid");
        assert_eq!(config.rerank.model.as_deref(), Some("house"));
        let provider = serde_json::to_value(&config.models["house"].provider).expect("serialised");
        let path = directory.path().join("house");
        assert_eq!(provider, serde_json::json!({"provider": "cross-encoder", "path": path}));
        assert_eq!(flags(&[("rerank.model", "off")]).expect("none").rerank.model, None);
    }
}
