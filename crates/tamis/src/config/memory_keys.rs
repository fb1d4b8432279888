//! `[memory]`: how memories are searched, that is notes and conversations, where age counts and the same thing is often said
//! twice.

use super::keys::Key;
use super::layers::ConfigError;
use super::value::{Allowed, Value};
use super::{Read, cut_keys};
use tamis_cut::Rule;
use tamis_rank::Decay;

/// What a search of memories goes by in place of what other searches do.
#[derive(Clone, Debug)]
pub struct MemoryConfig {
    /// The collections that are searched where the request names none.
    pub collections: Vec<String>,
    /// Where relevance ends; `None`: nowhere, every candidate is kept and no gate is asked.
    pub cut: Option<Box<dyn Rule>>,
    /// The evidence that the gate asks for among memories, 0 to 2; `None`: what it asks for elsewhere.
    pub min_evidence: Option<f64>,
    /// Share of the semantic leg in the weighted fusion, 0 to 1.
    pub fusion_weight: f64,
    /// How memories fade.
    pub decay: DecayConfig,
    /// How much relevance counts against diversity in the order of what is kept, 0 to 1; `None`: the order is by relevance.
    pub diversity: Option<f64>,
}

/// How memories fade with age.
#[derive(Clone, Debug, PartialEq)]
pub struct DecayConfig {
    /// The collections whose passages fade.
    pub collections: Vec<String>,
    /// How fast.
    pub decay: Decay,
    /// Names of files that never fade, whatever their date.
    pub evergreen: Vec<String>,
    /// What it is that age moves.
    pub moves: DecayMoves,
}

/// What it is that age moves among memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecayMoves {
    /// The order of what is kept. The cut reads values that have not faded, so that the answer to what was last spoken of a year
    /// ago is still found.
    #[default]
    Order,
    /// Also what is kept: the cut reads faded values, and what is old enough is cut however well it answers.
    Cut,
}

/// The keys of the table.
pub(super) fn all() -> Vec<Key> {
    let key = |name: &str, allowed, default, doc: &str| Key {
        name: format!("memory.{name}"),
        allowed,
        default,
        doc: doc.to_owned(),
    };
    let list = |values: &[&str]| Value::List(values.iter().map(|&value| value.to_owned()).collect());
    let share = Allowed::Number(0.0, 1.0);
    vec![
        key(
            "collections",
            Allowed::List(&[]),
            list(&["notes", "sessions"]),
            "collections that a search of memories reads where it names none",
        ),
        key(
            "cut",
            Allowed::Text,
            Value::Text("top_score".into()),
            "where relevance ends among memories: METHOD or METHOD:PARAM=VALUE,…; off: nowhere, and without the gate",
        ),
        key(
            "min_evidence",
            Allowed::AutoOrNumber(0.0, 2.0),
            Value::Number(0.75),
            "evidence that the gate asks for among memories; auto: gate.min_evidence",
        ),
        key(
            "fusion_weight",
            share,
            Value::Number(0.7),
            "share of the semantic leg in the value of a memory, w · similarity + (1 − w) · r/(1+r) with r the BM25 value",
        ),
        key(
            "decay",
            Allowed::List(&[]),
            list(&["notes", "sessions"]),
            "collections whose passages fade with age; none: nothing does",
        ),
        key(
            "decay_half_life_days",
            Allowed::Number(0.1, 36_500.0),
            Value::Number(Decay::default().half_life_days),
            "days after which half of a memory's value is left; what has no date of its own does not fade",
        ),
        key(
            "decay_moves",
            Allowed::OneOf(&["order", "cut"]),
            Value::Text("order".into()),
            "what age moves: the order of what is kept, or with cut also what is kept, since the cut then reads faded values",
        ),
        key(
            "evergreen",
            Allowed::List(&[]),
            list(&["MEMORY.md"]),
            "names of files whose passages do not fade, whatever their date",
        ),
        key(
            "diversity",
            Allowed::Flag,
            Value::Flag(true),
            "put what says something new before what repeats a memory further up; never changes what is kept",
        ),
        key(
            "diversity_lambda",
            share,
            Value::Number(0.7),
            "how much relevance counts in that order, against likeness to what stands above; 1: relevance alone",
        ),
    ]
}

pub(super) fn memory(read: &Read<'_>) -> Result<MemoryConfig, ConfigError> {
    let number = |key: &str| read.number(key).unwrap_or(1.0);
    let specification = read.text("memory.cut");
    let cut = match specification {
        "off" => None,
        specification => Some(cut_keys::rule(read.0, specification).map_err(|error| ConfigError::NotAllowed {
            source_name: read.0["memory.cut"].source.to_string(),
            key: "memory.cut".into(),
            value: format!("{specification:?}"),
            allowed: format!("a cut or off ({error})"),
        })?),
    };
    Ok(MemoryConfig {
        collections: read.list("memory.collections"),
        cut,
        min_evidence: read.number("memory.min_evidence"),
        fusion_weight: number("memory.fusion_weight"),
        decay: DecayConfig {
            collections: read.list("memory.decay"),
            decay: Decay { half_life_days: number("memory.decay_half_life_days") },
            evergreen: read.list("memory.evergreen"),
            moves: match read.text("memory.decay_moves") {
                "cut" => DecayMoves::Cut,
                _ => DecayMoves::Order,
            },
        },
        diversity: read.flag("memory.diversity").then(|| number("memory.diversity_lambda")),
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
    fn the_defaults_are_those_of_memory_search() {
        let memory = Config::built_in().memory;
        assert_eq!(memory.cut.map(|rule| rule.name()), Some("top_score"));
        assert_eq!((memory.fusion_weight, memory.diversity), (0.7, Some(0.7)));
        assert_eq!(memory.decay.decay.half_life_days, 30.0);
        assert_eq!(memory.decay.collections, ["notes", "sessions"]);
    }

    #[test]
    fn each_can_be_turned_off_and_a_cut_is_checked() {
        assert!(load("memory.cut", "off").expect("allowed").memory.cut.is_none());
        assert_eq!(load("memory.diversity", "off").expect("allowed").memory.diversity, None);
        assert!(load("memory.decay", "").expect("allowed").memory.decay.collections.is_empty());
        let error = load("memory.cut", "top_scorr").expect_err("no such cut");
        assert!(error.contains("memory.cut") && error.contains("top_score"), "{error}");
    }

    #[test]
    fn the_cut_takes_its_parameters_from_its_own_table() {
        let config = load("cut.top_score.floor", "0.25").expect("allowed");
        let rule = config.memory.cut.expect("a rule");
        assert!(rule.to_string().contains("floor=0.25"), "{rule}");
    }
}
