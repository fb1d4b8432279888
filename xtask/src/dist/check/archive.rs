//! The archive: unpacked in a clean directory, and a static program in a root directory that holds nothing else.

use super::super::archive::unpack;
use super::super::project::Project;
use super::super::table::Tested;
use super::super::target::Target;
use super::super::tools::quietly;
use super::{is_root, trial};
use anyhow::{Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Tests an archive.
///
/// # Errors
/// A file is missing, or the program does not work.
pub fn check(project: &Project, target: &Target, archive: &Path) -> Result<Tested> {
    if !target.runs_here() {
        return Ok(Tested::NotHere(format!("no {} here", target.triple)));
    }
    let directory = tempfile::tempdir()?;
    unpack(archive, directory.path())?;
    let unpacked = directory.path().join(target.archive(&project.version));
    for file in
        ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "completions/_tamis", "man/tamis.1", "man/tamis-search.1"]
    {
        ensure!(unpacked.join(file).is_file(), "{file} is missing");
    }
    if target.is_musl() && is_root() {
        return in_an_empty_root(project, target, &unpacked.join(target.program()));
    }
    let place = directory.path().join("project");
    trial::write(&place)?;
    trial::index_and_search(project, target.triple, || {
        let mut command = Command::new(unpacked.join(target.program()));
        trial::at_home(&mut command, &directory.path().join("home"));
        command.current_dir(&place);
        command
    })?;
    Ok(Tested::On("unpacked in an empty directory: index, search".into()))
}

/// Runs a program in a root directory without libraries, devices or a shell.
fn in_an_empty_root(project: &Project, target: &Target, program: &Path) -> Result<Tested> {
    let directory = tempfile::tempdir()?;
    let root = directory.path();
    fs::copy(program, root.join("tamis"))?;
    trial::write(&root.join("project"))?;
    trial::index_and_search(project, target.triple, || {
        let mut command = Command::new("chroot");
        command.arg(root).args(["/tamis", "-C", "/project"]);
        trial::at_home(&mut command, Path::new("/home"));
        command
    })?;
    // Nothing but the program, the project and what it keeps for its user.
    let mut left: Vec<String> = Vec::new();
    for entry in fs::read_dir(root)? {
        left.push(entry?.file_name().to_string_lossy().into_owned());
    }
    left.sort();
    left.retain(|name| !["home", "project", "tamis"].contains(&name.as_str()));
    ensure!(left.is_empty(), "the program wrote {left:?} into the root directory");
    quietly(Command::new("chroot").arg(root).args(["/tamis", "--version"]))?;
    Ok(Tested::On("alone in an empty root directory: index, search".into()))
}
