//! The traits behind every operation: its call of the library, and the two forms in which a server offers it, as a route of the API
//! and as a tool for agents.
//!
//! The request is a type of the library, which declares each field with its meaning and its limits once. A route takes all of them. A
//! tool takes those that it lists, since every agent reads all tools.

use crate::api::problem::Problem;
use crate::api::verbs::Verbs;
use crate::call::{Call, Effect, Need};
use crate::caller::Caller;
use crate::lanes::Lane;
use crate::page::DEFAULT_MAX_CHARS;
use crate::refused::Refused;
use crate::schema::{self, WHOLE};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An operation: its request and answer with their schemas, and its call of the library.
pub(crate) trait Operation {
    /// Name, in snake case. Messages, metrics and the description of the API have it.
    const NAME: &'static str;
    /// The lane of its calls.
    const LANE: Lane = Lane::Quick;
    /// Request.
    type Request: DeserializeOwned + JsonSchema;
    /// Answer, as the command prints it.
    type Answer: Serialize + JsonSchema;

    /// True if a caller may use it.
    fn is_for(_caller: &Caller) -> bool {
        true
    }

    /// The number of candidates that the answer's cut kept, for the metrics; `None` if it is no search.
    fn kept(_answer: &Self::Answer) -> Option<usize> {
        None
    }

    /// Calls the library, on a thread that may block.
    fn call(call: &Call<'_>, request: Self::Request) -> Result<Self::Answer, Failure>;
}

/// An operation as a route of the API.
pub(crate) trait Route: Operation {
    /// Path, with parameters in braces: `/v1/documents/{id}`.
    const PATH: &'static str;
    /// Methods.
    const VERBS: Verbs = Verbs::Get;
    /// Purpose in one line.
    const SUMMARY: &'static str;
    /// What a caller should know besides; can be empty.
    const DESCRIPTION: &'static str = "";
    /// True if the answer depends on the state of the index and the request alone, so that it carries a tag.
    const TAGGED: bool = false;
    /// The right that it needs, in words for the refusal.
    const NEEDS: &'static str = "";
}

/// An operation as a tool for agents.
pub(crate) trait Tool: Operation {
    /// Name, in snake case.
    const TOOL_NAME: &'static str = Self::NAME;
    /// Name for people.
    const TITLE: &'static str;
    /// Purpose, in words that let an agent pick the right tool.
    const DESCRIPTION: &'static str;
    /// Effect on stored data.
    const EFFECT: Effect = Effect::Reads;
    /// Content of an index without which the tool is not listed.
    const NEED: Need = Need::Nothing;
    /// Most characters of an answer as text, when the arguments have no `max_chars`.
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    /// The fields of the request that are arguments; `None`: all.
    const ARGUMENTS: Option<&'static [Argument]> = None;
    /// The arguments that only a tool has, such as those of pages.
    type Options: DeserializeOwned + JsonSchema;

    /// Adapts a request to the form of the answer.
    fn adapt(_call: &Call<'_>, _request: &mut Self::Request, _options: &Self::Options) {}

    /// The answer as text, which an agent reads.
    fn text(call: &Call<'_>, answer: &Self::Answer, options: &Self::Options) -> String;
}

/// A request or options without any.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Nothing {}

/// A field of a request as an argument of a tool.
#[derive(Clone, Copy)]
pub(crate) struct Argument {
    field: &'static str,
    name: &'static str,
    default: Option<u64>,
    most: Option<u64>,
    single: bool,
    required: bool,
}

/// The argument for a field, of the same name.
pub(crate) const fn field(field: &'static str) -> Argument {
    Argument { field, name: field, default: None, most: None, single: false, required: false }
}

impl Argument {
    /// Under another name.
    pub const fn named(self, name: &'static str) -> Argument {
        Argument { name, ..self }
    }

    /// With another default.
    pub const fn default(self, default: u64) -> Argument {
        Argument { default: Some(default), ..self }
    }

    /// With a smaller maximum.
    pub const fn most(self, most: u64) -> Argument {
        Argument { most: Some(most), ..self }
    }

    /// As one value of a list.
    pub const fn single(self) -> Argument {
        Argument { single: true, ..self }
    }

    /// Required, where the request has another way to ask.
    pub const fn required(self) -> Argument {
        Argument { required: true, ..self }
    }

    fn schema(self, field: &Value) -> Value {
        let mut schema = field.clone();
        if self.single {
            schema = field["items"].clone();
            schema["description"] = field["description"].clone();
        }
        if let Value::Object(schema) = &mut schema {
            schema.remove(WHOLE);
            schema.extend(self.most.map(|most| ("maximum".to_owned(), most.into())));
            schema.extend(self.default.map(|default| ("default".to_owned(), default.into())));
        }
        schema
    }
}

/// The schema of a tool's arguments.
pub(crate) fn arguments<T: Tool>() -> JsonObject {
    let mut schema = schema::of_arguments::<T::Request>();
    if let Some(arguments) = T::ARGUMENTS {
        let required = schema.remove("required").unwrap_or_default();
        let is_required = |argument: &&Argument| {
            argument.required
                || required.as_array().is_some_and(|required| required.iter().any(|name| name == argument.field))
        };
        let required: Vec<&str> = arguments.iter().filter(is_required).map(|argument| argument.name).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        let fields = schema.remove("properties").unwrap_or_default();
        let listed = arguments.iter().map(|one| (one.name.to_owned(), one.schema(&fields[one.field])));
        schema.insert("properties".to_owned(), listed.collect::<JsonObject>().into());
    }
    if let (Some(Value::Object(properties)), Some(Value::Object(own))) =
        (schema.get_mut("properties"), schema::of_arguments::<T::Options>().remove("properties"))
    {
        properties.extend(own);
        for schema in properties.values_mut().filter_map(Value::as_object_mut) {
            // What is not asked for is not done: nobody needs to read that.
            let goes_without_saying = |default: &Value| *default == false || *default == json!([]);
            if schema.get("default").is_some_and(goes_without_saying) {
                schema.remove("default");
            }
        }
    }
    schema
}

/// Reads the arguments of a tool, which fit its schema.
///
/// # Errors
/// A value that fits and still cannot be read, such as a date.
pub(crate) fn read<T: Tool>(call: &Call<'_>, arguments: JsonObject) -> serde_json::Result<(T::Request, T::Options)> {
    let request: JsonObject = match T::ARGUMENTS {
        None => arguments.clone(),
        Some(listed) => {
            let value = |one: &Argument| match arguments.get(one.name) {
                Some(value) if one.single => Some(Value::Array(vec![value.clone()])),
                Some(value) => Some(value.clone()),
                None => one.default.map(Value::from),
            };
            listed.iter().filter_map(|one| Some((one.field.to_owned(), value(one)?))).collect()
        }
    };
    let mut request: T::Request = serde_json::from_value(Value::Object(request))?;
    let options = serde_json::from_value(Value::Object(arguments))?;
    T::adapt(call, &mut request, &options);
    Ok((request, options))
}

/// The reason why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Library(tamis::Error),
    /// One that only the server knows.
    Problem(Problem),
}

impl From<tamis::Error> for Failure {
    fn from(error: tamis::Error) -> Self {
        Failure::Library(error)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Failure::Problem(problem)
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Library(error) => error.into(),
            Failure::Problem(problem) => problem,
        }
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Library(error) => error.into(),
            Failure::Problem(problem) => problem.detail.into(),
        }
    }
}
