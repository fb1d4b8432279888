//! `docs/reference/cli.md`, made from the description of the command line.

use super::description;
use clap::{Arg, Command};
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Commands
<!-- written by `cargo xtask site --write` -->

Every command with its arguments and flags, in the words of `tamis COMMAND --help`. [The guide](../cli.md) shows how to use them. \
A flag that several commands have in the same words stands at the first of them, and the others name it beside their purpose; \
so do `--json`, `--namespace` and `--no-refresh`, which differ in words alone. \
The commands of `tune` and `setup` go by their own names too, and so do `sql`, `views`, `view` and `jobs`. \
The methods of `--cut` are on [the page of cuts](../cuts.md#the-methods).
";

/// Flags that mean the same everywhere, in words that fit the command.
const SAME_EVERYWHERE: [&str; 3] = ["json", "namespace", "no-refresh"];

/// The page: a table for each command, with its actions in it.
fn page() -> String {
    let command = description();
    let mut page = HEAD.to_owned();
    let mut seen = HashSet::new();
    let (rows, _) = rows(&command, &mut seen);
    page += &format!("\n## every command\n| | Global options |\n| --- | --- |\n{rows}");
    for command in visible(&command) {
        let name = command.get_name();
        let (rows, about) = self::rows(command, &mut seen);
        let _ = write!(page, "\n## {name}\n| | {about} |\n| --- | --- |\n{rows}");
        for action in visible(command) {
            let (rows, about) = self::rows(action, &mut seen);
            let _ = write!(page, "| **`{name} {}`** | **{about}** |\n{rows}", action.get_name());
            for record in visible(action) {
                let flags =
                    record.get_arguments().filter_map(|argument| Some(format!(" `--{}`", argument.get_long()?)));
                let about = record.get_about().map(ToString::to_string).unwrap_or_default();
                let _ = writeln!(page, "| `{}` | {about}:{} |", record.get_name(), flags.collect::<String>());
            }
        }
    }
    page
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

/// A row for each argument, and the purpose of the command with the flags that earlier commands have.
fn rows(command: &Command, seen: &mut HashSet<String>) -> (String, String) {
    let (mut rows, mut also) = (String::new(), Vec::new());
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let row = row(argument);
        let long = argument.get_long();
        let key = long.filter(|long| SAME_EVERYWHERE.contains(long)).map_or_else(|| row.clone(), str::to_owned);
        match long {
            Some(long) if !seen.insert(key) => also.push(format!("`--{long}`")),
            _ => rows += &row,
        }
    }
    let mut about = command.get_about().map(ToString::to_string).unwrap_or_default();
    if !also.is_empty() {
        let _ = write!(about, ". Also {}", also.join(", "));
    }
    (rows, about)
}

fn row(argument: &Arg) -> String {
    let takes_values = argument.get_action().takes_values();
    let names = argument.get_value_names().unwrap_or_default();
    let values = names.iter().filter(|_| takes_values).fold(String::new(), |text, name| text + " " + name);
    let short = argument.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let name = argument.get_long().map_or(values.clone(), |long| format!("{short}--{long}{values}"));
    let mut help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    // Long lists are examples in the help already.
    let possible: Vec<_> = argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if takes_values && possible.len() < 8 && !possible.iter().all(|value| help.contains(value)) {
        let _ = write!(help, ": {}", possible.join(", "));
    }
    format!("| `{}` | {} |\n", name.trim().replace('|', r"\|"), help.replace('|', r"\|").replace('<', "&lt;"))
}

#[test]
fn the_reference_of_the_commands_is_what_the_program_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
    let made = page();
    if std::env::var_os("TAMIS_PAGES_WRITE").is_some() {
        std::fs::write(&path, &made).expect("written");
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let line = page.lines().zip(made.lines()).find(|(page, made)| page != made);
    assert!(page == made, "docs/reference/cli.md is out of date ({line:?}); write it: cargo xtask site --write");
}
