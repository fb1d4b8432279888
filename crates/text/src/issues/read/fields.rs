//! The fields of a record, by name and type. Errors name the field and the reason.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use crate::issues::bots::is_bot;
use crate::issues::{IssueState, Verdict};

/// The reason a record, or a comment of it, is unreadable.
pub(super) type Reason = String;

/// Characters of a wrong value that an error shows.
const SHOWN: usize = 40;

/// An object of JSON. Each field is asked for under all its names, in their order; `null` is nothing.
#[derive(Clone, Copy)]
pub(super) struct Fields<'v>(pub(super) &'v Map<String, Value>);

/// The author of a text.
#[derive(Default)]
pub(super) struct Person {
    pub(super) name: Option<String>,
    pub(super) bot: bool,
}

impl<'v> Fields<'v> {
    /// The fields of a value that must be an object.
    pub(super) fn of(value: &'v Value) -> Result<Self, Reason> {
        value.as_object().map(Self).ok_or_else(|| format!("is {}, not an object", shown(value)))
    }

    /// Returns `true` if a field has this name, whatever its value.
    pub(super) fn has(self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The first of these that is not null, with its name.
    pub(super) fn value<'n>(self, names: &[&'n str]) -> Option<(&'n str, &'v Value)> {
        names.iter().find_map(|name| Some((*name, self.0.get(*name).filter(|value| !value.is_null())?)))
    }

    pub(super) fn text(self, names: &[&str]) -> Result<Option<&'v str>, Reason> {
        self.typed(names, "text", Value::as_str)
    }

    /// A text, empty if it is absent.
    pub(super) fn own_text(self, names: &[&str]) -> Result<String, Reason> {
        Ok(self.text(names)?.unwrap_or_default().to_owned())
    }

    /// Text that is not empty.
    pub(super) fn some_text(self, names: &[&str]) -> Result<Option<String>, Reason> {
        Ok(self.text(names)?.filter(|text| !text.is_empty()).map(str::to_owned))
    }

    pub(super) fn flag(self, names: &[&str]) -> Result<bool, Reason> {
        Ok(self.typed(names, "true or false", Value::as_bool)?.unwrap_or_default())
    }

    pub(super) fn object(self, names: &[&str]) -> Result<Option<Fields<'v>>, Reason> {
        Ok(self.typed(names, "an object", Value::as_object)?.map(Fields))
    }

    /// The items of a list; also of one in an object's `nodes`, as GraphQL writes it.
    pub(super) fn list(self, names: &[&str]) -> Result<&'v [Value], Reason> {
        let items = |value: &'v Value| match value {
            Value::Object(object) => object.get("nodes").and_then(Value::as_array),
            value => value.as_array(),
        };
        Ok(self.typed(names, "a list", items)?.map_or(&[], Vec::as_slice))
    }

    /// A number from 1.
    pub(super) fn count(self, names: &[&str]) -> Result<Option<u64>, Reason> {
        self.typed(names, "a whole number from 1", |value| value.as_u64().filter(|number| *number > 0))
    }

    /// The required number.
    pub(super) fn number(self, names: &[&str]) -> Result<u64, Reason> {
        self.count(names)?.ok_or_else(|| missing(names))
    }

    /// The required title.
    pub(super) fn title(self) -> Result<String, Reason> {
        Ok(self.text(&["title"])?.ok_or_else(|| missing(&["title"]))?.to_owned())
    }

    pub(super) fn time(self, names: &[&str]) -> Result<Option<Timestamp>, Reason> {
        let Some((name, value)) = self.value(names) else {
            return Ok(None);
        };
        let wrong = || format!("`{name}` is {}, not a time such as \"2024-05-01T10:00:00Z\"", shown(value));
        let text = value.as_str().ok_or_else(wrong)?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        time(text).map(Some).ok_or_else(wrong)
    }

    pub(super) fn state(self, names: &[&str]) -> Result<Option<IssueState>, Reason> {
        let Some((name, value)) = self.value(names) else {
            return Ok(None);
        };
        let state = value.as_str().and_then(state);
        state.map(Some).ok_or_else(|| format!("`{name}` is {}, not open, closed or merged", shown(value)))
    }

    pub(super) fn verdict(self, names: &[&str]) -> Result<Option<Verdict>, Reason> {
        let Some((name, value)) = self.value(names) else {
            return Ok(None);
        };
        let verdict = value.as_str().and_then(|text| text.to_lowercase().parse().ok());
        verdict
            .map(Some)
            .ok_or_else(|| format!("`{name}` is {}, not one of {}", shown(value), Verdict::NAMES.join(", ")))
    }

    /// A person, by name or as an account.
    pub(super) fn person(self, names: &[&str]) -> Result<Person, Reason> {
        let Some((name, value)) = self.value(names) else {
            return Ok(Person::default());
        };
        let (login, bot) = match value {
            Value::String(login) => (Some(login.as_str()), false),
            Value::Object(account) => {
                let account = Fields(account);
                let kind = account.text(&["type"])?.unwrap_or_default();
                let bot = account.flag(&["is_bot", "bot"])? || kind.eq_ignore_ascii_case("bot");
                (account.text(&["login", "username", "name"])?, bot)
            }
            other => return Err(format!("`{name}` is {}, not a name or an account", shown(other))),
        };
        let login = login.map(str::trim).filter(|login| !login.is_empty());
        Ok(Person { name: login.map(str::to_owned), bot: bot || login.is_some_and(is_bot) })
    }

    /// Names of labels, given as such or as objects.
    pub(super) fn labels(self, names: &[&str]) -> Result<Vec<String>, Reason> {
        let name_of = |item: &'v Value| match item {
            Value::String(name) => Some(name.as_str()),
            Value::Object(label) => {
                let label = label.get("label").and_then(Value::as_object).unwrap_or(label);
                ["name", "title"].iter().find_map(|name| label.get(*name)?.as_str())
            }
            _ => None,
        };
        let label = |item| {
            name_of(item)
                .map(str::to_owned)
                .ok_or_else(|| format!("`labels` has {}, which is not a label", shown(item)))
        };
        self.list(names)?.iter().map(label).collect()
    }

    /// The title of a milestone, given as such or in an object.
    pub(super) fn milestone(self) -> Result<Option<String>, Reason> {
        match self.value(&["milestone"]) {
            Some((_, Value::Object(milestone))) => Fields(milestone).some_text(&["title"]),
            _ => self.some_text(&["milestone"]),
        }
    }

    fn typed<T>(
        self,
        names: &[&str],
        expected: &str,
        read: impl Fn(&'v Value) -> Option<T>,
    ) -> Result<Option<T>, Reason> {
        let Some((name, value)) = self.value(names) else {
            return Ok(None);
        };
        read(value).map(Some).ok_or_else(|| format!("`{name}` is {}, not {expected}", shown(value)))
    }
}

/// RFC 3339; UTC if no offset is given.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let local: DateTime = text.strip_suffix("UTC").unwrap_or(text).trim_end().parse().ok()?;
        Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

pub(super) fn state(text: &str) -> Option<IssueState> {
    match text.trim().to_lowercase().as_str() {
        // A merge request is locked while it is being merged.
        "open" | "opened" | "reopened" | "locked" => Some(IssueState::Open),
        "closed" => Some(IssueState::Closed),
        "merged" => Some(IssueState::Merged),
        _ => None,
    }
}

fn missing(names: &[&str]) -> Reason {
    format!("`{}` is missing", names.join("` or `"))
}

/// A value the way an error shows it: as JSON, and only its beginning.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Array(_) => return "a list".to_owned(),
        Value::Object(_) => return "an object".to_owned(),
        value => value.to_string(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with<T>(value: &Value, read: impl Fn(Fields<'_>) -> Result<T, Reason>) -> Result<T, Reason> {
        Fields::of(value).and_then(read)
    }

    #[test]
    fn times_of_every_source_are_read_and_impossible_ones_are_not() {
        let shown = |text: &str| time(text).map(|time| time.to_string());
        assert_eq!(shown("2024-05-01T10:00:00Z").as_deref(), Some("2024-05-01T10:00:00Z"));
        assert_eq!(shown("2024-05-01T12:00:00.250+02:00").as_deref(), Some("2024-05-01T10:00:00.25Z"));
        assert_eq!(shown("2024-05-01 10:00:00 UTC").as_deref(), Some("2024-05-01T10:00:00Z"));
        assert_eq!(shown("2024-05-01 10:00:00").as_deref(), Some("2024-05-01T10:00:00Z"));
        assert_eq!(shown("2024-05-01").as_deref(), Some("2024-05-01T00:00:00Z"));
        for text in ["2024-02-30T00:00:00Z", "2024-13-01", "yesterday", "1714557600"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn a_long_value_is_shown_by_its_beginning() {
        let text = shown(&Value::String("語".repeat(400)));
        assert_eq!(text.chars().count(), SHOWN + 1);
    }

    #[test]
    fn people_are_names_or_accounts() {
        let value = json!({"a": "ada", "b": {"login": "x", "type": "Bot"}, "c": {"username": "gitlab-bot"}, "d": null, "e": {"login": ""}});
        let person = |name| with(&value, |fields| fields.person(&[name])).map(|person| (person.name, person.bot));
        assert_eq!(person("a"), Ok((Some("ada".into()), false)));
        assert_eq!(person("b"), Ok((Some("x".into()), true)));
        assert_eq!(person("c"), Ok((Some("gitlab-bot".into()), true)));
        assert_eq!(person("d"), Ok((None, false)));
        assert_eq!(person("e"), Ok((None, false)));
    }
}
