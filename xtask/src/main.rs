//! `cargo xtask`: what a person would otherwise do by hand.

mod conformance;
mod models;
mod platforms;
mod references;
mod run;
#[cfg(unix)]
mod torture;

use anyhow::{Result, bail};
use run::{cargo, program, root};
use std::path::Path;

const HELP: &str = "\
cargo xtask test          format, lint, platforms, and all tests: unit, property, integration, documentation
cargo xtask platforms     every crate that the code names is there on every system it is built for
cargo xtask bench         speed of indexing, searching and embedding, as figures and ratios; `bench mcp`: of the server
cargo xtask conformance   drive the server by the protocol's conformance suite, its inspector and official clients (needs npm)
cargo xtask references    remake the fixtures that come from independent implementations (needs python3)
cargo xtask torture       kill it, let system calls fail, damage its files, fill its disk; `torture --help` has flags
cargo xtask distill       remake the static model's token table
";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", &[][..]),
    };
    match command {
        "test" => test(),
        "bench" => bench(rest),
        "platforms" => platforms::run(),
        "conformance" => conformance::run(rest),
        "references" => references::run(),
        #[cfg(unix)]
        "torture" => torture::run(rest),
        #[cfg(not(unix))]
        "torture" => bail!("torture needs the signals and limits of Unix"),
        "distill" => models::run(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("{other}: no such command\n\n{HELP}"),
    }
}

/// Everything that must hold before a change lands.
fn test() -> Result<()> {
    cargo(&["fmt", "--all", "--check"])?;
    formatted_cuts()?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    platforms::run()?;
    cargo(&["test", "--workspace"])?;
    match conformance::obstacle() {
        None => conformance::run(&[]),
        Some(obstacle) => {
            println!("conformance is passed over: {obstacle}");
            Ok(())
        }
    }
}

/// Checks the format of the cut methods. Their registry declares the modules in a macro, which `cargo fmt` does not read.
fn formatted_cuts() -> Result<()> {
    let methods = Path::new("crates/cut/src/methods");
    let mut arguments = vec!["--check".to_owned(), "--edition".to_owned(), "2024".to_owned()];
    for entry in std::fs::read_dir(root().join(methods))? {
        let entry = entry?;
        let path = methods.join(entry.file_name());
        let file = if entry.file_type()?.is_dir() { path.join("mod.rs") } else { path };
        arguments.push(file.to_string_lossy().into_owned());
    }
    program("rustfmt", &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn bench(rest: &[String]) -> Result<()> {
    cargo(&["build", "--release", "--package", "tamis-cli"])?;
    let mut arguments = vec!["run", "--release", "--package", "tamis-cli", "--example", "bench", "--"];
    arguments.extend(rest.iter().map(String::as_str));
    cargo(&arguments)
}
