//! The command line as types: every flag is parsed and its range checked here; nothing is decided.

mod aims;
mod calibrate;
mod cut;
mod dashes;
mod duplicates;
mod eval;
mod evidence;
mod evidence_find;
mod feedback;
mod forget;
mod global;
mod hook;
mod import;
mod import_github;
mod index;
mod inspect;
mod install;
mod jobs;
mod mcp;
mod methods;
mod model;
mod output;
mod overview;
mod pack;
mod query;
#[cfg(test)]
mod reference;
mod related;
mod remember;
mod search;
mod setup;
mod sql;
mod stats;
mod store;
mod suggest;
mod tree;
mod troubleshoot;
mod tune;
mod values;
mod views;

pub use aims::refused;
pub use calibrate::CalibrateArguments;
pub use cut::CutArguments;
pub use duplicates::DuplicatesArguments;
pub use eval::EvalArguments;
pub use evidence::{EvidenceAction, EvidenceAddArguments, EvidenceArguments, EvidenceExportArguments};
pub use evidence_find::{EvidenceRankArguments, EvidenceSearchArguments};
pub use feedback::FeedbackArguments;
pub use forget::ForgetArguments;
pub use global::{ColorWhen, Global};
pub use hook::{HookAction, HookArguments};
pub use import::{
    ImportArguments, ImportConversationsArguments, ImportEvidenceArguments, ImportFlags, ImportIssuesArguments,
    ImportSource, ImportWikiArguments,
};
pub use import_github::ImportGithubArguments;
pub use index::IndexArguments;
pub use inspect::{ConfigArguments, DoctorArguments, GetArguments, ManArguments, StatusArguments, VersionArguments};
pub use install::InstallArguments;
pub use jobs::{JobsAction, JobsAddArguments, JobsArguments, JobsListArguments, JobsRunArguments};
pub use mcp::{LogLevel, LogStyle, McpArguments, McpCommand, McpTokenArguments, ServeArguments, ServerArguments};
pub use model::{ModelAction, ModelAddArguments, ModelArguments, ModelNamed};
pub use output::OutputArguments;
pub use pack::PackArguments;
pub use query::QueryArguments;
pub use related::RelatedArguments;
pub use remember::RememberArguments;
pub use search::{RecallArguments, SearchArguments};
pub use setup::{SetupAction, SetupArguments};
pub use sql::{RowArguments, SqlArguments};
pub use stats::{StatsArguments, local_zone};
pub use store::{StoreAction, StoreArguments, StoreCopyArguments};
pub use suggest::message as suggestion;
pub use tree::{FilesArguments, GrepArguments, OutlineArguments};
pub use troubleshoot::TroubleshootArguments;
pub use tune::{TuneAction, TuneArguments};
pub use views::{ViewArguments, ViewsArguments};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

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

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer a question with the passages that are relevant
    Search(Box<SearchArguments>),
    /// Bring the index up to date, once or after every change
    Index(IndexArguments),
    /// Import content that isn't a file: issues, wikis, conversations, evidence
    Import(ImportArguments),
    /// Show what the index holds and how fresh it is
    Status(StatusArguments),
    /// Print the full text of a result
    Get(GetArguments),
    /// Find exact text in the files of the index
    Grep(Box<GrepArguments>),
    /// Find files of the index by name
    Files(FilesArguments),
    /// List the symbols of a file or directory
    Outline(OutlineArguments),
    /// Pack the relevant results into one text for a prompt
    Pack(PackArguments),
    /// Show passages like a result, what it uses, and what uses it
    Related(RelatedArguments),
    /// Find similar problems that were already solved: closed issues, then wiki pages
    Troubleshoot(TroubleshootArguments),
    /// List the issues that are likely duplicates of one
    Duplicates(DuplicatesArguments),
    /// Add, search and rank claims and the evidence for and against them
    Evidence(Box<EvidenceArguments>),
    /// Add a note, which searches find at once
    Remember(RememberArguments),
    /// Answer a question from notes and conversations
    Recall(Box<RecallArguments>),
    /// Hide a note from search (asks first)
    Forget(ForgetArguments),
    /// Show the settings in effect and where each comes from
    Config(ConfigArguments),
    /// Look after the PostgreSQL database that holds the index
    Store(StoreArguments),
    /// Share the indexing of many trees among workers, in the PostgreSQL database
    #[command(hide = true)]
    Jobs(JobsArguments),
    /// Check everything, and repair what can be rebuilt
    Doctor(DoctorArguments),
    /// Cut another search engine's results: its lines in, the relevant ones out
    Cut(CutArguments),
    /// Judge results, calibrate thresholds, and measure answers and cuts
    Tune(TuneArguments),
    /// The commands of `tune` by their own names
    #[command(flatten)]
    InTune(TuneAction),
    /// Query the evidence graph in SQL
    #[command(hide = true)]
    Sql(SqlArguments),
    /// List the named queries to the evidence graph
    #[command(hide = true)]
    Views(ViewsArguments),
    /// Run a named query on the evidence graph
    #[command(hide = true)]
    View(ViewArguments),
    /// Serve the index to agents by the Model Context Protocol
    Mcp(McpArguments),
    /// Serve a page, a JSON API and the Model Context Protocol over HTTP
    Serve(ServeArguments),
    /// Add the server for agents to a client's configuration
    Install(InstallArguments),
    /// Fetch models from a hub by name, list and remove them
    Model(ModelArguments),
    /// Set up git hooks, trust in a project, completions and manual pages
    Setup(SetupArguments),
    /// The commands of `setup` by their own names
    #[command(flatten)]
    InSetup(SetupAction),
    /// Print the version, the commit, the target, the features and the built-in models
    #[command(hide = true)]
    Version(VersionArguments),
    /// Print the JSON Schema of `tamis search --json`, or the OpenAPI document
    #[command(hide = true)]
    Schema {
        /// The schema
        #[arg(default_value = "answer")]
        schema: SchemaName,
    },
}

/// A schema that the program prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// The answer of `tamis search --json`.
    Answer,
    /// The API of `tamis serve`.
    Openapi,
}

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
    let typed = crate::typed::words();
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
        && grep.request.context.is_none()
        && !directory.exists()
    {
        grep.request.context = Some(lines);
        arguments.global.directory = None;
    }
    arguments
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
        assert_eq!(
            noted(&long),
            format!("Examples:\n  tamis a\n      note\n  tamis b\n      {}\n\nMore.", "x".repeat(80))
        );
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
