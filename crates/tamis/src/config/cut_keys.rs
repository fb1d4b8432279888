//! The parameters of every cut as configuration keys, `[cut.METHOD]`, taken from the cuts' own descriptions.

use super::keys::Key;
use super::layers::Setting;
use super::value::{Allowed, Value};
use std::collections::BTreeMap;
use tamis_cut::{Gate, METHODS, Parameter, Range, Rule, RuleError, TopScore};

/// The keys of every method's parameters, and of the gate's.
pub(super) fn all() -> impl Iterator<Item = Key> {
    let cuts = METHODS
        .iter()
        .flat_map(|method| method.parameters.iter().map(|parameter| key(name(method.name, parameter.name), parameter)));
    let sources = SOURCES
        .iter()
        .flat_map(|source| TopScore::METHOD.parameters.iter().map(|parameter| source_key(source, parameter)));
    cuts.chain(sources)
        .chain(Gate::PARAMETERS.iter().map(|parameter| key(format!("gate.{}", parameter.name), parameter)))
}

/// The collections that the cut `top_score` can hold to tables of their own.
const SOURCES: [&str; 3] = ["notes", "sessions", "wiki"];

fn source_name(source: &str, parameter: &str) -> String {
    format!("cut.top_score.{source}.{parameter}")
}

fn source_key(source: &str, parameter: &Parameter) -> Key {
    let own = key(source_name(source, parameter.name), parameter);
    Key {
        allowed: match own.allowed {
            Allowed::Number(min, max) => Allowed::AutoOrNumber(min, max),
            other => other,
        },
        default: Value::Text("auto".to_owned()),
        doc: format!("the same for the collection {source} alone; auto: cut.top_score.{}", parameter.name),
        ..own
    }
}

/// The tables of the collections that have one of their own under `rule`, a `top_score`: what they do not say is the rule's.
///
/// # Errors
/// A bound out of order, with its collection.
pub(super) fn source_tables(
    settings: &BTreeMap<String, Setting>,
    rule: &dyn Rule,
) -> Result<Vec<(&'static str, TopScore)>, (&'static str, RuleError)> {
    let mut tables = Vec::new();
    for source in SOURCES {
        let mut own = false;
        let mut merged = rule.settings();
        for (parameter, value) in &mut merged {
            if let Some(Value::Number(number)) =
                settings.get(&source_name(source, parameter)).map(|setting| &setting.value)
            {
                *value = (*number).into();
                own = true;
            }
        }
        if own {
            tables.push((source, TopScore::with_settings(&merged).map_err(|error| (source, error))?));
        }
    }
    Ok(tables)
}

/// The gate that the configuration describes.
pub(super) fn gate(number: impl Fn(&str) -> Option<f64>) -> Gate {
    let built_in = Gate::default();
    Gate {
        min_evidence: number("gate.min_evidence").unwrap_or(built_in.min_evidence),
        min_coverage: number("gate.min_coverage").unwrap_or(built_in.min_coverage),
        min_similarity: number("gate.min_similarity").unwrap_or(built_in.min_similarity),
    }
}

fn key(name: String, parameter: &Parameter) -> Key {
    Key {
        name,
        allowed: match parameter.range {
            Range::Number { min, max } => Allowed::Number(min, max),
            Range::Integer { min, max } => Allowed::Integer(clamp(min), clamp(max)),
            Range::Flag => Allowed::Flag,
            Range::Choice(words) => Allowed::OneOf(words),
        },
        default: from_cut(&parameter.default()),
        doc: parameter.doc.to_owned(),
    }
}

/// The rule of a specification, its other parameters from the configuration.
pub(super) fn rule(settings: &BTreeMap<String, Setting>, specification: &str) -> Result<Box<dyn Rule>, RuleError> {
    let given = tamis_cut::parse(specification)?;
    let (_, parameters) = specification.split_once(':').unwrap_or_default();
    let named: Vec<String> = parameters
        .split(',')
        .filter_map(|part| part.split_once('='))
        .map(|(name, _)| name.trim().replace('-', "_"))
        .collect();
    let merged = given.settings().into_iter().map(|(parameter, value)| {
        let configured = settings.get(&name(given.name(), parameter)).filter(|_| !named.iter().any(|n| n == parameter));
        (parameter, configured.map_or(value, |setting| to_cut(&setting.value)))
    });
    tamis_cut::build(given.name(), merged)
}

/// The key of a parameter. Two belong to more than their cut and stand with what they go with.
fn name(method: &str, parameter: &str) -> String {
    match (method, parameter) {
        ("max_gap", "adaptive") => "search.adaptive".to_owned(),
        ("language", "default") => "search.thresholds.default".to_owned(),
        _ => format!("cut.{method}.{parameter}"),
    }
}

fn clamp(bound: usize) -> i64 {
    i64::try_from(bound).unwrap_or(i64::MAX)
}

fn from_cut(value: &tamis_cut::Value) -> Value {
    match value {
        tamis_cut::Value::Flag(flag) => Value::Flag(*flag),
        tamis_cut::Value::Integer(integer) => Value::Integer(*integer),
        tamis_cut::Value::Number(number) => Value::Number(*number),
        tamis_cut::Value::Text(text) => Value::Text(text.to_string()),
    }
}

fn to_cut(value: &Value) -> tamis_cut::Value {
    match value {
        Value::Flag(flag) => (*flag).into(),
        Value::Integer(integer) => (*integer).into(),
        Value::Number(number) => (*number).into(),
        Value::Text(text) => text.clone().into(),
        Value::List(items) => items.join(",").into(),
    }
}
