//! Makes the answer of what was decided.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tamis_rank::{ExactFind, WeighedEvidence};
use tamis_store::{Attribute, DocumentId, Filter, Highlighter, PassageId, StoredPassage, TermStatistics};
use tamis_text::Kind;

use super::adjustments::{SearchDecay, search_decay};
use super::answer::{
    Answer, Copy, CutReport, EvidencePart, FurtherPassage, Hit, IndexReport, Nearest, PoolEntry, Reading, joined,
};
use super::candidate::{Candidate, Retrieved, namespaces_of};
use super::context::{Context, Stopwatch};
use super::display_order::{DisplayOrder, Placed, arranged};
use super::filter::{by_name, moment};
use super::query::Query;
use super::ranking::{Decided, Entry, entry_key, identity};
use super::request::SearchRequest;
use super::snippet::{Snippet, best_lines, is_markup, line_of_message};
use crate::Error;
use crate::collections::ISSUES;

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
        // The term of a name has no underscores.
        let word = word.to_lowercase().replace('_', "");
        terms.iter().any(|term| term.document_frequency == 0 && term.term == word)
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
        let terms = [term("openindex", 0, true), term("open", 0, false), term("index", 0, false)];
        assert_eq!(missing_words("open_index Store::open", &terms), ["open_index"]);
        assert_eq!(missing_words("open_index, then open.", &terms), ["open_index", "open"]);
        let terms = ["please", "happens", "ab", "k8s", "ui", "elasticsearch"].map(|word| term(word, 0, false));
        let names = missing_words("Please tell what happens with ab, k8s, UI and Elasticsearch", &terms);
        assert_eq!(names, ["k8s", "UI", "Elasticsearch"]);
        let terms = ["don", "mongolia", "概", "概要"].map(|word| term(word, 0, false));
        assert_eq!(missing_words("Don't, don’t: Mongolia’s 概 「概要」。", &terms), ["Mongolia", "概要"]);
    }
}
