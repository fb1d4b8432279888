//! `cargo xtask questions`: measures searches on lists of questions with known answers.
//!
//! The program is the package `tamis-questions`, so that `xtask` itself does not depend on the library. It runs in release mode, since
//! it embeds whole trees.

use crate::run::cargo;
use anyhow::Result;

/// Builds the program and runs it with these arguments.
///
/// # Errors
/// It cannot be built, or fails.
pub fn run(arguments: &[String]) -> Result<()> {
    let mut command = vec!["run", "--release", "--quiet", "--package", "tamis-questions", "--"];
    command.extend(arguments.iter().map(String::as_str));
    cargo(&command)
}

/// Fits the models of relevance with these arguments, by the same program.
///
/// # Errors
/// As [`run`].
pub fn fit(arguments: &[String]) -> Result<()> {
    let all: Vec<String> = std::iter::once("fit".to_owned()).chain(arguments.iter().cloned()).collect();
    run(&all)
}
