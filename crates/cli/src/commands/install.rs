//! `tamis install`: adds the server for agents to a client's configuration.

use crate::command_line::Global;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::table::Columns;
use crate::print::text::{label, visible};
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use owo_colors::OwoColorize;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use std::io::Write;
use std::path::{Path, PathBuf};
use tamis::Location;
use tamis::install::{Client, Entry, EntryOptions, Plan, Scope, Standing, Surroundings, standing};

/// Flags of `tamis install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis install                                   # list clients and entries
  tamis install --client claude-code              # add one to .mcp.json here
  tamis install --client cursor,vscode --dry-run  # show what would change
  tamis install --client codex --user             # add one for all projects
  tamis install --client cursor --remove          # remove the entry again

Everything else in the file stays as it is, byte for byte.")]
pub struct InstallArguments {
    /// Add an entry to these clients; without this flag, list them
    #[arg(long = "client", value_name = "CLIENT", value_delimiter = ',', value_parser = PossibleValuesParser::new(Client::ALL.map(Client::name)))]
    pub clients: Vec<String>,
    /// Write the project's file [default where the client has one]
    #[arg(long, requires = "clients", conflicts_with = "user")]
    pub project: bool,
    /// Write your own file: the server then starts in every project (in this one if the client names no directory)
    #[arg(long, requires = "clients")]
    pub user: bool,
    /// Remove the entry again
    #[arg(long, requires = "clients", conflicts_with_all = ["allow_remember", "allow_feedback"])]
    pub remove: bool,
    /// Show what would change, and change nothing
    #[arg(long, requires = "clients")]
    pub dry_run: bool,
    /// Name the entry
    #[arg(long, value_name = "NAME", default_value = "tamis")]
    pub name: String,
    /// Replace or remove an entry of this name that starts something else
    #[arg(long, requires = "clients")]
    pub force: bool,
    /// Allow the client to add notes with `remember`
    #[arg(long, requires = "clients")]
    pub allow_remember: bool,
    /// Allow the client to judge answers with `feedback`
    #[arg(long, requires = "clients")]
    pub allow_feedback: bool,
    /// Print the list of clients as JSON
    #[arg(long, conflicts_with = "clients")]
    pub json: bool,
}

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// Adds an entry to the files of the clients, removes it, or lists the clients.
///
/// # Errors
/// A client has no file of the scope, or its file cannot be read or written, or has an entry that starts something else. All
/// clients are checked before the first file is written.
pub fn run(arguments: &InstallArguments, global: &Global, output: &Output) -> Result<Exit> {
    let location = Session::start(global, Vec::new())?.location;
    let around = Surroundings::here();
    if arguments.clients.is_empty() {
        return list(arguments, &location.root, &around, output);
    }
    let clients = arguments.clients.iter().filter_map(|name| Client::of_name(name));
    let plans: Vec<(Client, Scope, Plan)> = clients
        .map(|client| {
            let scope = scope(arguments, client);
            Ok((client, scope, plan(arguments, client, scope, &location, &around)?))
        })
        .collect::<Result<_>>()?;
    for (client, scope, plan) in &plans {
        if arguments.dry_run {
            differences(plan, output)?;
        } else {
            let unrecorded = plan.carry_out()?;
            if let Some(reason) = unrecorded {
                output.warn(&format!(
                    "{}: the change could not be recorded, so `--remove` will remove the entry alone: {reason}",
                    client.name()
                ));
            }
            print_outcome(*client, *scope, plan, arguments, output)?;
        }
    }
    Ok(Exit::Found)
}

fn scope(arguments: &InstallArguments, client: Client) -> Scope {
    match (arguments.project, arguments.user) {
        (true, _) => Scope::Project,
        (_, true) => Scope::User,
        _ => client.scopes()[0],
    }
}

fn plan(
    arguments: &InstallArguments,
    client: Client,
    scope: Scope,
    location: &Location,
    around: &Surroundings,
) -> Result<Plan> {
    let (name, root, force) = (&arguments.name, &location.root, arguments.force);
    if arguments.remove {
        return Ok(Plan::remove(client, scope, name, root, force, around)?);
    }
    let is_elsewhere = location.directory != Location::at(root, None).directory;
    if is_elsewhere && Entry::is_for_any_project(client, scope) {
        bail!(
            "--index or TAMIS_INDEX: an entry for every project cannot name one index; leave it out, or install into the \
             project's file with --project"
        );
    }
    let flags = [(arguments.allow_remember, "--allow-remember"), (arguments.allow_feedback, "--allow-feedback")];
    let options = EntryOptions {
        project: root.clone(),
        index: is_elsewhere.then(|| location.directory.clone()),
        program: crate::command_line::program()?,
        flags: flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_owned()).collect(),
    };
    let entry = Entry::new(client, scope, &options, around);
    Ok(Plan::install(client, scope, name, entry, root, force, around)?)
}

/// Prints the changes of a plan, as a unified diff.
fn differences(plan: &Plan, output: &Output) -> Result<()> {
    let path = plan.path().to_string_lossy();
    let path = label(&path);
    let mut out = output.styled();
    if !plan.changes() {
        writeln!(out, "{path}: nothing to change")?;
        return Ok(out.flush()?);
    }
    let differences = TextDiff::from_lines(plan.before(), plan.after());
    // As `diff -N` names a file that is not there, before or after.
    let named = |is_there: bool| if is_there { &*path } else { "/dev/null" };
    let (before, after) = (named(plan.path().exists()), named(!plan.after().is_empty()));
    writeln!(out, "{}\n{}", format!("--- {before}").bold(), format!("+++ {after}").bold())?;
    for hunk in differences.unified_diff().context_radius(CONTEXT).iter_hunks() {
        writeln!(out, "{}", hunk.header().to_string().trim_end().cyan())?;
        for change in hunk.iter_changes() {
            let line = format!("{}{}", change.tag(), visible(change.value().trim_end_matches(['\r', '\n'])));
            match change.tag() {
                ChangeTag::Delete => writeln!(out, "{}", line.red())?,
                ChangeTag::Insert => writeln!(out, "{}", line.green())?,
                ChangeTag::Equal => writeln!(out, "{line}")?,
            }
        }
    }
    Ok(out.flush()?)
}

fn print_outcome(
    client: Client,
    scope: Scope,
    plan: &Plan,
    arguments: &InstallArguments,
    output: &Output,
) -> Result<()> {
    let path = plan.path().to_string_lossy();
    let path = label(&path);
    let mut out = output.plain();
    match (plan.changes(), arguments.remove) {
        (false, true) => writeln!(out, "{path}: has no entry {:?}", arguments.name)?,
        (false, false) => writeln!(out, "{path}: already has the entry {:?}", arguments.name)?,
        (true, true) => writeln!(out, "{path}: removed the entry {:?}", arguments.name)?,
        (true, false) => writeln!(out, "{path}: wrote the entry {:?}", arguments.name)?,
    }
    out.flush()?;
    if plan.changes() && !arguments.remove {
        output.note(&format!("{}: {}", client.name(), client.next_step()));
        if Entry::is_for_any_project(client, scope) {
            output.note(&format!(
                "{}: it starts in every project that you open in the client, and indexes each",
                client.name()
            ));
        }
    }
    Ok(())
}

/// A client in the list.
#[derive(Debug, Serialize)]
struct Listed {
    client: &'static str,
    /// True if the client seems to be installed here.
    here: bool,
    files: Vec<ListedFile>,
}

#[derive(Debug, Serialize)]
struct ListedFile {
    scope: Scope,
    path: PathBuf,
    entry: Standing,
}

fn list(arguments: &InstallArguments, root: &Path, around: &Surroundings, output: &Output) -> Result<Exit> {
    let listed = Client::ALL.map(|client| Listed {
        client: client.name(),
        here: client.is_here(around),
        files: client.scopes().iter().filter_map(|&scope| file(client, scope, arguments, root, around)).collect(),
    });
    if arguments.json {
        output.json(&listed)?;
        return Ok(Exit::Found);
    }
    let mut table = Columns::new(&["CLIENT", "HERE", "SCOPE", "ENTRY", "/FILE"]);
    for client in listed {
        for (index, file) in client.files.iter().enumerate() {
            let first = |text: &str| if index == 0 { text.to_owned() } else { String::new() };
            let entry = match file.entry {
                Standing::Absent => "-",
                Standing::Ours => "yes",
                Standing::Others => "another's",
                Standing::Unreadable => "unreadable",
            };
            let scope = if file.scope == Scope::Project { "project" } else { "user" };
            table.row([
                first(client.client),
                first(if client.here { "yes" } else { "-" }),
                scope.to_owned(),
                entry.to_owned(),
                label(&file.path.to_string_lossy()).into_owned(),
            ]);
        }
    }
    let mut out = output.styled();
    table.write(&mut out)?;
    out.flush()?;
    output.note("`tamis install --client CLIENT` adds an entry; --dry-run shows it first");
    Ok(Exit::Found)
}

fn file(
    client: Client,
    scope: Scope,
    arguments: &InstallArguments,
    root: &Path,
    around: &Surroundings,
) -> Option<ListedFile> {
    let (path, entry) = standing(client, scope, &arguments.name, root, around)?;
    Some(ListedFile { scope, path, entry })
}
