//! Flags that filter by state, label, author, topic and date, for every command that searches.

use super::values::{moment, named};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use jiff::Timestamp;
use tamis::search::MetadataFilter;

/// Filters on issues, notes and everything else with a state, an author or a date.
#[derive(Debug, Clone, Default, Args)]
pub struct MetadataArguments {
    /// Search only issues in this state: open, closed, merged, unmerged, or resolved (closed, or merged); repeatable
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',', ignore_case = true, value_parser = PossibleValuesParser::new(MetadataFilter::STATES), hide_possible_values = true, help_heading = "Filters", hide_short_help = true)]
    pub states: Vec<String>,
    /// Search only documents with this label, or one of several separated by commas; repeat to require each
    #[arg(long = "label", value_name = "LABEL[,LABEL…]", value_parser = named, help_heading = "Filters", hide_short_help = true)]
    pub labels: Vec<String>,
    /// Search only passages by this author; repeat or separate with commas
    #[arg(long = "author", value_name = "NAME", value_delimiter = ',', value_parser = named, help_heading = "Filters", hide_short_help = true)]
    pub authors: Vec<String>,
    /// Search only issues, or only pull requests: issue or pull_request (pr)
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', ignore_case = true, value_parser = PossibleValuesParser::new(types()), hide_possible_values = true, help_heading = "Filters", hide_short_help = true)]
    pub types: Vec<String>,
    /// Search only notes on this topic; repeat or separate with commas
    #[arg(long = "topic", value_name = "TOPIC", value_delimiter = ',', value_parser = named, help_heading = "Filters", hide_short_help = true)]
    pub topics: Vec<String>,
    /// Search only what is dated since: 2025-01-31, 7d, yesterday, monday, 'last week', 'march 3'
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true, help_heading = "Filters", hide_short_help = true)]
    pub since: Option<Timestamp>,
    /// Search only what is dated before
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true, help_heading = "Filters", hide_short_help = true)]
    pub until: Option<Timestamp>,
}

/// The types with their aliases.
fn types() -> impl Iterator<Item = PossibleValue> {
    MetadataFilter::TYPES.into_iter().map(|name| match name {
        "pull_request" => PossibleValue::new(name).aliases(["pr", "pull-request"]),
        name => PossibleValue::new(name),
    })
}

impl MetadataArguments {
    /// The filter that the flags ask for.
    pub fn filter(&self) -> MetadataFilter {
        let lower = |values: &[String]| values.iter().map(|value| value.to_lowercase()).collect();
        let canonical = |text: &String| {
            let named = types().find(|value| value.matches(text, true));
            named.map_or_else(|| text.clone(), |value| value.get_name().to_owned())
        };
        // A label may contain commas itself, so the whole text is one of the alternatives.
        let group = |labels: &String| {
            let several = labels.split(',').map(str::trim).filter(|_| labels.contains(','));
            std::iter::once(labels.as_str()).chain(several).map(str::to_owned).collect()
        };
        MetadataFilter {
            states: lower(&self.states),
            labels: self.labels.iter().map(group).collect(),
            authors: self.authors.clone(),
            types: self.types.iter().map(canonical).collect(),
            topics: self.topics.clone(),
            since: self.since,
            until: self.until,
        }
    }

    /// The flags that are given, for the message that nothing passes them.
    pub fn given(&self) -> Vec<&'static str> {
        [
            ("--state", !self.states.is_empty()),
            ("--label", !self.labels.is_empty()),
            ("--author", !self.authors.is_empty()),
            ("--type", !self.types.is_empty()),
            ("--topic", !self.topics.is_empty()),
            ("--since", self.since.is_some()),
            ("--until", self.until.is_some()),
        ]
        .into_iter()
        .filter_map(|(flag, given)| given.then_some(flag))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        metadata: MetadataArguments,
    }

    fn parsed(flags: &[&str]) -> Result<MetadataArguments, String> {
        let line = Line::try_parse_from(std::iter::once("search").chain(flags.iter().copied()));
        line.map(|line| line.metadata).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_become_a_filter() {
        let flags = ["--state", "Closed,open", "--label", "bug, crash", "--label", "windows", "--author", "alice,bob"];
        let more = ["--type", "pr", "--topic", "build", "--since", "2025-01-01T00:00Z", "--until", "2025-02-01T00:00Z"];
        let arguments = parsed(&[&flags[..], &more[..]].concat()).expect("all are allowed");
        let owned = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>();
        let expected = MetadataFilter {
            states: owned(&["closed", "open"]),
            labels: vec![owned(&["bug, crash", "bug", "crash"]), owned(&["windows"])],
            authors: owned(&["alice", "bob"]),
            types: owned(&["pull_request"]),
            topics: owned(&["build"]),
            since: Some("2025-01-01T00:00:00Z".parse().expect("a time")),
            until: Some("2025-02-01T00:00:00Z".parse().expect("a time")),
        };
        assert_eq!(arguments.filter(), expected);
        assert!(arguments.filter().check().is_ok());
        assert_eq!(arguments.given(), ["--state", "--label", "--author", "--type", "--topic", "--since", "--until"]);
        assert!(parsed(&[]).expect("nothing is asked").filter().is_empty());
    }

    #[test]
    fn a_refused_value_names_the_allowed_ones() {
        let error = |flags: &[&str]| parsed(flags).expect_err("not allowed");
        assert!(error(&["--state", "done"]).contains("unmerged, resolved"));
        assert!(error(&["--type", "bug"]).contains("pull_request"));
        assert!(error(&["--since", "soon"]).contains("3 days ago"));
        assert!(error(&["--until", "-7d"]).contains("3 days ago"));
        assert!(error(&["--label", " , "]).contains("empty"));
        assert!(error(&["--author", ""]).contains("empty"));
    }
}
