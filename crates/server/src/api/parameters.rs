//! Reads parameters from a query string or a JSON body, and checks them against the published schema.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use rmcp::model::JsonObject;
use serde_json::Value;

use super::problem::{Kind, Problem};
use crate::arguments;
use crate::arguments::WHOLE;

/// The parameters of a query string, as texts and lists of texts, which [`validated`] reads in the types of the schema.
///
/// # Errors
/// An escape that is no text, or a parameter given twice that is no list.
pub(crate) fn of_query(schema: &JsonObject, query: &str) -> Result<JsonObject, Problem> {
    let nothing = JsonObject::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let mut parameters = JsonObject::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = match pair.split_once('=') {
            Some((name, value)) => (decoded(name)?, Some(decoded(value)?)),
            None => (decoded(pair)?, None),
        };
        let wanted = known.get(&name).unwrap_or(&Value::Null);
        if wanted["type"] == "array" {
            let list = parameters.entry(name).or_insert_with(|| Value::Array(Vec::new()));
            let value = value.unwrap_or_default();
            if let Value::Array(list) = list {
                match wanted.get(WHOLE) {
                    Some(_) => list.push(value.into()),
                    None => list.extend(value.split(',').map(|one| Value::from(one.trim()))),
                }
            }
            continue;
        }
        let value = match value {
            Some(value) => Value::String(value),
            // `?explain` turns a flag on.
            None if wanted["type"] == "boolean" => Value::Bool(true),
            None => Value::String(String::new()),
        };
        if parameters.contains_key(&name) {
            return Err(Problem::new(Kind::Parameter, format!("{name}: given twice, and it takes one value")));
        }
        parameters.insert(name, value);
    }
    Ok(parameters)
}

/// A part of a query string as text.
fn decoded(part: &str) -> Result<String, Problem> {
    let spaced = if part.contains('+') { Cow::Owned(part.replace('+', " ")) } else { Cow::Borrowed(part) };
    match percent_decode_str(&spaced).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(Problem::new(Kind::Request, format!("{part}: its escapes are not UTF-8"))),
    }
}

/// The parameters of a JSON body; an empty body has none.
///
/// # Errors
/// The body is no JSON object.
pub(crate) fn of_body(body: &[u8]) -> Result<JsonObject, Problem> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    if body.trim_ascii().is_empty() {
        return Ok(JsonObject::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Problem::new(Kind::Body, "the body must be a JSON object with the parameters")),
        Err(error) => Err(Problem::new(Kind::Body, format!("the body is not JSON: {error}"))),
    }
}

/// The parameters of the endpoint `name` in the form of its schema. A text that can only mean a number or a flag is read as one.
///
/// # Errors
/// A parameter is unknown, missing, of the wrong type or out of range.
pub(crate) fn validated(name: &str, schema: &JsonObject, given: JsonObject) -> Result<JsonObject, Problem> {
    let refused =
        |message: String| Problem::new(Kind::Parameter, message.replace("no such argument", "no such parameter"));
    if let Some(name) = given.iter().find(|(_, value)| value.is_null()).map(|(name, _)| name) {
        return Err(Problem::new(Kind::Parameter, format!("{name} = null: must have a value, or be left out")));
    }
    if let Some(name) = given.iter().find(|(_, value)| holds_nul(value)).map(|(name, _)| name) {
        return Err(Problem::new(Kind::Parameter, format!("{name}: must not hold the character U+0000")));
    }
    let given = arguments::coerced(schema, given);
    let validated = arguments::validated(name, schema, given).map_err(refused)?;
    let properties = schema.get("properties").unwrap_or(&Value::Null);
    for (name, value) in &validated {
        inside(value, &properties[name], name)?;
    }
    Ok(validated)
}

/// Checks the fields of objects in lists, which the check of a parameter itself does not look into.
fn inside(value: &Value, schema: &Value, place: &str) -> Result<(), Problem> {
    match value {
        Value::Array(values) if schema["items"].get("properties").is_some() => {
            let items = &schema["items"];
            values.iter().enumerate().try_for_each(|(at, value)| inside(value, items, &format!("{place}[{at}]")))
        }
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            // Unknown fields are refused when the object is read.
            let Some(wanted) = schema["properties"].get(name) else { return Ok(()) };
            let place = format!("{place}.{name}");
            arguments::fits(value, wanted).map_err(|allowed| {
                Problem::new(Kind::Parameter, format!("{place} = {}: must be {allowed}", arguments::shown(value)))
            })?;
            inside(value, wanted, &place)
        }),
        _ => Ok(()),
    }
}

/// True if a text in the value holds a NUL, which no text of an index does.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(holds_nul),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(query: &str) -> Result<Value, String> {
        let Value::Object(schema) = json!({ "properties": {
            "query": { "type": "string" },
            "limit": { "type": "integer" },
            "floor": { "type": "number" },
            "explain": { "type": "boolean" },
            "languages": { "type": "array", "items": { "type": "string" } },
            "paths": { "type": "array", "items": { "type": "string" }, (WHOLE): true },
        } }) else {
            panic!("an object")
        };
        let given = of_query(&schema, query).map_err(|problem| problem.detail)?;
        Ok(Value::Object(arguments::coerced(&schema, given)))
    }

    #[test]
    fn a_query_string_is_read_in_the_types_of_the_schema() {
        for (query, expected) in [
            ("", json!({})),
            ("query=a+b%20c%2B&limit=5", json!({ "query": "a b c+", "limit": 5 })),
            ("floor=0.5&explain", json!({ "floor": 0.5, "explain": true })),
            ("explain=false&&", json!({ "explain": false })),
            ("languages=rust,python&languages=go", json!({ "languages": ["rust", "python", "go"] })),
            ("paths=src/{a,b}&paths=x", json!({ "paths": ["src/{a,b}", "x"] })),
            ("limit=x&query=", json!({ "limit": "x" })),
            ("limit=5.0", json!({ "limit": 5.0 })),
            ("unknown=1", json!({ "unknown": "1" })),
        ] {
            assert_eq!(read(query), Ok(expected), "{query}");
        }
        assert!(read("query=%ff").is_err_and(|error| error.contains("not UTF-8")));
        assert!(read("limit=1&limit=2").is_err_and(|error| error.contains("given twice")));
    }

    #[test]
    fn a_body_is_an_object_or_nothing() {
        assert_eq!(of_body(b"{\"a\":1}").map(|object| object.len()), Ok(1));
        assert_eq!(of_body(b"\xEF\xBB\xBF{\"a\":1}").map(|object| object.len()), Ok(1));
        assert_eq!(of_body(b" \n").map(|object| object.len()), Ok(0));
        assert!(of_body(b"[1]").is_err_and(|problem| problem.detail.contains("object")));
        assert!(of_body(b"{").is_err_and(|problem| problem.detail.contains("not JSON")));
    }
}
