//! Checks the links of the documentation: files, and headings within them. And that the site has every page.

use crate::pages;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What a page links to, and the anchors that it has.
#[derive(Default)]
struct Page {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

fn read(text: &str) -> Page {
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    let mut seen = BTreeMap::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                let count = seen.entry(anchor.clone()).and_modify(|count| *count += 1).or_insert(0);
                page.anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::Start(Tag::Link { dest_url, link_type, .. }) if link_type != LinkType::Autolink => {
                page.links.push(dest_url.to_string());
            }
            Event::Start(Tag::Image { dest_url, .. }) => page.links.push(dest_url.to_string()),
            _ => {}
        }
    }
    page
}

/// The anchor of a heading, as forges and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The path without `.` and `..`; `None`: it leads out of the checkout.
fn resolved(path: &Path) -> Option<PathBuf> {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => resolved.pop().then_some(())?,
            Component::CurDir => {}
            part => resolved.push(part),
        }
    }
    Some(resolved)
}

#[test]
fn every_link_leads_somewhere() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = pages(&checkout);
    paths.extend(["ARCHITECTURE.md", "CHANGELOG.md"].map(PathBuf::from));
    let read = |path: &PathBuf| (path.clone(), read(&fs::read_to_string(checkout.join(path)).expect("a page")));
    let pages: BTreeMap<PathBuf, Page> = paths.iter().map(read).collect();
    let mut faults = Vec::new();
    for (path, page) in &pages {
        for link in page.links.iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (file, anchor) = link.split_once('#').map_or((link.as_str(), None), |(file, to)| (file, Some(to)));
            let target = match file {
                "" => Some(path.clone()),
                file => resolved(&path.parent().unwrap_or(Path::new("")).join(file)),
            };
            let fault = match (target, anchor) {
                (None, _) => "leads out of the checkout",
                (Some(target), _) if !checkout.join(&target).exists() => "is not there",
                (Some(target), Some(anchor))
                    if !pages.get(&target).is_some_and(|page| page.anchors.contains(anchor)) =>
                {
                    "has no such heading"
                }
                _ => continue,
            };
            faults.push(format!("{}: {link} {fault}", path.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_site_has_every_page() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let summary = fs::read_to_string(checkout.join("docs/SUMMARY.md")).expect("docs/SUMMARY.md");
    let listed: BTreeSet<PathBuf> = read(&summary).links.iter().map(PathBuf::from).collect();
    let pages: BTreeSet<PathBuf> =
        pages(&checkout).iter().filter_map(|page| page.strip_prefix("docs").ok()).map(Path::to_owned).collect();
    let missing: Vec<_> = pages.iter().filter(|page| !listed.contains(*page) && **page != *"SUMMARY.md").collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
}

#[test]
fn anchors_are_those_of_the_forges() {
    assert_eq!(anchor("/v1/feedback, /v1/remember"), "v1feedback-v1remember");
    assert_eq!(anchor("A team’s server: `tamis serve`"), "a-teams-server-tamis-serve");
}
