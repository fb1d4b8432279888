//! `cargo xtask distill`: makes the files of the built-in models.

mod minilm;
mod table;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask distill minilm CHECKPOINT                  make the transformer from the published model.safetensors
cargo xtask distill static WORK [FLAG...]              make the token table from the transformer, text and source code
lab/models/README.md names the sources.
";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((recipe, rest)) if recipe == "minilm" => minilm::make(rest),
        Some((recipe, rest)) if recipe == "static" => table::make(rest),
        _ => bail!("{USAGE}"),
    }
}
