//! A query's way: query → gather → complete → fuse → rerank → cut → arrange → limit → present → record.

mod aim;
mod answer;
mod arrange;
mod beliefs;
mod candidate;
mod decide;
mod evidence;
mod fading;
mod gather;
mod hint;
mod issues;
mod metadata;
mod pages;
mod priors;
mod query;
mod question;
mod record;
mod repeated;
mod replayed;
mod rerank;
mod retrieve;
mod scope;
mod shared;
mod similar;
mod snippet;
mod variants;

pub use aim::{Aim, AimError, Asked};
pub use answer::{Answer, CutReport, Hit, IndexReport, Nearest, PoolEntry};
pub(crate) use beliefs::Beliefs;
pub(crate) use evidence::{End, EvidenceQuery, FoundRecord};
pub(crate) use issues::{FoundIssue, FoundIssues, IssuePassages, IssueQuery, IssuesServed};
pub use metadata::MetadataFilter;
pub(crate) use pages::{FoundPage, FoundPages};
pub use priors::Priors;
pub use query::{MAX_VARIANTS, Mode, SearchRequest};
pub(crate) use repeated::{Candidates, Ordered, OrderedPassage};
pub(crate) use replayed::{Configured, ReplayGrounds, replayed, scale_under};
pub(crate) use scope::Scope;
pub(crate) use similar::SimilarPassages;
pub use variants::{Variant, VariantKind};

use crate::Error;
use crate::index::{Freshness, Index};
use crate::telemetry::Served;
use arrange::{Arrangement, Placed};
use candidate::Ranked;
use fading::Fading;
use question::Question;
use rerank::Rerank;
use retrieve::{Decided, Retrieved};
use std::collections::BTreeMap;
use std::time::Instant;
use tamis_cut::Guarantee;
use tamis_store::{Attribute, DocumentId, Filter, Highlighter, Store, StoredPassage};

impl Index {
    /// Answers a query with what is relevant, which can be nothing. The index is searched as it is; see
    /// [`Index::refresh_for_search`] and pass what it found as `freshness`.
    ///
    /// # Errors
    /// An argument out of range, an aim that the cut has not, a damaged index, a model that fails, or a guarantee that
    /// cannot be given. Nothing found is an answer, not an error.
    pub fn search(&self, request: &SearchRequest, freshness: &Freshness) -> Result<Answer, Error> {
        // A promise on what is searched says nothing of memories, whose scores are others.
        let configured = self.config.search.guarantee.filter(|_| !request.memory);
        self.search_under(request, request.guarantee.or(configured), freshness)
    }

    /// [`Index::search`] with this guarantee, or none.
    pub(crate) fn search_under(
        &self,
        request: &SearchRequest,
        guarantee: Option<Guarantee>,
        freshness: &Freshness,
    ) -> Result<Answer, Error> {
        request.check()?;
        let mut clock = Clock::start();
        let asked = request.asked(&self.config)?;
        let rule = asked.rule();
        self.check_rule(rule, request)?;
        let filter = self.filter(request);
        let (retrieved, passages) = self.retrieve(request, &filter, self.config.search.pool, &mut clock)?;
        let mut decided = self.decide(&retrieved, passages, rule, None, &mut clock)?;
        let query = retrieved.question.text.clone();
        let wanted = guarantee.is_some() || self.config.telemetry.record;
        let recorded = wanted.then(|| self.recorded(&query, &retrieved, &decided));
        if let Some((guarantee, recorded)) = guarantee.zip(recorded.as_ref()) {
            decided.cut = self.guaranteed(guarantee, recorded, &decided.cut)?;
            clock.lap("guarantee");
        }
        asked.explain(&mut decided.cut);
        decided.rerank.explain(&mut decided.cut, &decided.ranked);
        let fading = self.fading(&retrieved.question);
        fading.explain(&mut decided.cut, &decided.ranked);

        let Decided { ranked, cut, mode, rerank, replaced, warning, .. } = decided;
        let limit = request.limit.unwrap_or(self.config.search.top_k).min(cut.keep);
        let placed = self.arranged(
            &ranked[..cut.keep.min(ranked.len())],
            &Arrangement {
                fading,
                lambda: request.diversity.or(self.config.memory.diversity.filter(|_| request.memory)),
                limit,
                model: retrieved.model.as_deref().map(|model| model.model().id.as_str()),
            },
        )?;
        clock.lap("arrange");
        let Retrieved { model, coverage, fallback_reason, gathered, question, mut warnings, .. } = retrieved;
        warnings.extend(warning);
        let highlighter =
            gathered.lexical.as_ref().map(|statistics| Highlighter::new(&statistics.terms, statistics.indexed));
        let lines = request.snippet_lines.unwrap_or(self.config.search.snippet_lines);
        let documents: Vec<DocumentId> = placed.iter().map(|placed| ranked[placed.position].passage.document).collect();
        let known = self.store.attributes(&documents)?;
        let present = |((&Placed { position, score }, known), rank)| {
            present(rank, &ranked[position], score, known, &question, highlighter.as_ref(), lines)
        };
        let results = placed.iter().zip(known).zip(1..).map(present).collect();
        let pool = request.explain.then(|| entries(&ranked, cut.keep, &placed, &rerank, &fading, question.now_ns));
        let nearest = ranked.first().filter(|_| cut.keep == 0).map(nearest);
        clock.lap("present");

        let fallback_reason = retrieve::joined(fallback_reason, replaced);
        let recorded = recorded.filter(|_| self.config.telemetry.record);
        let served = |clock: &Clock| Served {
            cut: &cut,
            collections: &filter.collections,
            lexical_found: gathered.found.lexical,
            semantic_found: gathered.found.semantic,
            hint: question.hint,
            kept_languages: ranked.iter().take(cut.keep).map(|hit| hit.passage.language.as_deref()).collect(),
            returned: limit,
            top_k: request.limit.unwrap_or(self.config.search.top_k),
            milliseconds: clock.laps.clone(),
            total_ms: clock.elapsed_ms(),
            fallback_reason: fallback_reason.clone(),
        };
        let query_id = recorded.and_then(|search| self.record(search, served(&clock), request.entry_point.as_deref()));
        clock.lap("record");

        // How long it took, and how many files changed, tell of what lies beside what the caller may read.
        let limited = request.allowed_namespaces.is_some();
        Ok(Answer {
            query,
            query_id,
            language_hint: question.hint.map(str::to_owned),
            mode_used: mode.to_string(),
            fallback_reason,
            warnings,
            model: model.as_ref().map(|model| model.model().id.clone()),
            results,
            cut,
            nearest,
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

    /// How many passages the filters of a request leave.
    ///
    /// # Errors
    /// A namespace that there is not, or a damaged index.
    pub fn passing(&self, request: &SearchRequest) -> Result<u64, Error> {
        let filter = self.scope(request)?.of_all(&self.filter(request));
        Ok(self.store.coverage("", &filter)?.passages)
    }

    /// How what is asked of memories fades.
    fn fading(&self, question: &Question) -> Fading<'_> {
        if question.memory { Fading::new(&self.config.memory.decay, question.now_ns) } else { Fading::NONE }
    }

    pub(crate) fn filter(&self, request: &SearchRequest) -> Filter {
        request.metadata.narrow(Filter {
            collections: match request.collections.is_empty() && request.memory {
                true => self.config.memory.collections.clone(),
                false => request.collections.clone(),
            },
            languages: request.languages.clone(),
            path_globs: request.paths.clone(),
            kinds: request.kinds.clone(),
            roles: request.roles.clone(),
            symbols: request.symbols.clone(),
            ..Filter::default()
        })
    }
}

fn nearest(hit: &Ranked) -> Nearest {
    let passage = &hit.passage;
    Nearest {
        id: passage.id.clone(),
        namespace: passage.namespace.clone(),
        path: passage.path.clone(),
        start_line: passage.start_line,
        title: passage.heading.clone().or_else(|| passage.title.clone()),
        symbol: passage.symbol.clone(),
    }
}

fn present(
    rank: usize,
    hit: &Ranked,
    score: f64,
    known: Vec<Attribute>,
    question: &Question,
    highlighter: Option<&Highlighter>,
    lines: usize,
) -> Hit {
    let passage = &hit.passage;
    let snippet = snippet::best(&passage.text, passage.start_line, passage.form, highlighter, lines);
    Hit {
        rank,
        id: passage.id.clone(),
        collection: passage.collection.clone(),
        namespace: passage.namespace.clone(),
        shared: question.scope.shared.contains(&passage.namespace),
        path: passage.path.clone(),
        start_line: passage.start_line,
        end_line: passage.end_line,
        title: passage.heading.clone().or_else(|| passage.title.clone()),
        symbol: passage.symbol.clone(),
        kind: passage.kind.clone(),
        language: passage.language.clone(),
        author: passage.author.clone(),
        dated_at: passage.dated_ns.map(|ns| metadata::moment(ns).to_string()),
        attributes: metadata::by_name(known),
        bm25: hit.candidate.bm25,
        similarity: hit.candidate.similarity,
        score,
        snippet: snippet.text,
        snippet_line: snippet.start_line,
        highlights: snippet.highlights,
    }
}

fn entries(
    ranked: &[Ranked],
    keep: usize,
    placed: &[Placed],
    rerank: &Rerank,
    fading: &Fading<'_>,
    now_ns: i64,
) -> Vec<PoolEntry> {
    let days = |date: i64| ((now_ns as f64 - date as f64) / 86_400e9).max(0.0);
    let date = |passage: &StoredPassage| match rerank.by_age() {
        true => Rerank::date(passage),
        false => fading.date(passage),
    };
    let entry = |(at, hit): (usize, &Ranked)| PoolEntry {
        kept: at < keep,
        rank: None,
        namespace: hit.passage.namespace.clone(),
        distance_factor: hit.adjustment.factor,
        age_days: date(&hit.passage).map(days),
        decay: hit.left,
        path: hit.passage.path.clone(),
        start_line: hit.passage.start_line,
        symbol: hit.passage.symbol.clone(),
        role: hit.passage.role.clone(),
        bm25: hit.candidate.bm25,
        similarity: hit.candidate.similarity,
        coverage: hit.candidate.coverage,
        score: hit.score,
    };
    let mut entries: Vec<PoolEntry> = ranked.iter().enumerate().map(entry).collect();
    for (placed, rank) in placed.iter().zip(1..) {
        entries[placed.position].rank = Some(rank);
    }
    entries
}

/// Milliseconds by stage.
pub(crate) struct Clock {
    started: Instant,
    lap: Instant,
    laps: BTreeMap<String, f64>,
}

impl Clock {
    pub fn start() -> Self {
        let now = Instant::now();
        Clock { started: now, lap: now, laps: BTreeMap::new() }
    }

    pub fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        self.laps.insert(stage.to_owned(), (now - self.lap).as_secs_f64() * 1000.0);
        self.lap = now;
    }

    pub fn elapsed_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1000.0
    }

    pub fn finish(mut self) -> BTreeMap<String, f64> {
        self.laps.insert("total".to_owned(), self.elapsed_ms());
        self.laps
    }
}
