//! `tamis model`: fetches models from a hub, and lists and removes them.

use crate::command_line::Global;
use crate::exit::Exit;
use crate::interrupt;
use crate::layout::Page;
use crate::output::Output;
use crate::print::table::Columns;
use crate::print::text::{bytes, count, label, visible};
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tamis::Error;
use tamis::config::{Config, ModelEntry, ModelFile, Origins, Provider};
use tamis::hub::{AddRequest, HubAccess, InstalledModel, ModelKind, ModelName, ModelRecord, ModelsDirectory, add};

/// Flags of `tamis model`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis model add sentence-transformers/all-MiniLM-L12-v2
  tamis model add minishlab/potion-base-8M --use      fetch it, and embed every index with it
  tamis model add intfloat/e5-small-v2@main --as e5
  tamis model add Xenova/bge-small-en-v1.5 --quantized
  tamis model add cross-encoder/ms-marco-MiniLM-L6-v2 --use
  tamis model list
  tamis model remove e5

HF_ENDPOINT names a hub other than https://huggingface.co, and HF_TOKEN holds a token for models that are not public. \
Only `tamis model add` downloads models.")]
pub struct ModelArguments {
    /// The action.
    #[command(subcommand)]
    pub action: ModelAction,
}

/// An action on the models of this machine.
#[derive(Debug, Subcommand)]
pub enum ModelAction {
    /// Fetch a model from a hub, check and try it, and give it a name
    Add(Box<ModelAddArguments>),
    /// List the models that were added
    List(ModelListArguments),
    /// Show a model's origin and settings
    Show(ModelNamed),
    /// Remove a model's files and its name
    Remove(ModelNamed),
}

/// Flags of `tamis model add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis model add sentence-transformers/all-MiniLM-L12-v2
  tamis model add minishlab/potion-base-8M --use
  tamis model add intfloat/e5-small-v2@main --as e5

Exit status: 0 added or there already, 2 an error, 130 stopped by Ctrl-C; the same command then goes on.")]
pub struct ModelAddArguments {
    /// The model at the hub, with a branch, tag or commit if you want another than `main`
    #[arg(value_name = "OWNER/NAME[@REVISION]")]
    pub model: ModelName,
    /// Call it NAME in the configuration [default: its name without the owner]
    #[arg(long = "as", value_name = "NAME", value_parser = tamis::flag_values::name)]
    pub alias: Option<String>,
    /// Use it: add it to index.models, or make it rerank.model
    #[arg(long = "use")]
    pub used: bool,
    /// Write its name into this project's configuration
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// Write its name into your own configuration [default]
    #[arg(long)]
    pub user: bool,
    /// Fetch it as a reranker, even if its configuration does not say that it is one
    #[arg(long)]
    pub reranker: bool,
    /// Use 8-bit weights: smaller and faster, slightly less accurate
    #[arg(long, conflicts_with = "file")]
    pub quantized: bool,
    /// Take these weights of the repository, .onnx or .safetensors
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Fetch at most N megabytes, 1 to 1000000
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub max_megabytes: u64,
    /// Print what was added as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis model list`.
#[derive(Debug, Args)]
pub struct ModelListArguments {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// A model that was added.
#[derive(Debug, Args)]
pub struct ModelNamed {
    /// Its name in the configuration, or at the hub
    #[arg(value_name = "NAME|OWNER/NAME[@REVISION]")]
    pub name: String,
    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs one of the actions.
///
/// # Errors
/// The model cannot be fetched, used, removed or written to the configuration.
pub fn run(arguments: &ModelArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let models = ModelsDirectory::new(&session.origins.directories)
        .ok_or_else(|| anyhow!("there is no directory for models; set TAMIS_CACHE"))?;
    match &arguments.action {
        ModelAction::Add(arguments) => added(arguments, &session, &models, output),
        ModelAction::List(list) => {
            let listed: Vec<Shown> = models.installed().into_iter().map(|model| shown(model, &session)).collect();
            if list.json {
                output.json(&listed)?;
            } else {
                let mut out = output.paged();
                print_list(&mut out, &listed)?;
                out.flush()?;
                if listed.is_empty() {
                    output.note("no model was added yet; `tamis model add OWNER/NAME` does");
                }
            }
            Ok(Exit::found(!listed.is_empty()))
        }
        ModelAction::Show(named) => {
            let found = meant(named, &session, &models);
            let Some(model) = found.into_iter().next() else { return Ok(unknown(named, output)) };
            let shown = shown(model, &session);
            output.answer(named.json, &shown, output.paged(), |out| print_model(out, &shown))?;
            Ok(Exit::Found)
        }
        ModelAction::Remove(named) => removed(named, &session, &models, output),
    }
}

fn added(arguments: &ModelAddArguments, session: &Session, models: &ModelsDirectory, output: &Output) -> Result<Exit> {
    let access = HubAccess::from_environment(|name| std::env::var(name).ok())?;
    let file = configuration(arguments.project, session)?;
    let request = AddRequest {
        reranker: arguments.reranker,
        quantized: arguments.quantized,
        file: arguments.file.clone(),
        most_bytes: arguments.max_megabytes << 20,
        ..AddRequest::new(arguments.model.clone())
    };
    interrupt::install()?;
    let result = {
        let progress = Progress::at_once(output);
        add(&request, &access, models, &progress)
    };
    let added = match result {
        Err(Error::Cancelled) => {
            output.note("stopped; what was fetched is kept, and the same command goes on there");
            return Ok(Exit::Interrupted);
        }
        result => result?,
    };
    let record = &added.model.record;
    let entry = ModelEntry {
        name: name(arguments, &added.model, &file, session)?,
        model: record.model.clone(),
        revision: record.revision.clone(),
        reranker: record.kind == ModelKind::Reranker,
    };
    let written = file
        .register(&entry, arguments.used)
        .with_context(|| format!("{} is there, but has no name yet; --as NAME gives it another", record.model))?;
    let shown = shown(added.model, session);
    if arguments.json {
        output.json(&AddedJson { was_there: added.was_there, name: &entry.name, file: file.path(), model: &shown })?;
    } else {
        let mut out = output.styled();
        print_added(&mut out, &shown, added.was_there)?;
        print_configuration(&mut out, &entry, file.path(), written, arguments.used)?;
        out.flush()?;
    }
    if arguments.used && !entry.reranker {
        output.note("the next `tamis index` of each project embeds its passages with it");
    }
    Ok(Exit::Found)
}

/// Returns the configuration file that gets the name.
fn configuration(project: bool, session: &Session) -> Result<ModelFile> {
    if project {
        let file = session.location.config_file();
        return Ok(ModelFile::of_project(&file, session.user_directory.as_deref()));
    }
    match &session.origins.user {
        Some(user) => Ok(ModelFile::of_user(user)),
        None => {
            bail!("there is no directory for your configuration; set TAMIS_CONFIG_HOME, or write it with --project")
        }
    }
}

/// Returns the name that the model gets: the one asked for, the one it has in that file, or its own.
fn name(arguments: &ModelAddArguments, model: &InstalledModel, file: &ModelFile, session: &Session) -> Result<String> {
    let name = match &arguments.alias {
        Some(name) => name.clone(),
        None => {
            let known = find_names(model, session).into_iter().find(|named| named.file == file.path());
            known.map_or_else(|| arguments.model.short().to_owned(), |known| known.name)
        }
    };
    match ["auto", "static", "minilm", "off"].contains(&name.as_str()) {
        true => bail!("--as {name}: that name is taken; choose another"),
        false => Ok(name),
    }
}

fn removed(named: &ModelNamed, session: &Session, models: &ModelsDirectory, output: &Output) -> Result<Exit> {
    let found = meant(named, session, models);
    if found.is_empty() {
        return Ok(unknown(named, output));
    }
    let mut gone = Vec::new();
    for model in found {
        let names = match &session.origins.user {
            Some(user) => ModelFile::of_user(user).unregister(&model.record.model, Some(&model.record.revision))?,
            None => Vec::new(),
        };
        models.remove(&model)?;
        gone.push(Removed { names, model });
    }
    if named.json {
        output.json(&gone.iter().map(Removed::json).collect::<Vec<_>>())?;
    } else {
        let mut out = output.styled();
        print_removed(&mut out, &gone)?;
        out.flush()?;
    }
    for model in gone.iter().map(|gone| &gone.model) {
        for left in find_names(model, session) {
            output.note(&format!("{} still names it as {}", left.file.display(), left.name));
        }
    }
    Ok(Exit::Found)
}

/// Returns the models that a name means: a name of the configuration, or one at a hub, of which all revisions count unless one is
/// named.
fn meant(named: &ModelNamed, session: &Session, models: &ModelsDirectory) -> Vec<InstalledModel> {
    if let Some(definition) = config(session).models.get(&named.name)
        && let Provider::Hub(hub) = &definition.provider
    {
        return models.find(&hub.model, hub.revision.as_deref()).into_iter().collect();
    }
    let Ok(name) = named.name.parse::<ModelName>() else { return Vec::new() };
    let all = models.installed().into_iter();
    all.filter(|model| model.is(name.repository(), name.revision())).collect()
}

fn unknown(named: &ModelNamed, output: &Output) -> Exit {
    output.note(&format!("{}: no such model was added; `tamis model list` shows those that were", named.name));
    Exit::Nothing
}

fn shown(model: InstalledModel, session: &Session) -> Shown {
    Shown { names: find_names(&model, session), model }
}

/// Returns the names that the configuration gives to a model.
fn find_names(model: &InstalledModel, session: &Session) -> Vec<Named> {
    let is_meant = |provider: &Provider| match provider {
        Provider::Hub(hub) => model.is(&hub.model, hub.revision.as_deref()),
        _ => false,
    };
    let models = config(session).models.into_iter().filter(|(_, definition)| is_meant(&definition.provider));
    models.map(|(name, definition)| Named { name, file: definition.source.to_string().into() }).collect()
}

/// Returns the configuration, or that of the user alone if the project's is not valid. Models can be mended with neither.
fn config(session: &Session) -> Config {
    let of_user = || {
        let origins = Origins { project: None, environment: Vec::new(), ..session.origins.clone() };
        Config::load(&origins, session.user_directory.clone()).unwrap_or_else(|_| Config::built_in())
    };
    session.config().unwrap_or_else(|_| of_user())
}

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
fn print_list(out: &mut dyn Page, models: &[Shown]) -> io::Result<()> {
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
fn print_model(out: &mut dyn Page, shown: &Shown) -> io::Result<()> {
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
fn print_added(out: &mut dyn Page, shown: &Shown, was_there: bool) -> io::Result<()> {
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
    if let Some(pooling) = &record.settings.values.pooling {
        writeln!(out, "  pooling   {}{}", visible(pooling), from(&record.settings.pooling_from))?;
    }
    let [query, passage] = [&record.settings.values.query_prefix, &record.settings.values.passage_prefix]
        .map(|prefix| prefix.as_deref().unwrap_or_default());
    match (query, passage) {
        ("", "") => writeln!(out, "  prefixes  none{}", from(&record.settings.prefixes_from)),
        _ => {
            let quoted = |prefix: &str| visible(&format!("{prefix:?}")).into_owned();
            writeln!(
                out,
                "  prefixes  query {}, passage {}{}",
                quoted(query),
                quoted(passage),
                from(&record.settings.prefixes_from)
            )
        }
    }
}

/// Writes the lines of the configuration that name a model, and those that would use it.
fn print_configuration(
    out: &mut dyn Page,
    entry: &ModelEntry,
    file: &Path,
    written: bool,
    used: bool,
) -> io::Result<()> {
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
fn print_removed(out: &mut dyn Page, gone: &[Removed]) -> io::Result<()> {
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
