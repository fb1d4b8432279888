//! `related`: on from a result.

use crate::cursor::listed;
use crate::page::{Entry, Listing, MAX_CHARS, More, fitted, max_chars};
use crate::reply::{Refused, Reply};
use crate::text::{clean, name, rounded};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::related::{RelatedBy, RelatedPassage, RelatedRequest};

pub(crate) struct Related;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The id of a result, or PATH:LINE, a line in the passage that is meant.
    #[schemars(length(min = 1, max = 4000))]
    id: String,
    /// By meaning (vector) or by the names that code uses (reference) (default: both).
    by: Option<By>,
    /// Most entries of each relation, 1 to 100 (default: as configured, usually 10).
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// Most characters of the answer, 1000 to 100000.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
    /// Where to go on: next_cursor of the last answer to the same arguments (default: from the beginning).
    #[allow(dead_code)]
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum By {
    Vector,
    Reference,
}

/// What is related to a passage.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Relations {
    /// The passage that was asked about.
    passage: Place,
    /// What is like it, then what it uses, then what uses it.
    results: Vec<Relation>,
    /// Why no more is like it; absent where no vectors were compared.
    reason: Option<String>,
    #[serde(flatten)]
    more: More,
}

/// Where a passage is.
#[derive(Debug, Serialize, JsonSchema)]
struct Place {
    /// Its identifier, which `get` takes.
    id: String,
    /// The repository or project it belongs to.
    namespace: String,
    /// Path of the document.
    path: String,
    /// First line, from 1.
    start_line: u32,
    /// Last line, included.
    end_line: u32,
    /// What it is: function, type, section, …
    kind: String,
    /// Qualified name of the symbol, else the title.
    name: Option<String>,
}

/// A passage that is related.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Relation {
    /// How.
    relation: How,
    #[serde(flatten)]
    place: Place,
    /// Cosine similarity of the two, where they are alike.
    similarity: Option<f64>,
    /// The name that one uses of the other.
    uses: Option<String>,
    /// The lines that do so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<u32>,
    /// How many definitions the name can mean; more than 1: perhaps this one.
    definitions: Option<usize>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum How {
    Similar,
    Uses,
    UsedBy,
}

impl Place {
    fn of(passage: RelatedPassage) -> Self {
        Place {
            id: passage.id,
            namespace: passage.namespace,
            path: clean(&passage.path),
            start_line: passage.start_line,
            end_line: passage.end_line,
            kind: passage.kind,
            name: passage.symbol.or(passage.title).map(|called| name(&called)),
        }
    }

    fn text(&self) -> String {
        let Place { start_line, end_line, id, .. } = self;
        let called = self.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("{}:{start_line}-{end_line} [{id}]{called} ({})", name(&self.path), self.kind.replace('_', " "))
    }
}

impl Entry for Relation {
    fn text(&self) -> String {
        let lines = match self.lines.as_slice() {
            [] => String::new(),
            [one] => format!(", line {one}"),
            several => {
                let shown: Vec<String> = several.iter().take(5).map(u32::to_string).collect();
                format!(", lines {}{}", shown.join(", "), if several.len() > 5 { ", …" } else { "" })
            }
        };
        let perhaps = match self.definitions {
            Some(count) if count > 1 => format!(" (perhaps: {count} definitions)"),
            _ => String::new(),
        };
        let place = self.place.text();
        match self.relation {
            How::Similar => format!("like it, {:.2}: {place}\n", self.similarity.unwrap_or_default()),
            How::Uses => format!("it uses {}: {place}{lines}{perhaps}\n", self.uses.as_deref().unwrap_or_default()),
            How::UsedBy => format!("used by: {place}{lines}{perhaps}\n"),
        }
    }

    fn body(&mut self) -> &mut String {
        &mut self.place.path
    }

    fn mark(&mut self) {}
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

    fn more(&mut self) -> &mut More {
        &mut self.more
    }
}

impl Tool for Related {
    const NAME: &'static str = "related";
    const TITLE: &'static str = "Related passages";
    const DESCRIPTION: &'static str = "From a result on: what is like it in meaning, the definitions that it uses, and the places \
        that use it. Take it to follow code, or to find more of the same, once search has found a first passage.";
    const MOST_CHARS: usize = MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Relations;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Relations>, Refused> {
        let found = call.index.related().find(&RelatedRequest {
            by: arguments.by.map(|by| match by {
                By::Vector => RelatedBy::Vector,
                By::Reference => RelatedBy::Reference,
            }),
            limit: arguments.limit,
            allowed_namespaces: call.allowed(),
            ..RelatedRequest::new(arguments.id)
        })?;
        let relation = |relation, passage| Relation {
            relation,
            place: Place::of(passage),
            similarity: None,
            uses: None,
            lines: Vec::new(),
            definitions: None,
        };
        let similar = found
            .similar
            .into_iter()
            .map(|one| Relation { similarity: Some(rounded(one.similarity)), ..relation(How::Similar, one.passage) });
        let uses = found.references.into_iter().flat_map(|one| {
            let definitions = one.definitions.len();
            one.definitions.into_iter().map(move |passage| (passage, one.name.clone(), one.lines.clone(), definitions))
        });
        let uses = uses.map(|(passage, used, lines, definitions)| Relation {
            uses: Some(name(&used)),
            lines,
            definitions: Some(definitions),
            ..relation(How::Uses, passage)
        });
        let used_by = found.referenced_by.into_iter().map(|one| Relation {
            uses: Some(name(&one.name)),
            lines: one.lines,
            definitions: Some(one.definitions),
            ..relation(How::UsedBy, one.passage)
        });
        let results: Vec<Relation> = similar.chain(uses).chain(used_by).collect();
        let reason = found.cut.map(|cut| name(&cut.reason));
        let names = listed(results.iter().map(|one| one.place.id.as_str()));
        let passage = Place::of(found.passage);
        let nothing = if results.is_empty() { "Nothing is related to it. " } else { "" };
        let why = reason.as_ref().map(|reason| format!("{}.", reason.trim_end_matches('.'))).unwrap_or_default();
        let tail = format!("{nothing}{why}\n");
        let warnings = call.warnings().into_iter().chain(found.notes).collect();
        let answer = Relations { passage, results, reason, more: More { warnings, ..More::default() } };
        Ok(fitted(answer, &tail, &call.place, &names, arguments.max_chars))
    }
}
