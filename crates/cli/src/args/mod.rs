//! The command line as types: every flag is parsed and its range checked here; nothing is decided.

mod dashes;
mod overview;
#[cfg(test)]
mod reference;
mod suggest;

use crate::command_line::{self, Global};
use crate::commands::Command;
use crate::exit::Exit;
use crate::output::{Output, show_help};
use clap::{CommandFactory, FromArgMatches, Parser};
use std::io::{self, Write};
use tamis_text::sanitize::{for_terminal, is_hidden};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "tamis",
    version,
    about = "Search a directory and get only what is relevant",
    long_about = "Search a directory of code and documents and get only what is relevant, which can be nothing.\n\n\
        The first search indexes the directory (the nearest ancestor with .tamis/ or .git); later searches first bring the \
        index up to date. Words and meaning both gather candidates, and a cut decides how many of them are relevant.",
    after_help = EXAMPLES,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  tamis search \"where are retries handled\"
  tamis search retry with backoff --lang rust --explain
  tamis search session token --files | xargs wc -l
  tamis get src/session.rs:40-80

Exit status: 0 found something, 1 found nothing, 2 an error, 130 stopped by Ctrl-C.";

/// The command line's description, for parsing, completions and manual pages.
pub fn description() -> clap::Command {
    let hidden = |command: clap::Command, name: &&str| command.mut_subcommand(name, |short| short.hide(true));
    let command = overview::SHORT.iter().fold(Arguments::command(), hidden);
    let template = overview::template(&command);
    with_noted_examples(command).help_template(template)
}

/// Writes the examples of a command and of those below it for a terminal of 80 columns.
fn with_noted_examples(command: clap::Command) -> clap::Command {
    let examples = command.get_after_help().map(|help| noted(&help.to_string()));
    let command = command.mut_subcommands(with_noted_examples);
    match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    }
}

/// Gives the notes beside the examples a row each, if one of them would not fit into 80 columns.
fn noted(help: &str) -> String {
    let split = |line: &str| {
        let (example, note) = line.strip_prefix("  tamis ")?.split_once("  ")?;
        Some((format!("  tamis {example}"), format!("      {}", note.trim_start())))
    };
    let is_long = |line: &str| line.chars().count() > 80 && split(line).is_some();
    if !help.lines().any(is_long) {
        return help.to_owned();
    }
    let lines = help.lines().flat_map(|line| match split(line) {
        Some((example, note)) => vec![example, note],
        None => vec![line.to_owned()],
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Parses the arguments of this process.
///
/// # Errors
/// A command line that is not allowed; or help was asked for, which is an error to the parser.
pub fn parse() -> Result<Arguments, clap::Error> {
    let mut description = description();
    let typed = command_line::words();
    let matches = description.try_get_matches_from_mut(typed).or_else(|error| match dashes::words_behind(typed) {
        Some(words_behind) => description.try_get_matches_from_mut(words_behind).map_err(|_| error),
        None => Err(error),
    })?;
    let arguments = Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut description))?;
    Ok(with_context(arguments))
}

/// `tamis grep -C 3` means three lines of context, as in ripgrep, unless there is a directory called 3.
fn with_context(mut arguments: Arguments) -> Arguments {
    if let Command::Grep(grep) = &mut arguments.command
        && let Some(directory) = &arguments.global.directory
        && let Some(lines) = directory.to_str().and_then(|text| text.parse().ok())
        && grep.request.context.context.is_none()
        && !directory.exists()
    {
        grep.request.context.context = Some(lines);
        arguments.global.directory = None;
    }
    arguments
}

/// Prints the help that was asked for, or the error in the command line.
pub fn usage(error: &clap::Error) -> u8 {
    let typed: Vec<String> =
        command_line::words().iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if !error.use_stderr() {
        let pages = !typed.iter().any(|argument| argument == "--no-pager");
        // A closed standard output leaves nowhere to say so.
        let _ = show_help(&error.render().ansi().to_string(), pages);
        return Exit::Found.code();
    }
    if let Some(message) = suggest::message(error, &description(), &typed) {
        Output::plain_error(&message);
        return Exit::Error.code();
    }
    let quotes_hidden = command_line::words().iter().any(|argument| argument.to_string_lossy().chars().any(is_hidden));
    if quotes_hidden {
        // The styles of the message cannot be separated from those that an argument brings along.
        let _ = write!(io::stderr(), "{}", for_terminal(&error.render().to_string()));
    } else {
        // A closed standard error leaves nowhere to say so.
        let _ = error.print();
    }
    u8::try_from(error.exit_code()).unwrap_or(Exit::Error.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_consistent() {
        description().debug_assert();
    }

    #[test]
    fn no_command_has_an_argument_called_like_a_global_one() {
        let description = description();
        let ids = |command: &clap::Command| command.get_arguments().map(|a| a.get_id().to_string()).collect::<Vec<_>>();
        let global = ids(&description);
        for command in description.get_subcommands() {
            let own = ids(command);
            assert!(own.iter().all(|id| !global.contains(id)), "{}: {own:?}", command.get_name());
        }
    }

    #[test]
    fn the_short_help_of_a_search_fits_one_screen() {
        let mut description = description().term_width(80);
        description.build();
        for name in ["search", "recall"] {
            let help = description.find_subcommand_mut(name).expect("a command").render_help().to_string();
            assert!(help.lines().count() <= 24, "{name}: {} lines\n{help}", help.lines().count());
            assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        }
    }

    #[test]
    fn notes_beside_examples_fit_a_terminal() {
        let long = format!("Examples:\n  tamis a   note\n  tamis b   {}\n\nMore.", "x".repeat(80));
        let broken = format!("Examples:\n  tamis a\n      note\n  tamis b\n      {}\n\nMore.", "x".repeat(80));
        assert_eq!(noted(&long), broken);
        assert_eq!(noted("  tamis a   note"), "  tamis a   note");
    }

    #[test]
    fn every_command_says_what_it_does_in_one_line() {
        fn check(command: &clap::Command) {
            for nested in command.get_subcommands() {
                let about = nested.get_about().map(ToString::to_string).unwrap_or_default();
                let verb = about.split(' ').next().unwrap_or_default();
                assert!(verb.starts_with(|letter: char| letter.is_ascii_uppercase()), "{}: {about}", nested.get_name());
                assert!(about.chars().count() <= 84 && !about.contains('\n'), "{}: {about}", nested.get_name());
                check(nested);
            }
        }
        check(&description());
    }
}
