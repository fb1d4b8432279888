//! JSON Schemas in a form that every client accepts: no references, no unions, no nulls.
//!
//! Some clients refuse `$ref`, `anyOf` or a list of types. So subschemas are inlined, and an optional property is left out
//! where other schemas would allow null. [`without_nulls`] does the same to an answer.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::{AddNullable, RecursiveTransform, RestrictFormats};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// Key of a list's schema: its values hold commas themselves, so only repetition gives several.
pub(crate) const WHOLE: &str = "x-whole";

/// The schema of a tool's arguments, which refuses unknown ones.
pub(crate) fn of_arguments<T: JsonSchema>() -> JsonObject {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12());
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    schema.entry("properties").or_insert_with(|| json!({}));
    schema
}

/// The schema of a tool's answer.
pub(crate) fn of_answer<T: JsonSchema>() -> JsonObject {
    let schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize());
    match schema.get("type").is_some_and(|kind| kind == "array") {
        true => {
            let list = json!({ "type": "object", "properties": { LIST: schema }, "required": [LIST] });
            list.as_object().cloned().unwrap_or_default()
        }
        false => schema,
    }
}

/// The key of an answer that is a list, since the data of a tool is an object.
const LIST: &str = "results";

/// An answer as an object.
pub(crate) fn in_object(answer: Value) -> Value {
    if answer.is_array() { json!({ LIST: answer }) } else { answer }
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let mut mark_nullable = AddNullable::default();
    mark_nullable.remove_null_type = true;
    let generator = settings
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(mark_nullable)
        .with_transform(RecursiveTransform(nullable_to_optional))
        // Formats such as `uint32` belong to schemars, not to JSON Schema.
        .with_transform(RestrictFormats::default())
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    let object = schema.ensure_object();
    // Both come from the Rust type and would mean nothing to a client.
    object.remove("title");
    object.remove("$schema");
    object.remove("description");
    std::mem::take(object)
}

/// Makes properties optional that [`AddNullable`] marked, and removes the marks. Names with a description each become a list of names.
fn nullable_to_optional(schema: &mut Schema) {
    let names = |one: &Value| match (one.get("const"), one.get("enum")) {
        (Some(name), _) => Some(vec![name.clone()]),
        (None, names) => names.and_then(Value::as_array).cloned(),
    };
    let alternatives = schema.get("oneOf").and_then(Value::as_array);
    if let Some(names) = alternatives.and_then(|all| all.iter().map(names).collect::<Option<Vec<_>>>()) {
        schema.remove("oneOf");
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), names.concat().into());
    }
    schema.remove("nullable");
    // A value of any type has none.
    schema.remove("anyOf");
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    // What can be anything can be null.
    let is_nullable = |name: &Value| {
        let property = name.as_str().and_then(|name| properties.get(name));
        property.is_some_and(|one| {
            one.get("nullable").is_some() || (one.get("type").is_none() && one.get("oneOf").is_none())
        })
    };
    let kept = |required: &Value| -> Vec<Value> {
        required.as_array().into_iter().flatten().filter(|name| !is_nullable(name)).cloned().collect()
    };
    if let Some(required) = schema.get("required").map(kept) {
        schema.insert("required".to_owned(), required.into());
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
