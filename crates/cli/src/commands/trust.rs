//! `tamis trust`: lets a project's configuration send text away and read directories elsewhere.

use crate::args::Global;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::text::label;
use crate::session::Session;
use anyhow::{Context, Result, bail};
use std::io::Write;
use tamis::config::trust;

/// Trusts the project's configuration file as it is now, and lists the addresses it may send text to and the
/// directories it may read.
///
/// # Errors
/// There is no such file, no directory for the user's list, or the configuration is not valid.
pub fn run(global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let file = session.location.config_file();
    if !file.is_file() {
        bail!("{}: no such file, so there is nothing to trust", file.display());
    }
    let Some(user) = &session.user_directory else {
        bail!("there is no directory for the list of trusted files; set TAMIS_CONFIG_HOME");
    };
    trust::trust(user, &file).with_context(|| format!("{} cannot be trusted", file.display()))?;
    let config = session.config()?;
    let root = &session.location.root;
    let mut out = output.styled();
    writeln!(out, "trusted as it is now: {}", label(&file.to_string_lossy()))?;
    for (name, definition) in &config.models {
        if let Some(url) = definition.provider.url() {
            writeln!(out, "  model {} may send text to {}", label(name), label(url))?;
        }
    }
    for directory in config.collections.iter().filter(|directory| !directory.root.starts_with(root)) {
        writeln!(out, "  reads {}", label(&directory.root.to_string_lossy()))?;
    }
    if config.store.url.is_some() {
        let named = config.collections.iter().filter_map(|directory| directory.namespace.as_ref());
        for namespace in config.store.namespace.iter().chain(named) {
            writeln!(out, "  names the namespace {}", label(namespace))?;
        }
    }
    out.flush()?;
    Ok(Exit::Found)
}
