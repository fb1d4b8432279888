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
    use crate::config::{Config, Origins, trust};

    const REMOTE: &str = "[rerank]\nmodel = \"reader\"\n[models.reader]\nprovider = \"rerank\"\nurl = \"http://localhost:1/v1\"\nmodel = \"m\"\n";

    fn project(text: &str) -> (tempfile::TempDir, Origins) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("config.toml");
        std::fs::write(&file, text).expect("written");
        (directory, Origins { project: Some(file), ..Origins::default() })
    }

    fn error(text: &str) -> String {
        let (_directory, as_project) = project(text);
        Config::load(&as_project, None).expect_err("refused").to_string()
    }

    #[test]
    fn a_project_cannot_choose_a_remote_reranker_until_the_user_trusts_it() {
        let (directory, as_project) = project(REMOTE);
        let user = directory.path().join("user");
        let load = |origins: &Origins| Config::load(origins, Some(user.clone()));
        let error = load(&as_project).expect_err("untrusted").to_string();
        assert!(error.contains("sends text to http://localhost:1/v1") && error.contains("`tamis trust`"), "{error}");
        let file = as_project.project.clone().expect("a file");
        trust::trust(&user, &file).expect("trusted");
        assert_eq!(load(&as_project).expect("trusted").rerank.model.as_deref(), Some("reader"));
        let as_user = Origins { user: Some(file), ..Origins::default() };
        assert_eq!(load(&as_user).expect("the user's own").rerank.model.as_deref(), Some("reader"));
    }

    #[test]
    fn a_reranker_in_a_directory_sends_nothing_and_needs_no_trust() {
        let (directory, as_project) =
            project("[rerank]\nmodel = \"house\"\n[models.house]\nprovider = \"cross-encoder\"\npath = \"house\"\n");
        let config = Config::load(&as_project, None).expect("valid");
        assert_eq!(config.rerank.model.as_deref(), Some("house"));
        let provider = serde_json::to_value(&config.models["house"].provider).expect("serialised");
        let path = directory.path().join("house");
        assert_eq!(provider, serde_json::json!({"provider": "cross-encoder", "path": path}));
    }

    #[test]
    fn rerankers_have_their_own_models_and_checked_settings() {
        let with = |name: &str| {
            let flags = vec![("rerank.model".to_owned(), name.to_owned(), "--set".to_owned())];
            Config::load(&Origins { flags, ..Origins::default() }, None).map_err(|error| error.to_string())
        };
        assert_eq!(with("off").expect("none").rerank.model, None);
        let refusal = with("minilm").expect_err("it makes vectors");
        assert!(
            refusal.contains("--set: rerank.model = \"minilm\"") && refusal.contains("provider = \"rerank\""),
            "{refusal}"
        );
        assert!(with("other").expect_err("undefined").contains("[models.other]"));
        let refusal = error(&REMOTE.replace("[rerank]\nmodel", "[search]\nmodel"));
        assert!(refusal.contains("search.model") && refusal.contains("one for rerank.model"), "{refusal}");

        for (line, named) in [
            ("batch_size = 0", "models.reader.batch_size"),
            ("max_retries = 21", "models.reader.max_retries"),
            ("requests_per_minute = 0", "models.reader.requests_per_minute"),
            ("scores = \"grades\"", "\"grades\" is none of auto"),
            ("dimension = 8", "models.reader: dimension is no key of it"),
        ] {
            let refusal = error(&format!("{REMOTE}{line}\n"));
            assert!(refusal.contains(named), "{refusal}");
        }
        assert!(error(&REMOTE.replace("http://", "")).contains("models.reader.url"));
        assert!(error(&REMOTE.replace("[models", "slope = 0\n[models")).contains("rerank.slope"));
    }
}
