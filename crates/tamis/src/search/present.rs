//! Makes the answer of what was decided.
//!
//! Of memories that say the same, the newest comes first, and those that repeat another in nearly the same words come last. A search can
//! ask for decay by age, and for maximal marginal relevance, which puts new content before repetition. The order never changes which
//! passages are kept. The similarity of two passages is that of their vectors, or of their words if one has no vector. Passages of one
//! document that share lines, such as neighbours in a text split with an overlap, count as equal. Both are kept, since the answer may be
//! in the lines that only one has, and the second comes further down.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use tamis_embed::dot;
use tamis_rank::{Decay, ExactFind, LiteralText, Shingles, WeighedEvidence, diversified, jaccard, near_copies, order};
use tamis_store::{
    Attribute, DocumentId, Filter, Highlighter, Mark, PassageId, StoredPassage, TermStatistics, TextForm,
};
use tamis_text::Kind;

use super::adjustments::{SearchDecay, search_decay};
use super::answer::{
    Answer, Copy, CutReport, EvidencePart, FurtherPassage, Hit, IndexReport, Nearest, PoolEntry, Reading, joined,
};
use super::candidate::{Candidate, Retrieved, namespaces_of};
use super::context::{Context, Stopwatch};
use super::filter::{by_name, moment};
use super::query::Query;
use super::ranking::{Decided, Entry, Kept, entry_key, identity};
use super::request::SearchRequest;
use crate::Error;
use crate::collections::{ISSUES, SESSIONS};
use crate::words::words_of;

/// Lines of text shown for a result, unless the request says how many.
const SNIPPET_LINES: usize = 6;

/// Makes results of passages.
pub(crate) struct Shown<'a> {
    pub query: &'a Query,
    pub highlighter: Option<&'a Highlighter>,
    /// Lines of a snippet.
    pub lines: usize,
}

impl Shown<'_> {
    /// Returns the results at these places. `known` has the attributes of each one's document.
    pub fn results(&self, placed: &[Placed<'_>], known: Vec<Vec<Attribute>>) -> Vec<Hit> {
        placed.iter().zip(known).zip(1..).map(|((placed, known), rank)| self.hit(rank, placed, known)).collect()
    }

    /// Creates one result.
    fn hit(&self, rank: usize, placed: &Placed<'_>, known: Vec<Attribute>) -> Hit {
        let Placed { candidate, further, score, .. } = placed;
        let (passage, entry) = (&candidate.passage, placed.stands_for());
        let snippet = self.snippet(candidate, self.lines);
        Hit {
            rank,
            id: passage.id.clone(),
            collection: passage.collection.clone(),
            namespace: passage.namespace.clone(),
            shared: self.query.scope.shared.contains(&passage.namespace),
            path: passage.path.clone(),
            start_line: passage.start_line,
            end_line: passage.end_line,
            title: title(passage),
            symbol: passage.symbol.clone(),
            kind: passage.kind.clone(),
            url: None,
            language: passage.language.clone(),
            author: passage.author.clone(),
            dated_at: dated_at(passage),
            attributes: by_name(known),
            bm25: candidate.scores.bm25,
            similarity: candidate.scores.similarity,
            score: *score,
            judged: entry.and_then(|entry| entry.judged),
            judged_relevant: entry.map_or(candidate.shown.label, |entry| entry.label),
            probability: entry.and_then(|entry| entry.probability),
            snippet: snippet.text,
            snippet_line: snippet.start_line,
            highlights: snippet.highlights,
            entry: identity(passage),
            passages: further.iter().map(|candidate| self.further(candidate)).collect(),
            copies: copies(placed),
        }
    }

    /// Creates another passage of a result.
    fn further(&self, candidate: &Candidate) -> FurtherPassage {
        let passage = &candidate.passage;
        let snippet = self.snippet(candidate, 1);
        FurtherPassage {
            id: passage.id.clone(),
            start_line: passage.start_line,
            end_line: passage.end_line,
            title: title(passage),
            symbol: passage.symbol.clone(),
            kind: passage.kind.clone(),
            author: passage.author.clone(),
            dated_at: dated_at(passage),
            score: candidate.aged(),
            snippet: snippet.text,
            highlights: snippet.highlights,
        }
    }

    fn snippet(&self, candidate: &Candidate, lines: usize) -> Snippet {
        let passage = &candidate.passage;
        let line = match candidate.exact {
            Some(ExactFind::Line(line)) => line.checked_sub(passage.start_line).map(|line| line as usize),
            Some(ExactFind::Message | ExactFind::Mention) => line_of_message(&self.query.literal, &passage.text),
            _ => None,
        };
        best_lines(passage, self.highlighter, lines, line)
    }
}

/// Returns the heading of a passage, or the title of its document.
fn title(passage: &StoredPassage) -> Option<String> {
    passage.heading.clone().or_else(|| passage.title.clone())
}

/// Most characters of a note below the line.
const NOTE_CHARACTERS: usize = 200;

/// Returns the text of a note on one line, shortened. Its heading is often a day alone, and a note below the line may be the one that
/// corrects another above it.
fn line_of_note(passage: &StoredPassage) -> Option<String> {
    let lines = passage.text.lines().filter(|line| !is_markup(line));
    let text = lines.map(|line| line.trim_start_matches(['-', '*', '>', ' '])).collect::<Vec<_>>().join(" ");
    let is_shown = passage.kind == Kind::Note.as_str() && !text.is_empty();
    is_shown.then(|| text.chars().take(NOTE_CHARACTERS).collect())
}

fn dated_at(passage: &StoredPassage) -> Option<String> {
    passage.dated_ns.map(|ns| moment(ns).to_string())
}

/// Returns the near-copies of the passages of one result, in their order, each document once.
fn copies(placed: &Placed<'_>) -> Vec<Copy> {
    let mut seen = HashSet::new();
    let shown = std::iter::once(&placed.candidate).chain(&placed.further);
    let copies = shown.flat_map(|candidate| placed.entry.copies_of(candidate.id()));
    let once = copies.filter(|passage| seen.insert(passage.document));
    once.map(|passage| Copy {
        id: passage.id.clone(),
        namespace: passage.namespace.clone(),
        path: passage.path.clone(),
        start_line: passage.start_line,
        end_line: passage.end_line,
    })
    .collect()
}

/// Most entries below the line, with results above it and without.
const BELOW: usize = 5;
const BELOW_NOTHING: usize = 8;

/// Most entries below the line of an answer with so many results.
pub(crate) fn most_below(results: usize) -> usize {
    if results == 0 { BELOW_NOTHING } else { BELOW }
}

/// The least probability of an entry below results. What would read <1% is hardly ever what they lack.
const BELOW_LEAST: f64 = 0.005;

/// Most of them that people judged not relevant, and that others would crowd out.
const BELOW_REFUSED: usize = 2;

/// Returns the entries below the line, best first. An entry with a passage above the line is not among them.
pub(crate) fn nearest(decided: &Decided) -> Vec<Nearest> {
    let Decided { ranking, cut, .. } = decided;
    let most = most_below(cut.keep);
    let (above, below) = ranking.entries.split_at(cut.keep.min(ranking.entries.len()));
    let mut seen: HashSet<_> = above.iter().map(|entry| entry_key(&entry.best.passage)).collect();
    let worth =
        |entry: &&Entry| cut.keep == 0 || entry.label.is_some() || entry.probability.is_none_or(|of| of >= BELOW_LEAST);
    let once = below.iter().filter(worth).filter(|entry| seen.insert(entry_key(&entry.best.passage)));
    let (refused, others): (Vec<&Entry>, Vec<&Entry>) = once.partition(|entry| entry.label == Some(false));
    // Those that people refused come last. Each shows that it was found, and can be judged anew.
    let room = most - refused.len().min(BELOW_REFUSED);
    let others = others.into_iter().take(room);
    let taken = others.len();
    let nearest = |entry: &Entry| {
        let passage = &entry.best.passage;
        Nearest {
            id: passage.id.clone(),
            namespace: passage.namespace.clone(),
            path: passage.path.clone(),
            start_line: passage.start_line,
            end_line: passage.end_line,
            title: line_of_note(passage).or_else(|| title(passage)),
            symbol: passage.symbol.clone(),
            kind: passage.kind.clone(),
            probability: entry.probability,
            judged_relevant: entry.label,
        }
    };
    others.chain(refused.into_iter().take(most - taken)).map(nearest).collect()
}

/// Returns every entry that the cut counted, for an explanation. `known` has the attributes of each one's document.
pub(crate) fn pool_entries(
    decided: &Decided,
    placed: &[Placed<'_>],
    known: Vec<Vec<Attribute>>,
    decay: &SearchDecay<'_>,
    now_ns: i64,
) -> Vec<PoolEntry> {
    let days = |date: i64| ((now_ns as f64 - date as f64) / 86_400e9).max(0.0);
    let by_age = decided.ranking.adjustments.as_ref().filter(|adjustments| adjustments.by_age());
    let age = |passage: &StoredPassage| match by_age {
        Some(adjustments) => adjustments.age_days(passage),
        None => decay.date(passage).map(days),
    };
    let ranks: HashMap<PassageId, usize> = placed.iter().map(|placed| placed.candidate.id()).zip(1..).collect();
    let pool_entry = |((at, entry), known): ((usize, &Entry), Vec<Attribute>)| {
        let Candidate { passage, scores, .. } = &entry.best;
        PoolEntry {
            id: passage.id.clone(),
            kept: at < decided.cut.keep,
            rank: ranks.get(&entry.best.id()).copied(),
            namespace: passage.namespace.clone(),
            distance_factor: entry.best.adjusted.adjustment.factor,
            age_days: age(passage),
            decay: entry.best.adjusted.decay,
            path: passage.path.clone(),
            start_line: passage.start_line,
            title: title(passage),
            symbol: passage.symbol.clone(),
            kind: passage.kind.clone(),
            collection: passage.collection.clone(),
            language: passage.language.clone(),
            dated_at: dated_at(passage),
            attributes: by_name(known),
            passages: 1 + entry.others.len(),
            copies: entry.copies.len(),
            role: passage.role.clone(),
            bm25: scores.bm25,
            similarity: scores.similarity,
            coverage: scores.coverage,
            score: entry.best.score,
            exact: entry.best.exact.filter(|_| entry.best.first.is_some()).map(|exact| exact.name().to_owned()),
            added: entry.added,
            judged: entry.judged,
            probability: entry.probability,
            judged_relevant: entry.label,
            evidence: entry.evidence.as_ref().map(evidence_parts).unwrap_or_default(),
        }
    };
    decided.ranking.entries.iter().enumerate().zip(known).map(pool_entry).collect()
}

fn evidence_parts(evidence: &WeighedEvidence) -> Vec<EvidencePart> {
    let part = |part: &tamis_rank::EvidencePart| EvidencePart {
        name: part.name.to_owned(),
        value: part.value,
        log_odds: part.log_odds,
    };
    evidence.parts.iter().map(part).collect()
}

/// Returns the reason why a search has no passages to look at.
fn nothing_to_search(context: &Context<'_>, query: &Query) -> Result<&'static str, Error> {
    let collections = if query.memory { context.index.config.memory.collections.clone() } else { Vec::new() };
    let all = context.index.store.coverage("", &query.scope.of_all(&Filter { collections, ..Filter::default() }))?;
    Ok(match (all.passages, query.memory) {
        (0, true) => "there are no notes",
        (0, false) if context.index.config.store.url.is_some() => {
            "no passage is indexed; `tamis index` in a tree puts it into the database"
        }
        (0, false) => "no passage is indexed",
        _ => "no passage passes the filters",
    })
}

/// Returns the answer: the kept entries in their order, shortened to the limit, each with the lines that answer best.
pub(crate) fn present(
    context: &Context<'_>,
    request: &SearchRequest,
    retrieved: &Retrieved,
    decided: &Decided,
    clock: &mut Stopwatch,
) -> Result<Answer, Error> {
    let Retrieved { query, plan, statistics, .. } = retrieved;
    let Decided { ranking, cut, .. } = decided;
    let decay = search_decay(context, query);
    let order = DisplayOrder {
        decay,
        lambda: request.ranking.diversity.or(context.index.config.memory.diversity().filter(|_| request.memory)),
        limit: request.limit_under(&context.index.config).min(cut.keep),
        model: plan.model.as_ref().map(|model| model.id.as_str()),
    };
    let kept: Vec<Placed> = decided.kept_entries().into_iter().map(Placed::entry).collect();
    let placed = arranged(context, kept, &order)?;
    let shown = match request.output.passages {
        true => arranged(context, flattened(&placed), &DisplayOrder { limit: usize::MAX, ..order })?,
        false => placed.clone(),
    };
    clock.lap("arrange");
    let terms = statistics.lexical.as_ref();
    let highlighter = terms.map(|statistics| Highlighter::new(&statistics.terms, statistics.indexed));
    let lines = request.output.context.map_or(SNIPPET_LINES, |around| 2 * around + 1);
    let passages = || shown.iter().map(|placed| &*placed.candidate.passage);
    let documents: Vec<DocumentId> = passages().map(|passage| passage.document).collect();
    let known = context.index.store.attributes(&namespaces_of(passages()), &documents)?;
    let mut results = Shown { query, highlighter: highlighter.as_ref(), lines }.results(&shown, known);
    add_urls(context, &documents, &mut results)?;
    // Who wants fewer than are relevant does not want these.
    let is_whole = request.limit.is_none_or(|limit| cut.keep <= limit);
    let nearest = if request.cut.strict || !is_whole { Vec::new() } else { nearest(decided) };
    let mut warnings = retrieved.warnings.clone();
    warnings.extend(ranking.warning.clone());
    let missing_words = terms.map_or_else(Vec::new, |words| missing_words(&query.text, &words.terms));
    let pool =
        request.output.explain.then(|| explained_pool(context, decided, &placed, &decay, query.now_ns)).transpose()?;
    let unsearched = (plan.coverage.passages == 0).then(|| nothing_to_search(context, query)).transpose()?;
    clock.lap("present");
    Ok(Answer {
        query: query.text.clone(),
        query_id: None,
        language_hint: query.hint.map(str::to_owned),
        mode_used: decided.mode.to_string(),
        fallback_reason: joined(plan.fallback_reason.clone(), decided.replaced.clone()),
        pending_model: plan.pending_model.clone(),
        warnings,
        partial: false,
        missing_namespaces: Vec::new(),
        model: plan.model.as_ref().map(|model| model.id.clone()),
        results,
        cut: CutReport { reason: unsearched.map_or_else(|| cut.reason.clone(), str::to_owned), ..cut.clone() },
        summary: match unsearched {
            Some(why) => format!("Nothing to search: {why}."),
            None => Reading::explain(cut.sentence(placed.len(), &missing_words), &query.readings),
        },
        nearest,
        missing_words,
        readings: query.readings.clone(),
        timings_ms: BTreeMap::new(),
        index: IndexReport {
            passages: plan.coverage.passages,
            embedded: plan.coverage.embedded,
            namespaces: query.scope.names.clone(),
            stale: None,
        },
        pool,
    })
}

/// Returns every candidate that the cut counted, with the attributes of its document.
fn explained_pool(
    context: &Context<'_>,
    decided: &Decided,
    placed: &[Placed<'_>],
    decay: &SearchDecay<'_>,
    now_ns: i64,
) -> Result<Vec<PoolEntry>, Error> {
    let passages = || decided.ranking.entries.iter().map(|entry| &*entry.best.passage);
    let documents: Vec<DocumentId> = passages().map(|passage| passage.document).collect();
    let known = context.index.store.attributes(&namespaces_of(passages()), &documents)?;
    Ok(pool_entries(decided, placed, known, decay, now_ns))
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

/// Adds the address of each result that is an issue, as far as its record has one. `documents` are those of the results.
fn add_urls(context: &Context<'_>, documents: &[DocumentId], results: &mut [Hit]) -> Result<(), Error> {
    /// What is read of a record.
    #[derive(serde::Deserialize)]
    struct Address {
        url: Option<String>,
    }
    let issues = documents.iter().zip(results).filter(|(_, hit)| hit.collection == ISSUES);
    let (documents, hits): (Vec<DocumentId>, Vec<&mut Hit>) = issues.unzip();
    if documents.is_empty() {
        return Ok(());
    }
    let namespaces: BTreeSet<&str> = hits.iter().map(|hit| hit.namespace.as_str()).collect();
    let namespaces: Vec<String> = namespaces.into_iter().map(str::to_owned).collect();
    for (hit, record) in hits.into_iter().zip(context.index.store.records(&namespaces, &documents)?) {
        let address = record.and_then(|record| serde_json::from_str::<Address>(&record).ok());
        hit.url = address.and_then(|address| address.url);
    }
    Ok(())
}

/// The order in which kept candidates are shown.
pub(crate) struct DisplayOrder<'a> {
    pub decay: SearchDecay<'a>,
    /// The weight of relevance against diversity, 0 to 1; `None`: relevance alone.
    pub lambda: Option<f64>,
    /// The number of results shown.
    pub limit: usize,
    /// The model whose vectors give the similarities.
    pub model: Option<&'a str>,
}

/// A candidate at its place in the results.
#[derive(Clone)]
pub(crate) struct Placed<'r> {
    pub entry: &'r Entry,
    /// The passage that is shown, mostly the one that stands for its entry.
    pub candidate: &'r Candidate,
    /// The other passages of the entry that are shown below it.
    pub further: Vec<&'r Candidate>,
    /// The value that ranked it, with decay.
    pub score: f64,
}

impl<'r> Placed<'r> {
    /// A kept entry with its passages.
    pub fn entry(Kept { entry, further }: Kept<'r>) -> Self {
        Placed { entry, candidate: &entry.best, further, score: entry.best.aged() }
    }

    /// Each passage of the entry by itself.
    pub fn each_passage(&self) -> impl Iterator<Item = Placed<'r>> {
        let entry = self.entry;
        let one = move |candidate| Placed { entry, candidate, further: Vec::new(), score: candidate.aged() };
        std::iter::once(self.candidate).chain(self.further.clone()).map(one)
    }

    /// Returns the entry that the passage stands for.
    pub fn stands_for(&self) -> Option<&'r Entry> {
        Some(self.entry).filter(|entry| std::ptr::eq(&entry.best, self.candidate))
    }
}

/// Returns those of the kept candidates that are shown, in display order.
pub(crate) fn arranged<'r>(
    context: &Context<'_>,
    mut placed: Vec<Placed<'r>>,
    by: &DisplayOrder<'_>,
) -> Result<Vec<Placed<'r>>, Error> {
    // The order given can be another than that of the scores, and only age may change it.
    if by.decay.is_on() {
        let value = |placed: &Placed| match placed.stands_for().and_then(|entry| entry.probability) {
            Some(probability) => Decay::apply(probability, placed.candidate.adjusted.decay),
            None => placed.score,
        };
        let values: Vec<f64> = placed.iter().map(value).collect();
        placed = order(&values).into_iter().map(|at| placed[at].clone()).collect();
    } else if by.decay.breaks_ties() {
        placed = newest_first(placed, &by.decay);
    }
    if let Some(lambda) = by.lambda {
        let places = diversified_places(context, &placed, lambda, by)?;
        placed = places.into_iter().map(|at| placed[at].clone()).collect();
    }
    placed.truncate(by.limit);
    Ok(placed)
}

/// Returns the places of `kept` in the order of maximal marginal relevance.
fn diversified_places(
    context: &Context<'_>,
    kept: &[Placed],
    lambda: f64,
    by: &DisplayOrder<'_>,
) -> Result<Vec<usize>, Error> {
    // The order cannot change.
    if kept.len() < 3 || by.limit < 2 || lambda >= 1.0 {
        return Ok((0..kept.len()).collect());
    }
    let ids: Vec<PassageId> = kept.iter().map(|placed| placed.candidate.id()).collect();
    let passages = kept.iter().map(|placed| &*placed.candidate.passage);
    let vectors = match by.model {
        Some(model) => context.index.store.vectors(model, &namespaces_of(passages), &ids)?,
        None => vec![None; ids.len()],
    };
    let words: Vec<OnceCell<Vec<String>>> = kept.iter().map(|_| OnceCell::new()).collect();
    let words = |at: usize| words[at].get_or_init(|| words_of(&kept[at].candidate.passage.text));
    let alike = |a: usize, b: usize| match (&vectors[a], &vectors[b]) {
        _ if overlap(kept[a].candidate, kept[b].candidate) => 1.0,
        (Some(a), Some(b)) => f64::from(dot(a, b)),
        _ => jaccard(words(a), words(b)),
    };
    let relevance: Vec<f64> = kept.iter().map(|placed| placed.score).collect();
    Ok(diversified(&relevance, lambda, by.limit, alike))
}

/// Greatest difference of log odds, or of the logarithms of scores, at which two memories are equally good.
const SAME_VALUE: f64 = 0.03;

/// Orders memories that say the same by their dates: one takes the best place of all that repeat it in nearly the same words, which
/// move behind everything else, and neighbours of the same value change places. Those whose age does not count are as new as can be.
fn newest_first<'r>(placed: Vec<Placed<'r>>, decay: &SearchDecay<'_>) -> Vec<Placed<'r>> {
    // Passages without evidence beside some with it are those of one entry, which nothing but their order compares.
    let value = |placed: &Placed| match (&placed.entry.evidence, placed.stands_for()) {
        (None, _) => placed.score.ln(),
        (Some(evidence), Some(_)) => evidence.log_odds,
        (Some(_), None) => f64::NAN,
    };
    let date = |placed: &Placed| decay.date(&placed.candidate.passage).unwrap_or(i64::MAX);
    let shingles = placed.iter().map(|placed| Some(Shingles::from_text(&placed.candidate.passage.text)));
    let copied = near_copies(&shingles.collect::<Vec<_>>(), |_, _| true);
    let mut said: Vec<Placed> = Vec::new();
    let mut repeated: Vec<Placed> = Vec::new();
    for at in (0..placed.len()).filter(|&at| copied[at].is_none()) {
        let mut same: Vec<Placed> = vec![placed[at].clone()];
        same.extend((0..placed.len()).filter(|&other| copied[other] == Some(at)).map(|other| placed[other].clone()));
        same.sort_by_key(|placed| Reverse(date(placed)));
        said.push(same.remove(0));
        repeated.extend(same);
    }
    said.chunk_by_mut(|a, b| (value(a) - value(b)).abs() <= SAME_VALUE)
        .for_each(|same| same.sort_by_key(|placed| Reverse(date(placed))));
    for at in 1..said.len() {
        let new = &said[at];
        let is_corrected = |old: &Placed| {
            let [passage, before] = [new, old].map(|placed| &*placed.candidate.passage);
            let is_newer = decay.date(passage).zip(decay.date(before)).is_some_and(|(new, old)| new > old);
            is_newer && value(old) - value(new) <= SAME_SUBJECT && corrects(passage, before)
        };
        let corrected = said[..at].iter().position(is_corrected);
        if let Some(corrected) = corrected {
            said[corrected..=at].rotate_right(1);
        }
    }
    said.extend(repeated);
    said
}

/// Greatest difference of log odds between a note and what corrects it, which may answer in other words.
const SAME_SUBJECT: f64 = 3.5;

/// What notes say that correct another one, in lower case.
const CORRECTIONS: [&str; 3] = ["correction:", "corrected:", "supersedes"];

/// What notes say where something has changed, in lower case. They say it of anything, so the rest must be said again.
const CHANGED: [&str; 5] = ["anymore", "changed", "longer", "moved", "now"];

/// The least number of words that a correction has in common with what it corrects, and the least share of the words of both that a note of
/// a change has in common with the note before.
const FEWEST_IN_COMMON: usize = 2;
const SAID_AGAIN: f64 = 0.5;

/// Returns `true` if a note, written after another one, says that things are otherwise than the other one has it. Turns of a
/// conversation say "now" of anything.
fn corrects(new: &StoredPassage, old: &StoredPassage) -> bool {
    let is_content = |word: &String| word.chars().count() >= 4 || word.chars().all(|c| c.is_ascii_digit());
    let [words, said, known] = [body(new), body(new), body(old)].map(words_of);
    let [said, known] = [said, known].map(|words| words.into_iter().filter(is_content).collect::<Vec<_>>());
    let text = new.text.to_lowercase();
    let common = known.iter().filter(|word| said.binary_search(word).is_ok()).count();
    let corrects = common >= FEWEST_IN_COMMON && CORRECTIONS.iter().any(|word| text.contains(word));
    let changed = words.iter().any(|word| CHANGED.contains(&word.as_str()));
    new.collection != SESSIONS && (corrects || changed && jaccard(&said, &known) >= SAID_AGAIN)
}

/// The text of a note without the headings above it.
fn body(passage: &StoredPassage) -> &str {
    let mut text = passage.text.trim_start();
    while text.starts_with('#') {
        text = text.split_once('\n').map_or("", |(_, rest)| rest.trim_start());
    }
    text
}

/// Returns `true` if two passages have the same text or share lines of one document.
fn overlap(a: &Candidate, b: &Candidate) -> bool {
    let (a, b) = (&a.passage, &b.passage);
    let share_lines = a.document == b.document && a.start_line <= b.end_line && b.start_line <= a.end_line;
    share_lines || a.text_hash == b.text_hash
}

/// Some lines of a passage, with the terms of the query marked.
pub(crate) struct Snippet {
    /// The line of the document on which it starts, from 1.
    pub start_line: u32,
    pub text: String,
    /// Byte ranges in `text`, in order, without overlap.
    pub highlights: Vec<Range<usize>>,
}

/// Returns the line, from 0, on which the message begins that a query repeats.
fn line_of_message(literal: &LiteralText, text: &str) -> Option<usize> {
    let bounds = line_bounds(text);
    let share = |&first: &usize| {
        let range = span(&bounds, first, LINES_OF_MESSAGE)?;
        // Among the lines of one passage, a frequent word says as much as a rare one.
        Some((first, literal.runs(&text[range], |_| Some(SAME_WEIGHT)).first()?.share))
    };
    let shares = (0..bounds.len()).filter_map(|first| share(&first));
    // Of two windows with the whole message, it begins in the later one.
    shares.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(first, _)| first)
}

/// Lines that a message takes in the source, and the weight of each of its words.
const LINES_OF_MESSAGE: usize = 2;
const SAME_WEIGHT: f64 = 3.0;

/// Returns the window of at most `lines` lines with the greatest IDF mass of distinct terms: the beginning if it is such a window, else
/// the first one, moved so that its terms are in the middle. For a passage without any term it returns the beginning. A window around
/// the line `message` comes before all others.
fn best_lines(
    passage: &StoredPassage,
    highlighter: Option<&Highlighter>,
    lines: usize,
    asked: Option<usize>,
) -> Snippet {
    let (text, start_line) = (passage.text.as_str(), passage.start_line);
    let marks = highlighter.map(|highlighter| highlighter.find(text, passage.form)).unwrap_or_default();
    let bounds = line_bounds(text);
    let window = lines.clamp(1, bounds.len().max(1));
    let mut first = densest(&bounds, &marks, window);
    if window == 1
        && passage.form == TextForm::Prose
        && is_markup(&text[bounds.get(first).cloned().unwrap_or_default()])
    {
        // The heading stands beside the line already.
        let says = |at: &usize| !is_markup(&text[bounds[*at].clone()]);
        first = (first + 1..bounds.len()).find(says).unwrap_or(first);
    } else if first > 0 {
        // The last line has a term. As many lines follow the terms as precede them.
        let top =
            span(&bounds, first, window).and_then(|range| marks.iter().find(|mark| mark.range.start >= range.start));
        let top = top.map_or(first, |mark| bounds.partition_point(|line| line.end < mark.range.start));
        first = (first + (top - first) / 2).min(bounds.len() - window);
    }
    if let Some(line) = asked {
        first = line.saturating_sub((window - 1) / 2).min(bounds.len().saturating_sub(window));
    } else {
        let ends = |at: usize| ends_something(&text[bounds[at].clone()]);
        while first + 1 < bounds.len() && ends(first) {
            first += 1;
        }
    }
    let range = span(&bounds, first, window).unwrap_or(0..0);
    let inside = marks.iter().filter(|mark| range.start <= mark.range.start && mark.range.end <= range.end);
    Snippet {
        start_line: start_line + first as u32,
        text: text[range.clone()].trim_end().to_owned(),
        highlights: inside.map(|mark| mark.range.start - range.start..mark.range.end - range.start).collect(),
    }
}

/// Returns the first line of the window with the greatest IDF mass of distinct terms. It is the first one of the text, or one with a term.
fn densest(bounds: &[Range<usize>], marks: &[Mark], window: usize) -> usize {
    let mut best = (0.0, 0);
    // Marks are in order, so each window reads only those inside it.
    let mut next = 0;
    for first in 0..=bounds.len().saturating_sub(window) {
        let Some(range) = span(bounds, first, window) else { break };
        while marks.get(next).is_some_and(|mark| mark.range.start < range.start) {
            next += 1;
        }
        let mut seen: Vec<usize> = Vec::new();
        let mut mass = 0.0;
        let inside = marks[next..].iter().take_while(|mark| mark.range.start < range.end);
        for mark in inside.filter(|mark| mark.range.end <= range.end) {
            if !seen.contains(&mark.term) {
                seen.push(mark.term);
                mass += mark.idf;
            }
        }
        if mass > best.0 * (1.0 + 1e-6) {
            best = (mass, first);
        }
    }
    best.1
}

/// Returns `true` for a line that says nothing at the top of a snippet: an empty one, or the end of what stands before.
fn ends_something(line: &str) -> bool {
    let line = line.trim();
    line == "end" || !line.contains(char::is_alphanumeric)
}

/// Returns `true` for a line of Markdown or of a document that says nothing by itself: a heading, the bounds of front matter or of a code
/// block, the beginning of a page.
fn is_markup(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || line.starts_with("# ")
        || line.starts_with("##")
        || ["---", "```", "[page "].iter().any(|mark| line.starts_with(mark))
}

/// Returns the byte range of each line, without its line end.
fn line_bounds(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let bounds = text.split_inclusive('\n').map(|line| {
        let range = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        range
    });
    bounds.collect()
}

fn span(bounds: &[Range<usize>], first: usize, lines: usize) -> Option<Range<usize>> {
    let last = bounds.get((first + lines).min(bounds.len()).checked_sub(1)?)?;
    Some(bounds.get(first)?.start..last.end)
}

/// Most words returned, of which a sentence names the first.
const MOST: usize = 20;

/// Words that carry nothing of a question's subject, besides those that the lexical index leaves out. That no passage has them says
/// nothing about an answer.
const TRIVIAL: &[&str] = &[
    "actually", "again", "already", "also", "always", "another", "anybody", "anyone", "anything", "anyway", "best",
    "better", "called", "calls", "could", "currently", "easiest", "easily", "either", "else", "etc", "even", "ever",
    "everything", "exactly", "explain", "getting", "give", "gives", "going", "good", "happen", "happened", "happening",
    "happens", "hello", "help", "instead", "invoked", "invokes", "just", "kind", "know", "let", "lets", "like", "lots",
    "many", "maybe", "might", "much", "must", "need", "needed", "needs", "never", "nothing", "one", "only", "ones",
    "otherwise", "perhaps", "please", "possible", "possibly", "rather", "really", "several", "shall", "should",
    "simply", "some", "somebody", "somehow", "someone", "something", "still", "stuff", "sure", "tell", "thank",
    "thanks", "them", "thing", "things", "tried", "tries", "try", "trying", "used", "uses", "very", "want", "wanted",
    "wants", "way", "ways", "whatever", "whether", "would",
];

/// Fewest characters of a word in lower case letters alone that can be one of the subject.
const SHORTEST: usize = 3;

/// Returns the words of `query`, as written, that no passage of the searched namespaces has in any form, and whose absence
/// can mean that there is no answer. `terms` are the query's in
/// the lexical index, without function words; parts of an identifier are not words of their own.
pub(crate) fn missing_words(query: &str, terms: &[TermStatistics]) -> Vec<String> {
    let is_missing = |word: &str| {
        let word = word.to_lowercase();
        terms.iter().any(|term| term.document_frequency == 0 && !term.compound && term.term == word)
    };
    let has_weight = |word: &str| {
        let is_short = word.chars().count() < SHORTEST && word.chars().all(|c| c.is_ascii_lowercase());
        !is_short && !TRIVIAL.contains(&word.to_lowercase().as_str())
    };
    let mut missing: Vec<String> = Vec::new();
    for word in query.split(ends_word).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())) {
        // Of a contraction such as "don't", the lexical index has a part that nobody asked for.
        let word = match word.split_once(['\'', '’']) {
            Some((name, "s")) => name,
            Some(_) => continue,
            None => word,
        };
        let is_known = || missing.iter().any(|known| known.to_lowercase() == word.to_lowercase());
        if missing.len() < MOST && word.chars().nth(1).is_some() && has_weight(word) && is_missing(word) && !is_known()
        {
            missing.push(word.to_owned());
        }
    }
    missing
}

/// Returns `true` for whatever ends a word of a sentence. Characters that join the parts of a name do not.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || "\"‘“”`()[]{}<>,;!?、。，；：！？「」『』（）《》…".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(term: &str, document_frequency: u64, compound: bool) -> TermStatistics {
        TermStatistics { term: term.into(), document_frequency, idf: 1.0, compound }
    }

    #[test]
    fn missing_words_are_named_as_written_and_parts_contractions_and_common_ones_are_none() {
        let terms = [term("capital", 3, false), term("mongolia", 0, false), term("ulaanbaatar", 0, false)];
        let capital = missing_words("Is Mongolia's capital (Ulaanbaatar) in MONGOLIA?", &terms);
        assert_eq!(capital, ["Mongolia", "Ulaanbaatar"]);
        assert!(missing_words("the capital", &terms).is_empty());
        let terms = [term("open_index", 0, true), term("open", 0, false), term("index", 0, false)];
        assert!(missing_words("open_index Store::open", &terms).is_empty());
        assert_eq!(missing_words("open_index, then open.", &terms), ["open"]);
        let terms = ["please", "happens", "ab", "k8s", "ui", "elasticsearch"].map(|word| term(word, 0, false));
        let names = missing_words("Please tell what happens with ab, k8s, UI and Elasticsearch", &terms);
        assert_eq!(names, ["k8s", "UI", "Elasticsearch"]);
        let terms = ["don", "mongolia", "概", "概要"].map(|word| term(word, 0, false));
        assert_eq!(missing_words("Don't, don’t: Mongolia’s 概 「概要」。", &terms), ["Mongolia", "概要"]);
    }
}
