//! The arguments of a tool: their JSON Schema, in a form that every client accepts, and what a client can only have meant.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::{AddNullable, RecursiveTransform, RestrictFormats};
use schemars::{JsonSchema, Schema};
use serde_json::{Number, Value, json};

/// Lowest similarity of a name that is suggested instead of an unknown one.
const MIN_SIMILARITY: f64 = 0.6;

/// The names of an argument that says which result is meant. A tool has one of them, and takes the other as well.
const NAMES_OF_A_PLACE: [&str; 2] = ["id", "path"];

/// Coerces arguments to the types of the schema where they can mean one thing only: clients of agents send `"5"` for a number, `"true"`
/// for a flag, `"Open"` for `open`, a text for a list of one, `""` for what they leave out, and `path` for `id`. The rest stays as it is,
/// for the check to refuse.
pub(crate) fn coerced(schema: &JsonObject, given: JsonObject) -> JsonObject {
    let required = |name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|one| one == name))
    };
    let coerce = |(name, value): (String, Value)| match schema.get("properties").and_then(|known| known.get(&name)) {
        Some(_) if !required(&name) && value.as_str().is_some_and(|text| text.trim().is_empty()) => None,
        Some(wanted) => Some((name, coerced_value(value, wanted))),
        None => Some((name, value)),
    };
    let has = |name: &str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
    let other_name = |name: &str| {
        let [id, path] = NAMES_OF_A_PLACE;
        let other = if name == id { path } else { id };
        let is_meant = NAMES_OF_A_PLACE.contains(&name) && !has(name) && has(other) && !given.contains_key(other);
        is_meant.then(|| other.to_owned())
    };
    let renamed: Vec<_> =
        given.iter().map(|(name, value)| (other_name(name).unwrap_or_else(|| name.clone()), value.clone())).collect();
    renamed.into_iter().filter_map(coerce).collect()
}

fn coerced_value(value: Value, wanted: &Value) -> Value {
    let kind = wanted.get("type").and_then(Value::as_str);
    match (kind, value) {
        (Some("array"), Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Array(values)) => coerced_value(Value::Array(values), wanted),
            _ => coerced_value(Value::Array(vec![Value::String(text)]), wanted),
        },
        (Some("array"), Value::Array(values)) => match wanted.get("items") {
            Some(items) => values.into_iter().map(|value| coerced_value(value, items)).collect(),
            None => Value::Array(values),
        },
        (Some("array"), value @ (Value::Number(_) | Value::Bool(_))) => {
            coerced_value(Value::Array(vec![value]), wanted)
        }
        (Some("string" | "integer" | "number" | "boolean"), Value::Array(mut values)) if values.len() == 1 => {
            coerced_value(values.remove(0), wanted)
        }
        (Some("integer" | "number"), Value::String(text)) => match serde_json::from_str(text.trim()) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => Value::String(text),
        },
        (Some("boolean"), Value::String(text)) => match text.trim().to_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::String(text),
        },
        (Some("object"), Value::Object(values)) => {
            let coerced = |(name, value)| match wanted.get("properties").and_then(|known| known.get(&name)) {
                Some(wanted) => (name, coerced_value(value, wanted)),
                None => (name, value),
            };
            values.into_iter().map(coerced).collect()
        }
        (Some("object"), Value::String(text)) => match serde_json::from_str(&text) {
            Ok(object @ Value::Object(_)) => object,
            _ => Value::String(text),
        },
        (Some("string"), Value::Number(number)) => Value::String(number.to_string()),
        (Some("string"), Value::String(text)) => {
            let words = wanted.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            let word = words.into_iter().find(|word| word.eq_ignore_ascii_case(text.trim()));
            Value::String(word.map_or(text, str::to_owned))
        }
        (_, value) => value,
    }
}

/// The arguments in the form of a tool's schema. A null counts as left out, and `5.0` as the whole number 5.
///
/// # Errors
/// An argument is unknown, missing, of the wrong type or out of range. The message says what is allowed.
pub(crate) fn validated(tool: &str, schema: &JsonObject, given: JsonObject) -> Result<JsonObject, String> {
    let nothing = JsonObject::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let mut arguments = JsonObject::new();
    for (name, value) in given {
        let Some(wanted) = known.get(&name) else { return Err(unknown(tool, known, &name)) };
        if !value.is_null() {
            let value = whole(value, wanted);
            fits(&value, wanted).map_err(|allowed| format!("{name} = {}: must be {allowed}", shown(&value)))?;
            arguments.insert(name, value);
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|name| !arguments.contains_key(*name)) {
        Some(missing) => {
            let meant = known.get(missing).and_then(|wanted| wanted.get("description")).and_then(Value::as_str);
            Err(format!("{tool} needs {missing}: {}", meant.unwrap_or_default()))
        }
        None => Ok(arguments),
    }
}

fn unknown(tool: &str, known: &JsonObject, name: &str) -> String {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let nearest = nearest(name, names.iter().copied());
    let hint = nearest.map(|nearest| format!(" (did you mean {nearest}?)")).unwrap_or_default();
    let takes = if names.is_empty() { "no arguments".to_owned() } else { names.join(", ") };
    format!("{}: {tool} has no such argument{hint}; it takes {takes}", shown(&Value::String(name.to_owned())))
}

/// The most similar of some names, if any is similar enough.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |other: &str| {
        let same_start = !name.is_empty() && (other.starts_with(name) || name.starts_with(other));
        strsim::normalized_damerau_levenshtein(name, other).max(if same_start { MIN_SIMILARITY } else { 0.0 })
    };
    names
        .map(|other| (likeness(other), other))
        .filter(|(likeness, _)| *likeness >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, other)| other)
}

/// Turns `5.0` into 5 where the schema wants a whole number, since some clients write all numbers with a fraction.
fn whole(value: Value, wanted: &Value) -> Value {
    let number = value.as_f64().filter(|number| wanted["type"] == "integer" && number.fract() == 0.0);
    match number.filter(|number| value.is_f64() && number.abs() < 9e15) {
        Some(number) => Value::Number(Number::from(number as i64)),
        None => value,
    }
}

/// Checks a value.
///
/// # Errors
/// The allowed values, in words.
pub(crate) fn fits(value: &Value, wanted: &Value) -> Result<(), String> {
    let words = || allowed(wanted);
    let fits = match wanted.get("type").and_then(Value::as_str) {
        Some("string") => value.as_str().is_some_and(|text| {
            let length = text.chars().count() as f64;
            number(wanted, "minLength").is_none_or(|least| length >= least)
                && number(wanted, "maxLength").is_none_or(|most| length <= most)
        }),
        Some("integer") => value.as_i64().is_some_and(|number| in_range(number as f64, wanted)),
        Some("number") => value.as_f64().is_some_and(|number| in_range(number, wanted)),
        Some("boolean") => value.is_boolean(),
        Some("object") => value.is_object(),
        Some("array") => value.as_array().is_some_and(|values| {
            number(wanted, "maxItems").is_none_or(|most| values.len() as f64 <= most)
                && number(wanted, "minItems").is_none_or(|least| values.len() as f64 >= least)
                && values.iter().all(|value| wanted.get("items").is_none_or(|items| fits(value, items).is_ok()))
        }),
        _ => true,
    };
    let listed = wanted.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(value));
    if fits && listed { Ok(()) } else { Err(words()) }
}

fn number(wanted: &Value, key: &str) -> Option<f64> {
    wanted.get(key).and_then(Value::as_f64)
}

fn in_range(value: f64, wanted: &Value) -> bool {
    number(wanted, "minimum").is_none_or(|least| value >= least)
        && number(wanted, "maximum").is_none_or(|most| value <= most)
}

/// The allowed values, in words.
fn allowed(wanted: &Value) -> String {
    if let Some(values) = wanted.get("enum").and_then(Value::as_array) {
        let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", names.join(", "));
    }
    let range = |least: &str, most: &str| match (wanted.get(least), wanted.get(most)) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    };
    match wanted.get("type").and_then(Value::as_str) {
        Some("integer") => format!("a whole number{}", range("minimum", "maximum")),
        Some("number") => format!("a number{}", range("minimum", "maximum")),
        Some("boolean") => "true or false".to_owned(),
        Some("object") => "an object".to_owned(),
        Some("string") => match range("minLength", "maxLength") {
            any if any.is_empty() => "a text".to_owned(),
            range => format!("a text{range} characters").replacen(" from ", " of ", 1),
        },
        Some("array") => {
            let items = wanted.get("items").map_or_else(|| "values".to_owned(), allowed);
            let count = match range("minItems", "maxItems") {
                any if any.is_empty() => String::new(),
                range => format!("{range} entries, each").replacen(" from ", " of ", 1),
            };
            format!(
                "a list{}{items}",
                if count.is_empty() { " of which each is ".to_owned() } else { format!("{count} ") }
            )
        }
        _ => "another value".to_owned(),
    }
}

/// The beginning of a value, for a message.
pub(crate) fn shown(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

// JSON Schemas in a form that every client accepts: no references, no unions, no nulls.
//
// Some clients refuse `$ref`, `anyOf` or a list of types. So subschemas are inlined, and an optional property is left out
// where other schemas would allow null. `without_nulls` does the same to an answer.

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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: Value) -> Result<JsonObject, String> {
        let schema = json!({
            "properties": {
                "query": { "type": "string", "description": "What to look for.", "maxLength": 10 },
                "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
                "floor": { "type": "number", "minimum": 0, "maximum": 1 },
                "want": { "type": "string", "enum": ["one", "best", "all"] },
                "paths": { "type": "array", "items": { "type": "string" }, "maxItems": 2 },
                "relevant": { "type": "boolean" },
            },
            "required": ["query"],
        });
        let (Value::Object(schema), Value::Object(given)) = (schema, given) else { panic!("objects") };
        validated("search", &schema, given)
    }

    #[test]
    fn valid_arguments_are_taken_and_null_counts_as_left_out() {
        let taken = check(json!({ "query": "x", "limit": 5.0, "floor": 1, "want": null, "paths": [] })).expect("fits");
        assert_eq!(Value::Object(taken), json!({ "query": "x", "limit": 5, "floor": 1, "paths": [] }));
    }

    #[test]
    fn arguments_that_can_mean_one_thing_only_are_coerced() {
        let schema = json!({
            "properties": {
                "query": { "type": "string" },
                "limit": { "type": "integer" },
                "floor": { "type": "number" },
                "relevant": { "type": "boolean" },
                "languages": { "type": "array", "items": { "type": "string" } },
                "lines": { "type": "array", "items": { "type": "integer" } },
                "values": { "type": "object", "properties": { "score": { "type": "number" } } },
                "states": { "type": "array", "items": { "type": "string", "enum": ["open", "closed"] } },
                "cursor": { "type": "string" },
                "id": { "type": "string" },
            },
            "required": ["query"],
        });
        for (given, expected) in [
            (json!({ "path": "a.rs" }), json!({ "id": "a.rs" })),
            (json!({ "path": "a.rs", "id": "b.rs" }), json!({ "path": "a.rs", "id": "b.rs" })),
            (json!({ "limit": "5", "floor": " 0.5" }), json!({ "limit": 5, "floor": 0.5 })),
            (json!({ "relevant": "True" }), json!({ "relevant": true })),
            (json!({ "languages": "python" }), json!({ "languages": ["python"] })),
            (json!({ "languages": "[\"python\", \"go\"]" }), json!({ "languages": ["python", "go"] })),
            (json!({ "lines": ["3", 4] }), json!({ "lines": [3, 4] })),
            (json!({ "lines": 3 }), json!({ "lines": [3] })),
            (json!({ "states": "Open" }), json!({ "states": ["open"] })),
            (json!({ "cursor": "", "limit": " ", "languages": "", "query": "" }), json!({ "query": "" })),
            (json!({ "query": 404, "cursor": ["1-a"] }), json!({ "query": "404", "cursor": "1-a" })),
            (json!({ "values": "{\"a\": 1}" }), json!({ "values": { "a": 1 } })),
            (json!({ "values": { "score": "0.5", "a": "1" } }), json!({ "values": { "score": 0.5, "a": "1" } })),
            // These can mean several things or none.
            (json!({ "limit": "five", "relevant": "yes" }), json!({ "limit": "five", "relevant": "yes" })),
            (json!({ "relevant": 1, "cursor": ["a", "b"] }), json!({ "relevant": 1, "cursor": ["a", "b"] })),
            (json!({ "query": { "a": 1 }, "odd": "5" }), json!({ "query": { "a": 1 }, "odd": "5" })),
        ] {
            let (Value::Object(schema), Value::Object(arguments)) = (schema.clone(), given.clone()) else {
                panic!("objects")
            };
            assert_eq!(Value::Object(coerced(&schema, arguments)), expected, "{given}");
        }
    }

    #[test]
    fn a_refusal_says_what_is_allowed_and_only_the_beginning_of_a_long_value() {
        for (given, said) in [
            (json!({}), "search needs query: What to look for."),
            (json!({ "query": null }), "search needs query"),
            (json!({ "query": "x", "limt": 5 }), "\"limt\": search has no such argument (did you mean limit?); it"),
            (json!({ "query": "x", "zzz": 5 }), "\"zzz\": search has no such argument; it takes "),
            (json!({ "query": "x", "limit": 51 }), "limit = 51: must be a whole number from 1 to 50"),
            (json!({ "query": "x", "limit": "5" }), "limit = \"5\": must be a whole number"),
            (json!({ "query": "x", "limit": 1.5 }), "limit = 1.5: must be a whole number"),
            (json!({ "query": "x", "limit": 1e300 }), "must be a whole number from 1 to 50"),
            (json!({ "query": "x", "floor": -0.1 }), "must be a number from 0 to 1"),
            (json!({ "query": "x", "want": "many" }), "want = \"many\": must be one of one, best, all"),
            (json!({ "query": "x", "paths": ["a", 5] }), "must be a list of at most 2 entries, each a text"),
            (json!({ "query": "x", "paths": ["a", "b", "c"] }), "must be a list of at most 2"),
            (json!({ "query": "x", "relevant": 1 }), "relevant = 1: must be true or false"),
            (json!({ "query": "far too long" }), "must be a text of at most 10 characters"),
        ] {
            let error = check(given.clone()).expect_err("refused");
            assert!(error.contains(said), "{given}: {error}");
        }
        let error = check(json!({ "query": "ä".repeat(5000) })).expect_err("refused");
        assert!(error.chars().count() < 200, "{error}");
    }
}
