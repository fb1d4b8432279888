//! The methods of a route, and the list entry that the server keeps of it.

use super::encode;
use super::parameters;
use super::problem::{Kind, Problem};
use super::verbs::Verbs;
use crate::call::Call;
use crate::caller::Caller;
use crate::lanes::Lane;
use crate::operation::Route;
use crate::schema;
use rmcp::model::JsonObject;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

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
    /// Registers an operation as a route and generates the schema of its parameters.
    pub fn of<R: Route>() -> RegisteredEndpoint {
        RegisteredEndpoint {
            name: R::NAME,
            path: R::PATH,
            verbs: R::VERBS,
            summary: R::SUMMARY,
            description: R::DESCRIPTION,
            tagged: R::TAGGED,
            lane: R::LANE,
            needs: R::NEEDS,
            is_for: R::is_for,
            parameters: schema::of_arguments::<R::Request>(),
            answer: |generator| generator.subschema_for::<R::Answer>(),
            call: call::<R>,
        }
    }

    /// Answers a call with parameters that fit the schema or are refused.
    pub fn answer(&self, call: &Call<'_>, given: JsonObject) -> Result<Answered, Problem> {
        if !(self.is_for)(call.caller) {
            return Err(Problem::new(Kind::Forbidden, self.needs));
        }
        let parameters = parameters::validated(self.name, &self.parameters, given)?;
        let answered = (self.call)(call, parameters);
        answered.inspect_err(note).map_err(|problem| problem.for_caller(call.caller))
    }
}

fn call<R: Route>(call: &Call<'_>, parameters: JsonObject) -> Result<Answered, Problem> {
    let invalid = |error: serde_json::Error| Problem::new(Kind::Parameter, error.to_string());
    let request: R::Request = serde_json::from_value(Value::Object(parameters)).map_err(invalid)?;
    let answer = R::call(call, request)?;
    Ok(Answered { kept: R::kept(&answer), body: encode::json(&answer) })
}

/// Notes a failure of the server itself in the log.
fn note(problem: &Problem) {
    if problem.kind == Kind::Internal {
        tracing::warn!(target: "tamis::http", detail = ?problem.detail, "a request failed");
    }
}
