//! `/v1/files`: files of the index by name.

use super::filters::languages;
use crate::api::endpoint::Endpoint;
use crate::api::problem::Problem;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::tree::{FilesAnswer, FilesRequest, TreeScope};

pub(crate) struct Files;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Glob, part of a path, or some of its letters in order; `!GLOB` leaves paths out (default: all files).
    #[schemars(length(max = 1000))]
    pattern: Option<String>,
    /// Only these languages, by name or file extension.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    languages: Vec<String>,
    /// Most files listed (default: all); all are counted.
    #[schemars(range(min = 1, max = 1_000_000))]
    limit: Option<usize>,
    /// Repository (default: the server's own, or all).
    #[schemars(length(min = 1, max = 200))]
    namespace: Option<String>,
}

impl Endpoint for Files {
    const NAME: &'static str = "files";
    const PATH: &'static str = "/v1/files";
    const SUMMARY: &'static str = "Find files by name";
    const DESCRIPTION: &'static str = "As `tamis files --json`.";
    const TAGGED: bool = true;
    type Parameters = Parameters;
    type Answer = FilesAnswer;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<FilesAnswer, Problem> {
        Ok(call.index.tree().files(&FilesRequest {
            pattern: parameters.pattern,
            scope: TreeScope {
                paths: Vec::new(),
                languages: languages(&parameters.languages)?,
                namespace: parameters.namespace,
                allowed_namespaces: call.allowed(),
            },
            limit: parameters.limit,
        })?)
    }
}
