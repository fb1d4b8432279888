//! Relevance judgements and ranked results of an engine, in the formats of BEIR and TREC.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::data::{EvalError, FormatError};

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

// Ranked results of an engine, in TREC's format.

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

// Lines of columns, the form of judgements and runs.

/// The text without the mark that some programs begin a file with.
pub fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The columns of a line: separated by tabs if that gives three or more, otherwise by any blanks.
pub fn columns(line: &str) -> Vec<&str> {
    let by_tabs: Vec<&str> = line.trim_end_matches(['\r', '\n']).split('\t').map(str::trim).collect();
    if by_tabs.len() >= 3 && by_tabs.iter().all(|column| !column.is_empty()) {
        return by_tabs;
    }
    line.split_whitespace().collect()
}

/// The text shortened for an error.
pub fn shortened(text: &str) -> String {
    const LENGTH: usize = 80;
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
        let marked = Qrels::parse("t", "\u{feff}q1 0 d1 1\n").unwrap();
        assert_eq!(marked.query("q1").unwrap().len(), 1, "a byte order mark");
        assert_eq!((trec.query("q2").unwrap()["d1"], trec.iter().count()), (2, 2));
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

    #[test]
    fn tabs_or_blanks_divide_long_text_is_cut_and_a_byte_order_mark_is_no_part_of_a_query() {
        assert_eq!(columns("q 1\td 1\t1\r"), ["q 1", "d 1", "1"]);
        assert_eq!(columns(" q1 0\td1  1 "), ["q1", "0", "d1", "1"]);
        assert_eq!(columns("a\tb"), ["a", "b"]);
        assert_eq!(shortened("kurz"), "kurz");
        assert_eq!(shortened(&"ä".repeat(100)), format!("{}…", "ä".repeat(80)));
        let run = Run::parse("r", "\u{feff}q Q0 a 1 1.0 t\nq Q0 b 2 0.5 t\n").unwrap();
        assert_eq!((run.len(), run.query("q").map(<[_]>::len)), (1, Some(2)));
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
    fn equal_scores_also_of_a_short_float_go_by_identifier_descending() {
        for (text, expected) in [
            ("q Q0 a 1 1.0 t\nq Q0 c 2 1.0 t\nq Q0 b 3 2.0 t\nq Q0 d 4 -1e3 t\n", ["b", "c", "a", "d"]),
            ("q Q0 a 1 1.000000001 t\nq Q0 b 2 1.0 t\nq Q0 c 3 -0.0 t\nq Q0 d 4 0.0 t\n", ["b", "a", "d", "c"]),
        ] {
            let run = Run::parse("r", text).unwrap();
            let ids: Vec<&str> = run.query("q").unwrap().iter().map(|scored| scored.document.as_str()).collect();
            assert_eq!(ids, expected, "{text}");
        }
    }

    #[test]
    fn errors_of_a_run_name_the_file_the_line_and_the_value() {
        let disorder = "q Q0 a 1 2 t\nq Q0 b 2 1 t\nq Q0 a 3 1 t\n";
        let texts = ["q Q0 a 1 1.0 t\nq a 2 0.5\n", "q Q0 a 1 best t\n", "q Q0 a 1 NaN t\n", disorder, "\n"];
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
