//! `tamis completions`, `tamis man` and `tamis schema`: files for shells, packagers and programs.

use crate::args::{ManArguments, SchemaName, description};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::{Context, Result};
use clap_complete::Shell;
use schemars::generate::SchemaSettings;
use std::io::Write;
use std::path::Path;
use tamis::Answer;

/// Prints a completion script.
///
/// # Errors
/// Standard output cannot be written.
pub fn completions(shell: Shell, output: &Output) -> Result<Exit> {
    // The generator panics on a failed write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut description(), "tamis", &mut script);
    let mut out = output.plain();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Found)
}

/// Prints the manual page, or writes the page of each command.
///
/// # Errors
/// The directory or standard output cannot be written.
pub fn man(arguments: &ManArguments, output: &Output) -> Result<Exit> {
    match &arguments.directory {
        Some(directory) => {
            let failed = || format!("{}: the manual pages cannot be written", directory.display());
            std::fs::create_dir_all(directory).with_context(failed)?;
            let mut description = documented();
            description.build();
            write_pages(&description, directory)?;
        }
        None => {
            let mut out = output.plain();
            page(documented()).render(&mut out)?;
            out.flush()?;
        }
    }
    Ok(Exit::Found)
}

/// The description with everything that a page shows. `clap_mangen` leaves out what the short help leaves out.
fn documented() -> clap::Command {
    fn whole(command: clap::Command) -> clap::Command {
        command.mut_args(|argument| argument.hide_short_help(false)).mut_subcommands(whole)
    }
    whole(description()).disable_help_subcommand(true)
}

fn page(command: clap::Command) -> clap_mangen::Man {
    clap_mangen::Man::new(command).source(concat!("tamis ", env!("CARGO_PKG_VERSION")))
}

/// Writes the pages of a command and of those under it, named as `clap_mangen::generate_to` does.
fn write_pages(command: &clap::Command, directory: &Path) -> Result<()> {
    for nested in command.get_subcommands().filter(|nested| !nested.is_hide_set()) {
        write_pages(nested, directory)?;
    }
    let man = page(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok(tamis::file::write_bytes(&directory.join(man.get_filename()), &page)?)
}

/// Prints the JSON Schema of the answer, or the OpenAPI document.
///
/// # Errors
/// Standard output cannot be written.
pub fn schema(name: SchemaName, output: &Output) -> Result<Exit> {
    let mut out = output.plain();
    match name {
        // The schema describes what is written: a field that is always there is required, even if it can be null.
        SchemaName::Answer => {
            let settings = SchemaSettings::draft2020_12().for_serialize();
            serde_json::to_writer_pretty(&mut out, &settings.into_generator().into_root_schema_for::<Answer>())?;
        }
        SchemaName::Openapi => serde_json::to_writer_pretty(&mut out, &tamis_server::openapi())?,
    }
    writeln!(out)?;
    out.flush()?;
    Ok(Exit::Found)
}
