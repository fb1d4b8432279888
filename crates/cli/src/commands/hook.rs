//! `tamis hook`: lets git hooks keep the index fresh.

use crate::args::{Global, HookAction, HookArguments};
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::label;
use anyhow::Result;
use std::io::Write;
use tamis::hook::{HookReport, HookState, install, lines, remove};

/// Prints the hooks' lines, or adds them to the repository around the working directory, or removes them.
///
/// # Errors
/// There is no repository, its hooks are elsewhere, or a hook cannot be read or written.
pub fn run(arguments: &HookArguments, global: &Global, output: &Output) -> Result<Exit> {
    let report = match &arguments.action {
        HookAction::Print => {
            let mut out = output.plain();
            out.write_all(lines().as_bytes())?;
            out.flush()?;
            return Ok(Exit::Found);
        }
        HookAction::Install(repository) => install(global.start(), repository.git_dir.as_deref())?,
        HookAction::Remove(repository) => remove(global.start(), repository.git_dir.as_deref())?,
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
            HookState::Installed => writeln!(out, "{path}: now brings the index up to date")?,
            HookState::Updated => writeln!(out, "{path}: updated to the lines of this version")?,
            HookState::Unchanged => writeln!(out, "{path}: unchanged")?,
            HookState::Removed => writeln!(out, "{path}: no longer brings the index up to date")?,
            HookState::Refused(reason) => output.warn(&format!("{path}: unchanged: {reason}")),
        }
    }
    out.flush()?;
    if report.refused() {
        output.note(&format!("to add them by hand, these are the lines:\n{}", lines()));
    }
    Ok(())
}
