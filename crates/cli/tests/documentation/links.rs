//! Checks the links of the documentation: files, and headings within them. That the site has every page, and that the files and modules
//! which the guides to the code name are there.

use crate::pages;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The guides to the code.
const GUIDES: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Paths of the guides that no checkout has: in an index, in what a command builds, and in a reader's own data.
const ELSEWHERE: [&str; 3] = [".tamis/", "target/", "data/"];

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

/// The code spans of each section.
fn code(text: &str) -> Vec<Vec<String>> {
    let mut sections = vec![Vec::new()];
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => sections.push(Vec::new()),
            Event::Code(span) => sections.last_mut().expect("one at least").push(span.to_string()),
            _ => {}
        }
    }
    sections
}

/// All files and directories of a checkout, with a slash in front of each part.
fn files(directory: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        let path = format!("{prefix}/{}", name.to_string_lossy());
        let is_made = ["target", ".git", "node_modules"].iter().any(|made| name == *made);
        if !is_made && entry.file_type().expect("its type").is_dir() {
            files(&entry.path(), &path, found);
        }
        found.push(path);
    }
}

/// The directories of code that a section names, each with those around it up to `src`. Its other names are of modules there.
fn directories_of_code<'s>(checkout: &Path, spans: &'s [String]) -> BTreeSet<&'s Path> {
    let named = spans.iter().map(|span| Path::new(span.as_str())).filter(|path| path.starts_with("crates"));
    let around = named.flat_map(Path::ancestors).filter(|path| path.iter().any(|part| part == "src"));
    around.filter(|path| checkout.join(path).is_dir()).collect()
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
fn what_the_guides_name_is_there() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    files(&checkout, "", &mut all);
    let exists = |name: &str| {
        let name = name.trim_end_matches('/');
        let (itself, module) = (format!("/{name}"), format!("/{name}.rs"));
        all.iter().any(|path| path.ends_with(&itself) || path.ends_with(&module))
    };
    let mut faults = Vec::new();
    for guide in GUIDES {
        let is_map = guide == GUIDES[0];
        for spans in code(&fs::read_to_string(checkout.join(guide)).expect("a guide")) {
            let places = directories_of_code(&checkout, &spans);
            let is_near = |name: &str| {
                let at = |place: &&Path| checkout.join(place).join(name).exists();
                let module = |place: &&Path| checkout.join(place).join(format!("{name}.rs")).exists();
                places.iter().any(|place| at(place) || module(place))
            };
            for span in &spans {
                let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                let is_path = span.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
                    && (span.contains('/') || span.ends_with(".rs"));
                let is_missing = if is_path {
                    !ELSEWHERE.iter().any(|place| span.starts_with(place)) && !span.contains("NAME") && !exists(span)
                } else if let Some((module, _)) = span.split_once("::") {
                    is_name(module) && !exists(module) && !exists(&module.replace("tamis_", "crates/"))
                } else {
                    is_map && is_name(span) && !places.is_empty() && !is_near(span)
                };
                if is_missing {
                    faults.push(format!("{guide}: `{span}` is not there"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn anchors_are_those_of_the_forges() {
    assert_eq!(anchor("/v1/feedback, /v1/remember"), "v1feedback-v1remember");
    assert_eq!(anchor("A team’s server: `tamis serve`"), "a-teams-server-tamis-serve");
}
