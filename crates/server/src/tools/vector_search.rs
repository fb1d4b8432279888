//! `vector_search`: claims or fragments that are like a text.

use crate::cursor::listed;
use crate::hits::Cut;
use crate::page::{Entry, Listing, MAX_CHARS, More, fitted, max_chars};
use crate::reply::{Refused, Reply};
use crate::text::{clean, line, rounded};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::evidence::{EvidenceTarget, VectorMatch, VectorSearchRequest};

pub(crate) struct VectorSearch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What claims or fragments are compared with: a claim, a question, a sentence.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// What is compared with it.
    #[serde(default)]
    target: Target,
    /// Only what has to do with this task (default: all tasks).
    #[schemars(length(min = 1, max = 200))]
    task_id: Option<String>,
    /// Most matches, 1 to 50 (default: as configured, usually 10).
    #[schemars(range(min = 1, max = 50))]
    top_k: Option<usize>,
    /// Least cosine similarity, 0 to 1; not with cutoff (default: as configured, usually 0.5).
    #[schemars(range(min = 0.0, max = 1.0))]
    min_similarity: Option<f64>,
    /// A cut that decides in place of min_similarity, such as auto or kneedle (default: none).
    #[schemars(length(min = 1, max = 200))]
    cutoff: Option<String>,
    /// The repository or project whose evidence it is, by name (default: the one here).
    namespace: Option<String>,
    /// Most characters of the answer, 1000 to 100000.
    #[schemars(range(min = 1000, max = 100_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
    /// Where to go on: next_cursor of the last answer to the same arguments (default: from the beginning).
    #[allow(dead_code)]
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    #[default]
    Claims,
    Fragments,
}

/// Claims or fragments that are like a text, which can be none.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Matches {
    /// What was compared.
    target: Target,
    /// Most similar first.
    results: Vec<Match>,
    /// How many passages were compared.
    total_searched: u64,
    /// How many are like the text in all, and why no more.
    cut: Cut,
    /// The search's own identifier, which `feedback` takes; absent where searches are not recorded.
    query_id: Option<String>,
    #[serde(flatten)]
    more: More,
}

/// A claim or a fragment.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Match {
    /// Which one; `get` takes it with claim: or fragment: in front.
    id: String,
    /// Cosine similarity to the query, from -1 to 1.
    similarity: f64,
    /// Its first 200 characters.
    text_preview: String,
}

impl Entry for Match {
    fn text(&self) -> String {
        format!("{:.3} [{}] {}\n", self.similarity, line(&self.id), line(&self.text_preview))
    }

    fn body(&mut self) -> &mut String {
        &mut self.text_preview
    }

    fn mark(&mut self) {}
}

impl Listing for Matches {
    type Entry = Match;
    const FENCED: bool = true;

    fn entries(&mut self) -> &mut Vec<Match> {
        &mut self.results
    }

    fn more(&mut self) -> &mut More {
        &mut self.more
    }
}

impl Tool for VectorSearch {
    const NAME: &'static str = "vector_search";
    const TITLE: &'static str = "Search evidence by meaning";
    const DESCRIPTION: &'static str = "Claims, or fragments of pages, of the evidence graph that mean about the same as a text. \
        Take it to find whether a claim is there already, or fragments that nobody has linked to it; take search for words and \
        for everything that is no evidence, query_view and query_sql for how evidence hangs together.";
    const MOST_CHARS: usize = MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Matches;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Matches>, Refused> {
        let cut = arguments.cutoff.as_deref().map(|cut| call.index.config().cut(cut)).transpose();
        let target = arguments.target;
        let found = call.index.evidence().vector_search(&VectorSearchRequest {
            target: match target {
                Target::Claims => EvidenceTarget::Claims,
                Target::Fragments => EvidenceTarget::Fragments,
            },
            task: arguments.task_id,
            top_k: arguments.top_k,
            min_similarity: arguments.min_similarity,
            cut: cut.map_err(|error| Refused(format!("cutoff: {error}")))?,
            namespace: arguments.namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some("mcp".to_owned()),
            ..VectorSearchRequest::new(arguments.query)
        })?;
        let results: Vec<Match> = found.matches.into_iter().map(matched).collect();
        let cut = Cut::of(&found.cut, results.len(), None);
        let warnings = call.warnings().into_iter().chain(found.fallback_reason).chain(found.warnings).collect();
        let names = listed(results.iter().map(|one| one.id.as_str()));
        let tail = format!("{} Compared: {} passages.\n", cut.sentence, found.total_searched);
        let answer = Matches {
            target,
            results,
            total_searched: found.total_searched,
            cut,
            query_id: found.query_id,
            more: More { warnings, ..More::default() },
        };
        Ok(fitted(answer, &tail, &call.place, &names, arguments.max_chars))
    }
}

fn matched(found: VectorMatch) -> Match {
    Match { id: found.id, similarity: rounded(found.similarity), text_preview: clean(&found.text_preview) }
}
