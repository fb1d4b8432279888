//! Keeps an index fresh while the tree changes.

use super::{RunOptions, RunReport};
use crate::Error;
use crate::handle::Index;
use crate::handle::SourceState;
use crate::location::INDEX_DIRECTORY;
use crate::progress::Observer;
use notify_debouncer_full::notify::{EventKind, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, new_debouncer};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Changes closer together than this share one run.
const QUIET: Duration = Duration::from_millis(300);

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
    let first = roots.first().copied().unwrap_or(&index.location().root);
    let (sender, receiver) = channel();
    let mut debouncer = new_debouncer(QUIET, None, move |events: DebounceEventResult| {
        // The receiver is gone once watching has ended.
        let _ = sender.send(events);
    })
    .map_err(|error| Error::path(first, format!("cannot be watched: {error}")))?;
    for root in &roots {
        debouncer
            .watch(root, RecursiveMode::Recursive)
            .map_err(|error| Error::path(root, format!("cannot be watched: {error}")))?;
    }
    each(Ok(index.refresh_with(options, observer)?));
    while !observer.cancelled() {
        match receiver.recv_timeout(POLL) {
            Ok(Ok(events)) => {
                let concerns = |path: &std::path::PathBuf| !is_internal(&roots, &index.location().directory, path);
                let changed = |kind: &EventKind| !matches!(kind, EventKind::Access(_));
                if events.iter().any(|event| changed(&event.kind) && event.paths.iter().any(concerns)) {
                    each(index.refresh_with(options, observer));
                }
            }
            // The watcher lost events, so only a whole comparison finds the changes.
            Ok(Err(_)) => each(index.refresh_with(options, observer)),
            Err(RecvTimeoutError::Timeout) => {}
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
