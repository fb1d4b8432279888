//! Finds the document a query was made from, in collections whose queries are documents.

use super::{EvaluationError, TestCollection, TestQuery};
use std::collections::{HashMap, HashSet};
use std::str::FromStr;

/// Placeholder for the document's identifier in a pattern.
const ID: &str = "{}";

/// A pattern that relates a query's identifier to that of its own document: `{}` stands for the document's identifier
/// and `*` for any text.
///
/// ```
/// use tamis::evaluate::OwnId;
///
/// let facets: OwnId = "{}_*".parse()?;
/// assert_eq!(facets.to_string(), "{}_*");
/// assert!("paper_*".parse::<OwnId>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnId {
    before: String,
    after: String,
}

impl Default for OwnId {
    /// The query and its document have the same identifier.
    fn default() -> Self {
        OwnId { before: String::new(), after: String::new() }
    }
}

impl std::fmt::Display for OwnId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}{ID}{}", self.before, self.after)
    }
}

impl FromStr for OwnId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(ID) {
            Some((before, after)) if !after.contains(ID) => {
                Ok(OwnId { before: before.to_owned(), after: after.to_owned() })
            }
            _ => Err(format!("{text:?} must have {ID} once, for the document's identifier, such as {ID}_*")),
        }
    }
}

impl OwnId {
    /// The longest part of a query's identifier that names a document and leaves a rest that matches the pattern.
    fn document<'a>(&self, query: &'a str, documents: &HashSet<&str>) -> Option<&'a str> {
        let places = || query.char_indices().map(|(place, _)| place).chain([query.len()]);
        let starts = places().filter(|&start| matches(&self.before, &query[..start]));
        let ends: Vec<usize> = places().filter(|&end| matches(&self.after, &query[end..])).collect();
        let parts = starts.flat_map(|start| ends.iter().filter_map(move |&end| query.get(start..end)));
        parts.filter(|part| documents.contains(part)).max_by_key(|part| part.len())
    }
}

/// Returns `true` if a text matches a pattern in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(place) = rest.find(part) else { return false };
        rest = &rest[place + part.len()..];
    }
    true
}

/// The documents that are left out, each for its query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnDocuments {
    documents: HashMap<String, String>,
    /// The number of all queries.
    queries: usize,
}

impl OwnDocuments {
    /// The document that the query was made from.
    pub fn of(&self, query: &TestQuery) -> Option<&str> {
        self.documents.get(&query.id).map(String::as_str)
    }

    /// Returns a note with the number of queries that have one.
    pub fn note(&self) -> String {
        match self.documents.len() {
            0 => "no query's identifier leads to a document, so no document is left out; where a query is a part of a document, \
                  say how its identifier is made, such as --own-id='{}_*'"
                .to_owned(),
            matched => format!("queries whose own document is left out: {matched} of {}", self.queries),
        }
    }
}

impl TestCollection {
    /// Finds the document that each query was made from.
    ///
    /// # Errors
    /// Queries and documents that share numbers only, and differ in content.
    pub fn own_documents(&self, own: &OwnId) -> Result<OwnDocuments, EvaluationError> {
        let known: HashSet<&str> = self.documents.iter().map(|document| document.id.as_str()).collect();
        let found: HashMap<&str, &str> = self
            .queries
            .iter()
            .filter_map(|query| Some((query.id.as_str(), own.document(&query.id, &known)?)))
            .collect();
        if *own == OwnId::default() {
            self.refuse_chance(&found)?;
        }
        let documents = found.into_iter().map(|(query, document)| (query.to_owned(), document.to_owned())).collect();
        Ok(OwnDocuments { documents, queries: self.queries.len() })
    }

    /// Rejects a coincidence of two numberings: identifiers are numbers on both sides, and most pairs differ in
    /// content.
    fn refuse_chance(&self, found: &HashMap<&str, &str>) -> Result<(), EvaluationError> {
        let is_number = |id: &&str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        if found.is_empty() || !found.keys().all(is_number) {
            return Ok(());
        }
        let texts: HashMap<&str, String> = self
            .documents
            .iter()
            .filter(|document| found.contains_key(document.id.as_str()))
            .map(|document| {
                (document.id.as_str(), format!("{} {}", document.title.as_deref().unwrap_or_default(), document.text))
            })
            .collect();
        let strangers: Vec<&TestQuery> = self
            .queries
            .iter()
            .filter(|query| texts.get(query.id.as_str()).is_some_and(|text| !says(text, &query.text)))
            .collect();
        match strangers.first() {
            Some(query) if 2 * strangers.len() > found.len() => Err(EvaluationError::path(
                &self.directory.join("queries.jsonl"),
                format!(
                    "{} queries have the number of a document, and {} of them are not its text (query {}: {:?}): the \
                     numbers are the same by chance. Leave --own-id out, or say how a query's identifier is made of its \
                     document's, such as --own-id='{{}}_*'",
                    found.len(),
                    strangers.len(),
                    query.id,
                    query.text.chars().take(60).collect::<String>(),
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// Returns `true` if a document has most of the words of a query.
fn says(document: &str, query: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        text.split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let (document, query) = (words(document), words(query));
    4 * query.intersection(&document).count() >= 3 * query.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_leads_from_a_query_to_its_document() {
        let documents = HashSet::from(["p1", "p1_a", "p2", "12"]);
        for (pattern, query, expected) in [
            ("{}", "p1", Some("p1")),
            ("{}", "p1_method", None),
            ("{}_*", "p1_method", Some("p1")),
            ("{}_*", "p1_a_method", Some("p1_a")),
            ("{}_*", "p1", None),
            ("q-{}", "q-12", Some("12")),
            ("*/{}#*", "set/p2#3", Some("p2")),
            ("*a*{}", "xaxp2", Some("p2")),
            ("{}_*", "é_p1", None),
        ] {
            let own: OwnId = pattern.parse().expect("a pattern");
            assert_eq!(own.document(query, &documents), expected, "{pattern} on {query}");
        }
        for pattern in ["", "*", "{}{}", "{x}"] {
            assert!(pattern.parse::<OwnId>().is_err(), "{pattern}");
        }
    }
}
