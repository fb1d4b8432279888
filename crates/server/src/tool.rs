//! What a tool is: a name, a description, arguments and an answer with their schemas, and a call of the library.

use crate::arguments;
use crate::background::{BackgroundState, Phase};
use crate::caller::Caller;
use crate::cursor::Place;
use crate::reply::{Refused, Reply};
use crate::{schema, seal};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool as Described, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tamis::{Index, Observer};

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
    /// Most characters of its answer, as text and as data, where `max_chars` does not say it.
    const MOST_CHARS: usize = seal::FIXED;
    /// What it takes.
    type Arguments: DeserializeOwned + JsonSchema;
    /// What it gives.
    type Answer: Serialize + JsonSchema;

    /// Whether this caller sees it at all.
    fn is_for(_caller: &Caller) -> bool {
        true
    }

    /// Calls the library. Runs on a thread that may block.
    fn call(call: &Call<'_>, arguments: Self::Arguments) -> Result<Reply<Self::Answer>, Refused>;
}

/// What a call works with.
pub(crate) struct Call<'a> {
    pub index: &'a Index,
    pub caller: &'a Caller,
    /// Takes progress, and says whether the client has cancelled the call.
    pub observer: &'a dyn Observer,
    /// How fresh the index is.
    pub state: &'a BackgroundState,
    /// Where a list goes on.
    pub place: Place,
}

impl Call<'_> {
    /// The namespaces that the caller may read.
    pub fn allowed(&self) -> Option<Vec<String>> {
        self.caller.namespaces.clone()
    }

    /// Whether the caller may read a namespace.
    pub fn may_read(&self, namespace: &str) -> bool {
        self.caller.may_read(namespace)
    }

    /// What the client should know of the index that answers come from.
    pub fn warnings(&self) -> Vec<String> {
        let BackgroundState { phase, done, total, reason, .. } = self.state;
        // How much there is to index, and where, tells of what lies beside what the caller may read.
        let told = self.caller.namespaces.is_none();
        let warning = match phase {
            Phase::Indexing if told && *total > 0 => {
                format!("the index is being brought up to date ({done} of {total} so far): new text is not found yet")
            }
            Phase::Indexing => "the index is being brought up to date: new text is not found yet".to_owned(),
            Phase::Failed => match reason {
                Some(reason) if told => format!("the index could not be brought up to date: {reason}"),
                _ => "the index could not be brought up to date: new text is not found".to_owned(),
            },
            Phase::Off | Phase::Embedding | Phase::Fresh => return Vec::new(),
        };
        vec![warning]
    }
}

/// A tool as it is kept in a list.
pub(crate) struct Listed {
    pub described: Described,
    pub is_for: fn(&Caller) -> bool,
    call: fn(&mut Call<'_>, JsonObject) -> Result<CallToolResult, Refused>,
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

    /// The answer of a call. What was wrong with it is told as its result, so that an agent reads it and mends the call.
    pub fn answer(&self, call: &mut Call<'_>, arguments: JsonObject) -> CallToolResult {
        let checked = arguments::checked(self.name(), &self.described.input_schema, arguments).map_err(Refused);
        match checked.and_then(|arguments| (self.call)(call, arguments)) {
            Ok(result) => result,
            Err(Refused(message)) => CallToolResult::error(vec![ContentBlock::text(seal::message(&message))]),
        }
    }
}

fn called<T: Tool>(call: &mut Call<'_>, arguments: JsonObject) -> Result<CallToolResult, Refused> {
    call.place = Place::of(T::NAME, &arguments).map_err(Refused)?;
    let most = arguments.get("max_chars").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    let most = most.unwrap_or(T::MOST_CHARS);
    let odd = |error: serde_json::Error| Refused(format!("{}: {error}", T::NAME));
    let arguments: T::Arguments = serde_json::from_value(Value::Object(arguments)).map_err(odd)?;
    let reply = T::call(call, arguments)?;
    let answer = serde_json::to_value(&reply.answer).map_err(odd)?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(seal::text(&reply.text, most))]);
    result.structured_content = Some(seal::data(schema::without_nulls(answer), most));
    Ok(result)
}
