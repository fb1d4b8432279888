//! Passages that a search found, as tools give them.

use crate::page::{Entry, Listing, More};
use crate::text::{clean, fenced, line, name, rounded, short};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use tamis::{Answer, CutReport, Hit, Nearest};

/// What a search found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// The query as it was searched.
    pub query: String,
    /// The search's own identifier, which `feedback` takes; absent where searches are not recorded.
    pub query_id: Option<String>,
    /// The relevant passages, best first.
    pub results: Vec<Passage>,
    /// How many are relevant in all, and why no more.
    pub cut: Cut,
    /// Passages that were searched.
    pub searched: u64,
    #[serde(flatten)]
    pub more: More,
}

/// How many of the candidates are relevant, and why.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cut {
    /// How many are relevant; a limit shows fewer.
    pub keep: usize,
    /// Of how many that were looked at.
    pub candidates: usize,
    /// What decided: the name of a cut, or `gate` where nothing stood out.
    pub method: String,
    /// Why.
    pub reason: String,
    /// The same in one sentence.
    #[serde(skip)]
    pub sentence: String,
}

impl Cut {
    /// The cut of an answer that shows so many results. `nearest`: the best candidate, where nothing is relevant.
    pub fn of(cut: &CutReport, shown: usize, nearest: Option<&Nearest>) -> Self {
        let reason = name(&cut.reason);
        // Others wrote the names.
        let nearest = nearest.map(|nearest| Nearest {
            path: name(&nearest.path),
            title: nearest.title.as_deref().map(name),
            symbol: nearest.symbol.as_deref().map(name),
            ..nearest.clone()
        });
        let cut = CutReport { reason, ..cut.clone() };
        let sentence = cut.sentence(shown, nearest.as_ref());
        Cut { keep: cut.keep, candidates: cut.candidates, method: cut.method, reason: cut.reason, sentence }
    }
}

/// A passage.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Passage {
    /// Place in the answer, from 1.
    pub rank: usize,
    /// Its identifier, which `get` and `related` take.
    pub id: String,
    /// The repository or project it belongs to.
    pub namespace: String,
    /// The kind of text: code, docs, wiki, issues, notes, sessions or evidence.
    pub collection: String,
    /// Path of the document.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// What it is: function, type, section, comment, …
    pub kind: String,
    /// Title of the document, or the headings above the passage.
    pub title: Option<String>,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
    /// Language.
    pub language: Option<String>,
    /// Who wrote or said it.
    pub author: Option<String>,
    /// When it was written.
    pub dated_at: Option<String>,
    /// What is known of the document: of an issue its state, type and labels, of a claim its task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Vec<String>>,
    /// The value that ranked it.
    pub score: f64,
    /// Cosine similarity to the query, from -1 to 1.
    pub similarity: Option<f64>,
    /// BM25 of the query's words in it.
    pub bm25: Option<f64>,
    /// The lines that answer best.
    pub snippet: String,
    /// Whether the snippet lost its end to `max_chars`; `get` reads it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
    /// Whether the text says in which namespace it is.
    #[serde(skip)]
    pub tells_namespace: bool,
}

impl Passage {
    fn of(hit: Hit, tells_namespace: bool) -> Self {
        let name = |text: Option<String>| text.map(|text| name(&text));
        Passage {
            rank: hit.rank,
            id: hit.id,
            namespace: hit.namespace,
            collection: hit.collection,
            path: clean(&hit.path),
            start_line: hit.start_line,
            end_line: hit.end_line,
            kind: hit.kind,
            title: name(hit.title),
            symbol: name(hit.symbol),
            language: hit.language,
            author: name(hit.author),
            dated_at: hit.dated_at,
            attributes: few(hit.attributes),
            score: rounded(hit.score),
            similarity: hit.similarity.map(rounded),
            bm25: hit.bm25.map(rounded),
            snippet: clean(&hit.snippet),
            shortened: false,
            tells_namespace,
        }
    }

    /// By whom and of when, where that is one person's or an entry of a tracker or a notebook.
    fn origin(&self) -> String {
        let mut words = self.kind.replace('_', " ");
        let state = self.attributes.get("state").map(|states| states.join(", "));
        if let Some(state) = state.filter(|_| self.collection == "issues") {
            let _ = write!(words, ", {}", line(&state));
        }
        if let Some(author) = &self.author {
            let _ = write!(words, " by {author}");
        }
        let told = self.author.is_some() || !["code", "docs"].contains(&self.collection.as_str());
        if let Some(day) = self.dated_at.as_deref().filter(|_| told).and_then(|date| date.get(..10)) {
            let _ = write!(words, ", {day}");
        }
        words
    }
}

/// Attributes as far as they tell something: labels can be many and long.
fn few(attributes: BTreeMap<String, Vec<String>>) -> BTreeMap<String, Vec<String>> {
    const MOST: usize = 12;
    const LONGEST: usize = 80;
    let short = |text: &str| short(&line(text), LONGEST).into_owned();
    let values = |values: Vec<String>| values.iter().take(MOST).map(|value| short(value)).collect();
    attributes.into_iter().take(MOST).map(|(name, known)| (short(&name), values(known))).collect()
}

impl Entry for Passage {
    fn text(&self) -> String {
        let namespace = if self.tells_namespace { format!("{}:", name(&self.namespace)) } else { String::new() };
        let called = self.symbol.as_ref().or(self.title.as_ref()).map(|name| format!(" {name}")).unwrap_or_default();
        // Others gave the names as well.
        let place = format!("{namespace}{}:{}-{}{called}", name(&self.path), self.start_line, self.end_line);
        let quoted = format!("{place} ({})\n\n{}", self.origin(), self.snippet);
        format!("{}. [{}]\n{}\n", self.rank, self.id, fenced(&quoted))
    }

    fn body(&mut self) -> &mut String {
        &mut self.snippet
    }

    fn mark(&mut self) {
        self.shortened = true;
    }
}

impl Listing for Found {
    type Entry = Passage;

    fn entries(&mut self) -> &mut Vec<Passage> {
        &mut self.results
    }

    fn more(&mut self) -> &mut More {
        &mut self.more
    }
}

impl Found {
    /// An answer of the library, with what else should be known of it.
    pub fn of(answer: Answer, mut warnings: Vec<String>) -> Self {
        let tells_namespace = answer.index.namespaces.len() > 1;
        if let Some(reason) = &answer.fallback_reason {
            warnings.push(format!("answered with {}: {reason}", answer.model.as_deref().unwrap_or("words alone")));
        }
        warnings.extend(answer.warnings);
        if answer.index.passages == 0 {
            warnings.push("no indexed passage passes the filters; leave some out".to_owned());
        }
        Found {
            query: name(&answer.query),
            query_id: answer.query_id,
            cut: Cut::of(&answer.cut, answer.results.len(), answer.nearest.as_ref()),
            searched: answer.index.passages,
            results: answer.results.into_iter().map(|hit| Passage::of(hit, tells_namespace)).collect(),
            more: More { warnings, ..More::default() },
        }
    }

    /// How many are relevant and why, and the name of the search.
    pub fn tail(&self) -> String {
        let query = self.query_id.as_ref().map(|id| format!(" [query {id}]")).unwrap_or_default();
        format!("{}{query}\n", self.cut.sentence)
    }

    /// The names of what is listed, in order.
    pub fn names(&self) -> String {
        crate::cursor::listed(self.results.iter().map(|passage| passage.id.as_str()))
    }
}
