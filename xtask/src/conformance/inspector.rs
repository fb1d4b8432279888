//! The inspector's command line: the view of a person who examines the server by hand.

use super::fixture::Fixture;
use super::outcome::Outcome;
use super::server::Server;
use super::tools::Tools;
use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use std::process::Command;
use std::time::Instant;

/// Each question, and the key of its answer that must hold something.
const QUESTIONS: [(&[&str], &str); 6] = [
    // Strict: with every schema checked against the one that clients accept.
    (&["--method", "tools/list", "--strict"], "tools"),
    (
        &["--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=when is a failed job tried again"],
        "content",
    ),
    (&["--method", "resources/list"], "resources"),
    (&["--method", "resources/templates/list"], "resourceTemplates"),
    (&["--method", "prompts/list"], "prompts"),
    (
        &["--method", "prompts/get", "--prompt-name", "troubleshoot", "--prompt-args", "title=the queue stands still"],
        "messages",
    ),
];

/// Asks over both transports, as both generations of clients do.
///
/// # Errors
/// The inspector or the server cannot be started. A question that fails is in the outcome.
pub fn run(tools: &Tools, fixture: &Fixture) -> Result<Vec<Outcome>> {
    let server = Server::start(fixture)?;
    let over_http = [server.url.as_str(), "--transport", "http"].map(str::to_owned).to_vec();
    let mut over_stdio =
        vec![fixture.binary.to_string_lossy().into_owned(), "mcp".to_owned(), "--output-schemas".to_owned()];
    over_stdio.extend(["--cwd".to_owned(), fixture.project.to_string_lossy().into_owned()]);
    over_stdio.extend(
        fixture.environment().into_iter().flat_map(|(name, value)| ["-e".to_owned(), format!("{name}={value}")]),
    );
    // Each question starts its own Node, so both transports run at the same time.
    let mut outcomes = std::thread::scope(|scope| {
        let over_stdio = scope.spawn(|| ask("inspector, standard streams", "legacy", &over_stdio, tools));
        let over_http = ask("inspector, HTTP", "modern", &over_http, tools);
        over_stdio.join().map(|over_stdio| vec![over_stdio, over_http])
    })
    .map_err(|_| anyhow!("a question to the inspector panicked"))?;
    outcomes[1].failures.extend(server.stop()?);
    Ok(outcomes)
}

fn ask(name: &str, era: &str, target: &[String], tools: &Tools) -> Outcome {
    let started = Instant::now();
    let mut outcome = Outcome { name: name.to_owned(), ..Outcome::default() };
    for (question, key) in QUESTIONS {
        let mut command = tools.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
        command.arg("--cli").args(target).args(question).args(["--format", "json", "--protocol-era", era]);
        // The inspector keeps a catalogue of servers in the home directory.
        command.env("HOME", tools.directory().join("work"));
        match answer(&mut command, key) {
            Ok(()) => outcome.passed += 1,
            Err(error) => outcome.failures.push(format!("{}: {error:#}", question.join(" "))),
        }
    }
    outcome.took = started.elapsed();
    outcome
}

fn answer(command: &mut Command, key: &str) -> Result<()> {
    let output = command.output().context("the inspector cannot be started")?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    anyhow::ensure!(output.status.success(), "{}\n{out}{err}", output.status);
    let answer: Value = serde_json::from_str(&out).with_context(|| format!("no JSON: {out}"))?;
    let result = answer.get("result").unwrap_or(&answer);
    anyhow::ensure!(result[key].as_array().is_some_and(|list| !list.is_empty()), "no {key} in {out}");
    anyhow::ensure!(result["isError"] != true, "an error: {out}");
    Ok(())
}
