//! The contents of the index and its freshness, for an agent.

use crate::background::Phase;
use crate::call::Call;
use crate::operation::{Failure, Nothing, Operation, Tool};
use crate::page::{shorten_warnings, warning_lines};
use crate::reply::Reply;
use crate::sanitize::FIXED_MAX_CHARS;
use crate::text::{fenced, name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use tamis::evidence::EvidenceSummary;
use tamis::{Error, Status};
use tamis_store::{Count, Filter};

pub(crate) struct GetStatus;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Only evidence of this task (default: all tasks).
    #[schemars(length(min = 1, max = 200))]
    task_id: Option<String>,
    /// Repository (default: all).
    namespace: Option<String>,
}

/// The contents of the index.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct State {
    /// Number of documents.
    documents: u64,
    /// Number of passages.
    passages: u64,
    /// Number of files that have changed since they were indexed.
    stale: u64,
    /// Counts by repository or project.
    namespaces: Vec<Namespace>,
    /// Counts by kind of text.
    collections: Vec<Share>,
    /// Embedding models, with the passages that each has embedded.
    models: Vec<Model>,
    /// Evidence by repository or project, for those that have any.
    evidence: Vec<Evidence>,
    /// State of the index: fresh, indexing, embedding with a better model, failed, or off when nothing keeps it fresh.
    freshness: Freshness,
    /// Warnings, such as a missing directory.
    warnings: Vec<String>,
}

/// A repository or project.
#[derive(Debug, Serialize, JsonSchema)]
struct Namespace {
    /// Name.
    name: String,
    /// Number of documents.
    documents: u64,
    /// Number of passages.
    passages: u64,
    /// Number of files that have changed since they were indexed; absent when it has no directory.
    stale: Option<u64>,
}

/// A kind of text.
#[derive(Debug, Serialize, JsonSchema)]
struct Share {
    /// Name, as in the argument collections.
    name: String,
    /// Number of documents.
    documents: u64,
    /// Number of passages.
    passages: u64,
}

/// Evidence of a repository or project.
#[derive(Debug, Serialize, JsonSchema)]
struct Evidence {
    /// Name.
    namespace: String,
    /// Number of tasks.
    tasks: u64,
    /// Number of claims.
    claims: u64,
    /// Number of fragments.
    fragments: u64,
    /// Number of pages.
    pages: u64,
    /// Number of edges that support a claim.
    supporting: u64,
    /// Number of edges that refute a claim.
    refuting: u64,
    /// Number of edges that do neither, or have not been judged yet.
    neutral: u64,
    /// The ten domains with the most fragments.
    top_domains: Vec<Domain>,
}

/// A domain of pages.
#[derive(Debug, Serialize, JsonSchema)]
struct Domain {
    /// Name.
    name: String,
    /// Number of its pages.
    pages: u64,
    /// Number of their fragments.
    fragments: u64,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Freshness {
    Off,
    Indexing,
    Embedding,
    Fresh,
    Failed,
}

impl From<Phase> for Freshness {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Off => Freshness::Off,
            Phase::Indexing => Freshness::Indexing,
            Phase::Embedding => Freshness::Embedding,
            Phase::Fresh => Freshness::Fresh,
            Phase::Failed => Freshness::Failed,
        }
    }
}

/// An embedding model.
#[derive(Debug, Serialize, JsonSchema)]
struct Model {
    /// Name.
    id: String,
    /// Number of passages that it has embedded.
    embedded: u64,
}

impl Operation for GetStatus {
    const NAME: &'static str = "get_status";
    type Request = Arguments;
    type Answer = State;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<State, Failure> {
        let names = namespaces(call, arguments.namespace.as_deref())?;
        let mut answer = state(call, &names, arguments.task_id.as_deref())?;
        answer.warnings.splice(0..0, call.warnings());
        shorten_warnings(&mut answer.warnings, FIXED_MAX_CHARS / 4);
        Ok(answer)
    }
}

impl Tool for GetStatus {
    const TITLE: &'static str = "Status";
    const DESCRIPTION: &'static str = "Say what the index holds: repositories, collections, counts, models, and files changed \
        since. Use it when results seem outdated.";
    const MAX_CHARS: usize = FIXED_MAX_CHARS;
    type Options = Nothing;
    type View = State;

    fn view(_: &Call<'_>, state: State, _: Nothing) -> Reply<State> {
        let text = text(&state);
        Reply::new(state, text)
    }
}

impl Evidence {
    fn of(summary: EvidenceSummary) -> Self {
        let domain =
            |count: Count| Domain { name: name(&count.name), pages: count.documents, fragments: count.passages };
        Evidence {
            namespace: summary.namespace,
            tasks: summary.tasks,
            claims: summary.claims,
            fragments: summary.fragments,
            pages: summary.pages,
            supporting: summary.supporting,
            refuting: summary.refuting,
            neutral: summary.neutral,
            top_domains: summary.top_domains.into_iter().map(domain).collect(),
        }
    }

    fn text(&self) -> String {
        let Evidence { tasks, claims, fragments, pages, supporting, refuting, neutral, .. } = self;
        let domains: Vec<String> =
            self.top_domains.iter().map(|domain| format!("{} ({} fragments)", domain.name, domain.fragments)).collect();
        let domains = if domains.is_empty() { String::new() } else { format!("; from {}", domains.join(", ")) };
        format!(
            "evidence of {}: {tasks} tasks, {claims} claims, {fragments} fragments of {pages} pages, {supporting} supporting, \
             {refuting} refuting and {neutral} neutral edges{domains}\n",
            name(&self.namespace)
        )
    }
}

/// The namespaces to report: the one named, or all that the caller may read.
///
/// # Errors
/// The namespace does not exist, or the caller may not read it; both give the same message.
fn namespaces(call: &Call<'_>, wanted: Option<&str>) -> Result<Vec<String>, Error> {
    let known = call.index.contents().namespaces()?;
    let mut names: Vec<String> = known.into_iter().map(|known| known.name).filter(|name| call.may_read(name)).collect();
    if let Some(wanted) = wanted {
        if !names.iter().any(|name| name == wanted) {
            return Err(Error::Argument {
                name: "namespace",
                value: format!("{wanted:?}"),
                allowed: format!("one of {}", names.join(", ")),
            });
        }
        names.retain(|name| name == wanted);
    }
    Ok(names)
}

/// The contents of these namespaces.
fn state(call: &Call<'_>, names: &[String], task: Option<&str>) -> Result<State, Error> {
    let status: Status = call.index.status()?;
    let store = call.index.contents();
    let mut collections: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut namespaces = Vec::with_capacity(names.len());
    let mut evidence = Vec::new();
    for name in names {
        let mut namespace = Namespace { name: name.clone(), documents: 0, passages: 0, stale: None };
        let documents = store.documents(name)?;
        for document in documents.into_iter().filter(|document| document.passages > 0) {
            let passages = u64::from(document.passages);
            namespace.documents += 1;
            namespace.passages += passages;
            let count = collections.entry(document.collection).or_default();
            *count = (count.0 + 1, count.1 + passages);
        }
        namespace.stale = status.sources.iter().find(|source| source.namespace == *name).map(|source| source.stale);
        namespaces.push(namespace);
        let summary = call.index.evidence().summary(Some(name), task)?;
        evidence.extend((!summary.is_empty()).then(|| Evidence::of(summary)));
    }
    let sources = status.sources.iter().filter(|source| names.contains(&source.namespace));
    let filter = Filter { namespaces: names.to_vec(), ..Filter::default() };
    let models = status.summary.models.iter().map(|model| {
        let id = model.model.id.clone();
        // A filter without namespaces would match all of them.
        let embedded = if names.is_empty() { 0 } else { store.coverage(&id, &filter)?.embedded };
        Ok::<Model, Error>(Model { id, embedded })
    });
    Ok(State {
        documents: namespaces.iter().map(|namespace| namespace.documents).sum(),
        passages: namespaces.iter().map(|namespace| namespace.passages).sum(),
        stale: namespaces.iter().filter_map(|namespace| namespace.stale).sum(),
        models: models.collect::<Result<_, _>>()?,
        warnings: sources.filter_map(|source| source.remark.clone()).collect(),
        namespaces,
        evidence,
        freshness: call.state.phase.into(),
        collections: collections
            .into_iter()
            .map(|(name, (documents, passages))| Share { name, documents, passages })
            .collect(),
    })
}

fn text(state: &State) -> String {
    let State { documents, passages, stale, .. } = state;
    let fresh = if *stale == 0 { "up to date".to_owned() } else { format!("{stale} files have changed since") };
    let head = format!("{documents} documents in {passages} passages, {fresh}.\n");
    let mut text = String::new();
    let list = |text: &mut String, what: &str, entries: Vec<String>| {
        if !entries.is_empty() {
            let _ = writeln!(text, "{what}: {}", entries.join(", "));
        }
    };
    let counted = |called: &str, documents: u64, passages: u64| {
        format!("{} ({documents} documents, {passages} passages)", name(called))
    };
    let namespaces = state.namespaces.iter().map(|one| counted(&one.name, one.documents, one.passages));
    list(&mut text, "namespaces", namespaces.collect());
    let collections = state.collections.iter().map(|one| counted(&one.name, one.documents, one.passages));
    list(&mut text, "collections", collections.collect());
    let models = state.models.iter().map(|model| format!("{} ({} of {passages} embedded)", model.id, model.embedded));
    list(&mut text, "models", models.collect());
    state.evidence.iter().for_each(|evidence| text.push_str(&evidence.text()));
    let named = if text.is_empty() { text } else { fenced(&text) };
    head + &named + &warning_lines(&state.warnings)
}
