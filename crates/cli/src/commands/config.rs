//! `tamis config`: the settings in effect and their origins.

use crate::command_line::Global;
use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::text::{label, visible};
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use owo_colors::OwoColorize;
use serde::Serialize;
use std::io::{self, Write};
use tamis::config::{Allowed, Config, Key, Setting, Value};

/// Flags of `tamis config`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis config                        every setting, as TOML, with its origin
  tamis config search                 one table
  tamis config search.cut --origin    one value with its origin
  tamis config --verbose              every setting, with its meaning and what it allows

The files are .tamis/config.toml in the root, then config.toml in $TAMIS_CONFIG_HOME or in your configuration \
directory (Linux: ~/.config/tamis, macOS: ~/Library/Application Support/tamis, Windows: %APPDATA%\\tamis). \
An environment variable sets a key too: TAMIS_SEARCH_TOP_K sets search.top_k.")]
pub struct ConfigArguments {
    /// Key, or table of keys
    #[arg(value_name = "KEY")]
    pub key: Option<String>,
    /// With a KEY, print where its value comes from too
    #[arg(long)]
    pub origin: bool,
    /// Print values, origins, meanings and allowed values as JSON
    #[arg(long)]
    pub json: bool,
}

/// Prints settings; needs no index.
///
/// # Errors
/// A setting is not allowed, or the key is unknown.
pub fn run(arguments: &ConfigArguments, global: &Global, output: &Output) -> Result<Exit> {
    let config = Session::start(global, Vec::new())?.config()?;
    let wanted = arguments.key.as_deref().unwrap_or_default();
    let entries = entries(&config, wanted)?;
    if arguments.json {
        print_json(&config, &entries, wanted, output)?;
        return Ok(Exit::Found);
    }
    let mut out = output.paged();
    match entries.as_slice() {
        [(key, setting)] if key.name == wanted => match &setting.value {
            value if arguments.origin => writeln!(out, "{}", visible(&format!("{value}  # {}", setting.source)))?,
            // A script takes the text without quotes.
            Value::Text(text) => writeln!(out, "{}", visible(text))?,
            value => writeln!(out, "{}", visible(&value.to_string()))?,
        },
        entries => {
            settings(&mut out, entries, output.verbose())?;
            calibrated(&mut out, &config, wanted)?;
            models(&mut out, &config, wanted)?;
        }
    }
    out.flush()?;
    Ok(Exit::Found)
}

/// The key or the table of keys of this name; all keys for an empty name.
fn entries(config: &Config, wanted: &str) -> Result<Vec<(Key, Setting)>> {
    let within = |name: &str| {
        wanted.is_empty() || name == wanted || name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
    };
    let known = config.keys();
    let found: Vec<(Key, Setting)> = known
        .iter()
        .filter(|key| within(&key.name))
        .filter_map(|key| Some((key.clone(), config.settings.get(&key.name)?.clone())))
        .collect();
    if found.is_empty() && !["models", CALIBRATED].contains(&wanted) {
        let nearest = known
            .iter()
            .map(|key| (strsim::normalized_damerau_levenshtein(wanted, &key.name), &key.name))
            .filter(|(similarity, _)| *similarity >= 0.5)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        match nearest {
            Some((_, name)) => bail!("{wanted}: no such key; did you mean {name}?"),
            None => bail!("{wanted}: no such key; `tamis config` lists them all"),
        }
    }
    Ok(found)
}

/// The thresholds that `tamis calibrate` wrote: one table, which only it sets.
fn calibrated(out: &mut dyn Page, config: &Config, wanted: &str) -> Result<()> {
    let Some(calibrated) = config.thresholds.calibrated.as_ref().filter(|_| shows_calibrated(wanted)) else {
        return Ok(());
    };
    writeln!(out, "\n[{CALIBRATED}]  # {}", label(&calibrated.source.to_string()))?;
    if let serde_json::Value::Object(fields) = serde_json::to_value(calibrated)? {
        for (field, value) in fields {
            writeln!(out, "{field} = {}", visible(&value.to_string()))?;
        }
    }
    Ok(())
}

/// The table that `tamis calibrate` writes.
const CALIBRATED: &str = "search.calibrated";

fn shows_calibrated(wanted: &str) -> bool {
    ["", "search", CALIBRATED].contains(&wanted)
}

/// The models that files define; they are not among the keys.
fn models(out: &mut dyn Page, config: &Config, wanted: &str) -> Result<()> {
    if !["", "models"].contains(&wanted) {
        return Ok(());
    }
    for (name, definition) in &config.models {
        writeln!(out, "\n[models.{}]  # {}", label(name), label(&definition.source.to_string()))?;
        if let serde_json::Value::Object(fields) = serde_json::to_value(&definition.provider)? {
            for (field, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                writeln!(out, "{field} = {}", visible(&value.to_string()))?;
            }
        }
    }
    Ok(())
}

/// One setting for programs.
#[derive(Serialize)]
struct Entry<'a> {
    value: &'a Value,
    source: String,
    default: &'a Value,
    allowed: String,
    variable: String,
    about: &'a str,
}

fn print_json(config: &Config, entries: &[(Key, Setting)], wanted: &str, output: &Output) -> Result<()> {
    let mut object = serde_json::Map::new();
    for (key, setting) in entries {
        let entry = Entry {
            value: &setting.value,
            source: setting.source.to_string(),
            default: &key.default,
            allowed: key.allowed.to_string(),
            variable: key.variable(),
            about: &key.doc,
        };
        object.insert(key.name.clone(), serde_json::to_value(entry)?);
    }
    if let Some(calibrated) = config.thresholds.calibrated.as_ref().filter(|_| shows_calibrated(wanted)) {
        object.insert(CALIBRATED.to_owned(), serde_json::to_value(calibrated)?);
    }
    if ["", "models"].contains(&wanted) {
        for (name, definition) in &config.models {
            object.insert(format!("models.{name}"), serde_json::to_value(definition)?);
        }
    }
    output.json(&object)
}

/// Writes the settings of these keys by table, each with its origin. `verbose` adds the meaning of a key and what it allows.
fn settings(out: &mut dyn Page, entries: &[(Key, Setting)], verbose: bool) -> io::Result<()> {
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
