//! `tamis store`: looks after the database that holds the indexes of a team, and copies indexes.

use super::jobs::JobsArguments;
use crate::command_line::Global;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::text::{bytes, count, counted, label};
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use std::io::{self, Write};
use tamis::config::Config;
use tamis::copy::{Compared, CopyOptions, CopyReport, NamespaceComparison, Place, Written, copy_between};
use tamis_store::prelude::*;
use tamis_store::{Findings, PostgresStatus, PostgresStore, Sharding};

/// Flags of `tamis store`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis --store postgres://tamis@db.example/tamis store init
  TAMIS_STORE_URL=postgres://tamis@db.example/tamis tamis store status
  tamis store copy ~/mill postgres://tamis@db.example/tamis

The database is the one of --store, of TAMIS_STORE_URL, or of store.url in your own configuration. Its password comes from the \
address, from PGPASSWORD, or from the file that PGPASSFILE names (~/.pgpass by default).")]
pub struct StoreArguments {
    /// The action
    #[command(subcommand)]
    pub action: StoreAction,
}

/// Actions of `tamis store`.
#[derive(Debug, Subcommand)]
pub enum StoreAction {
    /// Create the tables
    Init,
    /// Show what the database holds and can do
    Status(StoreStatusArguments),
    /// Copy an index from one place to another, and compare both
    Copy(StoreCopyArguments),
    /// Look for damage and contradictions, and rebuild what can be rebuilt
    Check(StoreCheckArguments),
    /// Share the indexing of many trees among workers
    Jobs(JobsArguments),
    /// Distribute the tables over the nodes of Citus, by namespace
    Shard(StoreShardArguments),
    /// Bring distributed tables back to the coordinator
    Unshard(StoreUnshardArguments),
}

/// Flags of `tamis store status`.
#[derive(Debug, Args)]
pub struct StoreStatusArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis store check`.
#[derive(Debug, Args)]
pub struct StoreCheckArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Only look
    #[arg(long)]
    pub check_only: bool,
}

/// Flags of `tamis store copy`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis store copy ~/mill postgres://tamis@db.example/tamis
  tamis store copy postgres://tamis@db.example/tamis ~/backup --namespace mill

Only what differs is written. A copy that was stopped goes on where it was when it is started again. At the end both sides are \
compared; the exit status is 2 if the copy lacks something or has it differently.")]
pub struct StoreCopyArguments {
    /// The source: a directory with an index, a tree with .tamis, or postgres://USER@HOST/DATABASE
    #[arg(value_name = "FROM")]
    pub from: std::path::PathBuf,
    /// The destination, likewise; a directory is made if it is missing
    #[arg(value_name = "TO")]
    pub to: std::path::PathBuf,
    /// Copy only these namespaces; repeat or separate with commas
    #[arg(long = "namespace", value_name = "NAME", value_delimiter = ',')]
    pub namespaces: Vec<String>,
    /// Delete documents that FROM does not have from the copied namespaces
    #[arg(long)]
    pub delete: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis store shard`.
#[derive(Debug, Args)]
pub struct StoreShardArguments {
    /// Print the statements in order, and run none
    #[arg(long)]
    pub dry_run: bool,
    /// Number of shards of each table; the server's default if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64_000))]
    pub shards: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis store unshard`.
#[derive(Debug, Args)]
pub struct StoreUnshardArguments {
    /// Print the statements in order, and run none
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Creates the tables, shows what they hold, checks or distributes them.
///
/// # Errors
/// No database is named, it cannot be reached, or it refuses.
pub fn run(arguments: &StoreArguments, global: &Global, output: &Output) -> Result<Exit> {
    if let StoreAction::Jobs(jobs) = &arguments.action {
        return super::jobs::run(jobs, global, output);
    }
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    if let StoreAction::Copy(arguments) = &arguments.action {
        return copy(arguments, &config, output);
    }
    let Some(url) = &config.store.url else {
        bail!("no database is named; give --store postgres://USER@HOST/DATABASE, or set store.url");
    };
    let namespace = config.store.namespace.as_deref().unwrap_or(&session.location.namespace);
    let store = PostgresStore::open(url, namespace)?;
    match &arguments.action {
        StoreAction::Copy(_) | StoreAction::Jobs(_) => unreachable!("handled above"),
        StoreAction::Init => {
            output.note(&format!("{}: ready", store.address()));
            Ok(Exit::Found)
        }
        StoreAction::Status(status) => {
            let found = store.status()?;
            output.answer(status.json, &found, output.styled(), |out| show(out, &found))?;
            Ok(Exit::Found)
        }
        StoreAction::Check(check) => {
            let findings = if check.check_only { store.check()? } else { store.mend(&mut |_| Ok(()))? };
            let is_sound = findings.problems.is_empty();
            output.answer(check.json, &findings, output.styled(), |out| report(out, &findings))?;
            Ok(Exit::found(is_sound))
        }
        StoreAction::Shard(shard) => {
            let sharding =
                if shard.dry_run { store.shard_statements(shard.shards)? } else { store.shard(shard.shards)? };
            distributed(output, &sharding, shard.json, shard.dry_run, "distributed by namespace")
        }
        StoreAction::Unshard(unshard) => {
            let sharding = if unshard.dry_run { store.unshard_statements()? } else { store.unshard()? };
            distributed(output, &sharding, unshard.json, unshard.dry_run, "on the coordinator")
        }
    }
}

/// Prints the statements that would distribute tables or bring them back, or says where the tables are.
fn distributed(output: &Output, sharding: &Sharding, json: bool, dry_run: bool, place: &str) -> Result<Exit> {
    if json {
        output.json(sharding)?;
    } else if dry_run {
        let mut out = output.styled();
        for statement in &sharding.statements {
            writeln!(out, "{statement};")?;
        }
        out.flush()?;
        if !sharding.has_citus {
            output.note("Citus is not installed in this database, so these statements would fail");
        }
    } else {
        output.note(&format!("{}: the tables are {place}", sharding.address));
    }
    Ok(Exit::Found)
}

fn show(out: &mut impl Write, status: &PostgresStatus) -> std::io::Result<()> {
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "not installed".to_owned());
    writeln!(out, "{}", status.address)?;
    writeln!(
        out,
        "  PostgreSQL {}, tables of version {}",
        status.versions.server_version, status.versions.schema_version
    )?;
    writeln!(out, "  pgvector {}", version(&status.versions.vector_version))?;
    match status.candidates_by.as_str() {
        "bm25" => {
            writeln!(out, "  pg_textsearch {} finds candidates by words", version(&status.versions.textsearch_version))?
        }
        _ => writeln!(
            out,
            "  pg_textsearch {}; a GIN index finds candidates by words, more slowly where words are frequent",
            version(&status.versions.textsearch_version)
        )?,
    }
    if status.distributed {
        writeln!(out, "  distributed by namespace; no row-level security behind the filters of searches")?;
    } else if status.row_security {
        writeln!(out, "  row-level security keeps searches to their namespaces, behind their filters")?;
    } else {
        writeln!(
            out,
            "  no row-level security behind the filters of searches, since this user cannot take the role tamis_searcher; have an \
             administrator run: CREATE ROLE tamis_searcher NOLOGIN (unless there is one); \
             GRANT tamis_searcher TO \"{}\" WITH SET TRUE, INHERIT FALSE; and then: tamis store init",
            status.user.replace('"', "\"\"")
        )?;
    }
    writeln!(out, "  {}", bytes(status.bytes))?;
    for namespace in &status.namespaces {
        writeln!(
            out,
            "  {}: {} in {}{}",
            namespace.name,
            counted(namespace.documents, "document"),
            counted(namespace.passages, "passage"),
            if status.unreachable.contains(&namespace.name) { "; its node is away" } else { "" }
        )?;
    }
    Ok(())
}

fn report(out: &mut impl Write, findings: &Findings) -> std::io::Result<()> {
    for problem in &findings.problems {
        writeln!(out, "{}", problem.message)?;
    }
    let verdict = if findings.problems.is_empty() { "nothing wrong" } else { "see above" };
    writeln!(out, "{} checked: {verdict}", counted(findings.passages, "passage"))
}

/// Copies, and prints the comparison.
///
/// # Errors
/// A place holds no index, or cannot be read or written.
fn copy(arguments: &StoreCopyArguments, config: &Config, output: &Output) -> Result<Exit> {
    let options = CopyOptions {
        namespaces: arguments.namespaces.clone(),
        delete: arguments.delete,
        tree: config.store.namespace.clone(),
    };
    interrupt::install()?;
    let report = {
        let progress = Progress::at_once(output);
        copy_between(&Place::parse(&arguments.from), &Place::parse(&arguments.to), &options, &progress)?
    };
    if arguments.json {
        let mut json = serde_json::to_value(&report)?;
        json["equal"] = report.is_equal().into();
        output.json(&json)?;
    } else {
        let mut out = output.styled();
        show_copy(&mut out, &report, arguments.delete)?;
        out.flush()?;
    }
    if report.interrupted {
        output.note("stopped; what was copied is kept, and the same command goes on there");
        return Ok(Exit::Interrupted);
    }
    Ok(if report.is_equal() { Exit::Found } else { Exit::Error })
}

fn show_copy(out: &mut impl Write, report: &CopyReport, delete: bool) -> io::Result<()> {
    writeln!(out, "{}", written(&report.written))?;
    if report.interrupted {
        return Ok(());
    }
    for namespace in &report.namespaces {
        show_namespace(out, namespace, delete)?;
    }
    for (compared, one) in [
        (report.settings, "setting"),
        (report.thresholds, "threshold"),
        (report.searches, "recorded search"),
        (report.queries, "quality row"),
    ] {
        if compared.from > 0 {
            writeln!(out, "{}", items(&compared, one))?;
        }
    }
    if let Some(reason) = &report.settings_left {
        writeln!(out, "{reason}")?;
    }
    if report.other_namespaces > 0 {
        writeln!(out, "the copy has {} besides", counted(report.other_namespaces, "namespace"))?;
    }
    match report.is_equal() {
        true => writeln!(out, "equal: the copy has everything that the source has"),
        false => writeln!(out, "not equal: see above; the same command tries again"),
    }
}

/// What was written, in a sentence.
fn written(written: &Written) -> String {
    let parts = [
        (written.documents, "document"),
        (written.vectors, "vector"),
        (written.evidence, "record of evidence"),
        (written.settings, "setting"),
        (written.thresholds, "threshold"),
        (written.searches, "recorded search"),
        (written.queries, "quality row"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, one)| many(*number, one)).collect();
    let wrote = if parts.is_empty() { "nothing to copy".to_owned() } else { format!("copied {}", parts.join(", ")) };
    match written.deleted {
        0 => wrote,
        deleted => format!("{wrote}; deleted {}", counted(deleted, "document")),
    }
}

fn show_namespace(out: &mut impl Write, namespace: &NamespaceComparison, delete: bool) -> io::Result<()> {
    let verdict = if namespace.is_equal() { "equal" } else { "different" };
    writeln!(out, "{}: {verdict}", label(&namespace.name))?;
    for (compared, one) in [
        (namespace.documents, "document"),
        (namespace.passages, "passage"),
        (namespace.texts, "text"),
        (namespace.evidence, "record of evidence"),
    ] {
        if compared.from > 0 || compared.to > 0 {
            writeln!(out, "  {}", items(&compared, one))?;
        }
    }
    for model in &namespace.vectors {
        writeln!(out, "  {} of {}", items(&model.vectors, "vector"), label(&model.model))?;
    }
    for item in &namespace.differing {
        writeln!(out, "  differs: {}", label(item))?;
    }
    if namespace.kept > 0 {
        let way_out = if delete { "" } else { "; --delete deletes them" };
        writeln!(out, "  kept: {} that the source does not have{way_out}", counted(namespace.kept, "document"))?;
    }
    Ok(())
}

/// The number of items, and how many of them differ or are missing.
fn items(compared: &Compared, one: &str) -> String {
    let number = many(compared.from, one);
    match (compared.different, compared.to) {
        (0, to) if to == compared.from => number,
        (0, to) => format!("{number} ({} in the copy)", count(to)),
        (different, _) => format!("{number}, {} different or missing in the copy", count(different)),
    }
}

fn many(number: u64, one: &str) -> String {
    match (number, one) {
        (1, one) => format!("1 {one}"),
        (number, "record of evidence") => format!("{} records of evidence", count(number)),
        (number, "recorded search") => format!("{} recorded searches", count(number)),
        (number, one) => format!("{} {one}s", count(number)),
    }
}
