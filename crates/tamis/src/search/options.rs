//! Words of a query with a minus sign that the index writes so. `-jar` excludes the word `jar`, unless it is an option of a command
//! in what the search would find.

use super::searcher::Searcher;
use super::syntax::Parsed;
use tamis_store::{Filter, LexicalQuery, PassageId, StoreError};

/// The most passages that are read. Those that match the words of the query best come first.
const MOST_READ: usize = 64;

impl Searcher<'_> {
    /// Takes the operators out of a query. A word with a minus sign stays a word of the query if one of the passages that match the
    /// query best, among those of a filter, has it with its sign.
    pub(super) fn parsed(&self, query: &str, filter: &Filter) -> Result<Parsed, StoreError> {
        let query = &*tamis_text::plain(query);
        let parsed = Parsed::new(query);
        if parsed.words.possible_options().next().is_none() {
            return Ok(parsed);
        }
        let asked = LexicalQuery::new(Parsed::with_options(query, |_| true).text);
        // The search itself reports a leg that fails, and may answer without it.
        let Ok(found) = self.index.store.lexical(&asked, filter, MOST_READ) else { return Ok(parsed) };
        let ids: Vec<PassageId> = found.hits.iter().map(|hit| hit.passage).collect();
        let passages = self.index.store.passages(&filter.namespaces, &ids)?;
        let is_option = |word: &str| passages.iter().any(|passage| holds_option(&passage.text, word));
        Ok(Parsed::with_options(query, is_option))
    }
}

/// Whether a text has a word after a single minus sign, as in `java -jar app.jar`. Case does not count. `non-jar`, `--jar` and
/// `-jar-file` are other words.
fn holds_option(text: &str, word: &str) -> bool {
    text.match_indices('-').any(|(at, sign)| {
        let (before, after) = (&text[..at], &text[at + sign.len()..]);
        let begins = |last: char| last.is_whitespace() || "\"'`([{<|,=".contains(last);
        let is_word = after.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word));
        is_word && before.chars().next_back().is_none_or(begins) && ends(&after[word.len()..])
    })
}

/// Whether a word ends before this text.
fn ends(rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
        next => next.is_none_or(|next| !next.is_alphanumeric() && next != '_' && next != '-'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_a_word_of_its_own_after_one_sign() {
        for text in ["java -jar app.jar", "`-jar`", "-jar", "(-Jar)", "args = [\"-jar\"]", "use -jar.", "[-jar|-cp]"] {
            assert!(holds_option(text, "jar"), "{text}");
        }
        for text in
            ["non-jar", "--jar", "-jar-file", "-jars", "-jar_x", "-jar.x", "- jar", "jar", "a--jar", "é-jar", ""]
        {
            assert!(!holds_option(text, "jar"), "{text}");
        }
        assert!(holds_option("die -größe", "größe") && !holds_option("-grö", "größe"));
    }
}
