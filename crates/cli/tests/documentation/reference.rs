//! The pages in `docs/reference`, made from what the program says of itself: its settings, its tools and its routes. The
//! classes of answers in Python are made with them.

use crate::python;
use crate::reader::Reader;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// The meaning of a row of a table.
const ALSO: &str = "*Also* names what an earlier table has in the same words.";
/// The line under the title of each page.
const MADE: &str = "<!-- written by `cargo xtask site --write` -->";

#[test]
fn the_reference_is_what_the_program_says() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut reader = Reader::new(None);
    let files = [
        ("docs/reference/configuration.md", configuration(&mut reader)),
        ("docs/reference/tools.md", tools(&mut reader)),
        ("docs/reference/routes.md", routes(&mut reader)),
        ("crates/python/python/tamis/_schema.py", python::classes()),
    ];
    let writes = std::env::var_os("TAMIS_PAGES_WRITE").is_some();
    for (name, made) in files {
        let path = checkout.join(name);
        if writes {
            fs::write(&path, &made).expect("written");
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let line = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
        assert!(kept == made, "{name} is out of date ({line:?}); write it: cargo xtask site --write");
    }
}

/// What a command prints, which must be JSON.
fn json(reader: &mut Reader, command: &str) -> Value {
    let (status, lines) = reader.run(command);
    assert_eq!(status, 0, "{command}: {lines:?}");
    serde_json::from_str(&lines.concat()).unwrap_or_else(|error| panic!("{command}: {error}"))
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("an object: {value}"))
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.trim()
        .replace("\n\n", "<br>")
        .replace('\n', " ")
        .replace('|', r"\|")
        .replace('<', "&lt;")
        .replace("&lt;br>", "<br>")
}

fn configuration(reader: &mut Reader) -> String {
    let settings = json(reader, "tamis config --json");
    let mut page = format!(
        "# Configuration\n{MADE}\n\nEvery key of `config.toml`, with its default. The environment variable of a key is `TAMIS_` and \
         the key in capitals with `_` for dots: `search.top_k` is `TAMIS_SEARCH_TOP_K`. [`tamis config`](../cli.md#config) shows the \
         values in effect and where each comes from.\n\nThe tables `[models.NAME]` ([models](../models.md)), `[[collection]]` \
         ([collections](../cli.md#collections-of-files)) and `[[mcp.token]]` ([tokens](../mcp.md#tokens)) have keys of their own. \
         `search.thresholds.LANGUAGE` sets the threshold of a further language, and `cut.top_score.COLLECTION.PARAM` a parameter \
         for the collection `notes`, `sessions` or `wiki` alone.\n"
    );
    let mut group = "";
    for (key, setting) in object(&settings) {
        let first = key.split('.').next().unwrap_or(key);
        if first != group {
            group = first;
            page += &format!("\n## {group}\n| key | default | allowed | meaning |\n| --- | --- | --- | --- |\n");
        }
        let default = &setting["default"];
        let (allowed, about) = (cell(text(setting, "allowed")), cell(text(setting, "about")));
        page += &format!("| `{key}` | `{default}` | {allowed} | {about} |\n");
    }
    page
}

fn tools(reader: &mut Reader) -> String {
    let client = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pages","version":"1"}}"#;
    let messages = [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{client}}}"#),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#.to_owned(),
    ];
    let server = "tamis mcp --allow-remember --allow-feedback --no-refresh 2> mcp.txt";
    let (_, lines) = reader.run(&format!("printf '%s\\n' '{}' | {server}", messages.join("' '")));
    let answers = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let list = answers.into_iter().find(|answer| answer["id"] == 2).unwrap_or_else(|| panic!("no tools: {lines:?}"));
    let mut page = format!(
        "# Tools for agents\n{MADE}\n\nEvery tool of [`tamis mcp`](../mcp.md), as clients see it: the description and the arguments. \
         A server lists the tools whose content its index has. `remember` and `feedback` also need `--allow-remember` and \
         `--allow-feedback`. {ALSO}\n"
    );
    let mut seen = HashSet::new();
    for tool in list["result"]["tools"].as_array().expect("tools") {
        page += &table(text(tool, "name"), "", text(tool, "description"), properties(&tool["inputSchema"]), &mut seen);
    }
    page
}

fn routes(reader: &mut Reader) -> String {
    let document = json(reader, "tamis schema openapi");
    let mut page = format!(
        "# HTTP routes\n{MADE}\n\nEvery route of [`tamis serve`](../http.md) with its parameters. The same as an OpenAPI document: \
         [openapi.json](../schema/openapi.json). Where a route takes `POST`, the parameters are fields of a JSON object. {ALSO}\n"
    );
    let mut seen = HashSet::new();
    for (path, operations) in object(&document["paths"]) {
        // `POST` can do the same as `GET` with a body, or something of its own.
        let mut distinct: Vec<(String, &Value)> = Vec::new();
        for (method, operation) in object(operations) {
            match distinct.iter_mut().find(|(_, known)| known["summary"] == operation["summary"]) {
                Some((methods, _)) => *methods += &format!(", {}", method.to_uppercase()),
                None => distinct.push((method.to_uppercase(), operation)),
            }
        }
        for (methods, operation) in distinct {
            let about = format!("{}. {}", text(operation, "summary"), text(operation, "description"));
            let listed = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
            let listed = listed.iter().map(|parameter| {
                let required = parameter["required"] == true;
                (text(parameter, "name"), required, &parameter["schema"], text(parameter, "description"))
            });
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            page += &table(path, &methods, &about, listed.chain(properties(body)), &mut seen);
        }
    }
    page
}

/// A parameter: its name, whether it is required, its schema and its description.
type Parameter<'a> = (&'a str, bool, &'a Value, &'a str);

/// The parameters that are the properties of an object.
fn properties(schema: &Value) -> impl Iterator<Item = Parameter<'_>> {
    let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(move |(name, property)| (name.as_str(), required(name), property, text(property, "description")))
}

/// A section with a row for each parameter; those that earlier tables have in the same words are named in its head.
fn table<'a>(
    heading: &str,
    methods: &str,
    about: &str,
    parameters: impl Iterator<Item = Parameter<'a>>,
    seen: &mut HashSet<String>,
) -> String {
    let (mut rows, mut also) = (String::new(), Vec::new());
    for (name, required, schema, description) in parameters {
        let required = if required { ", required" } else { "" };
        let row = format!("| `{name}` | {} ({}{required}) |\n", cell(description), cell(&kind(schema)));
        match seen.insert(row.clone()) {
            true => rows += &row,
            false => also.push(format!("`{name}`")),
        }
    }
    let also = if also.is_empty() { String::new() } else { format!(" Also {}.", also.join(", ")) };
    let about = cell(about);
    if rows.is_empty() {
        let methods = if methods.is_empty() { String::new() } else { format!("{methods}. ") };
        return format!("\n## {heading}\n{methods}{about}{also}\n");
    }
    format!("\n## {heading}\n| {methods} | {about}{also} |\n| --- | --- |\n{rows}")
}

/// What a property takes: its type, its values or its range, and its default.
fn kind(schema: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut kind = match (&schema["enum"], &schema["const"], &schema["type"], schema["$ref"].as_str()) {
        (Value::Array(values), ..) => {
            values.iter().map(|value| format!("`{}`", plain(value))).collect::<Vec<_>>().join(", ")
        }
        (_, Value::String(value), ..) => format!("`{value}`"),
        (.., Value::Array(types), _) => types.iter().map(plain).collect::<Vec<_>>().join(" or "),
        (.., Value::String(one), _) if one == "array" => format!("array of {}", kind_of_items(&schema["items"])),
        (.., Value::String(one), _) => one.clone(),
        (.., Some(reference)) => format!("`{}`", reference.rsplit('/').next().unwrap_or(reference)),
        _ => match schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
            Some(alternatives) => alternatives.iter().map(self::kind).collect::<Vec<_>>().join(" or "),
            None => "any".to_owned(),
        },
    };
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, Value::Null) => {}
        (least, Value::Null) => kind += &format!(", from {least}"),
        (Value::Null, most) => kind += &format!(", up to {most}"),
        (least, most) => kind += &format!(", {least} to {most}"),
    }
    match &schema["default"] {
        Value::Null => {}
        Value::Array(values) if values.is_empty() => {}
        Value::String(text) if text.is_empty() => {}
        default => kind += &format!("; `{}`", plain(default)),
    }
    kind
}

fn kind_of_items(items: &Value) -> String {
    match items["type"].as_str() {
        Some(one @ ("string" | "object" | "array" | "number" | "integer" | "boolean")) if items["enum"].is_null() => {
            one.to_owned()
        }
        _ => kind(items),
    }
}
