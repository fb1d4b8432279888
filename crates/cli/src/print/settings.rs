//! The settings in effect, as TOML that can be saved.

use super::text::{label, visible};
use crate::page::Page;
use owo_colors::OwoColorize;
use std::io;
use tamis::config::{Allowed, Key, Setting};

/// Writes the settings of these keys by table, each with its origin. `verbose` adds the meaning of a key and what it allows.
///
/// # Errors
/// `out` cannot be written.
pub fn settings(out: &mut dyn Page, entries: &[(Key, Setting)], verbose: bool) -> io::Result<()> {
    let width = entries.iter().map(|(key, setting)| assignment(key, setting).chars().count()).max().unwrap_or(0);
    let width = width.min(40);
    let mut table = None;
    for (key, setting) in entries {
        let (heading, _) = split(&key.name);
        if table != Some(heading) {
            if table.is_some() {
                writeln!(out)?;
            }
            if !heading.is_empty() {
                writeln!(out, "{}", format_args!("[{heading}]").bold())?;
            }
            table = Some(heading);
        }
        if verbose {
            let doc = format!("# {}; {}; {}", key.doc.trim_end_matches('.'), allowed(&key.allowed), key.variable());
            writeln!(out, "{}", doc.dimmed())?;
        }
        let assignment = assignment(key, setting);
        let source = setting.source.to_string();
        writeln!(out, "{assignment:<width$}  {}", format_args!("# {}", label(&source)).dimmed())?;
    }
    Ok(())
}

fn allowed(allowed: &Allowed) -> String {
    allowed.to_string()
}

fn assignment(key: &Key, setting: &Setting) -> String {
    visible(&format!("{} = {}", split(&key.name).1, setting.value)).into_owned()
}

/// The table and the key in it.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}
