//! `troubleshoot`: what was already solved that is like a trouble.

use crate::cursor::listed;
use crate::page::{Entry, Listing, More, fitted};
use crate::reply::{Refused, Reply};
use crate::text::{clean, counted, fenced, name, rounded};
use crate::tool::{Call, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis::troubleshoot::{SolvedIssue, Trouble, TroubleshootRequest, WikiPage};

pub(crate) struct Troubleshoot;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The trouble in a line, as the title of a report would say it.
    #[schemars(length(min = 1, max = 1000))]
    title: String,
    /// All that is known of it: error messages, what was done, versions (default: nothing).
    #[schemars(length(max = 50_000))]
    #[serde(default)]
    details: String,
    /// Most solved issues, 1 to 10 (default: as configured, usually 3).
    #[schemars(range(min = 1, max = 10))]
    max_results: Option<usize>,
    /// The repository or project to search, by name (default: the one here, or all).
    namespace: Option<String>,
    /// Most characters of the answer, 2000 to 60000.
    #[schemars(range(min = 2000, max = 60_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
    /// Where to go on: next_cursor of the last answer to the same arguments (default: from the beginning).
    #[allow(dead_code)]
    cursor: Option<String>,
}

/// A little more than the threads share, for what stands around them.
const DEFAULT_CHARS: usize = 14_000;

fn max_chars() -> usize {
    DEFAULT_CHARS
}

/// What was already solved, which can be nothing.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Solved {
    /// Solved issues like the trouble, or pages of the wiki where there is none; best first.
    results: Vec<Solution>,
    /// How to cite each of all that was found.
    sources: Vec<String>,
    /// Why the answer is what it is.
    reason: String,
    /// The search's own identifier, which `feedback` takes; absent where searches are not recorded.
    query_id: Option<String>,
    #[serde(flatten)]
    more: More,
}

/// An issue with its conversation, or a page of the wiki.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Solution {
    /// How to cite it: [Issue #123] or [Wiki: Page Name].
    source: String,
    /// What it is.
    kind: String,
    /// Its title.
    title: String,
    /// The repository or project it belongs to.
    namespace: String,
    /// What `get` takes to read it in full.
    id: String,
    /// Where people read it.
    url: Option<String>,
    /// Of an issue whether it was closed or merged, and when.
    state: Option<String>,
    /// Cosine similarity to the trouble, from -1 to 1.
    similarity: Option<f64>,
    /// The conversation, or the relevant sections of the page.
    text: String,
    /// Whether the text lost its end to `max_chars`.
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

    fn mark(&mut self) {
        self.shortened = true;
    }
}

impl Listing for Solved {
    type Entry = Solution;

    fn entries(&mut self) -> &mut Vec<Solution> {
        &mut self.results
    }

    fn more(&mut self) -> &mut More {
        &mut self.more
    }
}

/// Characters that stand around a thread, in either form of the answer.
const AROUND: usize = 600;

/// The least and the most that threads may share.
const BUDGET: std::ops::RangeInclusive<usize> = 1000..=50_000;

impl Tool for Troubleshoot {
    const NAME: &'static str = "troubleshoot";
    const TITLE: &'static str = "Troubleshoot";
    const DESCRIPTION: &'static str = "For an error or a defect: what was already solved that is like it, as conversations of \
        closed issues and merged pull requests, else pages of the wiki. Gives nothing where nothing is like it: then take \
        search on the code. Cite what you use by its source.";
    const MOST_CHARS: usize = DEFAULT_CHARS;
    type Arguments = Arguments;
    type Answer = Solved;

    fn call(call: &Call<'_>, arguments: Arguments) -> Result<Reply<Solved>, Refused> {
        let Arguments { title, details, max_results, namespace, max_chars, .. } = arguments;
        let most = max_results.unwrap_or(call.index.config().triage.troubleshooting.max_results);
        let budget = max_chars.saturating_sub(AROUND * (most + 1)).clamp(*BUDGET.start(), *BUDGET.end());
        let found = call.index.troubleshooting().answer(&TroubleshootRequest {
            max_results,
            total_budget_chars: Some(budget),
            namespace,
            allowed_namespaces: call.allowed(),
            entry_point: Some("mcp".to_owned()),
            ..TroubleshootRequest::new(Trouble::Text { title, body: details })
        })?;
        let mut warnings = call.warnings();
        if let Some(reason) = &found.fallback_reason {
            warnings.push(format!("compared with {}: {reason}", found.model.as_deref().unwrap_or("words alone")));
        }
        warnings.extend(found.warnings);
        let issues = found.matches.into_iter().map(Solution::of_issue);
        let results: Vec<Solution> = issues.chain(found.wiki.into_iter().map(Solution::of_page)).collect();
        let reason = name(&found.reason);
        let said = reason.trim_end_matches('.');
        let query = found.query_id.as_ref().map(|id| format!(" [query {id}]")).unwrap_or_default();
        let tail = match results.len() {
            0 => format!("Nothing known: {said}.{query}\n"),
            count => format!("{}: {said}.{query}\n", counted(count, "solution")),
        };
        let names = listed(results.iter().map(|one| one.id.as_str()));
        let sources = found.sources.iter().map(|source| name(source)).collect();
        let more = More { warnings, ..More::default() };
        let answer = Solved { results, sources, reason, query_id: found.query_id, more };
        Ok(fitted(answer, &tail, &call.place, &names, max_chars))
    }
}
