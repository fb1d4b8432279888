//! `[cut.METHOD]`: the parameters of three cuts, declared by the cuts' own descriptions. Also the rules that other sections name,
//! whose text can set the parameters of every cut, and `[evidence]`, which is one of these rules alone.

use std::collections::BTreeMap;

use tamis_cut::{METHODS, Parameter, Range, Rule, RuleError, TopScore};

use super::thresholds;
use crate::config::declare::{KeySpec, Section, Setting, Settings, section, text};
use crate::config::error::{ConfigError, Source};
use crate::config::value::{Allowed, Key, Value};

section! {
    /// Settings of ranking fragments of the evidence graph.
    #[derive(Clone, Debug)]
    pub struct EvidenceConfig {
        /// The rule that ends the list of fragments for a claim: METHOD or METHOD:PARAM=VALUE,….
        pub cut: Box<dyn Rule> = "evidence.cut", cut("auto");
    }
}

/// A key for a rule, as `METHOD` or `METHOD:PARAM=VALUE,…`.
pub(crate) fn cut(default: &str) -> KeySpec<Box<dyn Rule>> {
    text(default).check(|entry, text| {
        rule(&entry.settings.values, &text).map_err(|error| entry.refuse(&*text, format!("a cut ({error})")))
    })
}

/// A key for a rule, or `off` for `None`.
pub(crate) fn cut_or_off(default: &str) -> KeySpec<Option<Box<dyn Rule>>> {
    text(default).check(|entry, text| match text.as_str() {
        "off" => Ok(None),
        text => match rule(&entry.settings.values, text) {
            Ok(rule) => Ok(Some(rule)),
            Err(error) => Err(entry.refuse(text, format!("a cut or off ({error})"))),
        },
    })
}

/// Returns the rule of a specification. Omitted parameters come from the configuration.
pub(crate) fn rule(values: &BTreeMap<String, Setting>, specification: &str) -> Result<Box<dyn Rule>, RuleError> {
    let given = tamis_cut::parse(specification)?;
    let (_, parameters) = specification.split_once(':').unwrap_or_default();
    let named: Vec<String> = parameters
        .split(',')
        .filter_map(|part| part.split_once('='))
        .map(|(name, _)| name.trim().replace('-', "_"))
        .collect();
    let merged = given.settings().into_iter().map(|(parameter, value)| {
        let configured = name(given.name(), parameter)
            .and_then(|name| values.get(&name))
            .filter(|_| !named.iter().any(|n| n == parameter));
        (parameter, configured.map_or(value, |setting| to_cut(&setting.value)))
    });
    tamis_cut::build(given.name(), merged)
}

/// Every key's value. The section's own keys are the parameters of the cuts, which only rules read.
impl Section for BTreeMap<String, Setting> {
    fn declared() -> Vec<Key> {
        let parameters =
            METHODS.iter().flat_map(|method| method.parameters.iter().map(move |parameter| (method.name, parameter)));
        parameters.filter_map(|(method, parameter)| Some(key(name(method, parameter.name)?, parameter))).collect()
    }

    fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        if let Ok(rule) = rule(&settings.values, TopScore::METHOD.name) {
            collection_rules(&settings.values, rule.as_ref())?;
        }
        Ok(settings.values.clone())
    }
}

/// The collections that the cut `top_score` can judge by parameters of their own.
const COLLECTIONS: [&str; 3] = ["notes", "sessions", "wiki"];

fn collection_name(collection: &str, parameter: &str) -> String {
    format!("cut.{}.{collection}.{parameter}", TopScore::METHOD.name)
}

/// Returns the keys of the family `cut.top_score.COLLECTION.PARAM`. One that nobody sets has the value of `cut.top_score.PARAM`.
pub(crate) fn by_collection() -> impl Iterator<Item = Key> {
    COLLECTIONS.iter().flat_map(|collection| {
        TopScore::METHOD.parameters.iter().map(move |parameter| {
            let own = key(collection_name(collection, parameter.name), parameter);
            Key { doc: format!("{}, for the collection {collection} alone", own.doc), ..own }
        })
    })
}

/// Returns the rule of each collection that has parameters of its own. Its other parameters come from `rule`, a `top_score`.
///
/// # Errors
/// A lower bound above the upper one.
pub(crate) fn collection_rules(
    values: &BTreeMap<String, Setting>,
    rule: &dyn Rule,
) -> Result<Vec<(&'static str, TopScore)>, ConfigError> {
    let mut rules = Vec::new();
    for collection in COLLECTIONS {
        let mut own = false;
        let mut merged = rule.settings();
        for (parameter, value) in &mut merged {
            if let Some(Setting { value: Value::Number(number), .. }) =
                values.get(&collection_name(collection, parameter))
            {
                *value = (*number).into();
                own = true;
            }
        }
        if own {
            let rule = TopScore::with_settings(&merged);
            rules.push((collection, rule.map_err(|error| wrong_bounds(values, collection, &error))?));
        }
    }
    Ok(rules)
}

fn wrong_bounds(values: &BTreeMap<String, Setting>, collection: &str, error: &RuleError) -> ConfigError {
    let key = collection_name(collection, "low_bound");
    let (value, source) = match values.get(&key) {
        Some(setting) => (setting.value.to_string(), setting.source.clone()),
        None => (String::new(), Source::BuiltIn),
    };
    let allowed = format!("at most its high_bound ({error})");
    ConfigError::NotAllowed { source_name: source.to_string(), key, value, allowed }
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
        doc: parameter.doc.trim_end_matches('.').to_owned(),
    }
}

/// Returns the key of a parameter, if it has one. Two parameters concern more than their cut, so their keys are in another table.
fn name(method: &str, parameter: &str) -> Option<String> {
    match (method, parameter) {
        ("max_gap", "adaptive") => Some("search.adaptive".to_owned()),
        ("language", "default") => Some(thresholds::DEFAULT.to_owned()),
        ("max_gap" | "kneedle" | "top_score", _) => Some(format!("cut.{method}.{parameter}")),
        _ => None,
    }
}

/// Returns the setting of a cut that has no key of this name, such as `search.cut = "auto:strictness=…"`.
pub(crate) fn in_a_rule(name: &str) -> Option<String> {
    let (method, parameter) = name.strip_prefix("cut.")?.split_once('.')?;
    let known = METHODS.iter().find(|known| known.name == method)?;
    let parameter = known.parameters.iter().find(|known| known.name == parameter)?;
    Some(format!("search.cut = \"{method}:{}=…\"", parameter.name))
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
