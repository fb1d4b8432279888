//! `/v1/pack`: the relevant results as one text.

use super::filters::{ENTRY_POINT, languages};
use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::Problem;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::SearchRequest;
use tamis::pack::PackRequest;

pub(crate) struct Pack;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// A question, or some words.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Most tokens of the text, everything included.
    #[schemars(range(min = 50, max = 1_000_000))]
    #[serde(default = "budget")]
    budget_tokens: usize,
    /// Most results packed (default: all relevant ones).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// Only paths that match one of these globs; `!` excludes.
    #[schemars(length(max = 50), inner(length(max = 4000)), extend("x-whole" = true))]
    #[serde(default)]
    paths: Vec<String>,
    /// Only these languages, by name or file extension.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    languages: Vec<String>,
    /// Only these collections, such as code or docs.
    #[schemars(length(max = 20), inner(length(max = 200)))]
    #[serde(default)]
    collections: Vec<String>,
    /// Only these namespaces.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    namespaces: Vec<String>,
}

fn budget() -> usize {
    4000
}

impl Endpoint for Pack {
    const NAME: &'static str = "pack";
    const PATH: &'static str = "/v1/pack";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Pack everything relevant into one text within a budget of tokens";
    const DESCRIPTION: &'static str = "As `tamis pack --json`.";
    type Parameters = Parameters;
    type Answer = tamis::pack::Pack;

    fn kept(answer: &tamis::pack::Pack) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<tamis::pack::Pack, Problem> {
        let search = SearchRequest {
            limit: parameters.limit,
            paths: parameters.paths,
            languages: languages(&parameters.languages)?,
            collections: parameters.collections,
            namespaces: parameters.namespaces,
            allowed_namespaces: call.allowed(),
            entry_point: Some(ENTRY_POINT.to_owned()),
            caller: Some(call.session),
            ..SearchRequest::new(parameters.query)
        };
        search.check()?;
        let mut pack = call.index.pack(&PackRequest { search, budget_tokens: parameters.budget_tokens })?;
        pack.warnings.splice(0..0, call.warnings());
        Ok(pack)
    }
}
