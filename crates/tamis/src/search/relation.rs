//! Questions that a search answers with a definition or a file, and whose full answer [`Index::related`](crate::Index::related) lists:
//! what uses a symbol, and which commits changed something.

use std::fmt;

use tamis_rank::last_part;
use tamis_text::SYMBOL_SEPARATOR;

use super::answer::{Answer, Hit};
use super::query::HistoryQuestion;
use crate::collections::COMMITS;
use crate::import::commits::is_commit;

/// Words that ask for uses after "who" or "what", and after "where is" and the name.
const USES: [&str; 7] = ["calls", "uses", "raises", "throws", "invokes", "references", "constructs"];
const USED: [&str; 8] = ["called", "used", "raised", "thrown", "invoked", "referenced", "constructed", "caught"];

/// What a query asks for beside its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedRelation {
    /// What uses the symbol of this name.
    Uses(String),
    /// The last commits of a file.
    Commits,
}

impl fmt::Display for AskedRelation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskedRelation::Uses(name) => write!(formatter, "what uses {name}"),
            AskedRelation::Commits => formatter.write_str("the last commits that touched its file"),
        }
    }
}

impl Answer {
    /// Returns the result whose relations the query asks for, and which: the first definition of a symbol that the query names in a
    /// question such as "who calls retry" or "where is Timeout raised"; or the best result of a question about the past that commits do
    /// not answer better.
    pub fn asked_relation(&self) -> Option<(&Hit, AskedRelation)> {
        let words: Vec<&str> = self.query.split_whitespace().map(|word| word.trim_matches(is_mark)).collect();
        if asks_for_uses(&words) {
            let name = |hit: &Hit| {
                let symbols: Vec<&str> = hit.symbol.as_deref()?.split(SYMBOL_SEPARATOR).filter_map(last_part).collect();
                words.iter().filter_map(|word| last_part(word)).find(|word| symbols.contains(word))
            };
            let defines = |hit| Some((hit, AskedRelation::Uses(name(hit)?.to_owned())));
            return self.results.iter().find_map(defines);
        }
        if HistoryQuestion::from_query(&self.query) == HistoryQuestion::Not {
            return None;
        }
        let first = self.results.first().filter(|first| first.collection != COMMITS)?;
        let paths = self.results.iter().map(|hit| &hit.path).chain(self.nearest.iter().map(|one| &one.path));
        let holds_commits = paths.into_iter().any(|path| is_commit(path));
        holds_commits.then_some((first, AskedRelation::Commits))
    }
}

/// Returns `true` for what stands around a word of a question.
fn is_mark(character: char) -> bool {
    !character.is_alphanumeric() && character != '_'
}

/// Returns `true` for "who calls", "what uses", "callers of", "where is … raised" and the like.
fn asks_for_uses(words: &[&str]) -> bool {
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["who" | "what", verb, _, ..] => USES.contains(verb),
        ["where", "is" | "are", _, rest @ ..] => rest.iter().any(|word| USED.contains(word)),
        ["callers" | "users" | "uses" | "usages", "of", _, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_for_uses_and_commits_name_the_result_to_go_on_from() {
        let hit = |path: &str, symbol: Option<&str>| Hit {
            path: path.into(),
            collection: if is_commit(path) { COMMITS } else { "code" }.into(),
            symbol: symbol.map(str::to_owned),
            ..Hit::default()
        };
        let results = [hit("a.py", None), hit("b.py", Some("Store::retry, wait")), hit("commit:1f2e3d4c5b6a", None)];
        let asked = |query: &str, results: &[Hit]| {
            let answer = Answer { query: query.into(), results: results.to_vec(), ..Answer::default() };
            answer.asked_relation().map(|(hit, what)| format!("{}: {what}", hit.path))
        };
        for query in ["who calls retry", "What uses `retry()`?", "where is Store::retry called", "callers of retry"] {
            assert_eq!(asked(query, &results).as_deref(), Some("b.py: what uses retry"), "{query}");
        }
        for query in ["who changed retry", "when was retry changed"] {
            let expected = Some("a.py: the last commits that touched its file");
            assert_eq!(asked(query, &results).as_deref(), expected, "{query}");
            assert_eq!(asked(query, &results[..2]), None, "{query}: no commits");
            assert_eq!(asked(query, &results[2..]), None, "{query}: a commit comes first");
        }
        for query in ["retry", "where is retry", "who calls Retry", "what retry uses", "how is retry used", "who calls"]
        {
            assert_eq!(asked(query, &results[..2]), None, "{query}");
        }
    }
}
