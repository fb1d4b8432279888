//! The contents of the index, and its freshness.

use crate::call::Call;
use crate::operation::{Failure, Nothing, Operation, Route};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tamis_store::{Count, Filter};

pub(crate) struct Status;

impl Operation for Status {
    const NAME: &'static str = "status";
    type Request = Nothing;
    type Answer = tamis::Status;

    fn call(call: &Call<'_>, _: Nothing) -> Result<tamis::Status, Failure> {
        let status = call.index.status()?;
        match call.allowed() {
            None => Ok(status),
            Some(allowed) => limited(call, status, &allowed),
        }
    }
}

impl Route for Status {
    const PATH: &'static str = "/v1/status";
    const SUMMARY: &'static str = "Show the contents of the index and their freshness";
    const DESCRIPTION: &'static str = "As `tamis status --json`. A token that is limited to namespaces gets the counts of these by \
        namespace, collection and model, without paths and sizes.";
    const TAGGED: bool = true;
}

/// The part of a status that a caller of these namespaces may read.
fn limited(call: &Call<'_>, mut status: tamis::Status, allowed: &[String]) -> Result<tamis::Status, Failure> {
    let may_read = |namespace: &str| call.may_read(namespace);
    let contents = call.index.contents();
    let mut collections = BTreeMap::new();
    let mut namespaces = Vec::new();
    for namespace in contents.namespaces()?.into_iter().filter(|namespace| may_read(&namespace.name)) {
        let mut counted = Count { name: namespace.name, ..Count::default() };
        for document in contents.documents(&counted.name)?.into_iter().filter(|document| document.passages > 0) {
            let passages = u64::from(document.passages);
            add(&mut counted, passages);
            let name = document.collection;
            add(collections.entry(name.clone()).or_insert(Count { name, ..Count::default() }), passages);
        }
        namespaces.push(counted);
    }
    status.sources.retain(|source| may_read(&source.namespace));
    for source in &mut status.sources {
        source.root = PathBuf::new();
        source.owner = None;
    }
    status.imported.retain(|imported| may_read(&imported.namespace));
    status.evidence.retain(|evidence| may_read(&evidence.namespace));
    status.root = PathBuf::new();
    status.directory = PathBuf::new();
    if !may_read(&status.namespace) {
        status.namespace = String::new();
    }
    status.stale = status.sources.iter().map(|source| source.stale).sum();
    status.skipped.clear();
    status.notes.clear();
    status.embedding_cache = None;
    let summary = &mut status.summary;
    summary.documents = namespaces.iter().map(|count| count.documents).sum();
    summary.passages = namespaces.iter().map(|count| count.passages).sum();
    summary.namespaces = namespaces;
    summary.collections = collections.into_values().collect();
    // Both are those of passages, which are not counted by namespace.
    summary.languages.clear();
    summary.roles.clear();
    summary.sizes = Default::default();
    summary.last_change_ms = None;
    summary.last_publish_ms = None;
    summary.seq = 0;
    summary.lexical_seq = None;
    let filter = Filter { namespaces: allowed.to_vec(), ..Filter::default() };
    for model in &mut summary.models {
        // A filter without namespaces would match all of them.
        model.coverage =
            if allowed.is_empty() { Default::default() } else { contents.coverage(&model.model.id, &filter)? };
        model.vectors = model.coverage.embedded;
        model.file_seq = None;
    }
    Ok(status)
}

/// Adds a document.
fn add(count: &mut Count, passages: u64) {
    count.documents += 1;
    count.passages += passages;
}
