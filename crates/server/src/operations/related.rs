//! Similar passages, and definitions and uses of names.

use crate::call::Call;
use crate::cursor::fingerprint;
use crate::labels::note_opened;
use crate::lanes::Lane;
use crate::operation::{Argument, Failure, Operation, Route, Tool, field};
use crate::page::{Entry, Listing, PageArguments, PageInfo, paginated};
use crate::reply::Reply;
use crate::text::{clean, counted, name, rounded};
use schemars::JsonSchema;
use serde::Serialize;
use tamis::kind_in_words;
use tamis::related::{Occurrences, RelatedPassage, RelatedRequest};

pub(crate) struct Related;

impl Operation for Related {
    const NAME: &'static str = "related";
    const LANE: Lane = Lane::Slow;
    type Request = RelatedRequest;
    type Answer = tamis::related::Related;

    fn call(call: &Call<'_>, request: RelatedRequest) -> Result<tamis::related::Related, Failure> {
        let request = RelatedRequest { allowed_namespaces: call.allowed(), ..request };
        let found = call.index.related().find(&request, call.observer)?;
        note_opened(call, &found, "related");
        Ok(found)
    }
}

impl Route for Related {
    const PATH: &'static str = "/v1/related";
    const SUMMARY: &'static str = "Find passages like one, what it uses, and what uses it";
    const DESCRIPTION: &'static str = "As `tamis related --json`.";
}

/// The passages related to a passage.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Relations {
    /// The passage of the call.
    passage: PassageRef,
    /// Similar passages, then definitions that it uses, then passages that use it.
    results: Vec<Relation>,
    /// The reason the similar passages end there; absent when no vectors were compared.
    reason: Option<String>,
    #[serde(flatten)]
    page: PageInfo,
}

/// A passage and its location.
#[derive(Debug, Serialize, JsonSchema)]
struct PassageRef {
    /// Identifier, for `get`.
    id: String,
    /// Repository or project of the document.
    namespace: String,
    /// Path of the document.
    path: String,
    /// First line, from 1.
    start_line: u32,
    /// Last line, included.
    end_line: u32,
    /// Kind of passage: function, type, section, …
    kind: String,
    /// Qualified name of the symbol, or else the title.
    name: Option<String>,
    /// The kind in the words of its language.
    #[serde(skip)]
    kind_in_words: String,
}

/// A related passage.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Relation {
    /// The relation.
    relation: RelationKind,
    #[serde(flatten)]
    place: PassageRef,
    /// Cosine similarity of the two passages, for a similar one.
    similarity: Option<f64>,
    /// The names that one passage uses of the other.
    uses: Option<String>,
    /// The lines that use it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<u32>,
    /// Number of definitions with this name; with more than one, the relation is only possible; 0: not resolved.
    definitions: Option<usize>,
    /// True if only the name speaks for the relation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_guess: bool,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RelationKind {
    Similar,
    Uses,
    UsedBy,
}

impl PassageRef {
    fn of(passage: RelatedPassage) -> Self {
        PassageRef {
            id: passage.id,
            namespace: passage.namespace,
            path: clean(&passage.path),
            start_line: passage.start_line,
            end_line: passage.end_line,
            kind_in_words: kind_in_words(&passage.kind, passage.language.as_deref()),
            kind: passage.kind,
            name: passage.symbol.or(passage.title).map(|called| name(&called)),
        }
    }

    fn text(&self) -> String {
        let PassageRef { start_line, end_line, id, .. } = self;
        let called = self.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("{}:{start_line}-{end_line} [{id}]{called} ({})", name(&self.path), self.kind_in_words)
    }
}

/// Lines of one passage that the text names.
const MOST_LINES: usize = 50;

impl Entry for Relation {
    fn text(&self) -> String {
        let lines = match self.lines.as_slice() {
            [] => String::new(),
            [one] => format!(", line {one}"),
            several => {
                let shown: Vec<String> = several.iter().take(MOST_LINES).map(u32::to_string).collect();
                format!(", lines {}{}", shown.join(", "), if several.len() > MOST_LINES { ", …" } else { "" })
            }
        };
        let perhaps = match self.definitions {
            Some(0) => " (not resolved)".to_owned(),
            Some(count) if count > 1 => format!(" (possibly; {count} definitions)"),
            _ if self.is_guess => " (possibly; only the name says so)".to_owned(),
            _ => String::new(),
        };
        let place = self.place.text();
        match self.relation {
            RelationKind::Similar => format!("similar, {:.2}: {place}\n", self.similarity.unwrap_or_default()),
            RelationKind::Uses => {
                format!("uses {}: {place}{lines}{perhaps}\n", self.uses.as_deref().unwrap_or_default())
            }
            RelationKind::UsedBy => format!("used by: {place}{lines}{perhaps}\n"),
        }
    }

    fn body(&mut self) -> &mut String {
        &mut self.place.path
    }

    fn mark_shortened(&mut self) {}
}

impl Listing for Relations {
    type Entry = Relation;
    const FENCED: bool = true;

    fn head(&self) -> String {
        format!("related to: {}\n", self.passage.text())
    }

    fn entries(&mut self) -> &mut Vec<Relation> {
        &mut self.results
    }

    fn page(&mut self) -> &mut PageInfo {
        &mut self.page
    }
}

impl Tool for Related {
    const TITLE: &'static str = "Related passages";
    const DESCRIPTION: &'static str = "Continue from a result: passages of similar meaning, the definitions that it uses, and the code \
        that uses it.";
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[field("id"), field("by"), field("limit")]);
    type Options = PageArguments;
    type View = Relations;

    fn view(call: &Call<'_>, found: tamis::related::Related, page: PageArguments) -> Reply<Relations> {
        let relation = |relation, passage| Relation {
            relation,
            place: PassageRef::of(passage),
            similarity: None,
            uses: None,
            lines: Vec::new(),
            definitions: None,
            is_guess: false,
        };
        let mut uses = Vec::new();
        for names in found.uses_by_definition() {
            let mut lines: Vec<u32> = names.iter().flat_map(|one| &one.lines).copied().collect();
            lines.sort_unstable();
            lines.dedup();
            let definitions = &names[0].definitions;
            let called: Vec<String> = names.iter().map(|one| name(&one.name)).collect();
            uses.extend(definitions.iter().map(|passage| Relation {
                uses: Some(called.join(", ")),
                lines: lines.clone(),
                definitions: Some(definitions.len()),
                is_guess: names[0].is_guess,
                ..relation(RelationKind::Uses, passage.clone())
            }));
        }
        let similar = found.similar.into_iter().map(|one| Relation {
            similarity: Some(rounded(one.similarity)),
            ..relation(RelationKind::Similar, one.passage)
        });
        let used_by = found.referenced_by.into_iter().map(|one| Relation {
            uses: Some(name(&one.name)),
            lines: one.lines,
            definitions: Some(one.definitions),
            is_guess: one.is_guess,
            ..relation(RelationKind::UsedBy, one.passage)
        });
        let results: Vec<Relation> = similar.chain(uses).chain(used_by).collect();
        let reason = found.cut.map(|cut| name(&cut.reason));
        let names = fingerprint(results.iter().map(|one| one.place.id.as_str()));
        let passage = PassageRef::of(found.passage);
        let nothing = if results.is_empty() { "Nothing is related to it. " } else { "" };
        let why = reason.as_ref().map(|reason| format!("{}.", reason.trim_end_matches('.'))).unwrap_or_default();
        let counts = found.occurrences.as_ref().map(|counts| {
            let (lines, files) = (counted(counts.lines as usize, "line"), counted(counts.files as usize, "file"));
            let Occurrences { own_lines, resolved_lines, unresolved_lines, .. } = counts;
            format!(
                "The name stands on {lines} of {files}: {own_lines} in the passage itself, {resolved_lines} resolved, \
                 {unresolved_lines} not resolved. "
            )
        });
        let tail = format!("{nothing}{}{why}\n", counts.unwrap_or_default());
        let warnings = call.warnings().into_iter().chain(found.notes).collect();
        let answer = Relations { passage, results, reason, page: PageInfo { warnings, ..PageInfo::default() } };
        paginated(answer, &tail, &call.cursor, &names, page.max_chars)
    }
}
