//! A search, step by step. Each step is a function of the context and the data before it, and knows no other step.

use std::collections::HashMap;

use tamis_cut::{Gate, Guarantee, Rule, Scale};
use tamis_store::{Filter, PassageId, StoreError};

use super::adjustments::Adjustments;
use super::answer::{ANSWER_EVIDENCE, Answer, CutReport, OFF, joined};
use super::candidate::{Phrased, Retrieved, is_program};
use super::context::{Context, Stopwatch, scope_of};
use super::decide::{check_rule, cut, explain_counted, explain_labels, gate_evidence, rejected, replacement};
use super::exact::{
    Finds, MessageSource, exact_finds, keep_history, keep_line, keep_words, look_for, note_finds, note_headings,
};
use super::gather::{Depth, depth_under, fetch, gather_query, gather_variants};
use super::group::group;
use super::learning::{fitted_shift, guaranteed, shift_all};
use super::named_files::{gone_sources, missing_paths, named_files};
use super::plan::plan;
use super::present::present;
use super::query::{filter_of, prepare};
use super::rank::{rank, scoring};
use super::ranking::{Decided, Ranking};
use super::recording::{Served, recorded, shown_to, write_record};
use super::relevance::{label, put_in_order, weigh};
use super::request::{SearchRequest, VariantKind};
use super::rerank::{Reranker, rerank};
use super::rule::{TunedRule, thresholds};
use super::unmatched::unmatched_filters;
use crate::Error;
use crate::config::Mode;
use crate::index::Freshness;
use crate::progress::Stage;
use crate::words::without_paths;

/// Candidates of each retriever where words of the query leave some out.
const FILTERED_DEPTH: usize = 400;

/// The steps of a search that an observer counts: gather, decide, present. It can stop the search after each.
const STEPS: u64 = 3;

/// Answers a query with or without a guarantee. Namespaces that cannot be read now are left out, and named in the answer.
pub(crate) fn search_under(
    context: &Context<'_>,
    request: &SearchRequest,
    guarantee: Option<Guarantee>,
    freshness: &Freshness,
) -> Result<Answer, Error> {
    let failed = match search_all(context, request, guarantee, freshness) {
        Err(error @ Error::Store(StoreError::Unavailable { .. })) => error,
        answered => return answered,
    };
    // Where the whole store is away, the first error says more.
    let Ok(away) = context.index.store.unreachable() else { return Err(failed) };
    let (missing, rest): (Vec<String>, Vec<String>) =
        scope_of(context, request)?.names.into_iter().partition(|name| away.contains(name));
    if missing.is_empty() || rest.is_empty() {
        return Err(failed);
    }
    let request = request.clone().namespace(None).namespaces(rest);
    let mut answer = search_all(context, &request, guarantee, freshness)?;
    answer.warnings.insert(0, format!("not searched, since their server is away: {}", missing.join(", ")));
    answer.partial = true;
    answer.missing_namespaces = missing;
    Ok(answer)
}

/// Answers a query from all its namespaces.
fn search_all(
    context: &Context<'_>,
    request: &SearchRequest,
    guarantee: Option<Guarantee>,
    freshness: &Freshness,
) -> Result<Answer, Error> {
    request.check()?;
    context.observer.stage(Stage::Search, STEPS);
    let step = || {
        context.observer.advance(1);
        context.observer.check_cancelled()
    };
    let mut clock = Stopwatch::start();
    let asked = request.tuned_rule(&context.index.config)?;
    check_rule(context, asked.rule(), request)?;
    let filter = filter_of(context, request)?;
    let retrieved = retrieve(context, request, &filter, depth_under(context, asked.rule()), &mut clock)?;
    step()?;
    let mut decided = decide(context, &retrieved, asked.rule(), &mut clock)?;
    step()?;
    // A search among nothing says nothing of the searches that come.
    let is_logged = context.index.config.telemetry.record && !request.no_record && retrieved.plan.coverage.passages > 0;
    let recorded = (guarantee.is_some() || is_logged).then(|| recorded(context, &retrieved, &decided));
    if let Some((guarantee, recorded)) = guarantee.zip(recorded.as_ref()) {
        decided.cut = guaranteed(context, guarantee, recorded, &decided.cut)?;
        clock.lap("guarantee");
    }
    explain(context, request, &asked, &retrieved, &mut decided);
    let mut answer = present(context, request, &retrieved, &decided, &mut clock)?;
    if retrieved.plan.coverage.passages == 0
        && let Some(why) = unmatched_filters(context, request)?
    {
        answer.summary = format!("Nothing to search: {why}.");
    }
    answer.warnings.extend(missing_paths(context, &retrieved.query)?);
    let shown = answer.results.iter().map(|hit| &hit.namespace).chain(answer.nearest.iter().map(|one| &one.namespace));
    let gone = gone_sources(context, shown.map(String::as_str).collect());
    answer.warnings.extend(gone);
    step()?;

    let returned = request.limit_under(&context.index.config).min(decided.cut.keep);
    let served = Served {
        entry_point: request.asker.entry_point.as_deref(),
        collections: &filter.collections,
        // Without a cut, nobody says that what lies beyond the limit is relevant.
        kept: if request.is_uncut(&context.index.config) { returned } else { decided.cut.keep },
        returned,
        top_k: request.limit_under(&context.index.config),
        fallback_reason: answer.fallback_reason.clone(),
    };
    answer.query_id = recorded.filter(|_| is_logged).and_then(|search| {
        let search = shown_to(context, request.asker.caller, &answer.results, search);
        write_record(context, search, &retrieved, &decided, served, &clock)
    });
    clock.lap("record");
    // The timings and the number of stale files would reveal something of what the caller may not read.
    if request.asker.allowed_namespaces.is_none() {
        answer.timings_ms = clock.finish();
        answer.index.stale = freshness.stale;
    }
    Ok(answer)
}

/// Adds to a cut what else decided, and the probabilities of the candidates.
fn explain(
    context: &Context<'_>,
    request: &SearchRequest,
    asked: &TunedRule,
    retrieved: &Retrieved,
    decided: &mut Decided,
) {
    let Decided { ranking, cut, .. } = decided;
    if request.is_uncut(&context.index.config) {
        cut.method = OFF.to_owned();
        cut.reason = "there is no cut".to_owned();
    }
    // Other rules have reasons of their own.
    if !cut.probabilities.is_empty() || cut.keep == 0 {
        cut.probabilities = ranking.probabilities();
    }
    if !request.output.explain {
        cut.diagnostics.remove(ANSWER_EVIDENCE);
    }
    asked.explain(cut);
    explain_learning(context, asked.rule(), cut);
    explain_age(cut, ranking);
    cut.explain_words(&retrieved.query.words);
}

/// Adds a note to the reason of an empty cut if age alone put the nearest candidate beyond it.
fn explain_age(cut: &mut CutReport, ranking: &Ranking) {
    if !ranking.adjustments.as_ref().is_some_and(Adjustments::by_age) {
        return;
    }
    let candidates = ranking.candidates().into_iter();
    let distances = candidates.filter_map(|candidate| {
        let similarity = candidate.scores.similarity?;
        Some((1.0 - similarity, 1.0 - candidate.adjusted.adjustment.similarity(similarity)))
    });
    let nearest = distances.min_by(|a, b| a.1.total_cmp(&b.1));
    let on_distance = cut.diagnostics.get("threshold_on").is_some_and(|scale| scale == "distance");
    if let (0, true, Some((raw, moved)), Some(threshold)) = (cut.keep, on_distance, nearest, cut.threshold)
        && raw <= threshold
    {
        let reason = cut.reason.trim_end_matches('.');
        cut.reason = format!("{reason}; the nearest match is too old (rank.recency)");
        cut.diagnostics.insert("nearest_before_age".into(), raw.into());
        cut.diagnostics.insert("nearest_after_age".into(), moved.into());
    }
}

/// Says so where a rule that learns decided without.
pub(crate) fn explain_learning(context: &Context<'_>, rule: &dyn Rule, cut: &mut CutReport) {
    let config = &context.index.config;
    let off = match (config.search.learn, config.telemetry.record) {
        (true, true) => return,
        (false, _) => "off (search.learn)",
        (true, false) => "off, since searches are not recorded (telemetry.record)",
    };
    if rule.reads_relevance() {
        cut.diagnostics.insert("learning".into(), off.into());
    }
}

/// Gathers the candidates of both retrievers within a depth.
pub(crate) fn retrieve(
    context: &Context<'_>,
    request: &SearchRequest,
    filter: &Filter,
    depth: Depth,
    clock: &mut Stopwatch,
) -> Result<Retrieved, Error> {
    match retrieve_once(context, request, filter, depth, clock)? {
        (retrieved, false) => Ok(retrieved),
        // Another process published in between, so its index has the replacements.
        _ => Ok(retrieve_once(context, request, filter, depth, clock)?.0),
    }
}

/// Retrieves, and returns `true` if candidates were deleted meanwhile.
fn retrieve_once(
    context: &Context<'_>,
    request: &SearchRequest,
    filter: &Filter,
    depth: Depth,
    clock: &mut Stopwatch,
) -> Result<(Retrieved, bool), Error> {
    let store = &*context.index.store;
    let mut query = prepare(context, request, filter)?;
    let depth = if query.words.is_empty() { depth } else { depth.at_least(FILTERED_DEPTH) };
    let all = query.scope.of_all(filter);
    let mut plan = plan(context, request, &query, &all)?;
    clock.lap("embed");
    context.observer.check_cancelled()?;

    let mut warnings = Vec::new();
    let own = gather_query(context, &mut plan, &query, filter, depth, &mut warnings)?;
    let (mut gathered, mut phrased) = (own, Vec::new());
    let queries = plan.queries(&query.text, plan.vector.as_deref());
    if !query.variants.is_empty() {
        phrased = gather_variants(context, &plan, &query, filter, depth, &mut warnings);
        phrased.insert(0, Phrased::new(VariantKind::Intent.weight(), &gathered));
        gathered.add(store, &queries, &all, phrased.iter().flat_map(|one| &one.found).map(|(passage, _)| *passage))?;
    }
    let words = gathered.statistics.lexical.as_ref().filter(|_| depth.finds);
    let Finds { by_passage: mut finds, message } = exact_finds(context, &query, &all, &queries, words)?;
    if depth.finds {
        for (passage, find) in named_files(context, &query, &all, &queries)? {
            finds.entry(passage).or_insert(find);
        }
    }
    gathered.add(store, &queries, &all, finds.keys().copied())?;
    let (mut candidates, gone) = fetch(store, &gathered.scores, &all.namespaces, &query.scope.own)?;
    let places: HashMap<PassageId, usize> =
        candidates.iter().enumerate().map(|(at, candidate)| (candidate.id(), at)).collect();
    phrased.iter_mut().for_each(|phrased| phrased.found.sort_by_key(|(passage, _)| places.get(passage)));
    note_finds(&finds, &mut candidates);
    // Documentation explains a message in other words than the program's.
    let has_code = candidates.iter().any(|candidate| is_program(&candidate.passage));
    query.message = message.filter(|source| *source == MessageSource::Here || has_code);
    if depth.finds {
        note_headings(&query.text, &mut candidates);
    }
    keep_words(&mut query.words, &mut candidates);
    keep_history(&query, &mut candidates);
    keep_line(&query, &mut candidates);
    look_for(&query.required, &mut candidates);
    clock.lap("gather");

    if request.asker.allowed_namespaces.is_some() {
        let reasons = plan.fallback_reason.iter_mut().chain(&mut warnings);
        reasons.for_each(|reason| *reason = without_paths(reason));
    }
    let statistics = gathered.statistics;
    Ok((Retrieved { query, plan, candidates, statistics, phrased, warnings }, gone))
}

/// Orders the retrieved candidates as a rule requires, and decides where they end.
pub(crate) fn decide(
    context: &Context<'_>,
    retrieved: &Retrieved,
    rule: &dyn Rule,
    clock: &mut Stopwatch,
) -> Result<Decided, Error> {
    let Retrieved { query, plan, .. } = retrieved;
    let replacement = replacement(context, rule, plan.mode)?;
    let replaced = replacement
        .as_ref()
        .map(|other| format!("cut {} in place of {}, which reads similarities", other.name(), rule.name()));
    let rule = replacement.as_deref().unwrap_or(rule);

    let reads_thresholds = rule.reads_thresholds() || rule.heeds_measured_thresholds();
    let thresholds = reads_thresholds.then(|| thresholds(context, plan.model.as_ref())).transpose()?;
    let thresholds = thresholds.map(|thresholds| thresholds.with_default_of(rule));
    let mut ranking = rank(context, retrieved, rule, thresholds.as_ref())?;
    clock.lap("rank");
    // Similarities are on a scale of their own.
    let is_plain = rule.scale() == Scale::Score;
    if !rule.counts_passages() {
        group(&mut ranking, is_plain, query)?;
    }
    clock.lap("entries");
    // The model of relevance weighs entries. A rule on a scale of its own orders by that.
    let weighs = is_plain && !rule.counts_passages();
    let reranker = context.index.reranker.as_deref().filter(|_| weighs && !query.fast);
    let scoring = scoring(context, retrieved, rule, &ranking, reranker.map(Reranker::name))?;
    if weighs {
        let (answer_weight, unread) = weigh(context, retrieved, &mut ranking)?;
        let reranked = reranker.map(|reranker| rerank(reranker, &query.text, &mut ranking));
        let shift = fitted_shift(context, retrieved);
        shift_all(&mut ranking, &shift, answer_weight, Gate::default().level);
        label(&query.judged, &mut ranking.entries);
        put_in_order(&mut ranking.entries, query.is_name());
        ranking.warning = joined(unread, reranked.and_then(Result::err));
    }
    clock.lap("weigh");
    let mut cut = cut(rule, query.gate.as_ref(), retrieved, &mut ranking);
    clock.lap("cut");
    if let Some(gate) = &query.waived_gate {
        cut.explain_waived(&gate.verdict(&gate_evidence(retrieved, &ranking.short()), &ranking.pool));
    }
    if let Some(lean) = query.lean {
        cut.diagnostics.insert("lean".into(), lean.name().into());
    }
    explain_labels(&mut cut, &ranking);
    explain_counted(&mut cut, &ranking);
    let warning = thresholds.as_ref().and_then(|thresholds| thresholds.warning.clone());
    ranking.warning = joined(warning, ranking.warning);
    let thresholds = thresholds.filter(|_| rule.reads_thresholds());
    let replaced = joined(replaced, rejected(&ranking, retrieved, thresholds.as_ref()));
    let admitted_by_words = ranking.pool.admitted().is_some_and(|admitted| admitted.by_similarity == 0);
    let mode = if admitted_by_words && thresholds.is_some() { Mode::Lexical } else { plan.mode };
    Ok(Decided { ranking, cut, token_budget: rule.token_budget(), mode, scoring, replaced })
}
