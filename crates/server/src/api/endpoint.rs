//! The trait behind every route of the API, and the list entry that the server keeps of it.

use super::encode;
use super::parameters;
use super::problem::{Kind, Problem};
use crate::caller::Caller;
use crate::lanes::Lane;
use crate::schema;
use crate::tool::Call;
use axum::routing::MethodFilter;
use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The methods of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbs {
    /// Parameters in the query string.
    Get,
    /// Parameters in the query string, or the same in a JSON object.
    GetOrPost,
    /// Parameters in a JSON object.
    Post,
}

impl Verbs {
    /// The methods; GET brings HEAD along.
    pub fn filter(self) -> MethodFilter {
        match self {
            Verbs::Get => MethodFilter::GET,
            Verbs::GetOrPost => MethodFilter::GET.or(MethodFilter::POST),
            Verbs::Post => MethodFilter::POST,
        }
    }

    /// The methods as a header names them.
    pub fn names(self) -> &'static str {
        match self {
            Verbs::Get => "GET, HEAD",
            Verbs::GetOrPost => "GET, HEAD, POST",
            Verbs::Post => "POST",
        }
    }
}

/// A route of the API: its path, its parameters and answer with their schemas, and its call of the library.
pub(crate) trait Endpoint {
    /// Name of the operation, in snake case. Messages use it.
    const NAME: &'static str;
    /// Path, with parameters in braces: `/v1/documents/{id}`.
    const PATH: &'static str;
    /// Methods.
    const VERBS: Verbs = Verbs::Get;
    /// Purpose in one line.
    const SUMMARY: &'static str;
    /// What a caller should know besides; can be empty.
    const DESCRIPTION: &'static str = "";
    /// True if the answer depends on the state of the index and the parameters alone, so that it carries a tag.
    const TAGGED: bool = false;
    /// The lane of its calls.
    const LANE: Lane = Lane::Quick;
    /// The right that the route needs, in words for the refusal.
    const NEEDS: &'static str = "";
    /// Parameters. Unknown ones are refused.
    type Parameters: DeserializeOwned + JsonSchema;
    /// Answer, as the command prints it.
    type Answer: Serialize + JsonSchema;

    /// True if a caller may use the route.
    fn is_for(_caller: &Caller) -> bool {
        true
    }

    /// The number of candidates that the answer's cut kept, for the metrics; `None` if it is no search.
    fn kept(_answer: &Self::Answer) -> Option<usize> {
        None
    }

    /// Calls the library, on a thread that may block.
    fn call(call: &Call<'_>, parameters: Self::Parameters) -> Result<Self::Answer, Problem>;
}

/// The body of an answer.
pub(crate) struct Answered {
    pub body: Vec<u8>,
    pub kept: Option<usize>,
}

/// A route in the server's list.
pub(crate) struct RegisteredEndpoint {
    pub name: &'static str,
    pub path: &'static str,
    pub verbs: Verbs,
    pub summary: &'static str,
    pub description: &'static str,
    pub tagged: bool,
    pub lane: Lane,
    pub needs: &'static str,
    pub is_for: fn(&Caller) -> bool,
    /// The schema of the parameters, as an object.
    pub parameters: JsonObject,
    /// The schema of the answer, which refers to the generator's definitions.
    pub answer: fn(&mut SchemaGenerator) -> Schema,
    call: fn(&Call<'_>, JsonObject) -> Result<Answered, Problem>,
}

impl RegisteredEndpoint {
    /// Registers a route and generates the schema of its parameters.
    pub fn of<E: Endpoint>() -> RegisteredEndpoint {
        RegisteredEndpoint {
            name: E::NAME,
            path: E::PATH,
            verbs: E::VERBS,
            summary: E::SUMMARY,
            description: E::DESCRIPTION,
            tagged: E::TAGGED,
            lane: E::LANE,
            needs: E::NEEDS,
            is_for: E::is_for,
            parameters: schema::of_arguments::<E::Parameters>(),
            answer: |generator| generator.subschema_for::<E::Answer>(),
            call: call::<E>,
        }
    }

    /// Answers a call with parameters that fit the schema or are refused.
    pub fn answer(&self, call: &Call<'_>, given: JsonObject) -> Result<Answered, Problem> {
        if !(self.is_for)(call.caller) {
            return Err(Problem::new(Kind::Forbidden, self.needs));
        }
        let parameters = parameters::validated(self, given)?;
        let answered = (self.call)(call, parameters);
        answered.inspect_err(note).map_err(|problem| problem.for_caller(call.caller))
    }
}

fn call<E: Endpoint>(call: &Call<'_>, parameters: JsonObject) -> Result<Answered, Problem> {
    let invalid = |error: serde_json::Error| Problem::new(Kind::Parameter, format!("{}: {error}", E::NAME));
    let parameters: E::Parameters = serde_json::from_value(Value::Object(parameters)).map_err(invalid)?;
    let answer = E::call(call, parameters)?;
    Ok(Answered { kept: E::kept(&answer), body: encode::json(&answer) })
}

/// Notes a failure of the server itself in the log.
fn note(problem: &Problem) {
    if problem.kind == Kind::Internal {
        tracing::warn!(target: "tamis::http", detail = ?problem.detail, "a request failed");
    }
}
