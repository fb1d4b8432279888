//! A request made ready: words, hints, whose passages to read.

use super::hint::Parsed;
use super::query::SearchRequest;
use super::scope::Scope;
use crate::Error;
use crate::index::Index;
use std::time::{SystemTime, UNIX_EPOCH};
use tamis_cut::Gate;
use tamis_rank::QueryNames;

/// What is asked, without what the caller may leave open.
#[derive(Clone, Debug)]
pub(super) struct Question {
    /// The words to search for, hints taken out.
    pub text: String,
    /// The names that it can mean.
    pub names: QueryNames,
    /// Other phrasings with their weights.
    pub variants: Vec<(String, f64)>,
    /// The language to prefer, by canonical name.
    pub hint: Option<&'static str>,
    /// Whose passages are read.
    pub scope: Scope,
    /// What ages are counted from, in nanoseconds since 1970.
    pub now_ns: i64,
    /// Whether it is asked of memories.
    pub memory: bool,
    /// The gate, where it is asked.
    pub gate: Option<Gate>,
}

impl Index {
    /// Makes a request ready.
    ///
    /// # Errors
    /// A variant that is too long, or a namespace that is not there.
    pub(super) fn question(&self, request: &SearchRequest) -> Result<Question, Error> {
        let parsed = Parsed::of(&request.query);
        let weighed = |variant: &super::Variant| Ok((variant.text.trim().to_owned(), variant.checked(&self.config)?));
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as i64);
        Ok(Question {
            hint: request.hint(&parsed),
            names: QueryNames::of(&parsed.text),
            text: parsed.text,
            variants: request.variants.iter().map(weighed).collect::<Result<_, Error>>()?,
            scope: self.scope(request)?,
            now_ns: request.now_ns.unwrap_or_else(clock),
            memory: request.memory,
            gate: self.gate(request),
        })
    }

    fn gate(&self, request: &SearchRequest) -> Option<Gate> {
        let config = &self.config;
        let own = config.memory.min_evidence.filter(|_| request.memory);
        let gate = Gate { min_evidence: own.unwrap_or(config.gate.min_evidence), ..config.gate.clone() };
        (config.search.gate && !request.is_uncut(config)).then_some(gate)
    }
}
