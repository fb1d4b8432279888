//! The JSON Lines of a test collection: one document or query a line.

use super::EvaluationError;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// A line of `corpus.jsonl` or `queries.jsonl`.
#[derive(Debug)]
pub(super) struct Record {
    pub id: String,
    pub title: String,
    pub text: String,
    pub metadata: Value,
}

/// The fields as written. An identifier can also be a whole number.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: Value,
    #[serde(default)]
    title: Option<String>,
    text: String,
    #[serde(default)]
    metadata: Value,
}

/// Reads every line except blank ones.
///
/// # Errors
/// The number of the first line that is not an object with an identifier and a text, or that repeats an identifier; or
/// a file without any record.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<Record>, EvaluationError> {
    let mut records = Vec::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for (content, line) in text.lines().zip(1..) {
        if content.trim().is_empty() {
            continue;
        }
        let bad = |problem: String| EvaluationError::Line { path: path.to_owned(), line, problem };
        let read: Line = serde_json::from_str(content).map_err(|error| bad(problem(&error)))?;
        let id = match &read.id {
            Value::String(id) => id.clone(),
            Value::Number(number) if !number.is_f64() => number.to_string(),
            other => return Err(bad(format!("_id is {other}, and a text was expected"))),
        };
        if id.is_empty() {
            return Err(bad("_id is empty".into()));
        }
        if let Some(first) = lines.insert(id.clone(), line) {
            return Err(bad(format!("_id {id:?} is also that of line {first}; leave one of the two lines out")));
        }
        records.push(Record { id, title: read.title.unwrap_or_default(), text: read.text, metadata: read.metadata });
    }
    if records.is_empty() {
        return Err(EvaluationError::path(path, "holds no lines; give one JSON object with _id and text a line"));
    }
    Ok(records)
}

/// The parser's message without its position: it parsed one line and always says "line 1".
fn problem(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.rsplit_once(" at line 1").map_or(message.as_str(), |(message, _)| message);
    let what = if error.is_data() { "not a document or query" } else { "not JSON" };
    format!("{what}: {message} at column {}", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(text: &str) -> String {
        read(Path::new("corpus.jsonl"), text).expect_err("malformed").to_string()
    }

    #[test]
    fn lines_are_read_or_named_by_their_number() {
        let text = "{\"_id\":\"a\",\"text\":\"x\"}\n\n{\"_id\":7,\"title\":null,\"text\":\"y\",\"metadata\":{\"k\":1},\"url\":\"z\"}\r\n";
        let records = read(Path::new("corpus.jsonl"), text).expect("well formed");
        assert_eq!(records.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(), ["a", "7"]);
        assert_eq!((records[1].title.as_str(), records[1].metadata["k"].as_i64()), ("", Some(1)));

        let good = "{\"_id\":\"a\",\"text\":\"x\"}\n";
        for (line, part) in [
            ("{\"_id\":\"b\",", "corpus.jsonl, line 2: not JSON: EOF"),
            ("nonsense", "corpus.jsonl, line 2: not JSON: expected ident"),
            ("{\"_id\":\"b\"}", "corpus.jsonl, line 2: not a document or query: missing field `text`"),
            ("{\"text\":\"b\"}", "missing field `_id`"),
            ("{\"_id\":null,\"text\":\"b\"}", "_id is null"),
            ("{\"_id\":1.5,\"text\":\"b\"}", "_id is 1.5"),
            ("{\"_id\":\"\",\"text\":\"b\"}", "_id is empty"),
            ("{\"_id\":\"a\",\"text\":\"b\"}", "_id \"a\" is also that of line 1"),
            ("{\"_id\":\"b\",\"text\":[1]}", "invalid type: sequence, expected a string"),
        ] {
            let error = fails(&format!("{good}{line}\n"));
            assert!(error.contains(part) && !error.contains("at line 1"), "{part} is not in: {error}");
        }
        assert!(fails("\n \n").contains("holds no lines"));
    }
}
