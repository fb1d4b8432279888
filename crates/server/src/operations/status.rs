//! The contents of the index, and its freshness.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tamis::{Error, IndexPlace};
use tamis_store::{Count, EvidenceSummary, Filter, Namespace};

use crate::api::Verbs;
use crate::api::problem::{Kind, Problem};
use crate::background::{BackgroundState, Phase};
use crate::caller::Caller;
use crate::operation::{Call, Failure, Nothing, Operation, Route, Tool};
use crate::paging::warning_lines;
use crate::untrusted_text::{FIXED_MAX_CHARS, counted, fenced, name};

pub(crate) struct Status;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct StatusRequest {
    /// Only evidence of this task (default: all).
    #[schemars(length(min = 1, max = 200))]
    task_id: Option<String>,
    /// Repository (default: all).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

impl Operation for Status {
    const NAME: &'static str = "status";
    type Request = StatusRequest;
    type Answer = tamis::Status;

    fn call(call: &Call<'_>, request: StatusRequest) -> Result<tamis::Status, Failure> {
        let mut status = call.index.status()?;
        let wanted = request.namespace.map(|wanted| known(call, wanted)).transpose()?;
        if let Some(names) = wanted.map(|wanted| vec![wanted]).or(call.allowed()) {
            status = limited(call, status, &names)?;
        }
        if let Some(task) = request.task_id {
            for evidence in &mut status.evidence {
                *evidence = call.index.evidence().summary(Some(&evidence.namespace), Some(&task))?;
            }
            status.evidence.retain(|evidence| !evidence.is_empty());
        }
        Ok(status)
    }
}

impl Route for Status {
    const PATH: &'static str = "/v1/status";
    const SUMMARY: &'static str = "Show the contents of the index and their freshness";
    const DESCRIPTION: &'static str = "As `tamis status --json`. A token that is limited to namespaces gets the counts of these by \
        namespace, collection and model, without paths and sizes.";
    const TAGGED: bool = true;
}

impl Tool for Status {
    const TOOL_NAME: &'static str = "get_status";
    const TITLE: &'static str = "Status";
    const DESCRIPTION: &'static str = "Show what the index holds: repositories, collections, counts, models, and files changed \
        since.";
    const MAX_CHARS: usize = FIXED_MAX_CHARS;
    type Options = Nothing;

    fn text(call: &Call<'_>, status: &tamis::Status, _: &Nothing) -> String {
        let summary = &status.summary;
        let passages = summary.passages;
        let fresh = match status.files.stale {
            0 if call.state.phase == Phase::Indexing => "being updated".to_owned(),
            0 => "up to date".to_owned(),
            stale => format!("{stale} files have changed since"),
        };
        let mut text = String::new();
        let mut list = |what: &str, entries: Vec<String>| {
            if !entries.is_empty() {
                let _ = writeln!(text, "{what}: {}", entries.join(", "));
            }
        };
        let sizes = |one: &Count| {
            let (documents, passages) = (one.documents as usize, one.passages as usize);
            format!("{} ({}, {})", name(&one.name), counted(documents, "document"), counted(passages, "passage"))
        };
        list("namespaces", summary.counts.namespaces.iter().map(sizes).collect());
        list("collections", summary.counts.collections.iter().map(sizes).collect());
        let embedded = |model: &tamis_store::ModelSummary| {
            format!("{} ({} of {passages} embedded)", model.model.id, model.coverage.embedded)
        };
        list("models", summary.models.iter().map(embedded).collect());
        status.evidence.iter().for_each(|evidence| text.push_str(&evidence_line(evidence)));
        let text = if text.is_empty() { text } else { fenced(&text) };
        let remarks = status.sources.iter().filter_map(|source| source.remark.clone());
        let warnings: Vec<String> = call.warnings().into_iter().chain(remarks).collect();
        format!("{} documents in {passages} passages, {fresh}.\n{text}", summary.documents)
            + &warning_lines(&warnings, FIXED_MAX_CHARS / 4)
    }
}

fn evidence_line(evidence: &EvidenceSummary) -> String {
    let EvidenceSummary { tasks, claims, fragments, pages, supporting, refuting, neutral, .. } = evidence;
    let domain = |domain: &Count| format!("{} ({} fragments)", name(&domain.name), domain.passages);
    let domains: Vec<String> = evidence.top_domains.iter().map(domain).collect();
    let domains = if domains.is_empty() { String::new() } else { format!("; from {}", domains.join(", ")) };
    format!(
        "evidence of {}: {tasks} tasks, {claims} claims, {fragments} fragments of {pages} pages, {supporting} supporting, \
         {refuting} refuting and {neutral} neutral edges{domains}\n",
        name(&evidence.namespace)
    )
}

/// The namespace, if it exists and the caller may read it; both errors are the same.
fn known(call: &Call<'_>, wanted: String) -> Result<String, Error> {
    let known = call.index.contents().namespaces()?;
    let mut names: Vec<String> = known.into_iter().map(|known| known.name).filter(|name| call.may_read(name)).collect();
    names.sort();
    match names.contains(&wanted) {
        true => Ok(wanted),
        false => Err(Error::Argument {
            name: "namespace",
            value: format!("{wanted:?}"),
            allowed: format!("one of {}", names.join(", ")),
        }),
    }
}

/// The part of a status about these namespaces.
fn limited(call: &Call<'_>, mut status: tamis::Status, allowed: &[String]) -> Result<tamis::Status, Failure> {
    let may_read = |namespace: &str| allowed.iter().any(|one| one == namespace);
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
    status.place = IndexPlace::default();
    if !may_read(&status.namespace) {
        status.namespace = String::new();
    }
    status.files.stale = status.sources.iter().map(|source| source.stale).sum();
    status.files.skipped.clear();
    status.files.notes.clear();
    status.embedding_cache = None;
    let summary = &mut status.summary;
    summary.documents = namespaces.iter().map(|count| count.documents).sum();
    summary.passages = namespaces.iter().map(|count| count.passages).sum();
    summary.counts.namespaces = namespaces;
    summary.counts.collections = collections.into_values().collect();
    // Both are those of passages, which are not counted by namespace.
    summary.counts.languages.clear();
    summary.counts.roles.clear();
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

// The repositories and projects in the index.

pub(crate) struct Namespaces;

impl Operation for Namespaces {
    const NAME: &'static str = "namespaces";
    type Request = Nothing;
    type Answer = Vec<Namespace>;

    fn call(call: &Call<'_>, _: Nothing) -> Result<Vec<Namespace>, Failure> {
        let mut namespaces = call.index.contents().namespaces()?;
        namespaces.retain(|namespace| call.may_read(&namespace.name));
        if call.caller.namespaces.is_some() {
            for namespace in &mut namespaces {
                (namespace.root, namespace.machine) = (None, None);
                namespace.owner = None;
            }
        }
        Ok(namespaces)
    }
}

impl Route for Namespaces {
    const PATH: &'static str = "/v1/namespaces";
    const SUMMARY: &'static str = "List the namespaces that the caller may read";
    const DESCRIPTION: &'static str =
        "A token that is limited to namespaces does not see their directories and owners.";
    const TAGGED: bool = true;
}

// Reads the tree now.

pub(crate) struct Refresh;

impl Operation for Refresh {
    const NAME: &'static str = "refresh";
    type Request = Nothing;
    type Answer = BackgroundState;

    fn is_for(caller: &Caller) -> bool {
        caller.may_refresh
    }

    fn call(call: &Call<'_>, _: Nothing) -> Result<BackgroundState, Failure> {
        if !call.background.request() {
            let detail = "this server does not keep the index fresh; start it without --no-refresh and with search.refresh = true";
            return Err(Problem::new(Kind::Conflict, detail).into());
        }
        Ok(call.background.state().seen_by(call.caller))
    }
}

impl Route for Refresh {
    const PATH: &'static str = "/v1/refresh";
    const VERBS: Verbs = Verbs::Post;
    const SUMMARY: &'static str = "Read the tree now, without waiting for a change";
    const DESCRIPTION: &'static str = "The answer comes at once, with the state of the work; `/v1/events` reports the progress. The server \
        reads changed files by itself, so this is for trees whose changes it does not notice, such as network drives.";
    const NEEDS: &'static str =
        "reading on demand is off: the server needs --allow-refresh, and a token refresh = true";
}
