//! `cargo xtask lab`: the programs of `lab/`, which measure, or make committed files.
//!
//! They are a workspace of their own, so that nothing else builds them. It shares the directory of builds with the main one, since most
//! dependencies are the same and the programs look for `tamis` beside them.

use crate::run::{cargo, target};
#[cfg(unix)]
use crate::{postgres, run::cargo_with};
use anyhow::Result;

/// Checks the workspace, or runs the program that the first argument names with the rest.
///
/// # Errors
/// A check or the program fails.
pub fn run(arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        None => check(),
        Some((program, rest)) => start(program, rest),
    }
}

/// Runs a program, optimised.
///
/// # Errors
/// It cannot be built, or fails.
pub fn start(program: &str, arguments: &[String]) -> Result<()> {
    in_lab(&["run", "--release", "--bin", program], arguments)
}

/// Runs the tasks of an agent, without waiting for an optimised build.
///
/// # Errors
/// As [`start`].
pub fn agent_tasks(arguments: &[String]) -> Result<()> {
    cargo(&["build", "--workspace", "--bin", "tamis"])?;
    in_lab(&["run", "--bin", "agent-tasks"], arguments)
}

/// Kills the primary of three servers under load. This program has nothing to optimise; it builds the `tamis` that it tests.
///
/// # Errors
/// As [`start`].
#[cfg(unix)]
pub fn failover(arguments: &[String]) -> Result<()> {
    in_lab(&["run", "--bin", "failover"], arguments)
}

/// Fits the models of relevance.
///
/// # Errors
/// As [`start`].
pub fn fit(arguments: &[String]) -> Result<()> {
    start("questions", &[&["fit".to_owned()], arguments].concat())
}

/// Builds `tamis` and runs its benchmark.
///
/// # Errors
/// As [`start`].
pub fn bench(arguments: &[String]) -> Result<()> {
    let (first, rest) = arguments.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    match first {
        #[cfg(unix)]
        "equality" | "postgres" => bench_with_server(first, arguments),
        "cut" => in_lab(&["bench", "--bench", "auto"], rest),
        "rivals" => {
            cargo(&["build", "--release", "--package", "tamis-cli"])?;
            start("rivals", rest)
        }
        _ => {
            cargo(&["build", "--release", "--package", "tamis-cli"])?;
            start("bench", arguments)
        }
    }
}

/// Compares PostgreSQL with a directory: its answers (`equality`), or its speed (`postgres`).
#[cfg(unix)]
fn bench_with_server(what: &str, arguments: &[String]) -> Result<()> {
    if let Some(obstacle) = postgres::obstacle() {
        println!("bench {what} skipped: {obstacle}");
        return Ok(());
    }
    let command = command(&["run", "--release", "--bin", "bench"], arguments);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    let run = |url: &str| cargo_with((postgres::VARIABLE, url), &command);
    match what {
        "postgres" => postgres::with_recommended_server(run),
        _ => postgres::with_server(run),
    }
}

fn check() -> Result<()> {
    cargo(&["fmt", "--all", "--manifest-path", MANIFEST, "--check"])?;
    in_lab(&["clippy", "--workspace", "--all-targets"], &["-D".to_owned(), "warnings".to_owned()])?;
    in_lab(&["test", "--workspace"], &[])
}

const MANIFEST: &str = "lab/Cargo.toml";

fn in_lab(cargo_arguments: &[&str], arguments: &[String]) -> Result<()> {
    let command = command(cargo_arguments, arguments);
    cargo(&command.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The arguments of cargo for a command in the lab, with those of the program that it runs.
fn command(cargo_arguments: &[&str], arguments: &[String]) -> Vec<String> {
    let target = target().to_string_lossy().into_owned();
    let mut command: Vec<String> = cargo_arguments.iter().map(ToString::to_string).collect();
    command.extend(["--manifest-path", MANIFEST, "--target-dir", &target, "--"].map(str::to_owned));
    command.extend_from_slice(arguments);
    command
}
