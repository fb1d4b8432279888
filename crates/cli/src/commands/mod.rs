//! The commands. Each has a file with its flags, what it does, and how it prints that; a file of several is named after all of them.

mod ask;
mod calibrate;
mod config;
mod cut;
mod doctor;
mod eval;
mod evidence;
mod feedback;
mod forget;
mod get;
mod grep_files_outline;
mod import;
mod index;
mod install;
mod jobs;
mod mcp_serve;
mod model;
mod pack;
mod recall;
mod refresh;
mod related;
mod remember;
mod search;
mod setup;
mod stats;
mod status;
mod store;
mod troubleshoot_duplicates;
mod version;

use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use calibrate::CalibrateArguments;
use clap::{Args, Subcommand};
use config::ConfigArguments;
use cut::CutArguments;
use doctor::DoctorArguments;
use eval::EvalArguments;
use evidence::EvidenceArguments;
use evidence::sql::{SqlArguments, ViewArguments, ViewsArguments};
use feedback::FeedbackArguments;
use forget::ForgetArguments;
use get::GetArguments;
use grep_files_outline::{FilesArguments, GrepArguments, OutlineArguments};
use import::ImportArguments;
use index::IndexArguments;
use install::InstallArguments;
use jobs::JobsArguments;
use mcp_serve::{McpArguments, ServeArguments};
use model::ModelArguments;
use pack::PackArguments;
use recall::RecallArguments;
use related::RelatedArguments;
use remember::RememberArguments;
use search::SearchArguments;
use setup::{SetupAction, SetupArguments};
use stats::StatsArguments;
use status::StatusArguments;
use store::StoreArguments;
use troubleshoot_duplicates::{DuplicatesArguments, TroubleshootArguments};
use version::{SchemaName, VersionArguments};

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
    /// Manage the PostgreSQL database that holds the index
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
    /// Serve the index to agents over the Model Context Protocol
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

/// Flags of `tamis tune`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis tune feedback 7k2m9qrt 1 --relevant   the first result answers it
  tamis tune stats --since 7d                 how recent queries were answered
  tamis tune calibrate                        measure all languages, then ask
  tamis tune eval scifact                     measure every cut on known answers

Each also works without `tune`, as in `tamis feedback`.")]
pub struct TuneArguments {
    /// The action
    #[command(subcommand)]
    pub action: TuneAction,
}

/// Actions of `tamis tune`.
#[derive(Debug, Subcommand)]
pub enum TuneAction {
    /// Judge the results of a search, so that guarantees can be calibrated
    Feedback(FeedbackArguments),
    /// Show how past queries were answered, and what another cut would have kept
    Stats(StatsArguments),
    /// Measure the similarity at which code becomes relevant, by language
    Calibrate(CalibrateArguments),
    /// Measure ranking and cuts on collections with known answers
    Eval(Box<EvalArguments>),
}

/// Runs the command. `describe` describes the whole command line, for completions and manual pages.
///
/// # Errors
/// The command failed; the message says why and what to do.
pub fn run(command: &Command, global: &Global, output: &Output, describe: fn() -> clap::Command) -> Result<Exit> {
    match command {
        Command::Search(search) => search::run(search, global, output),
        Command::Index(index) => index::run(index, global, output),
        Command::Import(import) => import::run(import, global, output),
        Command::Status(status) => status::run(status, global, output),
        Command::Store(store) => store::run(store, global, output),
        Command::Jobs(jobs) => jobs::run(jobs, global, output),
        Command::Get(get) => get::run(get, global, output),
        Command::Grep(grep) => grep_files_outline::grep(grep, global, output),
        Command::Files(files) => grep_files_outline::files(files, global, output),
        Command::Outline(outline) => grep_files_outline::outline(outline, global, output),
        Command::Pack(pack) => pack::run(pack, global, output),
        Command::Related(related) => related::run(related, global, output),
        Command::Troubleshoot(troubleshoot) => troubleshoot_duplicates::troubleshoot(troubleshoot, global, output),
        Command::Duplicates(duplicates) => troubleshoot_duplicates::duplicates(duplicates, global, output),
        Command::Evidence(evidence) => evidence::run(evidence, global, output),
        Command::Remember(remember) => remember::run(remember, global, output),
        Command::Recall(recall) => recall::run(recall, global, output),
        Command::Forget(forget) => forget::run(forget, global, output),
        Command::Config(config) => config::run(config, global, output),
        Command::Doctor(doctor) => doctor::run(doctor, global, output),
        Command::Cut(cut) => cut::run(cut, output),
        Command::Tune(TuneArguments { action }) | Command::InTune(action) => tune(action, global, output),
        Command::Sql(sql) => evidence::sql::run(sql, global, output),
        Command::Views(list) => evidence::sql::list_views(list, global, output),
        Command::View(view) => evidence::sql::run_view(view, global, output),
        Command::Mcp(mcp) => mcp_serve::mcp(mcp, global, output),
        Command::Serve(serve) => mcp_serve::serve(serve, global),
        Command::Install(install) => install::run(install, global, output),
        Command::Model(model) => model::run(model, global, output),
        Command::Setup(SetupArguments { action }) | Command::InSetup(action) => {
            setup::run(action, global, output, describe)
        }
        Command::Version(version) => version::run(version, output),
        Command::Schema { schema } => version::schema(*schema, output),
    }
}

fn tune(action: &TuneAction, global: &Global, output: &Output) -> Result<Exit> {
    match action {
        TuneAction::Feedback(feedback) => feedback::run(feedback, global, output),
        TuneAction::Stats(stats) => stats::run(stats, global, output),
        TuneAction::Calibrate(calibrate) => calibrate::run(calibrate, global, output),
        TuneAction::Eval(eval) => eval::run(eval, global, output),
    }
}
