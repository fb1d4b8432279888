//! The classes of the Python package for the answers of an index, made from the schemas of the answers.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use tamis::{Answer, Excerpt, RunReport, Status, feedback::Judged, related::Related, tree::GrepAnswer};
use textwrap::{Options, WordSplitter};

const HEAD: &str = r#""""The answers of an index as the library gives them, field by field."""

# Written by `cargo xtask site --write`. What Python adds is in answers.py.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ._convert import Convertible
"#;

/// The module with a class for every object in an answer.
pub fn classes() -> String {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<Answer>();
    generator.subschema_for::<Excerpt>();
    generator.subschema_for::<GrepAnswer>();
    generator.subschema_for::<Judged>();
    generator.subschema_for::<Related>();
    generator.subschema_for::<RunReport>();
    generator.subschema_for::<Status>();
    let definitions = generator.take_definitions(true);
    let mut names = String::new();
    let mut classes = String::new();
    for (name, schema) in &definitions {
        let Some(properties) = schema["properties"].as_object() else { continue };
        // answers.py extends it, and has the others as they are.
        if name != "Answer" {
            names += &format!("    \"{name}\",\n");
        }
        classes += &format!("\n\n@dataclass(frozen=True)\nclass {name}(Convertible):\n{}\n", doc(schema));
        // In the order of the library, which only this list keeps.
        let required = schema["required"].as_array().into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let others = properties.keys().map(String::as_str).filter(|field| !required.contains(field));
        for field in required.iter().copied().chain(others) {
            let schema = &properties[field];
            let default = if required.contains(&field) { "" } else { default(schema) };
            classes += &format!("    {field}: {}{default}\n{}", hint(schema, &definitions), doc(schema));
        }
    }
    format!("{HEAD}\n__all__ = [\n{names}]\n{classes}")
}

/// The description as the text of documentation below a class or a field.
fn doc(schema: &Value) -> String {
    let text = schema["description"].as_str().expect("a description").replace('\n', " ");
    let text = text.replace("[`", "`").replace("`]", "`");
    let words = text.split(' ').map(|word| match word {
        "null" | "Null" => "None",
        "`null`" => "`None`",
        "true" => "True",
        "false" => "False",
        other => other,
    });
    let text = format!("\"\"\"{}\"\"\"", words.collect::<Vec<_>>().join(" "));
    let wrapped = Options::new(120).initial_indent("    ").subsequent_indent("    ");
    textwrap::fill(&text, wrapped.word_splitter(WordSplitter::NoHyphenation)) + "\n"
}

/// The value of a field that is left out where it says nothing.
fn default(schema: &Value) -> &'static str {
    match &schema["type"] {
        Value::String(kind) if kind == "boolean" => " = False",
        Value::String(kind) if kind == "array" => " = field(default_factory=list)",
        Value::String(kind) if kind == "object" => " = field(default_factory=dict)",
        _ => " = None",
    }
}

/// The type of what a schema describes.
fn hint(schema: &Value, definitions: &Map<String, Value>) -> String {
    let hints = |schemas: &[Value], between: &str| {
        schemas.iter().map(|schema| hint(schema, definitions)).collect::<Vec<_>>().join(between)
    };
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        let Some(words) = definitions[name]["oneOf"].as_array() else { return name.to_owned() };
        let words: Vec<String> = words.iter().map(|word| word["const"].to_string()).collect();
        return format!("Literal[{}]", words.join(", "));
    }
    if let Some(schemas) = schema["anyOf"].as_array() {
        return hints(schemas, " | ");
    }
    match &schema["type"] {
        Value::Array(kinds) => {
            let of_kind = |kind: &Value| {
                let mut schema = schema.clone();
                schema["type"] = kind.clone();
                schema
            };
            hints(&kinds.iter().map(of_kind).collect::<Vec<_>>(), " | ")
        }
        Value::String(kind) => match kind.as_str() {
            "string" => "str".to_owned(),
            "integer" => "int".to_owned(),
            "number" => "float".to_owned(),
            "boolean" => "bool".to_owned(),
            "null" => "None".to_owned(),
            "object" => format!("dict[str, {}]", hint(&schema["additionalProperties"], definitions)),
            _ => match schema["prefixItems"].as_array() {
                Some(items) => format!("tuple[{}]", hints(items, ", ")),
                None => format!("list[{}]", hint(&schema["items"], definitions)),
            },
        },
        _ => {
            assert_eq!(schema, &json!(true), "no type is known");
            "Any".to_owned()
        }
    }
}
