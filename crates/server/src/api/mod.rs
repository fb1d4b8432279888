//! The JSON API: the commands of Tamis as routes under `/v1`, behind the same gate as the protocol for agents.
//!
//! Each [operation](crate::operation) with a path is a route; its answer is the one that the command prints with `--json`.
//! This file lists the routes and writes answers, [`parameters`] reads a query string or a body by the schema
//! that [`openapi`](mod@openapi) publishes, and [`problem`] turns errors into problem documents.

pub mod metrics;
mod openapi;
pub mod parameters;
pub mod problem;

use std::sync::LazyLock;

use axum::http::header::{HeaderMap, IF_NONE_MATCH};
use axum::routing::MethodFilter;
use rmcp::model::JsonObject;
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Serializer};
use tamis_text::sanitize::SafeJson;

use crate::arguments::nearest;
use crate::call_queue::Lane;
use crate::caller::Caller;
use crate::operation::{Call, Route};
use crate::{arguments, operations};
use problem::{Kind, Problem};

pub use openapi::openapi;

// The routes of the API.

/// Path of the description of the API.
pub(crate) const OPENAPI: &str = "/v1/openapi.json";

/// All endpoints.
pub(crate) static ENDPOINTS: LazyLock<Vec<RegisteredEndpoint>> = LazyLock::new(|| operations::all().routes);

/// Path of the progress of indexing.
pub(crate) const EVENTS: &str = "/v1/events";

/// The methods of a path, as a header names them; those of GET for the routes beside the endpoints.
pub(crate) fn methods(path: &str) -> String {
    let of_path = ENDPOINTS.iter().filter(|endpoint| endpoint.path == path);
    let names: Vec<&str> = of_path.map(|endpoint| endpoint.verbs.names()).collect();
    if names.is_empty() { Verbs::Get.names().to_owned() } else { names.join(", ") }
}

/// The refusal of a path that no route has.
pub(crate) fn unknown(path: &str) -> Problem {
    let path: String = path.chars().take(200).collect();
    let known = ENDPOINTS
        .iter()
        .map(|endpoint| endpoint.path)
        .chain([OPENAPI, EVENTS, "/healthz", "/readyz", "/metrics", "/mcp"]);
    let detail = match nearest(&path, known) {
        // Every path of the API begins alike, so the nearest is only worth naming if more than that fits.
        Some(nearest) => format!("{path}: no such route; did you mean {nearest}? {OPENAPI} lists them"),
        None => format!("{path}: no such route; {OPENAPI} lists them"),
    };
    Problem::new(Kind::Route, detail)
}

// The methods of a route.

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

// The methods of a route, and the list entry that the server keeps of it.

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
    pub fn new<R: Route>() -> RegisteredEndpoint {
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
            parameters: arguments::of_arguments::<R::Request>(),
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
    Ok(Answered { kept: R::kept_count(&answer), body: json(&answer) })
}

/// Notes a failure of the server itself in the log.
fn note(problem: &Problem) {
    if problem.kind == Kind::Internal {
        tracing::warn!(target: "tamis::http", detail = ?problem.detail, "a request failed");
    }
}

// Writes answers: JSON in the form of `--json`, with a tag that says if it changed.

/// A value as JSON on one line, the bytes that the command prints.
pub(crate) fn json(value: &impl Serialize) -> Vec<u8> {
    let mut body = Vec::new();
    // Writing to memory cannot fail, and the types of answers have no map keys but text.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut body, SafeJson(CompactFormatter)));
    body.push(b'\n');
    body
}

/// The tag of an answer. It is weak, since the same answer can be sent compressed.
pub(crate) fn tag(body: &[u8]) -> String {
    format!("W/\"{}\"", &blake3::hash(body).to_hex()[..32])
}

/// True if the client already has the answer of this tag.
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let wanted = opaque(tag);
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|one| one.trim() == "*" || opaque(one) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_path_names_the_nearest() {
        assert!(unknown("/v1/serach").detail.contains("did you mean /v1/search?"));
        assert_eq!(unknown("/nowhere").detail, "/nowhere: no such route; /v1/openapi.json lists them");
        assert_eq!(methods("/v1/feedback"), "POST, GET, HEAD");
    }

    #[test]
    fn no_two_endpoints_share_a_name() {
        let mut names: Vec<&str> = ENDPOINTS.iter().map(|endpoint| endpoint.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_parameter_is_described_and_bounded() {
        for endpoint in ENDPOINTS.iter() {
            let properties = endpoint.parameters["properties"].as_object().expect("properties");
            for (name, schema) in properties {
                let described = schema["description"].as_str().unwrap_or_default();
                assert!(!described.is_empty(), "{} {name} has no description", endpoint.name);
                let bounded = match schema["type"].as_str() {
                    Some("string") => schema.get("maxLength").is_some() || schema.get("enum").is_some(),
                    Some("array") => schema.get("maxItems").is_some(),
                    Some("integer") => schema.get("minimum").is_some() && schema.get("maximum").is_some(),
                    _ => true,
                };
                assert!(bounded, "{} {name} has no limit: {schema}", endpoint.name);
            }
            let inside = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
            for name in inside {
                assert!(properties.contains_key(name), "{} {name}", endpoint.name);
            }
        }
    }

    #[test]
    fn a_tag_is_found_in_a_list_weak_or_strong() {
        let tag = tag(b"x");
        let strong = tag.trim_start_matches("W/").to_owned();
        for (given, known) in [
            (tag.clone(), true),
            (strong.clone(), true),
            (format!("\"a\", {tag}"), true),
            ("*".into(), true),
            ("\"a\"".into(), false),
        ] {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, given.parse().expect("a header"))]);
            assert_eq!(is_known(&headers, &tag), known, "{given}");
        }
        assert_ne!(tag, super::tag(b"y"));
    }
}
