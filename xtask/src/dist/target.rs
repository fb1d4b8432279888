//! The targets that a release has programs for.

use anyhow::{Context, Result};
use std::env::consts::{ARCH, OS};
use std::process::Command;

/// A target, with its names in the packages.
#[derive(Debug, PartialEq)]
pub struct Target {
    /// Cargo's name.
    pub triple: &'static str,
    /// The words of npm for it.
    pub npm: Npm,
    /// The blocks of a Homebrew formula that it stands in, if Homebrew uses it.
    pub homebrew: Option<(&'static str, &'static str)>,
    /// True if the Debian package holds its program.
    pub debian: bool,
}

/// A platform as npm names it.
#[derive(Debug, PartialEq)]
pub struct Npm {
    /// `process.platform`.
    pub os: &'static str,
    /// `process.arch`.
    pub cpu: &'static str,
    /// The C library, where that matters.
    pub libc: Option<&'static str>,
}

/// All targets, as the release workflow builds them.
pub const TARGETS: [Target; 7] = [
    target("x86_64-unknown-linux-gnu", npm("linux", "x64", Some("glibc")), Some(("on_linux", "on_intel")), true),
    target("x86_64-unknown-linux-musl", npm("linux", "x64", Some("musl")), None, false),
    target("aarch64-unknown-linux-gnu", npm("linux", "arm64", Some("glibc")), Some(("on_linux", "on_arm")), true),
    target("aarch64-unknown-linux-musl", npm("linux", "arm64", Some("musl")), None, false),
    target("x86_64-apple-darwin", npm("darwin", "x64", None), Some(("on_macos", "on_intel")), false),
    target("aarch64-apple-darwin", npm("darwin", "arm64", None), Some(("on_macos", "on_arm")), false),
    target("x86_64-pc-windows-msvc", npm("win32", "x64", None), None, false),
];

const fn target(
    triple: &'static str,
    npm: Npm,
    homebrew: Option<(&'static str, &'static str)>,
    debian: bool,
) -> Target {
    Target { triple, npm, homebrew, debian }
}

impl Npm {
    /// Returns the platform in words.
    pub fn words(&self) -> String {
        [Some(self.os), Some(self.cpu), self.libc].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

const fn npm(os: &'static str, cpu: &'static str, libc: Option<&'static str>) -> Npm {
    Npm { os, cpu, libc }
}

impl Target {
    /// Returns the file name of the program.
    pub fn program(&self) -> &'static str {
        if self.is_windows() { "tamis.exe" } else { "tamis" }
    }

    /// Returns the name of the archive, without its ending. The directory in the archive has the same.
    pub fn archive(&self, version: &str) -> String {
        format!("tamis-{version}-{}", self.triple)
    }

    /// Returns the name of the npm package with its program.
    pub fn npm_package(&self) -> String {
        let musl = if self.is_musl() { "-musl" } else { "" };
        format!("tamis-{}-{}{musl}", self.npm.os, self.npm.cpu)
    }

    /// Returns true if the program needs no library of the system.
    pub fn is_musl(&self) -> bool {
        self.triple.ends_with("-musl")
    }

    /// Returns true on Windows.
    pub fn is_windows(&self) -> bool {
        self.triple.contains("-windows-")
    }

    /// Returns true if this machine can run the program.
    pub fn runs_here(&self) -> bool {
        let system = if self.triple.contains("-apple-") { "macos" } else { self.npm.os };
        let system = if system == "win32" { "windows" } else { system };
        let has_libc = !self.triple.ends_with("-gnu") || cfg!(target_env = "gnu");
        self.triple.starts_with(ARCH) && system == OS && has_libc
    }
}

/// Returns the target with a name.
///
/// # Errors
/// A release has no such target.
pub fn named(triple: &str) -> Result<&'static Target> {
    let found = TARGETS.iter().find(|target| target.triple == triple);
    let names = || TARGETS.each_ref().map(|target| target.triple).join(", ");
    found.with_context(|| format!("target {triple}: expected one of {}", names()))
}

/// Returns the targets that this machine can build and run: those whose standard library is installed, and for musl a compiler for C.
pub fn buildable() -> Vec<&'static Target> {
    let starts = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let has_library = |triple: &str| {
        let arguments = ["--print", "target-libdir", "--target", triple];
        let output = Command::new("rustc").args(arguments).output();
        output.is_ok_and(|output| std::path::Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
    };
    let here = TARGETS.iter().filter(|target| target.runs_here() && has_library(target.triple));
    here.filter(|target| !target.is_musl() || starts("musl-gcc")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_distinct_and_follow_from_the_triple() {
        let packages: BTreeSet<String> = TARGETS.iter().map(Target::npm_package).collect();
        assert_eq!(packages.len(), TARGETS.len());
        let windows = named("x86_64-pc-windows-msvc").expect("a target");
        assert_eq!((windows.program(), windows.npm_package().as_str()), ("tamis.exe", "tamis-win32-x64"));
        let musl = named("x86_64-unknown-linux-musl").expect("a target");
        assert_eq!(musl.npm_package(), "tamis-linux-x64-musl");
        assert_eq!(musl.archive("1.2.3"), "tamis-1.2.3-x86_64-unknown-linux-musl");
        assert!(named("z80").is_err());
    }

    #[test]
    fn no_program_of_another_processor_or_system_runs_here() {
        let here = TARGETS.iter().filter(|target| target.runs_here());
        assert!(here.clone().all(|target| target.triple.starts_with(ARCH)));
        let systems: BTreeSet<&str> = here.map(|target| target.npm.os).collect();
        assert!(systems.len() <= 1, "{systems:?}");
    }
}
