//! Finds every occurrence of a passage's name as a whole word in the files of the tree, also those that the syntax tree does not
//! resolve.

use super::definitions::Definitions;
use super::names::{LIST_SEPARATOR, last_parts};
use super::{Occurrences, Referrer, RelatedPassage, Subject, at_line};
use crate::Error;
use crate::tree::{GrepAnswer, GrepRequest};
use std::collections::HashMap;
use std::time::Duration;
use tamis_store::PassageId;

/// Files whose lines are counted in a limited time. A name of more is an everyday word, and its count says nothing.
const MOST_COUNTED: u64 = 20;

/// Names of one passage that are looked for.
const MOST_NAMES: usize = 4;

/// Counts the occurrences of the subject's names, and adds to `unresolved` each passage with one that no referrer has. `None`
/// for a passage without a name. With a `time_limit` the counts are those of the files read until then; `None` for a name of many
/// files.
pub(super) fn of(
    known: &Definitions<'_>,
    subject: &Subject,
    allowed: Option<&[String]>,
    time_limit: Option<Duration>,
    referrers: &[Referrer],
    unresolved: &mut Vec<Referrer>,
) -> Result<Option<Occurrences>, Error> {
    let &Definitions { index, scope, observer } = known;
    let Some(symbols) = &subject.passage.symbol else { return Ok(None) };
    let mut names: Vec<&str> = symbols.split(LIST_SEPARATOR).map(|symbol| last_parts(symbol).0).collect();
    names.retain(|name| !name.is_empty());
    names.truncate(MOST_NAMES);
    if names.is_empty() {
        return Ok(None);
    }
    let mut counts =
        Occurrences { names: names.iter().map(|&name| name.to_owned()).collect(), ..Occurrences::default() };
    for namespace in &scope.names {
        if !index.sources().iter().any(|source| source.namespace == *namespace) {
            continue;
        }
        let alternatives: Vec<String> = names.iter().map(|name| escaped(name)).collect();
        let request = GrepRequest {
            word_regexp: true,
            time_limit,
            namespace: Some(namespace.clone()),
            allowed_namespaces: allowed.map(<[String]>::to_vec),
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
