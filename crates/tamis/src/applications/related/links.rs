//! Finds the documents that a page links to, and those that link to it: links of Markdown, and `[[links]]` of wikis and notes.

use std::collections::{BTreeMap, HashMap};

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};
use schemars::JsonSchema;
use serde::Serialize;
use tamis_store::{DocumentState, Filter, StoredPassage};

use crate::Error;
use crate::collections::PROSE_COLLECTIONS;
use crate::handle::Index;

/// Most passages that may link to a page and are read.
const MOST_READ: usize = 500;

/// Names of pages that stand for their directory.
const OF_DIRECTORY: [&str; 3] = ["readme", "index", "_index"];

/// A document that links to another, or that another links to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LinkedDocument {
    /// Its namespace.
    pub namespace: String,
    /// Its path under the root.
    pub path: String,
    /// Its title.
    pub title: Option<String>,
    /// The lines of the document that links, ascending.
    pub lines: Vec<u32>,
}

/// Returns the documents that a document links to, and those that link to it, both by path. Where too many passages have the name of
/// the document to look into them all, `notes` says so.
pub(super) fn links(
    index: &Index,
    document: &[StoredPassage],
    notes: &mut Vec<String>,
) -> Result<(Vec<LinkedDocument>, Vec<LinkedDocument>), Error> {
    let Some(own) = document.first().filter(|own| PROSE_COLLECTIONS.contains(&own.collection.as_str())) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let documents = index.store.documents(&own.namespace)?;
    let pages = Pages::new(&documents);
    let mut to: BTreeMap<&str, LinkedDocument> = BTreeMap::new();
    for link in document.iter().flat_map(links_in) {
        if let Some(page) = pages.find(&link, &own.path).filter(|page| page.path != own.path) {
            to.entry(&page.path).or_insert_with(|| linked(page)).lines.push(link.line);
        }
    }
    let filter = Filter {
        collections: PROSE_COLLECTIONS.map(str::to_owned).to_vec(),
        ..Filter::namespace(own.namespace.clone())
    };
    let mut from: BTreeMap<&str, LinkedDocument> = BTreeMap::new();
    let mut ids = Vec::new();
    for name in names(&own.path, own.title.as_deref()) {
        let found = index.store.containing(&name, &filter, MOST_READ)?;
        if found.len() == MOST_READ {
            notes.push(format!("{MOST_READ} passages or more have the words \"{name}\", and links were looked for in {MOST_READ} of them"));
        }
        ids.extend(found);
    }
    ids.sort_unstable();
    ids.dedup();
    let candidates = index.store.passages(std::slice::from_ref(&own.namespace), &ids)?;
    for passage in candidates.iter().filter(|passage| passage.path != own.path) {
        let lines = links_in(passage).into_iter();
        let lines = lines.filter(|link| pages.find(link, &passage.path).is_some_and(|page| page.path == own.path));
        for link in lines {
            let page = pages.by_path.get(passage.path.as_str()).copied();
            if let Some(page) = page {
                from.entry(&page.path).or_insert_with(|| linked(page)).lines.push(link.line);
            }
        }
    }
    let finished = |linked: BTreeMap<&str, LinkedDocument>| {
        let mut linked: Vec<LinkedDocument> = linked.into_values().collect();
        for one in &mut linked {
            one.lines.sort_unstable();
            one.lines.dedup();
        }
        linked
    };
    Ok((finished(to), finished(from)))
}

fn linked(page: &DocumentState) -> LinkedDocument {
    LinkedDocument {
        namespace: page.namespace.clone(),
        path: page.path.clone(),
        title: page.description.title.clone(),
        lines: Vec::new(),
    }
}

/// The words of which a link to a page holds all of one: its name, its directory where it stands for that, and its title.
fn names(path: &str, title: Option<&str>) -> Vec<String> {
    let mut parts = path.rsplit('/');
    let name = folded(stem(parts.next().unwrap_or(path)));
    let directory = parts.next().filter(|_| OF_DIRECTORY.contains(&name.as_str())).map(folded);
    let mut names: Vec<String> =
        [Some(name), directory, title.map(folded)].into_iter().flatten().filter(|name| !name.is_empty()).collect();
    names.dedup();
    names
}

/// A link in a text.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    line: u32,
    target: String,
    /// True for `[[target]]`, which names a page wherever it is.
    is_wiki: bool,
}

fn links_in(passage: &StoredPassage) -> Vec<Link> {
    let text = &*passage.text;
    let (mut line, mut counted) = (passage.start_line, 0);
    let mut links = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_WIKILINKS).into_offset_iter() {
        let (Event::Start(Tag::Link { link_type, dest_url, .. })
        | Event::Start(Tag::Image { link_type, dest_url, .. })) = event
        else {
            continue;
        };
        let is_wiki = matches!(link_type, LinkType::WikiLink { .. });
        let Some(target) = target(&dest_url, is_wiki) else { continue };
        let start = range.start.max(counted);
        line += text[counted..start].matches('\n').count() as u32;
        counted = start;
        links.push(Link { line, target, is_wiki });
    }
    links
}

/// The page that a link names, without a place in it; `None` for an address elsewhere or a place on the same page.
fn target(address: &str, is_wiki: bool) -> Option<String> {
    let has_scheme = address.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    if has_scheme && !is_wiki || address.starts_with("//") {
        return None;
    }
    let page = address.split('#').next().filter(|page| !page.is_empty())?;
    let page = if is_wiki { page } else { page.split('?').next()? };
    let decoded = percent_decode_str(page).decode_utf8().ok()?;
    Some(decoded.trim().to_owned()).filter(|page| !page.is_empty())
}

/// The documents of a namespace, to find those that links name.
struct Pages<'d> {
    by_path: HashMap<&'d str, &'d DocumentState>,
    /// The pages by their folded names and titles.
    by_name: HashMap<String, Vec<&'d DocumentState>>,
}

impl<'d> Pages<'d> {
    fn new(documents: &'d [DocumentState]) -> Self {
        let mut by_name: HashMap<String, Vec<&DocumentState>> = HashMap::new();
        for page in documents.iter().filter(|page| PROSE_COLLECTIONS.contains(&page.collection.as_str())) {
            for name in names(&page.path, page.description.title.as_deref()) {
                by_name.entry(name).or_default().push(page);
            }
        }
        Pages { by_path: documents.iter().map(|page| (page.path.as_str(), page)).collect(), by_name }
    }

    /// The document that a link on the page at `from` names.
    fn find(&self, link: &Link, from: &str) -> Option<&'d DocumentState> {
        let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
        let relative = match link.target.strip_prefix('/') {
            Some(rooted) => resolved("", rooted),
            None => resolved(directory, &link.target),
        };
        let at_path = || {
            let path = relative.as_deref()?;
            let pages = ["README.md", "index.md", "_index.md"].map(|page| join(path, page));
            let forms = [path.to_owned(), format!("{path}.md")].into_iter().chain(pages);
            forms.into_iter().find_map(|form| self.by_path.get(form.as_str()).copied())
        };
        at_path().or_else(|| self.find_by_name(&link.target, directory).filter(|_| link.is_wiki))
    }

    /// The page that a wiki calls by a name, in which directories may precede it: the nearest one.
    fn find_by_name(&self, target: &str, directory: &str) -> Option<&'d DocumentState> {
        let (directories, name) = target.rsplit_once('/').unwrap_or(("", target));
        let name = if has_extension(name) { stem(name) } else { name };
        let is_below = |page: &&&DocumentState| {
            let own = page.path.rsplit_once('/').map_or("", |(own, _)| own);
            directories.is_empty() || own == directories || own.ends_with(&format!("/{directories}"))
        };
        let pages = self.by_name.get(&folded(name))?.iter().filter(is_below);
        pages.copied().min_by_key(|page| {
            let own = page.path.rsplit_once('/').map_or("", |(own, _)| own);
            (own != directory, page.path.len(), &page.path)
        })
    }
}

/// A path from a directory, without `.` and `..`; `None` for one outside the tree.
fn resolved(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn has_extension(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["md", "markdown", "mdx", "rst", "adoc", "org", "txt"].contains(&extension)
}

/// A name as wikis compare them: without case, and with spaces for dashes and underscores.
fn folded(name: &str) -> String {
    let name = percent_decode_str(name).decode_utf8_lossy().replace(['-', '_'], " ").to_lowercase();
    name.trim_start_matches("wiki:").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::test_support::passage;
    use tamis_store::{Description, DocumentId, FileStat};

    fn page(path: &str, title: Option<&str>) -> DocumentState {
        DocumentState {
            document: DocumentId(1),
            namespace: "n".into(),
            collection: "docs".into(),
            path: path.into(),
            origin: None,
            description: Description { language: None, role: "main".into(), title: title.map(str::to_owned) },
            file: FileStat { size: 1, modified_ns: 0, stamp: 0 },
            dated_ns: None,
            content_hash: [0; 32],
            note: None,
            passages: 1,
        }
    }

    #[test]
    fn links_are_read_with_their_lines_and_a_link_names_the_page_that_a_reader_would_get() {
        let text = "See [b](../b.md#top \"B\").\n\n- [[Release Process|how]]\n- ![[c]]\n- <https://a.example/b.md>\n\n[d][d]\n\n`[[no]]`\n\n[d]: d%20e.md?x\n[f](#here)";
        let found = links_in(&StoredPassage { start_line: 10, ..passage(1, "a.md", text) });
        let found: Vec<_> = found.iter().map(|one| (one.line, one.target.as_str(), one.is_wiki)).collect();
        let links = [(10, "../b.md", false), (12, "Release Process", true), (13, "c", true), (16, "d e.md", false)];
        assert_eq!(found, links);
        let documents = [
            page("guides/Release-Process.md", None),
            page("Release-Process.md", None),
            page("guides/README.md", Some("All guides")),
            page("b.md", None),
            page("wiki:Key rotation", Some("Key rotation")),
        ];
        let pages = Pages::new(&documents);
        let find = |target: &str, is_wiki, from: &str| {
            let link = Link { line: 1, target: target.into(), is_wiki };
            pages.find(&link, from).map(|page| page.path.as_str())
        };
        assert_eq!(find("../b.md", false, "guides/a.md"), Some("b.md"));
        assert_eq!(find("/b", false, "guides/a.md"), Some("b.md"));
        assert_eq!(find("guides/", false, "a.md"), Some("guides/README.md"));
        assert_eq!(find("release process", true, "guides/a.md"), Some("guides/Release-Process.md"), "the nearest one");
        assert_eq!(find("Release_Process", true, "a.md"), Some("Release-Process.md"));
        assert_eq!(find("guides/Release-Process.md", true, "x/a.md"), Some("guides/Release-Process.md"));
        assert_eq!(find("all guides", true, "a.md"), Some("guides/README.md"));
        assert_eq!(find("Key Rotation", true, "a.md"), Some("wiki:Key rotation"));
        assert_eq!(find("Release-Process", false, "x/a.md"), None, "no wiki link");
        assert_eq!(find("../../etc/passwd", false, "guides/a.md"), None);
    }
}
