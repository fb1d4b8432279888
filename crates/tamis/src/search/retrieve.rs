//! The two halves of a search: retrieval, which knows no rule, and the decision of one rule on what was retrieved.
//!
//! A search does each once. An evaluation retrieves once and decides with many rules, by the same code.

use super::Clock;
use super::answer::CutReport;
use super::beliefs::Beliefs;
use super::candidate::Ranked;
use super::decide::{self, Fusions};
use super::gather::{Gathered, SemanticQuery, gather};
use super::query::{Mode, SearchRequest};
use crate::Error;
use crate::index::Index;
use crate::models;
use std::collections::HashMap;
use std::sync::Arc;
use tamis_cut::{Pool, Rule, Scale};
use tamis_embed::Embedder;
use tamis_rank::Fusion;
use tamis_store::{Coverage, Filter, LexicalQuery, PassageId, Store, StoredPassage};

/// What a query's legs brought in, and by what way. The texts of the candidates are apart, since a decision takes them.
pub(super) struct Retrieved {
    /// The legs that took part.
    pub mode: Mode,
    /// The model of the semantic leg.
    pub model: Option<Arc<dyn Embedder>>,
    /// What the filter leaves, and what of it the model covers.
    pub coverage: Coverage,
    /// Why that is not the mode, or not the model, that was asked for.
    pub fallback_reason: Option<String>,
    /// The candidates with their raw scores.
    pub gathered: Gathered,
}

/// The pool in the order of a rule, and where the rule ends it.
pub(super) struct Decided {
    pub ranked: Vec<Ranked>,
    pub cut: CutReport,
    /// What gave the values that the rule read.
    pub fusion: Fusion,
    /// The probability of relevance of each of `ranked`, where the rule gives one.
    pub probabilities: Option<Vec<f64>>,
    /// The values that the rule read, with their background.
    pub pool: Pool,
    /// How far the first candidate stands out of the next ones, and the gate's evidence: what a collection's profile is
    /// made from.
    pub focus: Option<f64>,
    pub evidence: Option<f64>,
    /// That another rule decided, and why.
    pub replaced: Option<String>,
}

impl Index {
    /// Gathers both legs' candidates, `depth` of each, and their texts in the candidates' order.
    pub(super) fn retrieve(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        depth: usize,
        clock: &mut Clock,
    ) -> Result<(Retrieved, Vec<StoredPassage>), Error> {
        let mut plan = self.plan(request, filter)?;
        clock.lap("query");

        let mut vector = match &plan.model {
            Some(model) => Some(models::outside_pool(|| model.embed_query(request.query.trim()))?),
            None => None,
        };
        if vector.as_ref().is_some_and(|vector| vector.iter().all(|&entry| entry == 0.0)) && plan.mode.lexical() {
            let model = plan.model.take().map(|model| model.model().id.clone()).unwrap_or_default();
            plan = Plan::words_alone(plan.coverage, Some(format!("{model} knows no word of the query")));
            vector = None;
        }
        clock.lap("embed");

        let lexical = plan.mode.lexical().then(|| LexicalQuery::new(request.query.trim()));
        let semantic = plan
            .model
            .as_ref()
            .zip(vector.as_deref())
            .map(|(model, vector)| SemanticQuery { model: &model.model().id, vector });
        let mut gathered = gather(&self.store, lexical.as_ref(), semantic.as_ref(), filter, depth)?;
        let passages = fetch(&self.store, &mut gathered)?;
        clock.lap("gather");

        let Plan { mode, model, coverage, fallback_reason } = plan;
        Ok((Retrieved { mode, model, coverage, fallback_reason, gathered }, passages))
    }

    /// Orders what was retrieved as the rule wants it and decides where it ends. `passages` are those of the
    /// candidates, in their order. `beliefs`: where relevance is expected to end; `None`: by the index's own past.
    pub(super) fn decide(
        &self,
        retrieved: &Retrieved,
        passages: Vec<StoredPassage>,
        rule: &dyn Rule,
        beliefs: Option<Beliefs>,
        clock: &mut Clock,
    ) -> Result<Decided, Error> {
        let replacement = self.replacement(rule, retrieved.mode)?;
        let replaced = replacement
            .as_ref()
            .map(|other| format!("cut {} in place of {}, which reads similarities", other.name(), rule.name()));
        let rule = replacement.as_deref().unwrap_or(rule);

        let fusions = self.fusions(rule, retrieved.model.as_deref())?;
        let ranked = decide::rank(&retrieved.gathered, passages, fusions.order, &self.config.roles);
        clock.lap("rank");

        let model = retrieved.model.as_deref().map(Embedder::model);
        let own_past = || self.beliefs(model.map(|model| model.id.as_str()), retrieved.mode, &self.scale(fusions.cut));
        let beliefs = beliefs.unwrap_or_else(own_past);
        clock.lap("beliefs");
        let grounds = decide::Grounds {
            gate: self.config.search.gate.then_some(&self.config.gate),
            fusion: fusions.cut,
            roles: &self.config.roles,
            reference: model.and_then(models::reference),
            beliefs,
        };
        let decision = decide::decide(rule, &grounds, &retrieved.gathered, &ranked)?;
        clock.lap("cut");
        let decide::Decision { report: cut, probabilities, pool, focus, evidence } = decision;
        Ok(Decided { ranked, cut, fusion: fusions.cut, probabilities, pool, focus, evidence, replaced })
    }

    /// Refuses a rule that reads similarities where the caller asked for words alone.
    pub(crate) fn check_rule(&self, rule: &dyn Rule, request: &SearchRequest) -> Result<(), Error> {
        if !request.mode.unwrap_or(self.config.search.mode).semantic() && rule.scale() == Scale::Similarity {
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
        let background = self.config.cut("background");
        background.map(Some).map_err(|error| Error::argument("cut", "background", error.to_string()))
    }

    /// Chooses the mode and the model that the state of the index allows.
    fn plan(&self, request: &SearchRequest, filter: &Filter) -> Result<Plan, Error> {
        let mode = request.mode.unwrap_or(self.config.search.mode);
        if !mode.semantic() {
            let passages = self.store.coverage("", filter)?.passages;
            return Ok(Plan { mode, model: None, coverage: Coverage { passages, embedded: 0 }, fallback_reason: None });
        }
        Ok(match self.choose_model(filter)? {
            (None, coverage, fallback_reason) => Plan::words_alone(coverage, fallback_reason),
            (model, coverage, fallback_reason) => Plan { mode, model, coverage, fallback_reason },
        })
    }

    /// The best model that covers what the filter leaves: the last of `index.models` with all vectors, else the one
    /// that covers most.
    fn choose_model(&self, filter: &Filter) -> Result<Choice, Error> {
        let asked = &self.config.search.model;
        let names: Vec<&String> = if asked == "auto" { self.config.index.models.iter().collect() } else { vec![asked] };
        let mut best: Option<(&String, Coverage)> = None;
        let mut lacking = Vec::new();
        for name in names.into_iter().rev() {
            let coverage = self.store.coverage(&self.models.id(name)?, filter)?;
            if coverage.embedded == coverage.passages {
                best = Some((name, coverage));
                break;
            }
            lacking.push(format!("{name} covers {} of {} passages", coverage.embedded, coverage.passages));
            if coverage.embedded > best.map_or(0, |(_, best)| best.embedded) {
                best = Some((name, coverage));
            }
        }
        let reason =
            (!lacking.is_empty()).then(|| format!("{}; run `tamis index` to embed the rest", lacking.join(", ")));
        match best {
            Some((name, coverage)) => Ok((Some(self.models.get(name)?), coverage, reason)),
            None => Ok((None, self.store.coverage("", filter)?, reason)),
        }
    }

    fn fusions(&self, rule: &dyn Rule, model: Option<&dyn Embedder>) -> Result<Fusions, Error> {
        let own = model.map_or(0.5, |model| f64::from(model.model().fusion_weight));
        let weight = self.config.search.fusion_weight.unwrap_or(own);
        let configured = Fusion::named(&self.config.search.fusion, weight)
            .map_err(|error| Error::argument("search.fusion", &self.config.search.fusion, error.to_string()))?;
        Ok(Fusions::new(rule, configured, weight))
    }
}

type Choice = (Option<Arc<dyn Embedder>>, Coverage, Option<String>);

/// What a search will do.
struct Plan {
    mode: Mode,
    model: Option<Arc<dyn Embedder>>,
    coverage: Coverage,
    fallback_reason: Option<String>,
}

impl Plan {
    /// No vectors to go by.
    fn words_alone(coverage: Coverage, fallback_reason: Option<String>) -> Self {
        Plan { mode: Mode::Lexical, model: None, coverage, fallback_reason }
    }
}

/// Both reasons why an answer is not as it was asked for, where there are two.
pub(super) fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    }
}

/// The texts of all candidates, in their order. A candidate whose passage is gone by now is left out of both.
fn fetch(store: &dyn Store, gathered: &mut Gathered) -> Result<Vec<StoredPassage>, Error> {
    let ids: Vec<PassageId> = gathered.candidates.iter().map(|candidate| candidate.passage).collect();
    let mut passages: HashMap<PassageId, StoredPassage> =
        store.passages(&ids)?.into_iter().map(|passage| (passage.passage, passage)).collect();
    gathered.candidates.retain(|candidate| passages.contains_key(&candidate.passage));
    Ok(gathered.candidates.iter().filter_map(|candidate| passages.remove(&candidate.passage)).collect())
}
