//! Gives the program the facts of its own build that `tamis version` prints: the target and the commit.
//!
//! The commit is the first of these that there is: the variable `TAMIS_COMMIT`, the record that cargo puts into a published package,
//! and, for an optimised build, the commit that is checked out. Other builds do not ask git, since each commit would rebuild them.
//! A commit only depends on the sources, so two builds of the same sources stay the same.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=TAMIS_COMMIT");
    // Not named TAMIS_…: cargo gives these to the tests and to `cargo run` too, where that prefix means a setting.
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    println!("cargo:rustc-env=BUILD_TARGET={}", variable("TARGET"));
    let named = Some(variable("TAMIS_COMMIT")).filter(|text| !text.is_empty());
    let checked_out = || if variable("PROFILE") == "release" { checked_out() } else { None };
    if let Some(commit) = named.or_else(published).or_else(checked_out) {
        let is_commit = |text: &str| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(is_commit(&commit), "TAMIS_COMMIT = {commit:?}: must be a full commit hash, of 40 hexadecimal digits");
        println!("cargo:rustc-env=BUILD_COMMIT={commit}");
    }
}

/// Reads the commit that cargo recorded in a package of the registry.
fn published() -> Option<String> {
    let record = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = record.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

/// Asks git for the commit of the checkout that this package is in.
fn checked_out() -> Option<String> {
    Path::new("../../.git").exists().then_some(())?;
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    // HEAD changes with the branch, the log with every commit.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]).filter(|path| Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "HEAD"])
}
