//! The description of the API as an OpenAPI 3.1 document, generated from the types of parameters and answers.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::RestrictFormats;
use serde_json::{Map, Value, json};

use super::{ENDPOINTS, EVENTS, OPENAPI, RegisteredEndpoint, Verbs, problem};
use crate::arguments::WHOLE;

/// The document.
pub fn openapi() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        // Formats such as `uint32` belong to schemars, not to JSON Schema.
        .with_transform(RestrictFormats::default())
        .into_generator();
    let mut paths = Map::new();
    for endpoint in ENDPOINTS.iter() {
        let answer = (endpoint.answer)(&mut generator).to_value();
        let known = paths.entry(endpoint.path).or_insert_with(|| Map::new().into());
        let Value::Object(operations) = known else { continue };
        if endpoint.verbs != Verbs::Post {
            operations.insert("get".into(), operation(endpoint, &answer, false));
        }
        if endpoint.verbs != Verbs::Get {
            operations.insert("post".into(), operation(endpoint, &answer, true));
        }
    }
    for (path, name, summary, kind, body) in PLAIN {
        let operation = json!({
            "operationId": name,
            "summary": summary,
            "responses": {
                "200": { "description": "The answer.", "content": { (kind): { "schema": { "type": body } } } },
                "default": { "$ref": "#/components/responses/Problem" },
            },
        });
        paths.insert(path.to_owned(), json!({ "get": operation }));
    }
    let mut schemas: Map<String, Value> = generator.take_definitions(true).into_iter().collect();
    schemas.insert("ProblemDocument".into(), problem_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tamis",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Search with a cut where relevance ends.",
            "description": "The commands of Tamis as routes. Each answer is the one that the command prints with `--json`; \
                            each error is a problem document with the text that the command prints.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": { "Problem": {
                "description": "The reason why there is no answer.",
                "content": { (problem::PROBLEM_JSON): { "schema": { "$ref": "#/components/schemas/ProblemDocument" } } },
            } },
            "securitySchemes": { "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token of the server's configuration. It decides the namespaces that answers come from.",
            } },
        },
    })
}

/// Routes beside the endpoints: path, operation, summary, content type and type of the body.
const PLAIN: [(&str, &str, &str, &str, &str); 5] = [
    (EVENTS, "events", "Follow the progress of indexing, as server-sent events", "text/event-stream", "string"),
    (OPENAPI, "openapi", "This document", "application/json", "object"),
    ("/healthz", "health", "Check whether the server is alive", "text/plain; charset=utf-8", "string"),
    ("/readyz", "readiness", "Check whether the first refresh has finished", "text/plain; charset=utf-8", "string"),
    ("/metrics", "metrics", "Counts for Prometheus", "text/plain; version=0.0.4; charset=utf-8", "string"),
];

/// One method of an endpoint.
fn operation(endpoint: &RegisteredEndpoint, answer: &Value, is_post: bool) -> Value {
    let in_path: Vec<&str> =
        endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    let suffix = if is_post && endpoint.verbs == Verbs::GetOrPost { "_by_post" } else { "" };
    let mut operation = json!({
        "operationId": format!("{}{suffix}", endpoint.name),
        "summary": endpoint.summary,
        "responses": {
            "200": { "description": "The answer.", "content": { "application/json": { "schema": answer } } },
            "431": { "description": "The address and the headers have more than 32 KiB together; send the parameters in a body." },
            "default": { "$ref": "#/components/responses/Problem" },
        },
    });
    if !endpoint.description.is_empty() {
        operation["description"] = endpoint.description.into();
    }
    let empty = JsonObject::new();
    let properties = endpoint.parameters.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = endpoint
        .parameters
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let parameters = properties.iter().filter(|(name, _)| !is_post || in_path.contains(&name.as_str()));
    let parameters: Vec<Value> = parameters
        .map(|(name, schema)| {
            let inside = in_path.contains(&name.as_str());
            parameter(name, schema, inside, inside || required.contains(&name.as_str()))
        })
        .collect();
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if is_post {
        let mut schema = endpoint.parameters.clone();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.retain(|name, _| !in_path.contains(&name.as_str()));
            properties.values_mut().for_each(without_marks);
        }
        let required: Vec<&str> = required.into_iter().filter(|name| !in_path.contains(name)).collect();
        let is_required = !required.is_empty();
        match is_required {
            true => schema.insert("required".into(), required.into()),
            false => schema.remove("required"),
        };
        operation["requestBody"] =
            json!({ "required": is_required, "content": { "application/json": { "schema": schema } } });
    }
    operation
}

fn parameter(name: &str, schema: &Value, in_path: bool, required: bool) -> Value {
    let mut schema = schema.clone();
    let is_whole = schema.get(WHOLE).is_some();
    without_marks(&mut schema);
    let description = schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
    let mut parameter = json!({
        "name": name,
        "in": if in_path { "path" } else { "query" },
        "required": required,
        "description": description,
    });
    if schema["type"] == "array" {
        parameter["style"] = "form".into();
        parameter["explode"] = true.into();
        if !is_whole {
            // Commas separate values as well as repetition does.
            schema["items"]["pattern"] = "^[^,]*$".into();
        }
    }
    parameter["schema"] = schema;
    parameter
}

/// Removes the marks that only the reader of query strings knows.
fn without_marks(schema: &mut Value) {
    if let Some(schema) = schema.as_object_mut() {
        schema.remove(WHOLE);
    }
}

fn problem_schema() -> Value {
    json!({
        "description": "A problem document of RFC 9457.",
        "type": "object",
        "properties": {
            "type": { "type": "string", "description": "The kind of problem: `urn:tamis:problem:` and its name." },
            "title": { "type": "string", "description": "The kind of problem in words." },
            "status": { "type": "integer", "description": "The status of the response.", "minimum": 400, "maximum": 599 },
            "detail": { "type": "string", "description": "What happened, to what, and the way out." },
        },
        "required": ["type", "title", "status", "detail"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every reference in a value.
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str));
                object.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_operation_has_a_name_of_its_own() {
        let document = openapi();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 50);
        for reference in found {
            let pointer = reference.strip_prefix('#').expect("in the document");
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        let mut names = Vec::new();
        for operations in document["paths"].as_object().expect("paths").values() {
            for operation in operations.as_object().expect("operations").values() {
                names.push(operation["operationId"].as_str().expect("a name"));
                assert!(operation["summary"].as_str().is_some_and(|summary| !summary.is_empty()));
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(!document.to_string().contains(WHOLE));
    }
}
