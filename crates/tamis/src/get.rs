//! The full text of a result: by its identifier, or by path and lines.

use crate::Error;
use crate::index::Index;
use serde::Serialize;
use std::path::{Component, Path};
use tamis_store::Store;

/// Some lines of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// Path under the root.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// Identifier of the passage, where one was asked for.
    pub id: Option<String>,
    /// Qualified name of the symbol, where a passage was asked for that has one.
    pub symbol: Option<String>,
    /// The lines as they are indexed.
    pub text: String,
}

impl Index {
    /// The text that `wanted` names: the identifier of a passage (or the beginning of one, if no other begins so), or
    /// `PATH`, `PATH:LINE` or `PATH:FIRST-LAST`. Text comes from the index alone, so no other file can be read.
    ///
    /// # Errors
    /// Nothing of that name is indexed, the beginning of an identifier fits several, or the lines are not in the file.
    pub fn get(&self, wanted: &str) -> Result<Excerpt, Error> {
        if wanted.len() >= 4 && wanted.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let found = self.store.find(&wanted.to_ascii_lowercase(), 2)?;
            match found.as_slice() {
                [] => {}
                [passage] => {
                    return Ok(Excerpt {
                        path: passage.path.clone(),
                        start_line: passage.start_line,
                        end_line: passage.end_line,
                        id: Some(passage.id.clone()),
                        symbol: passage.symbol.clone(),
                        text: passage.text.clone(),
                    });
                }
                _ => return Err(Error::argument("id", format!("{wanted:?}"), "longer: several passages begin so")),
            }
        }
        // A path may hold a colon itself: one that is there as a whole is meant as a whole.
        let whole = self.stored_path(wanted);
        if self.store.document(&self.namespace, &whole)?.is_some() {
            return self.lines(&whole, None);
        }
        let (path, lines) = split_lines(wanted)?;
        self.lines(&self.stored_path(path), lines)
    }

    /// The indexed lines of a document, put together from its passages.
    fn lines(&self, path: &str, lines: Option<(u32, u32)>) -> Result<Excerpt, Error> {
        let passages = self.store.document_passages(&self.namespace, path)?;
        if passages.is_empty() {
            return Err(self.not_found(path)?);
        }
        let mut by_line: Vec<(u32, String)> = Vec::new();
        for passage in &passages {
            for (line, text) in (passage.start_line..).zip(passage.text.lines()) {
                match by_line.last_mut() {
                    // A line too long for one passage is spread over several.
                    Some((last, whole)) if *last == line && passage.start_line == line => whole.push_str(text),
                    _ => by_line.push((line, text.to_owned())),
                }
            }
        }
        by_line.sort_by_key(|(line, _)| *line);
        let last = by_line.last().map_or(1, |(line, _)| *line);
        let (first, end) = lines.unwrap_or((1, last));
        if first > last {
            return Err(Error::argument(
                "lines",
                format!("{first}-{end}"),
                format!("1 to {last}, the last line of {path}"),
            ));
        }
        let end = end.min(last);
        let mut text = String::new();
        let mut at = first;
        for (line, content) in by_line.into_iter().filter(|(line, _)| (first..=end).contains(line)) {
            // Blank lines between passages are in none of them.
            while at < line {
                text.push('\n');
                at += 1;
            }
            text.push_str(&content);
            text.push('\n');
            at = line + 1;
        }
        Ok(Excerpt { path: path.to_owned(), start_line: first, end_line: end, id: None, symbol: None, text })
    }

    /// A path as people write it (absolute, or with `./`) as the index has it.
    fn stored_path(&self, path: &str) -> String {
        let path = Path::new(path);
        let under = path.strip_prefix(&self.location.root).unwrap_or(path);
        let parts = under.components().filter(|part| !matches!(part, Component::CurDir));
        parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    }

    fn not_found(&self, path: &str) -> Result<Error, Error> {
        let documents = self.store.documents(&self.namespace)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let nearest = documents
            .into_iter()
            .filter(|document| document.passages > 0)
            .map(|document| {
                let same_name = document.path.rsplit('/').next() == Some(name);
                let similarity = strsim::jaro_winkler(path, &document.path) + if same_name { 1.0 } else { 0.0 };
                (similarity, document.path)
            })
            .filter(|(similarity, _)| *similarity > 0.8)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, path)| path);
        Ok(Error::NotFound { wanted: path.to_owned(), nearest })
    }
}

/// A path, and the first and last line where they are named.
type Place<'a> = (&'a str, Option<(u32, u32)>);

/// `PATH`, `PATH:LINE` or `PATH:FIRST-LAST`.
fn split_lines(wanted: &str) -> Result<Place<'_>, Error> {
    let Some((path, lines)) = wanted.rsplit_once(':') else { return Ok((wanted, None)) };
    if lines.is_empty() || !lines.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok((wanted, None));
    }
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let range = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
    match range {
        Some((first, last)) if first >= 1 && first <= last => Ok((path, Some((first, last)))),
        _ => Err(Error::argument("lines", lines, "LINE or FIRST-LAST, from 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_after_the_last_colon() {
        assert_eq!(split_lines("src/a.rs").expect("a path"), ("src/a.rs", None));
        assert_eq!(split_lines("src/a.rs:12").expect("a line"), ("src/a.rs", Some((12, 12))));
        assert_eq!(split_lines("src/a.rs:3-9").expect("lines"), ("src/a.rs", Some((3, 9))));
        assert_eq!(split_lines("odd:name").expect("a path"), ("odd:name", None));
        for wrong in ["a:0", "a:9-3", "a:5-", "a:1-x", "a:99999999999"] {
            assert!(split_lines(wrong).is_err(), "{wrong}");
        }
    }
}
