//! `cargo xtask conformance`: drives the server with independent programs.
//!
//! There are four: the protocol's conformance suite, its inspector, the official client libraries in two generations, and a browser for
//! the page. They are installed from npm into `target/conformance`, with their own Node, as `xtask/conformance/package-lock.json` pins
//! them. `xtask/conformance/not-applicable.json` lists the checks of the suite that do not apply to this server, each with its reason.
//! A listed check that passes is a failure.

mod balancer;
mod clients;
mod fixture;
mod inspector;
mod outcome;
mod page;
mod page_content;
mod server;
mod sessions;
mod store;
mod suite;
mod tools;

use anyhow::{Result, bail};
use fixture::Fixture;
use tools::Tools;

const USAGE: &str = "\
cargo xtask conformance                    run every part
cargo xtask conformance suite              run the protocol's conformance suite over HTTP, for each version it knows
cargo xtask conformance inspector          ask with the inspector's command line
cargo xtask conformance clients            call every tool with the official client libraries, over standard streams and HTTP
cargo xtask conformance page               use the page in a browser, as a person would (needs Chromium)
cargo xtask conformance sessions           compare the sessions in docs/mcp.md with new ones
cargo xtask conformance sessions --write   replace the sessions in docs/mcp.md
cargo xtask conformance --store [PART]…    the same with the index in a PostgreSQL of its own, filled by a worker, and with two servers
                                           behind a balancer (needs python3 with pip)
";

/// The parts, in the order in which they run.
const PARTS: [&str; 5] = ["suite", "inspector", "clients", "page", "sessions"];

/// Runs the named parts, or all.
///
/// # Errors
/// The tools cannot be installed, the server cannot be built or started, or a check fails.
pub fn run(arguments: &[String]) -> Result<()> {
    let (names, flags): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|argument| !argument.starts_with("--"));
    if let Some(unknown) = names.iter().find(|name| !PARTS.contains(name)) {
        bail!("{unknown}: unknown part\n\n{USAGE}");
    }
    let (writes, in_database) = match flags.as_slice() {
        [] => (false, false),
        ["--store"] => (false, true),
        ["--write"] if names == ["sessions"] => (true, false),
        _ => bail!("{}: unknown flag\n\n{USAGE}", flags.join(" ")),
    };
    let tools = Tools::install()?;
    let fixture = Fixture::make(in_database)?;
    let mut outcomes = Vec::new();
    for part in PARTS.into_iter().filter(|part| names.is_empty() || names.contains(part)) {
        outcomes.extend(match part {
            "suite" => suite::run(&tools, &fixture)?,
            "inspector" => inspector::run(&tools, &fixture)?,
            "clients" => clients::run(&tools, &fixture)?,
            "page" => page::run(&tools, &fixture)?,
            _ => sessions::run(&tools, &fixture, writes)?,
        });
    }
    outcome::report(&outcomes)
}

/// Returns the reason that the tools cannot be installed here, if there is one.
pub fn obstacle() -> Option<String> {
    tools::obstacle()
}
