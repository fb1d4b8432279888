//! Summarizing a store and checking its parts against each other.

use std::path::Path;

use crate::content::Model;
use crate::error::{Result, StoreError};
use crate::lexical::{Lexical, State, guarded};
use crate::report::{Findings, Part, Problem, Sizes, Summary};
use crate::semantic::{FileState, Semantic};
use crate::sqlite::Database;

/// Summarizes the store, derived indexes included.
pub(crate) fn summary(database: &Database, lexical: &Lexical, semantic: &Semantic) -> Result<Summary> {
    let mut summary = database.summary()?;
    summary.sizes = Sizes {
        database: database.bytes(),
        lexical: directory_bytes(lexical.path()),
        vectors: directory_bytes(semantic.path()),
    };
    summary.lexical_seq = match lexical.state() {
        State::Ready(reader) => Some(reader.seq()),
        State::Missing | State::Unusable(_) => None,
    };
    for (known, model) in summary.models.iter_mut().zip(database.models()?) {
        if let FileState::Ready(snapshot) = semantic.state(&model) {
            known.file_seq = Some(snapshot.seq());
        }
    }
    Ok(summary)
}

/// Checks the database, then each derived index by itself and against the database.
pub(crate) fn check(database: &Database, lexical: &Lexical, semantic: &Semantic) -> Result<Findings> {
    let integrity = database.integrity()?;
    let mut findings = Findings { passages: integrity.passages.len() as u64, problems: integrity.problems };
    if !findings.problems.is_empty() {
        // The legs cannot be compared with a damaged database.
        return Ok(findings);
    }
    for message in check_lexical(lexical, &integrity.passages)? {
        findings.problems.push(Problem { part: Part::Lexical, message, mendable: true });
    }
    for model in database.models()? {
        for message in check_model(database, semantic, &model)? {
            findings.problems.push(Problem {
                part: Part::Vectors,
                message: format!("model {}: {message}", model.name),
                mendable: true,
            });
        }
    }
    Ok(findings)
}

fn check_lexical(lexical: &Lexical, expected: &[u64]) -> Result<Vec<String>> {
    let reader = match lexical.state() {
        State::Ready(reader) => reader,
        State::Missing if expected.is_empty() => return Ok(Vec::new()),
        State::Missing => return Ok(vec!["the lexical index is missing".to_owned()]),
        State::Unusable(reason) => return Ok(vec![format!("the lexical index cannot be used: {reason}")]),
    };
    match guarded(|| reader.verify()) {
        Ok(damaged) if damaged.is_empty() => {}
        Ok(damaged) => {
            let names: Vec<String> = damaged.iter().map(|path| path.display().to_string()).collect();
            return Ok(vec![format!("the lexical index is damaged in {}", names.join(", "))]);
        }
        Err(error) => return Ok(vec![format!("the lexical index cannot be read: {error}")]),
    }
    let failed = |error| StoreError::tantivy(lexical.path(), error);
    if !guarded(|| reader.has_its_totals()).map_err(failed)? {
        return Ok(vec!["the passage count of the lexical index is wrong".to_owned()]);
    }
    let held = guarded(|| reader.passages()).map_err(failed)?;
    Ok(difference("the lexical index", expected, &held).into_iter().collect())
}

fn check_model(database: &Database, semantic: &Semantic, model: &Model) -> Result<Vec<String>> {
    let expected = database.embedded(model.number)?;
    match semantic.state(model) {
        FileState::Ready(snapshot) => {
            if let Err(reason) = snapshot.verify() {
                return Ok(vec![format!("the vector file is damaged: {reason}")]);
            }
        }
        FileState::Missing if expected.is_empty() => return Ok(Vec::new()),
        FileState::Missing => return Ok(vec!["the vector file is missing".to_owned()]),
        FileState::Unusable(reason) => return Ok(vec![format!("the vector file cannot be used: {reason}")]),
    }
    let held = semantic.passages(database, model)?;
    Ok(difference("the vector file", &expected, &held).into_iter().collect())
}

/// Describes how an index differs from the database; both lists ascending.
fn difference(what: &str, expected: &[u64], held: &[u64]) -> Option<String> {
    let lacking = expected.iter().filter(|passage| held.binary_search(passage).is_err()).count();
    let surplus = held.iter().filter(|passage| expected.binary_search(passage).is_err()).count();
    let repeated = held.windows(2).filter(|pair| pair[0] == pair[1]).count();
    if lacking + surplus + repeated == 0 {
        return None;
    }
    Some(format!("{what} differs from the database: {lacking} passages missing, {surplus} deleted, {repeated} twice"))
}

/// Bytes of all files in a directory and below.
fn directory_bytes(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return 0;
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some(if metadata.is_dir() { directory_bytes(&entry.path()) } else { metadata.len() })
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn differences_are_counted_each_way() {
        assert_eq!(difference("it", &[1, 2, 3], &[1, 2, 3]), None);
        assert_eq!(
            difference("it", &[1, 2, 3], &[2, 4, 4]).as_deref(),
            Some("it differs from the database: 2 passages missing, 2 deleted, 1 twice")
        );
    }
}
