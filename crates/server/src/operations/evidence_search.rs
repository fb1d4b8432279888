//! Claims or fragments similar to a text.

use tamis::evidence::{RankRequest, RankedEvidence, VectorMatches, VectorSearchRequest};

use crate::api::Verbs;
use crate::operation::{Argument, Call, Failure, Need, Operation, Route, Tool, field};
use crate::paging::{Entry, List, PageArguments};
use crate::untrusted_text::{line, name};

pub(crate) struct EvidenceSearch;

impl Operation for EvidenceSearch {
    const NAME: &'static str = "evidence_search";
    type Request = VectorSearchRequest;
    type Answer = VectorMatches;

    fn kept_count(answer: &VectorMatches) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, request: VectorSearchRequest) -> Result<VectorMatches, Failure> {
        Ok(call.index.evidence().vector_search(&VectorSearchRequest { asker: call.asker(), ..request })?)
    }
}

impl Route for EvidenceSearch {
    const PATH: &'static str = "/v1/evidence/search";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Find claims or fragments similar to a text";
    const DESCRIPTION: &'static str = "As `tamis evidence search --json`.";
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
        field("task").renamed("task_id"),
        field("top_k"),
        field("min_similarity"),
        field("cut").renamed("cutoff"),
        field("namespace"),
    ]);
    type Options = PageArguments;

    fn text(call: &Call<'_>, found: &VectorMatches, page: &PageArguments) -> String {
        let entries = found
            .matches
            .iter()
            .map(|one| Entry::line(format!("{:.3} [{}] {}", one.similarity, line(&one.id), line(&one.text_preview))));
        let sentence = found.cut.sentence(found.matches.len(), &[]);
        let list = List {
            entries: entries.collect(),
            shared: Some(String::new()),
            tail: format!("{} Compared: {} passages.\n", name(&sentence), found.total_searched),
            warnings: call
                .warnings()
                .into_iter()
                .chain(found.search.fallback_reason.clone())
                .chain(found.search.warnings.clone())
                .collect(),
        };
        list.page(page).0
    }
}

// The fragments about a claim.

pub(crate) struct EvidenceRank;

impl Operation for EvidenceRank {
    const NAME: &'static str = "evidence_rank";
    type Request = RankRequest;
    type Answer = RankedEvidence;

    fn kept_count(answer: &RankedEvidence) -> Option<usize> {
        Some(answer.cut.keep)
    }

    fn call(call: &Call<'_>, request: RankRequest) -> Result<RankedEvidence, Failure> {
        Ok(call.index.evidence().rank(&RankRequest { asker: call.asker(), ..request })?)
    }
}

impl Route for EvidenceRank {
    const PATH: &'static str = "/v1/evidence/rank";
    const SUMMARY: &'static str = "Rank the fragments about a claim";
    const DESCRIPTION: &'static str = "As `tamis evidence rank --json`. It stores no edges.";
}
