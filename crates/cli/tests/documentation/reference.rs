//! The pages in `docs/reference`, made from what the program says of itself: its settings, its cuts, its tools, its routes and its
//! schemas.

use crate::reader::Reader;
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;
use tamis::cut::METHODS;

/// The line under the title of each page.
const MADE: &str = "<!-- written by `cargo xtask site --write` -->";

#[test]
fn the_reference_is_what_the_program_says() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folder = docs.join("reference");
    let mut reader = Reader::new();
    let pages = [
        ("configuration.md", configuration(&mut reader)),
        ("cuts.md", cuts()),
        ("tools.md", tools(&mut reader)),
        ("routes.md", routes(&mut reader)),
        ("schemas.md", schemas(&docs.join("schema"))),
    ];
    let writes = std::env::var_os("TAMIS_PAGES_WRITE").is_some();
    for (name, made) in pages {
        let path = folder.join(name);
        if writes {
            fs::create_dir_all(&folder).expect("made");
            fs::write(&path, &made).expect("written");
        }
        let page = fs::read_to_string(&path).unwrap_or_default();
        let line = page.lines().zip(made.lines()).find(|(page, made)| page != made);
        assert!(page == made, "docs/reference/{name} is out of date ({line:?}); write it: cargo xtask site --write");
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
        page += &format!(
            "| `{key}` | `{default}` | {} | {} |\n",
            cell(text(setting, "allowed")),
            cell(text(setting, "about"))
        );
    }
    page
}

fn cuts() -> String {
    let mut page = format!(
        "# Cut methods\n{MADE}\n\nEvery method and its parameters, as `--cut METHOD:PARAM=VALUE` takes them, and the \
         configuration's `search.cut`. The parameters of `max_gap`, `kneedle` and `top_score` also have keys, `cut.METHOD.PARAM`. [All cuts](../cuts.md) explains each method and names its source, and \
         [choosing a cut](../cut.md) helps to choose.\n"
    );
    for method in METHODS {
        page += &format!(
            "\n## {}\n{}; it reads the {}. [More](../cuts.md#{0})\n",
            method.name,
            capital(method.summary),
            method.scale
        );
        if method.parameters.is_empty() {
            page += "\nIt has no parameters.\n";
            continue;
        }
        page += "\n| parameter | default | allowed | meaning |\n| --- | --- | --- | --- |\n";
        for parameter in method.parameters {
            let (name, default, range) = (parameter.name, parameter.default(), parameter.range);
            page += &format!("| `{name}` | `{default}` | {} | {} |\n", cell(&range.to_string()), cell(parameter.doc));
        }
    }
    page
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

fn tools(reader: &mut Reader) -> String {
    let client =
        r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"reference","version":"1"}}"#;
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
         `--allow-feedback`.\n"
    );
    for tool in list["result"]["tools"].as_array().expect("tools") {
        page += &format!("\n## {}\n{}\n", text(tool, "name"), text(tool, "description"));
        page += &fields("argument", &tool["inputSchema"], true);
    }
    page
}

fn routes(reader: &mut Reader) -> String {
    let document = json(reader, "tamis schema openapi");
    let mut page = format!(
        "# HTTP routes\n{MADE}\n\nEvery route of [`tamis serve`](../http.md) with its parameters. The same as an OpenAPI document: \
         [openapi.json](../schema/openapi.json). Where a route takes `POST`, the parameters are fields of a JSON object.\n"
    );
    for (path, operations) in object(&document["paths"]) {
        let operations = object(operations);
        let methods: Vec<_> = operations.keys().map(|method| method.to_uppercase()).collect();
        let summary = operations.values().map(|operation| text(operation, "summary")).next().unwrap_or_default();
        page += &format!("\n## {path}\n{}. {summary}.\n", methods.join(", "));
        let described =
            operations.values().map(|operation| text(operation, "description")).find(|text| !text.is_empty());
        if let Some(description) = described {
            page += &format!("\n{description}\n");
        }
        for (method, operation) in operations {
            if method == "post" && operations.contains_key("get") {
                continue;
            }
            let listed = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
            if !listed.is_empty() {
                let rows = listed.iter().map(|parameter| {
                    let required = parameter["required"] == true;
                    row(text(parameter, "name"), required, &parameter["schema"], text(parameter, "description"))
                });
                page += &table("parameter", rows);
            }
            page += &fields("field", &operation["requestBody"]["content"]["application/json"]["schema"], true);
        }
    }
    page
}

fn schemas(folder: &Path) -> String {
    let mut page = format!(
        "# JSON schemas\n{MADE}\n\nThe schemas of what the program reads and writes, with the fields of their outermost objects. The \
         files have all of it.\n"
    );
    for name in ["search", "issue", "evidence"] {
        let file = format!("{name}.schema.json");
        let schema = fs::read_to_string(folder.join(&file)).expect("a committed schema");
        let schema: Value = serde_json::from_str(&schema).expect("JSON");
        let title = schema["title"].as_str().unwrap_or(name);
        page += &format!("\n## {title}\n[{file}](../schema/{file}). {}\n", cell(text(&schema, "description")));
        let alternatives = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
        match alternatives {
            None => page += &fields("field", &schema, false),
            Some(alternatives) => {
                for alternative in alternatives {
                    let referred = alternative["$ref"].as_str().and_then(|pointer| schema.pointer(&pointer[1..]));
                    let alternative = referred.unwrap_or(alternative);
                    page += &format!("\n{}\n", cell(text(alternative, "description")));
                    page += &fields("field", alternative, false);
                }
            }
        }
    }
    page += "\n## HTTP API\n[openapi.json](../schema/openapi.json). [Its routes](routes.md).\n";
    page
}

/// The table of an object's properties; empty without any.
fn fields(heading: &str, schema: &Value, marks_required: bool) -> String {
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty()) else {
        return String::new();
    };
    let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let rows = properties
        .iter()
        .map(|(name, property)| row(name, marks_required && required(name), property, text(property, "description")));
    table(heading, rows)
}

fn table(heading: &str, rows: impl Iterator<Item = String>) -> String {
    format!("\n| {heading} | type | meaning |\n| --- | --- | --- |\n") + &rows.collect::<String>()
}

fn row(name: &str, required: bool, schema: &Value, description: &str) -> String {
    let required = if required { ", required" } else { "" };
    format!("| `{name}` | {}{required} | {} |\n", cell(&kind(schema)), cell(description))
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
