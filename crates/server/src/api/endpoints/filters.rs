//! Parameters that several routes share, and their translation for the library.

use crate::api::problem::{Kind, Problem};
use crate::tool::Call;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::cut::Want;
use tamis::search::{Aim, MetadataFilter};
use tamis::text::Language;
use tamis::{SearchRequest, dates};

/// The query and the filters of search and recall.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct QueryParameters {
    /// A question, or some words.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Most results, each a file, an issue or the like (default: search.top_k).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// Gather candidates by words (lexical), by meaning (semantic), or by both (hybrid) (default: search.mode).
    mode: Option<Mode>,
    /// Only these namespaces, all of equal standing.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    namespaces: Vec<String>,
    /// Search one's own namespace alone, without those that its owner shares.
    #[serde(default)]
    no_sharing: bool,
    /// Only paths that match one of these globs; `!` excludes.
    #[schemars(length(max = 50), inner(length(max = 4000)), extend("x-whole" = true))]
    #[serde(default)]
    paths: Vec<String>,
    /// Only these collections, such as code or docs.
    #[schemars(length(max = 20), inner(length(max = 200)))]
    #[serde(default)]
    collections: Vec<String>,
    /// Only issues in one of these states: open, closed, merged, unmerged, resolved.
    #[schemars(length(max = 10), inner(length(max = 20)))]
    #[serde(default)]
    states: Vec<String>,
    /// Only documents with each of these labels; commas within one separate alternatives.
    #[schemars(length(max = 20), inner(length(min = 1, max = 1000)), extend("x-whole" = true))]
    #[serde(default)]
    labels: Vec<String>,
    /// Only passages by one of these authors.
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    #[serde(default)]
    authors: Vec<String>,
    /// Only issues, or only pull requests: issue, pull_request.
    #[schemars(length(max = 5), inner(length(max = 20)))]
    #[serde(default)]
    types: Vec<String>,
    /// Only notes on one of these topics.
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    #[serde(default)]
    topics: Vec<String>,
    /// Only what is dated since: 2025-01-31, 7d, yesterday, 'last week'.
    #[schemars(length(min = 1, max = 100))]
    since: Option<String>,
    /// Only what is dated before, in the same forms.
    #[schemars(length(min = 1, max = 100))]
    until: Option<String>,
    /// Where relevance ends: a cut method with its parameters, METHOD[:PARAM=VALUE,…], or `off`
    /// to list the first results (default: as configured).
    #[schemars(length(min = 1, max = 1000))]
    cut: Option<String>,
    /// Keep the one answer, the best ones, or all on the topic (default: search.want).
    want: Option<HowMuch>,
    /// Count precision this many times as much as recall; for the cut auto.
    #[schemars(range(min = 0.1, max = 10.0))]
    strictness: Option<f64>,
    /// Keep the fewest with this expected recall; for the cut auto.
    #[schemars(range(min = 0.0, max = 0.999))]
    target_recall: Option<f64>,
    /// Keep no more than have this expected precision; for the cut auto.
    #[schemars(range(min = 0.0, max = 0.999))]
    min_precision: Option<f64>,
    /// Keep no more than this many tokens of text; for the cut auto.
    #[schemars(range(min = 0, max = 1_000_000))]
    budget_tokens: Option<usize>,
    /// Keep the best even if nothing seems to be on topic.
    #[serde(default)]
    no_gate: bool,
    /// List the first results as they are ranked, without a cut or a gate; the same as the cut `off`.
    #[serde(default)]
    all: bool,
    /// Leave out the less likely results below the line.
    #[serde(default)]
    strict: bool,
    /// Answer without the reranker, whatever rerank.model says.
    #[serde(default)]
    fast: bool,
    /// Return the whole pool of candidates with its figures.
    #[serde(default)]
    explain: bool,
    /// Lines around the best line of each result (default: 6 lines in all).
    #[schemars(range(min = 0, max = 500))]
    pub context: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Hybrid,
    Lexical,
    Semantic,
}

/// The number of results wanted.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HowMuch {
    Auto,
    One,
    Best,
    All,
}

impl HowMuch {
    pub fn want(self) -> Want {
        match self {
            HowMuch::Auto => Want::Auto,
            HowMuch::One => Want::One,
            HowMuch::Best => Want::Best,
            HowMuch::All => Want::All,
        }
    }
}

/// The entry point that recorded searches name.
pub(super) const ENTRY_POINT: &str = "http";

/// The word for a search without a cut.
const OFF: &str = "off";

impl QueryParameters {
    /// The request of a caller, made by `new` from the words of the query.
    pub fn request(self, call: &Call<'_>, new: fn(String) -> SearchRequest) -> Result<SearchRequest, Problem> {
        let metadata = self.metadata()?;
        let mut request = SearchRequest {
            limit: self.limit,
            mode: self.mode.map(|mode| match mode {
                Mode::Hybrid => tamis::Mode::Hybrid,
                Mode::Lexical => tamis::Mode::Lexical,
                Mode::Semantic => tamis::Mode::Semantic,
            }),
            namespaces: self.namespaces,
            allowed_namespaces: call.allowed(),
            sharing: self.no_sharing.then_some(false),
            paths: self.paths,
            collections: self.collections,
            metadata,
            want: self.want.map(HowMuch::want),
            aim: Aim {
                strictness: self.strictness,
                target_recall: self.target_recall,
                min_precision: self.min_precision,
                budget_tokens: self.budget_tokens,
            },
            gate: self.no_gate.then_some(false),
            all: self.all || self.cut.as_deref() == Some(OFF),
            strict: self.strict,
            fast: self.fast,
            explain: self.explain,
            snippet_lines: self.context.map(|around| 2 * around + 1),
            entry_point: Some(ENTRY_POINT.to_owned()),
            caller: Some(call.session),
            ..new(self.query)
        };
        if let Some(cut) = self.cut.as_deref().filter(|cut| *cut != OFF) {
            request.cut = Some(rule(call, cut)?);
        }
        Ok(request)
    }

    fn metadata(&self) -> Result<MetadataFilter, Problem> {
        let lower = |values: &[String]| values.iter().map(|value| value.to_lowercase()).collect::<Vec<_>>();
        let types = |name: String| match name.as_str() {
            "pr" | "pull-request" => "pull_request".to_owned(),
            _ => name,
        };
        // A label may contain commas itself, so the whole text is one of the alternatives.
        let group = |labels: &String| {
            let several = labels.split(',').map(str::trim).filter(|label| labels.contains(',') && !label.is_empty());
            std::iter::once(labels.as_str()).chain(several).map(str::to_owned).collect()
        };
        Ok(MetadataFilter {
            states: lower(&self.states),
            labels: self.labels.iter().map(group).collect(),
            authors: self.authors.clone(),
            types: lower(&self.types).into_iter().map(types).collect(),
            topics: self.topics.clone(),
            since: moment("since", self.since.as_deref())?,
            until: moment("until", self.until.as_deref())?,
        })
    }
}

/// A cut with its parameters; those that are not given come from the configuration.
pub(super) fn rule(call: &Call<'_>, text: &str) -> Result<Box<dyn tamis::cut::Rule>, Problem> {
    call.index.config().cut(text).map_err(|error| Problem::new(Kind::Parameter, format!("cut: {error}")))
}

/// The moment that a parameter names, relative to now.
pub(super) fn moment(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let read = |text| {
        dates::moment(text, &dates::now()).map_err(|error| Problem::new(Kind::Parameter, format!("{name}: {error}")))
    };
    text.map(read).transpose()
}

/// The canonical names behind names, aliases and file extensions.
pub(super) fn languages(names: &[String]) -> Result<Vec<String>, Problem> {
    let mut languages = Vec::new();
    for name in names {
        let found = Language::selection(name);
        if found.is_empty() {
            let allowed = "a language, such as rust, python, markdown, or a file extension such as rs";
            return Err(Problem::parameter("languages", name, allowed));
        }
        languages.extend(found.iter().map(|language| language.name.to_owned()));
    }
    languages.sort();
    languages.dedup();
    Ok(languages)
}

/// The one namespace whose figures a caller may have: the one that it names, or its only one. `None`: all, for a caller who may
/// read all.
pub(super) fn one_namespace(call: &Call<'_>, wanted: Option<String>) -> Result<Option<String>, Problem> {
    let Some(allowed) = call.allowed() else { return Ok(wanted) };
    match (wanted, allowed.as_slice()) {
        (Some(wanted), allowed) if allowed.contains(&wanted) => Ok(Some(wanted)),
        (None, [one]) => Ok(Some(one.clone())),
        (wanted, []) => {
            Err(Problem::parameter("namespace", wanted.unwrap_or_default(), "one that you may read; there is none"))
        }
        (wanted, allowed) => {
            Err(Problem::parameter("namespace", wanted.unwrap_or_default(), format!("one of {}", allowed.join(", "))))
        }
    }
}
