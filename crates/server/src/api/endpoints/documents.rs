//! `/v1/documents`: the text of a result, a document or some of its lines.

use crate::api::endpoint::Endpoint;
use crate::api::problem::Problem;
use crate::labels::note_opened;
use crate::tool::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::Excerpt;

pub(crate) struct Document;
pub(crate) struct DocumentByPath;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Identifier of a result, or whatever else `tamis get` takes: PATH, PATH:LINE, PATH:FIRST-LAST, or 233 for an issue.
    #[schemars(length(min = 1, max = 4000))]
    id: String,
    /// More lines before and after.
    #[schemars(range(min = 0, max = 1000))]
    #[serde(default)]
    context: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct PathParameters {
    /// PATH, PATH:LINE or PATH:FIRST-LAST; NAMESPACE: may precede it.
    #[schemars(length(min = 1, max = 4000))]
    path: String,
    /// More lines before and after.
    #[schemars(range(min = 0, max = 1000))]
    #[serde(default)]
    context: u32,
}

impl Endpoint for Document {
    const NAME: &'static str = "document";
    const PATH: &'static str = "/v1/documents/{id}";
    const SUMMARY: &'static str = "Read the full text of a result";
    const DESCRIPTION: &'static str = "As `tamis get --json`. A slash in the identifier is written %2F.";
    const TAGGED: bool = true;
    type Parameters = Parameters;
    type Answer = Excerpt;

    fn call(call: &Call<'_>, parameters: Parameters) -> Result<Excerpt, Problem> {
        read(call, &parameters.id, parameters.context)
    }
}

impl Endpoint for DocumentByPath {
    const NAME: &'static str = "document_by_path";
    const PATH: &'static str = "/v1/documents";
    const SUMMARY: &'static str = "Read a document or some of its lines";
    const DESCRIPTION: &'static str = "As `tamis get --json`.";
    const TAGGED: bool = true;
    type Parameters = PathParameters;
    type Answer = Excerpt;

    fn call(call: &Call<'_>, parameters: PathParameters) -> Result<Excerpt, Problem> {
        read(call, &parameters.path, parameters.context)
    }
}

fn read(call: &Call<'_>, wanted: &str, context: u32) -> Result<Excerpt, Problem> {
    let excerpt = call.index.get_with_context(wanted, context, call.caller.namespaces.as_deref())?;
    note_opened(call, &excerpt, "get");
    Ok(excerpt)
}
