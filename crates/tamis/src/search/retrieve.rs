//! The two halves of a search: retrieval, which is independent of the cut, and the decision of one cut.
//!
//! A search does each once. An evaluation retrieves once and decides with many cuts, by the same code.

use super::answer::CutReport;
use super::candidate::Ranked;
use super::decide::{self, Fusions, Listed, Steps};
use super::gather::{Gathered, Leg, LegError, LegQueries, SemanticQuery, complete};
use super::gather::{Phrased, merge};
use super::query::SearchRequest;
use super::question::Question;
use super::relevance_prior::RelevancePrior;
use super::required::look_for;
use super::rerank::Rerank;
use super::searcher::Searcher;
use super::shared::gather_within;
use super::stopwatch::Stopwatch;
use super::thresholds::Thresholds;
use crate::Error;
use crate::config::ConfigError;
use crate::config::Mode;
use crate::models;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tamis_cut::{Pool, Rule, Scale, TopScore};
use tamis_embed::{Embedder, ModelInfo};
use tamis_rank::Fusion;
use tamis_store::{Coverage, Filter, LexicalQuery, PassageId, ScoringKey, Store, StoredPassage, TextHash};

/// What a query's legs brought in, and by what way. The texts of the candidates are apart, since a decision takes them.
pub(super) struct Retrieved {
    /// The legs that took part.
    pub mode: Mode,
    /// The model of the semantic leg.
    pub model: Option<Arc<dyn Embedder>>,
    /// The query's vector of that model, where the semantic leg took part.
    pub vector: Option<Vec<f32>>,
    /// What the filter leaves, and what of it the model covers.
    pub coverage: Coverage,
    /// The reason why that is not the mode, or not the model, that was asked for.
    pub fallback_reason: Option<String>,
    /// The models that would have been better and could not be used, each with the reason.
    pub unusable: Vec<(String, String)>,
    /// The candidates with their raw scores.
    pub gathered: Gathered,
    /// What was asked, made ready.
    pub question: Question,
    /// What did not go as it should and did not keep the answer from being one.
    pub warnings: Vec<String>,
}

/// The pool in the order of a rule, and where the rule ends it.
pub(super) struct Decided {
    pub ranked: Vec<Ranked>,
    pub cut: CutReport,
    /// The legs that decided: thresholds can leave nothing of the semantic one.
    pub mode: Mode,
    /// What the values mean that the rule read. Those of two searches are comparable where this is equal.
    pub scoring: ScoringKey,
    /// What moved the candidates besides the query.
    pub rerank: Rerank,
    /// The probability of relevance of each of `ranked`, where the rule gives one.
    pub probabilities: Option<Vec<f64>>,
    /// The values that the rule read, with their background.
    pub pool: Pool,
    /// How far the first candidate stands out of the next ones, and the gate's evidence: what a collection's profile is
    /// made from.
    pub coverage_drop: Option<f64>,
    pub evidence: Option<f64>,
    /// That another rule, or fewer legs, decided, and why.
    pub replaced: Option<String>,
    /// What the user should know of the thresholds in use.
    pub warning: Option<String>,
}

impl<'a> Searcher<'a> {
    /// Gathers both legs' candidates, `depth` of each, and their texts in the candidates' order.
    pub(super) fn retrieve(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        depth: usize,
        clock: &mut Stopwatch,
    ) -> Result<(Retrieved, Vec<StoredPassage>), Error> {
        let question = self.question(request)?;
        let (mut plan, mut vector) = self.plan(request, &question.text, &question.scope.of_all(filter))?;
        let unknown = vector.as_ref().is_some_and(|vector| vector.iter().all(|&entry| entry == 0.0));
        if unknown && plan.mode.lexical() {
            let reason =
                plan.model.as_ref().map(|(_, model)| format!("{} knows no word of the query", model.model().id));
            // Of other phrasings it may know some.
            match question.variants.is_empty() {
                true => plan = plan.words_alone(reason),
                false => plan.fallback_reason = joined(plan.fallback_reason.take(), reason),
            }
            vector = None;
        }
        clock.lap("embed");

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
            let own = Phrased::new(self.index.config.search.variants.intent_weight, &gathered);
            let phrased: Vec<Phrased> = std::iter::once(own).chain(others).collect();
            merge(&mut gathered, &phrased);
            complete(&*self.index.store, &asked, &question.scope.of_all(filter), &mut gathered.candidates)?;
            gathered.phrased = phrased;
        }
        let passages = fetch(&*self.index.store, &mut gathered, &question.scope.own)?;
        look_for(&question.required, &mut gathered.candidates, &passages);
        clock.lap("gather");

        let Plan { mode, model, coverage, fallback_reason, unusable } = plan;
        let model = model.map(|(_, model)| model);
        let retrieved =
            Retrieved { mode, model, vector, coverage, fallback_reason, unusable, gathered, question, warnings };
        Ok((retrieved, passages))
    }

    /// What the other phrasings find, side by side. One that fails is left out, and the reason is added to `warnings`.
    fn gather_variants(
        &self,
        plan: &Plan,
        question: &Question,
        filter: &Filter,
        depth: usize,
        warnings: &mut Vec<String>,
    ) -> Vec<Phrased> {
        let gather = |text: &str, weight: f64| -> Result<(Phrased, Option<String>), Error> {
            // A phrasing of which the model knows no word, or to which it gives no answer, is asked by words alone.
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
                    // What fails for one phrasing mostly fails for all, and is told once.
                    warnings.extend(left_out.filter(|reason| !warnings.contains(reason)));
                }
                Err(error) => warnings.push(format!("variant {text:?} was left out: {error}")),
            }
        }
        phrased
    }

    /// Orders what was retrieved as the rule wants it and decides where it ends. `passages` are those of the
    /// candidates, in their order. `prior`: where relevance is expected to end; `None`: by the index's own past.
    pub(super) fn decide(
        &self,
        retrieved: &Retrieved,
        passages: Vec<StoredPassage>,
        rule: &dyn Rule,
        prior: Option<RelevancePrior>,
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
        let Question { hint, names, now_ns, scope, memory, gate, waived_gate, .. } = &retrieved.question;
        let fusions = self.fusions(rule, model, *memory)?;
        let rerank = self.rerank(*hint, *now_ns, *memory, rule)?;
        let decay = self.decay(&retrieved.question);
        let tables = self.source_tables(rule)?;
        let steps = Steps {
            fusions,
            rank_factors: &self.index.config.rank_factors,
            names,
            rerank: &rerank,
            decay,
            tables: &tables,
            measured: measured.as_ref(),
        };
        let threshold = |passage: &StoredPassage| {
            let language = hint.or_else(|| rerank.language_of(passage));
            thresholds.as_ref().map(|thresholds| thresholds.of(language))
        };
        let mut listed = decide::list(&retrieved.gathered, passages, rule, &steps, threshold);
        clock.lap("rank");

        let scoring = self.scoring(fusions.cut, &rerank, *memory, &decay, retrieved.gathered.phrased.len());
        let namespace = scope.label(&self.index.namespace);
        let own_past =
            || self.relevance_prior(&namespace, model.map(|model| model.id.as_str()), retrieved.mode, &scoring);
        let prior = prior.unwrap_or_else(own_past);
        clock.lap("relevance_prior");
        let grounds = decide::Grounds { gate: gate.as_ref(), reference: model.and_then(models::reference), prior };
        let decision = decide::decide(rule, &grounds, &retrieved.gathered, &mut listed)?;
        clock.lap("cut");
        let decide::Decision { report: mut cut, probabilities, pool, coverage_drop, evidence } = decision;
        if let Some(gate) = waived_gate {
            cut.explain_waived(&gate.judge(&decide::known(
                &retrieved.gathered,
                &listed.short,
                grounds.reference,
                None,
            )));
        }
        let replaced = joined(replaced, rejected(&listed, retrieved, thresholds.as_ref()));
        let decided_by_words =
            listed.admitted.is_some_and(|admitted| admitted.by_similarity == 0) && thresholds.is_some();
        let mode = if decided_by_words { Mode::Lexical } else { retrieved.mode };
        let warning = thresholds.or(measured).and_then(|thresholds| thresholds.warning);
        let ranked = listed.ranked;
        Ok(Decided {
            ranked,
            cut,
            mode,
            scoring,
            rerank,
            probabilities,
            pool,
            coverage_drop,
            evidence,
            replaced,
            warning,
        })
    }

    /// Refuses a rule that reads similarities where the caller asked for words alone.
    pub(crate) fn check_rule(&self, rule: &dyn Rule, request: &SearchRequest) -> Result<(), Error> {
        if !request.mode.unwrap_or(self.index.config.search.mode).semantic() && rule.scale() == Scale::Similarity {
            let allowed = "one that does not read similarity, which lexical mode has none of (such as background)";
            return Err(Error::argument("cut", rule.name(), allowed));
        }
        Ok(())
    }

    /// The rule that decides where there are no vectors to go by and `rule` reads similarities.
    pub(crate) fn replacement(&self, rule: &dyn Rule, mode: Mode) -> Result<Option<Box<dyn Rule>>, Error> {
        if mode.semantic() || rule.scale() != Scale::Similarity {
            return Ok(None);
        }
        let background = self.index.config.cut("background");
        background.map(Some).map_err(|error| Error::argument("cut", "background", error.to_string()))
    }

    /// The tables of collections that have one of their own under a rule that reads them.
    pub(super) fn source_tables(&self, rule: &dyn Rule) -> Result<Vec<(&'static str, TopScore)>, Error> {
        let refused = |error: ConfigError| Error::argument("cut", rule.name(), error.to_string());
        self.index.config.source_tables(rule).map_err(refused)
    }

    /// Chooses the mode and the model that the state of the index allows, and has that model embed the query.
    fn plan(&self, request: &SearchRequest, text: &str, filter: &Filter) -> Result<(Plan, Option<Vec<f32>>), Error> {
        let mode = request.mode.unwrap_or(self.index.config.search.mode);
        let mut plan = Plan { mode, ..Plan::default() };
        if !mode.semantic() {
            plan.coverage.passages = self.index.store.coverage("", filter)?.passages;
            return Ok((plan, None));
        }
        loop {
            let Covering { best, lacking } = self.covering(filter, &mut plan.unusable)?;
            let reason = fallback_reason(&lacking, &plan.unusable);
            let Some((name, coverage)) = best else {
                plan.coverage = self.index.store.coverage("", filter)?;
                return Ok((plan.words_alone(reason), None));
            };
            match self.index.models.embed_query(name, text) {
                Ok((model, vector)) => {
                    let model = Some((name.to_owned(), model));
                    return Ok((Plan { model, coverage, fallback_reason: reason, ..plan }, Some(vector)));
                }
                Err(Error::Model { model, reason }) => plan.unusable.push((model, reason)),
                Err(error) => return Err(error),
            }
        }
    }

    /// The vector of another phrasing.
    fn embedded(&self, plan: &Plan, text: &str) -> Result<Option<Vec<f32>>, Error> {
        let Some((name, _)) = &plan.model else { return Ok(None) };
        Ok(Some(self.index.models.embed_query(name, text)?.1))
    }

    /// The best model that covers what the filter leaves, whose stored vectors are compared with each other, and why it is
    /// not the best one configured. Nothing is embedded, so its endpoint need not answer.
    pub(super) fn choose_model(&self, filter: &Filter) -> Result<Choice, Error> {
        let mut unusable = Vec::new();
        let Covering { best, lacking } = self.covering(filter, &mut unusable)?;
        let reason = fallback_reason(&lacking, &unusable);
        let model = best.map(|(name, _)| self.index.models.described(name)).transpose()?;
        Ok((model, reason))
    }

    /// Which of the models that searches may use covers what the filter leaves: the last one with all vectors, else the one
    /// that covers most. Those that cannot be used are passed over, and those that turn out not to be are added to them.
    pub(crate) fn covering(
        &self,
        filter: &Filter,
        unusable: &mut Vec<(String, String)>,
    ) -> Result<Covering<'a>, Error> {
        let asked = &self.index.config.search.model;
        let names: Vec<&String> =
            if asked == "auto" { self.index.config.index.models.iter().collect() } else { vec![asked] };
        let mut covering = Covering::default();
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

    /// What orders the candidates under a rule, and what the rule reads.
    pub(super) fn fusions(&self, rule: &dyn Rule, model: Option<&ModelInfo>, memory: bool) -> Result<Fusions, Error> {
        if memory {
            return Ok(Fusions::of_memories(rule, self.index.config.memory.fusion_weight));
        }
        let own = model.map_or(0.5, |model| f64::from(model.fusion_weight));
        let weight = self.index.config.search.fusion_weight.unwrap_or(own);
        let configured = Fusion::named(&self.index.config.search.fusion, weight)
            .map_err(|error| Error::argument("search.fusion", &self.index.config.search.fusion, error.to_string()))?;
        Ok(Fusions::new(rule, configured, weight))
    }
}

pub(super) type Choice = (Option<ModelInfo>, Option<String>);

/// Returns the reason why the model is not the best one configured, where it is not.
fn fallback_reason(lacking: &[String], unusable: &[(String, String)]) -> Option<String> {
    let lacking = (!lacking.is_empty()).then(|| format!("{}; run `tamis index` to embed the rest", lacking.join(", ")));
    let told =
        |(model, reason): &(String, String)| Error::Model { model: model.clone(), reason: reason.clone() }.to_string();
    let unusable = (!unusable.is_empty()).then(|| unusable.iter().map(told).collect::<Vec<_>>().join("; "));
    joined(unusable, lacking)
}

/// The model that covers a filter best, by name, and what each better one lacks.
#[derive(Default)]
pub(crate) struct Covering<'a> {
    pub best: Option<(&'a str, Coverage)>,
    pub lacking: Vec<String>,
}

/// What a search will do.
#[derive(Default)]
struct Plan {
    mode: Mode,
    /// The model, by its name.
    model: Option<(String, Arc<dyn Embedder>)>,
    coverage: Coverage,
    fallback_reason: Option<String>,
    unusable: Vec<(String, String)>,
}

impl Plan {
    /// What each leg looks for.
    fn asked<'a>(&'a self, text: &str, vector: Option<&'a [f32]>) -> LegQueries<'a> {
        let semantic = self.model.as_ref().zip(vector);
        LegQueries {
            lexical: self.mode.lexical().then(|| LexicalQuery::new(text)),
            semantic: semantic.map(|((_, model), vector)| SemanticQuery { model: &model.model().id, vector }),
        }
    }

    /// Leaves a leg out that could not be asked, and says so. `embedded`: whether the other leg could be the semantic one.
    ///
    /// # Errors
    /// There is no other leg, or it stands on what has failed.
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

    /// The same without vectors to go by.
    fn words_alone(self, fallback_reason: Option<String>) -> Self {
        Plan { mode: Mode::Lexical, model: None, fallback_reason, ..self }
    }
}

/// Both reasons why an answer is not as it was asked for, where there are two.
pub(super) fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    }
}

/// That the thresholds refused every candidate that meaning brought in.
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

/// The texts of all candidates, in their order. A candidate whose passage is gone by now is left out of both, and so is one
/// of a shared namespace that stands in one's `own` word for word.
pub(super) fn fetch(store: &dyn Store, gathered: &mut Gathered, own: &[String]) -> Result<Vec<StoredPassage>, Error> {
    let ids: Vec<PassageId> = gathered.candidates.iter().map(|candidate| candidate.passage).collect();
    let mut passages: HashMap<PassageId, StoredPassage> =
        store.passages(&ids)?.into_iter().map(|passage| (passage.passage, passage)).collect();
    if !own.is_empty() {
        let is_own = |passage: &StoredPassage| own.contains(&passage.namespace);
        let texts: HashSet<TextHash> =
            passages.values().filter(|p| is_own(p)).map(|passage| passage.text_hash).collect();
        passages.retain(|_, passage| is_own(passage) || !texts.contains(&passage.text_hash));
    }
    gathered.candidates.retain(|candidate| passages.contains_key(&candidate.passage));
    Ok(gathered.candidates.iter().filter_map(|candidate| passages.remove(&candidate.passage)).collect())
}
