//! The fields of a record, by name and type. Errors name the field and the reason.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::comments::is_bot;
use super::{IssueState, Verdict};
use crate::dates;
use crate::lines::shortened;

/// The reason a record, or a comment of it, is unreadable.
pub type Reason = String;

/// Characters of a wrong value that an error shows.
const SHOWN: usize = 40;

/// An object of JSON. Each field is asked for under all its names, in their order and with spaces between; `null` is nothing.
#[derive(Clone, Copy)]
pub struct Fields<'v>(pub &'v Map<String, Value>);

impl<'v> Fields<'v> {
    /// The fields of a value that must be an object.
    pub fn new(value: &'v Value) -> Result<Self, Reason> {
        value.as_object().map(Self).ok_or_else(|| format!("is {}, not an object", shown(value)))
    }

    /// Returns `true` if a field has one of these names, whatever its value.
    pub fn has(self, names: &str) -> bool {
        names.split(' ').any(|name| self.0.contains_key(name))
    }

    /// The first of these that is not null, with its name.
    pub fn value<'n>(self, names: &'n str) -> Option<(&'n str, &'v Value)> {
        names.split(' ').find_map(|name| Some((name, self.0.get(name).filter(|value| !value.is_null())?)))
    }

    pub fn text(self, names: &str) -> Result<Option<&'v str>, Reason> {
        self.typed(names, "text", Value::as_str)
    }

    /// A text, empty if it is absent.
    pub fn own_text(self, names: &str) -> Result<String, Reason> {
        Ok(self.text(names)?.unwrap_or_default().to_owned())
    }

    /// Text that is not empty.
    pub fn some_text(self, names: &str) -> Result<Option<String>, Reason> {
        Ok(self.text(names)?.filter(|text| !text.is_empty()).map(str::to_owned))
    }

    pub fn flag(self, names: &str) -> Result<bool, Reason> {
        Ok(self.typed(names, "true or false", Value::as_bool)?.unwrap_or_default())
    }

    pub fn object(self, names: &str) -> Result<Option<Fields<'v>>, Reason> {
        Ok(self.typed(names, "an object", Value::as_object)?.map(Fields))
    }

    /// The items of a list; also of one in an object's `nodes`, as GraphQL writes it.
    pub fn list(self, names: &str) -> Result<&'v [Value], Reason> {
        let items = |value: &'v Value| match value {
            Value::Object(object) => object.get("nodes").and_then(Value::as_array),
            value => value.as_array(),
        };
        Ok(self.typed(names, "a list", items)?.map_or(&[], Vec::as_slice))
    }

    /// A number from 1.
    pub fn count(self, names: &str) -> Result<Option<u64>, Reason> {
        self.typed(names, "a whole number from 1", |value| value.as_u64().filter(|number| *number > 0))
    }

    /// The required number.
    pub fn number(self, names: &str) -> Result<u64, Reason> {
        self.count(names)?.ok_or_else(|| missing(names))
    }

    /// The required title.
    pub fn title(self) -> Result<String, Reason> {
        Ok(self.text("title")?.ok_or_else(|| missing("title"))?.to_owned())
    }

    pub fn time(self, names: &str) -> Result<Option<Timestamp>, Reason> {
        let Some((name, value)) = self.value(names) else {
            return Ok(None);
        };
        let wrong = || format!("`{name}` is {}, not a time such as \"2024-05-01T10:00:00Z\"", shown(value));
        let text = value.as_str().ok_or_else(wrong)?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        // Tables name the zone instead of an offset.
        let text = text.trim().strip_suffix("UTC").unwrap_or(text);
        dates::parse(text, &TimeZone::UTC).map(Some).ok_or_else(wrong)
    }

    pub fn state(self, names: &str) -> Result<Option<IssueState>, Reason> {
        self.typed(names, "open, closed or merged", |value| state(value.as_str()?))
    }

    pub fn verdict(self, names: &str) -> Result<Option<Verdict>, Reason> {
        let names_of = format!("one of {}", Verdict::NAMES.join(", "));
        self.typed(names, &names_of, |value| value.as_str()?.to_lowercase().parse().ok())
    }

    /// The name of a person, given as such or in an account, and `true` for a program: if the record says so, or else by the
    /// account or the name.
    pub fn person(self, names: &str) -> Result<(Option<String>, bool), Reason> {
        let (login, bot) = match self.value(names) {
            None => (None, false),
            Some((_, Value::String(login))) => (Some(login.as_str()), false),
            Some((_, Value::Object(account))) => {
                let account = Fields(account);
                let kind = account.text("type")?.unwrap_or_default();
                let bot = account.flag("is_bot bot")? || kind.eq_ignore_ascii_case("bot");
                (account.text("login username name")?, bot)
            }
            Some((name, other)) => return Err(format!("`{name}` is {}, not a name or an account", shown(other))),
        };
        let login = login.map(str::trim).filter(|login| !login.is_empty());
        let bot = match self.value("bot") {
            Some(_) => self.flag("bot")?,
            None => bot || login.is_some_and(is_bot),
        };
        Ok((login.map(str::to_owned), bot))
    }

    /// Names of labels, given as such or as objects.
    pub fn labels(self, names: &str) -> Result<Vec<String>, Reason> {
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
    pub fn milestone(self) -> Result<Option<String>, Reason> {
        match self.value("milestone") {
            Some((_, Value::Object(milestone))) => Fields(milestone).some_text("title"),
            _ => self.some_text("milestone"),
        }
    }

    pub fn typed<T>(
        self,
        names: &str,
        expected: &str,
        read: impl Fn(&'v Value) -> Option<T>,
    ) -> Result<Option<T>, Reason> {
        let Some((name, value)) = self.value(names) else {
            return Ok(None);
        };
        read(value).map(Some).ok_or_else(|| format!("`{name}` is {}, not {expected}", shown(value)))
    }
}

fn state(text: &str) -> Option<IssueState> {
    match text.trim().to_lowercase().as_str() {
        // A merge request is locked while it is being merged.
        "open" | "opened" | "reopened" | "locked" => Some(IssueState::Open),
        "closed" => Some(IssueState::Closed),
        "merged" => Some(IssueState::Merged),
        _ => None,
    }
}

fn missing(names: &str) -> Reason {
    format!("`{}` is missing", names.replace(' ', "` or `"))
}

/// A value the way an error shows it: as JSON, and only its beginning.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        value => shortened(&value.to_string(), SHOWN),
    }
}

// The repository and number of an issue, from its address on a tracker.

/// The words between a repository and a number.
const KINDS: [&str; 4] = ["issues", "pull", "pulls", "merge_requests"];

/// The software of a tracker, which its addresses may show.
#[derive(Clone, Copy, PartialEq)]
pub enum Software {
    Gitlab,
    /// Gitea or Forgejo.
    Gitea,
}

/// A repository as its addresses name it. Every host has repositories of its own.
#[derive(Clone, PartialEq)]
pub struct Repository {
    /// The host, in lower case; `None` where only the name is known.
    pub host: Option<String>,
    /// `OWNER/REPO` (`GROUP/SUBGROUP/PROJECT` on GitLab).
    pub name: String,
    /// `None`: nothing shows it.
    pub software: Option<Software>,
}

impl Repository {
    /// Returns `true` if both are one repository, as far as they are known.
    pub fn is(&self, other: &Repository) -> bool {
        let is_elsewhere = self.host.as_ref().zip(other.host.as_ref()).is_some_and(|(host, other)| host != other);
        self.name.eq_ignore_ascii_case(&other.name) && !is_elsewhere
    }

    /// Takes over what another record knows of it besides the name.
    pub fn learn(&mut self, other: Repository) {
        self.host = self.host.take().or(other.host);
        self.software = self.software.or(other.software);
    }

    /// Returns the name of the tracker: `github:OWNER/REPO`, or `github:HOST/OWNER/REPO` on another host than github.com. `is_gitlab`:
    /// the format is GitLab's.
    pub fn tracker(&self, is_gitlab: bool) -> String {
        let (software, home) = match self.software {
            _ if is_gitlab => ("gitlab", "gitlab.com"),
            Some(Software::Gitlab) => ("gitlab", "gitlab.com"),
            Some(Software::Gitea) => ("gitea", ""),
            None => ("github", GITHUB),
        };
        match &self.host {
            Some(host) if host != home => format!("{software}:{host}/{}", self.name),
            _ => format!("{software}:{}", self.name),
        }
    }
}

const GITHUB: &str = "github.com";

impl fmt::Display for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) if host != GITHUB => write!(formatter, "{host}/{}", self.name),
            _ => formatter.write_str(&self.name),
        }
    }
}

/// The repository of the address of an issue, a comment or a repository of an API.
pub fn repository(address: &str) -> Option<Repository> {
    let (_, rest) = address.split_once("://")?;
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    let parts = parts(path);
    let is_gitlab = parts.contains(&"-") || host.contains("gitlab");
    let is_gitea = parts.starts_with(&["api", "v1"]) || host.contains("gitea") || host.contains("forgejo");
    let software = match is_gitlab {
        true => Some(Software::Gitlab),
        false => (is_gitea || host == "codeberg.org").then_some(Software::Gitea),
    };
    let of = |host: &str, parts: &[&str]| {
        let host = host.strip_prefix("www.").unwrap_or(host);
        Some(Repository { host: Some(host.to_owned()), name: full(parts)?, software })
    };
    if let Some(at) = parts.iter().position(|part| *part == "repos")
        && (host.starts_with("api.") || parts.first() == Some(&"api"))
        && let [owner, name, ..] = parts.get(at + 1..)?
    {
        // An API with a host of its own.
        let host = if at == 0 { host.strip_prefix("api.").unwrap_or(&host) } else { &host };
        return of(host, &[owner, name]);
    }
    // An owner or a repository may be called like a kind, but nothing stands before both of them.
    let bare = || (2..parts.len()).find(|&at| KINDS.contains(&parts[at]));
    let divided = (2..parts.len()).find(|&at| parts[at] == "-");
    let end = divided.or_else(|| numbered(&parts).map(|(at, _)| at)).or_else(bare)?;
    of(&host, parts.get(..end)?)
}

/// The repository that several addresses of one record name.
pub fn repository_of<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Option<Repository> {
    let mut named = addresses.into_iter().filter_map(repository);
    let mut first = named.next()?;
    for other in named {
        first.software = first.software.or(other.software);
    }
    Some(first)
}

fn full(parts: &[&str]) -> Option<String> {
    (parts.len() >= 2 && parts.iter().all(|part| !part.is_empty())).then(|| parts.join("/"))
}

/// The place of the kind before the number, and the number.
fn numbered(parts: &[&str]) -> Option<(usize, u64)> {
    let number = |at: usize| parts[at + 1].parse().ok().filter(|number| *number > 0);
    let kinds = (0..parts.len().saturating_sub(1)).rev().filter(|&at| KINDS.contains(&parts[at]));
    kinds.filter_map(|at| Some((at, number(at)?))).next()
}

fn parts(address: &str) -> Vec<&str> {
    address.split(['/', '#', '?']).collect()
}

/// The number of the issue or pull request that an address belongs to.
pub fn number(address: &str) -> Option<u64> {
    numbered(&parts(address)).map(|(_, number)| number)
}

/// Returns `true` if an address is that of a pull request or merge request.
pub fn is_pull(address: &str) -> bool {
    let parts = parts(address);
    let is_pull = |part: &str| part != KINDS[0] && KINDS.contains(&part);
    numbered(&parts).map_or_else(|| parts.iter().any(|part| is_pull(part)), |(at, _)| is_pull(parts[at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with<T>(value: &Value, read: impl Fn(Fields<'_>) -> Result<T, Reason>) -> Result<T, Reason> {
        Fields::new(value).and_then(read)
    }

    #[test]
    fn times_of_every_source_are_read_and_impossible_or_long_ones_are_named() {
        let shown = |text: &str| {
            let time = with(&json!({"at": text}), |fields| fields.time("at")).ok().flatten();
            time.map(|time| time.to_string())
        };
        assert_eq!(shown("2024-05-01T10:00:00Z").as_deref(), Some("2024-05-01T10:00:00Z"));
        assert_eq!(shown("2024-05-01T12:00:00.250+02:00").as_deref(), Some("2024-05-01T10:00:00.25Z"));
        assert_eq!(shown("2024-05-01 10:00:00 UTC").as_deref(), Some("2024-05-01T10:00:00Z"));
        assert_eq!(shown("2024-05-01 10:00:00").as_deref(), Some("2024-05-01T10:00:00Z"));
        assert_eq!(shown("2024-05-01").as_deref(), Some("2024-05-01T00:00:00Z"));
        for text in ["2024-02-30T00:00:00Z", "2024-13-01", "yesterday", "1714557600"] {
            assert_eq!(shown(text), None, "{text}");
        }
        let text = super::shown(&Value::String("語".repeat(400)));
        assert_eq!(text.chars().count(), SHOWN + 1);
    }

    #[test]
    fn people_are_names_or_accounts() {
        let value = json!({"a": "ada", "b": {"login": "x", "type": "Bot"}, "c": {"username": "gitlab-bot"}, "d": null, "e": {"login": ""}});
        let person = |name| with(&value, |fields| fields.person(name));
        assert_eq!([person("a"), person("b")], [Ok((Some("ada".into()), false)), Ok((Some("x".into()), true))]);
        assert_eq!([person("c"), person("d")], [Ok((Some("gitlab-bot".into()), true)), Ok((None, false))]);
        assert_eq!(person("e"), Ok((None, false)));
    }

    /// Addresses, each with the tracker and the number that it tells.
    const ADDRESSES: &str = "\
https://github.com/ada/engine/issues/12 github:ada/engine 12
https://github.com/ada/engine/pull/7#discussion_r99 github:ada/engine 7
https://api.github.com/repos/ada/engine/issues/12 github:ada/engine 12
https://api.github.com/repos/ada/engine github:ada/engine -
https://GHE.corp.example/acme/widget/issues/1 github:ghe.corp.example/acme/widget 1
https://ghe.corp.example/api/v3/repos/acme/widget/pulls/3 github:ghe.corp.example/acme/widget 3
https://api.acme.ghe.com/repos/acme/widget/issues/3 github:acme.ghe.com/acme/widget 3
https://codeberg.org/ada/engine/issues/4 gitea:codeberg.org/ada/engine 4
https://git.example.org/api/v1/repos/ada/engine/issues/4 gitea:git.example.org/ada/engine 4
https://gitlab.com/math/tools/engine/-/issues/4 gitlab:math/tools/engine 4
https://gitlab.example.org/ada/engine/merge_requests/5 gitlab:gitlab.example.org/ada/engine 5
https://github.com/ada/issues/issues/12#issuecomment-7 github:ada/issues 12
https://github.com/issues/pull/pull/3 github:issues/pull 3
https://api.github.com/repos/ada/issues/issues/12 github:ada/issues 12
https://gitlab.com/ada/issues/-/issues/4 gitlab:ada/issues 4
https://github.com/ada/issues - -
https://github.com/repos/engine/issues/2 github:repos/engine 2
https://github.com/ada - -
https://github.com/issues/0 - -
address - -";

    #[test]
    fn addresses_tell_host_repository_and_number() {
        for line in ADDRESSES.lines() {
            let address = line.split(' ').next().expect("an address");
            let tracker = repository(address).map_or("-".to_owned(), |repository| repository.tracker(false));
            let number = number(address).map_or("-".to_owned(), |number| number.to_string());
            assert_eq!(format!("{address} {tracker} {number}"), line);
        }
        assert!(!is_pull("https://github.com/ada/pull/issues/7") && is_pull("https://github.com/ada/issues/pull/7"));
        assert!(is_pull("https://github.com/ada/engine/pull/7") && !is_pull("https://github.com/ada/pulley/issues/7"));
    }
}
