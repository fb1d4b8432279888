//! `get`: the full text of a result.

use crate::reply::Reply;
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tamis::{Error, Excerpt};

pub(crate) struct Get;

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The `id` of a result, or `PATH`, `PATH:LINE` or `PATH:FIRST-LAST`.
    id: String,
}

impl Tool for Get {
    const NAME: &'static str = "get";
    const TITLE: &'static str = "Get";
    const DESCRIPTION: &'static str = "The full text of a result of another tool, or of lines of a document.";
    type Arguments = Arguments;
    type Answer = Excerpt;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Excerpt>, Error> {
        let excerpt = call.index.get_allowed(&arguments.id, call.caller.namespaces.as_deref())?;
        let text = format!("{}:{}-{}\n{}", excerpt.path, excerpt.start_line, excerpt.end_line, excerpt.text);
        Ok(Reply::new(excerpt, text))
    }
}
