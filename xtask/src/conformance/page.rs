//! The page of `tamis serve` in a browser, as a person uses it: Chromium driven by Playwright, and axe for accessibility.

use super::fixture::{Fixture, LARGE_FILES};
use super::outcome::Outcome;
use super::page_content;
use super::server::Server;
use super::tools::Tools;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Where systems keep the browser.
const BROWSERS: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// A token of the guarded server.
const TOKEN: &str = "a-token-for-the-page-alone";

/// Uses the page on a server with tokens and on one without.
///
/// # Errors
/// The server or the browser cannot be started. A check that fails is in the outcome.
pub fn run(tools: &Tools, fixture: &Fixture) -> Result<Vec<Outcome>> {
    let started = Instant::now();
    let mut outcome = Outcome { name: "page".to_owned(), ..Outcome::default() };
    let Some(browser) = browser() else {
        eprintln!("the page is not tested: there is no Chromium in {}", BROWSERS.join(", "));
        outcome.skipped = 1;
        return Ok(vec![outcome]);
    };
    fixture.renew()?;
    page_content::add(fixture)?;
    fixture.refresh()?;
    let report = page_content::report(fixture)?;
    let open = Server::serve(fixture, &[LARGE_FILES])?;
    let guarded = Server::serve(fixture, &[LARGE_FILES, ("TAMIS_MCP_TOKEN", TOKEN)])?;
    let mut command = tools.script("page.mjs")?;
    command.arg(&browser).args([guarded.url.as_str(), open.url.as_str(), TOKEN]).arg(report);
    if let Some(directory) = std::env::var_os("TAMIS_PAGE_SCREENSHOTS") {
        command.arg(directory);
    }
    if fixture.is_in_database() {
        command.env("READS_NO_TREE", "1");
    }
    let output = command.output().context("node cannot be started")?;
    let out = String::from_utf8_lossy(&output.stdout);
    let result: Value = serde_json::from_str(out.lines().last().unwrap_or_default())
        .with_context(|| format!("page: {out}{}", String::from_utf8_lossy(&output.stderr)))?;
    outcome.passed = result["passed"].as_u64().unwrap_or_default().try_into()?;
    let failures = result["failures"].as_array().into_iter().flatten().filter_map(Value::as_str);
    outcome.failures = failures.map(str::to_owned).collect();
    for server in [open, guarded] {
        outcome.failures.extend(server.stop()?);
    }
    outcome.took = started.elapsed();
    Ok(vec![outcome])
}

/// The browser of this machine. On Debian, root installs it.
fn browser() -> Option<PathBuf> {
    let found = || BROWSERS.iter().map(PathBuf::from).find(|path| path.exists());
    found().or_else(|| {
        if Path::new("/usr/bin/apt-get").exists() {
            eprintln!("$ apt-get install --yes --quiet chromium");
            let installed = |arguments: &[&str]| {
                let mut command = Command::new("apt-get");
                command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
                command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
            };
            let install = ["install", "--yes", "--quiet", "chromium"];
            let _ = installed(&install) || (installed(&["update", "--quiet"]) && installed(&install));
        }
        found()
    })
}
