//! A request prepared for the search: its words, its language hint and its namespaces.

use super::judged_passages::JudgedPassages;
use super::query::SearchRequest;
use super::reranker::Reranker;
use super::scope::Scope;
use super::searcher::Searcher;
use super::syntax::{Parsed, WordFilter};
use crate::Error;
use std::sync::Arc;
use tamis_cut::Gate;
use tamis_rank::{AskedNames, Lean, LiteralText, PathNames, ProperNames, QueryNames, RequiredTerms};
use tamis_store::Filter;
use tamis_text::Language;

/// A question with all open choices made.
#[derive(Clone, Debug, Default)]
pub(super) struct Question {
    /// The words to search for, without hints.
    pub text: String,
    /// The names that the query can mean.
    pub names: QueryNames,
    /// Its words, to compare the names of files with.
    pub paths: Arc<PathNames>,
    /// What its wording asks for. Searches of memories prefer no kind of text.
    pub lean: Option<Lean>,
    /// The names whose definitions it asks for.
    pub asked: Arc<AskedNames>,
    /// Its words in their order, to find the texts that repeat them.
    pub literal: Arc<LiteralText>,
    /// The names in it.
    pub proper_names: ProperNames,
    /// The terms that an answer must hold.
    pub required: RequiredTerms,
    /// The words that a passage must and must not hold.
    pub words: WordFilter,
    /// Other phrasings with their weights.
    pub variants: Vec<(String, f64)>,
    /// The language to prefer, by canonical name.
    pub hint: Option<&'static str>,
    /// The namespaces to read.
    pub scope: Scope,
    /// The reference time for ages, in nanoseconds since 1970.
    pub now_ns: i64,
    /// True for a search of memories.
    pub memory: bool,
    /// True if nobody waits for a model to read passages.
    pub fast: bool,
    /// True if a model embeds passages on demand even where the answer seems sure.
    pub thorough: bool,
    /// The gate, if the search has one.
    pub gate: Option<Gate>,
    /// The gate, where the user has turned it off. It decides nothing, and the reason says what it would have refused.
    pub waived_gate: Option<Gate>,
    /// The reranker that reads the first entries, if the search has one.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// What people said of its passages.
    pub judged: JudgedPassages,
    /// True if judgements of other questions move the odds of its entries.
    pub learns: bool,
}

impl Question {
    /// Returns `true` if the query asks for names and says nothing else.
    pub fn is_name(&self) -> bool {
        !self.memory
            && (self.asked.are_alone() || !self.text.contains(char::is_whitespace))
            && !self.required.is_empty()
    }
}

impl Searcher<'_> {
    /// Prepares a request among the passages of a filter.
    ///
    /// # Errors
    /// A variant is too long, a namespace does not exist, or the store fails.
    pub(super) fn question(&self, request: &SearchRequest, filter: &Filter) -> Result<Question, Error> {
        let scope = self.scope(request)?;
        let parsed = self.parsed(&request.query, &scope.of_all(filter))?;
        let names = QueryNames::of(&parsed.text);
        let weighed = |variant: &super::Variant| Ok((variant.text.trim().to_owned(), variant.checked()?));
        let (gate, waived_gate) = self.gates(request);
        let judged = self.judged_passages(request, &scope, &parsed.text);
        Ok(Question {
            hint: request.hint(&parsed),
            lean: Lean::of(&parsed.text, &names).filter(|_| !request.memory),
            names,
            paths: Arc::new(PathNames::of(&parsed.text)),
            asked: Arc::new(AskedNames::of(&parsed.text)),
            literal: Arc::new(LiteralText::of(&parsed.text)),
            proper_names: ProperNames::of(&parsed.text),
            required: RequiredTerms::of(&parsed.text),
            words: parsed.words,
            text: parsed.text,
            variants: request.variants.iter().map(weighed).collect::<Result<_, Error>>()?,
            scope,
            now_ns: request.now_ns.unwrap_or_else(crate::dates::present_ns),
            memory: request.memory,
            fast: request.fast,
            thorough: request.thorough,
            gate,
            waived_gate,
            reranker: self.index.reranker.clone().filter(|_| !request.fast),
            judged,
            learns: self.learns() && !request.memory && !request.imports_judgements(),
        })
    }

    /// The gate that decides, or the one that the user has turned off.
    fn gates(&self, request: &SearchRequest) -> (Option<Gate>, Option<Gate>) {
        let config = &self.index.config;
        if request.is_uncut(config) {
            return (None, None);
        }
        let gate = if request.memory { gate_of_memories() } else { Gate::default() };
        if request.gate.unwrap_or(config.search.gate) { (Some(gate), None) } else { (None, Some(gate)) }
    }
}

/// The gate of a search of memories whose evidence is not weighed. A note is a line or two and shares few words with a question
/// about it, so less evidence is enough.
fn gate_of_memories() -> Gate {
    Gate { min_evidence: 0.75, ..Gate::default() }
}

impl SearchRequest {
    /// Returns the language to prefer. The caller's hint comes first, then the query's, then the only language that the filter
    /// allows, then that of the caller's file.
    pub(super) fn hint(&self, parsed: &Parsed) -> Option<&'static str> {
        let said = || self.language_hint.as_deref().and_then(Language::named);
        let only = || {
            let mut bases: Vec<&str> =
                self.languages.iter().filter_map(|name| Language::named(name)).map(Language::base_name).collect();
            bases.sort_unstable();
            bases.dedup();
            if let [base] = bases[..] { Language::named(base) } else { None }
        };
        let here = || self.caller_path.as_deref().and_then(|path| Language::of(path, ""));
        let named = || parsed.language.and_then(Language::named);
        said().or_else(named).or_else(only).or_else(here).map(|language| language.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_cut::Evidence;

    #[test]
    fn the_gate_asks_less_of_memories_than_of_other_searches() {
        // A note in other words than the question's.
        let evidence =
            Evidence { coverage: Some(0.1), best_similarity: Some(0.4), reference: Some(0.5), ..Evidence::default() };
        assert!(Gate::default().judge(&evidence).empty && !gate_of_memories().judge(&evidence).empty);
    }
}
