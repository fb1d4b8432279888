//! The output of `tamis model`.

use super::table::Columns;
use super::text::{bytes, count, label, visible};
use crate::page::Page;
use owo_colors::OwoColorize;
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use tamis::config::ModelEntry;
use tamis::hub::{InstalledModel, ModelKind, ModelRecord};

/// The characters of a commit that are shown.
const SHORT: usize = 10;

/// A model with its names.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// Its names in the configuration.
    pub names: Vec<Named>,
    /// The model.
    #[serde(flatten, serialize_with = "flat")]
    pub model: InstalledModel,
}

/// A name of a model, and the file that gives it.
#[derive(Debug, Serialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The configuration file.
    pub file: PathBuf,
}

/// The form of `tamis model add --json`.
#[derive(Serialize)]
pub struct AddedJson<'a> {
    /// True if the same files were there already.
    pub was_there: bool,
    /// The name in the configuration.
    pub name: &'a str,
    /// The configuration file.
    pub file: &'a Path,
    /// The model.
    #[serde(flatten)]
    pub model: &'a Shown,
}

/// A model that was removed, with the names it had.
pub struct Removed {
    /// Its names in the user's configuration.
    pub names: Vec<String>,
    /// The model.
    pub model: InstalledModel,
}

/// The form of `tamis model remove --json`.
#[derive(Serialize)]
pub struct RemovedJson<'a> {
    model: &'a str,
    revision: &'a str,
    names: &'a [String],
    bytes: u64,
}

impl Removed {
    /// Returns the form for programs.
    pub fn json(&self) -> RemovedJson<'_> {
        let record = &self.model.record;
        RemovedJson { model: &record.model, revision: &record.revision, names: &self.names, bytes: record.bytes() }
    }
}

fn flat<S: serde::Serializer>(model: &InstalledModel, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Flat<'a> {
        directory: &'a Path,
        bytes: u64,
        #[serde(flatten)]
        record: &'a ModelRecord,
    }
    Flat { directory: &model.directory, bytes: model.record.bytes(), record: &model.record }.serialize(serializer)
}

/// Writes the list of models.
///
/// # Errors
/// `out` cannot be written.
pub fn list(out: &mut dyn Page, models: &[Shown]) -> io::Result<()> {
    if models.is_empty() {
        return Ok(());
    }
    let mut table = Columns::new(&["NAME", "MODEL", "REVISION", "USE", ">SIZE", "LICENCE"]);
    for Shown { names, model } in models {
        let record = &model.record;
        let names: Vec<&str> = names.iter().map(|named| named.name.as_str()).collect();
        table.row([
            if names.is_empty() { "-".to_owned() } else { names.join(", ") },
            record.model.clone(),
            short(&record.revision).to_owned(),
            kind(record),
            bytes(record.bytes()),
            record.license.clone().unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table.write(out)
}

/// Writes what is known of a model.
///
/// # Errors
/// `out` cannot be written.
pub fn model(out: &mut dyn Page, shown: &Shown) -> io::Result<()> {
    let record = &shown.model.record;
    writeln!(out, "{} {}", label(&record.model).bold(), short(&record.revision))?;
    about(out, record)?;
    writeln!(out, "  added     {} from {}", record.added.strftime("%Y-%m-%d"), label(&record.hub))?;
    writeln!(out, "  directory {}", label(&shown.model.directory.to_string_lossy()))?;
    for named in &shown.names {
        writeln!(out, "  name      {} in {}", label(&named.name), label(&named.file.to_string_lossy()))?;
    }
    writeln!(out, "  files")?;
    for file in &record.files {
        let sum = file.sha256.get(..SHORT).unwrap_or(&file.sha256);
        writeln!(out, "    {} from {}, {}, SHA-256 {sum}…", label(&file.path), label(&file.source), bytes(file.bytes))?;
    }
    Ok(())
}

/// Writes what was added.
///
/// # Errors
/// `out` cannot be written.
pub fn added(out: &mut dyn Page, shown: &Shown, was_there: bool) -> io::Result<()> {
    let record = &shown.model.record;
    let done = if was_there { "was there already:" } else { "added" };
    writeln!(out, "{done} {} {}", label(&record.model).bold(), short(&record.revision))?;
    about(out, record)
}

fn about(out: &mut dyn Page, record: &ModelRecord) -> io::Result<()> {
    match &record.license {
        Some(license) => writeln!(out, "  licence   {}", visible(license))?,
        None => writeln!(out, "  licence   not given; look at the model's page before you use it")?,
    }
    writeln!(out, "  size      {}, every file checked against its sum", bytes(record.bytes()))?;
    if record.kind == ModelKind::Reranker {
        return writeln!(out, "  use       reranker");
    }
    let dimension =
        record.dimension.map_or_else(String::new, |dimension| format!("{} dimensions", count(dimension as u64)));
    let tokens = match record.max_tokens {
        Some(tokens) => format!("reads {} tokens of a text", count(tokens as u64)),
        None => "reads whole texts".to_owned(),
    };
    writeln!(out, "  vectors   {dimension}; {tokens}")?;
    let from =
        |origin: &Option<String>| origin.as_ref().map(|origin| format!(" ({})", visible(origin))).unwrap_or_default();
    if let Some(pooling) = &record.settings.pooling {
        writeln!(out, "  pooling   {}{}", visible(pooling), from(&record.pooling_from))?;
    }
    let [query, passage] = [&record.settings.query_prefix, &record.settings.passage_prefix]
        .map(|prefix| prefix.as_deref().unwrap_or_default());
    match (query, passage) {
        ("", "") => writeln!(out, "  prefixes  none{}", from(&record.prefixes_from)),
        _ => {
            let quoted = |prefix: &str| visible(&format!("{prefix:?}")).into_owned();
            writeln!(
                out,
                "  prefixes  query {}, passage {}{}",
                quoted(query),
                quoted(passage),
                from(&record.prefixes_from)
            )
        }
    }
}

/// Writes the lines of the configuration that name a model, and those that would use it.
///
/// # Errors
/// `out` cannot be written.
pub fn configuration(out: &mut dyn Page, entry: &ModelEntry, file: &Path, written: bool, used: bool) -> io::Result<()> {
    let file = file.to_string_lossy();
    let file = label(&file);
    let has = if written { "now has" } else { "already has" };
    let key = |name: &str| match name
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || "_-".contains(character))
    {
        true => name.to_owned(),
        false => format!("{name:?}"),
    };
    writeln!(out, "{file} {has}")?;
    writeln!(out, "  [models.{}]", visible(&key(&entry.name)))?;
    let (table, line) = match entry.reranker {
        true => ("rerank", format!("model = {:?}", entry.name)),
        false => ("index", format!("models = [\"static\", {:?}]", entry.name)),
    };
    match (used, entry.reranker) {
        (true, true) => writeln!(out, "  and uses it as rerank.model"),
        (true, false) => writeln!(out, "  and uses it in index.models"),
        (false, _) => {
            writeln!(
                out,
                "To use it, run this again with --use, or write into that file or a project's .tamis/config.toml"
            )?;
            writeln!(out, "  [{table}]\n  {}", visible(&line))
        }
    }
}

/// Writes what was removed.
///
/// # Errors
/// `out` cannot be written.
pub fn removed(out: &mut dyn Page, gone: &[Removed]) -> io::Result<()> {
    for Removed { names, model } in gone {
        let record = &model.record;
        write!(out, "removed {} {}, {}", label(&record.model), short(&record.revision), bytes(record.bytes()))?;
        match names.is_empty() {
            true => writeln!(out)?,
            false => writeln!(out, ", and its name {}", visible(&names.join(", ")))?,
        }
    }
    Ok(())
}

fn kind(record: &ModelRecord) -> String {
    match (record.kind, record.dimension) {
        (ModelKind::Reranker, _) => "reranker".to_owned(),
        (ModelKind::Embedder, Some(dimension)) => format!("{} dimensions", count(dimension as u64)),
        (ModelKind::Embedder, None) => "vectors".to_owned(),
    }
}

fn short(revision: &str) -> &str {
    revision.get(..SHORT).unwrap_or(revision)
}
