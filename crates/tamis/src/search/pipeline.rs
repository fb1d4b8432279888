//! One search, from the request to the answer.

use super::answer::{Answer, IndexReport, OFF, PoolEntry};
use super::arrange::{DisplayOrder, Placed};
use super::decay::SearchDecay;
use super::decide::Decided;
use super::missing_words::missing_words;
use super::plan::joined;
use super::present::{Shown, nearest, pool_entries};
use super::quality_row::Served;
use super::query::SearchRequest;
use super::question::Question;
use super::relevance::ANSWER_EVIDENCE;
use super::retrieve::{Retrieved, namespaces_of};
use super::searcher::Searcher;
use super::stopwatch::Stopwatch;
use super::syntax::Parsed;
use super::tuned_rule::TunedRule;
use crate::Error;
use crate::handle::Index;
use crate::index::Freshness;
use crate::progress::{Observer, Stage};
use std::collections::BTreeMap;
use tamis_cut::Guarantee;
use tamis_store::{DocumentId, Filter, Highlighter, StoreError};

/// Lines of text shown for a result, unless the request says how many.
const SNIPPET_LINES: usize = 6;

/// The steps of a search that an observer counts: gather, decide, present. It can stop the search after each.
const STEPS: u64 = 3;

impl Index {
    /// Answers a query with the relevant passages, which can be none. The index is searched as it is: [`Index::refresh`]
    /// or [`Index::refresh_for_search`] brings it up to date first.
    ///
    /// ```
    /// use tamis::{Index, SearchRequest};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
    /// # let index = Index::builder(directory.path()).set("index.models", "static").open()?;
    /// # index.refresh()?;
    /// let answer = index.search(SearchRequest::new("oven temperature").limit(5).paths(["*.md"]))?;
    /// for hit in &answer.results {
    ///     println!("{}:{} {}", hit.path, hit.start_line, hit.snippet);
    /// }
    /// println!("{}", answer.cut.reason);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// An argument out of range, an aim that the cut does not support, a damaged index, a model that fails, or a guarantee
    /// that cannot be given. An empty answer is not an error.
    pub fn search(&self, request: impl Into<SearchRequest>) -> Result<Answer, Error> {
        self.search_with(&request.into(), &Freshness::default(), &())
    }

    /// [`Index::search`] after [`Index::refresh_for_search`], whose result the answer reports. `observer` follows the search
    /// and can stop it.
    ///
    /// # Errors
    /// As [`Index::search`], and [`Error::Cancelled`] if the observer stopped it.
    pub fn search_with(
        &self,
        request: &SearchRequest,
        freshness: &Freshness,
        observer: &dyn Observer,
    ) -> Result<Answer, Error> {
        // A guarantee for searches does not cover memories, whose scores are different.
        let cuts = !request.memory && !request.is_uncut(&self.config);
        let configured = self.config.search.guarantee.filter(|_| cuts);
        self.searcher_for(observer).search_under(request, request.guarantee.or(configured), freshness)
    }

    /// Returns the number of passages that match the filters of a request.
    ///
    /// # Errors
    /// A namespace that does not exist, or a damaged index.
    pub fn passing(&self, request: &SearchRequest) -> Result<u64, Error> {
        let searcher = self.searcher();
        let filter = searcher.scope(request)?.of_all(&searcher.filter(request));
        Ok(self.store.coverage("", &filter)?.passages)
    }
}

impl<'a> Searcher<'a> {
    /// Answers a query with or without a guarantee. Namespaces that cannot be read now are left out, and named in the answer.
    pub(crate) fn search_under(
        &self,
        request: &SearchRequest,
        guarantee: Option<Guarantee>,
        freshness: &Freshness,
    ) -> Result<Answer, Error> {
        let failed = match self.search_all(request, guarantee, freshness) {
            Err(error @ Error::Store(StoreError::Unavailable { .. })) => error,
            answered => return answered,
        };
        // Where the whole store is away, the first error says more.
        let Ok(away) = self.index.store.unreachable() else { return Err(failed) };
        let (missing, rest): (Vec<String>, Vec<String>) =
            self.scope(request)?.names.into_iter().partition(|name| away.contains(name));
        if missing.is_empty() || rest.is_empty() {
            return Err(failed);
        }
        let request = SearchRequest { namespace: None, namespaces: rest, ..request.clone() };
        let mut answer = self.search_all(&request, guarantee, freshness)?;
        answer.warnings.insert(0, format!("not searched, since their server is away: {}", missing.join(", ")));
        answer.partial = true;
        answer.missing_namespaces = missing;
        Ok(answer)
    }

    /// Answers a query from all its namespaces.
    fn search_all(
        &self,
        request: &SearchRequest,
        guarantee: Option<Guarantee>,
        freshness: &Freshness,
    ) -> Result<Answer, Error> {
        request.check()?;
        self.observer.stage(Stage::Search, STEPS);
        let step = || {
            self.observer.advance(1);
            self.observer.check_cancelled()
        };
        let mut clock = Stopwatch::start();
        let asked = request.tuned_rule(&self.index.config)?;
        self.check_rule(asked.rule(), request)?;
        let filter = self.filter(request);
        let retrieved = self.retrieve(request, &filter, self.depth(asked.rule()), &mut clock)?;
        step()?;
        let mut decided = self.decide(&retrieved, asked.rule(), &mut clock)?;
        step()?;
        let wanted = guarantee.is_some() || self.index.config.telemetry.record;
        let recorded = wanted.then(|| self.recorded(&retrieved.question.text, &retrieved, &decided));
        if let Some((guarantee, recorded)) = guarantee.zip(recorded.as_ref()) {
            decided.cut = self.guaranteed(guarantee, recorded, &decided.cut)?;
            clock.lap("guarantee");
        }
        self.explain(request, &asked, &retrieved, &mut decided);
        let mut answer = self.present(request, &retrieved, &decided, &mut clock)?;
        step()?;

        let returned = self.limit(request).min(decided.cut.keep);
        let served = Served {
            entry_point: request.entry_point.as_deref(),
            collections: &filter.collections,
            // Without a cut, nobody says that what lies beyond the limit is relevant.
            kept: if request.is_uncut(&self.index.config) { returned } else { decided.cut.keep },
            returned,
            top_k: self.limit(request),
            fallback_reason: answer.fallback_reason.clone(),
        };
        answer.query_id = recorded.and_then(|search| {
            let search = self.shown_to(request.caller, &answer.results, search);
            self.record(search, &retrieved, &decided, served, &clock)
        });
        clock.lap("record");
        // The timings and the number of stale files would reveal something of what the caller may not read.
        if request.allowed_namespaces.is_none() {
            answer.timings_ms = clock.finish();
            answer.index.stale = freshness.stale;
        }
        Ok(answer)
    }

    /// Adds to a cut what else decided, and the probabilities of the candidates.
    fn explain(&self, request: &SearchRequest, asked: &TunedRule, retrieved: &Retrieved, decided: &mut Decided) {
        let Decided { ranking, cut, .. } = decided;
        if request.is_uncut(&self.index.config) {
            cut.method = OFF.to_owned();
            cut.reason = "there is no cut".to_owned();
        }
        // Other rules have reasons of their own.
        if !cut.probabilities.is_empty() || cut.keep == 0 {
            cut.probabilities = ranking.probabilities();
        }
        if !request.explain {
            cut.diagnostics.remove(ANSWER_EVIDENCE);
        }
        asked.explain(cut);
        self.explain_learning(asked.rule(), cut);
        if let Some(adjustments) = &ranking.adjustments {
            adjustments.explain(cut, &ranking.candidates());
        }
        cut.explain_words(&retrieved.question.words);
    }

    /// Returns the answer: the kept entries in their order, shortened to the limit, each with the lines that answer best.
    fn present(
        &self,
        request: &SearchRequest,
        retrieved: &Retrieved,
        decided: &Decided,
        clock: &mut Stopwatch,
    ) -> Result<Answer, Error> {
        let Retrieved { question, plan, statistics, .. } = retrieved;
        let Decided { ranking, cut, .. } = decided;
        let decay = self.decay(question);
        let order = DisplayOrder {
            decay,
            lambda: request.diversity.or(self.index.config.memory.diversity().filter(|_| request.memory)),
            limit: self.limit(request).min(cut.keep),
            model: plan.model.as_ref().map(|model| model.id.as_str()),
        };
        let kept: Vec<Placed> = decided.kept().into_iter().map(Placed::entry).collect();
        let placed = self.arranged(kept, &order)?;
        let shown = match request.passages {
            true => self.arranged(flattened(&placed), &DisplayOrder { limit: usize::MAX, ..order })?,
            false => placed.clone(),
        };
        clock.lap("arrange");
        let terms = statistics.lexical.as_ref();
        let highlighter = terms.map(|statistics| Highlighter::new(&statistics.terms, statistics.indexed));
        let lines = request.snippet_lines.unwrap_or(SNIPPET_LINES);
        let passages = || shown.iter().map(|placed| &*placed.candidate.passage);
        let documents: Vec<DocumentId> = passages().map(|passage| passage.document).collect();
        let known = self.index.store.attributes(&namespaces_of(passages()), &documents)?;
        let mut results = Shown { question, highlighter: highlighter.as_ref(), lines }.results(&shown, known);
        self.add_urls(&documents, &mut results)?;
        // Who wants fewer than are relevant does not want these.
        let is_whole = request.limit.is_none_or(|limit| cut.keep <= limit);
        let nearest = if request.strict || !is_whole { Vec::new() } else { nearest(decided) };
        let mut warnings = retrieved.warnings.clone();
        warnings.extend(ranking.warning.clone());
        warnings.extend(self.missing_paths(question)?);
        let namespaces = results.iter().map(|hit| &hit.namespace).chain(nearest.iter().map(|one| &one.namespace));
        warnings.extend(self.gone_sources(namespaces.map(String::as_str).collect()));
        let missing_words = terms.map_or_else(Vec::new, |words| missing_words(&question.text, &words.terms));
        let pool = request.explain.then(|| self.pool_entries(decided, &placed, &decay, question.now_ns)).transpose()?;
        clock.lap("present");
        Ok(Answer {
            query: question.text.clone(),
            query_id: None,
            language_hint: question.hint.map(str::to_owned),
            mode_used: decided.mode.to_string(),
            fallback_reason: joined(plan.fallback_reason.clone(), decided.replaced.clone()),
            pending_model: plan.pending_model.clone(),
            warnings,
            partial: false,
            missing_namespaces: Vec::new(),
            model: plan.model.as_ref().map(|model| model.id.clone()),
            results,
            cut: cut.clone(),
            summary: cut.sentence(placed.len(), &missing_words),
            nearest,
            missing_words,
            timings_ms: BTreeMap::new(),
            index: IndexReport {
                passages: plan.coverage.passages,
                embedded: plan.coverage.embedded,
                namespaces: question.scope.names.clone(),
                stale: None,
            },
            pool,
        })
    }

    /// Returns every candidate that the cut counted, with the attributes of its document.
    fn pool_entries(
        &self,
        decided: &Decided,
        placed: &[Placed<'_>],
        decay: &SearchDecay<'_>,
        now_ns: i64,
    ) -> Result<Vec<PoolEntry>, Error> {
        let passages = || decided.ranking.entries.iter().map(|entry| &*entry.best.passage);
        let documents: Vec<DocumentId> = passages().map(|passage| passage.document).collect();
        let known = self.index.store.attributes(&namespaces_of(passages()), &documents)?;
        Ok(pool_entries(decided, placed, known, decay, now_ns))
    }

    /// The most entries that an answer shows.
    fn limit(&self, request: &SearchRequest) -> usize {
        request.limit.unwrap_or(self.index.config.search.top_k)
    }

    /// Returns the effect of age for a question: the configured one for memories, or none.
    pub(super) fn decay(&self, question: &Question) -> SearchDecay<'a> {
        if question.memory {
            SearchDecay::new(&self.index.config.memory.decay, question.now_ns)
        } else {
            SearchDecay::NONE
        }
    }

    pub(crate) fn filter(&self, request: &SearchRequest) -> Filter {
        Parsed::new(&request.query).narrow(request.metadata.narrow(Filter {
            collections: match request.collections.is_empty() && request.memory {
                true => self.index.config.memory.collections.clone(),
                false => request.collections.clone(),
            },
            languages: request.languages.clone(),
            path_globs: request.paths.clone(),
            kinds: request.kinds.clone(),
            roles: request.roles.clone(),
            symbols: request.symbols.clone(),
            ..Filter::default()
        }))
    }
}

/// Returns all relevant passages of the entries that are shown, in ranking order.
fn flattened<'r>(placed: &[Placed<'r>]) -> Vec<Placed<'r>> {
    let entries = placed.iter().flat_map(|placed| placed.each_passage().take(1));
    let others = placed.iter().flat_map(|placed| placed.each_passage().skip(1));
    let mut passages: Vec<Placed> = entries.chain(others).collect();
    // Equal or missing values keep the given order.
    let finite = |value: f64| if value.is_finite() { value } else { f64::NEG_INFINITY };
    let key = |placed: &Placed| (finite(placed.candidate.score), finite(placed.candidate.value));
    passages.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    passages
}
