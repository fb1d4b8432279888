//! Adds and removes the repositories of an index.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{Event, RecursiveMode, Watcher, recommended_watcher};
use tamis_store::{DocumentState, NewNamespace, StoreError, Tree};

use super::{RunOptions, RunReport, document, publish_store, refresh};
use crate::Error;
use crate::config::StoreConfig;
use crate::handle::{Index, Registry, SOURCES_PROPERTY, Source, SourceSettings, SourceState, plain, registry};
use crate::index_location::{INDEX_DIRECTORY, machine_name};
use crate::progress::Observer;

/// Returns `true` if more than half of the files among documents are in a directory.
fn has_most_files(root: &Path, documents: &[DocumentState]) -> bool {
    let files: Vec<&DocumentState> = documents.iter().filter(|document| document.origin.is_none()).collect();
    let here = files.iter().filter(|document| root.join(&document.path).is_file()).count();
    here * 2 > files.len()
}

/// Returns the property that holds the progress of an import. It goes with the documents of the origin.
pub(crate) fn import_state_property(namespace: &str, origin: &str) -> String {
    format!("import:{namespace}:{origin}")
}

/// Does the work of [`Index::add_sources`].
pub(super) fn add(index: &mut Index, directories: &[PathBuf], settings: &SourceSettings) -> Result<Vec<String>, Error> {
    if let Some(owner) = settings.owner.as_deref().filter(|owner| !crate::config::is_name(owner)) {
        let allowed = "1 to 200 characters, none of them `:`, `/`, `\\` or a control character";
        return Err(Error::argument("owner", format!("{owner:?}"), allowed));
    }
    let mut roots = Vec::with_capacity(directories.len());
    for directory in directories {
        let root = dunce::canonicalize(directory).map_err(|error| Error::path(directory, error.to_string()))?;
        if !root.is_dir() {
            return Err(Error::path(directory, "not a directory; name directories to index"));
        }
        roots.push(root);
    }
    // The tree around the index is its source anyway, so naming it alone changes nothing.
    let nothing_new = *settings == SourceSettings::default() && roots.iter().all(|root| *root == index.location.root);
    if index.registry.is_single() && nothing_new {
        return Ok(vec![index.namespace.clone()]);
    }
    let writing = index.wait_to_write(&())?;
    let mut registry = kept_registry(index)?;
    // Documents imported into the tree's namespace stay there, without a directory.
    let is_file = |document: &DocumentState| document.origin.is_none();
    if registry.is_single() && !index.store.documents(&index.namespace)?.iter().any(is_file) {
        registry.clear();
    }
    for root in &roots {
        if let Some(namespace) = moved_to(index, &registry, root)? {
            registry.move_to(&namespace, root);
        }
    }
    let namespaces = registry.add(&roots, settings)?;
    claim(index, &registry, false)?;
    register(index, &registry)?;
    drop(writing);
    take_up_sources(index)?;
    Ok(namespaces)
}

/// Finds the namespace of a source that a user added, whose directory is gone and most of whose files are in this directory. In a
/// database, a directory that is not here may be on another machine.
fn moved_to(index: &Index, registry: &Registry, root: &Path) -> Result<Option<String>, Error> {
    if index.config.store.url.is_some() || registry.sources().any(|source| source.root == root) {
        return Ok(None);
    }
    for source in registry.added().filter(|source| !source.root.is_dir()) {
        if has_most_files(root, &index.store.documents(&source.namespace)?) {
            return Ok(Some(source.namespace.clone()));
        }
    }
    Ok(None)
}

/// Does the work of [`Index::remove_source`].
pub(super) fn remove(index: &mut Index, namespace: &str) -> Result<u64, Error> {
    let writing = index.wait_to_write(&())?;
    let mut registry = kept_registry(index)?;
    let names = index.namespace_names()?;
    if !names.iter().any(|known| known == namespace) {
        // The own one may have nothing in the index yet.
        let stored: Vec<String> = index.store.namespaces()?.into_iter().map(|stored| stored.name).collect();
        let allowed = format!("a namespace of this index: {}", stored.join(", "));
        return Err(Error::argument("remove", format!("{namespace:?}"), allowed));
    }
    registry.remove(namespace)?;
    for origin in index.store.origins()?.iter().filter(|origin| origin.namespace == namespace) {
        index.store.set_property(&import_state_property(namespace, &origin.name), "")?;
    }
    let removed = index.store.remove_namespace(namespace)?;
    document::forget(index, namespace)?;
    index.store.set_property(&refresh::splitter_property(namespace), "")?;
    register(index, &registry)?;
    publish_store(&*index.store, &())?;
    drop(writing);
    take_up_sources(index)?;
    Ok(removed.deleted)
}

/// Reads the stored list of sources again, since another process may have changed it.
fn kept_registry(index: &Index) -> Result<Registry, Error> {
    let namespace = index.store.property("namespace")?.unwrap_or_else(|| index.namespace.clone());
    registry(&*index.store, &namespace, &index.location, &index.config)
}

/// Replaces the list of sources by the stored one.
pub(super) fn take_up_sources(index: &mut Index) -> Result<(), Error> {
    index.registry = kept_registry(index)?;
    index.namespace = match index.own_namespace() {
        Some(own) => own.to_owned(),
        None => index.store.property("namespace")?.unwrap_or_else(|| index.namespace.clone()),
    };
    Ok(())
}

/// Makes sure that the namespaces of a list hold the files of its directories. Whoever writes files comes through here first.
pub(crate) fn claim(index: &Index, registry: &Registry, moved: bool) -> Result<(), Error> {
    let StoreConfig { url, namespace } = &index.config.store;
    let base = index.location.base();
    // A directory is seen from one machine, and so is a tree under the name of its directory. Who names a tree means it
    // wherever it lies at this path.
    let machine = (url.is_some() && namespace.is_none()).then(machine_name);
    let tree = |source: &Source| {
        let written = registry.writes(source);
        let root = match written.strip_prefix(&base) {
            // An index moves with what lies beside it.
            Ok(inside) if url.is_none() => Path::new(".").join(inside).components().collect(),
            // So do directories that the tree around the index names.
            Err(_) if url.is_none() && index.location.root == base => return None,
            _ if written.is_dir() => written.to_owned(),
            _ => return None,
        };
        let root = root.to_string_lossy().into_owned();
        Some(Tree { namespace: source.namespace.clone(), root, machine: machine.clone() })
    };
    let trees: Vec<Tree> = registry.sources().filter_map(tree).collect();
    loop {
        let whole = |tree: &Tree| plain(&base.join(&tree.root));
        match index.store.claim_trees(&trees, moved) {
            Err(StoreError::OtherTree { path, mut tree, mut known }) => {
                // A tree that is no longer where it was has moved here if most of its files are here.
                if url.is_none() && !whole(&known).is_dir() {
                    let documents = index.store.documents(&tree.namespace)?;
                    if documents.is_empty() || has_most_files(&whole(&tree), &documents) {
                        index.store.claim_trees(&[*tree], true)?;
                        continue;
                    }
                }
                // People are shown where the trees are, wherever the index lies.
                for tree in [&mut tree, &mut known] {
                    tree.root = whole(tree).to_string_lossy().into_owned();
                }
                return Err(StoreError::OtherTree { path, tree, known }.into());
            }
            claimed => return Ok(claimed?),
        }
    }
}

/// Stores the list of sources if it changed.
pub(crate) fn register(index: &Index, registry: &Registry) -> Result<(), Error> {
    let kept = registry.to_stored(&index.location);
    if index.store.property(SOURCES_PROPERTY)?.unwrap_or_default() == kept {
        return Ok(());
    }
    for Source { namespace, owner, shared, .. } in registry.sources() {
        let (name, owner) = (namespace.clone(), owner.clone());
        index.store.put_namespace(&NewNamespace { name, owner, shared: *shared })?;
    }
    Ok(index.store.set_property(SOURCES_PROPERTY, &kept)?)
}

// Keeps an index fresh while the tree changes.

/// Changes closer together than this share one run.
const QUIET: Duration = Duration::from_millis(300);

/// A run waits no longer than this for changes to end, as a log that grows all the time never does.
const PATIENCE: Duration = Duration::from_secs(3);

/// The interval at which the observer is asked whether to stop.
const POLL: Duration = Duration::from_millis(200);

/// Runs once, then again after every change of a source, until the observer cancels. Each run's report goes to `each`.
///
/// # Errors
/// A source cannot be watched, or the first run fails. The failure of a later run goes to `each`, and the next change tries
/// again.
pub fn watch(
    index: &Index,
    options: RunOptions,
    observer: &dyn Observer,
    mut each: impl FnMut(Result<RunReport, Error>),
) -> Result<(), Error> {
    let here = index.registry.states().filter(|(_, state)| *state == SourceState::Here);
    let roots: Vec<&Path> = here.map(|(source, _)| source.root.as_path()).collect();
    let unwatched = |root: &Path, error| Error::path(root, format!("cannot be watched: {error}"));
    let (sender, receiver) = channel();
    let mut watcher = recommended_watcher(move |event: notify::Result<Event>| {
        // The receiver is gone once watching has ended.
        let _ = sender.send(event);
    })
    .map_err(|error| unwatched(roots.first().copied().unwrap_or(&index.location().root), error))?;
    for root in &roots {
        watcher.watch(root, RecursiveMode::Recursive).map_err(|error| unwatched(root, error))?;
    }
    // Where the watcher lost events, only a whole comparison finds the changes.
    let is_change = |event: &notify::Result<Event>| {
        event.as_ref().map_or(true, |event| {
            let concerns = |path: &PathBuf| !is_internal(&roots, &index.location().directory, path);
            event.need_rescan() || !event.kind.is_access() && event.paths.iter().any(concerns)
        })
    };
    each(Ok(index.refresh_with(options, observer)?));
    while !observer.cancelled() {
        match receiver.recv_timeout(POLL) {
            Ok(event) if is_change(&event) => {
                let (first, mut last) = (Instant::now(), Instant::now());
                while last.elapsed() < QUIET && first.elapsed() < PATIENCE {
                    match receiver.recv_timeout(QUIET.saturating_sub(last.elapsed())) {
                        Ok(event) if is_change(&event) => last = Instant::now(),
                        _ => {}
                    }
                }
                each(index.refresh_with(options, observer));
            }
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(())
}

/// Returns `true` if a change concerns the index itself or version control's own files.
fn is_internal(roots: &[&Path], directory: &Path, path: &Path) -> bool {
    let under = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    path.starts_with(directory)
        || under.is_some_and(|under| {
            under.components().any(|part| part.as_os_str() == INDEX_DIRECTORY || part.as_os_str() == ".git")
        })
}
