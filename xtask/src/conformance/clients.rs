//! The official client libraries, each over each transport.

use super::fixture::Fixture;
use super::outcome::Outcome;
use super::server::Server;
use super::tools::Tools;
use anyhow::{Context, Result};
use serde_json::Value;
use std::time::Instant;

/// A library, the version it begins with, and the transport.
const RUNS: [(&str, &str, &str); 5] = [
    ("client", "2026-07-28", "stdio"),
    ("client", "2026-07-28", "http"),
    ("client", "auto", "stdio"),
    ("sdk", "2025-11-25", "stdio"),
    ("sdk", "2025-11-25", "http"),
];

/// Calls every tool with each library.
///
/// # Errors
/// A library cannot be run at all. A check that fails is in the outcome.
pub fn run(tools: &Tools, fixture: &Fixture) -> Result<Vec<Outcome>> {
    RUNS.into_iter().map(|(library, begins, transport)| drive(tools, fixture, library, begins, transport)).collect()
}

fn drive(tools: &Tools, fixture: &Fixture, library: &str, begins: &str, transport: &str) -> Result<Outcome> {
    let started = Instant::now();
    let server = (transport == "http").then(|| Server::start(fixture)).transpose()?;
    let mut command = tools.script("drive.mjs")?;
    command.args([library, begins, transport]).arg(&fixture.binary).arg(&fixture.project);
    command.args(server.as_ref().map(|server| server.url.as_str()));
    command.env("TAMIS_SERVED_WITH", serde_json::to_string(&fixture.environment())?);
    let output = command.output().context("node cannot be started")?;
    let out = String::from_utf8_lossy(&output.stdout);
    let last = out.lines().last().unwrap_or_default();
    let result: Value = serde_json::from_str(last)
        .with_context(|| format!("{library} over {transport}: {out}{}", String::from_utf8_lossy(&output.stderr)))?;
    let failures = result["failures"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let mut outcome = Outcome {
        name: format!("{library} library, {begins}, {transport}"),
        passed: result["passed"].as_u64().unwrap_or_default().try_into()?,
        failures: failures.collect(),
        ..Outcome::default()
    };
    if let Some(server) = server {
        outcome.failures.extend(server.stop()?);
    }
    outcome.took = started.elapsed();
    Ok(outcome)
}
