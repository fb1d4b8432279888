//! `cargo xtask references`: makes fixtures with independent implementations, for tests to compare this project's own with.

use crate::run::{program, root};
use anyhow::Result;

/// Each script, and the fixture it writes.
const REFERENCES: [(&str, &str); 5] = [
    ("lab/references/kneedle.py", "crates/cut/tests/fixtures/kneedle.json"),
    ("lab/references/otsu.py", "crates/cut/tests/fixtures/otsu.json"),
    ("lab/references/conformal.py", "crates/cut/tests/fixtures/conformal.json"),
    ("lab/references/tiny_models.py", "crates/tamis/tests/library/fixtures/tiny_models.json"),
    ("lab/references/trec.py", "crates/eval/tests/fixtures/trec.json"),
];

/// Makes a virtual environment with the pinned packages and runs every script.
pub fn run() -> Result<()> {
    let environment = root().join("target/references");
    let environment = environment.to_string_lossy();
    program("python3", &["-m", "venv", &environment])?;
    let python = format!("{environment}/bin/python");
    program(&python, &["-m", "pip", "install", "--quiet", "--requirement", "lab/references/requirements.txt"])?;
    for (script, fixture) in REFERENCES {
        program(&python, &[script, fixture])?;
    }
    Ok(())
}
