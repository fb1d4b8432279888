//! Retrieval: the first half of a search, which is independent of the cut. A search retrieves once and decides once; an evaluation
//! retrieves once and decides with many cuts.

use super::candidate::{Candidate, Scores};
use super::depth::Depth;
use super::exact;
use super::gather::{Phrased, Statistics, complete};
use super::plan::{Plan, joined, knows_a_word};
use super::query::SearchRequest;
use super::question::Question;
use super::required::look_for;
use super::searcher::Searcher;
use super::shared::gather_within;
use super::stopwatch::Stopwatch;
use super::text_kind::text_kind;
use super::variants::VariantKind;
use crate::Error;
use crate::words::without_paths;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tamis_cut::TextKind;
use tamis_store::{Filter, PassageId, Store, StoredPassage, TextHash};

/// Candidates of each leg where words of the query leave some out.
const FILTERED_DEPTH: usize = 400;

/// The candidates of a question, and the way they were found.
#[derive(Clone, Debug, Default)]
pub(super) struct Retrieved {
    /// The prepared question.
    pub question: Question,
    /// The legs that took part.
    pub plan: Plan,
    /// The candidates with their raw scores, in the order of equal ones.
    pub candidates: Vec<Candidate>,
    /// What each leg knows of all passages.
    pub statistics: Statistics,
    /// Each phrasing of the query with what it found, the query itself first; empty if there is only one.
    pub phrased: Vec<Phrased>,
    /// Problems that did not prevent an answer.
    pub warnings: Vec<String>,
    /// The kind of most of what was found.
    pub text_kind: TextKind,
}

impl Searcher<'_> {
    /// Gathers the candidates of both legs within a depth.
    pub(super) fn retrieve(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        depth: Depth,
        clock: &mut Stopwatch,
    ) -> Result<Retrieved, Error> {
        match self.retrieve_once(request, filter, depth, clock)? {
            (retrieved, false) => Ok(retrieved),
            // Another process published in between, so its index has the replacements.
            _ => Ok(self.retrieve_once(request, filter, depth, clock)?.0),
        }
    }

    /// Retrieves, and returns `true` if candidates were deleted meanwhile.
    fn retrieve_once(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        depth: Depth,
        clock: &mut Stopwatch,
    ) -> Result<(Retrieved, bool), Error> {
        let store = &*self.index.store;
        let question = self.question(request, filter)?;
        let depth = if question.words.is_empty() { depth } else { depth.at_least(FILTERED_DEPTH) };
        let all = question.scope.of_all(filter);
        let mut plan = self.plan(request, &question, &all)?;
        clock.lap("embed");
        self.observer.check_cancelled()?;

        let mut warnings = Vec::new();
        let gather = |plan: &Plan| {
            let queries = plan.queries(&question.text, plan.vector.as_deref());
            gather_within(store, &queries, &question.scope, filter, depth)
        };
        let (mut gathered, left_out) = match gather(&plan) {
            Err(failed) => {
                warnings.push(plan.do_without(failed)?);
                gather(&plan)?
            }
            gathered => gathered?,
        };
        let queries = plan.queries(&question.text, plan.vector.as_deref());
        warnings.extend(left_out);
        let mut phrased = Vec::new();
        if !question.variants.is_empty() {
            let others = self.gather_variants(&plan, &question, filter, depth, &mut warnings);
            let own = Phrased::new(VariantKind::Intent.weight(), &gathered);
            phrased.extend(std::iter::once(own).chain(others));
            // What only other phrasings found has no raw scores under the query itself yet.
            for (passage, _) in phrased.iter().flat_map(|phrased: &Phrased| &phrased.found) {
                gathered.scores.entry(*passage).or_default();
            }
            complete(store, &queries, &all, &mut gathered.scores)?;
        }
        let statistics = gathered.statistics;
        let mut scores = gathered.scores;
        let mut finds = self.exact_finds(&question, &all, statistics.lexical.as_ref().filter(|_| depth.finds))?;
        if depth.finds {
            for (passage, find) in self.named_files(&question, &all, &queries)? {
                finds.entry(passage).or_insert(find);
            }
        }
        if finds.keys().any(|passage| !scores.contains_key(passage)) {
            finds.keys().for_each(|passage| _ = scores.entry(*passage).or_default());
            complete(store, &queries, &all, &mut scores)?;
        }
        let (mut candidates, gone) = fetch(store, &scores, &all.namespaces, &question.scope.own)?;
        let places: HashMap<PassageId, usize> =
            candidates.iter().enumerate().map(|(at, candidate)| (candidate.id(), at)).collect();
        phrased.iter_mut().for_each(|phrased| phrased.found.sort_by_key(|(passage, _)| places.get(passage)));
        exact::note(&finds, &mut candidates);
        if depth.finds {
            exact::note_headings(&question.text, &mut candidates);
        }
        question.words.retain(&mut candidates);
        look_for(&question.required, &mut candidates);
        clock.lap("gather");

        if request.allowed_namespaces.is_some() {
            let reasons = plan.fallback_reason.iter_mut().chain(&mut warnings);
            reasons.for_each(|reason| *reason = without_paths(reason));
        }
        let text_kind = text_kind(&candidates);
        Ok((Retrieved { question, plan, candidates, statistics, phrased, warnings, text_kind }, gone))
    }

    /// Gathers the other phrasings in parallel. One that fails is left out, and the reason is added to `warnings`.
    fn gather_variants(
        &self,
        plan: &Plan,
        question: &Question,
        filter: &Filter,
        depth: Depth,
        warnings: &mut Vec<String>,
    ) -> Vec<Phrased> {
        let gather = |text: &str, weight: f64| -> Result<(Phrased, Option<String>), Error> {
            // A phrasing whose words the model does not know, or which it cannot embed, is searched by words alone.
            let embedded = plan.model.as_ref().map(|_| self.index.embed_query(&plan.model_name, text)).transpose();
            let (vector, unusable) = match embedded {
                Err(error @ Error::Model { .. }) if plan.mode.lexical() => (None, Some(error.to_string())),
                embedded => (embedded?.map(|(_, vector)| vector).filter(|vector| knows_a_word(vector)), None),
            };
            let asked = plan.queries(text, vector.as_deref());
            let (gathered, left_out) = gather_within(&*self.index.store, &asked, &question.scope, filter, depth)?;
            Ok((Phrased::new(weight, &gathered), joined(left_out, unusable)))
        };
        let gather = &gather;
        let gathered: Vec<Result<_, Error>> = std::thread::scope(|scope| {
            let variants = question.variants.iter();
            let asked: Vec<_> = variants.map(|(text, weight)| scope.spawn(move || gather(text, *weight))).collect();
            let joined = asked.into_iter().map(|thread| thread.join());
            joined.map(|joined| joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        let mut phrased = Vec::new();
        for (result, (text, _)) in gathered.into_iter().zip(&question.variants) {
            match result {
                Ok((found, left_out)) => {
                    phrased.push(found);
                    // A failure of one phrasing mostly hits all of them, so it is reported once.
                    warnings.extend(left_out.filter(|reason| !warnings.contains(reason)));
                }
                Err(error) => warnings.push(format!("variant {text:?} was left out: {error}")),
            }
        }
        phrased
    }
}

/// Returns the namespaces of passages, by name.
pub(super) fn namespaces_of<'p>(passages: impl Iterator<Item = &'p StoredPassage>) -> Vec<String> {
    let names: BTreeSet<&str> = passages.map(|passage| passage.namespace.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Reads the passages with these scores, which are of some namespaces, or of any if none is named. Those that are gone are left out,
/// and so are shared ones with the same text as one in `own`. Returns `true` if some were gone.
pub(super) fn fetch(
    store: &dyn Store,
    scores: &BTreeMap<PassageId, Scores>,
    namespaces: &[String],
    own: &[String],
) -> Result<(Vec<Candidate>, bool), Error> {
    let ids: Vec<PassageId> = scores.keys().copied().collect();
    let mut passages = store.passages(namespaces, &ids)?;
    let gone = passages.len() < ids.len();
    let is_own = |passage: &StoredPassage| own.contains(&passage.namespace);
    if !own.is_empty() {
        let texts: HashSet<TextHash> = passages.iter().filter(|one| is_own(one)).map(|one| one.text_hash).collect();
        passages.retain(|passage| is_own(passage) || !texts.contains(&passage.text_hash));
    }
    // Equal values keep this order to the end, so that it does not depend on the age of passages.
    passages.sort_by_cached_key(|one| (!is_own(one), one.namespace.clone(), one.path.clone(), one.ordinal));
    let candidate = |passage: StoredPassage| {
        let scores = scores.get(&passage.passage).copied().unwrap_or_default();
        Candidate::new(passage, scores)
    };
    Ok((passages.into_iter().map(candidate).collect(), gone))
}
