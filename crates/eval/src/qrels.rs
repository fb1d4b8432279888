//! Relevance judgements, from the formats of BEIR and TREC.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::FormatError;
use crate::lines::{columns, shortened, unmarked};

/// Relevance judgements: for each query, documents and their grades. A grade above 0 is relevant.
///
/// ```
/// use tamis_eval::Qrels;
///
/// let beir = Qrels::parse("test.tsv", "query-id\tcorpus-id\tscore\nq1\td3\t2\nq1\td8\t0\n")?;
/// let trec = Qrels::parse("qrels.txt", "q1 0 d3 2\nq1 0 d8 0\n")?;
/// assert_eq!(beir, trec);
/// assert_eq!(beir.query("q1").and_then(|grades| grades.get("d3")), Some(&2));
/// # Ok::<(), tamis_eval::FormatError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Qrels {
    queries: BTreeMap<String, BTreeMap<String, i32>>,
}

impl Qrels {
    /// No judgements.
    pub fn new() -> Self {
        Qrels::default()
    }

    /// Reads judgements in either format: BEIR's three columns (query, document, grade; separated by tabs, with or without a
    /// header line) or TREC's four (query, anything, document, grade; separated by any blanks). Blank lines are skipped. A
    /// pair judged twice with the same grade counts once. `file` is the name for errors.
    ///
    /// # Errors
    /// A line with another number of columns, a grade other than a whole number, a pair judged twice with different grades, or
    /// a file without judgements.
    pub fn parse(file: &str, text: &str) -> Result<Self, FormatError> {
        let mut qrels = Qrels::new();
        let mut first_lines = BTreeMap::new();
        let mut first = true;
        for (at, text) in unmarked(text).lines().enumerate() {
            let line = at + 1;
            if text.trim().is_empty() {
                continue;
            }
            let columns = columns(text);
            let (query, document, grade) = match columns[..] {
                [query, document, grade] => (query, document, grade),
                [query, _, document, grade] => (query, document, grade),
                _ => {
                    return Err(FormatError::Columns {
                        file: file.to_owned(),
                        line,
                        expected: "three (query, document, grade) or four (query, iteration, document, grade)",
                        found: columns.len(),
                        text: shortened(text),
                    });
                }
            };
            let Some(value) = whole(grade) else {
                // A first line whose last column is a word is BEIR's header.
                if first && grade.parse::<f64>().is_err() {
                    first = false;
                    continue;
                }
                return Err(FormatError::Number {
                    file: file.to_owned(),
                    line,
                    column: "grade",
                    value: shortened(grade),
                    expected: "a whole number",
                });
            };
            first = false;
            if let Some(earlier) = first_lines.insert((query, document), line)
                && qrels.query(query).and_then(|grades| grades.get(document)) != Some(&value)
            {
                return Err(FormatError::Duplicate {
                    file: file.to_owned(),
                    line,
                    first: earlier,
                    query: query.to_owned(),
                    document: document.to_owned(),
                });
            }
            qrels.insert(query, document, value);
        }
        if qrels.is_empty() {
            return Err(FormatError::Empty { file: file.to_owned(), what: "judgements" });
        }
        Ok(qrels)
    }

    /// Sets the grade of one document.
    pub fn insert(&mut self, query: &str, document: &str, grade: i32) {
        self.queries.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
    }

    /// The judgements of one query, document to grade.
    pub fn query(&self, id: &str) -> Option<&BTreeMap<String, i32>> {
        self.queries.get(id)
    }

    /// Every judged query with its judgements, in the order of their identifiers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, i32>)> {
        self.queries.iter().map(|(id, grades)| (id.as_str(), grades))
    }

    /// Number of queries with a judgement.
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Returns true without judgements.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }
}

/// A whole number, also if written with a point and zeros.
fn whole(text: &str) -> Option<i32> {
    let number = text.split_once('.').filter(|(_, zeros)| zeros.bytes().all(|byte| byte == b'0'));
    number.map_or(text, |(number, _)| number).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_with_their_quirks() {
        let beir = Qrels::parse("t", "query-id\tcorpus-id\tscore\r\nq 1\td 1\t1\r\n\r\nq 1\td 2\t-1\r\n").unwrap();
        assert_eq!(beir.query("q 1").unwrap().len(), 2, "identifiers with blanks survive where tabs divide");
        let trec = Qrels::parse("t", "q1  0 d1\t1\nq1 Q0 d1 1\nq2 0 d1 2.0\n").unwrap();
        assert_eq!(trec.len(), 2);
        assert_eq!(
            Qrels::parse("t", "\u{feff}q1 0 d1 1\n").unwrap().query("q1").unwrap().len(),
            1,
            "a byte order mark"
        );
        assert_eq!(trec.query("q2").unwrap()["d1"], 2);
        assert_eq!(trec.iter().count(), 2);
    }

    #[test]
    fn errors_name_the_file_the_line_and_the_value() {
        let texts = [
            "a\tb\t1\na\tb\n", "a\tb\t1\na\tc\tgood\n",
            // One header, not several.
            "h\th\tgrade\na\tc\tgood\na\tc\t1\n", "a\tb\t0.5\n", "a\tb\t1\n\na\tb\t2\n", "query-id\tcorpus-id\tscore\n",
        ];
        let errors = texts.map(|text| Qrels::parse("test.tsv", text).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"), @r#"
        test.tsv, line 2: 2 columns where three (query, document, grade) or four (query, iteration, document, grade) were expected: "a\tb"
        test.tsv, line 2: the grade is "good", and a whole number was expected
        test.tsv, line 2: the grade is "good", and a whole number was expected
        test.tsv, line 1: the grade is "0.5", and a whole number was expected
        test.tsv, line 3: document "b" was already given for query "a" on line 1; leave one of the two lines out
        test.tsv has no judgements; give a file with at least one line of them
        "#);
    }
}
