//! What packagers ask for: completions, manual pages, the schema of the answer.

use crate::args::{ManArguments, description};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::{Context, Result};
use clap_complete::Shell;
use schemars::generate::SchemaSettings;
use std::io::Write;
use tamis::Answer;

/// Prints a completion script.
///
/// # Errors
/// Standard output cannot be written.
pub fn completions(shell: Shell, output: &Output) -> Result<Exit> {
    // The generator panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut description(), "tamis", &mut script);
    let mut out = output.plain();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Found)
}

/// Prints the manual page, or writes one for each command.
///
/// # Errors
/// The directory or standard output cannot be written.
pub fn man(arguments: &ManArguments, output: &Output) -> Result<Exit> {
    match &arguments.directory {
        Some(directory) => {
            let failed = || format!("{}: the manual pages cannot be written", directory.display());
            std::fs::create_dir_all(directory).with_context(failed)?;
            clap_mangen::generate_to(description(), directory).with_context(failed)?;
        }
        None => {
            let mut out = output.plain();
            clap_mangen::Man::new(description()).render(&mut out)?;
            out.flush()?;
        }
    }
    Ok(Exit::Found)
}

/// Prints the JSON Schema of the answer.
///
/// # Errors
/// Standard output cannot be written.
pub fn schema(output: &Output) -> Result<Exit> {
    // The schema of what is written: a field that is always there is required, also where it can be null.
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Answer>();
    let mut out = output.plain();
    serde_json::to_writer_pretty(&mut out, &schema)?;
    writeln!(out)?;
    out.flush()?;
    Ok(Exit::Found)
}
