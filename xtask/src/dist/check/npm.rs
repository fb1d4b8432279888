//! The npm packages, from a registry on this machine.

use super::super::project::Project;
use super::super::table::Tested;
use super::super::target::{TARGETS, Target};
use super::super::tools::quietly;
use super::server::Server;
use super::trial;
use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs the command by name, as a user would, and removes it.
///
/// # Errors
/// npm fails, installs the wrong packages, or the program does not work.
pub fn check(project: &Project, packages: &[PathBuf]) -> Result<Tested> {
    let directory = tempfile::tempdir()?;
    let registry = directory.path().join("registry");
    fs::create_dir(&registry)?;
    let server = Server::start(&registry)?;
    let mut names = Vec::new();
    for package in packages {
        names.push(publish(package, &registry, &server.url())?);
    }
    let place = directory.path().join("place");
    trial::write(&place)?;
    let home = directory.path().join("home");
    fs::create_dir(&home)?;
    let npm = |arguments: &[&str]| {
        let mut command = Command::new("npm");
        trial::at_home(&mut command, &home);
        command.args(arguments).args(["--no-audit", "--no-fund", "--loglevel=error", "--registry", &server.url()]);
        command.current_dir(&place);
        command
    };
    fs::write(place.join("package.json"), "{ \"private\": true }\n")?;
    let modules = place.join("node_modules");
    let installed = || names.iter().filter(|name| modules.join(name).is_dir()).collect::<Vec<&String>>();
    // Installs with these flags, uses the program, and removes it. Returns the package that the program was in.
    let used = |flags: &[&str]| -> Result<&'static Target> {
        quietly(&mut npm(&[&["install", "tamis"], flags].concat()))?;
        let fits = |target: &&Target| installed().contains(&&target.npm_package()) && target.runs_here();
        let programs: Vec<&Target> = TARGETS.iter().filter(fits).collect();
        ensure!(!programs.is_empty() && programs.len() + 1 == installed().len(), "npm installs {:?}", installed());
        let target = programs.into_iter().min_by_key(|target| target.is_musl()).context("an unknown package")?;
        trial::index_and_search(project, target.triple, || {
            let mut command = Command::new(modules.join(".bin/tamis"));
            trial::at_home(&mut command, &home);
            command.current_dir(&place);
            command
        })?;
        // The launcher passes on the exit status of a program that failed.
        let mut failing = Command::new(modules.join(".bin/tamis"));
        trial::at_home(&mut failing, &home);
        ensure!(
            failing.arg("no-such-command").output()?.status.code() == Some(2),
            "the launcher hides the exit status"
        );
        let shown = quietly(&mut npm(&["exec", "--offline", "--", "tamis", "--version"]))?;
        ensure!(shown.trim() == format!("tamis {}", project.version), "npm exec prints {shown:?}");
        quietly(&mut npm(&["uninstall", "tamis"]))?;
        ensure!(installed().is_empty(), "npm uninstall leaves {:?}", installed());
        Ok(target)
    };
    let mut packages = vec![used(&[])?.npm_package()];
    // The musl program is static, so it runs with glibc too. npm installs it here if it is told that the system has musl.
    let musl = TARGETS.iter().find(|target| target.is_musl() && target.runs_here());
    if let Some(musl) = musl.map(Target::npm_package).filter(|musl| names.contains(musl) && !packages.contains(musl)) {
        let package = used(&["--libc=musl"])?.npm_package();
        ensure!(package == musl, "npm install --libc=musl installs {package}");
        packages.push(musl);
    }
    Ok(Tested::On(format!(
        "a local registry, empty directory: npm install ({}), index, search, npm exec, npm uninstall",
        packages.join("; with --libc=musl ")
    )))
}

/// Puts a package into the registry and returns its name.
fn publish(package: &Path, registry: &Path, url: &str) -> Result<String> {
    let manifest = manifest(package).with_context(|| format!("{} is no npm package", package.display()))?;
    let (name, version) = (text(&manifest, "name")?, text(&manifest, "version")?);
    let file = package.file_name().context("the package has no name")?.to_string_lossy().into_owned();
    fs::create_dir_all(registry.join("-"))?;
    fs::copy(package, registry.join("-").join(&file))?;
    let mut entry = manifest;
    entry["dist"] = json!({ "tarball": format!("{url}/-/{file}") });
    let document = json!({ "name": name, "dist-tags": { "latest": version }, "versions": { &version: entry } });
    fs::write(registry.join(&name), document.to_string())?;
    Ok(name)
}

fn manifest(package: &Path) -> Result<Value> {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(package)?));
    for entry in archive.entries()? {
        let entry = entry?;
        if entry.path()? == Path::new("package/package.json") {
            return Ok(serde_json::from_reader(entry)?);
        }
    }
    anyhow::bail!("it has no package.json")
}

fn text(manifest: &Value, key: &str) -> Result<String> {
    Ok(manifest[key].as_str().with_context(|| format!("package.json has no {key}"))?.to_owned())
}
