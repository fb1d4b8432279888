//! The command line as types: every flag parsed and range-checked here, nothing decided.

mod aim;
mod calibrate;
mod cut;
mod duplicates;
mod eval;
mod evidence;
mod evidence_find;
mod feedback;
mod forget;
mod form;
mod global;
mod hook;
mod import;
mod import_github;
mod index;
mod inspect;
mod install;
mod mcp;
mod metadata;
mod methods;
mod recall;
mod related;
mod remember;
mod search;
mod sql;
mod stats;
mod troubleshoot;
mod values;
mod views;

pub use aim::{AimArguments, refused};
pub use calibrate::CalibrateArguments;
pub use cut::CutArguments;
pub use duplicates::DuplicatesArguments;
pub use eval::EvalArguments;
pub use evidence::{EvidenceAction, EvidenceAddArguments, EvidenceArguments, EvidenceExportArguments};
pub use evidence_find::{EvidenceRankArguments, EvidenceSearchArguments};
pub use feedback::FeedbackArguments;
pub use forget::ForgetArguments;
pub use form::{FormArguments, ScopeArguments};
pub use global::{ColorWhen, Global};
pub use hook::{HookAction, HookArguments};
pub use import::{
    ImportArguments, ImportConversationsArguments, ImportEvidenceArguments, ImportIssuesArguments, ImportWhat,
    ImportWikiArguments,
};
pub use import_github::ImportGithubArguments;
pub use index::IndexArguments;
pub use inspect::{ConfigArguments, DoctorArguments, GetArguments, ManArguments, StatusArguments};
pub use install::InstallArguments;
pub use mcp::{LogForm, LogLevel, McpArguments, McpCommand, McpTokenArguments};
pub use metadata::MetadataArguments;
pub use recall::RecallArguments;
pub use related::RelatedArguments;
pub use remember::RememberArguments;
pub use search::SearchArguments;
pub use sql::{RowsForm, SqlArguments};
pub use stats::{StatsArguments, local_zone};
pub use troubleshoot::TroubleshootArguments;
pub use views::{ViewArguments, ViewsArguments};

use clap::{CommandFactory, Parser, Subcommand};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "tamis",
    version,
    about = "Search a directory and get only what is relevant",
    long_about = "Search a directory of code and documents and get only what is relevant, which can be nothing.\n\n\
        The first search indexes the directory (the nearest ancestor with .tamis/ or .git); later ones bring the index \
        up to date first. Words and meaning both gather candidates, and a cut decides how many of them answer.",
    after_help = EXAMPLES,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  tamis search \"where are retries handled\"
  tamis search retry with backoff --lang rust --explain
  tamis search session token --files | xargs wc -l
  tamis get src/session.rs:40-80

Exit status: 0 something was found, 1 nothing was, 2 an error, 130 stopped by Ctrl-C.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer a question with what is relevant, which can be nothing
    Search(Box<SearchArguments>),
    /// Bring the index up to date, with every model
    Index(IndexArguments),
    /// Bring in what is no file of the tree: issues, wikis, conversations, evidence
    Import(ImportArguments),
    /// Show what the index holds and how fresh it is
    Status(StatusArguments),
    /// Print the full text of a result
    Get(GetArguments),
    /// Show what is like a result, what it uses, and what uses it
    Related(RelatedArguments),
    /// Find what was already solved that is like a trouble: closed issues, else the wiki
    Troubleshoot(TroubleshootArguments),
    /// Tell which issues are likely the same as one, which can be none
    Duplicates(DuplicatesArguments),
    /// Work on claims and what speaks for and against them
    Evidence(Box<EvidenceArguments>),
    /// Note something down, to be found at once
    Remember(RememberArguments),
    /// Answer a question from notes and conversations
    Recall(Box<RecallArguments>),
    /// Have a note found no more, after asking
    Forget(ForgetArguments),
    /// Show the settings in effect and where each came from
    Config(ConfigArguments),
    /// Look for what is wrong, and mend what can be rebuilt
    Doctor(DoctorArguments),
    /// Cut the results of any other search engine: its lines in, the relevant ones out
    Cut(CutArguments),
    /// Measure ranking and cuts on collections whose answers are known
    Eval(Box<EvalArguments>),
    /// Say which passages of an answer are relevant, for guarantees to be calibrated on
    Feedback(FeedbackArguments),
    /// Measure from which similarity on code has to do with a query, by language
    Calibrate(CalibrateArguments),
    /// Tell how well past queries were served, and what another cut would have kept of them
    Stats(StatsArguments),
    /// Ask the evidence graph in SQL
    Sql(SqlArguments),
    /// List the questions to the evidence graph that have a name
    Views(ViewsArguments),
    /// Ask the evidence graph one of them
    View(ViewArguments),
    /// Serve what is indexed to agents, by the Model Context Protocol
    Mcp(McpArguments),
    /// Put the server for agents into the configuration of a client
    Install(InstallArguments),
    /// Keep the index fresh by git's hooks
    Hook(HookArguments),
    /// Allow this project's configuration to use the models and directories elsewhere that it names
    #[command(
        long_about = "Allow this project's configuration file, as it is now, to send text to the models it names and to read \
            the directories outside the project that it names.\n\n\
            A configuration that came with a project could send its text anywhere and have any file of yours read, so \
            a remote model or a directory elsewhere is refused until you have read the file and trusted it. When the file changes, it is no longer trusted."
    )]
    Trust,
    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  \
        tamis completions bash > ~/.local/share/bash-completion/completions/tamis\n  \
        tamis completions zsh > ~/.zfunc/_tamis\n  \
        tamis completions fish > ~/.config/fish/completions/tamis.fish")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands to a directory
    Man(ManArguments),
    /// Print the JSON Schema of `tamis search --json`
    #[command(hide = true)]
    Schema,
}

/// The command's description, for completions and manual pages.
pub fn description() -> clap::Command {
    Arguments::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_consistent() {
        description().debug_assert();
    }

    #[test]
    fn the_guide_names_every_command_and_flag() {
        let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
        let guide = std::fs::read_to_string(guide).expect("docs/cli.md of the checkout");
        let visible = |command: &&clap::Command| !command.is_hide_set();
        let description = description();
        let commands = description.get_subcommands().filter(visible).flat_map(|command| {
            let nested = command.get_subcommands();
            let nested = nested.map(|nested| (format!("tamis {} {}", command.get_name(), nested.get_name()), nested));
            std::iter::once((format!("tamis {}", command.get_name()), command)).chain(nested)
        });
        for (name, command) in std::iter::once(("tamis".to_owned(), &description)).chain(commands) {
            assert!(guide.contains(&name), "{name}");
            for flag in command.get_arguments().filter_map(|argument| argument.get_long()) {
                assert!(["help", "version"].contains(&flag) || guide.contains(&format!("--{flag}")), "--{flag}");
            }
        }
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
}
