//! `/v1/duplicates`: the likely duplicates of an issue.

use super::filters::ENTRY_POINT;
use crate::api::endpoint::{Endpoint, Verbs};
use crate::api::problem::{Kind, Problem};
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::duplicates::{DuplicateQuestion, DuplicatesRequest};

pub(crate) struct Duplicates;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Number of an issue of the index.
    #[schemars(range(min = 1, max = 9_000_000_000_000_i64))]
    number: Option<u64>,
    /// Title of an issue that is not in the index.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    title: String,
    /// Its body.
    #[schemars(length(max = 50_000))]
    #[serde(default)]
    body: String,
    /// Only issues in one of these states: open, closed, merged.
    #[schemars(length(max = 10), inner(length(max = 20)))]
    #[serde(default)]
    states: Vec<String>,
    /// Repository to search first (default: the server's own, or all).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

impl Endpoint for Duplicates {
    const NAME: &'static str = "duplicates";
    const PATH: &'static str = "/v1/duplicates";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "List the likely duplicates of an issue";
    const DESCRIPTION: &'static str = "As `tamis duplicates --json`. Takes a number, or a title and a body.";
    type Parameters = Parameters;
    type Answer = tamis::duplicates::Duplicates;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<tamis::duplicates::Duplicates, Problem> {
        let Parameters { number, title, body, .. } = parameters;
        let has_text = !(title.trim().is_empty() && body.trim().is_empty());
        let question = match number {
            Some(number) if !has_text => DuplicateQuestion::Issue(number),
            Some(number) => return Err(Problem::parameter("number", number, "without a title and a body")),
            None if has_text => DuplicateQuestion::Text { title, body },
            None => return Err(Problem::new(Kind::Parameter, "duplicates needs number, or title and body")),
        };
        Ok(call.index.duplicates().find(&DuplicatesRequest {
            states: parameters.states,
            namespace: parameters.namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some(ENTRY_POINT.to_owned()),
            ..DuplicatesRequest::new(question)
        }, call.observer)?)
    }
}
