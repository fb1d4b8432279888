//! `cargo xtask dist`: the files of a release, each tested in a clean place.
//!
//! The program is compiled for each target and packed into an archive. The other files are made from the archives, so that a release
//! can collect those of several machines. At the end each file is installed as a user would, tried on a small project and removed.

mod archive;
mod check;
mod checksums;
mod compile;
mod linked;
mod options;
mod packages;
mod project;
mod reproduce;
mod table;
mod target;
mod template;
mod tools;

use anyhow::{Context, Result};
use options::{FLAGS, Options, Part};
use packages::Unpacked;
use project::Project;
use std::fs;
use std::path::PathBuf;
use table::{Artefact, Tested};
use target::Target;

/// Makes and tests the files, and prints the table.
///
/// # Errors
/// A file cannot be made, or does not pass its test.
pub fn run(arguments: &[String]) -> Result<()> {
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        print!("{FLAGS}");
        return Ok(());
    }
    let options = Options::read(arguments)?;
    let project = Project::read(&options)?;
    if options.reproduce {
        return reproduce::run(&project, &options);
    }
    let made = make(&project, &options)?;
    let mut artefacts = Vec::new();
    for (path, kind) in &made.files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let tested = match options.unchecked {
            true => Tested::NotHere("--no-checks".into()),
            false => {
                eprintln!("testing {name}");
                check(&project, &made, path, kind).with_context(|| format!("{name} does not pass its test"))?
            }
        };
        artefacts.push(Artefact { path: path.clone(), tested });
    }
    println!("tamis {} at {}, in {}\n", project.version, project.commit, project.out().display());
    print!("{}", table::table(&artefacts)?);
    if !project.has_repository() {
        println!(
            "\nCargo.toml names no `repository`, so {} stands for its address in these files;",
            project.repository
        );
        println!("give it with --repository URL before anything is published");
    }
    let changed = project::uncommitted()?;
    if !changed.is_empty() {
        println!("\nthese files differ from the commit, so this is no release:\n{changed}");
    }
    Ok(())
}

/// The kind of a finished file.
#[derive(Debug)]
enum Kind {
    Archive(&'static Target),
    Sbom(&'static Target),
    Licences,
    Debian(&'static Target),
    /// The package with the program for a target, or the one with the command.
    Npm(Option<&'static Target>),
    Homebrew,
    Installer,
    Checksums,
}

/// Everything that was made.
struct Made {
    archives: Vec<Unpacked>,
    files: Vec<(PathBuf, Kind)>,
}

/// Makes the files that are not left out.
fn make(project: &Project, options: &Options) -> Result<Made> {
    let out = project.out();
    let mut files = Vec::new();
    let archives = if options.collect {
        packages::collected(project)?
    } else {
        if out.is_dir() {
            fs::remove_dir_all(&out).with_context(|| format!("{} cannot be emptied", out.display()))?;
        }
        fs::create_dir_all(&out)?;
        build(project, options, &mut files)?
    };
    if options.collect {
        files.extend(archives.iter().map(|one| (one.archive.clone(), Kind::Archive(one.target))));
    }
    if options.makes(Part::Sbom) {
        for one in &archives {
            let path = out.join(format!("{}.cdx.json", one.target.archive(&project.version)));
            linked::write_sbom(project, one.target, &path)?;
            files.push((path, Kind::Sbom(one.target)));
        }
    }
    if options.makes(Part::Deb) {
        for one in archives.iter().filter(|one| one.target.debian) {
            let there = packages::debian_in_out(project, one.target)?;
            let path = there.map_or_else(|| packages::debian(project, one), Ok)?;
            files.push((path, Kind::Debian(one.target)));
        }
    }
    if options.makes(Part::Npm) {
        let targets = archives.iter().map(|one| Some(one.target)).chain([None]);
        files.extend(packages::npm(project, &archives)?.into_iter().zip(targets.map(Kind::Npm)));
    }
    if options.makes(Part::Homebrew) {
        files.push((packages::homebrew(project, &archives)?, Kind::Homebrew));
    }
    if options.makes(Part::Installer) {
        files.push((packages::installer(project)?, Kind::Installer));
    }
    let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
    files.push((checksums::write(&out, &paths)?, Kind::Checksums));
    Ok(Made { archives, files })
}

/// Builds the programs and packs them.
fn build(project: &Project, options: &Options, files: &mut Vec<(PathBuf, Kind)>) -> Result<Vec<Unpacked>> {
    let targets = options.targets();
    let mut programs = Vec::new();
    for &target in &targets {
        let given = options.binaries.iter().find(|(of, _)| *of == target);
        programs.push(match given {
            Some((_, file)) => file.clone(),
            None => compile::compile(project, &project.root, &project.target_directory, target, options.profile())?,
        });
    }
    let licences = project.out().join(archive::LICENCES);
    let earlier = project.work("licences")?.join(archive::LICENCES);
    if options.makes(Part::Licences) {
        linked::write_licences(project, &targets, &earlier)?;
    }
    if earlier.is_file() {
        fs::copy(&earlier, &licences)?;
        files.push((licences.clone(), Kind::Licences));
    }
    let mut archives = Vec::new();
    for (target, program) in targets.into_iter().zip(programs) {
        let directory =
            archive::lay_out(project, target, &program, Some(licences.as_path()).filter(|path| path.is_file()))?;
        let path = project.out().join(format!("{}.tar.gz", target.archive(&project.version)));
        eprintln!("packing {}", path.display());
        archive::pack(&directory, &path, project.time)?;
        files.push((path.clone(), Kind::Archive(target)));
        archives.push(Unpacked { target, directory, archive: path });
    }
    Ok(archives)
}

/// Tests a file.
fn check(project: &Project, made: &Made, path: &std::path::Path, kind: &Kind) -> Result<Tested> {
    let targets: Vec<&Target> = made.archives.iter().map(|one| one.target).collect();
    match kind {
        Kind::Archive(target) => check::archive::check(project, target, path),
        Kind::Sbom(target) => Ok(Tested::On(linked::check_sbom(path, target)?)),
        Kind::Licences => Ok(Tested::On(linked::check_licences(path, &targets)?)),
        Kind::Debian(target) => check::debian::check(project, target, path),
        Kind::Npm(None) => {
            let packages = made.files.iter().filter(|(_, kind)| matches!(kind, Kind::Npm(_)));
            let packages: Vec<PathBuf> = packages.map(|(path, _)| path.clone()).collect();
            check::npm::check(project, &packages)
        }
        Kind::Npm(Some(target)) if target.runs_here() => Ok(Tested::On("with the package tamis".into())),
        Kind::Npm(Some(target)) => Ok(Tested::NotHere(format!("npm installs it only on {}", target.npm.words()))),
        Kind::Homebrew => check::formula(path),
        Kind::Installer => check::installer::check(project, path, &made.archives),
        Kind::Checksums => {
            let has_installer = made.files.iter().any(|(_, kind)| matches!(kind, Kind::Installer));
            Ok(match has_installer {
                true => Tested::On("by install.sh".into()),
                false => Tested::NotHere("install.sh, which reads it, is left out".into()),
            })
        }
    }
}
