//! Weighs the evidence on each entry: the models of relevance order the list, and give each entry the probability that a cut reads.

use super::candidate::Ranked;
use super::listed::Listed;
use super::plan::joined;
use super::rank::MAIN;
use super::rank_factors::is_program;
use super::reranker::{Reranker, rerank};
use super::retrieve::Retrieved;
use super::searcher::Searcher;
use super::shift::{JUDGEMENTS, shift_all};
use crate::Error;
use crate::config::Mode;
use crate::models;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use tamis_cut::Gate;
use tamis_embed::Provider;
use tamis_rank::{Basis, EntryFeatures, QueryFeatures, Relevance, WeighedEvidence, relevance};
use tamis_store::PassageId;
use tamis_text::Role;

/// The diagnostic with the evidence on the whole list, which only an explanation has.
pub(super) const ANSWER_EVIDENCE: &str = "answer_evidence";

/// The log odds of an entry that falls short of the threshold of its language: it is never kept.
const IMPOSSIBLE: f64 = -40.0;

/// First entries whose texts are searched for the names in the query.
const NAMED_ENTRIES: usize = 80;

/// The probabilities of an answer below and above which the better model would change nothing. Above, words must cover the query, too.
const HOPELESS: f64 = 0.02;
const CERTAIN: f64 = 0.9;

impl Searcher<'_> {
    /// Weighs the evidence on the entries of a list, and puts them in its order, which gives each its probability. `reranker`
    /// reads the first ones, if there is one.
    pub(super) fn weigh(
        &self,
        retrieved: &Retrieved,
        listed: &mut Listed,
        reranker: Option<&dyn Reranker>,
    ) -> Result<(), Error> {
        let mut features = Features::of(retrieved, listed);
        let mut basis = self.basis(retrieved);
        let mut weighed = relevance(&features.query, &features.entries, basis);
        let mut unread = None;
        let question = &retrieved.question;
        if basis == Basis::Scores && !question.fast && (question.thorough || is_unsure(&weighed)) {
            unread = self.embed_on_demand(retrieved, listed)?;
            if features.add_on_demand(listed) {
                basis = Basis::OnDemand;
                weighed = relevance(&features.query, &features.entries, basis);
            }
        }
        note(&mut listed.diagnostics, &weighed, basis);
        let Relevance { answer_weight, entries: mut evidence, .. } = weighed;
        for (weighed, ranked) in evidence.iter_mut().zip(&listed.ranked) {
            if listed.short.contains(&ranked.candidate.passage) {
                *weighed = std::mem::take(weighed).with("below_language_threshold", 1.0, IMPOSSIBLE);
            }
        }
        let reranked = reranker.map(|reranker| rerank(reranker, &retrieved.question.text, listed, &mut evidence));
        let shift = self.shift(retrieved);
        shift_all(&mut evidence, &shift, answer_weight, Gate::default().level);
        retrieved.question.judged.weigh(listed, &mut evidence);
        let judged: Vec<Option<bool>> =
            listed.ranked.iter().take(evidence.len()).map(|ranked| ranked.judged_relevant).collect();
        // What people judged relevant comes first, and what they refused comes last. Between them, exact finds come first whatever
        // else is found, in their order, and are at least as probable as what follows.
        let find = |at: usize| {
            if judged[at] == Some(false) {
                return usize::MAX;
            }
            let all = listed.further(at).iter().copied().chain([at]).filter_map(|at| listed.ranked[at].first);
            all.min().unwrap_or(usize::MAX)
        };
        let finds: Vec<usize> = (0..evidence.len()).map(find).collect();
        // Where a query is a name and nothing else, what lacks the name stands below all that holds it.
        let is_name = question.is_name();
        let lacks = |at: usize| {
            let held = passages_of(listed, at).filter_map(|ranked| ranked.candidate.required).fold(0.0, f64::max);
            is_name && judged[at].is_none() && held < 1.0
        };
        let lacks: Vec<bool> = (0..evidence.len()).map(lacks).collect();
        let any_lacks = lacks.contains(&true);
        let mut order: Vec<usize> = (0..evidence.len()).collect();
        let group = |at: usize| judged[at].map_or(1, |relevant| if relevant { 0 } else { 2 });
        order.sort_by(|&a, &b| {
            let by_odds = || evidence[b].log_odds.total_cmp(&evidence[a].log_odds);
            let by_name = lacks[a].cmp(&lacks[b]);
            group(a).cmp(&group(b)).then(finds[a].cmp(&finds[b])).then(by_name).then_with(by_odds).then(a.cmp(&b))
        });
        let mut least = 0.0_f64;
        let mut probabilities: Vec<f64> = order
            .iter()
            .rev()
            .map(|&at| {
                let own = evidence[at].probability();
                least = least.max(own);
                let is_above = finds[at] < usize::MAX || judged[at].is_some() || any_lacks && !lacks[at];
                if is_above { least } else { own }
            })
            .collect();
        probabilities.reverse();
        // Next to no text of another project holds exactly what a query asks for, so the first exact find is always shown.
        if order.first().is_some_and(|&at| finds[at] < usize::MAX) {
            probabilities[0] = probabilities[0].max(Gate::default().level);
        }
        listed.reorder(&order);
        let mut taken: Vec<Option<WeighedEvidence>> = evidence.into_iter().map(Some).collect();
        listed.evidence = order.iter().filter_map(|&at| taken[at].take()).collect();
        (listed.probabilities, listed.order) = (Some(probabilities), order);
        if shift.labels() > 0 {
            listed.diagnostics.insert(JUDGEMENTS.to_owned(), shift.labels().into());
        }
        listed.warning = joined(unread, reranked.and_then(Result::err));
        Ok(())
    }

    /// Returns the evidence that a search has before anything is embedded on demand.
    fn basis(&self, retrieved: &Retrieved) -> Basis {
        match (retrieved.plan.mode, &retrieved.plan.model) {
            (Mode::Lexical, _) => Basis::Words,
            (Mode::Semantic, _) => Basis::Meaning,
            (Mode::Hybrid, Some(model)) if model.provider != Provider::Static => Basis::Embedded,
            (Mode::Hybrid, _) => Basis::Scores,
        }
    }
}

/// Returns `true` where the better model may change the answer: neither do words answer, nor does nothing speak for an answer.
fn is_unsure(weighed: &Relevance) -> bool {
    let probability = weighed.answer.probability();
    probability >= HOPELESS && !(probability >= CERTAIN && weighed.covered >= 1.0)
}

/// Notes what decided whether there is an answer.
fn note(diagnostics: &mut std::collections::BTreeMap<String, Value>, weighed: &Relevance, basis: Basis) {
    let parts: Map<String, Value> =
        weighed.answer.parts.iter().map(|part| (part.name.to_owned(), json!(part.value))).collect();
    diagnostics.insert("answer".into(), json!(weighed.answer.probability()));
    diagnostics.insert(ANSWER_EVIDENCE.into(), Value::Object(parts));
    diagnostics.insert("covered".into(), json!(weighed.covered));
    diagnostics.insert("basis".into(), basis.name().into());
}

/// What the models of relevance read of a list.
struct Features {
    query: QueryFeatures,
    entries: Vec<EntryFeatures>,
}

impl Features {
    /// Reads a list, in its order.
    fn of(retrieved: &Retrieved, listed: &Listed) -> Features {
        let question = &retrieved.question;
        let background = retrieved.gathered.semantic.as_ref();
        let typical = |model| models::typical_similarity(model, background);
        let reference = retrieved.plan.model.as_ref().and_then(typical).filter(|&reference| reference > 0.0);
        // Of several phrasings, the one that fits a passage best speaks for it.
        let mut phrased: HashMap<PassageId, (f64, f64)> = HashMap::new();
        for (weight, candidate) in
            retrieved.gathered.phrased.iter().flat_map(|p| p.candidates.iter().map(|c| (p.weight, c)))
        {
            let (similarity, coverage) = phrased.entry(candidate.passage).or_default();
            *similarity = similarity.max(weight * candidate.similarity.unwrap_or(0.0));
            *coverage = coverage.max(weight * candidate.coverage.unwrap_or(0.0));
        }
        let best_phrased = |ranked: &Ranked| phrased.get(&ranked.candidate.passage).copied().unwrap_or_default();
        let similarity = |ranked: &Ranked| {
            let similarity = ranked.candidate.similarity.map(|own| own.max(best_phrased(ranked).0));
            similarity.zip(reference).map_or(0.0, |(similarity, reference)| similarity / reference)
        };
        let coverage = |ranked: &Ranked| ranked.candidate.coverage.unwrap_or(0.0).max(best_phrased(ranked).1);
        let counted = listed.counted();
        let best = counted.iter().map(|ranked| ranked.score).filter(|score| score.is_finite()).fold(0.0, f64::max);
        // Reciprocal ranks have no background.
        let low = listed.background().filter(|&background| background < best).unwrap_or(0.0);
        let scaled = |score: f64| if best > low && score.is_finite() { (score - low) / (best - low) } else { 0.0 };
        let title = |ranked: &Ranked| {
            let heading = || ranked.passage.heading.as_deref()?.rsplit(" > ").next();
            let symbol = || ranked.passage.symbol.as_deref()?.rsplit([':', '.', '#', '/']).next();
            // Generated code has the names of what people wrote elsewhere.
            let written = ranked.passage.role != Role::Generated.as_str();
            symbol().or_else(heading).filter(|_| written).map_or(0.0, |title| question.paths.share_in(title))
        };
        let all = |rank: usize| passages_of(listed, rank);
        let held: Vec<Vec<bool>> = (0..counted.len().min(NAMED_ENTRIES))
            .map(|rank| {
                let texts: Vec<&str> = all(rank).flat_map(named_texts).collect();
                question.proper_names.held(&texts)
            })
            .collect();
        let names = question.proper_names.len();
        let share = |held: usize| if names == 0 { 0.0 } else { held as f64 / names as f64 };
        let held_by = |rank: usize| held.get(rank).map_or(0, |held| held.iter().filter(|held| **held).count());
        let entry = |(rank, ranked): (usize, &Ranked)| EntryFeatures {
            similarity: similarity(ranked),
            similarity_max: all(rank).map(similarity).fold(f64::NEG_INFINITY, f64::max),
            coverage: coverage(ranked),
            coverage_max: all(rank).map(coverage).fold(0.0, f64::max),
            passages: 1 + listed.further(rank).len(),
            rank,
            normalized_score: scaled(ranked.score),
            is_main: ranked.passage.role == MAIN,
            is_program: is_program(&ranked.passage),
            exact: all(rank).any(|ranked| ranked.first.is_some()),
            name: question.paths.match_score(&ranked.passage.path),
            title: all(rank).map(title).fold(0.0, f64::max),
            required: ranked.candidate.required.unwrap_or(0.0),
            names: share(held_by(rank)),
            characters: ranked.passage.text.len(),
            on_demand: None,
        };
        let terms = retrieved.gathered.lexical.iter().flat_map(|statistics| &statistics.terms);
        let words: Vec<u64> = terms.filter(|term| !term.compound).map(|term| term.document_frequency).collect();
        let missing = words.iter().filter(|&&documents| documents == 0).count();
        let missing_names = (0..names).filter(|&name| held.iter().all(|held| !held[name])).count();
        let best_phrasing = phrased.values().map(|&(_, coverage)| coverage).fold(0.0, f64::max);
        let query = QueryFeatures {
            words: words.len(),
            // What no passage has of one phrasing, another one can say.
            missing_words: (missing as f64 / words.len().max(1) as f64).min(1.0 - best_phrasing),
            names,
            missing_names: share(missing_names),
            passages: retrieved.plan.coverage.passages,
            reads_required: counted.iter().any(|ranked| ranked.candidate.required.is_some()),
            // That of the query itself says nothing of its other phrasings.
            background: background.filter(|_| phrased.is_empty()).zip(reference).map(|(background, reference)| {
                (f64::from(background.mean) / reference, f64::from(background.deviation) / reference)
            }),
        };
        Features { query, entries: counted.iter().enumerate().map(entry).collect() }
    }

    /// Adds the similarities under the better model. Returns `true` if there is one.
    fn add_on_demand(&mut self, listed: &Listed) -> bool {
        for (rank, entry) in self.entries.iter_mut().enumerate() {
            entry.on_demand = passages_of(listed, rank).filter_map(|ranked| ranked.on_demand).reduce(f64::max);
        }
        self.entries.iter().any(|entry| entry.on_demand.is_some())
    }
}

/// The passages of the entry at a rank.
fn passages_of(listed: &Listed, rank: usize) -> impl Iterator<Item = &Ranked> {
    listed.further(rank).iter().map(|&at| &listed.ranked[at]).chain([&listed.ranked[rank]])
}

/// The texts of a passage that can hold a name.
fn named_texts(ranked: &Ranked) -> impl Iterator<Item = &str> {
    let passage = &ranked.passage;
    let titles = [&passage.symbol, &passage.heading, &passage.title].into_iter().flatten().map(String::as_str);
    [passage.text.as_str(), passage.path.as_str()].into_iter().chain(titles)
}
