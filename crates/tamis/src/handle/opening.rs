//! Opens the store of an index: the directory of its tree, or the database that the configuration names.

use super::{Registry, SHORT_WAIT, SOURCES_PROPERTY, plain};
use crate::Error;
use crate::config::Config;
use crate::file::foreign::read_in;
use crate::location::Location;
use crate::machine::machine_name;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tamis_store::{Access, EmbeddedStore, Namespace, Store, StoreError};

/// Opens the store. In a directory that is read-only or full it is opened for reading, and the reason comes with it.
pub(super) fn store(location: &Location, config: &Config) -> Result<(Arc<dyn Store>, Option<StoreError>), Error> {
    if let Some(url) = &config.store.url {
        return Ok((database(url, &named(location, config))?, None));
    }
    holds_plain_files(&location.directory)?;
    match open_writable(&location.directory) {
        Ok(store) => Ok((store, None)),
        Err(Error::Store(obstacle @ (StoreError::ReadOnly { .. } | StoreError::Full { .. }))) => {
            match EmbeddedStore::open(&location.directory, Access::ReadOnly) {
                Ok(store) => Ok((Arc::new(store), Some(obstacle))),
                Err(StoreError::Missing { .. }) => match obstacle {
                    StoreError::ReadOnly { path, reason } => Err(Error::index_directory(&path, reason)),
                    obstacle => Err(obstacle.into()),
                },
                Err(error) => Err(error.into()),
            }
        }
        Err(error) => Err(error),
    }
}

#[cfg(feature = "postgres")]
fn database(url: &str, namespace: &str) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(tamis_store::PostgresStore::open(url, namespace)?))
}

#[cfg(not(feature = "postgres"))]
fn database(_: &str, _: &str) -> Result<Arc<dyn Store>, Error> {
    Err(Error::argument("store.url", "postgres://…", "empty: this program was built without PostgreSQL"))
}

/// The name of a tree in a database that many trees share.
fn named(location: &Location, config: &Config) -> String {
    config.store.namespace.clone().unwrap_or_else(|| location.namespace.clone())
}

/// Returns the name under which the tree was first indexed. It stays, so renaming the directory changes nothing.
pub(super) fn namespace(
    store: &dyn Store,
    location: &Location,
    config: &Config,
    writable: bool,
) -> Result<String, Error> {
    if config.store.url.is_some() {
        return Ok(named(location, config));
    }
    if let Some(namespace) = store.property("namespace")? {
        return Ok(namespace);
    }
    if writable {
        // Another process may be opening it for the first time too; the first name stays.
        let unnamed = || !matches!(store.property("namespace"), Ok(Some(_)));
        let writing = store.wait_to_write(SHORT_WAIT, &mut |_| unnamed());
        if let Some(namespace) = store.property("namespace")? {
            return Ok(namespace);
        }
        let _writing = writing?;
        store.set_property("namespace", &location.namespace)?;
    }
    Ok(location.namespace.clone())
}

/// Reads the sources of an index. One that holds another tree than the one around the user is of that tree: what it shows has that
/// tree's paths. A tree that is gone has moved here, and one on another machine is taken for its copy here.
pub(crate) fn registry(
    store: &dyn Store,
    namespace: &str,
    location: &Location,
    config: &Config,
) -> Result<Registry, Error> {
    let known = store.namespaces()?.into_iter().find(|known| known.name == namespace);
    let is_here = |known: &Namespace| known.machine.as_ref().is_none_or(|machine| *machine == machine_name());
    let root = known.filter(is_here).and_then(|known| Some(plain(&location.base().join(known.root?))));
    let root = root.filter(|root| root.is_dir()).unwrap_or_else(|| location.root.clone());
    Registry::read(store.property(SOURCES_PROPERTY)?.as_deref(), namespace, &root, location, config)
}

/// Opens the store in a directory for writing, and makes the directory if it is missing.
pub(crate) fn open_writable(directory: &Path) -> Result<Arc<dyn Store>, Error> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            Error::Store(StoreError::ReadOnly { path: directory.to_owned(), reason: error.to_string() })
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            Error::Store(StoreError::Full { path: directory.to_owned() })
        }
        _ => Error::path(directory, format!("cannot be made: {error}")),
    };
    fs::create_dir_all(directory).map_err(failed)?;
    // The index ignores itself, this file included, so that a search leaves nothing for git to show.
    let ignore = directory.join(".gitignore");
    const IGNORE: &str = "# Made by tamis. config.toml may be checked in; the rest is derived.\n*\n!config.toml\n";
    // One with other lines is the user's, and we do not write through a link in its place.
    let ours = |line: &str| line == "!.gitignore" || IGNORE.lines().any(|own| own == line);
    let is_due = match read_in(directory, Path::new(".gitignore"), 4096) {
        Ok(text) => text != IGNORE.as_bytes() && str::from_utf8(&text).is_ok_and(|text| text.lines().all(ours)),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if is_due {
        crate::file::replace_whole(&ignore, IGNORE.as_bytes(), None, 0o666).map_err(failed)?;
    }
    Ok(Arc::new(EmbeddedStore::open(directory, Access::ReadWrite)?))
}

/// Refuses an index directory that holds anything but files and directories. Such a directory can come with a tree; the index
/// would write through a link in it and block on a pipe.
pub(crate) fn holds_plain_files(directory: &Path) -> Result<(), Error> {
    // Neither is ever written through, and both are read defensively.
    const OTHERS: [&str; 2] = ["config.toml", ".gitignore"];
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries.flatten().filter(|entry| !OTHERS.iter().any(|name| entry.file_name() == *name)) {
        match entry.file_type() {
            Ok(kind) if kind.is_file() => {}
            Ok(kind) if kind.is_dir() => holds_plain_files(&entry.path())?,
            Ok(_) => {
                let reason = "a link, a pipe or a device, which no index has; remove it if it came with the tree";
                return Err(Error::index_directory(&entry.path(), reason));
            }
            // The file is gone again: another process is writing.
            Err(_) => {}
        }
    }
    Ok(())
}
