//! `tamis store`: looks after the database that holds the indexes of a team, and copies indexes.

mod copy;

use crate::args::{Global, StoreAction, StoreArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::{bytes, counted};
use crate::session::Session;
use anyhow::{Result, bail};
use std::io::Write;
use tamis_store::prelude::*;
use tamis_store::{Findings, PostgresStatus, PostgresStore, Sharding};

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
        return copy::run(arguments, &config, output);
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
    writeln!(out, "  PostgreSQL {}, tables of version {}", status.server_version, status.schema_version)?;
    writeln!(out, "  pgvector {}", version(&status.vector_version))?;
    match status.candidates_by.as_str() {
        "bm25" => writeln!(out, "  pg_textsearch {} finds candidates by words", version(&status.textsearch_version))?,
        _ => writeln!(
            out,
            "  pg_textsearch {}; a GIN index finds candidates by words, more slowly where words are frequent",
            version(&status.textsearch_version)
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
