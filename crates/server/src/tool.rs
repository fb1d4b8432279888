//! The list entry that a server keeps of a tool.

use crate::arguments;
use crate::call::{Call, Effect, MCP, Need};
use crate::caller::Caller;
use crate::lanes::Lane;
use crate::operation::{self, Tool};
use crate::refused::Refused;
use crate::{sanitize, schema};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Description, ToolAnnotations};
use serde_json::Value;

/// Most characters of an answer as data. Some clients accept at most a megabyte.
const MAX_DATA_CHARS: usize = 500_000;

/// A tool in a server's list.
pub(crate) struct RegisteredTool {
    pub description: Description,
    pub is_for: fn(&Caller) -> bool,
    pub need: Need,
    pub lane: Lane,
    output_schema: fn() -> JsonObject,
    call: fn(&mut Call<'_>, JsonObject) -> Result<CallToolResult, Refused>,
}

impl RegisteredTool {
    /// Registers an operation as a tool and generates the schema of its arguments.
    pub fn of<T: Tool>() -> RegisteredTool {
        let mut description = Description::new(T::TOOL_NAME, T::DESCRIPTION, operation::arguments::<T>());
        description.title = Some(T::TITLE.to_owned());
        // The other hints only mean something for tools that change something.
        let mut annotations = ToolAnnotations::new().read_only(T::EFFECT == Effect::Reads);
        if T::EFFECT != Effect::Reads {
            annotations = annotations.destructive(false).idempotent(T::EFFECT != Effect::Adds);
        }
        description.annotations = Some(annotations.open_world(false));
        RegisteredTool {
            description,
            is_for: T::is_for,
            need: T::NEED,
            lane: T::LANE,
            output_schema: schema::of_answer::<T::Answer>,
            call: call::<T>,
        }
    }

    /// The description for a client, with the schema of the answer if it wants that.
    pub fn described(&self, with_output: bool) -> Description {
        let mut description = self.description.clone();
        description.output_schema = with_output.then(|| (self.output_schema)().into());
        description
    }

    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Answers a call. An error is a result too, so that the agent reads it and corrects the call.
    pub fn answer(&self, call: &mut Call<'_>, arguments: JsonObject) -> CallToolResult {
        let schema = &self.description.input_schema;
        let validated =
            arguments::validated(self.name(), schema, arguments::coerced(schema, arguments)).map_err(Refused::from);
        let answered = validated.and_then(|arguments| (self.call)(call, arguments));
        call.metrics.tool(&self.description.name, answered.is_ok());
        answered.unwrap_or_else(|refused| CallToolResult::error(vec![ContentBlock::text(refused.text(call.caller))]))
    }
}

fn call<T: Tool>(call: &mut Call<'_>, arguments: JsonObject) -> Result<CallToolResult, Refused> {
    call.entry_point = MCP;
    let number = |name: &str| arguments.get(name).and_then(Value::as_u64).and_then(|value| usize::try_from(value).ok());
    let most = number("max_chars").unwrap_or(T::MAX_CHARS);
    // The further pages of an answer are the same search.
    let is_first_page = number("offset").unwrap_or_default() == 0;
    let invalid = |error: serde_json::Error| Refused::from(error.to_string());
    let (request, options) = operation::read::<T>(call, arguments).map_err(invalid)?;
    let answer = T::call(call, request)?;
    if let (true, Some(kept)) = (is_first_page, T::kept(&answer)) {
        call.metrics.search("/mcp", T::TOOL_NAME, kept);
    }
    let text = T::text(call, &answer, &options);
    let mut result = CallToolResult::success(vec![ContentBlock::text(sanitize::text(&text, most))]);
    // The data repeats the text, and many clients give a model both.
    if call.with_data {
        let answer = schema::without_nulls(serde_json::to_value(&answer).map_err(invalid)?);
        result.structured_content = Some(sanitize::data(schema::in_object(answer), MAX_DATA_CHARS));
    }
    Ok(result)
}
