//! Filters on metadata: the state of an issue, the author of a comment, a date.

use std::collections::BTreeMap;

#[cfg(feature = "clap")]
use clap::builder::PossibleValuesParser;
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error as _};
use tamis_store::{Attribute, AttributeCondition, DateBound, DateRange, Filter};

use crate::Error;
#[cfg(feature = "clap")]
use crate::flag_values;

/// The names of the attributes that these filters read.
const STATE: &str = "state";
const LABEL: &str = "label";
const TYPE: &str = "type";
const TOPIC: &str = "topic";

/// Conditions on the metadata of documents and passages. All given conditions must hold; the default has none. A document without
/// the metadata that a condition needs does not pass. Comparisons ignore case.
///
/// ```
/// use tamis::search::MetadataFilter;
///
/// let solved_bugs = MetadataFilter {
///     states: vec!["resolved".into()],
///     labels: vec![vec!["bug".into(), "regression".into()], vec!["windows".into()]],
///     ..MetadataFilter::default()
/// };
/// assert!(solved_bugs.check().is_ok());
/// let unknown = MetadataFilter { states: vec!["done".into()], ..MetadataFilter::default() };
/// assert!(unknown.check().unwrap_err().to_string().contains("open, closed, merged"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct MetadataFilter {
    /// Only issues in these states; resolved is closed or merged (default: any).
    #[schemars(length(max = 10), extend("items" = { "type": "string", "enum": MetadataFilter::STATES }))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "state", value_name = "STATE", value_delimiter = ',', ignore_case = true, value_parser = PossibleValuesParser::new(MetadataFilter::STATES), help_heading = "Filters", hide_short_help = true))]
    pub states: Vec<String>,
    /// Only documents with all of these labels; commas separate alternatives.
    #[schemars(with = "Vec<String>", length(max = 20), inner(length(min = 1, max = 1000)), extend("x-whole" = true))]
    #[serde(default, deserialize_with = "label_groups")]
    #[cfg_attr(feature = "clap", arg(long = "label", value_name = "LABEL[,LABEL…]", value_parser = flag_values::labels, help_heading = "Filters", hide_short_help = true))]
    pub labels: Vec<Vec<String>>,
    /// Only passages by one of these authors or speakers, by whole name (default: anyone).
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "author", value_name = "NAME", value_delimiter = ',', value_parser = flag_values::name, help_heading = "Filters", hide_short_help = true))]
    pub authors: Vec<String>,
    /// Only issues, or only pull requests: issue, pull_request.
    #[schemars(length(max = 5), inner(length(max = 20)))]
    #[serde(default, deserialize_with = "issue_types")]
    #[cfg_attr(feature = "clap", arg(long = "type", value_name = "TYPE", value_delimiter = ',', ignore_case = true, value_parser = flag_values::issue_type(), hide_possible_values = true, help_heading = "Filters", hide_short_help = true))]
    pub types: Vec<String>,
    /// Only notes under one of these headings (default: any).
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "topic", value_name = "TOPIC", value_delimiter = ',', value_parser = flag_values::name, help_heading = "Filters", hide_short_help = true))]
    pub topics: Vec<String>,
    /// Only what is dated since 2025-01-31, 7d or 'last week' (default: any time).
    #[schemars(with = "Option<String>", length(min = 1, max = 100))]
    #[serde(default, deserialize_with = "since")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", value_parser = flag_values::moment, allow_hyphen_values = true, help_heading = "Filters", hide_short_help = true))]
    pub since: Option<Timestamp>,
    /// Only results before then, in the same forms (default: any time).
    #[schemars(with = "Option<String>", length(min = 1, max = 100))]
    #[serde(default, deserialize_with = "until")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", value_parser = flag_values::moment, allow_hyphen_values = true, help_heading = "Filters", hide_short_help = true))]
    pub until: Option<Timestamp>,
}

/// Labels of which one is enough, separated by commas. A label may hold commas itself, so the whole text is one of them.
pub(crate) fn label_group(text: &str) -> Vec<String> {
    let several = text.split(',').map(str::trim).filter(|_| text.contains(','));
    std::iter::once(text).chain(several).map(str::to_owned).collect()
}

/// The type that a word names in any case, or an alias of it.
pub(crate) fn issue_type(text: &str) -> String {
    match text.to_lowercase().as_str() {
        "pr" | "pull-request" => "pull_request".to_owned(),
        name => name.to_owned(),
    }
}

fn issue_types<'de, D: Deserializer<'de>>(types: D) -> Result<Vec<String>, D::Error> {
    Ok(Vec::<String>::deserialize(types)?.iter().map(|name| issue_type(name)).collect())
}

fn label_groups<'de, D: Deserializer<'de>>(labels: D) -> Result<Vec<Vec<String>>, D::Error> {
    /// A text with commas, or its parts.
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Labels {
        Text(String),
        Group(Vec<String>),
    }
    let group = |labels| match labels {
        Labels::Text(text) => label_group(&text),
        Labels::Group(group) => group,
    };
    Ok(Vec::<Labels>::deserialize(labels)?.into_iter().map(group).collect())
}

pub(crate) fn since<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Timestamp>, D::Error> {
    moment_of("since", text)
}

pub(crate) fn until<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Timestamp>, D::Error> {
    moment_of("until", text)
}

/// The moment that a text names, from now and in the time zone of the system.
fn moment_of<'de, D: Deserializer<'de>>(name: &str, text: D) -> Result<Option<Timestamp>, D::Error> {
    let read = |text: String| crate::dates::moment(&text, &crate::dates::now());
    let text = Option::<String>::deserialize(text)?;
    text.map(read).transpose().map_err(|error| D::Error::custom(format!("{name}: {error}")))
}

impl MetadataFilter {
    /// The states of issues and pull requests: `open` or `closed`; for closed pull requests also `merged` or `unmerged`; and
    /// `resolved` for a closed issue or a merged pull request.
    pub const STATES: [&str; 5] = ["open", "closed", "merged", "unmerged", "resolved"];

    /// The types of documents of an issue tracker.
    pub const TYPES: [&str; 2] = ["issue", "pull_request"];

    /// Returns `true` if there is no condition.
    pub fn is_empty(&self) -> bool {
        *self == MetadataFilter::default()
    }

    /// Returns the names of the conditions that are given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let conditions = [
            ("state", !self.states.is_empty()),
            ("label", !self.labels.is_empty()),
            ("author", !self.authors.is_empty()),
            ("type", !self.types.is_empty()),
            ("topic", !self.topics.is_empty()),
            ("since", self.since.is_some()),
            ("until", self.until.is_some()),
        ];
        conditions.into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
    }

    /// Checks the values that the types do not restrict.
    ///
    /// # Errors
    /// An unknown state or type, an empty name, or a period that ends before it begins. The message lists the allowed values.
    pub fn check(&self) -> Result<(), Error> {
        one_of("state", &self.states, &MetadataFilter::STATES)?;
        one_of("type", &self.types, &MetadataFilter::TYPES)?;
        for (name, values) in [("author", &self.authors), ("topic", &self.topics)] {
            check_names(name, values)?;
        }
        for labels in &self.labels {
            if labels.is_empty() {
                return Err(Error::argument("label", "none", "at least one label a group"));
            }
            check_names("label", labels)?;
        }
        match (self.since, self.until) {
            (Some(since), Some(until)) if since >= until => {
                Err(Error::argument("until", until.to_string(), format!("after since, which is {since}")))
            }
            _ => Ok(()),
        }
    }

    /// Returns `filter` with these conditions added to its own.
    pub(crate) fn narrow(&self, mut filter: Filter) -> Filter {
        let any_of = [(STATE, &self.states), (TYPE, &self.types), (TOPIC, &self.topics)];
        let any_of = any_of.into_iter().chain(self.labels.iter().map(|labels| (LABEL, labels)));
        let given = any_of.filter(|(_, values)| !values.is_empty());
        filter.attributes.extend(given.map(|(name, values)| AttributeCondition::new(name, values)));
        filter.authors.extend(self.authors.iter().map(|author| author.trim_start_matches('@').to_owned()));
        let zone = TimeZone::system();
        let bound = |moment: Timestamp, day_ns: i64| DateBound { moment_ns: nanoseconds(moment), day_ns };
        let since = self.since.map(|since| bound(since, day_of(since, &zone).0));
        let until = self.until.map(|until| bound(until, day_of(until, &zone).1));
        filter.dates = DateRange { since: since.or(filter.dates.since), until: until.or(filter.dates.until) };
        filter
    }
}

/// Returns the day of a moment in a time zone, as midnight in UTC, and the first day that begins no earlier than the moment.
fn day_of(moment: Timestamp, zone: &TimeZone) -> (i64, i64) {
    let local = zone.to_datetime(moment);
    let midnight =
        |date: Date| date.to_zoned(TimeZone::UTC).map_or(i64::MAX, |midnight| nanoseconds(midnight.timestamp()));
    let next = if local.time() == Time::midnight() { Ok(local.date()) } else { local.date().tomorrow() };
    (midnight(local.date()), next.map_or(i64::MAX, midnight))
}

/// Returns a moment in nanoseconds since 1970. Moments before 1677 or after 2262 are clamped to the range.
fn nanoseconds(moment: Timestamp) -> i64 {
    let end = if moment.as_second() < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(moment.as_nanosecond()).unwrap_or(end)
}

/// Returns a moment given in nanoseconds since 1970, without the fraction of a second.
pub(crate) fn moment(nanoseconds: i64) -> Timestamp {
    // The calendar covers every i64 of nanoseconds.
    Timestamp::from_second(nanoseconds.div_euclid(1_000_000_000)).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Groups the values by attribute.
pub(crate) fn by_name(known: Vec<Attribute>) -> BTreeMap<String, Vec<String>> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Attribute { name, value } in known {
        values.entry(name).or_default().push(value);
    }
    values
}

fn one_of(name: &'static str, values: &[String], allowed: &[&str]) -> Result<(), Error> {
    let unknown = values.iter().find(|value| !allowed.iter().any(|allowed| value.eq_ignore_ascii_case(allowed)));
    match unknown {
        Some(value) => Err(Error::argument(name, format!("{value:?}"), format!("one of {}", allowed.join(", ")))),
        None => Ok(()),
    }
}

fn check_names(name: &'static str, values: &[String]) -> Result<(), Error> {
    match values.iter().find(|value| value.trim_start_matches('@').trim().is_empty()) {
        Some(value) => Err(Error::argument(name, format!("{value:?}"), "a name")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(values: &[&str]) -> Vec<String> {
        values.iter().map(|&value| value.to_owned()).collect()
    }

    #[test]
    fn what_is_given_becomes_conditions_of_the_store() {
        let asked = MetadataFilter {
            states: owned(&["closed"]),
            labels: vec![owned(&["bug", "crash"]), owned(&["windows"])],
            authors: owned(&["@alice", "bob"]),
            types: owned(&["issue"]),
            topics: owned(&["build"]),
            since: Some("2025-01-01T00:00:00Z".parse().expect("a time")),
            until: Some("9999-01-01T00:00:00Z".parse().expect("a time")),
        };
        asked.check().expect("all is allowed");
        let filter = asked.narrow(Filter { kinds: owned(&["comment"]), ..Filter::default() });
        let expected = Filter {
            kinds: owned(&["comment"]),
            attributes: vec![
                AttributeCondition::new("state", ["closed"]),
                AttributeCondition::new("type", ["issue"]),
                AttributeCondition::new("topic", ["build"]),
                AttributeCondition::new("label", ["bug", "crash"]),
                AttributeCondition::new("label", ["windows"]),
            ],
            authors: owned(&["alice", "bob"]),
            dates: DateRange {
                since: Some(DateBound::at(1_735_689_600_000_000_000)),
                until: Some(DateBound::at(i64::MAX)),
            },
            ..Filter::default()
        };
        assert_eq!(filter, expected);
        assert!(MetadataFilter::default().narrow(Filter::default()).is_empty());
    }

    #[test]
    fn dates_are_written_to_the_second_and_a_day_is_one_where_the_asker_is() {
        assert_eq!(moment(1_735_689_600_999_999_999).to_string(), "2025-01-01T00:00:00Z");
        assert_eq!(moment(-1).to_string(), "1969-12-31T23:59:59Z");
        for end in [i64::MIN, i64::MAX] {
            assert_ne!(moment(end), Timestamp::UNIX_EPOCH);
        }
        assert_eq!((nanoseconds(Timestamp::MIN), nanoseconds(Timestamp::MAX)), (i64::MIN, i64::MAX));
        let moment = |text: &str| text.parse::<Timestamp>().expect("a time");
        let west = TimeZone::fixed(jiff::tz::offset(-8));
        let day = |text: &str| nanoseconds(moment(&format!("{text}T00:00:00Z")));
        assert_eq!(day_of(moment("2026-03-04T08:00:00Z"), &west), (day("2026-03-04"), day("2026-03-04")));
        assert_eq!(day_of(moment("2026-03-04T07:00:00Z"), &west), (day("2026-03-03"), day("2026-03-04")));
        assert_eq!(day_of(moment("2026-03-04T00:00:00Z"), &TimeZone::UTC), (day("2026-03-04"), day("2026-03-04")));
        assert_eq!(day_of(Timestamp::MAX, &west).0, i64::MAX);
    }

    #[test]
    fn what_is_not_allowed_is_told_what_is() {
        let error = |filter: MetadataFilter| filter.check().expect_err("not allowed").to_string();
        let nothing = MetadataFilter::default;
        assert!(nothing().check().is_ok() && nothing().is_empty());
        assert!(MetadataFilter { states: owned(&["Closed", "OPEN"]), ..nothing() }.check().is_ok());
        let state = error(MetadataFilter { states: owned(&["open", "done"]), ..nothing() });
        assert_eq!(state, "state = \"done\": must be one of open, closed, merged, unmerged, resolved");
        let kind = error(MetadataFilter { types: owned(&["bug"]), ..nothing() });
        assert_eq!(kind, "type = \"bug\": must be one of issue, pull_request");
        assert!(error(MetadataFilter { labels: vec![owned(&["bug", " "])], ..nothing() }).contains("label"));
        assert!(error(MetadataFilter { labels: vec![Vec::new()], ..nothing() }).contains("label"));
        assert!(error(MetadataFilter { authors: owned(&["@"]), ..nothing() }).contains("author"));
        let moment = |text: &str| Some(text.parse().expect("a time"));
        let (since, until) = (moment("2025-02-01T00:00:00Z"), moment("2025-01-01T00:00:00Z"));
        let period = MetadataFilter { since, until, ..nothing() };
        assert!(error(period).contains("after since, which is 2025-02-01T00:00:00Z"));
    }
}
