//! The judged pairs of a test collection with their texts.

use super::EvaluationError;
use super::beir::{absolute, qrels_file, splits};
use super::error::text;
use super::records;
use std::collections::HashMap;
use std::path::Path;
use tamis_eval::Qrels;

/// A pair of a query and a document that people judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JudgedPair {
    pub query_id: String,
    pub query: String,
    pub document: String,
    /// Title and text of the document.
    pub text: String,
    pub grade: i32,
}

/// Reads every judged pair of a directory in BEIR's layout, those judged not relevant included, and what people should know of
/// the files.
///
/// # Errors
/// A file that is missing or malformed, or judgements of which none has its query and document there.
pub(crate) fn judged_pairs(directory: &Path, split: &str) -> Result<(Vec<JudgedPair>, Vec<String>), EvaluationError> {
    let directory = absolute(directory)?;
    let judgements = qrels_file(&directory, split);
    if !judgements.exists() {
        return Err(EvaluationError::path(&judgements, format!("not there; {}", splits(&directory))));
    }
    let qrels = Qrels::parse(&judgements.to_string_lossy(), &text(&judgements)?)?;
    let read = |file: &str| {
        let path = directory.join(file);
        records::read(&path, &text(&path)?)
    };
    let queries: HashMap<String, String> =
        read("queries.jsonl")?.into_iter().map(|record| (record.id, record.text)).collect();
    let documents: HashMap<String, String> = read("corpus.jsonl")?
        .into_iter()
        .map(|record| {
            let text = match (record.title.trim().is_empty(), record.text.trim().is_empty()) {
                (true, _) => record.text,
                (false, true) => record.title,
                (false, false) => format!("{}\n\n{}", record.title, record.text),
            };
            (record.id, text)
        })
        .collect();
    let (mut pairs, mut missing) = (Vec::new(), 0);
    for (query_id, judged) in qrels.iter() {
        for (document, &grade) in judged {
            match (queries.get(query_id), documents.get(document)) {
                (Some(query), Some(text)) if !query.trim().is_empty() && !text.trim().is_empty() => {
                    pairs.push(JudgedPair {
                        query_id: query_id.to_owned(),
                        query: query.clone(),
                        document: document.clone(),
                        text: text.clone(),
                        grade,
                    });
                }
                _ => missing += 1,
            }
        }
    }
    if pairs.is_empty() {
        let reason = format!("none of its {missing} judged pairs has the texts of its query and document there");
        return Err(EvaluationError::path(&judgements, reason));
    }
    let note = (missing > 0).then(|| format!("judged pairs left out, since a text is missing: {missing}"));
    Ok((pairs, note.into_iter().collect()))
}
