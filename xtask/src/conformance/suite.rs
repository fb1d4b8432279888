//! The protocol's conformance suite, for each version of the protocol it knows.

use super::fixture::Fixture;
use super::outcome::Outcome;
use super::server::Server;
use super::tools::Tools;
use crate::run::root;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

/// The versions of the protocol, newest first.
const VERSIONS: [&str; 4] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    /// The suite found nothing to check.
    Skipped,
    Passed,
    /// The server violates a requirement or a recommendation.
    Failed,
}

/// The result and description of each check, by `SCENARIO:CHECK`. A check that occurs more than once counts by its worst result.
type Checks = BTreeMap<String, (Status, String)>;

/// Runs the suite for all versions.
///
/// # Errors
/// The suite cannot be run. A check that fails is in the outcome.
pub fn run(tools: &Tools, fixture: &Fixture) -> Result<Vec<Outcome>> {
    let listed = listed()?;
    let mut seen = BTreeSet::new();
    let mut outcomes = Vec::new();
    for version in VERSIONS {
        let started = Instant::now();
        let server = Server::start(fixture)?;
        let checks = checks(tools, &server.url, version)?;
        let mut outcome = judged(version, &checks, &listed);
        outcome.failures.extend(server.stop()?);
        outcome.took = started.elapsed();
        seen.extend(checks.into_keys());
        outcomes.push(outcome);
    }
    let vanished = listed.keys().filter(|check| !seen.contains(*check));
    let vanished = vanished.map(|check| format!("{check} is listed as not applicable, but the suite no longer has it"));
    if let Some(first) = outcomes.first_mut() {
        first.failures.extend(vanished);
    }
    Ok(outcomes)
}

fn judged(version: &str, checks: &Checks, listed: &BTreeMap<String, String>) -> Outcome {
    let mut outcome = Outcome { name: format!("suite, {version}"), ..Outcome::default() };
    for (check, (status, description)) in checks {
        match (status, listed.contains_key(check)) {
            (Status::Failed, true) => outcome.not_applicable += 1,
            (Status::Failed, false) => outcome.failures.push(format!("{check}: {description}")),
            (Status::Passed, false) => outcome.passed += 1,
            (Status::Passed, true) => {
                outcome
                    .failures
                    .push(format!("{check} is listed as not applicable but passes: remove it from the list"));
            }
            (Status::Skipped, _) => outcome.skipped += 1,
        }
    }
    outcome
}

/// Returns the checks that do not apply, each with its reason.
fn listed() -> Result<BTreeMap<String, String>> {
    let path = root().join("xtask/conformance/not-applicable.json");
    let list: Value =
        serde_json::from_str(&fs::read_to_string(&path)?).with_context(|| format!("{}", path.display()))?;
    let mut listed = BTreeMap::new();
    for (reason, checks) in
        list.as_object().context("not-applicable.json: expected an object of reasons, each with its checks")?
    {
        for check in checks.as_array().context("not-applicable.json: expected a list of checks")? {
            let check = check.as_str().context("not-applicable.json: expected checks as SCENARIO:CHECK")?.to_owned();
            if listed.insert(check.clone(), reason.clone()).is_some() {
                bail!("not-applicable.json lists {check} twice");
            }
        }
    }
    Ok(listed)
}

/// Runs the suite for a version and reads the results of each scenario.
fn checks(tools: &Tools, url: &str, version: &str) -> Result<Checks> {
    let results = tools.directory().join("results").join(version);
    if results.exists() {
        fs::remove_dir_all(&results)?;
    }
    let mut command = tools.package("@modelcontextprotocol/conformance/dist/index.js");
    command.args(["server", "--url", url, "--suite", "all", "--spec-version", version, "--timeout", "10000"]);
    command.arg("--output-dir").arg(&results);
    // The results hold more than the exit status.
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().context("the suite cannot be started")?;
    let mut checks = Checks::new();
    for entry in fs::read_dir(&results).context("the suite wrote no results")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // server-SCENARIO-2026-11-22T12-08-30-837Z
        let scenario = name.strip_prefix("server-").unwrap_or(&name);
        let scenario = scenario.len().checked_sub(25).map_or(scenario, |end| &scenario[..end]);
        read(scenario, &entry.path().join("checks.json"), &mut checks)?;
    }
    if checks.is_empty() {
        bail!("the suite ran no check for {version}");
    }
    Ok(checks)
}

fn read(scenario: &str, path: &Path, checks: &mut Checks) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    let found: Value = serde_json::from_str(&text)?;
    for check in found.as_array().context("a list of checks")? {
        let status = match check["status"].as_str() {
            Some("SUCCESS") => Status::Passed,
            Some("FAILURE" | "WARNING") => Status::Failed,
            Some("SKIPPED") => Status::Skipped,
            _ => continue,
        };
        let description =
            ["errorMessage", "description"].iter().find_map(|key| check[*key].as_str()).unwrap_or_default();
        let key = format!("{scenario}:{}", check["id"].as_str().unwrap_or_default());
        let worst = checks.entry(key).or_insert((status, description.to_owned()));
        if status > worst.0 {
            *worst = (status, description.to_owned());
        }
    }
    Ok(())
}
