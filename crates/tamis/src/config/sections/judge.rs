//! `[judge]`: grading passages with a chat model.

use super::model_names;
use crate::config::declare::{integer, section, text};

section! {
    /// Settings of `tamis judge`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct JudgeConfig {
        /// Chat model that grades passages: a [models.NAME] at an OpenAI-compatible endpoint, local or remote; off: none.
        pub model: Option<String> = "judge.model", text("off").check(model_names::chat);
        /// Candidates graded for each query, the best first.
        pub depth: usize = "judge.depth", integer(1..=100, 10);
        /// Lowest grade, 0 to 3, that counts as relevant.
        pub relevant_from: u8 = "judge.relevant_from", integer(1..=3, 2);
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origins, trust};

    const CHAT: &str = "[judge]\nmodel = \"chat\"\n[models.chat]\nprovider = \"openai\"\nurl = \"http://localhost:1/v1\"\nmodel = \"m\"\n";

    #[test]
    fn a_project_cannot_choose_a_judge_until_the_user_trusts_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (project, user) = (directory.path().join("config.toml"), directory.path().join("user"));
        std::fs::write(&project, CHAT).expect("written");
        let load = |origins: &Origins| Config::load(origins, Some(user.clone()));
        let as_project = Origins { project: Some(project.clone()), ..Origins::default() };
        let error = load(&as_project).expect_err("untrusted").to_string();
        assert!(error.contains("sends text to http://localhost:1/v1") && error.contains("`tamis trust`"), "{error}");
        trust::trust(&user, &project).expect("trusted");
        assert_eq!(load(&as_project).expect("trusted").judge.model.as_deref(), Some("chat"));
        let as_user = Origins { user: Some(project), ..Origins::default() };
        assert_eq!(load(&as_user).expect("the user's own").judge.model.as_deref(), Some("chat"));
    }

    #[test]
    fn a_judge_is_a_model_at_an_endpoint() {
        let with = |name: &str| {
            let flags = vec![("judge.model".to_owned(), name.to_owned(), "--model".to_owned())];
            Config::load(&Origins { flags, ..Origins::default() }, None).map_err(|error| error.to_string())
        };
        assert_eq!(with("off").expect("none").judge.model, None);
        let error = with("minilm").expect_err("no chat model");
        assert!(error.contains("--model: judge.model = \"minilm\"") && error.contains("[models.NAME]"), "{error}");
        assert!(with("other").expect_err("undefined").contains("[models.other]"));
    }
}
