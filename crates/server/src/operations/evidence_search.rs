//! Claims or fragments similar to a text.

use crate::api::verbs::Verbs;
use crate::call::{Call, Need};
use crate::cursor::fingerprint;
use crate::hits::Cut;
use crate::operation::{Argument, Failure, Operation, Route, Tool, field};
use crate::page::{Entry, Listing, PageArguments, PageInfo, paginated};
use crate::reply::Reply;
use crate::text::{clean, line, rounded};
use schemars::JsonSchema;
use serde::Serialize;
use tamis::evidence::{EvidenceTarget, VectorMatch, VectorMatches, VectorSearchRequest};

pub(crate) struct EvidenceSearch;

impl Operation for EvidenceSearch {
    const NAME: &'static str = "evidence_search";
    type Request = VectorSearchRequest;
    type Answer = VectorMatches;

    fn kept(answer: &VectorMatches) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, request: VectorSearchRequest) -> Result<VectorMatches, Failure> {
        Ok(call.index.evidence().vector_search(&VectorSearchRequest {
            allowed_namespaces: call.allowed(),
            entry_point: Some(call.entry_point.to_owned()),
            ..request
        })?)
    }
}

impl Route for EvidenceSearch {
    const PATH: &'static str = "/v1/evidence/search";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Find claims or fragments similar to a text";
    const DESCRIPTION: &'static str = "As `tamis evidence search --json`.";
}

/// Similar claims or fragments, if any.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Matches {
    /// The compared records.
    #[schemars(with = "String", extend("enum" = EvidenceTarget::NAMES))]
    target: EvidenceTarget,
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

impl Tool for EvidenceSearch {
    const TOOL_NAME: &'static str = "vector_search";
    const NEED: Need = Need::Evidence;
    const TITLE: &'static str = "Search evidence by meaning";
    const DESCRIPTION: &'static str = "Find claims or fragments of the evidence graph that are similar in meaning to a text. \
        Use it to check whether a claim already exists, or to find fragments that nobody has linked to it. Use search for words and \
        for everything besides evidence, and query_view or query_sql for the links within the evidence.";
    const ARGUMENTS: Option<&'static [Argument]> = Some(&[
        field("query"),
        field("target"),
        field("task").named("task_id"),
        field("top_k"),
        field("min_similarity"),
        field("cut").named("cutoff"),
        field("namespace"),
    ]);
    type Options = PageArguments;
    type View = Matches;

    fn view(call: &Call<'_>, found: VectorMatches, page: PageArguments) -> Reply<Matches> {
        let results: Vec<Match> = found.matches.into_iter().map(matched).collect();
        let sentence = found.cut.sentence(results.len(), &[]);
        let cut = Cut::of(found.cut, &sentence);
        let warnings = call.warnings().into_iter().chain(found.fallback_reason).chain(found.warnings).collect();
        let names = fingerprint(results.iter().map(|one| one.id.as_str()));
        let tail = format!("{} Compared: {} passages.\n", cut.sentence, found.total_searched);
        let answer = Matches {
            target: found.target,
            results,
            total_searched: found.total_searched,
            cut,
            query_id: found.query_id,
            page: PageInfo { warnings, ..PageInfo::default() },
        };
        paginated(answer, &tail, &call.cursor, &names, page.max_chars)
    }
}

fn matched(found: VectorMatch) -> Match {
    Match { id: found.id, similarity: rounded(found.similarity), text_preview: clean(&found.text_preview) }
}
