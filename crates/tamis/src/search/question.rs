//! A request made ready to run: its words, its language hint and its namespaces.

use super::hint::Parsed;
use super::query::SearchRequest;
use super::scope::Scope;
use super::searcher::Searcher;
use crate::Error;
use std::time::{SystemTime, UNIX_EPOCH};
use tamis_cut::Gate;
use tamis_rank::{QueryNames, RequiredTerms};
use tamis_text::Language;

/// What is asked, without what the caller may leave open.
#[derive(Clone, Debug)]
pub(super) struct Question {
    /// The words to search for, hints taken out.
    pub text: String,
    /// The names that it can mean.
    pub names: QueryNames,
    /// The terms that an answer must hold.
    pub required: RequiredTerms,
    /// Other phrasings with their weights.
    pub variants: Vec<(String, f64)>,
    /// The language to prefer, by canonical name.
    pub hint: Option<&'static str>,
    /// Whose passages are read.
    pub scope: Scope,
    /// What ages are counted from, in nanoseconds since 1970.
    pub now_ns: i64,
    /// True if it is asked of memories.
    pub memory: bool,
    /// The gate, where it is asked.
    pub gate: Option<Gate>,
    /// The gate, where the user has turned it off. It decides nothing, and the reason says what it would have refused.
    pub waived_gate: Option<Gate>,
}

impl Searcher<'_> {
    /// Makes a request ready.
    ///
    /// # Errors
    /// A variant that is too long, or a namespace that is not there.
    pub(super) fn question(&self, request: &SearchRequest) -> Result<Question, Error> {
        let parsed = Parsed::of(&request.query);
        let weighed =
            |variant: &super::Variant| Ok((variant.text.trim().to_owned(), variant.checked(&self.index.config)?));
        let (gate, waived_gate) = self.gates(request);
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as i64);
        Ok(Question {
            hint: request.hint(&parsed),
            names: QueryNames::of(&parsed.text),
            required: RequiredTerms::of(&parsed.text),
            text: parsed.text,
            variants: request.variants.iter().map(weighed).collect::<Result<_, Error>>()?,
            scope: self.scope(request)?,
            now_ns: request.now_ns.unwrap_or_else(clock),
            memory: request.memory,
            gate,
            waived_gate,
        })
    }

    /// The gate that decides, or the one that the user has turned off.
    fn gates(&self, request: &SearchRequest) -> (Option<Gate>, Option<Gate>) {
        let config = &self.index.config;
        if request.is_uncut(config) {
            return (None, None);
        }
        let own = config.memory.min_evidence.filter(|_| request.memory);
        let gate = Gate { min_evidence: own.unwrap_or(config.gate.min_evidence), ..config.gate.clone() };
        if request.gate.unwrap_or(config.search.gate) { (Some(gate), None) } else { (None, Some(gate)) }
    }
}

impl SearchRequest {
    /// The language to prefer: as the caller says, as the query says, the only one that the filter leaves, that of the
    /// caller's file.
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
