//! Servers in TOML. One table changes, the rest stays as it was.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

/// Returns the server of a name, or `None` if the text has none.
///
/// # Errors
/// The text is not TOML; the message names the place.
pub(crate) fn find(text: &str, servers: &str, name: &str) -> Result<Option<Map<String, Value>>, String> {
    let document = parse(text)?;
    let Some(held) = document.get(servers) else { return Ok(None) };
    let held = held.as_table_like().ok_or_else(|| not_table(servers))?;
    let Some(entry) = held.get(name) else { return Ok(None) };
    let entry = entry.as_table_like().ok_or_else(|| not_table(name))?;
    Ok(Some(entry.iter().filter_map(|(key, item)| Some((key.to_owned(), json(item)?))).collect()))
}

/// Returns the text with these keys set in the server of a name, which is added if it is missing.
///
/// # Errors
/// As [`find`].
pub(crate) fn with(text: &str, servers: &str, name: &str, keys: &[(&str, Value)]) -> Result<String, String> {
    let mut document = parse(text)?;
    if !document.contains_key(servers) {
        let mut table = Table::new();
        table.set_implicit(true);
        document.insert(servers, Item::Table(table));
    }
    let held = find_servers(&mut document, servers)?;
    if !held.contains_key(name) {
        held.insert(name, Item::Table(Table::new()));
    }
    let entry = held.get_mut(name).and_then(Item::as_table_like_mut).ok_or_else(|| not_table(name))?;
    for (key, wanted) in keys {
        if entry.get(key).and_then(json).as_ref() != Some(wanted)
            && let Some(item) = item(wanted)
        {
            entry.insert(key, item);
        }
    }
    Ok(as_before(text, &document))
}

/// Returns the text without the server of a name.
///
/// # Errors
/// As [`find`].
pub(crate) fn without(text: &str, servers: &str, name: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    if !document.contains_key(servers) {
        return Ok(text.to_owned());
    }
    let held = find_servers(&mut document, servers)?;
    if held.remove(name).is_none() {
        return Ok(text.to_owned());
    }
    if held.is_empty() {
        document.remove(servers);
    }
    Ok(as_before(text, &document))
}

/// Returns the additions to the server of a name besides these keys: other keys, and comments.
///
/// # Errors
/// As [`find`].
pub(crate) fn added(text: &str, servers: &str, name: &str, known: &[&str]) -> Result<Vec<String>, String> {
    let document = parse(text)?;
    let Some(item) = document.get(servers).and_then(|held| held.as_table_like()?.get(name)) else {
        return Ok(Vec::new());
    };
    let entry = item.as_table_like().ok_or_else(|| not_table(name))?;
    let names = entry.iter().map(|(key, _)| key.to_owned());
    let mut added: Vec<String> = names.filter(|key| !known.contains(&key.as_str())).collect();
    let above = item.as_table().and_then(|table| table.decor().prefix()?.as_str());
    let inside = entry.iter().any(|(key, item)| {
        let before = entry.key(key).and_then(|key| key.leaf_decor().prefix()?.as_str());
        let after = item.as_value().and_then(|value| value.decor().suffix()?.as_str());
        before.is_some_and(|text| text.contains('#')) || after.is_some_and(|text| text.contains('#'))
    });
    if inside || above.is_some_and(|text| text.contains('#')) {
        added.push("comments".to_owned());
    }
    Ok(added)
}

/// Returns all values of a file.
///
/// # Errors
/// As [`find`].
pub(crate) fn values(text: &str) -> Result<Value, String> {
    let table: toml::Table = text.parse().map_err(|error| format!("not TOML: {error}"))?;
    serde_json::to_value(table).map_err(|error| error.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error| format!("not TOML: {error}").trim_end().to_owned())
}

fn find_servers<'a>(document: &'a mut DocumentMut, servers: &str) -> Result<&'a mut dyn TableLike, String> {
    document.get_mut(servers).and_then(Item::as_table_like_mut).ok_or_else(|| not_table(servers))
}

fn not_table(key: &str) -> String {
    format!("{key} is not a table")
}

/// Returns the document as text with its original line ends, since the editor writes Unix ones.
fn as_before(before: &str, document: &DocumentMut) -> String {
    let after = document.to_string();
    let lines = before.matches('\n').count();
    if lines > 0 && before.matches("\r\n").count() == lines { after.replace('\n', "\r\n") } else { after }
}

fn json(item: &Item) -> Option<Value> {
    if let Some(list) = item.as_array() {
        return Some(list.iter().filter_map(|value| value.as_str().map(Value::from)).collect());
    }
    item.as_str().map(Value::from).or_else(|| item.as_bool().map(Value::from))
}

fn item(wanted: &Value) -> Option<Item> {
    match wanted {
        Value::String(text) => Some(value(text.as_str())),
        Value::Bool(flag) => Some(value(*flag)),
        Value::Array(list) => Some(value(list.iter().filter_map(Value::as_str).collect::<Array>())),
        _ => None,
    }
}
