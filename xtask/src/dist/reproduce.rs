//! Builds the same commit at two paths and compares the bytes.

use super::archive;
use super::checksums::sha256;
use super::compile::compile;
use super::options::Options;
use super::project::{Project, export, uncommitted};
use anyhow::{Result, bail, ensure};
use std::fs;

/// Builds and compares, and prints a line for each file.
///
/// # Errors
/// The checkout differs from its commit, a build fails, or two files differ.
pub fn run(project: &Project, options: &Options) -> Result<()> {
    let changed = uncommitted()?;
    ensure!(changed.is_empty(), "these files differ from the commit; commit them first:\n{changed}");
    let second = project.work("second-checkout")?;
    for entry in fs::read_dir(&second)? {
        let entry = entry?;
        // What was compiled from the dependencies stays, since it takes longest.
        match (entry.file_name() == "target", entry.file_type()?.is_dir()) {
            (true, _) => {}
            (_, true) => fs::remove_dir_all(entry.path())?,
            (_, false) => fs::remove_file(entry.path())?,
        }
    }
    export(&second)?;
    let mut different = Vec::new();
    for target in options.targets() {
        let programs = [
            compile(project, &project.root, &project.target_directory, target, options.profile())?,
            compile(project, &second, &second.join("target"), target, options.profile())?,
        ];
        let archives = ["first.tar.gz", "second.tar.gz"].map(|name| second.join("target").join(name));
        for (program, archive) in programs.iter().zip(&archives) {
            let directory = archive::lay_out(project, target, program, None)?;
            archive::pack(&directory, archive, project.time)?;
        }
        for (what, [first, second]) in [("program", &programs), ("archive", &archives)] {
            let (one, other) = (sha256(first)?, sha256(second)?);
            let verdict = if one == other { "the same bytes" } else { "DIFFERENT" };
            println!(
                "{} {what}: {verdict}\n  {one}  {}\n  {other}  {}",
                target.triple,
                first.display(),
                second.display()
            );
            if one != other {
                different.push(format!("{} {what}", target.triple));
            }
        }
    }
    match different.is_empty() {
        true => Ok(()),
        false => bail!("two builds of {} differ in {}", project.commit, different.join(", ")),
    }
}
