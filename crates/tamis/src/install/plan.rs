//! The planned change of a client's file, and the change itself.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::clients::{Client, Entry, Form, Scope, is_ours};
use super::{Record, Records, Surroundings, json_file, toml_file};
use crate::Error;
use crate::file::untrusted::{read_linked, read_regular};
use crate::file::{DirectoryLock, LONGEST_TEXT, create, edit};
use crate::index_location::resolved;

/// The state of a server's entry in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The file is missing, or lacks such an entry.
    Absent,
    /// The entry starts this program's server.
    Ours,
    /// The entry starts something else.
    Others,
    /// The file cannot be read.
    Unreadable,
}

/// A planned change of one client's file.
#[derive(Clone, Debug)]
pub struct Plan {
    client: Client,
    path: PathBuf,
    /// The project that the file belongs to. Links must not lead out of it. `None` for the user's own file.
    project: Option<PathBuf>,
    name: String,
    records: Option<Records>,
    /// The record of an earlier installation.
    record: Option<Record>,
    /// The entry to add; `None` to remove it.
    entry: Option<Entry>,
    force: bool,
    before: Option<String>,
    /// `None` to delete the file, since it never held anything but the entry.
    after: Option<String>,
}

impl Plan {
    /// Plans to add an entry to a client's file of a scope, or to update one of ours. Additions by others stay.
    ///
    /// # Errors
    /// The client has no file of this scope, the file cannot be read or parsed, or its entry of this name starts something else
    /// and must not be replaced.
    pub fn install(
        client: Client,
        scope: Scope,
        name: &str,
        entry: Entry,
        project: &Path,
        force: bool,
        around: &Surroundings,
    ) -> Result<Plan, Error> {
        Plan::new(client, scope, name, Some(entry), project, force, around)
    }

    /// Plans to remove an entry of ours from a client's file of a scope.
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
        Plan::new(client, scope, name, None, project, force, around)
    }

    fn new(
        client: Client,
        scope: Scope,
        name: &str,
        entry: Option<Entry>,
        project: &Path,
        force: bool,
        around: &Surroundings,
    ) -> Result<Plan, Error> {
        checked_name(name)?;
        let path = file(client, scope, project, around)?;
        let project = (scope == Scope::Project).then(|| project.to_owned());
        let before = read(&path, project.as_deref())?;
        let records = around.own_configuration().map(Records::new);
        let record = match &records {
            Some(records) => records.find(&resolved(&path), name)?,
            None => None,
        };
        let name = name.to_owned();
        let mut plan = Plan { client, path, project, name, records, record, entry, force, before, after: None };
        plan.after = plan.changed(plan.before.as_deref())?;
        Ok(plan)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its present text; empty if the file is missing.
    pub fn before(&self) -> &str {
        self.before.as_deref().unwrap_or_default()
    }

    /// Its new text; empty if the file is to be deleted.
    pub fn after(&self) -> &str {
        self.after.as_deref().unwrap_or_default()
    }

    /// Returns `true` if the plan changes anything.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// Makes the change. The file is replaced as a whole, keeps its permissions and owner, and is created if it is missing. A
    /// link is followed, but one of a project's must stay in the project. Edits that somebody made since the plan are kept.
    /// Returns the reason if the change could not be recorded, since undoing it is then less exact.
    ///
    /// # Errors
    /// The file cannot be written, or it has changed and can no longer take the entry.
    pub fn carry_out(&self) -> Result<Option<String>, Error> {
        if !self.changes() {
            return Ok(None);
        }
        // The target of a link is replaced, not the link.
        let path = resolved(&self.path);
        if self.project.as_ref().is_some_and(|project| !path.starts_with(resolved(project))) {
            return Err(Error::path(
                &self.path,
                "lies behind a symbolic link out of the project, which is not followed",
            ));
        }
        let directory = path.parent().unwrap_or(Path::new("."));
        let missing = directory.ancestors().take_while(|directory| !directory.exists());
        let mut made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        made.reverse();
        // The record comes first. If the change then fails, the record does not match the file and nothing is undone.
        let unrecorded = self.note_down(&path, made).err().map(|error| error.to_string());
        fs::create_dir_all(directory).map_err(|error| Error::path(directory, format!("cannot be made: {error}")))?;
        let lock = DirectoryLock::take(directory)?;
        match (&self.before, &self.after) {
            (Some(before), None) => self.take_away(&path, before)?,
            (None, Some(after)) if create(&path, after)? => {}
            _ => edit(&path, |text| Ok((self.changed(Some(text))?.unwrap_or_default(), ())))?,
        }
        drop(lock);
        if self.entry.is_none()
            && let (Some(records), Some(record)) = (&self.records, &self.record)
        {
            let stays = path.exists();
            if !stays {
                // A directory that is not empty stays.
                record.made_directories.iter().rev().for_each(|made| drop(fs::remove_dir(made)));
            }
            records.drop(&path, &self.name, stays)?;
        }
        Ok(unrecorded)
    }

    /// Records the coming change.
    fn note_down(&self, path: &Path, made: Vec<PathBuf>) -> Result<(), Error> {
        let (Some(records), Some(after), Some(_)) = (&self.records, &self.after, &self.entry) else { return Ok(()) };
        let failed = |reason: String| Error::path(&self.path, reason);
        let there = self.before.as_deref().map(|text| find(self.client, text, &self.name));
        let is_ours = there.transpose().map_err(failed)?.flatten().is_some_and(|there| is_ours(&there));
        let record = match (&self.record, self.before.as_deref()) {
            // The text that an entry of ours replaced is known only from a record.
            (Some(record), Some(before)) if is_ours => match record.undone(before) {
                Some(first) => {
                    let first = Some(first.as_str()).filter(|_| !record.made_file || record.inserted != before);
                    let made = record.made_directories.clone();
                    Some(Record { made_file: record.made_file, ..Record::new(path, &self.name, first, after, made) })
                }
                None => None,
            },
            (None, Some(_)) if is_ours => return Ok(()),
            (_, before) => Some(Record::new(path, &self.name, before, after, made)),
        };
        match record {
            Some(record) => records.keep(&record),
            None => records.drop(path, &self.name, true),
        }
    }

    /// Removes a file that was created for the entry and holds nothing else.
    fn take_away(&self, path: &Path, before: &str) -> Result<(), Error> {
        if read(path, None)?.as_deref() != Some(before) {
            return edit(path, |text| Ok((self.changed(Some(text))?.unwrap_or_default(), ())));
        }
        fs::remove_file(path).map_err(|error| Error::path(path, format!("cannot be removed: {error}")))
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
            return match (text, there) {
                (Some(text), Some(_)) => self.without(text),
                (text, _) => Ok(text.map(str::to_owned)),
            };
        };
        let mut text = text.unwrap_or_default().to_owned();
        if there.is_some_and(|there| !is_ours(&there)) {
            text = without(self.client, &text, &self.name).map_err(failed)?;
        }
        with(self.client, &text, &self.name, entry).map(Some).map_err(failed)
    }

    /// Returns the text without the entry, exactly as it was before the installation if that is known. `None` if the file was
    /// created for the entry and holds nothing else.
    fn without(&self, text: &str) -> Result<Option<String>, Error> {
        let failed = |reason: String| Error::path(&self.path, reason);
        let is_made =
            |left: &str| self.record.as_ref().is_some_and(|record| record.made_file) && is_bare(self.client, left);
        let undone = self.record.as_ref().and_then(|record| record.undone(text));
        if let Some(undone) = undone.filter(|undone| self.is_the_rest(text, undone)) {
            return Ok(if is_made(&undone) { None } else { Some(undone) });
        }
        let added = added(self.client, text, &self.name).map_err(failed)?;
        if !self.force && !added.is_empty() {
            return Err(failed(format!(
                "the server {:?} has more than tamis wrote: {}; remove the entry by hand, or all of it with --force",
                self.name,
                added.join(", ")
            )));
        }
        let left = without(self.client, text, &self.name).map_err(failed)?;
        Ok(if is_made(&left) { None } else { Some(left) })
    }

    /// Returns `true` if two texts say the same apart from the entry.
    fn is_the_rest(&self, text: &str, undone: &str) -> bool {
        let ours = find(self.client, undone, &self.name);
        let rest = |text: &str| rest(self.client, text, &self.name).ok();
        ours.is_ok_and(|entry| !entry.is_some_and(|entry| is_ours(&entry) || !self.replaced_another()))
            && matches!((rest(text), rest(undone)), (Some(one), Some(other)) if one == other)
    }

    /// Returns `true` if the entry replaced somebody else's, which then comes back.
    fn replaced_another(&self) -> bool {
        self.record.as_ref().is_some_and(|record| !record.replaced.trim().is_empty())
    }
}

/// Returns the state of a server's entry in a client's file of a scope; `None` if it has no such file.
pub fn standing(
    client: Client,
    scope: Scope,
    name: &str,
    project: &Path,
    around: &Surroundings,
) -> Option<(PathBuf, Standing)> {
    let path = client.file(scope, project, around)?;
    let project = (scope == Scope::Project).then_some(project);
    let standing = match read(&path, project).ok().map(|text| text.map(|text| find(client, &text, name)).transpose()) {
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
            "left out: this client has no project file, or none from which the server can learn the project's directory",
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

/// Returns the text of a file; `None` if it is missing. A project's file is untrusted.
fn read(path: &Path, project: Option<&Path>) -> Result<Option<String>, Error> {
    let bytes = match project.and_then(|project| Some((project, path.strip_prefix(project).ok()?))) {
        Some((project, under)) => read_linked(project, under, LONGEST_TEXT),
        None => read_regular(path, LONGEST_TEXT),
    };
    match bytes {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Error::path(path, "not UTF-8, so it is left alone; convert it first")),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::path(path, format!("cannot be read: {error}"))),
    }
}

/// Returns the additions to an entry besides what this program writes: keys and comments.
fn added(client: Client, text: &str, name: &str) -> Result<Vec<String>, String> {
    let known: Vec<&str> = Entry::default().keys(client).into_iter().map(|(key, _)| key).collect();
    match client.form() {
        Form::Json(servers) => json_file::added(text, servers, name, &known),
        Form::Toml(servers) => toml_file::added(text, servers, name, &known),
    }
}

/// Returns all values of a file except a server. An empty list of servers counts as a missing one.
fn rest(client: Client, text: &str, name: &str) -> Result<serde_json::Value, String> {
    let (mut all, servers) = match client.form() {
        Form::Json(servers) => (json_file::values(text)?, servers),
        Form::Toml(servers) => (toml_file::values(text)?, servers),
    };
    if let Some(held) = all.get_mut(servers).and_then(serde_json::Value::as_object_mut) {
        held.remove(name);
        if held.is_empty()
            && let Some(all) = all.as_object_mut()
        {
            all.remove(servers);
        }
    }
    Ok(all)
}

/// Returns `true` if a file holds nothing, not even a comment.
fn is_bare(client: Client, text: &str) -> bool {
    let text: String = text.split_whitespace().collect();
    let none = match client.form() {
        Form::Json(servers) => format!("{{\"{servers}\":{{}}}}"),
        Form::Toml(servers) => format!("[{servers}]"),
    };
    text.is_empty() || text == "{}" || text == none
}

fn find(client: Client, text: &str, name: &str) -> Result<Option<serde_json::Map<String, serde_json::Value>>, String> {
    match client.form() {
        Form::Json(servers) => json_file::find(text, servers, name),
        Form::Toml(servers) => toml_file::find(text, servers, name),
    }
}

fn with(client: Client, text: &str, name: &str, entry: &Entry) -> Result<String, String> {
    let keys = entry.keys(client);
    match client.form() {
        Form::Json(servers) => json_file::with(text, servers, name, &keys),
        Form::Toml(servers) => toml_file::with(text, servers, name, &keys),
    }
}

fn without(client: Client, text: &str, name: &str) -> Result<String, String> {
    match client.form() {
        Form::Json(servers) => json_file::without(text, servers, name),
        Form::Toml(servers) => toml_file::without(text, servers, name),
    }
}
