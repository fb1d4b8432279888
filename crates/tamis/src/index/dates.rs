//! The dates of documents: the last commit of each file. A file without one has the date of its last change.
//!
//! A document keeps its date until its content changes and makes it a new document. So only documents without a date are looked
//! up, and only after a checkout of another commit: until then git can have learnt nothing new.

use super::read::is_file;
use crate::Error;
use crate::collections::SKIPPED;
use crate::config::FileCollection;
use crate::git;
use crate::git::Repository;
use crate::handle::Index;
use crate::handle::Source;

/// Looks up the missing dates of a source if there can be new ones; `again` forces it. Returns the reason why dates are still
/// missing.
pub(super) fn date(
    index: &Index,
    source: &Source,
    again: bool,
    stopped: &dyn Fn() -> bool,
) -> Result<Option<String>, Error> {
    let Some(repository) = Repository::find(&source.root) else { return Ok(Some("no git repository".into())) };
    let Some(head) = repository.head() else { return Ok(Some("the git repository has no commit yet".into())) };
    let property = property(&source.namespace);
    let last = index.store.property(&property)?.unwrap_or_default();
    let (last_head, last_note) = last.split_once('\n').unwrap_or((&last, ""));
    if last_head == head && !again {
        return Ok((!last_note.is_empty()).then(|| last_note.to_owned()));
    }
    let mut documents = index.store.documents(&source.namespace)?;
    documents.retain(|document| {
        document.dated_ns.is_none()
            && document.collection != SKIPPED
            // A note has the date that it names, or none. The commit of its file says nothing about its subject.
            && document.collection != FileCollection::Notes.as_str()
            && is_file(document)
    });
    let paths: Vec<&str> = documents.iter().map(|document| document.path.as_str()).collect();
    let dated = match paths.is_empty() {
        true => git::Dated::default(),
        false => git::dates(&repository, &source.root, &paths, stopped),
    };
    if !dated.dates.is_empty() {
        index.store.set_dates(&source.namespace, &dated.dates)?;
    }
    // A stopped run leaves the rest to the next one.
    if !stopped() {
        index.store.set_property(&property, &format!("{head}\n{}", dated.note.as_deref().unwrap_or_default()))?;
    }
    Ok(dated.note)
}

/// Forgets the last dating of a namespace.
pub(super) fn forget(index: &Index, namespace: &str) -> Result<(), Error> {
    Ok(index.store.set_property(&property(namespace), "")?)
}

/// Returns the property that holds the commit at which a namespace was dated, and on a second line the reason why dates were
/// missing.
fn property(namespace: &str) -> String {
    format!("git_head:{namespace}")
}
