//! One search, from the request to the answer.

use super::answer::{Answer, IndexReport, OFF};
use super::arrange::{DisplayOrder, Placed};
use super::candidate::Ranked;
use super::decay::SearchDecay;
use super::missing_words::missing_words;
use super::present::{Shown, nearest, pool_entries};
use super::quality_row::Served;
use super::query::SearchRequest;
use super::question::Question;
use super::retrieve::{Decided, Retrieved, joined};
use super::searcher::Searcher;
use super::stopwatch::Stopwatch;
use super::syntax::Parsed;
use crate::Error;
use crate::handle::Index;
use crate::index::Freshness;
use crate::progress::{Observer, Stage};
use std::collections::BTreeMap;
use tamis_cut::Guarantee;
use tamis_store::{DocumentId, Filter, Highlighter};

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
    /// Answers a query with or without a guarantee.
    pub(crate) fn search_under(
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
        let asked = request.asked(&self.index.config)?;
        let rule = asked.rule();
        self.check_rule(rule, request)?;
        let filter = self.filter(request);
        let (retrieved, passages) = self.retrieve(request, &filter, self.depth(request, rule), &mut clock)?;
        step()?;
        let mut decided = self.decide(&retrieved, passages, rule, None, &mut clock)?;
        step()?;
        let query = retrieved.question.text.clone();
        let wanted = guarantee.is_some() || self.index.config.telemetry.record;
        let recorded = wanted.then(|| self.recorded(&query, &retrieved, &decided));
        if let Some((guarantee, recorded)) = guarantee.zip(recorded.as_ref()) {
            decided.cut = self.guaranteed(guarantee, recorded, &decided.cut)?;
            clock.lap("guarantee");
        }
        if request.is_uncut(&self.index.config) {
            decided.cut.method = OFF.to_owned();
            decided.cut.reason = "there is no cut".to_owned();
        }
        // Other rules have reasons of their own.
        if !decided.cut.probabilities.is_empty() || decided.cut.keep == 0 {
            decided.cut.probabilities = (0..decided.counted()).map_while(|place| decided.probability(place)).collect();
        }
        asked.explain(&mut decided.cut);
        self.explain_learning(rule, &mut decided.cut);
        decided.rerank.explain(&mut decided.cut, &decided.ranked);
        let decay = self.decay(&retrieved.question);
        decided.cut.explain_words(&retrieved.question.words);

        let limit = request.limit.unwrap_or(self.index.config.search.top_k).min(decided.cut.keep);
        let order = DisplayOrder {
            decay,
            lambda: request.diversity.or(self.index.config.memory.diversity().filter(|_| request.memory)),
            limit,
            model: retrieved.model.as_deref().map(|model| model.model().id.as_str()),
        };
        let kept = 0..decided.cut.keep.min(decided.ranked.len());
        let placed = self.arranged(&decided.ranked, kept.collect(), &order)?;
        let further = decided.further();
        let flat = request.passages.then(|| {
            let passages = flattened(&decided.ranked, &placed, &further);
            self.arranged(&decided.ranked, passages, &DisplayOrder { limit: usize::MAX, ..order })
        });
        let flat = flat.transpose()?;
        clock.lap("arrange");
        let Retrieved { model, coverage, fallback_reason, pending_model, gathered, question, mut warnings, .. } =
            retrieved;
        warnings.extend(decided.warning.take());
        warnings.extend(self.missing_paths(&question)?);
        let highlighter =
            gathered.lexical.as_ref().map(|statistics| Highlighter::new(&statistics.terms, statistics.indexed));
        let lines = request.snippet_lines.unwrap_or(SNIPPET_LINES);
        let shown = Shown { question: &question, highlighter: highlighter.as_ref(), lines };
        let Decided { ranked, cut, .. } = &decided;
        let listed = flat.as_ref().unwrap_or(&placed);
        let documents: Vec<DocumentId> = listed.iter().map(|placed| ranked[placed.position].passage.document).collect();
        let known = self.index.store.attributes(&documents)?;
        let further = if flat.is_some() { &[] } else { further.as_slice() };
        let mut results = shown.results(&decided, listed, further, known);
        self.add_urls(&documents, &mut results)?;
        let pool = request.explain.then(|| pool_entries(&decided, &placed, &decay, question.now_ns));
        let nearest = if request.strict { Vec::new() } else { nearest(&decided) };
        let shown = results.iter().map(|hit| &hit.namespace).chain(nearest.iter().map(|one| &one.namespace));
        warnings.extend(self.gone_sources(shown.map(String::as_str).collect()));
        let statistics = gathered.lexical.as_ref();
        let missing_words = statistics.map_or_else(Vec::new, |words| missing_words(&question.text, &words.terms));
        let summary = cut.sentence(placed.len(), &missing_words);
        clock.lap("present");
        step()?;

        let fallback_reason = joined(fallback_reason, decided.replaced.clone());
        let recorded = recorded.filter(|_| self.index.config.telemetry.record);
        let served = |clock: &Stopwatch| Served {
            cut,
            collections: &filter.collections,
            lexical_found: gathered.found.lexical,
            semantic_found: gathered.found.semantic,
            hint: question.hint,
            kept_languages: ranked.iter().take(cut.keep).map(|hit| hit.passage.language.as_deref()).collect(),
            returned: limit,
            top_k: request.limit.unwrap_or(self.index.config.search.top_k),
            milliseconds: clock.laps.clone(),
            total_ms: clock.elapsed_ms(),
            fallback_reason: fallback_reason.clone(),
        };
        let query_id = recorded.and_then(|search| {
            let search = self.shown_to(request.caller, &results, search);
            self.record(search, served(&clock), request.entry_point.as_deref())
        });
        clock.lap("record");

        // The timings and the number of stale files would reveal something of what the caller may not read.
        let limited = request.allowed_namespaces.is_some();
        Ok(Answer {
            query,
            query_id,
            language_hint: question.hint.map(str::to_owned),
            mode_used: decided.mode.to_string(),
            fallback_reason,
            pending_model,
            warnings,
            model: model.as_ref().map(|model| model.model().id.clone()),
            results,
            cut: decided.cut,
            summary,
            nearest,
            missing_words,
            timings_ms: if limited { BTreeMap::new() } else { clock.finish() },
            index: IndexReport {
                passages: coverage.passages,
                embedded: coverage.embedded,
                namespaces: question.scope.names,
                stale: freshness.stale.filter(|_| !limited),
            },
            pool,
        })
    }

    /// Returns the decay for a question: the configured one for memories, or none.
    pub(super) fn decay(&self, question: &Question) -> SearchDecay<'a> {
        if question.memory {
            SearchDecay::new(&self.index.config.memory.decay, question.now_ns)
        } else {
            SearchDecay::NONE
        }
    }

    pub(crate) fn filter(&self, request: &SearchRequest) -> Filter {
        Parsed::of(&request.query).narrow(request.metadata.narrow(Filter {
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

/// Returns the positions of all relevant passages of the entries that are shown, in ranking order.
fn flattened(ranked: &[Ranked], placed: &[Placed], further: &[Vec<usize>]) -> Vec<usize> {
    let mut passages: Vec<usize> = placed.iter().map(|placed| placed.position).collect();
    passages.extend(placed.iter().filter_map(|placed| further.get(placed.position)).flatten());
    // Equal or missing values keep the given order.
    let key = |at: usize| {
        let value = |value: f64| if value.is_finite() { value } else { f64::NEG_INFINITY };
        (value(ranked[at].score), value(ranked[at].value))
    };
    passages.sort_by(|&a, &b| {
        let (a, b) = (key(a), key(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    passages
}
