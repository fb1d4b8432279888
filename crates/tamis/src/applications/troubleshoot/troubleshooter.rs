//! Answers a problem: both retrievers search solved issues, the cut or the floor applies, threads are assembled, and the wiki
//! stands in if no issue is similar.

use std::collections::{BTreeMap, HashSet};

use tamis_store::{AttributeCondition, Filter};
use tamis_text::{Issue, IssueComment};

use super::thread::{Remark, Thread, ThreadRules, assemble};
use super::wiki::{FromWiki, WIKI};
use super::{
    Considered, Fallback, IssueScores, SolvedIssue, TroubleshootRequest, Troubleshooter, Troubleshooting,
    TroubleshootingLimits, budgets,
};
use crate::Error;
use crate::applications::stored_issue::{issue, issue_records};
use crate::collections::ISSUES;
use crate::config::{KeepBy, Words};
use crate::progress::Observer;
use crate::search::{
    Context, CutReport, FoundIssue, FoundIssues, FoundPages, IssuePassages, IssueQuery, MetadataFilter, SearchRequest,
    Served, Stopwatch, issue_similarities, pages, record_issues, scope_of,
};

/// The entry point recorded by default.
const ENTRY_POINT: &str = "troubleshoot";

/// The floor's name in cut reports.
const METHOD: &str = "similarity_threshold";

/// Issues that each retriever proposes.
const CANDIDATES: usize = 10;

/// The constant of the reciprocal rank fusion of the two retrievers.
const RRF_K: f64 = 60.0;

/// The floor that is specified for every model.
const FLOOR: f64 = 0.65;

impl Troubleshooter<'_> {
    /// Returns `true` if automation may answer problems without being asked (`triage.troubleshooting.enabled`).
    /// [`Troubleshooter::answer`] works either way: a caller who acts on a person's request need not check.
    pub fn is_enabled(&self) -> bool {
        self.index.config.triage.troubleshooting.enabled
    }

    /// Finds similar problems that were already solved: closed issues and merged pull requests, locked ones too; if
    /// none is similar enough, pages of the wiki. An empty answer is not an error and states its reason. The index is
    /// searched as it stands; see [`Index::refresh_for_search`](crate::Index::refresh_for_search).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use tamis::{Index, Location};
    /// use tamis::config::Config;
    /// use tamis::troubleshoot::TroubleshootRequest;
    ///
    /// let index = Index::at(Location::at(std::path::Path::new("."), None), Config::built_in())?;
    /// let found = index.troubleshooting().answer(&TroubleshootRequest::text("Login fails after the update", "error: bad token"), &())?;
    /// println!("{}", if found.is_empty() { found.reason.clone() } else { found.markdown() });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A value out of range, a missing issue or namespace, a damaged index, a model that fails, or [`Error::Cancelled`] if
    /// the observer stopped it.
    pub fn answer(&self, request: &TroubleshootRequest, observer: &dyn Observer) -> Result<Troubleshooting, Error> {
        let context = Context::new(self.index, observer);
        let settings = request.settings(&self.index.config.triage.troubleshooting)?;
        let mut clock = Stopwatch::start();
        let mut search = SearchRequest::default().namespace(request.namespace.clone()).asker(request.asker.clone());
        let (title, body, own, number) = match request.issue {
            None => (request.title.clone().unwrap_or_default(), request.body.clone().unwrap_or_default(), None, None),
            Some(number) => {
                let stored = issue(&context, number, &scope_of(&context, &search)?)?;
                (stored.issue.title, stored.issue.body, Some(stored.document), Some(number))
            }
        };
        search.query = format!("{}\n\n{}", title.trim(), body.trim());
        let resolved = AttributeCondition::new("state", ["resolved"]);
        let mut found = crate::search::issues(
            &context,
            &IssueQuery {
                request: &search,
                filter: Filter { attributes: vec![resolved], ..Filter::default() },
                own,
                candidates: CANDIDATES,
                rrf_k: RRF_K,
            },
            &mut clock,
        )?;
        let mut passages = issue_similarities(&context, &found)?;
        if settings.keep_by == KeepBy::Cut {
            // The most similar issues are given, whatever the retrievers' ranks say.
            passages = by_similarity(&mut found, passages);
        }
        clock.lap("compare");
        let documents: Vec<_> = found.issues.iter().map(|issue| issue.document).collect();
        let records = issue_records(&context, found.scope(), &documents)?;
        let within = match settings.keep_by {
            KeepBy::Floor => None,
            KeepBy::Cut => Some(self.relevant_issues(&context, &search, number, &mut clock)?),
        };
        let least = settings.similarity_threshold.unwrap_or_else(|| match settings.keep_by {
            KeepBy::Floor => FLOOR,
            KeepBy::Cut => found.least_similarity(),
        });
        let limits = Limits { least, most: settings.max_results };
        let judged = judged(&found, &passages, &records, limits, within.as_ref());
        let kept: Vec<usize> = (0..judged.len()).filter(|&at| judged[at].kept).collect();
        let matches = self.solved(&found, &passages, records, &kept, settings.total_budget_chars);
        clock.lap("assemble");

        let wiki = match kept.is_empty() && self.has_wiki(&search)? {
            true => {
                Some(self.wiki_pages(&context, request, (&title, &body), settings.total_budget_chars, &mut clock)?)
            }
            false => None,
        };
        let fallback = match (&wiki, kept.is_empty()) {
            (_, false) => Fallback::None,
            (Some(_), true) => Fallback::Wiki,
            (None, true) => Fallback::NoWiki,
        };
        let fallback_reason = found.fallback_reason();
        let mut cut = match &within {
            None => floor(&found, &judged, least),
            Some(within) => cut(&found, &judged, within, least),
        };
        found.explain_words(&mut cut);
        let collections = match fallback {
            Fallback::Wiki => vec![ISSUES.to_owned(), WIKI.to_owned()],
            _ => vec![ISSUES.to_owned()],
        };
        let reason = reason(&cut.reason, wiki.as_ref(), fallback);
        let FromWiki { pages, warnings, .. } = wiki.unwrap_or_default();
        let others = (0..judged.len()).filter(|&at| !judged[at].kept);
        let order: Vec<usize> = kept.iter().copied().chain(others).collect();
        let served = Served {
            entry_point: Some(request.asker.entry_point.as_deref().unwrap_or(ENTRY_POINT)),
            collections: &collections,
            kept: cut.keep,
            returned: matches.len() + pages.len(),
            top_k: settings.max_results,
            fallback_reason: fallback_reason.clone(),
        };
        let query_id = record_issues(&context, &found, &order, &cut, served, &clock);
        clock.lap("record");

        let sources = matches.iter().map(|found| found.source.clone());
        let sources = sources.chain(pages.iter().map(|page| page.source.clone())).collect();
        let limited = request.asker.allowed_namespaces.is_some();
        Ok(Troubleshooting {
            query: search.query.trim().to_owned(),
            issue: number,
            query_id,
            matches,
            wiki: pages,
            sources,
            fallback,
            reason,
            fallback_reason,
            warnings,
            model: found.model(),
            limits: TroubleshootingLimits {
                keep_by: settings.keep_by.word().to_owned(),
                similarity_threshold: least,
                max_results: settings.max_results,
                total_budget_chars: settings.total_budget_chars,
            },
            searched: found.searched(),
            considered: judged,
            cut,
            timings_ms: if limited { BTreeMap::new() } else { clock.finish() },
        })
    }

    /// The solved issues with a passage that the cut of every search keeps, except the issue asked about.
    fn relevant_issues(
        &self,
        context: &Context<'_>,
        search: &SearchRequest,
        asked: Option<u64>,
        clock: &mut Stopwatch,
    ) -> Result<FoundPages, Error> {
        let request = search
            .clone()
            .collections([ISSUES])
            .metadata(MetadataFilter { states: vec!["resolved".to_owned()], ..MetadataFilter::default() })
            .paths(asked.map(|number| format!("!{}", Issue::path(number))));
        pages(context, &request, clock)
    }

    /// Returns `true` if the scope holds any wiki page.
    fn has_wiki(&self, search: &SearchRequest) -> Result<bool, Error> {
        let filter = Filter { collections: vec![WIKI.to_owned()], ..Filter::default() };
        Ok(self
            .index
            .store
            .coverage("", &scope_of(&Context::unobserved(self.index), search)?.of_all(&filter))?
            .passages
            > 0)
    }

    /// The kept issues with their threads, each within its share of the budget.
    fn solved(
        &self,
        found: &FoundIssues,
        passages: &[IssuePassages],
        mut records: Vec<Option<Issue>>,
        kept: &[usize],
        budget: usize,
    ) -> Vec<SolvedIssue> {
        // The number alone identifies an issue of the only namespace searched, or of the index's own.
        let own = self.index.own_namespace();
        let alone = found.namespaces() == 1;
        let similarity = |at: usize| passages[at].best().unwrap_or(0.0);
        let shares = budgets(&kept.iter().map(|&at| similarity(at)).collect::<Vec<_>>(), budget);
        let solved = kept.iter().zip(shares).filter_map(|(&at, budget)| {
            let issue = records[at].take()?;
            let found = &found.issues[at];
            let namespace = found.passage().namespace.clone();
            let source = if alone || own == Some(namespace.as_str()) {
                format!("[Issue #{}]", issue.number)
            } else {
                format!("[Issue {namespace}#{}]", issue.number)
            };
            let thread = thread(&issue, &passages[at], budget);
            Some(SolvedIssue {
                number: issue.number,
                namespace,
                source,
                kind: issue.kind.to_string(),
                state: issue.state.to_string(),
                closed_at: issue.merged_at.or(issue.closed_at),
                title: issue.title,
                labels: issue.labels,
                url: issue.url,
                scores: IssueScores {
                    similarity: similarity(at),
                    rrf: found.rrf,
                    lexical_rank: found.lexical_rank,
                    semantic_rank: found.semantic_rank,
                },
                thread,
            })
        });
        solved.collect()
    }
}

/// Assembles an issue's thread. The similarities are those of its own comments.
fn thread(issue: &Issue, passages: &IssuePassages, budget: usize) -> Thread {
    let mut remarks = Vec::with_capacity(issue.comments.len());
    for (IssueComment { author, created_at, body, bot, .. }, part) in issue.comments.iter().zip(1..) {
        remarks.push(Remark {
            author: author.as_deref(),
            created_at: *created_at,
            text: body,
            bot: *bot,
            similarity: passages.of_part(part).unwrap_or(0.0),
        });
    }
    assemble(&issue.body, &remarks, budget, ThreadRules::default())
}

/// Puts the most similar issues first and returns their passages in that order.
fn by_similarity(found: &mut FoundIssues, passages: Vec<IssuePassages>) -> Vec<IssuePassages> {
    let nearest = |passages: &IssuePassages| passages.best().unwrap_or(f64::NEG_INFINITY);
    let mut both: Vec<_> = std::mem::take(&mut found.issues).into_iter().zip(passages).collect();
    both.sort_by(|a, b| nearest(&b.1).total_cmp(&nearest(&a.1)));
    let (issues, passages) = both.into_iter().unzip();
    found.issues = issues;
    passages
}

/// The limits besides the cut.
#[derive(Clone, Copy)]
struct Limits {
    /// The least similarity.
    least: f64,
    /// The most issues.
    most: usize,
}

/// Judges each proposed issue by its actual similarity, against the floor and the cut, and keeps the first ones that
/// pass.
fn judged(
    found: &FoundIssues,
    passages: &[IssuePassages],
    records: &[Option<Issue>],
    Limits { least, most }: Limits,
    within: Option<&FoundPages>,
) -> Vec<Considered> {
    let mut kept = 0;
    let judge = |((issue, passages), record): ((&FoundIssue, &IssuePassages), &Option<Issue>)| {
        let similarity = passages.best();
        let refused = match (similarity, record) {
            (_, None) => Some("its record cannot be read".to_owned()),
            // The store's attribute and the record come from one import. If they differ, the record counts.
            (_, Some(record)) if !record.is_resolved() => Some("not solved".to_owned()),
            (None, _) => Some("no similarity is known".to_owned()),
            (Some(similarity), _) => match within {
                Some(within) if !within.holds(issue.document) => {
                    Some(format!("nothing of it is kept by the cut ({})", within.cut.method))
                }
                _ if similarity < least => {
                    let (similarity, floor) = apart(similarity, least);
                    Some(format!("similarity {similarity} is below {floor}"))
                }
                _ if kept == most => Some(format!("{kept} are kept")),
                _ => None,
            },
        };
        kept += usize::from(refused.is_none());
        Considered {
            number: issue.number,
            namespace: issue.passage().namespace.clone(),
            title: issue.passage().title.clone(),
            similarity,
            bm25: issue.bm25,
            rrf: issue.rrf,
            kept: refused.is_none(),
            reason: refused,
        }
    };
    found.issues.iter().zip(passages).zip(records).map(judge).collect()
}

fn issues(count: usize) -> String {
    if count == 1 { "1 solved issue is".to_owned() } else { format!("{count} solved issues are") }
}

/// The cut of every search, applied to issues.
fn cut(found: &FoundIssues, judged: &[Considered], within: &FoundPages, least: f64) -> CutReport {
    let keep = judged.iter().filter(|one| one.kept).count();
    let relevant = found.issues.iter().zip(judged).filter(|(issue, _)| within.holds(issue.document));
    let proposed: Vec<Considered> = relevant.map(|(_, judged)| judged.clone()).collect();
    let reason = match (keep, within.pages.len(), nearest(&proposed)) {
        (0, 0, _) if found.searched() == 0 => "there is no solved issue to search".to_owned(),
        (0, 0, _) => within.cut.reason.clone(),
        (0, pages, Some((similarity, number))) if similarity < least => {
            let (similarity, floor) = apart(similarity, least);
            format!(
                "{} relevant, but the nearest, #{number}, has similarity {similarity}, below {floor}",
                issues(pages)
            )
        }
        (0, pages, _) if found.model().is_none() => {
            format!("{} relevant, and no similarity is known to compare any of them by", issues(pages))
        }
        (0, pages, _) => {
            format!("{} relevant, and none of them is among those that either retriever proposes", issues(pages))
        }
        (keep, pages, _) => format!("{} relevant ({}); {keep} given", issues(pages), within.cut.method),
    };
    let mut cut =
        CutReport { keep, reason, candidates: judged.len(), dropped: judged.len() - keep, ..within.cut.clone() };
    cut.diagnostics.insert(METHOD.to_owned(), least.into());
    cut
}

/// The most similar issue, with its similarity and number.
fn nearest(judged: &[Considered]) -> Option<(f64, u64)> {
    judged.iter().filter_map(|one| Some((one.similarity?, one.number))).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The floor as a cut.
fn floor(found: &FoundIssues, judged: &[Considered], floor: f64) -> CutReport {
    let keep = judged.iter().filter(|one| one.kept).count();
    let reason = match (keep, nearest(judged)) {
        (0, _) if found.searched() == 0 => "there is no solved issue to search".to_owned(),
        (0, None) if found.model().is_none() && !judged.is_empty() => {
            "no similarity is known without a model that covers the issues, and words alone do not say whether an issue is \
             like the trouble"
                .to_owned()
        }
        (0, None) => "no solved issue shares a word or a meaning with the trouble".to_owned(),
        (0, Some((similarity, number))) => {
            let (similarity, floor) = apart(similarity, floor);
            format!("the nearest solved issue, #{number}, has similarity {similarity}, below {floor}")
        }
        (keep, _) => {
            let above = judged.iter().filter(|one| one.similarity.is_some_and(|similarity| similarity >= floor)).count();
            format!("{above} of {} proposed issues have similarity {floor:.2} or more; {keep} given", judged.len())
        }
    };
    let number = |value: f64| serde_json::Value::from(value);
    CutReport {
        method: METHOD.to_owned(),
        keep,
        threshold: Some(floor),
        reason,
        candidates: judged.len(),
        dropped: judged.len() - keep,
        diagnostics: [("threshold_on".to_owned(), "similarity".into()), ("rrf_k".to_owned(), number(RRF_K))].into(),
        ..CutReport::default()
    }
}

/// Formats two different numbers with the fewest digits that distinguish them, at least two.
fn apart(one: f64, other: f64) -> (String, String) {
    let digits = (2..6).find(|&digits| format!("{one:.digits$}") != format!("{other:.digits$}")).unwrap_or(6);
    (format!("{one:.digits$}"), format!("{other:.digits$}"))
}

/// Returns the reason for the answer, including the wiki's part.
fn reason(issues: &str, wiki: Option<&FromWiki>, fallback: Fallback) -> String {
    match (wiki, fallback) {
        (Some(wiki), _) if wiki.pages.is_empty() => {
            let why = wiki.reason.trim_end_matches('.');
            format!(
                "{issues}; nothing in the wiki either{}",
                if why.is_empty() { String::new() } else { format!(": {why}") }
            )
        }
        (Some(wiki), _) => {
            let pages = wiki.pages.len();
            format!("{issues}; {pages} page{} of the wiki instead", if pages == 1 { "" } else { "s" })
        }
        (None, Fallback::NoWiki) => format!("{issues}; there is no wiki to ask"),
        (None, _) => issues.to_owned(),
    }
}

// The most useful search words of a problem, found without a model.

/// The least length of a quoted text that counts, in characters.
const QUOTED_CHARACTERS: usize = 5;

/// Words that describe a failure, also within another word (`IOException`, `crashed`).
const FAILURES: [&str; 5] = ["error", "exception", "crash", "fatal", "failed"];

/// The most words after a failure word that belong to it.
const WORDS_AFTER_FAILURE: usize = 4;

/// The least length of a title word that counts, in characters.
const TITLE_CHARACTERS: usize = 3;

/// Opening quotation marks with their closing ones.
const QUOTES: [(char, char); 7] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('\u{201c}', '\u{201d}'),
    ('\u{2018}', '\u{2019}'),
    ('«', '»'),
    ('„', '\u{201c}'),
];

/// Extracts search words, each once (ignoring case): the title's words of three or more characters, texts of five or
/// more characters in quotation marks, failure words (`error`, `exception`, `crash`, `fatal`, `failed`) with up to four
/// words after them, and names in CamelCase or ALLCAPS.
///
/// The title comes first, since a model reads only a limited length.
///
/// ```
/// let words = tamis::troubleshoot::keywords("Login fails", "It says \"no such user\" and error: bad token from AuthServer");
/// assert_eq!(words, ["Login", "fails", "no such user", "error: bad token from AuthServer", "AuthServer"]);
/// ```
#[must_use]
pub fn keywords(title: &str, body: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    found.extend(words(title).filter(|word| word.chars().count() >= TITLE_CHARACTERS).map(str::to_owned));
    let lines = || title.lines().chain(body.lines());
    lines().for_each(|line| quoted(line, &mut found));
    lines().for_each(|line| failures(line, &mut found));
    let names = lines().flat_map(words).filter(|word| is_camel_case(word) || is_all_capitals(word));
    found.extend(names.map(str::to_owned));
    let mut seen = HashSet::new();
    found.retain(|keyword| seen.insert(keyword.to_lowercase()));
    found
}

/// Runs of letters, digits and underscores.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Adds the texts in quotation marks on a line. A mark inside a word is an apostrophe.
fn quoted(line: &str, found: &mut Vec<String>) {
    // A fence's line only begins or ends code.
    if line.trim_start().starts_with("```") {
        return;
    }
    let mut rest = line;
    let mut before: Option<char> = None;
    while let Some(first) = rest.chars().next() {
        let inside = &rest[first.len_utf8()..];
        let opened = QUOTES.iter().find(|(open, _)| *open == first && !before.is_some_and(char::is_alphanumeric));
        let closed = opened.and_then(|&(_, close)| Some((ended(inside, close)?, close)));
        match closed {
            Some((end, close)) => {
                let text = inside[..end].trim();
                if text.chars().count() >= QUOTED_CHARACTERS {
                    found.push(text.to_owned());
                }
                (before, rest) = (Some(close), &inside[end + close.len_utf8()..]);
            }
            None => (before, rest) = (Some(first), inside),
        }
    }
}

/// The position of the closing mark: the first one not followed by a letter or digit.
fn ended(text: &str, close: char) -> Option<usize> {
    let after = |at: usize| text[at + close.len_utf8()..].chars().next();
    text.match_indices(close).map(|(at, _)| at).find(|&at| !after(at).is_some_and(char::is_alphanumeric))
}

/// Adds failure words with the words that explain them, up to the end of the sentence.
fn failures(line: &str, found: &mut Vec<String>) {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let word = token.to_lowercase();
        if !FAILURES.iter().any(|failure| word.contains(failure)) {
            at += 1;
            continue;
        }
        let ends = |token: &&str| token.ends_with(['.', ';', '!', '?']);
        let rest = &tokens[at..tokens.len().min(at + 1 + WORDS_AFTER_FAILURE)];
        let length = rest.iter().position(ends).map_or(rest.len(), |last| last + 1);
        let phrase = rest[..length].join(" ");
        let phrase = phrase.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if !phrase.is_empty() {
            found.push(phrase.to_owned());
        }
        at += length;
    }
}

/// `parseConfig`, `NullPointerException`: a capital after a small letter.
fn is_camel_case(word: &str) -> bool {
    word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// `TLS`, `MAX_SIZE`, `E404`: two or more letters or digits, all letters capitals, one letter at least.
fn is_all_capitals(word: &str) -> bool {
    let letters = || word.chars().filter(|c| c.is_alphabetic());
    word.chars().filter(|c| c.is_alphanumeric()).count() >= 2
        && letters().next().is_some()
        && letters().all(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keywords_are_quotations_failures_and_names() {
        let found = |text: &str| {
            let mut found = Vec::new();
            quoted(text, &mut found);
            found
        };
        assert_eq!(found("it says \"no such file\" and 'four'"), ["no such file"]);
        assert_eq!(found("“größer als” and ‘fünfte’ and `a_name`"), ["größer als", "fünfte", "a_name"]);
        assert!(found("it doesn't work and I can't say why").is_empty(), "apostrophes quote nothing");
        assert_eq!(found("'it doesn't start'"), ["it doesn't start"]);
        assert!(found("an open \"quotation goes on").is_empty() && found("```rust").is_empty());

        let found = |text: &str| {
            let mut found = Vec::new();
            failures(text, &mut found);
            found
        };
        assert_eq!(found("then Error: cannot open the socket again today"), ["Error: cannot open the socket"]);
        assert_eq!(found("It crashed. Then nothing"), ["crashed"]);
        assert_eq!(found("java.io.IOException: stream closed"), ["java.io.IOException: stream closed"]);
        assert!(found("all is well").is_empty());

        assert!(is_camel_case("parseConfig") && is_camel_case("NullPointerException") && !is_camel_case("Parser"));
        assert!(is_all_capitals("TLS") && is_all_capitals("MAX_SIZE") && is_all_capitals("E404"));
        assert!(!is_all_capitals("I") && !is_all_capitals("404") && !is_all_capitals("Tls"));

        assert_eq!(keywords("It is a TLS bug", "tls TLS Tls \"TLS bug\""), ["TLS", "bug", "TLS bug"]);
        assert!(keywords("", "").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_gives_each_keyword_once(title in "\\PC{0,60}", body in "[\\PC\n\"'`]{0,200}") {
            let found = keywords(&title, &body);
            let distinct: HashSet<String> = found.iter().map(|keyword| keyword.to_lowercase()).collect();
            prop_assert_eq!(distinct.len(), found.len());
            prop_assert!(found.iter().all(|keyword| !keyword.trim().is_empty()));
            for word in words(&title).filter(|word| word.chars().count() > 2) {
                prop_assert!(distinct.contains(&word.to_lowercase()), "{word}");
            }
        }
    }
}
