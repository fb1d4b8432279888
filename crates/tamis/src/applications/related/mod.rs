//! Finds what is similar to a passage, what it uses and what uses it.
//!
//! `links` goes from page to page. Similarity uses vectors (`search::candidate_pool`). The other two use names: the syntax tree gives the
//! names that a piece of code refers to, the index gives their definitions, and `name_resolution` chooses among several definitions as far
//! as possible without types, using the file's imports. `references` looks names up, and goes from a passage to what it uses and the other
//! way. This file adds every other place where the name stands as a word.

mod links;
mod name_resolution;
mod references;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_store::{PassageId, StoredPassage};
use tamis_text::{Kind, SYMBOL_SEPARATOR};

use crate::Error;
#[cfg(feature = "clap")]
use crate::flag_values;
use crate::get::{Lookup, Named};
use crate::handle::Index;
use crate::import::FileCommit;
use crate::import::commits::commits_of;
use crate::progress::Observer;
use crate::search::{Asker, Context, CutReport, MetadataFilter, SimilarPassages, scope_around};
use crate::tree::{GrepAnswer, GrepRequest, TreeScope};
use name_resolution::last_parts;
use references::Definitions;

pub use links::LinkedDocument;

/// The kind of relation between passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RelatedBy {
    /// Similar meaning: the nearest vectors.
    Vector,
    /// References: what it uses, and what uses it.
    Reference,
}

impl RelatedBy {
    /// The names of both.
    pub const NAMES: [&str; 2] = ["vector", "reference"];
}

impl fmt::Display for RelatedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            RelatedBy::Vector => "vector",
            RelatedBy::Reference => "reference",
        })
    }
}

impl FromStr for RelatedBy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "vector" => Ok(RelatedBy::Vector),
            "reference" => Ok(RelatedBy::Reference),
            other => Err(Error::argument("by", format!("{other:?}"), "vector or reference")),
        }
    }
}

/// A search for related passages. [`RelatedRequest::new`] asks for every relation with the configuration's own limit.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RelatedRequest {
    /// Id of a result, or PATH:LINE for any line of a passage.
    #[schemars(length(min = 1, max = 4000))]
    #[cfg_attr(feature = "clap", arg(value_name = "ID|PATH[:LINE]"))]
    pub id: String,
    /// vector: similar passages; reference: what it uses and what uses it (default: both).
    #[schemars(with = "Option<String>", extend("enum" = RelatedBy::NAMES))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WHAT", value_parser = flag_values::word::<RelatedBy>(&RelatedBy::NAMES), hide_possible_values = true))]
    pub by: Option<RelatedBy>,
    /// Show at most this many of each kind, 1 to 1000 (default: search.top_k, 10).
    #[schemars(range(min = 1, max = 1000))]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = flag_values::whole::<1, 1000>, allow_negative_numbers = true))]
    pub limit: Option<usize>,
    /// Conditions on similar passages. References use names alone.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub metadata: MetadataFilter,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
}

impl RelatedRequest {
    /// Creates a request for everything related to a passage: its identifier or a prefix of it, or a place in it as `PATH:LINE`, as
    /// in [`Index::get`].
    pub fn new(id: impl Into<String>) -> Self {
        RelatedRequest { id: id.into(), ..RelatedRequest::default() }
    }
}

/// The passages related to one passage.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Related {
    /// The passage.
    pub passage: RelatedPassage,
    /// The model whose vectors were compared; null if none were.
    pub model: Option<String>,
    /// Similar passages, best first, as many as the configured cut keeps. Tests and similar roles rank lower than their
    /// similarity. Other pieces of the same symbol are left out.
    pub similar: Vec<SimilarPassage>,
    /// The number of similar passages, and the reason for it; null if no vectors were compared.
    pub cut: Option<CutReport>,
    /// The names that it refers to and that are defined in the index, in the order of its text. If there are too many,
    /// the least certain ones are left out.
    pub references: Vec<NameReference>,
    /// Passages that refer to it: nearest files first, tests last.
    pub referenced_by: Vec<Referrer>,
    /// The documents that its document links to, for a document of prose.
    pub links: Vec<LinkedDocument>,
    /// The documents that link to its document.
    pub linked_from: Vec<LinkedDocument>,
    /// The last commits that touched its document, newest first, where commits were imported.
    pub commits: Vec<FileCommit>,
    /// How often its name occurs as a word in the files of the tree; null unless references were asked for, and for a passage
    /// without a name.
    pub occurrences: Option<Occurrences>,
    /// The entries left out, and the reasons.
    pub notes: Vec<String>,
}

/// The occurrences of a name as a whole word in the files of the tree, counted exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Occurrences {
    /// The names that were counted, without qualifiers.
    pub names: Vec<String>,
    /// Number of occurrences; a line can have several.
    pub matches: u64,
    /// Number of lines with one.
    pub lines: u64,
    /// Number of files with one.
    pub files: u64,
    /// Lines of the passage itself.
    pub own_lines: u64,
    /// Lines that use it, as far as names tell.
    pub resolved_lines: u64,
    /// Lines with the word that could not be resolved: imports, comments, strings, macros, or something else of that name.
    pub unresolved_lines: u64,
}

impl Related {
    /// Groups the names that it uses: those whose one definition is the same passage stand together, in their order.
    #[must_use]
    pub fn uses_by_definition(&self) -> Vec<Vec<&NameReference>> {
        let mut groups: Vec<Vec<&NameReference>> = Vec::new();
        for reference in &self.references {
            let same = |first: &NameReference| {
                first.definitions.len() == 1
                    && (&first.definitions, first.is_guess) == (&reference.definitions, reference.is_guess)
            };
            match groups.iter_mut().find(|group| same(group[0])) {
                Some(group) => group.push(reference),
                None => groups.push(vec![reference]),
            }
        }
        groups
    }

    /// Returns `true` if nothing is related.
    pub fn is_empty(&self) -> bool {
        self.similar.is_empty()
            && self.references.is_empty()
            && self.referenced_by.is_empty()
            && self.links.is_empty()
            && self.linked_from.is_empty()
            && self.commits.is_empty()
    }
}

/// A passage by its place and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RelatedPassage {
    /// The passage's identifier, which `tamis get` takes.
    pub id: String,
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path of the document under the root, with forward slashes.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// Qualified name of the symbol.
    pub symbol: Option<String>,
    /// Title of the document, or the path of headings above the passage.
    pub title: Option<String>,
    /// Its kind: `function`, `type`, `section`, …
    pub kind: String,
    /// Canonical name of the language.
    pub language: Option<String>,
}

impl From<&StoredPassage> for RelatedPassage {
    fn from(passage: &StoredPassage) -> Self {
        RelatedPassage {
            id: passage.id.clone(),
            namespace: passage.namespace.clone(),
            path: passage.path.clone(),
            start_line: passage.start_line,
            end_line: passage.end_line,
            symbol: passage.symbol.clone(),
            title: passage.heading.clone().or_else(|| passage.title.clone()),
            kind: passage.kind.clone(),
            language: passage.language.clone(),
        }
    }
}

/// A passage similar to another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SimilarPassage {
    /// The passage.
    #[serde(flatten)]
    pub passage: RelatedPassage,
    /// Cosine similarity of the two, in [-1, 1].
    pub similarity: f64,
}

/// A name that a passage refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NameReference {
    /// The name, without qualifiers.
    pub name: String,
    /// The kind of reference: `call`, `type` or `implementation`.
    pub kind: String,
    /// The lines of the document with the reference, ascending.
    pub lines: Vec<u32>,
    /// The possible definitions. More than one if nothing distinguishes them.
    pub definitions: Vec<RelatedPassage>,
    /// True if nothing but the name speaks for them: the type of the value before it is unknown.
    pub is_guess: bool,
}

/// A passage that refers to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Referrer {
    /// The passage.
    #[serde(flatten)]
    pub passage: RelatedPassage,
    /// The name it uses, without qualifiers.
    pub name: String,
    /// The lines of its document that use it, ascending.
    pub lines: Vec<u32>,
    /// The number of definitions that the name can mean there, including this one; 1: this one alone, 0: not resolved.
    pub definitions: usize,
    /// True if nothing but the name speaks for it: the type of the value before it is unknown.
    pub is_guess: bool,
    /// False if the name stands there as a word and could not be resolved.
    pub resolved: bool,
}

/// A passage and the others of its document.
struct Subject {
    passage: StoredPassage,
    /// All passages of its document, in their order.
    document: Vec<StoredPassage>,
    /// The pieces of the same symbol, including the passage itself.
    pieces: HashSet<PassageId>,
    /// True if the document was named as a whole, which is not similar to itself.
    whole: bool,
}

/// The time for counting a name where its lines are not asked for.
const COUNTING: Duration = Duration::from_millis(300);

/// Most commits of a file.
const MOST_COMMITS: usize = 5;

/// Most entries of a list.
const MOST_LISTED: usize = 1000;

/// Finds what is similar to a passage, what it uses and what uses it. From [`Index::related`].
#[derive(Clone, Copy)]
pub struct RelatedFinder<'a> {
    pub(super) index: &'a Index,
}

/// Fewest words of a passage that stands for its document.
const FEWEST_WORDS: usize = 8;

impl RelatedFinder<'_> {
    /// Finds what is related to a passage: what is similar to it, what it uses and what uses it. At most 200 files are
    /// parsed. Uses are resolved by names and their surroundings, not by types. If a name has several definitions that
    /// nothing distinguishes, all are returned; a name with more than six is left out with a note. With references alone,
    /// every other line of the tree's files that has the name as a word is among the uses too, marked as not resolved.
    ///
    /// # Errors
    /// The passage is missing or may not be read, the limit is out of range, a condition is not allowed, or the index
    /// or a model fails. [`Error::Cancelled`] if the observer stopped it.
    pub fn find(&self, request: &RelatedRequest, observer: &dyn Observer) -> Result<Related, Error> {
        let context = Context::new(self.index, observer);
        let references_alone = request.by == Some(RelatedBy::Reference);
        let usual = if references_alone { MOST_LISTED } else { self.index.config.search.top_k };
        let limit = request.limit.unwrap_or(usual);
        if !(1..=MOST_LISTED).contains(&limit) {
            return Err(Error::argument("limit", limit.to_string(), "1 to 1000"));
        }
        request.metadata.check()?;
        let allowed = request.asker.allowed_namespaces.as_deref();
        let subject = self.subject(&request.id, allowed)?;
        let scope = scope_around(&context, &subject.passage.namespace, allowed)?;
        let mut notes = Vec::new();

        let mut similar = SimilarPassages::default();
        if request.by != Some(RelatedBy::Reference) {
            let document = subject.document.iter().map(|other| other.passage);
            let own = if subject.whole { document.collect() } else { subject.pieces.clone() };
            similar = crate::search::similar(&context, subject.passage.passage, &own, &scope, &request.metadata)?;
            notes.extend(similar.remark.take());
        }
        let kept = similar.cut.as_ref().map_or(0, |cut| cut.keep).min(limit);
        let mut named = HashSet::new();
        // Pieces of one symbol, and the comments of one issue, are one thing to go on from.
        let mut is_new = |passage: &StoredPassage| match &passage.symbol {
            None if passage.collection != "issues" => true,
            symbol => named.insert((passage.document, symbol.clone())),
        };
        let similar_passages = similar.passages.iter().take(kept);
        let similar_passages: Vec<_> = similar_passages.filter(|(passage, _)| is_new(passage)).collect();

        let (mut references, mut referenced_by, mut occurrences) = (Vec::new(), Vec::new(), None);
        if request.by != Some(RelatedBy::Vector) {
            let known = Definitions { index: self.index, scope: &scope, observer };
            references = references::references(&known, &subject, limit, &mut notes)?;
            referenced_by = references::referrers(&known, &subject, &mut notes)?;
            let mut unresolved = Vec::new();
            let counts = count_occurrences(
                &known,
                &subject,
                allowed,
                (!references_alone).then_some(COUNTING),
                &referenced_by,
                &mut unresolved,
            )?;
            if references_alone {
                referenced_by.append(&mut unresolved);
                occurrences = counts;
            } else if let Some(more) = counts.map(|counts| counts.unresolved_lines).filter(|&more| more > 0) {
                let lines = if more == 1 { "1 more line holds".to_owned() } else { format!("{more} more lines hold") };
                notes.push(format!("{lines} the name and may use it; related by reference lists them"));
            }
            if referenced_by.len() > limit {
                notes.push(format!("not shown: {} more of its uses", referenced_by.len() - limit));
                referenced_by.truncate(limit);
            }
        }
        let (mut links, mut linked_from) = match request.by {
            Some(RelatedBy::Vector) => (Vec::new(), Vec::new()),
            _ => links::links(self.index, &subject.document, &mut notes)?,
        };
        for (what, list) in [("its links", &mut links), ("the places that link to it", &mut linked_from)] {
            if list.len() > limit {
                notes.push(format!("not shown: {} more of {what}", list.len() - limit));
                list.truncate(limit);
            }
        }
        let (commits, more) = match request.by {
            None => self.commits(&subject.passage, limit)?,
            Some(_) => (Vec::new(), 0),
        };
        if more > 0 {
            notes.push(format!("not shown: {more} more of the commits that touched it"));
        }
        Ok(Related {
            passage: RelatedPassage::from(&subject.passage),
            model: similar.model,
            similar: similar_passages
                .into_iter()
                .map(|(passage, similarity)| SimilarPassage { passage: (&**passage).into(), similarity: *similarity })
                .collect(),
            cut: similar.cut,
            references,
            referenced_by,
            links,
            linked_from,
            commits,
            occurrences,
            notes,
        })
    }

    /// The last commits that touched the document of a passage, and how many there are besides.
    fn commits(&self, passage: &StoredPassage, limit: usize) -> Result<(Vec<FileCommit>, usize), Error> {
        let most = MOST_COMMITS.min(limit);
        let (commits, count) = commits_of(self.index, &passage.namespace, &passage.path, most)?;
        Ok((commits, count.saturating_sub(most)))
    }

    /// The passage that `wanted` names.
    fn subject(&self, wanted: &str, allowed: Option<&[String]>) -> Result<Subject, Error> {
        // An unreadable passage looks the same as a missing one.
        let hidden = || Error::NotFound { wanted: wanted.to_owned(), nearest: None };
        let mut whole = false;
        let (passage, document) = match (Lookup { index: self.index, allowed }).meant_by(wanted)? {
            Named::Passage(passage) => {
                let document = self.index.store.document_passages(&passage.namespace, &passage.path)?;
                (*passage, document)
            }
            Named::Lines(place, lines) => {
                let document = self.index.store.document_passages(&place.namespace, &place.path)?;
                let line = lines.map_or_else(|| beginning(&document), |(line, _)| line);
                let passage = at_line(&document, line).cloned().ok_or_else(|| match document.last() {
                    Some(last) => {
                        let allowed = format!("1 to {}, the last line of {}", last.end_line, last.path);
                        Error::argument("lines", line.to_string(), allowed)
                    }
                    None => hidden(),
                })?;
                whole = lines.is_none();
                (passage, document)
            }
        };
        let pieces = match passage.collection.as_str() {
            // An issue or a conversation is one thing.
            "issues" | "sessions" | "commits" => document.iter().map(|other| other.passage).collect(),
            _ => pieces(&passage, &document),
        };
        Ok(Subject { passage, document, pieces, whole })
    }
}

/// The line of the passage that stands for its document: the first one with a few words of text. Front matter says nothing of the text
/// below it, nor does a line that leads back to another page.
fn beginning(document: &[StoredPassage]) -> u32 {
    let mut texts = document.iter().filter(|one| one.kind != Kind::FrontMatter.as_str());
    let has_words = |one: &&StoredPassage| one.text.split_whitespace().count() >= FEWEST_WORDS;
    let first = texts.clone().find(has_words).or_else(|| texts.next());
    first.map_or(1, |passage| passage.start_line)
}

/// The passage that holds a line, or else the next one after it: blank lines are in none.
fn at_line(passages: &[StoredPassage], line: u32) -> Option<&StoredPassage> {
    let holding = passages.iter().filter(|one| (one.start_line..=one.end_line).contains(&line));
    let holding = holding.min_by_key(|one| one.end_line - one.start_line);
    holding.or_else(|| passages.iter().filter(|one| one.start_line > line).min_by_key(|one| one.start_line))
}

/// The pieces of the symbol that `passage` is a piece of, including `passage`.
fn pieces(passage: &StoredPassage, document: &[StoredPassage]) -> HashSet<PassageId> {
    let same = |other: &&StoredPassage| match (&passage.symbol, &passage.heading) {
        (None, None) => false,
        _ => (&other.symbol, &other.heading, &other.kind) == (&passage.symbol, &passage.heading, &passage.kind),
    };
    let mut pieces: HashSet<PassageId> = document.iter().filter(same).map(|other| other.passage).collect();
    pieces.insert(passage.passage);
    pieces
}

// Finds every occurrence of a passage's name as a whole word in the files of the tree, also those that the syntax tree does not
// resolve.

/// Files whose lines are counted in a limited time. A name of more is an everyday word, and its count says nothing.
const MOST_COUNTED: u64 = 20;

/// Names of one passage that are looked for.
const MOST_NAMES: usize = 4;

/// Counts the occurrences of the subject's names, and adds to `unresolved` each passage with one that no referrer has. `None`
/// for a passage without a name. With a `time_limit` the counts are those of the files read until then; `None` for a name of many
/// files.
fn count_occurrences(
    known: &Definitions<'_>,
    subject: &Subject,
    allowed: Option<&[String]>,
    time_limit: Option<Duration>,
    referrers: &[Referrer],
    unresolved: &mut Vec<Referrer>,
) -> Result<Option<Occurrences>, Error> {
    let &Definitions { index, scope, observer } = known;
    let Some(symbols) = &subject.passage.symbol else { return Ok(None) };
    let mut names: Vec<&str> = symbols.split(SYMBOL_SEPARATOR).map(|symbol| last_parts(symbol).0).collect();
    let mut seen = HashSet::new();
    names.retain(|name| !name.is_empty() && seen.insert(*name));
    names.truncate(MOST_NAMES);
    if names.is_empty() {
        return Ok(None);
    }
    let mut counts =
        Occurrences { names: names.iter().map(|&name| name.to_owned()).collect(), ..Occurrences::default() };
    for namespace in &scope.names {
        let alternatives: Vec<String> = names.iter().map(|name| escaped(name)).collect();
        let request = GrepRequest {
            word_regexp: true,
            time_limit,
            scope: TreeScope {
                namespace: Some(namespace.clone()),
                asker: Asker::with_rights(allowed.map(<[String]>::to_vec)),
                ..TreeScope::default()
            },
            ..GrepRequest::new(alternatives.join("|"))
        };
        let found = index.tree().grep(&request, observer)?;
        if time_limit.is_some() && found.files > MOST_COUNTED {
            return Ok(None);
        }
        counts.matches += found.matches;
        counts.lines += found.lines;
        counts.files += found.files;
        add(known, subject, &names, found, referrers, &mut counts, unresolved)?;
    }
    Ok(Some(counts))
}

/// Adds the lines of one namespace that no referrer has.
fn add(
    searched: &Definitions<'_>,
    subject: &Subject,
    names: &[&str],
    found: GrepAnswer,
    referrers: &[Referrer],
    counts: &mut Occurrences,
    unresolved: &mut Vec<Referrer>,
) -> Result<(), Error> {
    for file in found.results {
        searched.observer.check_cancelled()?;
        let document = searched.index.store.document_passages(&file.namespace, &file.path)?;
        let known = |line: u32| {
            referrers.iter().any(|one| {
                one.passage.namespace == file.namespace && one.passage.path == file.path && one.lines.contains(&line)
            })
        };
        let mut places: HashMap<PassageId, usize> = HashMap::new();
        for hit in &file.hits {
            let Some(passage) = at_line(&document, hit.line) else { continue };
            if subject.pieces.contains(&passage.passage) {
                counts.own_lines += 1;
            } else if known(hit.line) {
                counts.resolved_lines += 1;
            } else {
                counts.unresolved_lines += 1;
                let at = *places.entry(passage.passage).or_insert_with(|| {
                    let named = hit.spans.first().and_then(|span| hit.text.get(span.clone()));
                    let name = named.or(names.first().copied()).unwrap_or_default().to_owned();
                    let place = RelatedPassage::from(passage);
                    unresolved.push(Referrer {
                        passage: place,
                        name,
                        lines: Vec::new(),
                        definitions: 0,
                        is_guess: false,
                        resolved: false,
                    });
                    unresolved.len() - 1
                });
                unresolved[at].lines.push(hit.line);
            }
        }
    }
    Ok(())
}

/// The name as a regular expression that matches it alone.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if !character.is_alphanumeric() && character != '_' {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

// The place of a name's use, the text before it, and its definition.

/// The qualifier before a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before<'a> {
    /// Nothing: `open(…)`.
    Nothing,
    /// The root of a package or the parent of a module: `crate::open(…)`.
    Root,
    /// The value that the code itself belongs to: `self.open(…)`.
    Own,
    /// A type or a module: `store::open(…)`.
    Path(&'a str),
    /// A variable, a type or a module: `store.open(…)`.
    Named(&'a str),
    /// A value known only by its shape: `stores[0].open(…)`.
    Value,
}

impl<'a> Before<'a> {
    /// The same with the named type, module or variable replaced.
    fn with_holder(self, replace: impl FnOnce(&'a str) -> &'a str) -> Before<'a> {
        match self {
            Before::Path(name) => Before::Path(replace(name)),
            Before::Named(name) => Before::Named(replace(name)),
            other => other,
        }
    }
}

/// A definition, by its symbol and place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defined<'a> {
    /// Qualified name; several, separated by commas, if the passage has them.
    pub symbol: &'a str,
    pub kind: &'a str,
    pub namespace: &'a str,
    pub path: &'a str,
    /// The name of its package where the path does not have it.
    pub package: Option<&'a str>,
    pub language: Option<&'a str>,
    pub is_test: bool,
}

/// The place of a name's use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub namespace: &'a str,
    pub path: &'a str,
    pub language: Option<&'a str>,
    /// The type that the code belongs to.
    pub owner: Option<&'a str>,
    pub is_test: bool,
}

/// The distance of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nearness {
    File,
    Directory,
    Elsewhere,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::test_support::passage;

    #[test]
    fn the_first_text_with_a_few_words_stands_for_its_document() {
        let at = |line: u32, kind: Kind, text: &str| StoredPassage {
            kind: kind.as_str().to_owned(),
            start_line: line,
            ..passage(u64::from(line), "retry.md", text)
        };
        let back = at(6, Kind::Section, "[> Back to homepage]");
        let front = at(1, Kind::FrontMatter, "title: Retry, and when it ends, which is after two of them");
        let text = at(9, Kind::Section, "Retries end after two attempts unless the request says otherwise.");
        assert_eq!(beginning(&[front.clone(), back.clone(), text]), 9);
        assert_eq!([beginning(&[front.clone(), back]), beginning(&[front])], [6, 1]);
    }
}
