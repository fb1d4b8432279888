//! One file a command.

mod ask;
mod calibrate;
mod config;
mod cut;
mod doctor;
mod duplicates;
mod eval;
mod evidence;
mod feedback;
mod files;
mod forget;
mod generate;
mod get;
mod grep;
mod hook;
mod import;
mod index;
mod install;
mod issue_body;
mod jobs;
mod mcp;
mod model;
mod outline;
mod pack;
mod query_paths;
mod recall;
mod refresh;
mod related;
mod remember;
mod search;
mod sql;
mod stats;
mod status;
mod store;
mod troubleshoot;
mod trust;
mod version;
mod views;

use crate::args::{Arguments, Command, Global, SetupAction, SetupArguments, TuneAction, TuneArguments};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;

/// Runs the command.
///
/// # Errors
/// The command failed; the message says why and what to do.
pub fn run(arguments: &Arguments, output: &Output) -> Result<Exit> {
    let global = &arguments.global;
    match &arguments.command {
        Command::Search(search) => search::run(search, global, output),
        Command::Index(index) => index::run(index, global, output),
        Command::Import(import) => import::run(import, global, output),
        Command::Status(status) => status::run(status, global, output),
        Command::Store(store) => store::run(store, global, output),
        Command::Jobs(jobs) => jobs::run(jobs, global, output),
        Command::Get(get) => get::run(get, global, output),
        Command::Grep(grep) => grep::run(grep, global, output),
        Command::Files(files) => files::run(files, global, output),
        Command::Outline(outline) => outline::run(outline, global, output),
        Command::Pack(pack) => pack::run(pack, global, output),
        Command::Related(related) => related::run(related, global, output),
        Command::Troubleshoot(troubleshoot) => troubleshoot::run(troubleshoot, global, output),
        Command::Duplicates(duplicates) => duplicates::run(duplicates, global, output),
        Command::Evidence(evidence) => evidence::run(evidence, global, output),
        Command::Remember(remember) => remember::run(remember, global, output),
        Command::Recall(recall) => recall::run(recall, global, output),
        Command::Forget(forget) => forget::run(forget, global, output),
        Command::Config(config) => config::run(config, global, output),
        Command::Doctor(doctor) => doctor::run(doctor, global, output),
        Command::Cut(cut) => cut::run(cut, output),
        Command::Tune(TuneArguments { action }) | Command::InTune(action) => tune(action, global, output),
        Command::Sql(sql) => sql::run(sql, global, output),
        Command::Views(list) => views::list(list, global, output),
        Command::View(view) => views::run(view, global, output),
        Command::Mcp(mcp) => mcp::run(mcp, global, output),
        Command::Serve(serve) => mcp::serve(serve, global),
        Command::Install(install) => install::run(install, global, output),
        Command::Model(model) => model::run(model, global, output),
        Command::Setup(SetupArguments { action }) | Command::InSetup(action) => setup(action, global, output),
        Command::Version(version) => version::run(version, output),
        Command::Schema { schema } => generate::schema(*schema, output),
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

fn setup(action: &SetupAction, global: &Global, output: &Output) -> Result<Exit> {
    match action {
        SetupAction::Hook(hook) => hook::run(hook, global, output),
        SetupAction::Trust => trust::run(global, output),
        SetupAction::Completions { shell } => generate::completions(*shell, output),
        SetupAction::Man(man) => generate::man(man, output),
    }
}
