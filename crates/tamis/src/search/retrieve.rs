//! The two halves of a search: retrieval, which is independent of the cut, and the decision of one cut.
//!
//! A search does each once. An evaluation retrieves once and decides with many cuts, using the same code.

use super::answer::CutReport;
use super::candidate::{Candidate, Ranked};
use super::decide::{self, Fusions, Steps};
use super::depth::Depth;
use super::entries::{self, KnownTexts};
use super::exact;
use super::gather::{Gathered, Leg, LegError, LegQueries, SemanticQuery, complete};
use super::gather::{Phrased, merge};
use super::listed::{Entry, Listed};
use super::query::SearchRequest;
use super::question::Question;
use super::rank_factors::lean_of;
use super::relevance::Weighed;
use super::required::look_for;
use super::rerank::Rerank;
use super::searcher::Searcher;
use super::shared::gather_within;
use super::shift::{self, JUDGE, JUDGEMENTS};
use super::stopwatch::Stopwatch;
use super::text_kind::{scoring_of, text_kind};
use super::thresholds::Thresholds;
use super::variants::VariantKind;
use crate::Error;
use crate::config::ConfigError;
use crate::config::Mode;
use crate::models;
use crate::words::without_paths;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tamis_cut::{Pool, Relevance, Rule, Scale, TextKind, TopScore};
use tamis_embed::{Embedder, ModelInfo};
use tamis_rank::{Fusion, WeighedEvidence};
use tamis_store::{Coverage, Filter, LexicalQuery, PassageId, ScoringKey, Store, StoredPassage, TextHash};

/// Candidates of each leg where words of the query leave some out.
const FILTERED_DEPTH: usize = 400;

/// The candidates of a query's legs, and the way they were found. Their texts are separate, since a decision takes them.
pub(super) struct Retrieved {
    /// The legs that took part.
    pub mode: Mode,
    /// The model of the semantic leg.
    pub model: Option<Arc<dyn Embedder>>,
    /// The query's vector under that model, if the semantic leg took part.
    pub vector: Option<Vec<f32>>,
    /// The number of passages that match the filter, and of those that the model covers.
    pub coverage: Coverage,
    /// The reason why the mode or the model differs from the requested one.
    pub fallback_reason: Option<String>,
    /// The better models that do not cover all passages yet, with their coverage. Nobody asked for one of them by name.
    pub pending_model: Option<String>,
    /// The better models that could not be used, each with the reason.
    pub unusable: Vec<(String, String)>,
    /// The candidates with their raw scores.
    pub gathered: Gathered,
    /// The prepared question.
    pub question: Question,
    /// Problems that did not prevent an answer.
    pub warnings: Vec<String>,
    /// What grouping reads of texts that an evaluation drops; empty in a search.
    pub texts: KnownTexts,
    /// The kind of most of what was found.
    pub text_kind: TextKind,
}

/// The pool in the order of a rule, and the place where the rule ends it.
pub(super) struct Decided {
    pub ranked: Vec<Ranked>,
    /// The entries, whose best passages come first in `ranked`; `None` if passages are counted.
    pub entries: Option<Vec<Entry>>,
    /// Most tokens of text in the answer.
    pub token_budget: Option<usize>,
    pub cut: CutReport,
    /// The legs that decided. Thresholds can leave nothing of the semantic leg.
    pub mode: Mode,
    /// The scale of the values that the rule read. Values of two searches are comparable if their keys are equal.
    pub scoring: ScoringKey,
    /// The adjustments of the candidates besides the query.
    pub rerank: Rerank,
    /// The probability of relevance of each of `ranked`, if the rule gives one.
    pub probabilities: Option<Vec<f64>>,
    /// The evidence on each counted candidate, if it was weighed.
    pub evidence: Vec<WeighedEvidence>,
    /// The values that the rule read, with their background.
    pub pool: Pool,
    /// The order that the evidence gave the counted candidates, as positions in the pool.
    pub order: Option<Vec<usize>>,
    /// The reason why a different rule, or fewer legs, decided.
    pub replaced: Option<String>,
    /// A warning for the user about the thresholds in use.
    pub warning: Option<String>,
}

impl<'a> Searcher<'a> {
    /// Gathers the candidates of both legs within a depth, and their texts in the candidates' order.
    pub(super) fn retrieve(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        depth: Depth,
        clock: &mut Stopwatch,
    ) -> Result<(Retrieved, Vec<StoredPassage>), Error> {
        let (mut found, gone) = self.retrieve_once(request, filter, depth, clock)?;
        if gone {
            // Another process published in between, so its index has the replacements.
            found = self.retrieve_once(request, filter, depth, clock)?.0;
        }
        Ok(found)
    }

    /// Retrieves, and returns `true` if candidates were deleted meanwhile.
    fn retrieve_once(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        depth: Depth,
        clock: &mut Stopwatch,
    ) -> Result<((Retrieved, Vec<StoredPassage>), bool), Error> {
        let question = self.question(request, filter)?;
        let depth = if question.words.is_empty() { depth } else { depth.at_least(FILTERED_DEPTH) };
        let (mut plan, mut vector) = self.plan(request, &question.text, &question.scope.of_all(filter))?;
        let unknown = vector.as_ref().is_some_and(|vector| vector.iter().all(|&entry| entry == 0.0));
        if unknown && plan.mode.lexical() {
            let reason =
                plan.model.as_ref().map(|(_, model)| format!("{} knows no word of the query", model.model().id));
            // It may know words of other phrasings.
            match question.variants.is_empty() {
                true => plan = plan.words_alone(reason),
                false => plan.fallback_reason = joined(plan.fallback_reason.take(), reason),
            }
            vector = None;
        }
        clock.lap("embed");
        self.observer.check_cancelled()?;

        let mut warnings = Vec::new();
        let asked = plan.asked(&question.text, vector.as_deref());
        let gathered = gather_within(&*self.index.store, &asked, &question.scope, filter, depth);
        let (mut gathered, left_out) = match gathered {
            Ok(gathered) => gathered,
            Err(failed) => {
                warnings.push(plan.do_without(failed, vector.is_some())?);
                vector = vector.filter(|_| plan.mode.semantic());
                let asked = plan.asked(&question.text, vector.as_deref());
                gather_within(&*self.index.store, &asked, &question.scope, filter, depth)?
            }
        };
        let asked = plan.asked(&question.text, vector.as_deref());
        warnings.extend(left_out);
        if !question.variants.is_empty() {
            let others = self.gather_variants(&plan, &question, filter, depth, &mut warnings);
            let own = Phrased::new(VariantKind::Intent.weight(), &gathered);
            let phrased: Vec<Phrased> = std::iter::once(own).chain(others).collect();
            merge(&mut gathered, &phrased);
            complete(&*self.index.store, &asked, &question.scope.of_all(filter), &mut gathered.candidates)?;
            gathered.phrased = phrased;
        }
        let all = question.scope.of_all(filter);
        let statistics = gathered.lexical.as_ref().filter(|_| depth.finds);
        let finds = self.exact_finds(&question, &all, statistics)?;
        if gathered.add(finds.keys().copied()) {
            complete(&*self.index.store, &asked, &all, &mut gathered.candidates)?;
        }
        exact::note(&finds, &mut gathered.candidates);
        let Fetched { mut passages, gone } = fetch(&*self.index.store, &mut gathered, &question.scope.own)?;
        question.words.retain(&mut gathered.candidates, &mut passages);
        look_for(&question.required, &mut gathered.candidates, &passages);
        clock.lap("gather");

        let Plan { mode, model, coverage, mut fallback_reason, pending_model, unusable } = plan;
        if request.allowed_namespaces.is_some() {
            let reasons = fallback_reason.iter_mut().chain(&mut warnings);
            reasons.for_each(|reason| *reason = without_paths(reason));
        }
        let model = model.map(|(_, model)| model);
        let retrieved = Retrieved {
            mode,
            model,
            vector,
            coverage,
            fallback_reason,
            pending_model,
            unusable,
            gathered,
            question,
            warnings,
            texts: KnownTexts::default(),
            text_kind: text_kind(&passages),
        };
        Ok(((retrieved, passages), gone))
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
            let (vector, unusable) = match self.embedded(plan, text) {
                Err(error @ Error::Model { .. }) if plan.mode.lexical() => (None, Some(error.to_string())),
                vector => (vector?, None),
            };
            let vector = vector.filter(|vector| vector.iter().any(|&entry| entry != 0.0));
            let asked = plan.asked(text, vector.as_deref());
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

    /// Orders the retrieved candidates as the rule requires, and decides where they end. `passages` are those of the candidates,
    /// in their order. `relevance` says where relevance is expected to end; `None`: by the labels of the index.
    pub(super) fn decide(
        &self,
        retrieved: &Retrieved,
        passages: Vec<StoredPassage>,
        rule: &dyn Rule,
        relevance: Option<Relevance>,
        clock: &mut Stopwatch,
    ) -> Result<Decided, Error> {
        let replacement = self.replacement(rule, retrieved.mode)?;
        let replaced = replacement
            .as_ref()
            .map(|other| format!("cut {} in place of {}, which reads similarities", other.name(), rule.name()));
        let rule = replacement.as_deref().unwrap_or(rule);

        let model = retrieved.model.as_deref().map(Embedder::model);
        let thresholds = rule.reads_thresholds().then(|| self.thresholds(model)).transpose()?;
        let thresholds = thresholds.map(|thresholds| thresholds.with_default_of(rule));
        let measured = rule.heeds_measured_thresholds().then(|| self.thresholds(model)).transpose()?;
        let Question { hint, names, lean, now_ns, scope, memory, gate, waived_gate, .. } = &retrieved.question;
        let fusions = self.fusions(rule, model, *memory)?;
        let rerank = self.rerank(*hint, *now_ns, *memory, rule)?;
        let decay = self.decay(&retrieved.question);
        let tables = self.source_tables(rule)?;
        let lean = lean_of(*lean, retrieved.text_kind).filter(|_| !memory);
        let steps =
            Steps { fusions, names, lean, rerank: &rerank, decay, tables: &tables, measured: measured.as_ref() };
        let threshold = |passage: &StoredPassage| {
            let language = hint.or_else(|| rerank.language_of(passage));
            thresholds.as_ref().map(|thresholds| thresholds.of(language))
        };
        let mut listed = decide::list(&retrieved.gathered, passages, rule, &steps, threshold);
        clock.lap("rank");
        if !rule.counts_passages() {
            // Memories are notes of their own, not parts of a file. Similarities are on a scale of their own.
            let adds = !memory && rule.scale() == Scale::Score;
            entries::group(&mut listed, &retrieved.texts, adds, &retrieved.question);
        }
        clock.lap("entries");
        let scoring = self.scoring(fusions.cut, &rerank, *memory, retrieved.gathered.phrased.len());
        let mut scoring = scoring_of(scoring, retrieved.text_kind);
        // The model of relevance weighs entries of any text but memories. A rule on a scale of its own orders by that.
        let weighs = !memory && !rule.counts_passages() && rule.scale() == Scale::Score;
        let judge = retrieved.question.judge.as_deref().filter(|_| weighs);
        if let Some(judge) = judge {
            scoring = scoring.with(JUDGE, judge.name());
        }
        if listed.entries.is_some() {
            scoring = scoring.counting_entries();
        }
        let namespace = scope.label(&self.index.namespace);
        // Where the evidence is weighed, no rule reads where relevance ends in a list of scores.
        let by_labels = || match weighs {
            true => Relevance::of(retrieved.text_kind),
            false => self.relevance(&namespace, model.map(|model| model.id.as_str()), retrieved.mode, &scoring),
        };
        let relevance = relevance.unwrap_or_else(by_labels);
        clock.lap("relevance");
        let weighed = if weighs { Some(self.weigh(retrieved, &mut listed, judge)?) } else { None };
        clock.lap("weigh");
        let reference = model.and_then(models::reference);
        let probabilities = weighed.as_ref().map(|weighed| weighed.probabilities.clone());
        let grounds = decide::Grounds { gate: gate.as_ref(), reference, relevance, probabilities };
        let decision = decide::decide(rule, &grounds, &retrieved.gathered, &mut listed)?;
        clock.lap("cut");
        let decide::Decision { report: mut cut, probabilities, pool } = decision;
        let probabilities = probabilities.or(grounds.probabilities);
        if let Some(gate) = waived_gate {
            let known = decide::known(&retrieved.gathered, &listed.short, grounds.reference);
            cut.explain_waived(&gate.verdict(&known, &pool));
        }
        let Weighed { evidence, order, late_weight, reranked, labels, warning: unread, .. } =
            weighed.unwrap_or_default();
        if labels > 0 {
            cut.diagnostics.insert(JUDGEMENTS.into(), labels.into());
        }
        if late_weight > 0.0 {
            cut.diagnostics.insert("late_weight".into(), late_weight.into());
        }
        if let Some(lean) = lean {
            cut.diagnostics.insert("lean".into(), lean.name().into());
        }
        if let Some(judge) = judge.filter(|_| reranked > 0) {
            cut.diagnostics.insert("judge".into(), judge.name().into());
            cut.diagnostics.insert("judged".into(), reranked.into());
        }
        for (name, relevant) in [("judged_relevant", true), ("judged_not_relevant", false)] {
            let counted = &listed.ranked[..listed.entries.as_ref().map_or(listed.ranked.len(), Vec::len)];
            let judged = counted.iter().filter(|ranked| ranked.judged_relevant == Some(relevant)).count();
            if judged > 0 {
                cut.diagnostics.insert(name.into(), judged.into());
            }
        }
        let replaced = joined(replaced, rejected(&listed, retrieved, thresholds.as_ref()));
        let decided_by_words =
            listed.admitted.is_some_and(|admitted| admitted.by_similarity == 0) && thresholds.is_some();
        let mode = if decided_by_words { Mode::Lexical } else { retrieved.mode };
        let warning = joined(thresholds.or(measured).and_then(|thresholds| thresholds.warning), unread);
        let Listed { ranked, entries, .. } = listed;
        entries::explain(&mut cut, &ranked, entries.as_deref());
        Ok(Decided {
            ranked,
            entries,
            token_budget: rule.token_budget(),
            cut,
            mode,
            scoring,
            rerank,
            probabilities,
            evidence,
            pool,
            order: Some(order).filter(|order| !order.is_empty()),
            replaced,
            warning,
        })
    }

    /// Refuses a rule that reads similarities if the caller asked for words alone.
    pub(crate) fn check_rule(&self, rule: &dyn Rule, request: &SearchRequest) -> Result<(), Error> {
        if !request.mode.unwrap_or(self.index.config.search.mode).semantic() && rule.scale() == Scale::Similarity {
            let allowed = "one that does not read similarity, which lexical mode has none of (such as background)";
            return Err(Error::argument("cut", rule.name(), allowed));
        }
        Ok(())
    }

    /// Returns the rule that takes the place of `rule` if it reads similarities and the search has no vectors.
    pub(crate) fn replacement(&self, rule: &dyn Rule, mode: Mode) -> Result<Option<Box<dyn Rule>>, Error> {
        if mode.semantic() || rule.scale() != Scale::Similarity {
            return Ok(None);
        }
        let background = self.index.config.cut("background");
        background.map(Some).map_err(|error| Error::argument("cut", "background", error.to_string()))
    }

    /// Returns the tables of collections with parameters of their own, if the rule reads them.
    pub(super) fn source_tables(&self, rule: &dyn Rule) -> Result<Vec<(&'static str, TopScore)>, Error> {
        let refused = |error: ConfigError| Error::argument("cut", rule.name(), error.to_string());
        self.index.config.source_tables(rule).map_err(refused)
    }

    /// Chooses the mode and the model that the state of the index allows, and embeds the query.
    fn plan(&self, request: &SearchRequest, text: &str, filter: &Filter) -> Result<(Plan, Option<Vec<f32>>), Error> {
        let mode = request.mode.unwrap_or(self.index.config.search.mode);
        let mut plan = Plan { mode, ..Plan::default() };
        if !mode.semantic() {
            plan.coverage.passages = self.index.store.coverage("", filter)?.passages;
            return Ok((plan, None));
        }
        loop {
            let covering = self.covering(filter, &mut plan.unusable)?;
            let (reason, pending_model) = (covering.fallback_reason(&plan.unusable), covering.pending_model());
            let Some((name, coverage)) = covering.best else {
                plan.coverage = self.index.store.coverage("", filter)?;
                return Ok((plan.words_alone(reason), None));
            };
            match self.index.embed_query(name, text) {
                Ok((model, vector)) => {
                    let model = Some((name.to_owned(), model));
                    return Ok((
                        Plan { model, coverage, fallback_reason: reason, pending_model, ..plan },
                        Some(vector),
                    ));
                }
                Err(Error::Model { model, reason }) => plan.unusable.push((model, reason)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the vector of another phrasing.
    fn embedded(&self, plan: &Plan, text: &str) -> Result<Option<Vec<f32>>, Error> {
        let Some((name, _)) = &plan.model else { return Ok(None) };
        Ok(Some(self.index.embed_query(name, text)?.1))
    }

    /// Returns the best model that covers the filtered passages, whose stored vectors are compared with each other, and the
    /// reason if better ones are unusable or none covers all. Nothing is embedded, so its endpoint need not answer.
    pub(super) fn choose_model(&self, filter: &Filter) -> Result<Choice, Error> {
        let mut unusable = Vec::new();
        let covering = self.covering(filter, &mut unusable)?;
        let reason = covering.fallback_reason(&unusable);
        let model = covering.best.map(|(name, _)| self.index.models.described(name)).transpose()?;
        Ok((model, reason))
    }

    /// Returns the best model that covers the filtered passages: the last one with all vectors, or else the one that covers most.
    /// Models in `unusable` are skipped, and those that turn out to be unusable are added to it.
    pub(crate) fn covering(
        &self,
        filter: &Filter,
        unusable: &mut Vec<(String, String)>,
    ) -> Result<Covering<'a>, Error> {
        let asked = &self.index.config.search.model;
        let names: Vec<&String> =
            if asked == "auto" { self.index.config.index.models.iter().collect() } else { vec![asked] };
        let mut covering = Covering { automatic: asked == "auto", ..Covering::default() };
        for name in names.into_iter().rev() {
            if unusable.iter().any(|(one, _)| one == name) {
                continue;
            }
            let id = match self.index.models.id(name) {
                Err(Error::Model { model, reason }) => {
                    unusable.push((model, reason));
                    continue;
                }
                id => id?,
            };
            let coverage = self.index.store.coverage(&id, filter)?;
            if coverage.embedded == coverage.passages {
                covering.best = Some((name, coverage));
                break;
            }
            covering.lacking.push(format!("{name} covers {} of {} passages", coverage.embedded, coverage.passages));
            if coverage.embedded > covering.best.map_or(0, |(_, best)| best.embedded) {
                covering.best = Some((name, coverage));
            }
        }
        Ok(covering)
    }

    /// Returns the fusion that orders the candidates under a rule, and the one that the rule reads.
    pub(super) fn fusions(&self, rule: &dyn Rule, model: Option<&ModelInfo>, memory: bool) -> Result<Fusions, Error> {
        if memory {
            return Ok(Fusions::of_memories(rule));
        }
        let own = model.map_or(0.5, |model| f64::from(model.fusion_weight));
        let weight = self.index.config.search.fusion_weight.unwrap_or(own);
        let configured = Fusion::named(&self.index.config.search.fusion, weight)
            .map_err(|error| Error::argument("search.fusion", &self.index.config.search.fusion, error.to_string()))?;
        Ok(Fusions::new(rule, configured, weight))
    }
}

impl Decided {
    /// Returns the number of candidates that the cut counted: the first ones.
    pub fn counted(&self) -> usize {
        self.entries.as_ref().map_or(self.ranked.len(), Vec::len)
    }

    /// Returns the probability of the candidate at this place, if the rule gives one.
    pub fn probability(&self, place: usize) -> Option<f64> {
        self.probabilities.as_ref().and_then(|probabilities| probabilities.get(place).copied())
    }

    /// Returns the probability of the candidate at this place by the evidence alone, before judgements and exact finds moved it.
    pub fn probability_by_evidence(&self, place: usize) -> Option<f64> {
        self.evidence.get(place).map(shift::probability_by_evidence).or_else(|| self.probability(place))
    }

    /// Returns the position in the pool of the candidate at this place, which the evidence may have moved.
    pub fn place_in_pool(&self, place: usize) -> usize {
        self.order.as_ref().and_then(|order| order.get(place).copied()).unwrap_or(place)
    }

    /// Returns, for each candidate, the position of the best passage of its entry.
    pub fn entry_places(&self) -> Vec<u32> {
        let mut places: Vec<u32> = vec![0; self.ranked.len()];
        match &self.entries {
            Some(entries) => {
                for (place, entry) in (0..).zip(entries) {
                    let copies = entry.copies.iter().map(|&(_, copy)| copy);
                    let of_entry = entry.further.iter().copied().chain(copies).chain([place as usize]);
                    of_entry.for_each(|at| places[at] = place);
                }
            }
            None => places = entries::places(&self.ranked),
        }
        places
    }

    /// Returns the documents with a near-copy of a candidate, by the candidate's position.
    pub fn copied_documents(&self) -> HashMap<usize, Vec<String>> {
        let mut documents: HashMap<usize, Vec<String>> = HashMap::new();
        for &(original, copy) in self.entries.iter().flatten().flat_map(|entry| &entry.copies) {
            documents.entry(original).or_default().push(self.ranked[copy].passage.path.clone());
        }
        documents
    }

    /// Returns the positions of the other relevant passages of each kept candidate.
    pub fn further(&self) -> Vec<Vec<usize>> {
        let Some(entries) = &self.entries else { return vec![Vec::new(); self.cut.keep.min(self.ranked.len())] };
        // A cut that leaves nothing out leaves no passage out either.
        let line = match self.cut.dropped {
            0 => Some(f64::NEG_INFINITY),
            _ => self.cut.keep.checked_sub(1).and_then(|last| self.pool.values().get(last)).copied(),
        };
        entries::further_kept(&self.ranked, entries, self.cut.keep, line, self.token_budget)
    }
}

pub(super) type Choice = (Option<ModelInfo>, Option<String>);

/// The model that covers a filter best, by name, and the gaps of each better one.
#[derive(Default)]
pub(crate) struct Covering<'a> {
    pub best: Option<(&'a str, Coverage)>,
    lacking: Vec<String>,
    /// True if no model was asked for by name.
    automatic: bool,
}

impl Covering<'_> {
    /// Returns the reason why better models did not take part: they are `unusable`, or do not cover all passages although one of
    /// them was asked for, or no model does.
    fn fallback_reason(&self, unusable: &[(String, String)]) -> Option<String> {
        let lacking = (!self.is_as_planned()).then(|| self.lacking()).flatten();
        let lacking = lacking.map(|lacking| format!("{lacking}; run `tamis index --wait` to embed the rest"));
        let told = |(model, reason): &(String, String)| {
            Error::Model { model: model.clone(), reason: reason.clone() }.to_string()
        };
        let unusable = (!unusable.is_empty()).then(|| unusable.iter().map(told).collect::<Vec<_>>().join("; "));
        joined(unusable, lacking)
    }

    /// Returns the coverage of the better models that embed later while another one covers all passages.
    fn pending_model(&self) -> Option<String> {
        self.lacking().filter(|_| self.is_as_planned())
    }

    /// Returns `true` if a model covers all passages. Better ones embed when somebody waits for them or a server runs, so their
    /// gaps are no failure.
    fn is_as_planned(&self) -> bool {
        self.automatic && self.best.is_some_and(|(_, coverage)| coverage.embedded == coverage.passages)
    }

    fn lacking(&self) -> Option<String> {
        (!self.lacking.is_empty()).then(|| self.lacking.join(", "))
    }
}

/// The plan of a search.
#[derive(Default)]
struct Plan {
    mode: Mode,
    /// The model, with its name.
    model: Option<(String, Arc<dyn Embedder>)>,
    coverage: Coverage,
    fallback_reason: Option<String>,
    pending_model: Option<String>,
    unusable: Vec<(String, String)>,
}

impl Plan {
    /// Returns the query of each leg.
    fn asked<'a>(&'a self, text: &str, vector: Option<&'a [f32]>) -> LegQueries<'a> {
        let semantic = self.model.as_ref().zip(vector);
        LegQueries {
            lexical: self.mode.lexical().then(|| LexicalQuery::new(text)),
            semantic: semantic.map(|((_, model), vector)| SemanticQuery { model: &model.model().id, vector }),
        }
    }

    /// Drops a leg that failed, and returns the reason. `embedded`: the query has a vector, so the semantic leg can answer.
    ///
    /// # Errors
    /// The other leg is off, or it depends on what has failed.
    fn do_without(&mut self, failed: LegError, embedded: bool) -> Result<String, Error> {
        let other = match failed.leg {
            Leg::Lexical => embedded,
            Leg::Semantic => self.mode.lexical(),
        };
        if !other || !failed.is_of_leg_alone() {
            return Err(failed.into());
        }
        let error = failed.error;
        Ok(match failed.leg {
            Leg::Lexical => {
                self.mode = Mode::Semantic;
                format!("answered by meaning alone, since words could not be searched: {error}")
            }
            Leg::Semantic => {
                let reason = self.fallback_reason.take();
                *self = std::mem::take(self).words_alone(reason);
                format!("answered by words alone, since vectors could not be searched: {error}")
            }
        })
    }

    /// Returns the plan without the semantic leg.
    fn words_alone(self, fallback_reason: Option<String>) -> Self {
        Plan { mode: Mode::Lexical, model: None, fallback_reason, ..self }
    }
}

/// Joins two reasons why an answer differs from the request.
pub(super) fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    }
}

/// Returns the reason if the thresholds refused every candidate of the semantic leg.
fn rejected(listed: &Listed, retrieved: &Retrieved, thresholds: Option<&Thresholds>) -> Option<String> {
    let thresholds = thresholds.filter(|_| listed.admitted.is_none_or(|admitted| admitted.by_similarity == 0))?;
    retrieved.gathered.semantic.as_ref()?;
    let similarity = |ranked: &&Ranked| ranked.candidate.similarity.unwrap_or(f64::NEG_INFINITY);
    let best = listed.ranked.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    let language = retrieved.question.hint.or(best.passage.language.as_deref());
    Some(format!(
        "every candidate is below the threshold of its language, the best with similarity {:.2} under {:.2} for {}",
        best.candidate.similarity?,
        thresholds.of(language),
        language.unwrap_or("any language"),
    ))
}

/// The texts of candidates.
pub(super) struct Fetched {
    /// In the order of the candidates.
    pub passages: Vec<StoredPassage>,
    /// True if candidates were dropped because their passages are gone.
    pub gone: bool,
}

/// Returns the texts of all candidates. Candidates whose passage is gone are dropped from both lists, and so are shared ones with
/// the same text as one in `own`.
pub(super) fn fetch(store: &dyn Store, gathered: &mut Gathered, own: &[String]) -> Result<Fetched, Error> {
    let ids: Vec<PassageId> = gathered.candidates.iter().map(|candidate| candidate.passage).collect();
    let mut passages: HashMap<PassageId, StoredPassage> =
        store.passages(&ids)?.into_iter().map(|passage| (passage.passage, passage)).collect();
    let gone = passages.len() < ids.len();
    if !own.is_empty() {
        let is_own = |passage: &StoredPassage| own.contains(&passage.namespace);
        let texts: HashSet<TextHash> =
            passages.values().filter(|p| is_own(p)).map(|passage| passage.text_hash).collect();
        passages.retain(|_, passage| is_own(passage) || !texts.contains(&passage.text_hash));
    }
    gathered.candidates.retain(|candidate| passages.contains_key(&candidate.passage));
    // Equal values keep this order to the end, so that it does not depend on the age of passages.
    let place = |candidate: &Candidate| {
        let passage = passages.get(&candidate.passage)?;
        Some((!own.contains(&passage.namespace), passage.namespace.clone(), passage.path.clone(), passage.ordinal))
    };
    gathered.candidates.sort_by_cached_key(place);
    gathered.phrased.iter_mut().for_each(|phrased| phrased.candidates.sort_by_cached_key(place));
    let passages = gathered.candidates.iter().filter_map(|candidate| passages.remove(&candidate.passage)).collect();
    Ok(Fetched { passages, gone })
}
