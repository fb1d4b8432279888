//! Builds the program so that its bytes depend on the sources alone.
//!
//! Paths of this machine would get into messages of panics, so the compilers write others in their place. The commit is given,
//! since an exported tree has no git to ask.

use super::project::Project;
use super::target::Target;
use crate::run::{as_by_hand, cargo_itself};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the program of a checkout into a directory and returns its path.
///
/// # Errors
/// The build fails.
pub fn compile(project: &Project, root: &Path, into: &Path, target: &Target, profile: &str) -> Result<PathBuf> {
    eprintln!(
        "$ cargo build --profile {profile} --target {} --package tamis-cli   # in {}",
        target.triple,
        root.display()
    );
    let mut command = Command::new(cargo_itself());
    as_by_hand(&mut command).current_dir(root);
    let paths = replacements(root, into)?;
    let flags: Vec<String> = paths.iter().map(|(path, name)| format!("--remap-path-prefix={path}={name}")).collect();
    let mut flags = flags;
    if target.is_windows() {
        // The program then needs no redistributable runtime.
        flags.extend(["-Ctarget-feature=+crt-static".to_owned(), "-Clink-arg=/Brepro".to_owned()]);
    } else {
        let flags: Vec<String> = paths.iter().map(|(path, name)| format!("-ffile-prefix-map={path}={name}")).collect();
        command.env("CFLAGS", flags.join(" "));
    }
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    command.env("CARGO_INCREMENTAL", "0").env("CARGO_TARGET_DIR", into);
    command.env("TAMIS_COMMIT", &project.commit).env("SOURCE_DATE_EPOCH", project.time.to_string());
    command.args(["build", "--locked", "--profile", profile, "--target", target.triple]);
    command.args(["--package", "tamis-cli", "--bin", "tamis"]);
    let status = command.status().context("cargo cannot be started")?;
    ensure!(status.success(), "the build for {} failed: {status}", target.triple);
    let directory = if profile == "dev" { "debug" } else { profile };
    Ok(into.join(target.triple).join(directory).join(target.program()))
}

/// Returns the paths of this machine with the names that stand for them. Of several that fit, the compilers take the last.
fn replacements(root: &Path, into: &Path) -> Result<[(String, &'static str); 3]> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let user = || Some(std::env::home_dir()?.join(".cargo"));
    let home = home.or_else(user).context("cargo's home directory is unknown; set CARGO_HOME")?;
    let text = |path: &Path| path.to_str().map(str::to_owned).with_context(|| format!("{path:?} is no Unicode"));
    Ok([(text(root)?, "/tamis"), (text(&home)?, "/cargo"), (text(into)?, "/target")])
}
