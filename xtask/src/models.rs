//! `cargo xtask distill`: makes the files of the built-in models again.
//!
//! Both recipes are examples of the crate that embeds the files, in release mode since they compute for minutes.

use anyhow::{Result, bail};

use crate::run::cargo;

const USAGE: &str = "\
cargo xtask distill minilm CHECKPOINT                  the transformer, from the published model.safetensors
cargo xtask distill static --output TABLE --cache DIRECTORY CORPUS...
                                                       the token table, from the transformer and unlabelled text
See tools/models/README.md for where checkpoint and corpus come from.
";

/// Runs the recipe named by the first argument with the rest of them.
///
/// # Errors
/// When the recipe is unknown or fails.
pub fn run(arguments: &[String]) -> Result<()> {
    let (example, rest) = match arguments.split_first() {
        Some((recipe, rest)) if recipe == "minilm" => ("convert", rest),
        Some((recipe, rest)) if recipe == "static" => ("distill", rest),
        _ => bail!("{USAGE}"),
    };
    let mut command = vec!["run", "--release", "--package", "tamis-embed", "--example", example, "--"];
    command.extend(rest.iter().map(String::as_str));
    cargo(&command)
}
