//! The cargo commands that make parts of a release, installed into `target/tools`.

use super::project::Project;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A command of the registry.
#[derive(Debug)]
pub struct Tool {
    name: &'static str,
    version: &'static str,
    features: &'static [&'static str],
}

/// Makes Debian packages.
pub const DEB: Tool = Tool { name: "cargo-deb", version: "3.8.0", features: &[] };
/// Collects licence texts.
pub const ABOUT: Tool = Tool { name: "cargo-about", version: "0.9.3", features: &["cli"] };
/// Writes bills of materials.
pub const CYCLONEDX: Tool = Tool { name: "cargo-cyclonedx", version: "0.5.9", features: &[] };

impl Tool {
    /// Prepares a command with this tool, which is installed if missing.
    ///
    /// # Errors
    /// It cannot be installed.
    pub fn command(&self, project: &Project) -> Result<Command> {
        let directory = project.target_directory.join("tools");
        if !self.is_in(&directory) {
            self.install(&directory)?;
        }
        let mut command = Command::new(directory.join("bin").join(self.name));
        // What cargo set for this program would tell the tool that it works on this program's package.
        crate::run::as_by_hand(&mut command).current_dir(&project.root);
        Ok(command)
    }

    fn is_in(&self, directory: &Path) -> bool {
        let list = fs::read_to_string(directory.join(".crates.toml")).unwrap_or_default();
        list.contains(&format!("\"{} {} ", self.name, self.version))
    }

    fn install(&self, directory: &Path) -> Result<()> {
        eprintln!("$ cargo install {}@{}   # into target/tools", self.name, self.version);
        let mut command = Command::new(crate::run::cargo_itself());
        crate::run::as_by_hand(&mut command);
        // In a build directory of its own, which goes away. Code that is linked once gains nothing from cargo's slowest settings.
        command.env_remove("CARGO_TARGET_DIR").env("CARGO_PROFILE_RELEASE_LTO", "off");
        command.args(["install", "--quiet", "--locked", "--root"]).arg(directory);
        command.arg(format!("{}@{}", self.name, self.version));
        if !self.features.is_empty() {
            command.arg("--features").arg(self.features.join(","));
        }
        let status = command.status().context("cargo cannot be started")?;
        ensure!(status.success(), "cargo install {}@{} failed; it needs the registry", self.name, self.version);
        Ok(())
    }
}

/// Runs a command whose output only matters if it fails.
///
/// # Errors
/// It cannot be started, or it fails.
pub fn quietly(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{name} cannot be started"))?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    ensure!(output.status.success(), "{name} {}: {}\n{out}{err}", arguments.join(" "), output.status);
    Ok(out.into_owned())
}

/// Returns true if a program of the system is there.
pub fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
