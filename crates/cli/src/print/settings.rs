//! Settings in effect, as TOML that could be saved.

use super::text::{label, visible};
use owo_colors::OwoColorize;
use std::io::{self, Write};
use tamis::config::{Allowed, Key, Setting};

/// The settings of these keys, by table, each with where it came from. `verbose` adds what a key means and allows.
///
/// # Errors
/// `out` cannot be written.
pub fn settings(out: &mut dyn Write, entries: &[(Key, Setting)], verbose: bool) -> io::Result<()> {
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
