//! Finds what a passage uses.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;
use tamis_store::{Filter, LexicalQuery, PassageId, StoredPassage};
use tamis_text::{Language, Reference, Relation, SYMBOL_SEPARATOR};

use super::name_resolution::{Imports, Meant, before, front_of, last_parts, meant};
use super::{Before, Defined, NameReference, Nearness, Referrer, RelatedPassage, Site, Subject, at_line};
use crate::Error;
use crate::get::by_line;
use crate::handle::Index;
use crate::progress::Observer;
use crate::search::Scope;

/// A document's reassembled text, and its references.
pub(crate) struct Parsed {
    lines: BTreeMap<u32, String>,
    pub(crate) references: Vec<Reference>,
    pub(crate) imports: Imports,
}

impl Parsed {
    /// Parses the document that consists of these passages.
    pub(crate) fn new(document: &[StoredPassage]) -> Parsed {
        let lines: BTreeMap<u32, String> = by_line(document).into_iter().collect();
        let mut text = String::new();
        let mut at = 1;
        for (line, content) in &lines {
            // Passages do not include the blank lines between them.
            while at < *line {
                text.push('\n');
                at += 1;
            }
            text.push_str(content);
            text.push('\n');
            at = line + 1;
        }
        let references = document.first().map_or(Vec::new(), |first| {
            let named = first.language.as_deref().unwrap_or_default();
            let by_path = Language::detect(&first.path, &text).is_some();
            tamis_text::references(if by_path { &first.path } else { named }, &text)
        });
        let language = document.first().and_then(|first| first.language.as_deref());
        let imports = Imports::parse(language, lines.values().map(String::as_str));
        Parsed { lines, references, imports }
    }

    /// The name in its definition of what a reference names. An import can give it another; a member keeps its own.
    fn name<'a>(&'a self, reference: &'a Reference) -> &'a str {
        let defined = self.imports.defined_name(&reference.name);
        let is_renamed = defined != reference.name && self.before(reference).contains(&Before::Nothing);
        if is_renamed { defined } else { &reference.name }
    }

    /// The text before a referenced name.
    pub(crate) fn before(&self, reference: &Reference) -> Vec<Before<'_>> {
        let line = self.lines.get(&reference.line).map_or("", String::as_str);
        let mut found = before(line, &reference.name);
        // A name that begins its line continues the one before it if that ends in a separator, as in a chain of calls in Go.
        if line.trim_start().starts_with(&reference.name)
            && let Some(nothing) = found.iter_mut().find(|before| **before == Before::Nothing)
        {
            *nothing = self.end_before(reference.line);
        }
        match found {
            // The name is spelled differently in the text.
            found if found.is_empty() => vec![Before::Value],
            found => {
                found.into_iter().map(|before| before.with_holder(|name| self.imports.defined_name(name))).collect()
            }
        }
    }

    /// What the text before a line says of a name at its beginning. Comments between them say nothing.
    fn end_before(&self, line: u32) -> Before<'_> {
        let mut ends = self.lines.range(..line).rev().map(|(_, line)| without_comment(line).trim_end());
        ends.find(|line| !line.is_empty()).map_or(Before::Nothing, front_of)
    }
}

/// The part of a line before a comment, as far as its first characters tell without parsing.
fn without_comment(line: &str) -> &str {
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let signs = ["//", "/*", "#", "--"].into_iter().filter_map(|sign| {
        line.match_indices(sign).map(|(at, _)| at).find(|&at| begins(at) && !line[at..].starts_with("#["))
    });
    let end = signs.min().unwrap_or(line.len());
    if line.trim_start().starts_with('*') { "" } else { &line[..end] }
}

/// A passage as the place of a use.
pub(crate) fn site(passage: &StoredPassage) -> Site<'_> {
    let symbol = passage.symbol.as_deref().and_then(|symbols| symbols.split(SYMBOL_SEPARATOR).next());
    let owner = symbol.and_then(|symbol| match (passage.kind.as_str(), last_parts(symbol)) {
        ("type" | "trait", (name, _)) => Some(name),
        (_, (_, owner)) => owner,
    });
    let is_test = passage.role == "test";
    Site { namespace: &passage.namespace, path: &passage.path, language: passage.language.as_deref(), owner, is_test }
}

/// The possible meanings of a name, collected from all its uses.
struct Found<'k> {
    reference: NameReference,
    nearness: Nearness,
    definitions: Vec<&'k StoredPassage>,
}

/// The names that the subject refers to and that are defined, at most `limit`, in the order of its text.
pub(crate) fn references(
    known: &Definitions<'_>,
    subject: &Subject,
    limit: usize,
    notes: &mut Vec<String>,
) -> Result<Vec<NameReference>, Error> {
    let parsed = Parsed::new(&subject.document);
    let within = |line: u32| (subject.passage.start_line..=subject.passage.end_line).contains(&line);
    let site = site(&subject.passage);
    // The owner type of a method is already known.
    let is_new = |name: &str| site.owner != Some(name);
    let own = parsed.references.iter().filter(|reference| within(reference.line) && is_new(&reference.name));
    let own: Vec<&Reference> = own.collect();
    let names: HashSet<String> = own.iter().map(|reference| parsed.name(reference).to_owned()).collect();
    let known = known.find(&names)?;
    if known.cut_short {
        notes.push("the names it uses have so many definitions that not all of them were looked at".to_owned());
    }
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut common: BTreeMap<&str, usize> = BTreeMap::new();
    for reference in own {
        let name = parsed.name(reference);
        let passages = known.by_name(name);
        let all: Vec<Defined<'_>> = passages.iter().map(|passage| known.defined(passage)).collect();
        for before in parsed.before(reference) {
            let Some(meant) = meant(name, reference.kind, before, &site, &parsed.imports, &all) else {
                continue;
            };
            if meant.positions.len() > MOST_DEFINITIONS {
                common.insert(name, meant.positions.len());
                continue;
            }
            let definitions = meant.positions.iter().map(|&at| passages[at]);
            let definitions: Vec<_> = definitions.filter(|one| !subject.pieces.contains(&one.passage)).collect();
            if !definitions.is_empty() {
                take(&mut found, name, reference, &meant, definitions);
            }
        }
    }
    if !common.is_empty() {
        let names = common.iter().map(|(name, count)| format!("{name} ({count})"));
        notes.push(format!("names with too many definitions: {}", names.collect::<Vec<_>>().join(", ")));
    }
    let left_out = found.len().saturating_sub(limit);
    if left_out > 0 {
        notes.push(format!("not shown: {left_out} more of the names it uses"));
        found.sort_by_key(|one| {
            (one.definitions.len() > 1, one.reference.is_guess, one.nearness, one.reference.lines[0])
        });
        found.truncate(limit);
        found.sort_by_key(|one| one.reference.lines[0]);
    }
    Ok(found
        .into_iter()
        .map(|Found { reference, definitions, .. }| NameReference {
            definitions: definitions.into_iter().map(RelatedPassage::from).collect(),
            ..reference
        })
        .collect())
}

/// Adds a use to those of the same name and meaning, or as a new one.
fn take<'k>(
    found: &mut Vec<Found<'k>>,
    name: &str,
    reference: &Reference,
    meant: &Meant,
    definitions: Vec<&'k StoredPassage>,
) {
    let ids = |all: &[&StoredPassage]| all.iter().map(|one| one.passage).collect::<Vec<_>>();
    let same = found.iter_mut().find(|one| one.reference.name == name && ids(&one.definitions) == ids(&definitions));
    match same {
        Some(same) => {
            if same.reference.lines.last() != Some(&reference.line) {
                same.reference.lines.push(reference.line);
            }
            same.reference.is_guess &= meant.is_guess;
        }
        None => found.push(Found {
            reference: NameReference {
                name: name.to_owned(),
                kind: reference.kind.to_string(),
                lines: vec![reference.line],
                definitions: Vec::new(),
                is_guess: meant.is_guess,
            },
            nearness: meant.nearness,
            definitions,
        }),
    }
}

// Finds what uses a passage: the index's words locate files that may contain its name, and the syntax tree confirms.

/// The most files parsed.
const MOST_FILES: usize = 200;

/// The most passages taken from the index's words.
const MOST_CANDIDATES: usize = 2000;

/// The most names of one passage searched for: a group of small declarations has many.
const MOST_NAMES: usize = 4;

/// A use that was found.
struct Use {
    passage: StoredPassage,
    name: String,
    line: u32,
    /// The number of definitions that it can mean.
    definitions: usize,
    is_guess: bool,
}

/// The passages that refer to the subject.
pub(crate) fn referrers(
    known: &Definitions<'_>,
    subject: &Subject,
    notes: &mut Vec<String>,
) -> Result<Vec<Referrer>, Error> {
    let Some(symbols) = &subject.passage.symbol else { return Ok(Vec::new()) };
    let parts = symbols.split(SYMBOL_SEPARATOR).map(last_parts).filter(|(name, _)| !name.is_empty()).take(MOST_NAMES);
    let names: HashSet<String> = parts.clone().map(|(name, _)| name.to_owned()).collect();
    // The owner's name ranks first those that provably mean it.
    let words: HashSet<&str> = parts.flat_map(|(name, owner)| owner.into_iter().chain([name])).collect();
    let words: Vec<&str> = words.into_iter().collect();
    let files = files(known, subject, &words.join(" "), &names, notes)?;
    let &Definitions { index, observer, .. } = known;
    let known = known.find(&names)?;

    let used: Vec<Vec<Use>> = files
        .par_iter()
        .map(|(namespace, path)| {
            observer.check_cancelled()?;
            let document = index.store.document_passages(namespace, path)?;
            Ok::<_, Error>(uses(&document, subject, &names, &known))
        })
        .collect::<Result<_, Error>>()?;

    let mut common = 0;
    let mut found: Vec<Referrer> = Vec::new();
    let mut roles: Vec<bool> = Vec::new();
    let mut last: Option<PassageId> = None;
    for used in used.into_iter().flatten() {
        if used.definitions > MOST_DEFINITIONS {
            common += 1;
            continue;
        }
        let same = found.last_mut().filter(|one| last == Some(used.passage.passage) && one.name == used.name);
        match same {
            Some(same) => {
                same.lines.push(used.line);
                same.lines.dedup();
                same.definitions = same.definitions.min(used.definitions);
                same.is_guess &= used.is_guess;
            }
            None => {
                last = Some(used.passage.passage);
                roles.push(used.passage.role == "test");
                found.push(Referrer {
                    passage: RelatedPassage::from(&used.passage),
                    name: used.name,
                    lines: vec![used.line],
                    definitions: used.definitions,
                    is_guess: used.is_guess,
                    resolved: true,
                });
            }
        }
    }
    if common > 0 {
        notes.push(format!(
            "{common} uses of {symbols} by name are left out: too many definitions are called so to tell which is meant"
        ));
    }
    let mut order: Vec<usize> = (0..found.len()).collect();
    // Files are already ordered nearest first.
    order.sort_by_key(|&at| (roles[at], found[at].definitions > 1 || found[at].is_guess));
    let mut found: Vec<Option<Referrer>> = found.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|at| found[at].take()).collect())
}

/// The files that may contain a name, nearest first: its own file, its neighbours, then by rank of the words.
fn files(
    known: &Definitions<'_>,
    subject: &Subject,
    words: &str,
    names: &HashSet<String>,
    notes: &mut Vec<String>,
) -> Result<Vec<(String, String)>, Error> {
    let filter = known.scope.of_all(&Filter::default());
    let hits = known.index.store.lexical(&LexicalQuery::new(words), &filter, MOST_CANDIDATES)?.hits;
    let ids: Vec<PassageId> = hits.iter().map(|hit| hit.passage).collect();
    let own = (subject.passage.namespace.clone(), subject.passage.path.clone());
    let mut seen = HashSet::from([own.clone()]);
    let mut files = vec![own];
    for passage in known.index.store.passages(&filter.namespaces, &ids)? {
        let related = match (passage.language.as_deref(), subject.passage.language.as_deref()) {
            (Some(asked), Some(found)) => Language::relation(asked, found) != Relation::Other,
            _ => false,
        };
        // A word found it, such as a part of the name; the name itself may not stand there.
        let holds = names.iter().any(|name| passage.text.contains(name.as_str()));
        let place = (passage.namespace, passage.path);
        if related && holds && seen.insert(place.clone()) {
            files.push(place);
        }
    }
    let directory = |path: &str| path.rsplit_once('/').map_or(String::new(), |(directory, _)| directory.to_owned());
    let beside = directory(&subject.passage.path);
    let namespace = &subject.passage.namespace;
    files[1..].sort_by_key(|(other, path)| (other != namespace, directory(path) != beside));
    if files.len() > MOST_FILES {
        let left_out = files.len() - MOST_FILES;
        notes.push(format!("not looked into: {left_out} more of the files that hold the name"));
        files.truncate(MOST_FILES);
    }
    Ok(files)
}

/// The uses of the subject in one document, in the order of its lines.
fn uses(document: &[StoredPassage], subject: &Subject, names: &HashSet<String>, known: &Known) -> Vec<Use> {
    let parsed = Parsed::new(document);
    let mut found = Vec::new();
    for reference in parsed.references.iter().filter(|reference| names.contains(parsed.name(reference))) {
        let name = parsed.name(reference);
        let Some(passage) = at_line(document, reference.line) else { continue };
        if subject.pieces.contains(&passage.passage) {
            continue;
        }
        let passages = known.by_name(name);
        let all: Vec<Defined<'_>> = passages.iter().map(|passage| known.defined(passage)).collect();
        let is_subject = |at: &usize| {
            let one = passages[*at];
            let (symbol, kind) = (&subject.passage.symbol, &subject.passage.kind);
            (one.document, &one.symbol, &one.kind) == (subject.passage.document, symbol, kind)
        };
        let fewest = parsed
            .before(reference)
            .into_iter()
            .filter_map(|before| meant(name, reference.kind, before, &site(passage), &parsed.imports, &all))
            .filter(|meant| meant.positions.iter().any(is_subject))
            .map(|meant| (meant.is_guess, meant.positions.len()))
            .min();
        if let Some((is_guess, definitions)) = fewest {
            found.push(Use {
                passage: passage.clone(),
                name: name.to_owned(),
                line: reference.line,
                definitions,
                is_guess,
            });
        }
    }
    found
}

// Definitions in the index, by their names.

/// The most definitions of one name that are returned; a name with more is too ambiguous.
pub(crate) const MOST_DEFINITIONS: usize = 6;

/// The most passages read to find definitions.
const MOST_READ: usize = 6000;

/// The number of passages read at once.
const READ_AT_ONCE: usize = 500;

/// The scope of a search for definitions.
pub(crate) struct Definitions<'a> {
    pub(crate) index: &'a Index,
    pub(crate) scope: &'a Scope,
    pub(crate) observer: &'a dyn Observer,
}

/// Passages that define names, by name.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) passages: Vec<StoredPassage>,
    by_name: HashMap<String, Vec<usize>>,
    /// The names of the packages at the roots of Go modules, by namespace. No path has them.
    root_packages: HashMap<String, String>,
    /// True if there were too many to read all of them.
    pub(crate) cut_short: bool,
}

impl Definitions<'_> {
    /// Finds the definitions of these names, in one pass over the symbols of the index.
    pub(crate) fn find(&self, names: &HashSet<String>) -> Result<Known, Error> {
        if names.is_empty() {
            return Ok(Known::default());
        }
        let mut symbols: Vec<String> = names.iter().cloned().collect();
        symbols.sort_unstable();
        let filter = self.scope.of_all(&Filter { symbols, ..Filter::default() });
        let found: Vec<PassageId> = self.index.store.select(&filter)?.iter().map(|one| one.passage).collect();
        let mut known = Known { cut_short: found.len() > MOST_READ, ..Known::default() };
        for ids in found[..found.len().min(MOST_READ)].chunks(READ_AT_ONCE) {
            self.observer.check_cancelled()?;
            self.index
                .store
                .passages(&filter.namespaces, ids)?
                .into_iter()
                .for_each(|passage| known.take(passage, names));
        }
        let roots: HashSet<&String> =
            known.passages.iter().filter(|passage| is_of_root(passage)).map(|passage| &passage.namespace).collect();
        for namespace in roots {
            let module = self.index.store.document_passages(namespace, "go.mod")?;
            if let Some(name) = module.iter().find_map(|passage| root_package(&passage.text)) {
                known.root_packages.insert(namespace.clone(), name.to_owned());
            }
        }
        Ok(known)
    }
}

/// True for what is defined at the root of a Go module, as far as paths tell.
fn is_of_root(passage: &StoredPassage) -> bool {
    passage.language.as_deref() == Some("go") && !passage.path.contains('/')
}

/// The name of a Go module's first package: the last part of its path that is no version, as in `module example.org/zoo/v2`.
fn root_package(module: &str) -> Option<&str> {
    let path = module.lines().find_map(|line| line.trim().strip_prefix("module "))?.trim();
    let is_version =
        |part: &str| part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    path.rsplit('/').find(|part| !is_version(part))
}

impl Known {
    /// Adds a passage under each of the names that it defines. Only the first piece of a divided symbol counts.
    fn take(&mut self, passage: StoredPassage, names: &HashSet<String>) {
        let Some(symbols) = &passage.symbol else { return };
        let last: HashSet<&str> = symbols.split(SYMBOL_SEPARATOR).map(|symbol| last_parts(symbol).0).collect();
        let place = self.passages.len();
        let mut taken = false;
        for name in last.into_iter().filter(|name| names.contains(*name)) {
            let others = self.by_name.entry(name.to_owned()).or_default();
            let piece = others.iter().any(|&other| {
                let other = &self.passages[other];
                (other.document, &other.symbol, &other.kind) == (passage.document, &passage.symbol, &passage.kind)
            });
            if !piece {
                others.push(place);
                taken = true;
            }
        }
        if taken {
            self.passages.push(passage);
        }
    }

    /// A passage as a definition.
    fn defined<'a>(&'a self, passage: &'a StoredPassage) -> Defined<'a> {
        let root_package = self.root_packages.get(&passage.namespace).filter(|_| is_of_root(passage));
        Defined {
            symbol: passage.symbol.as_deref().unwrap_or_default(),
            kind: &passage.kind,
            namespace: &passage.namespace,
            path: &passage.path,
            package: root_package.map(String::as_str),
            language: passage.language.as_deref(),
            is_test: passage.role == "test",
        }
    }

    /// The definitions of a name.
    pub(crate) fn by_name(&self, name: &str) -> Vec<&StoredPassage> {
        self.by_name.get(name).into_iter().flatten().map(|&at| &self.passages[at]).collect()
    }
}
