//! Finds the endpoint of a path.

use super::endpoint::RegisteredEndpoint;
use super::parameters::decoded_path;
use super::problem::{Kind, Problem};
use crate::arguments::nearest;
use crate::operations;
use hyper::Method;
use rmcp::model::JsonObject;
use serde_json::Value;
use std::sync::LazyLock;

/// Path of the description of the API.
pub(crate) const OPENAPI: &str = "/v1/openapi.json";

/// All endpoints.
pub(crate) static ENDPOINTS: LazyLock<Vec<RegisteredEndpoint>> = LazyLock::new(|| operations::all().routes);

/// Path of the progress of indexing.
pub(crate) const EVENTS: &str = "/v1/events";

/// An endpoint and the parameters in the path.
pub(crate) type Match = (&'static RegisteredEndpoint, JsonObject);

/// The endpoint of a path and a method, or one of another method if no endpoint of the path takes this one. A route without
/// parameters goes before one with.
///
/// # Errors
/// There is none, or a parameter in the path is no text.
pub(crate) fn endpoint(path: &str, method: &Method) -> Result<Match, Problem> {
    let literal = || ENDPOINTS.iter().filter(|endpoint| endpoint.path == path);
    if let Some(endpoint) = literal().find(|endpoint| endpoint.verbs.allows(method)).or_else(|| literal().next()) {
        return Ok((endpoint, JsonObject::new()));
    }
    for endpoint in ENDPOINTS.iter() {
        if let Some(parameters) = matched(endpoint.path, path) {
            let decoded = parameters
                .into_iter()
                .map(|(name, value)| Ok((name.to_owned(), Value::String(decoded_path(value)?))))
                .collect::<Result<JsonObject, Problem>>()?;
            return Ok((endpoint, decoded));
        }
    }
    Err(unknown(path))
}

/// The methods of a path, as a header names them.
pub(crate) fn methods(path: &'static str) -> String {
    let verbs = ENDPOINTS.iter().filter(|endpoint| endpoint.path == path).map(|endpoint| endpoint.verbs.names());
    verbs.collect::<Vec<_>>().join(", ")
}

/// The parameters of a path under a template; `None` if it does not fit.
fn matched<'a>(template: &'static str, path: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    let mut parameters = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(parameters),
            (Some(wanted), Some(given)) => match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                Some(name) if !given.is_empty() => parameters.push((name, given)),
                None if wanted == given => {}
                _ => return None,
            },
            _ => return None,
        }
    }
}

fn unknown(path: &str) -> Problem {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_finds_its_endpoint_and_its_parameters() {
        let endpoint = |path| endpoint(path, &Method::GET);
        let found =
            |path| endpoint(path).map(|(endpoint, parameters)| (endpoint.path, Value::Object(parameters).to_string()));
        assert_eq!(found("/v1/search"), Ok(("/v1/search", "{}".into())));
        assert_eq!(found("/v1/documents"), Ok(("/v1/documents", "{}".into())));
        let document = ("/v1/documents/{id}", "{\"id\":\"src/a b.rs:3\"}".into());
        assert_eq!(found("/v1/documents/src%2Fa%20b.rs:3"), Ok(document));
        for missing in ["/v1/documents/", "/v1/documents/a/b", "/v1/search/", "/v1", "/", "/v1/serach"] {
            assert_eq!(endpoint(missing).err().map(|problem| problem.kind), Some(Kind::Route), "{missing}");
        }
        assert!(endpoint("/v1/serach").is_err_and(|problem| problem.detail.contains("did you mean /v1/search?")));
        assert!(endpoint("/v1/documents/%ff").is_err_and(|problem| problem.kind == Kind::Request));
    }

    #[test]
    fn the_method_chooses_between_endpoints_of_one_path() {
        let name = |method| endpoint("/v1/feedback", &method).map(|(endpoint, _)| endpoint.name);
        assert_eq!((name(Method::GET), name(Method::POST)), (Ok("searches"), Ok("feedback")));
        assert!(name(Method::PUT).is_ok(), "so that the refusal can name the methods");
        assert_eq!(methods("/v1/feedback"), "POST, GET, HEAD");
        assert_eq!(methods("/v1/search"), "GET, HEAD, POST");
    }

    #[test]
    fn no_two_endpoints_share_a_name_or_a_path_and_a_method() {
        let mut names: Vec<&str> = ENDPOINTS.iter().map(|endpoint| endpoint.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for endpoint in ENDPOINTS.iter() {
            let methods = methods(endpoint.path);
            let mut methods: Vec<&str> = methods.split(", ").collect();
            let count = methods.len();
            methods.sort_unstable();
            methods.dedup();
            assert_eq!(methods.len(), count, "{}", endpoint.path);
        }
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
}
