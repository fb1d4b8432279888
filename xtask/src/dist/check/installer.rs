//! The installer script, against a server with a right and with a wrong checksum.

use super::super::checksums;
use super::super::packages::Unpacked;
use super::super::project::Project;
use super::super::table::Tested;
use super::super::tools::{is_there, quietly};
use super::server::Server;
use super::trial;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Tests the script.
///
/// # Errors
/// It installs what it should not, or leaves something behind.
pub fn check(project: &Project, script: &Path, archives: &[Unpacked]) -> Result<Tested> {
    if !cfg!(unix) {
        return Ok(Tested::NotHere("it needs a Unix shell".into()));
    }
    let analysed = if is_there("shellcheck") {
        quietly(Command::new("shellcheck").arg(script))?;
        "shellcheck"
    } else {
        "no shellcheck here"
    };
    let mut done = Vec::new();
    for one in archives.iter().filter(|one| one.target.runs_here()) {
        from_server(project, script, one)?;
        done.push(one.target.triple.rsplit('-').next().unwrap_or_default());
    }
    ensure!(!done.is_empty(), "there is no archive that runs here");
    Ok(Tested::On(format!(
        "{analysed}; {} over HTTP: install, index, search, uninstall; a changed archive and a missing checksum refused",
        done.join(" and ")
    )))
}

fn from_server(project: &Project, script: &Path, one: &Unpacked) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let (served, prefix) = (directory.path().join("served"), directory.path().join("prefix"));
    fs::create_dir(&served)?;
    let name = one.archive.file_name().context("the archive has no name")?;
    fs::copy(&one.archive, served.join(name))?;
    fs::copy(project.out().join(checksums::FILE), served.join(checksums::FILE))?;
    let server = Server::start(&served)?;
    let install = |more: &[&str]| -> Result<Output> {
        let mut command = Command::new("sh");
        trial::at_home(&mut command, directory.path());
        command.arg(script).arg("--prefix").arg(&prefix).args(more);
        command.output().context("sh cannot be started")
    };
    let source = ["--from", &server.url(), "--target", one.target.triple];
    let installed = install(&source)?;
    ensure!(installed.status.success(), "it fails: {}", String::from_utf8_lossy(&installed.stderr));
    let place = directory.path().join("project");
    trial::write(&place)?;
    trial::index_and_search(project, one.target.triple, || {
        let mut command = Command::new(prefix.join("bin/tamis"));
        trial::at_home(&mut command, &directory.path().join("home"));
        command.current_dir(&place);
        command
    })?;
    ensure!(prefix.join("share/man/man1/tamis-search.1").is_file(), "the manual pages are missing");
    let removed = install(&["--uninstall"])?;
    ensure!(removed.status.success(), "--uninstall fails: {}", String::from_utf8_lossy(&removed.stderr));
    ensure!(files(&prefix)? == 0, "--uninstall leaves files in {}", prefix.display());

    let refuses = |why: &str| -> Result<()> {
        let refused = install(&source)?;
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        ensure!(refused.status.code() == Some(2), "it installs in spite of a {why}");
        ensure!(message.contains("SHA256SUMS") || message.contains("SHA-256"), "a {why} gives the message {message:?}");
        ensure!(files(&prefix)? == 0, "it leaves files in spite of a {why}");
        Ok(())
    };
    let mut bytes = fs::read(served.join(name))?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(served.join(name), bytes)?;
    refuses("wrong checksum")?;
    fs::write(served.join(checksums::FILE), "")?;
    refuses("missing checksum")
}

/// Counts the files below a directory.
fn files(directory: &Path) -> Result<usize> {
    let mut number = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        number += if entry.file_type()?.is_dir() { files(&entry.path())? } else { 1 };
    }
    Ok(number)
}
