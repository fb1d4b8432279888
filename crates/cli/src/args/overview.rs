//! The first page of help: the commands that most people use, and the others by group.

use crate::layout::wrapped;
use clap::Command;
use console::Term;

/// The commands that most people use.
const COMMON: [&str; 17] = [
    "search", "index", "status", "get", "grep", "files", "outline", "pack", "related", "remember", "recall", "forget",
    "mcp", "serve", "install", "config", "doctor",
];

/// All others, by purpose.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Evidence", &["evidence"]),
    ("Imports", &["import", "troubleshoot", "duplicates"]),
    ("Tuning", &["cut", "tune"]),
    ("Setup", &["model", "store", "setup"]),
];

/// The commands of `tune` and `setup`, which also go by their own names.
pub const SHORT: [&str; 8] = ["feedback", "stats", "calibrate", "eval", "hook", "trust", "completions", "man"];

/// A name and what is said of it, in the columns of the terminal.
fn row(name: &str, text: &str) -> String {
    let columns = Term::stdout().size_checked().map_or(usize::MAX, |(_, columns)| columns.into());
    format!("{}\n", wrapped(&format!("  {name:<10} {text}"), columns, 13))
}

/// The template of the first page, made from the commands' own descriptions.
pub fn template(command: &Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\nCommands:\n".to_owned();
    for name in COMMON {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        text.push_str(&row(name, &about.map(ToString::to_string).unwrap_or_default()));
    }
    text.push_str("\nMore commands; `tamis COMMAND --help` explains each:\n");
    for (group, names) in GROUPS {
        text.push_str(&row(group, &names.join(", ")));
    }
    text.push_str("\nOptions:\n{options}{after-help}");
    text
}

/// Every command that the first page names.
pub fn commands() -> impl Iterator<Item = &'static str> {
    COMMON.into_iter().chain(GROUPS.into_iter().flat_map(|(_, names)| names.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_has_one_place_on_the_first_page() {
        let command = super::super::description();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
        assert_eq!(commands().collect::<BTreeSet<_>>(), visible.collect());
        assert_eq!(commands().count(), commands().collect::<BTreeSet<_>>().len());
    }

    #[test]
    fn every_short_name_is_that_of_a_command_in_a_group() {
        let command = super::super::description();
        let groups = ["tune", "setup"].map(|group| command.find_subcommand(group).expect("a group"));
        let grouped = groups.iter().flat_map(|group| group.get_subcommands().map(clap::Command::get_name));
        assert_eq!(grouped.collect::<BTreeSet<_>>(), SHORT.into_iter().collect());
    }
}
