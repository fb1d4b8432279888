//! Similar problems that were already solved.

use schemars::JsonSchema;
use serde::Deserialize;
use tamis::duplicates::DuplicatesRequest;
use tamis::troubleshoot::{SolvedIssue, TroubleshootRequest, Troubleshooting, WikiPage};

use crate::api::Verbs;
use crate::operation::{Argument, Call, Failure, Need, Operation, Route, Tool, field};
use crate::paging::{Entry, List, PageArguments};
use crate::untrusted_text::{clean, counted, name};

pub(crate) struct Troubleshoot;

impl Operation for Troubleshoot {
    const NAME: &'static str = "troubleshoot";
    type Request = TroubleshootRequest;
    type Answer = Troubleshooting;

    fn call(call: &Call<'_>, request: TroubleshootRequest) -> Result<Troubleshooting, Failure> {
        Ok(call
            .index
            .troubleshooting()
            .answer(&TroubleshootRequest { asker: call.asker(), ..request }, call.observer)?)
    }
}

impl Route for Troubleshoot {
    const PATH: &'static str = "/v1/troubleshoot";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "Find similar problems that were already solved";
    const DESCRIPTION: &'static str =
        "As `tamis troubleshoot --json`. Takes a title, a body or both; or the number of an issue.";
}

/// Most characters of an answer by default: a little more than the budget of the threads.
const DEFAULT_MAX_CHARS: usize = 14_000;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Options {
    /// Most characters.
    #[schemars(range(min = 2000, max = 60_000))]
    #[serde(default = "max_chars")]
    max_chars: usize,
    /// Continue here.
    #[schemars(range(min = 0, max = 1000))]
    #[serde(default)]
    offset: usize,
}

fn max_chars() -> usize {
    DEFAULT_MAX_CHARS
}

/// Characters reserved around each thread.
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
        Some(&[field("title").required(), field("body").renamed("details"), field("max_results"), field("namespace")]);
    type Options = Options;

    fn adapt(call: &Call<'_>, request: &mut TroubleshootRequest, options: &Options) {
        let most = request.max_results.unwrap_or(call.index.config().triage.troubleshooting.max_results);
        let budget = options.max_chars.saturating_sub(OVERHEAD * (most + 1)).clamp(*BUDGET.start(), *BUDGET.end());
        request.total_budget_chars = Some(budget);
    }

    fn text(call: &Call<'_>, found: &Troubleshooting, options: &Options) -> String {
        let mut warnings = call.warnings();
        if let Some(reason) = &found.fallback_reason {
            warnings.push(format!("compared with {}: {reason}", found.model.as_deref().unwrap_or("words alone")));
        }
        warnings.extend(found.warnings.iter().cloned());
        let entries: Vec<Entry> = found.matches.iter().map(issue).chain(found.wiki.iter().map(wiki)).collect();
        let reason = name(&found.reason);
        let why = reason.trim_end_matches('.');
        let query = found.query_id.as_ref().map(|id| format!(" [query {id}]")).unwrap_or_default();
        let tail = match entries.len() {
            0 => format!("No similar problem: {why}.{query}\n"),
            count => format!("{}: {why}.{query}\n", counted(count, "solution")),
        };
        let page = PageArguments { max_chars: options.max_chars, offset: options.offset };
        List { entries, shared: None, tail, warnings }.page(&page).0
    }
}

/// An issue with its conversation.
fn issue(issue: &SolvedIssue) -> Entry {
    let SolvedIssue { source, title, namespace, number, .. } = issue;
    let closed = issue.closed_at.map(|at| format!(" on {}", at.strftime("%Y-%m-%d"))).unwrap_or_default();
    let state = name(&format!("{}{closed}", issue.state));
    let kind = issue.kind.replace('_', " ");
    let url = issue.url.as_ref().map(|url| format!(", {}", name(url))).unwrap_or_default();
    let (source, title) = (name(source), name(title));
    Entry {
        lead: format!(
            "{source} {title} [{namespace}:issue:{number}] ({kind}, {state}, similarity {:.2}{url})\n\n",
            issue.scores.similarity
        ),
        body: clean(&issue.thread.text),
        ..Entry::default()
    }
}

/// The relevant sections of a wiki page.
fn wiki(page: &WikiPage) -> Entry {
    let WikiPage { source, title, namespace, path, .. } = page;
    let similarity = page.similarity.map(|value| format!(", similarity {value:.2}")).unwrap_or_default();
    Entry {
        lead: format!("{} {} [{namespace}:{}] (wiki page{similarity})\n\n", name(source), name(title), clean(path)),
        body: clean(&page.text),
        ..Entry::default()
    }
}

// The likely duplicates of an issue.

pub(crate) struct Duplicates;

impl Operation for Duplicates {
    const NAME: &'static str = "duplicates";
    type Request = DuplicatesRequest;
    type Answer = tamis::duplicates::Duplicates;

    fn call(call: &Call<'_>, request: DuplicatesRequest) -> Result<tamis::duplicates::Duplicates, Failure> {
        Ok(call.index.duplicates().find(&DuplicatesRequest { asker: call.asker(), ..request }, call.observer)?)
    }
}

impl Route for Duplicates {
    const PATH: &'static str = "/v1/duplicates";
    const VERBS: Verbs = Verbs::GetOrPost;
    const SUMMARY: &'static str = "List the likely duplicates of an issue";
    const DESCRIPTION: &'static str = "As `tamis duplicates --json`. Takes a number, or a title and a body.";
}
