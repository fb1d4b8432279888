//! Queries from a file: one a line, or JSON Lines.

use crate::Error;
use serde::Deserialize;
use std::path::Path;

/// A line of JSON: the text of the query under the name that the file uses.
#[derive(Deserialize)]
struct Line {
    #[serde(alias = "query")]
    text: String,
}

/// Reads the queries of a file, each once, in its order. A line that begins with `{` is an object with `query` or `text`; any other is
/// a query as it stands. Blank lines are left out.
///
/// # Errors
/// A file that cannot be read or holds no query, or a line of JSON without a text, with its number.
pub fn queries_from_file(path: &Path) -> Result<Vec<String>, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::path(path, error.to_string()))?;
    let mut queries: Vec<String> = Vec::new();
    for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
        let line = line.trim();
        let query = if line.starts_with('{') {
            let read: Line = serde_json::from_str(line).map_err(|error| {
                let reason =
                    format!("line {number}: {error}; give an object with \"query\" or \"text\", or a plain query");
                Error::path(path, reason)
            })?;
            read.text.trim().to_owned()
        } else {
            line.to_owned()
        };
        if !query.is_empty() && !queries.contains(&query) {
            queries.push(query);
        }
    }
    if queries.is_empty() {
        return Err(Error::path(path, "holds no query; give one a line, or JSON Lines with \"query\" or \"text\""));
    }
    Ok(queries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("queries");
        std::fs::write(&path, text).expect("written");
        queries_from_file(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_and_objects_are_queries_once_each() {
        let text = "where are locks\n\n{\"query\": \"retry limit\"}\n{\"_id\": \"7\", \"text\": \"oven\"}\r\nwhere are locks\n";
        assert_eq!(read(text), Ok(vec!["where are locks".into(), "retry limit".into(), "oven".into()]));
    }

    #[test]
    fn a_line_that_is_no_query_is_named() {
        assert!(read("a\n{\"id\": 1}\n").expect_err("no text").contains("line 2: missing field"));
        assert!(read("\n \n").expect_err("empty").contains("holds no query"));
        assert!(
            queries_from_file(Path::new("missing.txt")).expect_err("no file").to_string().contains("missing.txt: ")
        );
    }
}
