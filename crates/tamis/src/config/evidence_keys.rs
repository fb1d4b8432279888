//! `[evidence]`: how fragments and claims of the evidence graph are ranked and compared.

use super::keys::Key;
use super::layers::ConfigError;
use super::value::{Allowed, Value};
use super::{Read, cut_keys};
use tamis_cut::Rule;

/// How fragments and claims are ranked and compared.
#[derive(Clone, Debug)]
pub struct EvidenceConfig {
    /// Fragments that words propose for a claim.
    pub candidates: usize,
    /// Where the fragments for a claim end.
    pub cut: Box<dyn Rule>,
    /// Least similarity of what is compared with a text.
    pub min_similarity: f64,
    /// Most claims or fragments given for a text.
    pub top_k: usize,
}

/// The keys of the table.
pub(super) fn all() -> Vec<Key> {
    let key = |name: &str, allowed, default, doc: &str| Key {
        name: format!("evidence.{name}"),
        allowed,
        default,
        doc: doc.to_owned(),
    };
    vec![
        key(
            "candidates",
            Allowed::Integer(3, 1000),
            Value::Integer(150),
            "fragments that words propose for a claim; their similarity to it then orders them",
        ),
        key(
            "cut",
            Allowed::Text,
            Value::Text("kneedle".into()),
            "where the fragments for a claim end: METHOD or METHOD:PARAM=VALUE,…",
        ),
        key(
            "min_similarity",
            Allowed::Number(0.0, 1.0),
            Value::Number(0.5),
            "least similarity to a text of the claims or fragments that are like it",
        ),
        key("top_k", Allowed::Integer(1, 50), Value::Integer(10), "most claims or fragments that are like a text"),
    ]
}

pub(super) fn evidence(read: &Read<'_>) -> Result<EvidenceConfig, ConfigError> {
    let specification = read.text("evidence.cut");
    Ok(EvidenceConfig {
        candidates: read.count("evidence.candidates"),
        cut: cut_keys::rule(read.0, specification).map_err(|error| ConfigError::NotAllowed {
            source_name: read.0["evidence.cut"].source.to_string(),
            key: "evidence.cut".into(),
            value: format!("{specification:?}"),
            allowed: format!("a cut ({error})"),
        })?,
        min_similarity: read.number("evidence.min_similarity").unwrap_or_default(),
        top_k: read.count("evidence.top_k"),
    })
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
        assert_eq!(evidence.cut.to_string(), "kneedle:sensitivity=1,min_results=3,max_results=50,pick=strongest");
    }

    #[test]
    fn the_cut_is_checked_and_takes_its_parameters_from_its_own_table() {
        assert!(load("evidence.cut", "kneedl").expect_err("no such cut").contains("kneedle"));
        assert!(load("evidence.top_k", "51").expect_err("too many").contains("1 to 50"));
        let set = load("cut.kneedle.min_results", "1").expect("allowed").evidence.cut.to_string();
        assert!(set.contains("min_results=1"), "{set}");
    }
}
