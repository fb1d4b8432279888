//! Ranked results of an engine, in TREC's format.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::{EvalError, FormatError};
use crate::lines::{columns, shortened, unmarked};

/// One document of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// The document's identifier.
    pub document: String,
    /// Its score, rounded to a 32-bit float; finite, higher is better.
    pub score: f64,
}

/// The results of an engine: for each query its documents with their scores, best first.
///
/// The order is trec_eval's: by score, and among equal scores by the document's identifier, descending. Scores are 32-bit
/// floats, as in trec_eval: two that differ by less are equal. The ranks in the file are ignored.
///
/// ```
/// use tamis_eval::Run;
///
/// let run = Run::parse("bm25.run", "q1 Q0 d3 1 7.5 bm25\nq1 Q0 d8 2 9.1 bm25\n")?;
/// assert_eq!(run.query("q1").map(|documents| documents[0].document.as_str()), Some("d8"));
/// # Ok::<(), tamis_eval::FormatError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Run {
    queries: BTreeMap<String, Vec<Scored>>,
}

impl Run {
    /// Reads six columns per line: query, `Q0`, document, rank, score, tag. Blank lines are skipped. `file` is the name for
    /// errors.
    ///
    /// # Errors
    /// A line with another number of columns, a score other than a number within ±3.4e38, a document given twice for a query,
    /// or a file without results.
    pub fn parse(file: &str, text: &str) -> Result<Self, FormatError> {
        let mut run = Run::default();
        let mut first_lines = BTreeMap::new();
        for (at, text) in unmarked(text).lines().enumerate() {
            let line = at + 1;
            if text.trim().is_empty() {
                continue;
            }
            let columns = columns(text);
            let [query, _, document, _, score, _] = columns[..] else {
                return Err(FormatError::Columns {
                    file: file.to_owned(),
                    line,
                    expected: "six (query, Q0, document, rank, score, tag)",
                    found: columns.len(),
                    text: shortened(text),
                });
            };
            let Some(value) = score.parse().ok().filter(|value: &f32| value.is_finite()) else {
                return Err(FormatError::Number {
                    file: file.to_owned(),
                    line,
                    column: "score",
                    value: shortened(score),
                    expected: "a number within ±3.4e38",
                });
            };
            if let Some(first) = first_lines.insert((query, document), line) {
                return Err(FormatError::Duplicate {
                    file: file.to_owned(),
                    line,
                    first,
                    query: query.to_owned(),
                    document: document.to_owned(),
                });
            }
            // Adding 0 makes −0 equal to 0.
            let score = f64::from(value) + 0.0;
            let documents = run.queries.entry(query.to_owned()).or_default();
            documents.push(Scored { document: document.to_owned(), score });
        }
        if run.queries.is_empty() {
            return Err(FormatError::Empty { file: file.to_owned(), what: "results" });
        }
        run.sort();
        Ok(run)
    }

    /// A run from its results, each a query, a document and a score, in any order.
    ///
    /// # Errors
    /// A score other than a number within ±3.4e38, or a document given twice for a query.
    pub fn from_results(results: impl IntoIterator<Item = (String, String, f64)>) -> Result<Self, EvalError> {
        let wrong = |query: &str, document: &str, expected| {
            let value = format!("query \"{}\", document \"{}\"", shortened(query), shortened(document));
            Err(EvalError::Option { option: "run", value, expected })
        };
        let mut run = Run::default();
        for (query, document, score) in results {
            let short = score as f32;
            if !short.is_finite() {
                return wrong(&query, &document, "a result whose score is a number within ±3.4e38");
            }
            let score = f64::from(short) + 0.0;
            run.queries.entry(query).or_default().push(Scored { document, score });
        }
        for (query, documents) in &run.queries {
            let mut seen = HashSet::new();
            if let Some(twice) = documents.iter().find(|scored| !seen.insert(&scored.document)) {
                return wrong(query, &twice.document, "given once");
            }
        }
        run.sort();
        Ok(run)
    }

    fn sort(&mut self) {
        for documents in self.queries.values_mut() {
            documents.sort_by(order);
        }
    }

    /// The documents of one query, best first.
    pub fn query(&self, id: &str) -> Option<&[Scored]> {
        self.queries.get(id).map(Vec::as_slice)
    }

    /// Every query with its documents, in the order of their identifiers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Scored])> {
        self.queries.iter().map(|(id, documents)| (id.as_str(), documents.as_slice()))
    }

    /// Number of queries with a result.
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Returns true without results.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }
}

/// Best first, as trec_eval orders.
fn order(a: &Scored, b: &Scored) -> Ordering {
    b.score.total_cmp(&a.score).then_with(|| b.document.cmp(&a.document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_query() {
        let run = Run::parse("r", "\u{feff}q Q0 a 1 1.0 t\nq Q0 b 2 0.5 t\n").unwrap();
        assert_eq!((run.len(), run.query("q").map(<[_]>::len)), (1, Some(2)));
    }

    #[test]
    fn equal_scores_go_by_identifier_descending() {
        let run = Run::parse("r", "q Q0 a 1 1.0 t\nq Q0 c 2 1.0 t\nq Q0 b 3 2.0 t\nq Q0 d 4 -1e3 t\n").unwrap();
        let ids: Vec<&str> = run.query("q").unwrap().iter().map(|scored| scored.document.as_str()).collect();
        assert_eq!(ids, ["b", "c", "a", "d"]);
    }

    #[test]
    fn results_make_the_run_that_their_lines_make() {
        let parsed = Run::parse("r", "q Q0 a 1 1.0 t\nq Q0 c 2 1.0 t\np Q0 b 3 2.5 t\n").unwrap();
        let results = [("q", "c", 1.0), ("p", "b", 2.5), ("q", "a", 1.0)];
        let made = |results: &[(&str, &str, f64)]| {
            Run::from_results(results.iter().map(|&(query, document, score)| (query.into(), document.into(), score)))
        };
        assert_eq!(made(&results).unwrap(), parsed);
        let error = made(&[("q", "a", 1.0), ("q", "a", 2.0)]).unwrap_err().to_string();
        assert!(error.contains("query \"q\", document \"a\"") && error.contains("given once"), "{error}");
        assert!(made(&[("q", "a", 1e300)]).unwrap_err().to_string().contains("3.4e38"));
    }

    #[test]
    fn scores_that_a_short_float_cannot_tell_apart_are_equal() {
        let run = Run::parse("r", "q Q0 a 1 1.000000001 t\nq Q0 b 2 1.0 t\nq Q0 c 3 -0.0 t\nq Q0 d 4 0.0 t\n").unwrap();
        let ids: Vec<&str> = run.query("q").unwrap().iter().map(|scored| scored.document.as_str()).collect();
        assert_eq!(ids, ["b", "a", "d", "c"]);
    }

    #[test]
    fn errors_name_the_file_the_line_and_the_value() {
        let texts = [
            "q Q0 a 1 1.0 t\nq a 2 0.5\n",
            "q Q0 a 1 best t\n",
            "q Q0 a 1 NaN t\n",
            "q Q0 a 1 2 t\nq Q0 b 2 1 t\nq Q0 a 3 1 t\n",
            "\n",
        ];
        let errors = texts.map(|text| Run::parse("bm25.run", text).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"), @r#"
        bm25.run, line 2: 4 columns where six (query, Q0, document, rank, score, tag) were expected: "q a 2 0.5"
        bm25.run, line 1: the score is "best", and a number within ±3.4e38 was expected
        bm25.run, line 1: the score is "NaN", and a number within ±3.4e38 was expected
        bm25.run, line 3: document "a" was already given for query "q" on line 1; leave one of the two lines out
        bm25.run has no results; give a file with at least one line of them
        "#);
    }
}
