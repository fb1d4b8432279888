//! The results of a search on their way to the cut: passages grouped into what a person counts as one result.
//!
//! [`entry_key`] says which passages belong together, and is the place to refine that. A passage that repeats a better one of
//! another document in nearly the same words, as in a vendored file or the page of an older version, is a copy of that one and
//! no longer counts. Whatever differs in the other document counts by itself.

use std::collections::{BTreeMap, HashMap, HashSet};

use tamis_cut::{Background, Pool, PoolError};
use tamis_rank::{Shingles, WeighedEvidence, near_copies, probability};
use tamis_store::{DocumentId, PassageId, ScoringKey, StoredPassage, TextHash};
use tamis_text::Kind;

use super::adjustments::Adjustments;
use super::answer::CutReport;
use super::candidate::Candidate;
use super::filter::moment;
use super::judgements::{JUDGED, JUDGEMENTS};
use crate::Error;
use crate::config::Mode;

/// The results in order, with the values that the rule reads.
pub(crate) struct Ranking {
    /// The entries, best first. If the rule admits by raw scores, admitted ones come before the others; so do those above the
    /// threshold of a collection with a table of its own. Where passages are counted, each is an entry of its own.
    pub entries: Vec<Entry>,
    /// True if passages were grouped.
    pub grouped: bool,
    /// The values that the rule reads, with their background.
    pub pool: Pool,
    /// The adjustments by language and age, if the candidates were ranked by fused scores.
    pub adjustments: Option<Adjustments>,
    /// True if the evidence on the entries was weighed.
    pub weighed: bool,
    /// Figures of the evidence, for the diagnostics of the cut.
    pub diagnostics: BTreeMap<String, serde_json::Value>,
    /// The reasons why a model or a threshold that should have taken part did not.
    pub warning: Option<String>,
}

/// What a person counts as one result.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The passage that stands for it.
    pub best: Candidate,
    /// Its other passages, best first.
    pub others: Vec<Candidate>,
    /// Near-copies of its passages in other documents, best first.
    pub copies: Vec<NearCopy>,
    /// The value that a rule read at its place, before the evidence was weighed; `None` if it is not finite.
    pub value: Option<f64>,
    /// The part of the score that its other passages and the name of its file gave. It is negative where other entries gained more.
    pub added: f64,
    /// The evidence on it; `None` if it was not weighed.
    pub evidence: Option<WeighedEvidence>,
    /// Its probability of relevance, which does not ascend from one entry to the next, if it is known.
    pub probability: Option<f64>,
    /// The probability that a reranker gave it, if one read it.
    pub judged: Option<f64>,
    /// True if people said for this question that it answers, false if they said that it does not.
    pub label: Option<bool>,
}

/// A near-copy of a passage, in another document.
#[derive(Clone, Debug)]
pub(crate) struct NearCopy {
    /// The passage that it repeats.
    pub of: PassageId,
    pub candidate: Candidate,
}

impl Ranking {
    /// Candidates, each by itself, with the values that the rule reads.
    pub fn new(candidates: Vec<Candidate>, pool: Pool) -> Self {
        let entry = |(place, candidate)| Entry::new(Candidate { place, ..candidate });
        let mut ranking = Ranking {
            entries: candidates.into_iter().enumerate().map(entry).collect(),
            grouped: false,
            pool,
            adjustments: None,
            weighed: false,
            diagnostics: BTreeMap::new(),
            warning: None,
        };
        ranking.note_values();
        ranking
    }

    /// Notes on each entry the value that a rule reads at its place.
    pub fn note_values(&mut self) {
        let mut values = self.pool.values().iter().copied();
        self.entries.iter_mut().for_each(|entry| entry.value = values.next());
    }

    /// Returns the value of a passage that has nothing to do with the query.
    pub fn background(&self) -> Option<f64> {
        self.pool.background().map(|background| background.mean)
    }

    /// Returns all candidates: those that stand for entries in their order, then the others as they were ranked.
    pub fn candidates(&self) -> Vec<&Candidate> {
        let best = self.entries.iter().map(|entry| &entry.best);
        best.chain(self.others().into_iter().map(|(_, candidate)| candidate)).collect()
    }

    /// Returns all candidates in the same order, each with the position of its entry. Where passages are counted, that is the position
    /// of the first passage of what would be its entry; replays with a cut that counts entries need it.
    pub fn numbered(&self) -> Vec<(usize, &Candidate)> {
        let best = self.entries.iter().map(|entry| &entry.best);
        match self.grouped {
            true => best.enumerate().chain(self.others()).collect(),
            false => {
                let best: Vec<&Candidate> = best.collect();
                first_of_entries(&best).into_iter().zip(best).collect()
            }
        }
    }

    /// Returns the candidates that stand for no entry, as they were ranked, each with the position of its entry.
    fn others(&self) -> Vec<(usize, &Candidate)> {
        let mut others: Vec<(usize, &Candidate)> = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let copies = entry.copies.iter().map(|copy| &copy.candidate);
            others.extend(entry.others.iter().chain(copies).map(|candidate| (at, candidate)));
        }
        others.sort_by_key(|(_, candidate)| candidate.place);
        others
    }

    /// Returns all candidates to change them, in no particular order.
    pub fn candidates_mut(&mut self) -> impl Iterator<Item = &mut Candidate> {
        self.entries.iter_mut().flat_map(|entry| {
            let copies = entry.copies.iter_mut().map(|copy| &mut copy.candidate);
            std::iter::once(&mut entry.best).chain(&mut entry.others).chain(copies)
        })
    }

    /// Returns the passages that fall short of the threshold of their language.
    pub fn short(&self) -> HashSet<PassageId> {
        self.candidates().into_iter().filter(|candidate| candidate.adjusted.short).map(Candidate::id).collect()
    }

    /// Returns the probabilities of the entries, as far as they are known.
    pub fn probabilities(&self) -> Vec<f64> {
        self.entries.iter().map_while(|entry| entry.probability).collect()
    }
}

impl Entry {
    /// An entry of one passage.
    pub fn new(best: Candidate) -> Self {
        Entry {
            best,
            others: Vec::new(),
            copies: Vec::new(),
            value: None,
            added: 0.0,
            evidence: None,
            probability: None,
            judged: None,
            label: None,
        }
    }

    /// Returns its passages, the one that stands for it first.
    pub fn passages(&self) -> impl Iterator<Item = &Candidate> {
        std::iter::once(&self.best).chain(&self.others)
    }

    /// Returns the place of the first of its passages among the exact finds.
    pub fn first_find(&self) -> Option<usize> {
        self.passages().filter_map(|candidate| candidate.first).min()
    }

    /// Returns the near-copies of one of its passages.
    pub fn copies_of(&self, passage: PassageId) -> impl Iterator<Item = &StoredPassage> {
        self.copies.iter().filter(move |copy| copy.of == passage).map(|copy| &*copy.candidate.passage)
    }

    /// Returns its log odds; those of even odds if no evidence was weighed.
    pub fn log_odds(&self) -> f64 {
        self.evidence.as_ref().map_or(0.0, |evidence| evidence.log_odds)
    }

    /// Adds a piece to the evidence on it.
    pub fn add_evidence(&mut self, name: &'static str, value: f64, log_odds: f64) {
        self.evidence = Some(self.evidence.take().unwrap_or_default().with(name, value, log_odds));
    }
}

/// The identity of an entry: passages with equal keys belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EntryKey<'p> {
    document: DocumentId,
    /// Heading and date, for a note in a file of many.
    note: Option<(Option<&'p str>, Option<i64>)>,
}

/// Returns the entry of a passage: its document (a file, an issue with its comments, a page, a session, a claim). A file with
/// many notes, such as a day's log, has an entry for each note.
pub(crate) fn entry_key(passage: &StoredPassage) -> EntryKey<'_> {
    let note = holds_many_notes(passage).then_some((passage.heading.as_deref(), passage.dated_ns));
    EntryKey { document: passage.document, note }
}

/// Returns the name of a passage's entry in an answer: namespace and path, and for a note in a file of many its heading and
/// time.
pub(crate) fn identity(passage: &StoredPassage) -> String {
    let mut identity = format!("{}/{}", passage.namespace, passage.path);
    if let Some((heading, dated_ns)) = entry_key(passage).note {
        if let Some(heading) = heading {
            identity.push_str(&format!("#{heading}"));
        }
        if let Some(dated_ns) = dated_ns {
            identity.push_str(&format!("@{}", moment(dated_ns)));
        }
    }
    identity
}

/// Returns `true` for files of many notes: `MEMORY.md`, and files named by a day alone (`2026-11-22.md`).
fn holds_many_notes(passage: &StoredPassage) -> bool {
    let name = passage.path.rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_day = stem.len() == 10 && stem.parse::<jiff::civil::Date>().is_ok();
    passage.kind == Kind::Note.as_str() && (is_day || stem.eq_ignore_ascii_case("memory"))
}

/// Returns, for each candidate, the position of the first one of its entry.
fn first_of_entries(candidates: &[&Candidate]) -> Vec<usize> {
    let copied = copied(candidates);
    let mut first: HashMap<EntryKey, usize> = HashMap::new();
    let key = |at: usize| entry_key(&candidates[copied[at].unwrap_or(at)].passage);
    (0..candidates.len()).map(|at| *first.entry(key(at)).or_insert(at)).collect()
}

/// Least shares of length and of BM25, and the greatest difference of similarity, at which two texts are compared. Texts of
/// nearly the same words score alike, and two texts that the query tells apart are not copies.
const LENGTH: f64 = 0.85;
const BM25: f64 = 0.8;
const SIMILARITY: f64 = 0.05;

/// What is known of a passage without reading its text. Small, since all pairs are looked at.
struct Look<'p> {
    key: EntryKey<'p>,
    similarity: Option<f64>,
    bm25: Option<f64>,
    bytes: f64,
    hash: TextHash,
    /// True for notes and conversations, since something noted or said twice was said at two times, and for front matter, which says
    /// nothing of the text below it.
    never_repeats: bool,
}

impl<'p> Look<'p> {
    fn new(Candidate { scores, passage, .. }: &'p Candidate) -> Self {
        Look {
            key: entry_key(passage),
            similarity: scores.similarity,
            bm25: scores.bm25,
            bytes: passage.text.len() as f64,
            hash: passage.text_hash,
            never_repeats: [Kind::Note, Kind::Turns, Kind::FrontMatter]
                .iter()
                .any(|kind| passage.kind == kind.as_str()),
        }
    }

    /// Returns `true` if one of two passages can be a near-copy of the other.
    fn may_repeat(&self, other: &Look<'_>) -> bool {
        let near = |(x, y): (f64, f64)| (x - y).abs() <= SIMILARITY;
        let share = |x: f64, y: f64, least: f64| x.min(y) >= least * x.max(y);
        let alike = self.similarity.zip(other.similarity).is_none_or(near)
            && share(self.bytes, other.bytes, LENGTH)
            && self.bm25.zip(other.bm25).is_none_or(|(x, y)| share(x, y, BM25));
        (alike || self.hash == other.hash) && !self.never_repeats && !other.never_repeats && self.key != other.key
    }
}

/// Returns, for each candidate, the earlier one of another entry that it is a near-copy of. A text is read only if the scores leave
/// the question open.
pub(crate) fn copied(candidates: &[&Candidate]) -> Vec<Option<usize>> {
    let looks: Vec<Look> = candidates.iter().map(|candidate| Look::new(candidate)).collect();
    let may = |a: usize, b: usize| looks[a].may_repeat(&looks[b]);
    let mut compared = vec![false; candidates.len()];
    // Only texts of nearly the same length can repeat each other.
    let mut by_length: Vec<usize> = (0..looks.len()).collect();
    by_length.sort_by(|&a, &b| looks[a].bytes.total_cmp(&looks[b].bytes));
    for (place, &shorter) in by_length.iter().enumerate() {
        let near = |&&longer: &&usize| looks[shorter].bytes >= LENGTH * looks[longer].bytes;
        for &longer in by_length[place + 1..].iter().take_while(near) {
            if !(compared[shorter] && compared[longer]) && may(shorter, longer) {
                (compared[shorter], compared[longer]) = (true, true);
            }
        }
    }
    let shingles =
        |(candidate, compared): (&&Candidate, &bool)| compared.then(|| Shingles::from_text(&candidate.passage.text));
    let shingles: Vec<Option<Shingles>> = candidates.iter().zip(&compared).map(shingles).collect();
    let mut copied = near_copies(&shingles, may);
    // The same front matter repeats another where text below it does.
    let of_page = |copy: usize, of: usize| {
        let mut pairs = copied.iter().enumerate().filter_map(|(at, of)| Some((at, (*of)?)));
        pairs.any(|(at, original)| looks[at].key == looks[copy].key && looks[original].key == looks[of].key)
    };
    let is_front = |at: &usize| candidates[*at].passage.kind == Kind::FrontMatter.as_str();
    let repeats = |copy: usize| {
        let mut others = (0..looks.len()).filter(|of| looks[*of].hash == looks[copy].hash && *of != copy);
        Some((copy, others.find(|of| of_page(copy, *of))?))
    };
    let repeated: Vec<(usize, usize)> = (0..looks.len()).filter(is_front).filter_map(repeats).collect();
    for (copy, of) in repeated {
        // Each page can have text that comes before the other's, and what has copies is none.
        if copied[of].is_none() && !copied.contains(&Some(copy)) {
            copied[copy] = Some(of);
        }
    }
    copied
}

/// The pool in the order of a rule, and the place where the rule ends it.
pub(crate) struct Decided {
    pub ranking: Ranking,
    pub cut: CutReport,
    /// Most tokens of text in the answer.
    pub token_budget: Option<usize>,
    /// The retrievers that decided. Thresholds can leave nothing of the semantic retriever.
    pub mode: Mode,
    /// The scale of the values that the rule read. Values of two searches are comparable if their keys are equal.
    pub scoring: ScoringKey,
    /// The reason why a different rule, or fewer retrievers, decided.
    pub replaced: Option<String>,
}

/// A kept entry with its other relevant passages.
pub(crate) struct Kept<'r> {
    pub entry: &'r Entry,
    /// Best first.
    pub further: Vec<&'r Candidate>,
}

impl Decided {
    /// Returns the kept entries. Their other relevant passages are those whose own value is at least that of the last kept entry, or, of
    /// a single entry, nearer to its value than to the next one's; without comments that say nothing. The best passages take their share
    /// of a token budget first; a further passage that does not fit into the rest is skipped.
    pub fn kept_entries(&self) -> Vec<Kept<'_>> {
        let Decided { ranking, cut, .. } = self;
        let value = |at: usize| ranking.pool.values().get(at).copied();
        let line = match (cut.dropped, cut.keep) {
            // A cut that leaves nothing out leaves no passage out either.
            (0, _) => Some(f64::NEG_INFINITY),
            (_, 0) => None,
            // No passage is as good as the best one of all.
            (_, 1) => {
                value(0).map(|best| f64::midpoint(best, value(1).filter(|next| next.is_finite()).unwrap_or(best)))
            }
            (_, keep) => value(keep - 1),
        };
        let entries = ranking.entries.iter().take(cut.keep);
        let mut kept: Vec<Kept> = entries.map(|entry| Kept { entry, further: Vec::new() }).collect();
        let tokens = |candidate: &Candidate| tamis_text::estimate_tokens(&candidate.passage.text);
        let best = || -> usize { kept.iter().map(|kept| tokens(&kept.entry.best)).sum() };
        let mut left = self.token_budget.map(|budget| budget.saturating_sub(best()));
        // The properties of a document say little beside its text.
        let is_text = |one: &Candidate| one.passage.kind != Kind::FrontMatter.as_str();
        let reaches = |one: &&Candidate| {
            let is_above = line.is_some_and(|line| one.value >= line && (line == f64::NEG_INFINITY || is_text(one)));
            !one.shown.hidden && one.value.is_finite() && is_above
        };
        let mut found: Vec<(usize, &Candidate)> = Vec::new();
        for (at, entry) in ranking.entries.iter().enumerate().take(kept.len()) {
            found.extend(entry.others.iter().filter(reaches).map(|other| (at, other)));
        }
        found.sort_by(|(_, a), (_, b)| b.value.total_cmp(&a.value).then(a.place.cmp(&b.place)));
        for (at, candidate) in found {
            if left.is_none_or(|left| tokens(candidate) <= left) {
                left = left.map(|left| left - tokens(candidate));
                kept[at].further.push(candidate);
            }
        }
        kept
    }
}

/// Returns the pool that a rule reads: descending values, and the value of a passage that has nothing to do with the query, from
/// `count` passages.
pub(crate) fn pool(values: Vec<f64>, background: Option<f64>, count: u64) -> Result<Pool, Error> {
    let with_background = |pool: Pool| match background {
        Some(mean) => pool.with_background(Background { mean, deviation: 0.0, count: count as usize }),
        None => Ok(pool),
    };
    let unusable = |error: PoolError| Error::argument("pool", error.to_string(), "sorted and finite");
    Pool::scores(values).and_then(with_background).map_err(unusable)
}

impl Entry {
    /// Returns its probability without what people judged, if the evidence was weighed.
    pub fn probability_by_evidence(&self) -> Option<f64> {
        let evidence = self.evidence.as_ref()?;
        let judged = evidence.parts.iter().filter(|part| [JUDGED, JUDGEMENTS].contains(&part.name));
        Some(probability(evidence.log_odds - judged.map(|part| part.log_odds).sum::<f64>()))
    }
}
