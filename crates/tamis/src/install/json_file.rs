//! Servers in JSON with or without comments. One entry changes, the rest stays as it was.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// The JSON that editors and clients read: with comments, and with commas after the last element. Nothing more is accepted, so
/// that we never write into a file that its client cannot read anyway.
const READ: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The mark that some editors put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the server of a name, or `None` if the text has none.
///
/// # Errors
/// The text is not of this form; the message names the place.
pub(crate) fn find(text: &str, servers: &str, name: &str) -> Result<Option<Map<String, Value>>, String> {
    let root = parse(text)?;
    let Some(servers) = find_servers(&root, servers)? else { return Ok(None) };
    Ok(entry(&servers, name)?.and_then(|entry| match CstNode::from(entry).to_serde_value() {
        Some(Value::Object(entry)) => Some(entry),
        _ => None,
    }))
}

/// Returns the text with these keys set in the server of a name, which is added if it is missing.
///
/// # Errors
/// The text is not of this form, or holds a key twice.
pub(crate) fn with(text: &str, servers: &str, name: &str, keys: &[(&str, Value)]) -> Result<String, String> {
    let root = parse(text)?;
    let mut wanted = value(&root);
    let Some(object) = root.object_value_or_create() else { return Err("not an object of settings".to_owned()) };
    let Some(held) = object.object_value_or_create(servers) else { return Err(not_object(servers)) };
    match entry(&held, name)? {
        Some(entry) => {
            for (key, value) in keys {
                match entry.get(key) {
                    Some(property) if property.value().and_then(|v| v.to_serde_value()).as_ref() == Some(value) => {}
                    Some(property) => property.set_value(input(value)),
                    None => drop(entry.append(key, input(value))),
                }
            }
        }
        None => {
            let entry = keys.iter().map(|(key, value)| ((*key).to_owned(), input(value))).collect();
            held.append(name, CstInputValue::Object(entry));
        }
    }
    let entry = child(child(&mut wanted, servers), name);
    for (key, value) in keys {
        *child(entry, key) = value.clone();
    }
    checked(text, &root, &wanted)
}

/// Returns the text without the server of a name. The object of servers goes too if it held no other.
///
/// # Errors
/// As [`with`].
pub(crate) fn without(text: &str, servers: &str, name: &str) -> Result<String, String> {
    let root = parse(text)?;
    let mut wanted = value(&root);
    let Some(held) = find_servers(&root, servers)? else { return Ok(text.to_owned()) };
    if let Some(property) = held.get(name) {
        property.remove();
        let left = child(&mut wanted, servers);
        if let Value::Object(left) = left {
            left.remove(name);
        }
        // A comment in the object is somebody else's.
        let is_bare = !held.children().iter().any(CstNode::is_comment) && held.properties().is_empty();
        if let (true, Some(property)) = (is_bare, root.object_value().and_then(|object| object.get(servers))) {
            property.remove();
            if let Value::Object(wanted) = &mut wanted {
                wanted.remove(servers);
            }
        }
    }
    checked(text, &root, &wanted)
}

/// Returns the additions to the server of a name besides these keys: other keys, and comments.
///
/// # Errors
/// As [`with`].
pub(crate) fn added(text: &str, servers: &str, name: &str, known: &[&str]) -> Result<Vec<String>, String> {
    let root = parse(text)?;
    let Some(entry) = find_servers(&root, servers)?.map(|held| entry(&held, name)).transpose()?.flatten() else {
        return Ok(Vec::new());
    };
    let names = entry.properties().into_iter().filter_map(|property| property.name()?.decoded_value().ok());
    let mut added: Vec<String> = names.filter(|name| !known.contains(&name.as_str())).collect();
    if entry.children().iter().any(CstNode::is_comment) {
        added.push("comments".to_owned());
    }
    Ok(added)
}

/// Returns all values of a file.
///
/// # Errors
/// The text is not of this form.
pub(crate) fn values(text: &str) -> Result<Value, String> {
    Ok(value(&parse(text)?))
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    CstRootNode::parse(text, &READ).map_err(|error| format!("not JSON: {error}"))
}

fn value(root: &CstRootNode) -> Value {
    root.to_serde_value().unwrap_or_else(|| Value::Object(Map::new()))
}

fn find_servers(root: &CstRootNode, servers: &str) -> Result<Option<CstObject>, String> {
    let Some(value) = root.value() else { return Ok(None) };
    let object = value.as_object().ok_or("not an object of settings")?;
    let Some(property) = object.get(servers) else { return Ok(None) };
    property.object_value().map(Some).ok_or_else(|| not_object(servers))
}

fn entry(servers: &CstObject, name: &str) -> Result<Option<CstObject>, String> {
    let Some(property) = servers.get(name) else { return Ok(None) };
    property.object_value().map(Some).ok_or_else(|| not_object(name))
}

fn not_object(key: &str) -> String {
    format!("{key} is not an object")
}

fn child<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    &mut value[key]
}

/// Returns the edited text if it says what was wanted and nothing else has changed.
fn checked(before: &str, root: &CstRootNode, wanted: &Value) -> Result<String, String> {
    let mark = before.starts_with(BYTE_ORDER_MARK).then_some(BYTE_ORDER_MARK);
    let after: String = mark.into_iter().chain(root.to_string().chars()).collect();
    if value(&parse(&after)?) != *wanted {
        return Err("a key occurs twice, so it is unclear which value counts; remove one of them".to_owned());
    }
    Ok(after)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Settings as people write them: with some indentation, comments here and there, and perhaps servers of others.
    fn settings() -> impl Strategy<Value = String> {
        let indent = prop_oneof![Just("  "), Just("    "), Just("\t")];
        let comment = prop_oneof![Just(""), Just(" // a note"), Just(" /* a note */")];
        let others = prop::collection::vec("[a-z]{1,6}", 0..4);
        let end = prop_oneof![Just("\n"), Just("\r\n")];
        (indent, comment, others, end, any::<bool>(), any::<bool>()).prop_map(
            |(indent, comment, others, end, has_servers, has_comma)| {
                let mut lines = vec!["{".to_owned(), format!("{indent}\"theme\": \"dark\",{comment}")];
                let mut names: Vec<&String> = others.iter().collect();
                names.sort();
                names.dedup();
                if has_servers && !names.is_empty() {
                    lines.push(format!("{indent}\"mcpServers\": {{"));
                    for (at, name) in names.iter().enumerate() {
                        let comma = if at + 1 < names.len() || has_comma { "," } else { "" };
                        lines.push(format!("{indent}{indent}\"{name}\": {{\"command\": \"{name}\"}}{comma}{comment}"));
                    }
                    lines.push(format!("{indent}}},"));
                }
                lines.push(format!("{indent}\"list\": [1, 2]{comment}"));
                lines.push("}".to_owned());
                lines.join(end) + end
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_put_in_comes_out_again_and_nothing_else_moves(text in settings()) {
            let keys = [("command", json!("tamis")), ("args", json!(["mcp", "--directory", "/a \"b\""]))];
            let with = with(&text, "mcpServers", "tamis", &keys).expect("settings");
            let entry = find(&with, "mcpServers", "tamis").expect("settings").expect("put in");
            prop_assert_eq!(Value::Object(entry), json!({"command": "tamis", "args": ["mcp", "--directory", "/a \"b\""]}));
            prop_assert_eq!(with.matches("a note").count(), text.matches("a note").count());
            prop_assert_eq!(with.contains("\r\n"), text.contains("\r\n"));
            prop_assert_eq!(super::with(&with, "mcpServers", "tamis", &keys).expect("settings"), with.clone());
            prop_assert_eq!(without(&with, "mcpServers", "tamis").expect("settings"), text);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{}\",:/* \\na-c0-9]{0,60}") {
            let keys = [("command", json!("tamis"))];
            if let Ok(with) = with(&text, "mcpServers", "tamis", &keys) {
                prop_assert!(find(&with, "mcpServers", "tamis").expect("still read").is_some());
            }
        }
    }
}
