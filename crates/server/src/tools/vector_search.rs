//! `vector_search`: claims or fragments similar to a text.

use crate::cursor::fingerprint;
use crate::hits::Cut;
use crate::page::{DEFAULT_MAX_CHARS, Entry, Listing, PageArguments, PageInfo, paginated};
use crate::reply::{Refused, Reply};
use crate::text::{clean, line, rounded};
use crate::tool::{Call, Need, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::evidence::{EvidenceTarget, VectorMatch, VectorSearchRequest};

pub(crate) struct VectorSearch;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Text to compare with: a claim, a question or a sentence.
    #[schemars(length(min = 1, max = 10_000))]
    query: String,
    /// Records to compare.
    #[serde(default)]
    target: Target,
    /// Only evidence of this task (default: all tasks).
    #[schemars(length(min = 1, max = 200))]
    task_id: Option<String>,
    /// Most matches, 1 to 50 (default: as configured, usually 10).
    #[schemars(range(min = 1, max = 50))]
    top_k: Option<usize>,
    /// Lowest cosine similarity, 0 to 1; excludes cutoff (default: as configured, usually 0.5).
    #[schemars(range(min = 0.0, max = 1.0))]
    min_similarity: Option<f64>,
    /// Cut that decides instead of min_similarity, such as auto or kneedle (default: none).
    #[schemars(length(min = 1, max = 200))]
    cutoff: Option<String>,
    /// Repository (default: this one).
    namespace: Option<String>,
    #[serde(flatten)]
    page: PageArguments,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Target {
    #[default]
    Claims,
    Fragments,
}

/// Similar claims or fragments, if any.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Matches {
    /// The compared records.
    target: Target,
    /// Results, most similar first.
    results: Vec<Match>,
    /// Number of passages compared.
    total_searched: u64,
    /// Number of similar records, and the reason for it.
    cut: Cut,
    /// Identifier of the search, for `feedback`; absent when searches are not recorded.
    query_id: Option<String>,
    #[serde(flatten)]
    page: PageInfo,
}

/// A claim or a fragment.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Match {
    /// Identifier; `get` takes it after claim: or fragment:.
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

    fn mark_shortened(&mut self) {}
}

impl Listing for Matches {
    type Entry = Match;
    const FENCED: bool = true;

    fn entries(&mut self) -> &mut Vec<Match> {
        &mut self.results
    }

    fn page(&mut self) -> &mut PageInfo {
        &mut self.page
    }
}

impl Tool for VectorSearch {
    const NAME: &'static str = "vector_search";
    const NEED: Need = Need::Evidence;
    const TITLE: &'static str = "Search evidence by meaning";
    const DESCRIPTION: &'static str = "Find claims or fragments of the evidence graph that are similar in meaning to a text. \
        Use it to check whether a claim already exists, or to find fragments that nobody has linked to it. Use search for words and \
        for everything besides evidence, and query_view or query_sql for the links within the evidence.";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    type Arguments = Arguments;
    type Answer = Matches;

    fn kept(answer: &Matches) -> Option<usize> {
        Some(answer.cut.keep)
    }

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
            cut: cut.map_err(|error| Refused::from(format!("cutoff: {error}")))?,
            namespace: arguments.namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some("mcp".to_owned()),
            ..VectorSearchRequest::new(arguments.query)
        })?;
        let results: Vec<Match> = found.matches.into_iter().map(matched).collect();
        let sentence = found.cut.sentence(results.len(), &[]);
        let cut = Cut::of(found.cut, &sentence);
        let warnings = call.warnings().into_iter().chain(found.fallback_reason).chain(found.warnings).collect();
        let names = fingerprint(results.iter().map(|one| one.id.as_str()));
        let tail = format!(
            "{} Compared: {} passages.
",
            cut.sentence, found.total_searched
        );
        let answer = Matches {
            target,
            results,
            total_searched: found.total_searched,
            cut,
            query_id: found.query_id,
            page: PageInfo { warnings, ..PageInfo::default() },
        };
        Ok(paginated(answer, &tail, &call.cursor, &names, arguments.page.max_chars))
    }
}

fn matched(found: VectorMatch) -> Match {
    Match { id: found.id, similarity: rounded(found.similarity), text_preview: clean(&found.text_preview) }
}
