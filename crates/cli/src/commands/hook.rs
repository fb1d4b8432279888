//! `tamis hook`: git's hooks keep the index fresh.

use crate::args::{Global, HookAction, HookArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::label;
use anyhow::Result;
use std::io::Write;
use tamis::hook::{HookReport, HookState, install, lines, remove};

/// Prints the lines, or puts them into the hooks of the repository around the current directory, or takes them out.
///
/// # Errors
/// There is no repository, its hooks are elsewhere, or one cannot be read or written.
pub fn run(arguments: &HookArguments, global: &Global, output: &Output) -> Result<Exit> {
    let report = match &arguments.action {
        HookAction::Print => {
            let mut out = output.plain();
            out.write_all(lines().as_bytes())?;
            out.flush()?;
            return Ok(Exit::Found);
        }
        HookAction::Install(place) => install(&global.directory, place.git_dir.as_deref())?,
        HookAction::Remove(place) => remove(&global.directory, place.git_dir.as_deref())?,
    };
    print(&report, output)?;
    Ok(Exit::found(!report.refused()))
}

fn print(report: &HookReport, output: &Output) -> Result<()> {
    let mut out = output.plain();
    for (name, state) in &report.hooks {
        let path = report.directory.join(name);
        let path = path.to_string_lossy();
        let path = label(&path);
        match state {
            HookState::Installed => writeln!(out, "{path}: brings the index up to date now")?,
            HookState::Updated => writeln!(out, "{path}: has the lines of this version now")?,
            HookState::Unchanged => writeln!(out, "{path}: as it was")?,
            HookState::Removed => writeln!(out, "{path}: does no more")?,
            HookState::Refused(reason) => output.warn(&format!("{path}: left as it is: {reason}")),
        }
    }
    out.flush()?;
    if report.refused() {
        output.note(&format!("by hand, these are the lines:\n{}", lines()));
    }
    Ok(())
}
