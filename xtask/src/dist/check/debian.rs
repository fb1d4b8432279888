//! The Debian package: installed into a clean Debian, and removed again.

use super::super::project::Project;
use super::super::table::Tested;
use super::super::target::Target;
use super::super::tools::{is_there, quietly};
use super::{is_root, trial};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tests the package.
///
/// # Errors
/// It cannot be installed or removed, or the program does not work.
pub fn check(project: &Project, target: &Target, package: &Path) -> Result<Tested> {
    let obstacle = match () {
        () if !target.runs_here() => Some("no such processor"),
        () if !is_root() => Some("it needs root for a chroot"),
        () if !is_there("debootstrap") => Some("debootstrap is missing"),
        () => None,
    };
    if let Some(obstacle) = obstacle {
        return Ok(Tested::NotHere(obstacle.into()));
    }
    let (base, release) = base(project)?;
    let directory = tempfile::tempdir_in(project.work("debian")?)?;
    let root = directory.path().join("root");
    quietly(Command::new("cp").args(["-a", "--reflink=auto"]).arg(&base).arg(&root))?;
    fs::copy(package, root.join("tamis.deb"))?;
    let within = |arguments: &[&str]| {
        let mut command = Command::new("chroot");
        command.arg(&root).args(arguments).env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C");
        command
    };
    quietly(&mut within(&["dpkg", "-i", "/tamis.deb"]))?;
    let listed = quietly(&mut within(&["dpkg", "-L", "tamis"]))?;
    for part in ["/usr/bin/tamis", "/usr/share/man/man1/tamis-search.1.gz", "/usr/share/doc/tamis/copyright"] {
        ensure!(listed.lines().any(|line| line == part), "the package has no {part}:\n{listed}");
    }
    trial::write(&root.join("project"))?;
    trial::index_and_search(project, target.triple, || {
        let mut command = within(&["/usr/bin/tamis", "-C", "/project"]);
        trial::at_home(&mut command, Path::new("/root"));
        command
    })?;
    quietly(&mut within(&["dpkg", "-r", "tamis"]))?;
    let own = listed.lines().filter(|line| line.contains("tamis"));
    let left: Vec<&str> = own.filter(|line| root.join(line.trim_start_matches('/')).exists()).collect();
    ensure!(left.is_empty(), "dpkg -r leaves {left:?}");
    ensure!(root.join("project/.tamis").is_dir(), "dpkg -r removed the index of a project");
    Ok(Tested::On(format!("clean Debian {release} (chroot): dpkg -i, index, search, dpkg -r")))
}

/// Returns the root directory of a clean Debian of this machine's release, made on the first call.
fn base(project: &Project) -> Result<(PathBuf, String)> {
    let text = fs::read_to_string("/etc/os-release").context("/etc/os-release cannot be read")?;
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let release = name.context("/etc/os-release names no release of Debian")?.trim_matches('"').to_owned();
    let directory = project.work("debian")?.join(&release);
    if !directory.is_dir() {
        let making = directory.with_extension("making");
        if making.is_dir() {
            fs::remove_dir_all(&making)?;
        }
        eprintln!("$ debootstrap --variant=minbase {release}   # into {}", directory.display());
        quietly(Command::new("debootstrap").args(["--variant=minbase", &release]).arg(&making))?;
        fs::rename(&making, &directory)?;
    }
    Ok((directory, release))
}
