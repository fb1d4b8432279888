//! What a tool is: a name, a description, arguments and an answer with their schemas, and a call of the library.

use crate::caller::Caller;
use crate::reply::Reply;
use crate::schema;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Described, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tamis::{Error, Index, Observer};

/// What a tool does to what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// It adds something each time it is called.
    Adds,
    /// It sets something; doing it again changes nothing more.
    Sets,
}

/// A tool. Its arguments are few and plain; unknown ones are refused.
pub(crate) trait Tool {
    /// Its name, in snake case.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it is for, so that an agent picks the right one.
    const DESCRIPTION: &'static str;
    /// What it does to what is stored.
    const EFFECT: Effect = Effect::Reads;
    /// What it takes.
    type Arguments: DeserializeOwned + JsonSchema;
    /// What it gives.
    type Answer: Serialize + JsonSchema;

    /// Whether this caller sees it at all.
    fn is_for(_caller: &Caller) -> bool {
        true
    }

    /// Calls the library. Runs on a thread that may block.
    fn call(call: &Call<'_>, arguments: Self::Arguments) -> Result<Reply<Self::Answer>, Error>;
}

/// What a call works with.
pub(crate) struct Call<'a> {
    pub index: &'a Index,
    pub caller: &'a Caller,
    /// Takes progress, and says whether the client has cancelled the call.
    pub observer: &'a dyn Observer,
}

/// A tool as it is kept in a list.
pub(crate) struct Listed {
    pub described: Described,
    pub is_for: fn(&Caller) -> bool,
    pub call: fn(&Call<'_>, JsonObject) -> CallToolResult,
}

impl Listed {
    /// A tool with its schemas made.
    pub fn of<T: Tool>() -> Listed {
        let mut described = Described::new(T::NAME, T::DESCRIPTION, schema::of_arguments::<T::Arguments>());
        described.title = Some(T::TITLE.to_owned());
        described.output_schema = Some(schema::of_answer::<T::Answer>().into());
        described.annotations = Some(
            ToolAnnotations::with_title(T::TITLE)
                .read_only(T::EFFECT == Effect::Reads)
                .destructive(false)
                .idempotent(T::EFFECT != Effect::Adds)
                .open_world(false),
        );
        Listed { described, is_for: T::is_for, call: called::<T> }
    }

    pub fn name(&self) -> &str {
        &self.described.name
    }
}

/// What was wrong with a call is told as its result, so that an agent reads it and mends the call.
fn called<T: Tool>(call: &Call<'_>, arguments: JsonObject) -> CallToolResult {
    match answered::<T>(call, arguments) {
        Ok(result) => result,
        Err(message) => CallToolResult::error(vec![ContentBlock::text(message)]),
    }
}

fn answered<T: Tool>(call: &Call<'_>, arguments: JsonObject) -> Result<CallToolResult, String> {
    let arguments: T::Arguments =
        serde_json::from_value(Value::Object(arguments)).map_err(|error| format!("{}: {error}", T::NAME))?;
    let reply = T::call(call, arguments).map_err(|error| error.to_string())?;
    let answer = serde_json::to_value(&reply.answer).map_err(|error| error.to_string())?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(reply.text)]);
    result.structured_content = Some(schema::without_nulls(answer));
    Ok(result)
}
