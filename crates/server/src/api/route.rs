//! The routes of the API.

use super::endpoint::RegisteredEndpoint;
use super::problem::{Kind, Problem};
use super::verbs::Verbs;
use crate::arguments::nearest;
use crate::operations;
use std::sync::LazyLock;

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
}
