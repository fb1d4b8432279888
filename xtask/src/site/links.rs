//! The links in a rendered site.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What was checked.
#[derive(Debug, Default)]
pub struct Checked {
    /// The number of pages.
    pub pages: usize,
    /// The number of links to pages, files and anchors of the site.
    pub links: usize,
}

/// Turns links to files of the source that are no pages into plain text, since the site does not have these files. Returns their number.
///
/// # Errors
/// A page cannot be read or written, or such a link leads nowhere in the source either.
pub fn unlink_outside(site: &Path, source: &Path) -> Result<usize> {
    let mut count = 0;
    for page in pages(site)? {
        let text = fs::read_to_string(site.join(&page)).with_context(|| page.display().to_string())?;
        let mut changed = text.clone();
        for link in values(&text, "href") {
            let Some(path) = inside(&page, &link) else { continue };
            if path.is_some() {
                continue;
            }
            let target = source.join(page.parent().unwrap_or(Path::new(""))).join(file(&link));
            // mdBook takes every Markdown file for a page of its own.
            let is_there = target.exists() || (link.contains(".html") && target.with_extension("md").exists());
            ensure!(is_there, "{}: {link} leads nowhere", page.display());
            changed = changed.replace(&format!("<a href=\"{link}\">"), "<a>");
            count += 1;
        }
        if changed != text {
            fs::write(site.join(&page), changed)?;
        }
    }
    Ok(count)
}

/// Checks that every link of the site to itself leads to a file, and every anchor to an element.
///
/// # Errors
/// The links that do not, each with its page.
pub fn check(site: &Path) -> Result<Checked> {
    let mut texts = BTreeMap::new();
    for page in pages(site)? {
        let text = fs::read_to_string(site.join(&page)).with_context(|| page.display().to_string())?;
        texts.insert(page, text);
    }
    let ids = |text: &String| values(text, "id").collect::<BTreeSet<_>>();
    let anchors: BTreeMap<&PathBuf, BTreeSet<String>> = texts.iter().map(|(page, text)| (page, ids(text))).collect();
    let mut checked = Checked { pages: texts.len(), links: 0 };
    let mut faults = BTreeSet::new();
    // The page of all pages has the links of the others, relative to their places.
    for (page, text) in texts.iter().filter(|(page, _)| **page != *"print.html" && **page != *"404.html") {
        for link in values(text, "href").chain(values(text, "src")) {
            let Some(path) = inside(page, &link) else { continue };
            checked.links += 1;
            let target = path.filter(|path| site.join(path).exists());
            let anchor = link.split_once('#').map(|(_, anchor)| anchor).filter(|anchor| !anchor.is_empty());
            let found = match (&target, anchor) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(target), Some(anchor)) => anchors.get(target).is_none_or(|ids| ids.contains(&decoded(anchor))),
            };
            if !found {
                faults.insert(format!("{}: {link}", page.display()));
            }
        }
    }
    ensure!(faults.is_empty(), "links that lead nowhere:\n  {}", faults.into_iter().collect::<Vec<_>>().join("\n  "));
    Ok(checked)
}

/// The pages, relative to the site.
fn pages(site: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(site.join(&folder)).with_context(|| site.display().to_string())? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// The values of an attribute, as mdBook writes attributes.
fn values<'a>(html: &'a str, attribute: &str) -> impl Iterator<Item = String> + use<'a> {
    let opening = format!(" {attribute}=\"");
    let parts: Vec<&str> = html.split(opening.as_str()).skip(1).collect();
    parts.into_iter().filter_map(|rest| Some(rest.split_once('"')?.0.replace("&amp;", "&")))
}

/// The file that a link names; empty for the page itself.
fn file(link: &str) -> &str {
    link.split(['#', '?']).next().unwrap_or(link)
}

/// Where a link of a page leads: `None` if it has nothing to do with files, `Some(None)` if it leads out of the site.
fn inside(page: &Path, link: &str) -> Option<Option<PathBuf>> {
    let schemes = ["http:", "https:", "mailto:", "data:", "javascript:"];
    if schemes.iter().any(|scheme| link.starts_with(scheme)) {
        return None;
    }
    let file = decoded(file(link));
    if file.is_empty() {
        return Some(Some(page.to_owned()));
    }
    let mut resolved = PathBuf::new();
    for part in page.parent().unwrap_or(Path::new("")).join(file).components() {
        match part {
            Component::ParentDir if !resolved.pop() => return Some(None),
            Component::Normal(part) => resolved.push(part),
            _ => {}
        }
    }
    Some(Some(resolved))
}

/// The text of a part of an address.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = (first == b'%').then(|| after.get(..2)).flatten().and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_and_anchors_are_found() {
        let site = tempfile::tempdir().unwrap();
        fs::create_dir(site.path().join("a")).unwrap();
        fs::write(site.path().join("index.html"), "<h1 id=\"t\"><a href=\"a/b.html#x-%C3%BC\">b</a>").unwrap();
        fs::write(site.path().join("a/b.html"), "<h1 id=\"x-ü\"><a href=\"../index.html#t\">").unwrap();
        let checked = check(site.path()).unwrap();
        assert_eq!((checked.pages, checked.links), (2, 2));
        fs::write(site.path().join("a/b.html"), "<a href=\"../index.html#u\"><img src=\"no.png\">").unwrap();
        let fault = check(site.path()).unwrap_err().to_string();
        assert!(fault.contains("b.html: ../index.html#u") && fault.contains("b.html: no.png"), "{fault}");
        assert!(fault.contains("index.html: a/b.html#x-%C3%BC"), "{fault}");
    }

    #[test]
    fn links_to_the_source_become_text() {
        let place = tempfile::tempdir().unwrap();
        let (site, source) = (place.path().join("site"), place.path().join("docs"));
        fs::create_dir(&site).unwrap();
        fs::create_dir(&source).unwrap();
        fs::write(site.join("index.html"), "<p><a href=\"../list.txt\">the list</a>").unwrap();
        assert!(unlink_outside(&site, &source).unwrap_err().to_string().contains("list.txt"));
        fs::write(place.path().join("list.txt"), "").unwrap();
        assert_eq!(unlink_outside(&site, &source).unwrap(), 1);
        assert_eq!(fs::read_to_string(site.join("index.html")).unwrap(), "<p><a>the list</a>");
        fs::write(site.join("index.html"), "<p><a href=\"../list.html#x\">the list</a>").unwrap();
        assert!(unlink_outside(&site, &source).is_err());
        fs::write(place.path().join("list.md"), "").unwrap();
        assert_eq!(unlink_outside(&site, &source).unwrap(), 1, "a page of the source alone");
    }
}
