//! `cargo xtask`: the project's chores as commands.

mod conformance;
mod lab;
mod python;
mod references;
mod site;

use anyhow::{Result, bail};
#[cfg(unix)]
use run::cargo_with;
use run::{cargo, program, root};
use std::path::Path;
use xtask::run;
#[cfg(unix)]
use xtask::{postgres, torture};

const HELP: &str = "\
Usage: cargo xtask COMMAND

While you work:
  check         format, lint and unit tests, in a few minutes

Before a change lands:
  test          run every check: format, lint, all tests, Python, conformance
  conformance   drive the server with the protocol's suite, its inspector and official clients (needs npm);
                --store: on PostgreSQL, with two servers behind a balancer
  python        build the Python package and test it in an environment of its own (needs python3 with venv)
  postgres      start a private PostgreSQL for tests: up, url, down, or run COMMAND with one (needs python3 with pip)
  lab           check the programs of lab/, which measure or make committed files: format, lint, tests;
                `lab PROGRAM` runs one
  site          build the documentation as a site with mdBook and check its links; --serve serves it

Before a release:
  bench         measure indexing, searching and embedding; `bench mcp` and `bench api` measure the servers,
                `bench postgres` and `bench equality` a database beside a directory,
                `bench rivals` other search tools, `bench cut` the cut `auto`
  questions     ask lists of questions with known answers, and measure how they are served (--help lists flags)
  fit           fit the weights of the models of relevance to questions with known answers
  agent-tasks   finish sixteen tasks of an agent through the server, and count characters (--write: into docs/agents.md)
  failover      kill the primary of three PostgreSQL servers under load (needs python3 with pip; --help lists flags)
  torture       kill the program, fail its system calls, damage its files, fill its disk (--help lists flags)

Remake committed files:
  site --write  write the reference, the plots and the outputs of commands into the pages of docs/,
                and the classes of answers into the Python package
  references    make the fixtures that come from independent implementations (needs python3)
  distill       make the built-in models from the published checkpoint
";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", &[][..]),
    };
    match command {
        "check" => {
            lints()?;
            cargo(&["test", "--workspace", "--lib"])
        }
        "test" => test(),
        "lab" => lab::run(rest),
        "bench" => lab::bench(rest),
        "conformance" => conformance::run(rest),
        #[cfg(unix)]
        "postgres" => postgres::run(rest),
        #[cfg(not(unix))]
        "postgres" => bail!("there is a PostgreSQL to download for Linux on x86_64 only"),
        "python" => python::run(rest, std::env::var("TAMIS_TEST_POSTGRES").ok().as_deref()),
        "questions" => lab::start("questions", rest),
        "fit" => lab::fit(rest),
        "agent-tasks" => lab::agent_tasks(rest),
        "references" => references::run(),
        "site" => site::run(rest),
        #[cfg(unix)]
        "failover" => lab::failover(rest),
        #[cfg(not(unix))]
        "failover" => bail!("there is a PostgreSQL to download for Linux on x86_64 only"),
        #[cfg(unix)]
        "torture" => torture::run(rest),
        #[cfg(not(unix))]
        "torture" => bail!("torture needs the signals and limits of Unix"),
        "distill" => lab::start("distill", rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("{other}: unknown command\n\n{HELP}"),
    }
}

/// Runs everything that must hold before a change lands.
fn test() -> Result<()> {
    lints()?;
    tests()?;
    site::build_if_possible()?;
    match conformance::obstacle() {
        None => conformance::run(&[]),
        Some(obstacle) => {
            println!("conformance skipped: {obstacle}");
            Ok(())
        }
    }
}

/// Checks the format of all files, and what clippy says.
fn lints() -> Result<()> {
    cargo(&["fmt", "--all", "--check"])?;
    formatted_registries()?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Runs the tests of the workspace and of the Python package, with a PostgreSQL if there can be one.
fn tests() -> Result<()> {
    // Tests wait for processes, files and servers more than they compute.
    let threads = 2 * std::thread::available_parallelism()?.get();
    let threads = format!("--test-threads={threads}");
    let tests = ["test", "--workspace", "--", &threads];
    #[cfg(unix)]
    match postgres::obstacle() {
        None => {
            return postgres::with_server(|url| {
                cargo_with((postgres::VARIABLE, url), &tests)?;
                python_tests(Some(url))
            });
        }
        Some(obstacle) => println!("postgres skipped: {obstacle}"),
    }
    cargo(&tests)?;
    python_tests(None)
}

/// Runs the tests of the Python package if it can be built here, also with an index in `database`.
fn python_tests(database: Option<&str>) -> Result<()> {
    match python::obstacle() {
        None => python::run(&[], database),
        Some(obstacle) => {
            println!("python skipped: {obstacle}");
            Ok(())
        }
    }
}

/// Folders whose modules a registry declares in a macro, which `cargo fmt` does not read.
const REGISTRIES: [&str; 2] = ["crates/cut/src/methods", "crates/server/src/operations"];

/// Checks the format of the files in [`REGISTRIES`].
fn formatted_registries() -> Result<()> {
    let mut arguments = vec!["--check".to_owned(), "--edition".to_owned(), "2024".to_owned()];
    for registry in REGISTRIES.map(Path::new) {
        for entry in std::fs::read_dir(root().join(registry))? {
            let entry = entry?;
            let path = registry.join(entry.file_name());
            let file = if entry.file_type()?.is_dir() { path.join("mod.rs") } else { path };
            arguments.push(file.to_string_lossy().into_owned());
        }
    }
    program("rustfmt", &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}
