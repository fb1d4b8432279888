//! The command line.

use super::target::{self, Target};
use anyhow::{Context, Result, bail, ensure};
use std::path::PathBuf;

/// The flags of the command, for its help.
pub const FLAGS: &str = "\
cargo xtask dist [--target TRIPLE]… [--skip PART]… [--profile NAME] [--binary TRIPLE=FILE]… [--repository URL] [--no-checks]
cargo xtask dist --collect [--skip PART]… [--repository URL] [--no-checks]
cargo xtask dist --reproduce [--target TRIPLE]… [--profile NAME]

Builds the program and makes the files of a release in target/dist: an archive for each target, a Debian package, npm packages, a
Homebrew formula, the installer script, SBOMs, the licences of what is linked in, and SHA256SUMS. Then it installs each as a user
would, in a clean directory or root, indexes and searches a small project, removes it again, and prints a table.

  --target TRIPLE       build for TRIPLE (default: what this machine can build)
  --skip PART           leave out sbom, deb, npm, homebrew or installer; with licences, take those of the last run, if any
  --profile NAME        cargo's profile (default: release); dev is faster to build, for trying this command
  --binary TRIPLE=FILE  use this program instead of building one
  --repository URL      the address in packages and scripts (default: `repository` in Cargo.toml)
  --no-checks           make the files and test none of them
  --collect             build nothing: make the other files from the archives, and take the Debian packages, that target/dist holds
  --reproduce           build the commit twice, at two paths, and compare the programs and archives byte by byte

It installs cargo-about, cargo-cyclonedx and cargo-deb into target/tools. Programs that it does not find (npm, ruby, shellcheck,
debootstrap) leave a check out, and the table says so.
";

/// A part that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The licences of what is linked in.
    Licences,
    /// The bill of materials of each target.
    Sbom,
    /// The Debian package.
    Deb,
    /// The npm packages.
    Npm,
    /// The Homebrew formula.
    Homebrew,
    /// The installer script.
    Installer,
}

const PARTS: [(&str, Part); 6] = [
    ("licences", Part::Licences),
    ("sbom", Part::Sbom),
    ("deb", Part::Deb),
    ("npm", Part::Npm),
    ("homebrew", Part::Homebrew),
    ("installer", Part::Installer),
];

/// What to do.
#[derive(Debug, Default, PartialEq)]
pub struct Options {
    /// The targets asked for; empty: what this machine can build.
    pub targets: Vec<&'static Target>,
    /// The parts to leave out.
    pub skipped: Vec<Part>,
    /// Cargo's profile.
    pub profile: Option<String>,
    /// Programs that are there.
    pub binaries: Vec<(&'static Target, PathBuf)>,
    /// The address of the repository.
    pub repository: Option<String>,
    /// Tests nothing.
    pub unchecked: bool,
    /// Builds nothing.
    pub collect: bool,
    /// Builds twice and compares.
    pub reproduce: bool,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// A flag is unknown, a value is missing or not allowed, or two flags contradict each other.
    pub fn read(arguments: &[String]) -> Result<Options> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{flag} needs a value\n\n{FLAGS}"));
            match flag.as_str() {
                "--target" => options.targets.push(target::named(value()?)?),
                "--skip" => options.skipped.push(part(value()?)?),
                "--profile" => options.profile = Some(value()?.clone()),
                "--binary" => options.binaries.push(binary(value()?)?),
                "--repository" => options.repository = Some(address(value()?)?),
                "--no-checks" => options.unchecked = true,
                "--collect" => options.collect = true,
                "--reproduce" => options.reproduce = true,
                other => bail!("{other}: unknown flag\n\n{FLAGS}"),
            }
        }
        let builds = !options.targets.is_empty() || options.profile.is_some() || !options.binaries.is_empty();
        ensure!(
            !options.collect || !builds,
            "--collect builds nothing, so it takes no --target, --profile or --binary"
        );
        let makes = options.collect || !options.skipped.is_empty() || !options.binaries.is_empty();
        ensure!(!options.reproduce || !makes, "--reproduce takes only --target and --profile");
        Ok(options)
    }

    /// Returns true unless a part is left out.
    pub fn makes(&self, part: Part) -> bool {
        !self.skipped.contains(&part)
    }

    /// Returns cargo's profile.
    pub fn profile(&self) -> &str {
        self.profile.as_deref().unwrap_or("release")
    }

    /// Returns the targets to build for.
    pub fn targets(&self) -> Vec<&'static Target> {
        match (self.targets.as_slice(), self.binaries.as_slice()) {
            ([], []) => target::buildable(),
            ([], binaries) => binaries.iter().map(|(target, _)| *target).collect(),
            (targets, _) => targets.to_vec(),
        }
    }
}

fn part(name: &str) -> Result<Part> {
    let found = PARTS.iter().find(|(known, _)| *known == name);
    let names = || PARTS.map(|(name, _)| name).join(", ");
    found.map(|(_, part)| *part).with_context(|| format!("--skip {name}: expected one of {}", names()))
}

fn binary(text: &str) -> Result<(&'static Target, PathBuf)> {
    let (triple, file) = text.split_once('=').with_context(|| format!("--binary {text}: expected TRIPLE=FILE"))?;
    let file = PathBuf::from(file);
    ensure!(file.is_file(), "--binary {text}: there is no such file");
    Ok((target::named(triple)?, file))
}

fn address(text: &str) -> Result<String> {
    ensure!(text.starts_with("https://"), "--repository {text}: expected an address with https://");
    Ok(text.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options> {
        Options::read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read_and_wrong_ones_refused() {
        let options = read("--target aarch64-apple-darwin --skip npm --skip sbom --profile dev").expect("flags");
        assert_eq!(options.targets()[0].triple, "aarch64-apple-darwin");
        assert_eq!((options.profile(), options.makes(Part::Npm), options.makes(Part::Deb)), ("dev", false, true));
        assert_eq!(
            read("--repository https://example.org/t/").expect("flags").repository.as_deref(),
            Some("https://example.org/t")
        );
        for wrong in [
            "--target",
            "--target z80",
            "--skip all",
            "--binary x86_64-unknown-linux-musl",
            "--binary x86_64-unknown-linux-musl=/no/such/file",
            "--repository ftp://x",
            "--collect --profile dev",
            "--reproduce --skip npm",
            "-v",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_help_names_every_part() {
        for (name, _) in PARTS {
            assert!(FLAGS.contains(name), "{name}");
        }
    }
}
