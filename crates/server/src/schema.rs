//! JSON Schemas as every client takes them: without references to other places, and without unions.
//!
//! Some clients refuse `anyOf`, a list of types or `$ref`. So what is optional is left out, never null: in arguments because
//! nobody needs to say null, in answers because [`without_nulls`] takes it out.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of a tool's arguments: unknown ones are refused.
pub(crate) fn of_arguments<T: JsonSchema>() -> JsonObject {
    let mut schema =
        object(SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value(), false);
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    schema
}

/// The schema of a tool's answer.
pub(crate) fn of_answer<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    object(settings.into_generator().into_root_schema_for::<T>().to_value(), true)
}

fn object(mut schema: Value, answer: bool) -> JsonObject {
    let definitions = schema.as_object_mut().and_then(|schema| schema.remove("$defs")).unwrap_or_default();
    plain(&mut schema, &definitions, answer);
    match schema {
        Value::Object(mut schema) => {
            schema.remove("title");
            // What the type is for in the code says nothing to a client.
            schema.remove("description");
            schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
            schema
        }
        _ => JsonObject::new(),
    }
}

/// Puts what is referred to in its place, takes null out of unions, and leaves formats out that are no part of the standard.
fn plain(schema: &mut Value, definitions: &Value, answer: bool) {
    match schema {
        Value::Object(object) => {
            without_null_type(object);
            // What is referred to can be a reference itself.
            while let Some(definition) = referred(object, definitions) {
                object.remove("$ref");
                for (key, value) in definition {
                    object.entry(key).or_insert(value);
                }
                without_null_type(object);
            }
            let mut nullable = Vec::new();
            if let Some(Value::Object(properties)) = object.get("properties") {
                nullable =
                    properties.iter().filter(|(_, schema)| takes_null(schema)).map(|(name, _)| name.clone()).collect();
            }
            if answer && let Some(Value::Array(required)) = object.get_mut("required") {
                required.retain(|name| !nullable.iter().any(|nullable| name == nullable));
            }
            if object.get("format").and_then(Value::as_str).is_some_and(|format| OF_NUMBERS.contains(&format)) {
                object.remove("format");
            }
            for value in object.values_mut() {
                plain(value, definitions, answer);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| plain(value, definitions, answer)),
        _ => {}
    }
}

/// Names that say how wide a number is; clients that check formats do not know them.
const OF_NUMBERS: [&str; 11] =
    ["uint", "uint8", "uint16", "uint32", "uint64", "int", "int8", "int32", "int64", "float", "double"];

fn referred(object: &JsonObject, definitions: &Value) -> Option<JsonObject> {
    let name = object.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
    definitions.get(name)?.as_object().cloned()
}

fn takes_null(schema: &Value) -> bool {
    let is_null = |value: &Value| value == "null" || value.get("type").is_some_and(|kind| kind == "null");
    ["type", "anyOf"].iter().any(|key| matches!(schema.get(key), Some(Value::Array(any)) if any.iter().any(is_null)))
}

fn without_null_type(object: &mut JsonObject) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(any)) = object.get_mut("anyOf") {
        any.retain(|schema| schema.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = any.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
            // What came in can be a reference or a union itself.
            without_null_type(object);
        }
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
}

/// An answer without the keys whose value is null.
pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => object
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(values) => values.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
