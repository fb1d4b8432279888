//! What a client's file would become, and the change itself.

use super::client::{Client, Form, Scope};
use super::entry::{Entry, is_ours};
use super::place::Surroundings;
use super::{json, table};
use crate::Error;
use crate::file::{DirectoryLock, create, edit};
use serde::Serialize;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What a file says of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It has no such entry, or there is no such file.
    Absent,
    /// The entry starts this program's server.
    Ours,
    /// The entry starts something else.
    Others,
    /// The file cannot be read.
    Unreadable,
}

/// A change of one client's file that has not been made yet.
#[derive(Clone, Debug)]
pub struct Plan {
    client: Client,
    path: PathBuf,
    name: String,
    /// To be put in; `None`: the entry is to be taken out.
    entry: Option<Entry>,
    force: bool,
    before: Option<String>,
    /// `None`: the file is to go, since nothing but the entry was ever in it.
    after: Option<String>,
}

impl Plan {
    /// Puts an entry into a client's file of a scope, or brings one of ours up to date. What others have added to it stays.
    ///
    /// # Errors
    /// The client has no file of this scope, the file cannot be read or is not of its form, or has an entry of this name that
    /// starts something else, unless it is to be forced out.
    pub fn install(
        client: Client,
        scope: Scope,
        name: &str,
        entry: Entry,
        project: &Path,
        force: bool,
        around: &Surroundings,
    ) -> Result<Plan, Error> {
        Plan::new(client, file(client, scope, project, around)?, name, Some(entry), force)
    }

    /// Takes an entry of ours out of a client's file of a scope.
    ///
    /// # Errors
    /// As [`Plan::install`].
    pub fn remove(
        client: Client,
        scope: Scope,
        name: &str,
        project: &Path,
        force: bool,
        around: &Surroundings,
    ) -> Result<Plan, Error> {
        Plan::new(client, file(client, scope, project, around)?, name, None, force)
    }

    fn new(client: Client, path: PathBuf, name: &str, entry: Option<Entry>, force: bool) -> Result<Plan, Error> {
        checked_name(name)?;
        let before = read(&path)?;
        let mut plan = Plan { client, path, name: name.to_owned(), entry, force, before, after: None };
        plan.after = plan.changed(plan.before.as_deref())?;
        Ok(plan)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its text; empty where it is not there.
    pub fn before(&self) -> &str {
        self.before.as_deref().unwrap_or_default()
    }

    /// Its text afterwards; empty where it is to go.
    pub fn after(&self) -> &str {
        self.after.as_deref().unwrap_or_default()
    }

    /// Whether anything is to be done.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// Makes the change: the file is replaced as a whole, keeps its permissions, and is made where there is none. A link is
    /// followed. What somebody has written meanwhile is kept.
    ///
    /// # Errors
    /// The file cannot be written, or is not what it was and cannot take the entry any more.
    pub fn carry_out(&self) -> Result<(), Error> {
        if !self.changes() {
            return Ok(());
        }
        // The file that a link leads to is the one to be replaced, not the link.
        let path = dunce::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let directory = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(|error| Error::path(directory, format!("cannot be made: {error}")))?;
        let _lock = DirectoryLock::take(directory)?;
        match (&self.before, &self.after) {
            (Some(before), None) => self.take_away(&path, before),
            (None, Some(after)) if create(&path, after)? => Ok(()),
            _ => edit(&path, |text| Ok((self.changed(Some(text))?.unwrap_or_default(), ()))),
        }
    }

    /// Removes a file that nothing else was ever in, and its directory where that was made for it.
    fn take_away(&self, path: &Path, before: &str) -> Result<(), Error> {
        if read(path)?.as_deref() != Some(before) {
            return edit(path, |text| Ok((self.changed(Some(text))?.unwrap_or_default(), ())));
        }
        fs::remove_file(path).map_err(|error| Error::path(path, format!("cannot be removed: {error}")))?;
        if let Some(directory) = path.parent().filter(|directory| directory.file_name().is_some()) {
            // Fails where anything else is in it.
            let _ = fs::remove_dir(directory);
        }
        Ok(())
    }

    fn changed(&self, text: Option<&str>) -> Result<Option<String>, Error> {
        let failed = |reason: String| Error::path(&self.path, reason);
        let there = text.map(|text| find(self.client, text, &self.name)).transpose().map_err(failed)?.flatten();
        if !self.force && there.as_ref().is_some_and(|there| !is_ours(there)) {
            return Err(failed(format!(
                "has a server {:?} that is not this program's; choose another name with --name, or replace it with --force",
                self.name
            )));
        }
        let Some(entry) = &self.entry else {
            let Some(text) = text else { return Ok(None) };
            let left = without(self.client, text, &self.name).map_err(failed)?;
            return Ok(if there.is_some() && self.was_made(text, &left)? { None } else { Some(left) });
        };
        let mut text = text.unwrap_or_default().to_owned();
        if there.is_some_and(|there| !is_ours(&there)) {
            text = without(self.client, &text, &self.name).map_err(failed)?;
        }
        with(self.client, &text, &self.name, entry).map(Some).map_err(failed)
    }

    /// Whether a file is as it was made, so that nobody has put anything else into it.
    fn was_made(&self, text: &str, left: &str) -> Result<bool, Error> {
        let failed = |reason: String| Error::path(&self.path, reason);
        let entry = find(self.client, text, &self.name).map_err(failed)?.unwrap_or_default();
        let keys: Vec<(&str, serde_json::Value)> =
            entry.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        let is_bare = matches!(left.trim(), "" | "{}");
        let written = |keys: &[(&str, serde_json::Value)]| match self.client.form() {
            Form::Json(servers) => json::with("", servers, &self.name, keys),
            Form::Toml(servers) => table::with("", servers, &self.name, keys),
        };
        // The keys in the order of the file are not known from their values: lines say the same in any order.
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(|line| line.trim_end_matches(',').to_owned()).collect();
            lines.sort_unstable();
            lines
        };
        Ok(is_bare && sorted(&written(&keys).map_err(failed)?) == sorted(text))
    }
}

/// What a client's file of a scope says of the server of a name; `None` where it has no such file.
pub fn standing(
    client: Client,
    scope: Scope,
    name: &str,
    project: &Path,
    around: &Surroundings,
) -> Option<(PathBuf, Standing)> {
    let path = client.file(scope, project, around)?;
    let standing = match read(&path).ok().map(|text| text.map(|text| find(client, &text, name)).transpose()) {
        Some(Ok(Some(Some(entry)))) if is_ours(&entry) => Standing::Ours,
        Some(Ok(Some(Some(_)))) => Standing::Others,
        Some(Ok(_)) => Standing::Absent,
        _ => Standing::Unreadable,
    };
    Some((path, standing))
}

fn file(client: Client, scope: Scope, project: &Path, around: &Surroundings) -> Result<PathBuf, Error> {
    client.file(scope, project, around).ok_or_else(|| match (client.scopes(), scope) {
        ([Scope::User], Scope::Project) => Error::argument(
            "--project",
            client.name(),
            "left out: this client has no file in a project, or not one that it tells the project's directory from",
        ),
        _ => Error::argument("HOME", "", "set: there is no home directory, under which the client's files are"),
    })
}

fn checked_name(name: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(plain) {
        return Ok(());
    }
    Err(Error::argument("--name", name, "1 to 64 letters, digits, `-` or `_`, which is what every client takes"))
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Error::path(path, "not UTF-8, so it is left alone; convert it first")),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::path(path, format!("cannot be read: {error}"))),
    }
}

fn find(client: Client, text: &str, name: &str) -> Result<Option<serde_json::Map<String, serde_json::Value>>, String> {
    match client.form() {
        Form::Json(servers) => json::find(text, servers, name),
        Form::Toml(servers) => table::find(text, servers, name),
    }
}

fn with(client: Client, text: &str, name: &str, entry: &Entry) -> Result<String, String> {
    let keys = entry.keys(client);
    match client.form() {
        Form::Json(servers) => json::with(text, servers, name, &keys),
        Form::Toml(servers) => table::with(text, servers, name, &keys),
    }
}

fn without(client: Client, text: &str, name: &str) -> Result<String, String> {
    match client.form() {
        Form::Json(servers) => json::without(text, servers, name),
        Form::Toml(servers) => table::without(text, servers, name),
    }
}
