//! `cargo xtask conformance`: the server, driven from outside by programs that are not ours.
//!
//! Three of them: the protocol's conformance suite, its inspector, and the official client libraries in two generations. They
//! come from the registry of npm as `xtask/conformance/package-lock.json` pins them, with a Node of their own, into
//! `target/conformance`; nothing of them is in the repository. What of the suite does not apply to this server is listed with
//! its reason in `xtask/conformance/not-applicable.json`, and the list is held to be true.

mod clients;
mod fixture;
mod inspector;
mod outcome;
mod server;
mod sessions;
mod suite;
mod tools;

use anyhow::{Result, bail};
use fixture::Fixture;
use outcome::Outcome;
use tools::Tools;

const USAGE: &str = "\
cargo xtask conformance                 everything
cargo xtask conformance suite           the protocol's conformance suite, over HTTP, for each version that it knows
cargo xtask conformance inspector       the inspector's command line
cargo xtask conformance clients         every tool by the official client libraries, over standard streams and HTTP
cargo xtask conformance sessions        whether the sessions in docs/mcp.md are still what comes out
cargo xtask conformance sessions --write   write them anew
";

/// The parts, in the order in which they run.
const PARTS: [&str; 4] = ["suite", "inspector", "clients", "sessions"];

/// Runs the parts that are named, or all.
///
/// # Errors
/// The tools cannot be had, the server cannot be built or started, or a check fails.
pub fn run(arguments: &[String]) -> Result<()> {
    let (names, flags): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|argument| !argument.starts_with("--"));
    if let Some(unknown) = names.iter().find(|name| !PARTS.contains(name)) {
        bail!("{unknown}: no such part\n\n{USAGE}");
    }
    let writes = match flags.as_slice() {
        [] => false,
        ["--write"] if names == ["sessions"] => true,
        _ => bail!("{}: no such flag\n\n{USAGE}", flags.join(" ")),
    };
    let tools = Tools::install()?;
    let fixture = Fixture::make()?;
    let mut outcomes = Vec::new();
    for part in PARTS.into_iter().filter(|part| names.is_empty() || names.contains(part)) {
        outcomes.extend(match part {
            "suite" => suite::run(&tools, &fixture)?,
            "inspector" => inspector::run(&tools, &fixture)?,
            "clients" => clients::run(&tools, &fixture)?,
            _ => sessions::run(&tools, &fixture, writes)?,
        });
    }
    outcome::report(&outcomes)
}

/// Why the tools cannot be had here, if so.
pub fn obstacle() -> Option<String> {
    tools::obstacle()
}

/// Whether every part passed.
fn all_passed(outcomes: &[Outcome]) -> bool {
    outcomes.iter().all(|outcome| outcome.failures.is_empty())
}
