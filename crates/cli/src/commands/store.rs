//! `tamis store`: looks after the database that holds the indexes of a team.

use crate::args::{Global, StoreAction, StoreArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::{bytes, count, counted};
use crate::session::Session;
use anyhow::{Result, bail};
use std::io::Write;
use tamis::store::prelude::*;
use tamis::store::{Findings, PostgresStatus, PostgresStore};

/// Creates the tables, shows what they hold, checks or distributes them.
///
/// # Errors
/// No database is named, it cannot be reached, or it refuses.
pub fn run(arguments: &StoreArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let Some(url) = &config.store.url else {
        bail!("no database is named; give --store postgres://USER@HOST/DATABASE, or set store.url");
    };
    let namespace = config.store.namespace.as_deref().unwrap_or(&session.location.namespace);
    let store = PostgresStore::open(url, namespace)?;
    match &arguments.action {
        StoreAction::Init => {
            output.note(&format!("{}: ready", store.address()));
            Ok(Exit::Found)
        }
        StoreAction::Status(status) => {
            let found = store.status()?;
            if status.json {
                output.json(&found)?;
            } else {
                let mut out = output.styled();
                show(&mut out, &found)?;
                out.flush()?;
            }
            Ok(Exit::Found)
        }
        StoreAction::Check(check) => {
            let findings = if check.check_only { store.check()? } else { store.mend(&mut |_| {})? };
            let is_sound = findings.problems.is_empty();
            if check.json {
                output.json(&findings)?;
            } else {
                let mut out = output.styled();
                report(&mut out, &findings)?;
                out.flush()?;
            }
            Ok(Exit::found(is_sound))
        }
        StoreAction::Shard(shard) => {
            let sharding =
                if shard.dry_run { store.shard_statements(shard.shards)? } else { store.shard(shard.shards)? };
            if shard.json {
                output.json(&sharding)?;
                return Ok(Exit::Found);
            }
            if shard.dry_run {
                let mut out = output.styled();
                for statement in &sharding.statements {
                    writeln!(out, "{statement};")?;
                }
                out.flush()?;
                if !sharding.has_citus {
                    output.note("Citus is not installed in this database, so these statements would fail");
                }
            } else {
                output.note(&format!("{}: the tables are distributed by namespace", sharding.address));
            }
            Ok(Exit::Found)
        }
    }
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
    writeln!(out, "  {}", bytes(status.bytes))?;
    for namespace in &status.namespaces {
        writeln!(
            out,
            "  {}: {} in {} passages",
            namespace.name,
            counted(namespace.documents, "document"),
            count(namespace.passages)
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
