//! Values of configuration keys, and the values that a key allows.

use std::fmt;

use super::error::ConfigError;

/// A value that a file, a variable or a flag sets.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Value {
    /// true or false.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Number(value) => write!(f, "{value}"),
            Value::Text(value) => write!(f, "{value:?}"),
            Value::List(values) => write!(f, "{values:?}"),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl Value {
    /// Returns the value of a TOML item; `None` for tables, dates and mixed lists, which no key takes.
    pub(crate) fn from_toml(value: &toml::Value) -> Option<Self> {
        Some(match value {
            toml::Value::Boolean(value) => Value::Flag(*value),
            toml::Value::Integer(value) => Value::Integer(*value),
            toml::Value::Float(value) => Value::Number(*value),
            toml::Value::String(value) => Value::Text(value.clone()),
            toml::Value::Array(values) => {
                Value::List(values.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<_>>()?)
            }
            toml::Value::Table(_) | toml::Value::Datetime(_) => return None,
        })
    }
}

/// The values that a key allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// true or false.
    Flag,
    /// A whole number in a closed range.
    Integer(i64, i64),
    /// A number in a closed range.
    Number(f64, f64),
    /// `"auto"` or a number in a closed range.
    AutoOrNumber(f64, f64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Any text, checked where it is used (a method, a model).
    Text,
    /// A list of texts. If words are given, each text must be one of them.
    List(&'static [&'static str]),
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Flag => f.write_str("true or false"),
            Allowed::Integer(low, high) => write!(f, "{low} to {high}"),
            Allowed::Number(low, high) => write!(f, "{low} to {high}"),
            Allowed::AutoOrNumber(low, high) => write!(f, "\"auto\", or {low} to {high}"),
            Allowed::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Allowed::Text => f.write_str("a text"),
            Allowed::List([]) => f.write_str("a list of texts"),
            Allowed::List(words) => write!(f, "a list of {}", words.join(", ")),
        }
    }
}

impl Allowed {
    /// Returns `true` if the key allows a value.
    pub(crate) fn takes(&self, value: &Value) -> bool {
        self.accept(value).is_some()
    }

    /// Returns `value` in the key's own type, or `None` if it is not allowed. A whole number serves as a number.
    pub(crate) fn accept(&self, value: &Value) -> Option<Value> {
        let number = |value: &Value| match value {
            Value::Integer(value) => Some(*value as f64),
            Value::Number(value) => Some(*value),
            _ => None,
        };
        let within =
            |low: f64, high: f64| number(value).filter(|value| (low..=high).contains(value)).map(Value::Number);
        match (self, value) {
            (Allowed::Flag, Value::Flag(_)) => Some(value.clone()),
            // TOML has no such words of its own, so they come as texts.
            (Allowed::Flag, Value::Text(text)) if text == "on" || text == "off" => Some(Value::Flag(text == "on")),
            (Allowed::Integer(low, high), Value::Integer(number)) if (low..=high).contains(&number) => {
                Some(value.clone())
            }
            (Allowed::Number(low, high), _) => within(*low, *high),
            (Allowed::AutoOrNumber(_, _), Value::Text(text)) if text == "auto" => Some(value.clone()),
            (Allowed::AutoOrNumber(low, high), _) => within(*low, *high),
            (Allowed::OneOf(words), Value::Text(text)) if words.contains(&text.as_str()) => Some(value.clone()),
            (Allowed::Text, Value::Text(_)) => Some(value.clone()),
            (Allowed::List(words), Value::List(items))
                if words.is_empty() || items.iter().all(|item| words.contains(&item.as_str())) =>
            {
                Some(value.clone())
            }
            _ => None,
        }
    }

    /// Reads a value from a variable or a flag. A list has commas between its items, or is written as in a file.
    pub(crate) fn parse(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        let value = match self {
            Allowed::Flag => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Value::Flag(true),
                "false" | "0" | "no" | "off" => Value::Flag(false),
                _ => return None,
            },
            Allowed::Integer(..) => Value::Integer(text.parse().ok()?),
            Allowed::Number(..) => Value::Number(text.parse().ok()?),
            Allowed::AutoOrNumber(..) => match text.parse() {
                Ok(number) => Value::Number(number),
                Err(_) => Value::Text(text.to_owned()),
            },
            Allowed::OneOf(_) | Allowed::Text => Value::Text(text.to_owned()),
            Allowed::List(_) => {
                let items = || text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned);
                // `[ab]*.md` is a glob.
                let table = format!("list = {text}").parse::<toml::Table>().ok();
                match table.and_then(|table| Value::from_toml(table.get("list")?)) {
                    Some(list @ Value::List(_)) => list,
                    _ => Value::List(items().collect()),
                }
            }
        };
        self.accept(&value)
    }
}

// A configuration key: its name, the values it allows, its default and its documentation.

/// One configuration key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Dotted name: the TOML table and the key in it.
    pub name: String,
    /// The values it allows.
    pub allowed: Allowed,
    /// Its value when nobody sets it.
    pub default: Value,
    /// Its meaning, in one line.
    pub doc: String,
}

impl Key {
    /// Returns the environment variable that sets it: `TAMIS_` and the name in capitals with underscores.
    pub fn variable(&self) -> String {
        format!("TAMIS_{}", self.name.to_ascii_uppercase().replace('.', "_"))
    }
}

/// Returns the error for a key or variable that does not exist, with the nearest of `known`.
pub(crate) fn unknown<'a>(source_name: &str, key: &str, known: impl IntoIterator<Item = &'a str>) -> ConfigError {
    let nearest = crate::config::error::nearest(key, known).map(str::to_owned);
    ConfigError::UnknownKey { source_name: source_name.to_owned(), key: key.to_owned(), nearest }
}

/// Groups keys by table, in the order in which tables and keys first appear, since TOML names a table once.
pub(crate) fn by_table(keys: Vec<Key>) -> Vec<Key> {
    let mut tables: Vec<(String, Vec<Key>)> = Vec::new();
    for key in keys {
        let table = key.name.rsplit_once('.').map_or("", |(table, _)| table);
        match tables.iter_mut().find(|(name, _)| name == table) {
            Some((_, members)) => members.push(key),
            None => tables.push((table.to_owned(), vec![key])),
        }
    }
    tables.into_iter().flat_map(|(_, members)| members).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_closed_and_nan_is_never_in_one() {
        let allowed = Allowed::Number(0.0, 1.0);
        assert_eq!(allowed.accept(&Value::Integer(1)), Some(Value::Number(1.0)));
        assert_eq!([allowed.accept(&Value::Number(f64::NAN)), allowed.accept(&Value::Number(1.01))], [None, None]);
        assert_eq!(Allowed::Integer(1, 100).parse("0"), None);
    }

    #[test]
    fn texts_become_values_of_the_keys_type() {
        assert_eq!(Allowed::Flag.parse("off"), Some(Value::Flag(false)));
        assert_eq!(Allowed::Flag.accept(&Value::from("on")), Some(Value::Flag(true)));
        assert_eq!(Allowed::Flag.accept(&Value::from("yes")), None);
        assert_eq!(Allowed::AutoOrNumber(0.0, 1.0).parse("auto"), Some(Value::Text("auto".into())));
        assert_eq!(Allowed::AutoOrNumber(0.0, 1.0).parse("most"), None);
        let list = Value::List(vec!["lock".into(), "secret".into()]);
        for text in ["lock, secret", r#"["lock", 'secret']"#] {
            assert_eq!(Allowed::List(&["lock", "secret"]).parse(text), Some(list.clone()), "{text}");
        }
        let globs = Value::List(vec!["[ab]*.md".into(), "c".into()]);
        assert_eq!(Allowed::List(&[]).parse("[ab]*.md,c"), Some(globs));
    }
}
