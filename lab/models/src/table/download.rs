//! `cargo xtask distill static`: gets the packages that the token table learns from, and makes the table.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::run::{cargo, cargo_itself, program, root};

const USAGE: &str = "\
cargo xtask distill static WORK [FLAG...]
WORK takes the packages of tools/static/sources.txt, the transformer's vectors and the pairs; a second run goes on with what is there.
Flags go to the program: --output TABLE (default: models/static/static-256.bin). Needs python3 with pip, npm, and apt-get and dpkg of Debian 12.
";

/// A line of `tools/static/sources.txt`.
struct Source<'a> {
    usage: &'a str,
    manager: &'a str,
    name: &'a str,
    version: &'a str,
}

/// Gets what is missing, then mines, trains and writes.
pub fn run(arguments: &[String]) -> Result<()> {
    let Some((work, flags)) = arguments.split_first() else { bail!("{USAGE}") };
    fs::create_dir_all(work).with_context(|| format!("cannot create {work}"))?;
    let work = Path::new(work).canonicalize()?;
    let list = fs::read_to_string(root().join("tools/static/sources.txt"))?;
    for line in list.lines() {
        let mut fields = line.split_whitespace();
        let (Some(usage), Some(manager), Some(name), Some(version)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            bail!("sources.txt: {line:?} has fewer than four fields: use, manager, name, version");
        };
        get(&work, &Source { usage, manager, name, version }).with_context(|| format!("cannot get {name}"))?;
    }
    // The crates of the build, as cargo unpacked them.
    program(&cargo_itself(), &["fetch", "--locked"])?;
    let work = work.to_string_lossy();
    let excluded = "tools/static/excluded-crates.txt";
    let example = ["run", "--release", "--package", "tamis-embed", "--example", "distill", "--"];
    let crates = crates()?;
    let output = "models/static/static-256.bin";
    let rest = ["--work", &work, "--crates", &crates, "--excluded", excluded, "--output", output];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    cargo(&[&example[..], &rest[..], &flags[..]].concat())
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

/// The sources of the crates that this workspace depends on.
fn crates() -> Result<String> {
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")))?;
    let sources = Path::new(&home).join("registry/src");
    let first = fs::read_dir(&sources).with_context(|| format!("cannot read {}", sources.display()))?.next();
    Ok(first.context("no crate was ever built here")??.path().to_string_lossy().into_owned())
}
