//! Searches the wiki if no issue is similar to the problem.

use std::sync::Arc;

use tamis_store::StoredPassage;

use super::thread::{characters, fitted};
use super::troubleshooter::keywords;
use super::{TroubleshootRequest, Troubleshooter, WikiFound, WikiPage, budgets};
use crate::Error;
use crate::search::{Context, FoundPage, SearchRequest, Stopwatch, pages};

/// The collection of wiki pages.
pub(crate) const WIKI: &str = "wiki";

/// The prefix of the path of a page that is not a file.
const PATH: &str = "wiki:";

/// Pages that each of the two queries proposes, and that are returned.
const PAGES: usize = 2;

/// Characters of the problem's body in the query.
const QUERY_CHARACTERS: usize = 500;

/// The mark between sections of a page that are not adjacent.
const GAP: &str = "\n\n[...]\n\n";

/// The result of the wiki search.
#[derive(Default)]
pub(crate) struct FromWiki {
    pub pages: Vec<WikiPage>,
    /// Warnings of either query.
    pub warnings: Vec<String>,
    /// The reason nothing was kept; empty if something was.
    pub reason: String,
}

/// A page, with what either query found of it.
struct Merged {
    page: FoundPage,
    found_by: WikiFound,
}

impl Troubleshooter<'_> {
    /// Runs two queries, the problem's words and its keywords. Takes the best pages of each, merges pages found by
    /// both, and keeps the nearest pages overall. Gate and cut are those of every search: a problem that the wiki does
    /// not cover gets nothing.
    pub(crate) fn wiki_pages(
        &self,
        context: &Context<'_>,
        request: &TroubleshootRequest,
        (title, body): (&str, &str),
        budget: usize,
        clock: &mut Stopwatch,
    ) -> Result<FromWiki, Error> {
        let beginning: String = body.trim().chars().take(QUERY_CHARACTERS).collect();
        let text = format!("{}\n{}", title.trim(), beginning);
        let words = keywords(title, body).join(" ");
        let mut found: Vec<Merged> = Vec::new();
        let mut warnings: Vec<String> = Vec::new();
        let mut reason = String::new();
        for (query, found_by) in [(text, WikiFound::Text), (words, WikiFound::Keywords)] {
            if query.trim().is_empty() {
                continue;
            }
            let search = SearchRequest::new(query)
                .collections([WIKI])
                .namespace(request.namespace.clone())
                .asker(request.asker.clone());
            let pages = pages(context, &search, clock)?;
            warnings.extend(pages.fallback_reason.filter(|reason| !warnings.contains(reason)));
            if pages.pages.is_empty() && reason.is_empty() {
                reason = pages.cut.reason;
            }
            for page in pages.pages.into_iter().take(PAGES) {
                merge(&mut found, Merged { page, found_by });
            }
        }
        found.sort_by(|a, b| nearest(b.page.similarity).total_cmp(&nearest(a.page.similarity)));
        found.truncate(PAGES);
        let similarities: Vec<f64> = found.iter().map(|merged| merged.page.similarity.unwrap_or(0.0)).collect();
        let shares = budgets(&similarities, budget);
        let pages = found.into_iter().zip(shares).filter_map(|(merged, budget)| page(merged, budget)).collect();
        Ok(FromWiki { pages, warnings, reason })
    }
}

fn nearest(similarity: Option<f64>) -> f64 {
    similarity.unwrap_or(f64::NEG_INFINITY)
}

/// Adds a page, or merges it into the page found by another query, keeping the best similarity.
fn merge(found: &mut Vec<Merged>, new: Merged) {
    let document = |merged: &Merged| merged.page.passages.first().map(|passage| passage.document);
    let Some(known) = found.iter_mut().find(|known| document(known) == document(&new)) else {
        found.push(new);
        return;
    };
    if known.found_by != new.found_by {
        known.found_by = WikiFound::Both;
    }
    known.page.similarity = known.page.similarity.into_iter().chain(new.page.similarity).reduce(f64::max);
    for passage in new.page.passages {
        if known.page.passages.iter().all(|there| there.passage != passage.passage) {
            known.page.passages.push(passage);
        }
    }
}

fn page(Merged { page, found_by }: Merged, budget: usize) -> Option<WikiPage> {
    let first = page.passages.first()?;
    let (namespace, path) = (first.namespace.clone(), first.path.clone());
    let title = first.title.clone().filter(|title| !title.trim().is_empty()).unwrap_or_else(|| name(&path));
    let text = sections(&page.passages, budget);
    Some(WikiPage {
        source: format!("[Wiki: {title}]"),
        title,
        namespace,
        path,
        similarity: page.similarity,
        found_by,
        characters: characters(&text),
        text,
        budget,
    })
}

/// A name for a page without a title: the last part of its path, without extension, hyphens as spaces.
fn name(path: &str) -> String {
    let path = path.strip_prefix(PATH).unwrap_or(path);
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem).replace(['-', '_'], " ")
}

/// The best passages that fit, in the order of the page. The very best is truncated if it does not fit.
fn sections(passages: &[Arc<StoredPassage>], budget: usize) -> String {
    let Some(best) = passages.first() else { return String::new() };
    let mut left = budget.saturating_sub(characters(&best.text));
    let mut chosen = vec![best];
    for passage in &passages[1..] {
        let length = characters(GAP) + characters(&passage.text);
        if length <= left {
            left -= length;
            chosen.push(passage);
        }
    }
    chosen.sort_by_key(|passage| passage.ordinal);
    let mut text = String::new();
    let mut before: Option<u32> = None;
    for passage in chosen {
        match before {
            None => {}
            Some(ordinal) if ordinal + 1 == passage.ordinal => text.push_str("\n\n"),
            Some(_) => text.push_str(GAP),
        }
        text.push_str(&passage.text);
        before = Some(passage.ordinal);
    }
    fitted(&text, budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_a_title_is_called_like_its_file() {
        assert_eq!([name("docs.wiki/Getting-Started.md"), name("wiki:Main Page")], ["Getting Started", "Main Page"]);
    }
}
