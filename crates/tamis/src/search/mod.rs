//! A query's way: query → gather → complete → fuse → rerank → cut → limit → present.

mod answer;
mod candidate;
mod decide;
mod gather;
mod query;
mod snippet;

pub use answer::{Answer, CutReport, Hit, IndexReport, PoolEntry};
pub use query::{Mode, SearchRequest};

use crate::Error;
use crate::index::{Freshness, Index};
use crate::models;
use candidate::Ranked;
use decide::Fusions;
use gather::{Gathered, SemanticQuery, gather};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;
use tamis_cut::{Rule, Scale};
use tamis_embed::Embedder;
use tamis_rank::Fusion;
use tamis_store::{Coverage, Filter, Highlighter, LexicalQuery, PassageId, Store, StoredPassage};

impl Index {
    /// Answers a query with what is relevant, which can be nothing. The index is searched as it is; see
    /// [`Index::refresh_for_search`] and pass what it found as `freshness`.
    ///
    /// # Errors
    /// An argument out of range, a damaged index, or a model that fails. Nothing found is an answer, not an error.
    pub fn search(&self, request: &SearchRequest, freshness: &Freshness) -> Result<Answer, Error> {
        request.check()?;
        let mut clock = Clock::start();
        let filter = self.filter(request);
        let mut plan = self.plan(request, &filter)?;
        clock.lap("query");

        let mut vector = match &plan.model {
            Some(model) => Some(model.embed_query(request.query.trim())?),
            None => None,
        };
        if vector.as_ref().is_some_and(|vector| vector.iter().all(|&entry| entry == 0.0)) && plan.mode.lexical() {
            let model = plan.model.take().map(|model| model.model().id.clone()).unwrap_or_default();
            plan = self.words_alone(plan.rule, plan.coverage, Some(format!("{model} knows no word of the query")))?;
            vector = None;
        }
        clock.lap("embed");

        let lexical = plan.mode.lexical().then(|| LexicalQuery::new(request.query.trim()));
        let semantic = plan
            .model
            .as_ref()
            .zip(vector.as_deref())
            .map(|(model, vector)| SemanticQuery { model: &model.model().id, vector });
        let mut gathered = gather(&self.store, lexical.as_ref(), semantic.as_ref(), &filter, self.config.search.pool)?;
        let passages = fetch(&self.store, &mut gathered)?;
        clock.lap("gather");

        let rule = plan.rule.as_ref();
        let fusions = self.fusions(rule, plan.model.as_deref())?;
        let ranked = decide::rank(&gathered, passages, fusions.order, &self.config.roles);
        clock.lap("rank");

        let gate = self.config.search.gate.then_some(&self.config.gate);
        let reference = plan.model.as_ref().and_then(|model| models::reference(model.model()));
        let cut = decide::decide(rule, gate, &gathered, fusions.cut, &self.config.roles, &ranked, reference)?;
        clock.lap("cut");

        let limit = request.limit.unwrap_or(self.config.search.top_k).min(cut.keep);
        let highlighter =
            gathered.lexical.as_ref().map(|statistics| Highlighter::new(&statistics.terms, statistics.indexed));
        let lines = request.snippet_lines.unwrap_or(self.config.search.snippet_lines);
        let results = ranked.iter().take(limit).zip(1..);
        let results = results.map(|(hit, rank)| present(rank, hit, highlighter.as_ref(), lines)).collect();
        let pool = request.explain.then(|| entries(&ranked, cut.keep));
        clock.lap("present");

        Ok(Answer {
            query: request.query.trim().to_owned(),
            mode_used: plan.mode.to_string(),
            fallback_reason: plan.fallback_reason,
            model: plan.model.as_ref().map(|model| model.model().id.clone()),
            results,
            cut,
            timings_ms: clock.finish(),
            index: IndexReport {
                passages: plan.coverage.passages,
                embedded: plan.coverage.embedded,
                stale: freshness.stale,
            },
            pool,
        })
    }

    fn filter(&self, request: &SearchRequest) -> Filter {
        Filter {
            collections: request.collections.clone(),
            languages: request.languages.clone(),
            path_globs: request.paths.clone(),
            // A store of one namespace needs no filter for it, which keeps the legs on their fast path.
            ..Filter::default()
        }
    }

    /// Chooses the mode, the model and the rule that the state of the index allows.
    fn plan(&self, request: &SearchRequest, filter: &Filter) -> Result<Plan, Error> {
        let rule = request.cut.as_ref().unwrap_or(&self.config.search.cut).clone();
        let mode = request.mode.unwrap_or(self.config.search.mode);
        if !mode.semantic() {
            if rule.scale() == Scale::Similarity {
                let allowed = "one that does not read similarity, which lexical mode has none of (such as background)";
                return Err(Error::argument("cut", rule.name(), allowed));
            }
            let passages = self.store.coverage("", filter)?.passages;
            return Ok(Plan {
                mode,
                model: None,
                rule,
                coverage: Coverage { passages, embedded: 0 },
                fallback_reason: None,
            });
        }
        match self.choose_model(filter)? {
            (None, coverage, fallback_reason) => self.words_alone(rule, coverage, fallback_reason),
            (model, coverage, fallback_reason) => Ok(Plan { mode, model, rule, coverage, fallback_reason }),
        }
    }

    /// No vectors to go by: words alone, under a rule that can read them.
    fn words_alone(
        &self,
        mut rule: Box<dyn Rule>,
        coverage: Coverage,
        mut fallback_reason: Option<String>,
    ) -> Result<Plan, Error> {
        if rule.scale() == Scale::Similarity {
            let replaced = format!("cut background in place of {}, which reads similarities", rule.name());
            fallback_reason = Some(fallback_reason.map_or(replaced.clone(), |reason| format!("{reason}; {replaced}")));
            rule = self
                .config
                .cut("background")
                .map_err(|error| Error::argument("cut", "background", error.to_string()))?;
        }
        Ok(Plan { mode: Mode::Lexical, model: None, rule, coverage, fallback_reason })
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
    rule: Box<dyn Rule>,
    coverage: Coverage,
    fallback_reason: Option<String>,
}

/// The texts of all candidates, in their order. A candidate whose passage is gone by now is left out of both.
fn fetch(store: &dyn Store, gathered: &mut Gathered) -> Result<Vec<StoredPassage>, Error> {
    let ids: Vec<PassageId> = gathered.candidates.iter().map(|candidate| candidate.passage).collect();
    let mut passages: HashMap<PassageId, StoredPassage> =
        store.passages(&ids)?.into_iter().map(|passage| (passage.passage, passage)).collect();
    gathered.candidates.retain(|candidate| passages.contains_key(&candidate.passage));
    Ok(gathered.candidates.iter().filter_map(|candidate| passages.remove(&candidate.passage)).collect())
}

fn present(rank: usize, hit: &Ranked, highlighter: Option<&Highlighter>, lines: usize) -> Hit {
    let passage = &hit.passage;
    let snippet = snippet::best(&passage.text, passage.start_line, passage.form, highlighter, lines);
    Hit {
        rank,
        id: passage.id.clone(),
        collection: passage.collection.clone(),
        namespace: passage.namespace.clone(),
        path: passage.path.clone(),
        start_line: passage.start_line,
        end_line: passage.end_line,
        title: passage.heading.clone().or_else(|| passage.title.clone()),
        symbol: passage.symbol.clone(),
        kind: passage.kind.clone(),
        language: passage.language.clone(),
        bm25: hit.candidate.bm25,
        similarity: hit.candidate.similarity,
        score: hit.score,
        snippet: snippet.text,
        snippet_line: snippet.start_line,
        highlights: snippet.highlights,
    }
}

fn entries(ranked: &[Ranked], keep: usize) -> Vec<PoolEntry> {
    let entry = |(at, hit): (usize, &Ranked)| PoolEntry {
        kept: at < keep,
        path: hit.passage.path.clone(),
        start_line: hit.passage.start_line,
        symbol: hit.passage.symbol.clone(),
        role: hit.passage.role.clone(),
        bm25: hit.candidate.bm25,
        similarity: hit.candidate.similarity,
        coverage: hit.candidate.coverage,
        score: hit.score,
    };
    ranked.iter().enumerate().map(entry).collect()
}

/// Milliseconds by stage.
struct Clock {
    started: Instant,
    lap: Instant,
    laps: BTreeMap<String, f64>,
}

impl Clock {
    fn start() -> Self {
        let now = Instant::now();
        Clock { started: now, lap: now, laps: BTreeMap::new() }
    }

    fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        self.laps.insert(stage.to_owned(), (now - self.lap).as_secs_f64() * 1000.0);
        self.lap = now;
    }

    fn finish(mut self) -> BTreeMap<String, f64> {
        self.laps.insert("total".to_owned(), self.started.elapsed().as_secs_f64() * 1000.0);
        self.laps
    }
}
