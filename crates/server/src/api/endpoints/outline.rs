//! `/v1/outline`: the symbols of a file or directory.

use crate::api::endpoint::Endpoint;
use crate::api::problem::Problem;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::tree::{OutlineAnswer, OutlineRequest};

pub(crate) struct Outline;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// File, directory or glob.
    #[schemars(length(min = 1, max = 4000))]
    path: String,
    /// Include symbols compiled for tests only.
    #[serde(default)]
    tests: bool,
    /// Most symbols of a file (default: all; 20 in a directory).
    #[schemars(range(min = 1, max = 10_000))]
    limit: Option<usize>,
    /// Repository (default: the server's own, or all).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

impl Endpoint for Outline {
    const NAME: &'static str = "outline";
    const PATH: &'static str = "/v1/outline";
    const SUMMARY: &'static str = "List the symbols of a file, or the outermost of a directory's files";
    const DESCRIPTION: &'static str = "As `tamis outline --json`.";
    const TAGGED: bool = true;
    type Parameters = Parameters;
    type Answer = OutlineAnswer;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<OutlineAnswer, Problem> {
        Ok(call.index.tree().outline(&OutlineRequest {
            path: parameters.path,
            namespace: parameters.namespace,
            allowed_namespaces: call.allowed(),
            tests: parameters.tests,
            limit: parameters.limit,
        })?)
    }
}
