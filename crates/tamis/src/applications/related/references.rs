//! Finds what a passage uses.

use super::definitions::{Definitions, MOST_DEFINITIONS, defined};
use super::imports::Imports;
use super::names::{LIST_SEPARATOR, Meant, before, front_of, last_parts, meant};
use super::use_site::{Before, Defined, Nearness, Site};
use super::{NameReference, RelatedPassage, Subject};
use crate::Error;
use crate::lookup::by_line;
use std::collections::{BTreeMap, HashSet};
use tamis_store::StoredPassage;
use tamis_text::{Language, Reference};

/// A document's reassembled text, and its references.
pub(super) struct Parsed {
    lines: BTreeMap<u32, String>,
    pub(super) references: Vec<Reference>,
    pub(super) imports: Imports,
}

impl Parsed {
    /// Parses the document that consists of these passages.
    pub(super) fn new(document: &[StoredPassage]) -> Parsed {
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
            let by_path = Language::of(&first.path, &text).is_some();
            tamis_text::references(if by_path { &first.path } else { named }, &text)
        });
        let language = document.first().and_then(|first| first.language.as_deref());
        let imports = Imports::of(language, lines.values().map(String::as_str));
        Parsed { lines, references, imports }
    }

    /// The text before a referenced name.
    pub(super) fn before(&self, reference: &Reference) -> Vec<Before<'_>> {
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
            found => found,
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
pub(super) fn site(passage: &StoredPassage) -> Site<'_> {
    let symbol = passage.symbol.as_deref().and_then(|symbols| symbols.split(LIST_SEPARATOR).next());
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
pub(super) fn of(
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
    let names: HashSet<String> = own.iter().map(|reference| reference.name.clone()).collect();
    let known = known.of(&names)?;
    if known.cut_short {
        notes.push("the names it uses have so many definitions that not all of them were looked at".to_owned());
    }
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut common: BTreeMap<&str, usize> = BTreeMap::new();
    for reference in own {
        let passages = known.named(&reference.name);
        let all: Vec<Defined<'_>> = passages.iter().map(|passage| defined(passage)).collect();
        for before in parsed.before(reference) {
            let Some(meant) = meant(&reference.name, reference.kind, before, &site, &parsed.imports, &all) else {
                continue;
            };
            if meant.positions.len() > MOST_DEFINITIONS {
                common.insert(&reference.name, meant.positions.len());
                continue;
            }
            let definitions = meant.positions.iter().map(|&at| passages[at]);
            let definitions: Vec<_> = definitions.filter(|one| !subject.pieces.contains(&one.passage)).collect();
            if !definitions.is_empty() {
                take(&mut found, reference, &meant, definitions);
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
fn take<'k>(found: &mut Vec<Found<'k>>, reference: &Reference, meant: &Meant, definitions: Vec<&'k StoredPassage>) {
    let ids = |all: &[&StoredPassage]| all.iter().map(|one| one.passage).collect::<Vec<_>>();
    let same =
        found.iter_mut().find(|one| one.reference.name == reference.name && ids(&one.definitions) == ids(&definitions));
    match same {
        Some(same) => {
            if same.reference.lines.last() != Some(&reference.line) {
                same.reference.lines.push(reference.line);
            }
            same.reference.is_guess &= meant.is_guess;
        }
        None => found.push(Found {
            reference: NameReference {
                name: reference.name.clone(),
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
