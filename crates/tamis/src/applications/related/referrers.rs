//! Finds what uses a passage: the index's words locate files that may contain its name, and the syntax tree confirms.

use super::definitions::{Definitions, MOST_DEFINITIONS, defined};
use super::names::{LIST_SEPARATOR, last_parts, meant};
use super::references::{Parsed, site};
use super::use_site::Defined;
use super::{Referrer, RelatedPassage, Subject, at_line};
use crate::Error;
use rayon::prelude::*;
use std::collections::HashSet;
use tamis_store::{Filter, LexicalQuery, PassageId, StoredPassage};
use tamis_text::{Language, Relation};

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
pub(super) fn of(known: &Definitions<'_>, subject: &Subject, notes: &mut Vec<String>) -> Result<Vec<Referrer>, Error> {
    let Some(symbols) = &subject.passage.symbol else { return Ok(Vec::new()) };
    let parts = symbols.split(LIST_SEPARATOR).map(last_parts).filter(|(name, _)| !name.is_empty()).take(MOST_NAMES);
    let names: HashSet<String> = parts.clone().map(|(name, _)| name.to_owned()).collect();
    // The owner's name ranks first those that provably mean it.
    let words: HashSet<&str> = parts.flat_map(|(name, owner)| owner.into_iter().chain([name])).collect();
    let words: Vec<&str> = words.into_iter().collect();
    let files = files(known, subject, &words.join(" "), &names, notes)?;
    let &Definitions { index, observer, .. } = known;
    let known = known.of(&names)?;

    let used: Vec<Vec<Use>> = files
        .par_iter()
        .map(|(namespace, path)| {
            observer.check_cancelled()?;
            let document = index.store.document_passages(namespace, path)?;
            Ok::<_, Error>(uses(&document, subject, &names, |name| known.named(name)))
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
        notes.push(format!("{left_out} more files hold the name and were not looked into"));
        files.truncate(MOST_FILES);
    }
    Ok(files)
}

/// The uses of the subject in one document, in the order of its lines.
fn uses<'k>(
    document: &[StoredPassage],
    subject: &Subject,
    names: &HashSet<String>,
    definitions: impl Fn(&str) -> Vec<&'k StoredPassage>,
) -> Vec<Use> {
    let parsed = Parsed::new(document);
    let mut found = Vec::new();
    for reference in parsed.references.iter().filter(|reference| names.contains(&reference.name)) {
        let Some(passage) = at_line(document, reference.line) else { continue };
        if subject.pieces.contains(&passage.passage) {
            continue;
        }
        let passages = definitions(&reference.name);
        let all: Vec<Defined<'_>> = passages.iter().map(|passage| defined(passage)).collect();
        let is_subject = |at: &usize| {
            let one = passages[*at];
            let (symbol, kind) = (&subject.passage.symbol, &subject.passage.kind);
            (one.document, &one.symbol, &one.kind) == (subject.passage.document, symbol, kind)
        };
        let fewest = parsed
            .before(reference)
            .into_iter()
            .filter_map(|before| meant(&reference.name, reference.kind, before, &site(passage), &parsed.imports, &all))
            .filter(|meant| meant.positions.iter().any(is_subject))
            .map(|meant| (meant.is_guess, meant.positions.len()))
            .min();
        if let Some((is_guess, definitions)) = fewest {
            let name = reference.name.clone();
            found.push(Use { passage: passage.clone(), name, line: reference.line, definitions, is_guess });
        }
    }
    found
}
