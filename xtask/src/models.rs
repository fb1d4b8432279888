//! `cargo xtask distill`: makes the files of the built-in models.
//!
//! The recipes are examples of the crate that embeds the files. They compute for minutes, so they run in release mode.

use anyhow::{Result, bail};

use crate::run::cargo;
use crate::static_model;

const USAGE: &str = "\
cargo xtask distill minilm CHECKPOINT                  make the transformer from the published model.safetensors
cargo xtask distill static WORK [FLAG...]              make the token table from the transformer, text and source code
tools/models/README.md names the sources.
";

/// Runs the recipe named by the first argument with the rest of them.
///
/// # Errors
/// The recipe is unknown or fails.
pub fn run(arguments: &[String]) -> Result<()> {
    let (example, rest) = match arguments.split_first() {
        Some((recipe, rest)) if recipe == "minilm" => ("convert", rest),
        Some((recipe, rest)) if recipe == "static" => return static_model::run(rest),
        _ => bail!("{USAGE}"),
    };
    let mut command = vec!["run", "--release", "--package", "tamis-embed", "--example", example, "--"];
    command.extend(rest.iter().map(String::as_str));
    cargo(&command)
}
