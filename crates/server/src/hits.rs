//! What a search found, as the answer of a tool.

use crate::cursor::Cursor;
use crate::page::{CURSOR_CHARS, Entry, Listing, PageInfo, paginated, warning_lines};
use crate::reply::Reply;
use crate::sanitize::json_length;
use crate::text::{clean, dedented, fenced, line, name, rounded, short};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use tamis::search::{FurtherPassage, judged, percent};
use tamis::{Answer, CutReport, Hit};

/// The result of a search.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// The query as it was searched.
    pub query: String,
    /// Identifier of the search, for `feedback`; absent when searches are not recorded.
    pub query_id: Option<String>,
    /// The relevant files, issues, sessions and so on, best first, each with its best passage.
    pub results: Vec<Passage>,
    /// Number of relevant results, and the reason for it.
    pub cut: Cut,
    /// The next files, issues, sessions and so on, which are less likely to be relevant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Nearest>,
    /// Words of the query that no passage has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_words: Vec<String>,
    /// Number of passages searched.
    pub searched: u64,
    /// True if the text names namespaces.
    #[serde(skip)]
    pub shows_namespace: bool,
    #[serde(flatten)]
    pub page: PageInfo,
}

/// The decision of a cut.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cut {
    /// Number of relevant candidates; a limit may show fewer.
    pub keep: usize,
    /// Number of candidates.
    pub candidates: usize,
    /// Name of the cut that decided, or `gate` when nothing stood out.
    pub method: String,
    /// Reason for the number.
    pub reason: String,
    /// The same in one sentence.
    #[serde(skip)]
    pub sentence: String,
}

impl Cut {
    /// The cut of an answer with this sentence.
    pub fn of(cut: CutReport, sentence: &str) -> Self {
        let CutReport { keep, candidates, method, reason, .. } = cut;
        Cut { keep, candidates, method, reason: name(&reason), sentence: name(sentence) }
    }
}

/// A result below the line, by its best passage.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Nearest {
    /// Identifier, for `get` and `related`.
    id: String,
    /// Repository or project of the passage.
    namespace: String,
    /// Path of the document.
    path: String,
    /// First line, from 1.
    start_line: u32,
    /// Symbol, or else heading.
    name: Option<String>,
    /// Probability of relevance, from 0 to 1.
    probability: Option<f64>,
    /// The same as a percentage.
    #[serde(skip)]
    percent: Option<String>,
    /// True if people judged it relevant for this question, false if they judged it not relevant.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged_relevant: Option<bool>,
}

/// The results below the line take no more than this part of an answer, and of one without results.
const NEAREST_PART: usize = 8;
const NEAREST_PART_OF_NOTHING: usize = 2;

impl Nearest {
    fn of(nearest: &tamis::search::Nearest) -> Self {
        Nearest {
            id: nearest.id.clone(),
            namespace: nearest.namespace.clone(),
            path: clean(&nearest.path),
            start_line: nearest.start_line,
            name: nearest.name().map(|text| short(&name(text), FURTHER_NAME).into_owned()),
            probability: nearest.probability.map(rounded),
            percent: nearest.probability.map(percent),
            judged_relevant: nearest.judged_relevant,
        }
    }

    /// Returns the result as a line of text.
    fn line(&self, shows_namespace: bool) -> String {
        let namespace = if shows_namespace { format!("{}:", name(&self.namespace)) } else { String::new() };
        let mut line = format!("{namespace}{}:{}", name(&self.path), self.start_line);
        if let Some(name) = &self.name {
            let _ = write!(line, " {name}");
        }
        // A judgement says more than the probability that follows from it.
        if let Some(relevant) = self.judged_relevant {
            let _ = write!(line, ", {}", judged(relevant));
        } else if let Some(percent) = &self.percent {
            let _ = write!(line, " {percent}");
        }
        line + "\n"
    }
}

/// Another relevant passage of a result.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Further {
    /// Identifier, for `get` and `related`.
    pub id: String,
    /// First line, from 1.
    start_line: u32,
    /// Last line, included.
    end_line: u32,
    /// Symbol, or else heading.
    name: Option<String>,
    /// Score that determined the rank.
    score: f64,
    /// The line that matches best.
    snippet: String,
}

/// Number of other passages in an answer; the rest is counted.
const FURTHER: usize = 2;

/// Most characters of a name and of a line of another passage.
const FURTHER_NAME: usize = 60;
const FURTHER_LINE: usize = 120;

/// Lines of code in a text, below the first result.
const BRIEF_LINES: usize = 3;

/// Number of near-copies in an answer; the rest is counted.
const COPIES: usize = 3;

impl Further {
    fn of(passage: FurtherPassage) -> Self {
        let shown = |text: &str, most: usize| short(&name(text), most).into_owned();
        let heading = passage.title.as_deref().and_then(|title| title.rsplit(" > ").next());
        Further {
            name: passage.symbol.as_deref().or(heading).map(|text| shown(text, FURTHER_NAME)),
            id: passage.id,
            start_line: passage.start_line,
            end_line: passage.end_line,
            score: rounded(passage.score),
            snippet: shown(passage.snippet.trim(), FURTHER_LINE),
        }
    }
}

/// A result: an entry by its best passage, or a passage where passages were asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Passage {
    /// Position in the answer, from 1.
    pub rank: usize,
    /// Identifier, for `get` and `related`.
    pub id: String,
    /// Repository or project of the passage.
    pub namespace: String,
    /// Kind of text: code, docs, wiki, issues, notes, sessions or evidence.
    pub collection: String,
    /// Path of the document.
    pub path: String,
    /// Address of the issue, if known.
    pub url: Option<String>,
    /// Line on which the snippet starts, from 1.
    pub snippet_line: u32,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// Kind of passage: function, type, section, comment, …
    pub kind: String,
    /// Title of the document, or the headings above the passage.
    pub title: Option<String>,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
    /// Programming language.
    pub language: Option<String>,
    /// Author or speaker.
    pub author: Option<String>,
    /// Date of the passage.
    pub dated_at: Option<String>,
    /// Properties of the document, such as the state and labels of an issue or the task of a claim.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Vec<String>>,
    /// Score that determined the rank.
    pub score: f64,
    /// Probability of relevance, from 0 to 1, if the cut gives one.
    pub probability: Option<f64>,
    /// True if people judged it relevant for this question, false if they judged it not relevant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_relevant: Option<bool>,
    /// Cosine similarity to the query, from -1 to 1.
    pub similarity: Option<f64>,
    /// BM25 score of the query's words.
    pub bm25: Option<f64>,
    /// The lines that match best.
    pub snippet: String,
    /// Other relevant passages of the same file, issue or session, best first; the best few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<Further>,
    /// Number of relevant passages beyond these; `passages` set to true lists all.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_passages: usize,
    /// Paths of other documents with a near-copy, which are not results themselves; the best few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
    /// Number of such documents beyond these.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_copies: usize,
    /// True if the snippet was shortened to fit `max_chars`; `get` reads all of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
    /// True if the text names the namespace.
    #[serde(skip)]
    pub shows_namespace: bool,
    /// The lines of the snippet in the text, from 0.
    #[serde(skip)]
    shown: Range<usize>,
}

/// The lines of a snippet that a text shows: all of the first result and of prose, and of other code those with the most words of the
/// question.
fn shown_lines(hit: &Hit) -> Range<usize> {
    let lines = hit.snippet.lines().count();
    let marked: Vec<usize> =
        hit.highlights.iter().map(|mark| hit.snippet[..mark.start].matches('\n').count()).collect();
    let brief = |first: usize| first..first + BRIEF_LINES;
    let windows = (0..=lines.saturating_sub(BRIEF_LINES)).rev().map(brief);
    let best = windows.max_by_key(|window| marked.iter().filter(|line| window.contains(line)).count());
    best.filter(|_| hit.rank > 1 && hit.collection == "code").unwrap_or(0..lines)
}

impl Passage {
    fn of(hit: Hit, shows_namespace: bool) -> Self {
        let name = |text: Option<String>| text.map(|text| name(&text));
        Passage {
            rank: hit.rank,
            shown: shown_lines(&hit),
            id: hit.id,
            namespace: hit.namespace,
            collection: hit.collection,
            path: clean(&hit.path),
            url: name(hit.url),
            snippet_line: hit.snippet_line,
            start_line: hit.start_line,
            end_line: hit.end_line,
            kind: hit.kind,
            title: name(hit.title),
            symbol: name(hit.symbol),
            language: hit.language,
            author: name(hit.author),
            dated_at: hit.dated_at,
            attributes: bounded(hit.attributes),
            score: rounded(hit.score),
            probability: hit.probability.map(rounded),
            judged_relevant: hit.judged_relevant,
            similarity: hit.similarity.map(rounded),
            bm25: hit.bm25.map(rounded),
            snippet: clean(&hit.snippet),
            more_passages: hit.passages.len().saturating_sub(FURTHER),
            passages: hit.passages.into_iter().take(FURTHER).map(Further::of).collect(),
            more_copies: hit.copies.len().saturating_sub(COPIES),
            copies: hit.copies.iter().take(COPIES).map(|copy| clean(&copy.path)).collect(),
            shortened: false,
            shows_namespace,
        }
    }

    /// Returns the other passages and the near-copies as text, a line each.
    fn others(&self) -> String {
        let mut text = String::new();
        for Further { start_line, end_line, name, snippet, .. } in &self.passages {
            let _ = write!(text, "\n+ {start_line}-{end_line}");
            let _ = match name {
                // A symbol's name says enough.
                Some(name) if self.collection == "code" => write!(text, " {name}"),
                Some(name) => write!(text, " {name}: {snippet}"),
                None => write!(text, ": {snippet}"),
            };
        }
        match self.more_passages {
            0 => {}
            1 => text.push_str("\n+ 1 more passage"),
            more => text.push_str(&format!("\n+ {more} more passages")),
        }
        if !self.copies.is_empty() {
            let copies: Vec<String> = self.copies.iter().map(|path| name(path)).collect();
            let _ = write!(text, "\nalso in {}", copies.join(", "));
            if self.more_copies > 0 {
                let _ = write!(text, " and {} more", self.more_copies);
            }
        }
        text
    }

    /// The kind, with the author and the date where they matter: outside code and documentation, or when an author is known.
    fn origin(&self) -> String {
        let mut words = tamis::kind_in_words(&self.kind, self.language.as_deref());
        let state = self.attributes.get("state").map(|states| states.join(", "));
        if let Some(state) = state.filter(|_| self.collection == "issues") {
            let _ = write!(words, ", {}", line(&state));
        }
        if let Some(author) = &self.author {
            let _ = write!(words, " by {author}");
        }
        let is_dated = self.author.is_some() || !["code", "docs"].contains(&self.collection.as_str());
        if let Some(day) = self.dated_at.as_deref().filter(|_| is_dated).and_then(|date| date.get(..10)) {
            let _ = write!(words, ", {day}");
        }
        if let Some(url) = &self.url {
            let _ = write!(words, ", {url}");
        }
        if let Some(relevant) = self.judged_relevant {
            let _ = write!(words, ", {}", judged(relevant));
        }
        let first = self.snippet_line + self.shown.start as u32;
        if first != self.start_line {
            let _ = write!(words, ", from line {first}");
        }
        words
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Attributes in bounded number and length, since labels can be many and long.
fn bounded(attributes: BTreeMap<String, Vec<String>>) -> BTreeMap<String, Vec<String>> {
    const MOST: usize = 12;
    const LONGEST: usize = 80;
    let short = |text: &str| short(&line(text), LONGEST).into_owned();
    let values = |values: Vec<String>| values.iter().take(MOST).map(|value| short(value)).collect();
    attributes.into_iter().take(MOST).map(|(name, known)| (short(&name), values(known))).collect()
}

impl Entry for Passage {
    fn text(&self) -> String {
        let namespace = if self.shows_namespace { format!("{}:", name(&self.namespace)) } else { String::new() };
        let called = self.symbol.as_ref().or(self.title.as_ref()).map(|name| format!(" {name}")).unwrap_or_default();
        // Names were written by others too.
        let place = format!("{namespace}{}:{}-{}{called}", name(&self.path), self.start_line, self.end_line);
        let lines: Vec<&str> = self.snippet.lines().skip(self.shown.start).take(self.shown.len()).collect();
        let quoted = format!("{place} ({})\n{}{}", self.origin(), dedented(&lines.join("\n")), self.others());
        // A file's lines name the passage as well, in fewer tokens.
        let is_record = ["issues", "notes", "sessions", "evidence"].contains(&self.collection.as_str());
        let id = if is_record { format!(" [{}]", self.id) } else { String::new() };
        format!("{}.{id}\n{}", self.rank, fenced(&quoted))
    }

    fn body(&mut self) -> &mut String {
        &mut self.snippet
    }

    fn mark_shortened(&mut self) {
        self.shortened = true;
        // The best passage matters more than the lines below it.
        self.more_passages += std::mem::take(&mut self.passages).len();
        self.more_copies += std::mem::take(&mut self.copies).len();
    }
}

impl Listing for Found {
    type Entry = Passage;

    fn entries(&mut self) -> &mut Vec<Passage> {
        &mut self.results
    }

    fn page(&mut self) -> &mut PageInfo {
        &mut self.page
    }
}

impl From<Answer> for Found {
    fn from(answer: Answer) -> Self {
        let shows_namespace = answer.index.namespaces.len() > 1;
        let mut warnings = Vec::new();
        if let Some(reason) = &answer.fallback_reason {
            warnings.push(format!("answered with {}: {reason}", answer.model.as_deref().unwrap_or("words alone")));
        }
        warnings.extend(answer.warnings);
        if answer.index.passages == 0 {
            warnings.push("no passage is indexed, or none passes the filters; remove some filters".to_owned());
        }
        Found {
            query: name(&answer.query),
            cut: Cut::of(answer.cut, &answer.summary),
            nearest: answer.nearest.iter().map(Nearest::of).collect(),
            missing_words: answer.missing_words.iter().map(|word| name(word)).collect(),
            shows_namespace,
            query_id: answer.query_id,
            searched: answer.index.passages,
            results: answer.results.into_iter().map(|hit| Passage::of(hit, shows_namespace)).collect(),
            page: PageInfo { warnings, ..PageInfo::default() },
        }
    }
}

impl Found {
    /// Keeps as many results below the line as fit into their part of `max_chars`; none on a page that does not end the results.
    fn fit_nearest(&mut self, cursor: &Cursor, max_chars: usize) {
        let of = |passage: &Passage| {
            let json = if cursor.with_data { json_length(passage) } else { 0 };
            json.max(passage.text().chars().count())
        };
        let results: usize = self.results.iter().skip(cursor.start).map(of).sum();
        let around = self.tail().chars().count() + warning_lines(&self.page.warnings).chars().count() + CURSOR_CHARS;
        let part = if self.results.is_empty() { NEAREST_PART_OF_NOTHING } else { NEAREST_PART };
        let most = if results + around < max_chars { max_chars / part } else { 0 };
        while !self.nearest.is_empty() && json_length(&self.nearest).max(self.below().chars().count()) > most {
            self.nearest.pop();
        }
    }

    /// The results below the line, as text.
    fn below(&self) -> String {
        self.nearest.iter().map(|nearest| nearest.line(self.shows_namespace)).collect()
    }

    /// The results below the line, the sentence about all results, and the identifier of the search. An empty answer begins with
    /// the sentence.
    fn tail(&self) -> String {
        let query = self.query_id.as_ref().map(|id| format!(" [query {id}]")).unwrap_or_default();
        let sentence = format!("{}{query}\n", self.cut.sentence);
        match (self.nearest.is_empty(), self.results.is_empty()) {
            (true, _) => sentence,
            (false, true) => format!("{sentence}Nearest:\n{}", fenced(&self.below())),
            (false, false) => format!("Less likely:\n{}{sentence}", fenced(&self.below())),
        }
    }

    /// The page of the answer at a cursor.
    pub fn reply(mut self, cursor: &Cursor, max_chars: usize) -> Reply<Found> {
        self.fit_nearest(cursor, max_chars);
        let (tail, names) = (self.tail(), self.names());
        paginated(self, &tail, cursor, &names, max_chars)
    }

    /// Fingerprint of the results.
    fn names(&self) -> String {
        crate::cursor::fingerprint(self.results.iter().map(|passage| passage.id.as_str()))
    }
}
