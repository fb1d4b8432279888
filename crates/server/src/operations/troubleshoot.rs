//! Similar problems that were already solved.

use crate::api::verbs::Verbs;
use crate::call::{Call, Need};
use crate::cursor::fingerprint;
use crate::operation::{Argument, Failure, Operation, Route, Tool, field};
use crate::page::{Entry, Listing, PageInfo, paginated};
use crate::reply::Reply;
use crate::text::{clean, counted, fenced, name, rounded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::troubleshoot::{SolvedIssue, TroubleshootRequest, Troubleshooting, WikiPage};

pub(crate) struct Troubleshoot;

impl Operation for Troubleshoot {
    const NAME: &'static str = "troubleshoot";
    type Request = TroubleshootRequest;
    type Answer = Troubleshooting;

    fn call(call: &Call<'_>, request: TroubleshootRequest) -> Result<Troubleshooting, Failure> {
        Ok(call.index.troubleshooting().answer(
            &TroubleshootRequest {
                allowed_namespaces: call.allowed(),
                entry_point: Some(call.entry_point.to_owned()),
                ..request
            },
            call.observer,
        )?)
    }
}

impl Route for Troubleshoot {
    const PATH: &'static str = "/v1/troubleshoot";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Find similar problems that were already solved";
    const DESCRIPTION: &'static str =
        "As `tamis troubleshoot --json`. Takes a title, a body or both; or the number of an issue.";
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Options {
    /// Most characters of the answer, 2000 to 60000.
    #[schemars(range(min = 2000, max = 60_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
    /// Next page: next_cursor of the last answer to the same arguments (default: the first page).
    #[expect(dead_code, reason = "read from the raw arguments, before they are parsed")]
    cursor: Option<String>,
}

/// Most characters of an answer by default: a little more than the budget of the threads.
const DEFAULT_MAX_CHARS: usize = 14_000;

fn max_chars() -> usize {
    DEFAULT_MAX_CHARS
}

/// Solved problems, if any.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Solved {
    /// Similar solved issues, or pages of the wiki when there are none; best first.
    results: Vec<Solution>,
    /// The citation of each result.
    sources: Vec<String>,
    /// Reason for the number of results.
    reason: String,
    /// Identifier of the search, for `feedback`; absent when searches are not recorded.
    query_id: Option<String>,
    #[serde(flatten)]
    page: PageInfo,
}

/// An issue with its conversation, or a page of the wiki.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Solution {
    /// The citation: [Issue #123] or [Wiki: Page Name].
    source: String,
    /// Kind: issue, pull request or wiki page.
    kind: String,
    /// Title.
    title: String,
    /// Repository or project of the document.
    namespace: String,
    /// Identifier, for `get`.
    id: String,
    /// Address of the page for people.
    url: Option<String>,
    /// State of an issue, closed or merged, with the date.
    state: Option<String>,
    /// Cosine similarity to the problem, from -1 to 1.
    similarity: Option<f64>,
    /// The conversation, or the relevant sections of the page.
    text: String,
    /// True if the text was shortened to fit `max_chars`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shortened: bool,
}

impl Solution {
    fn of_issue(issue: SolvedIssue) -> Self {
        let closed = issue.closed_at.map(|at| format!(" on {}", at.strftime("%Y-%m-%d"))).unwrap_or_default();
        Solution {
            source: name(&issue.source),
            kind: issue.kind.replace('_', " "),
            title: name(&issue.title),
            id: format!("{}:issue:{}", issue.namespace, issue.number),
            namespace: issue.namespace,
            url: issue.url.as_deref().map(name),
            state: Some(name(&format!("{}{closed}", issue.state))),
            similarity: Some(rounded(issue.similarity)),
            text: clean(&issue.thread.text),
            shortened: false,
        }
    }

    fn of_page(page: WikiPage) -> Self {
        Solution {
            source: name(&page.source),
            kind: "wiki page".to_owned(),
            title: name(&page.title),
            id: format!("{}:{}", page.namespace, clean(&page.path)),
            namespace: page.namespace,
            url: None,
            state: None,
            similarity: page.similarity.map(rounded),
            text: clean(&page.text),
            shortened: false,
        }
    }
}

impl Entry for Solution {
    fn text(&self) -> String {
        let state = self.state.as_ref().map(|state| format!(", {state}")).unwrap_or_default();
        let similarity = self.similarity.map(|value| format!(", similarity {value:.2}")).unwrap_or_default();
        let url = self.url.as_ref().map(|url| format!(", {url}")).unwrap_or_default();
        let Solution { source, title, kind, id, .. } = self;
        let quoted = format!("{source} {title} [{id}] ({kind}{state}{similarity}{url})\n\n{}", self.text);
        fenced(&quoted) + "\n"
    }

    fn body(&mut self) -> &mut String {
        &mut self.text
    }

    fn mark_shortened(&mut self) {
        self.shortened = true;
    }
}

impl Listing for Solved {
    type Entry = Solution;

    fn entries(&mut self) -> &mut Vec<Solution> {
        &mut self.results
    }

    fn page(&mut self) -> &mut PageInfo {
        &mut self.page
    }
}

/// Characters reserved around each thread, as text and as JSON.
const OVERHEAD: usize = 600;

/// Range of the characters that all threads share.
const BUDGET: std::ops::RangeInclusive<usize> = 1000..=50_000;

impl Tool for Troubleshoot {
    const NEED: Need = Need::Solutions;
    const TITLE: &'static str = "Troubleshoot";
    const DESCRIPTION: &'static str = "Find similar problems that were already solved, for an error or a defect. Returns the \
        conversations of closed issues and merged pull requests, or else pages of the wiki. When nothing is similar, the answer is \
        empty: then search the code. Cite each source that you use.";
    const MAX_CHARS: usize = DEFAULT_MAX_CHARS;
    const ARGUMENTS: Option<&'static [Argument]> =
        Some(&[field("title").required(), field("body").named("details"), field("max_results"), field("namespace")]);
    type Options = Options;
    type View = Solved;

    fn adapt(call: &Call<'_>, request: &mut TroubleshootRequest, options: &Options) {
        let most = request.max_results.unwrap_or(call.index.config().triage.troubleshooting.max_results);
        let budget = options.max_chars.saturating_sub(OVERHEAD * (most + 1)).clamp(*BUDGET.start(), *BUDGET.end());
        request.total_budget_chars = Some(budget);
    }

    fn view(call: &Call<'_>, found: Troubleshooting, options: Options) -> Reply<Solved> {
        let mut warnings = call.warnings();
        if let Some(reason) = &found.fallback_reason {
            warnings.push(format!("compared with {}: {reason}", found.model.as_deref().unwrap_or("words alone")));
        }
        warnings.extend(found.warnings);
        let issues = found.matches.into_iter().map(Solution::of_issue);
        let results: Vec<Solution> = issues.chain(found.wiki.into_iter().map(Solution::of_page)).collect();
        let reason = name(&found.reason);
        let why = reason.trim_end_matches('.');
        let query = found.query_id.as_ref().map(|id| format!(" [query {id}]")).unwrap_or_default();
        let tail = match results.len() {
            0 => format!("No similar problem: {why}.{query}\n"),
            count => format!("{}: {why}.{query}\n", counted(count, "solution")),
        };
        let names = fingerprint(results.iter().map(|one| one.id.as_str()));
        let sources = found.sources.iter().map(|source| name(source)).collect();
        let page = PageInfo { warnings, ..PageInfo::default() };
        let answer = Solved { results, sources, reason, query_id: found.query_id, page };
        paginated(answer, &tail, &call.cursor, &names, options.max_chars)
    }
}
