//! `tamis model`: fetches models from a hub, and lists and removes them.

use crate::args::{Global, ModelAction, ModelAddArguments, ModelArguments, ModelNamed};
use crate::exit::Exit;
use crate::interrupt;
use crate::output::Output;
use crate::print::model as print;
use crate::print::model::{Named, Shown};
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Context, Result, anyhow, bail};
use std::io::Write;
use tamis::Error;
use tamis::config::{Config, ModelEntry, ModelFile, Origins, Provider};
use tamis::hub::{AddRequest, HubAccess, InstalledModel, ModelKind, ModelName, ModelsDirectory, add};

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
                print::list(&mut out, &listed)?;
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
            output.answer(named.json, &shown, output.paged(), |out| print::model(out, &shown))?;
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
        output.json(&print::AddedJson {
            was_there: added.was_there,
            name: &entry.name,
            file: file.path(),
            model: &shown,
        })?;
    } else {
        let mut out = output.styled();
        print::added(&mut out, &shown, added.was_there)?;
        print::configuration(&mut out, &entry, file.path(), written, arguments.used)?;
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
            let known = named(model, session).into_iter().find(|named| named.file == file.path());
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
        gone.push(print::Removed { names, model });
    }
    if named.json {
        output.json(&gone.iter().map(print::Removed::json).collect::<Vec<_>>())?;
    } else {
        let mut out = output.styled();
        print::removed(&mut out, &gone)?;
        out.flush()?;
    }
    for model in gone.iter().map(|gone| &gone.model) {
        for left in self::named(model, session) {
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
    Shown { names: named(&model, session), model }
}

/// Returns the names that the configuration gives to a model.
fn named(model: &InstalledModel, session: &Session) -> Vec<Named> {
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
