//! `cargo xtask distill`: makes the files of the built-in models.
//!
//! Both recipes are examples of the crate that embeds the files. They compute for minutes, so they run in release mode.

use anyhow::{Result, bail};

use crate::run::cargo;

const USAGE: &str = "\
cargo xtask distill minilm CHECKPOINT                  make the transformer from the published model.safetensors
cargo xtask distill judge WEIGHTS                      make the judge from what `tools/judge` trained
cargo xtask distill static --output TABLE --cache DIRECTORY CORPUS...
                                                       make the token table from the transformer and unlabelled text
tools/models/README.md names the sources of checkpoint and corpus.
";

/// Runs the recipe named by the first argument with the rest of them.
///
/// # Errors
/// The recipe is unknown or fails.
pub fn run(arguments: &[String]) -> Result<()> {
    let (example, rest) = match arguments.split_first() {
        Some((recipe, rest)) if recipe == "minilm" => ("convert", rest),
        Some((recipe, _)) if recipe == "judge" => ("convert", arguments),
        Some((recipe, rest)) if recipe == "static" => ("distill", rest),
        _ => bail!("{USAGE}"),
    };
    let mut command = vec!["run", "--release", "--package", "tamis-embed", "--example", example, "--"];
    command.extend(rest.iter().map(String::as_str));
    cargo(&command)
}
