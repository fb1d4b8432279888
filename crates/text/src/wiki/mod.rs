//! Wikis: pages that are files, and dumps of a MediaWiki.

mod dump;
mod wikitext;

use crate::decode::decode_words;
use crate::document::{Document, Options};
use crate::languages::{Category, Language};
use crate::lines::{Lines, file_name, has_word, non_empty, one_line, unescaped};
use crate::prose::Outline;
use crate::{prose, read, role};

pub use dump::{WikiDump, WikiDumpError, WikiDumpOptions, WikiPage, WikiSite, read_wiki_dump};

// Pages of a wiki that are files: a Markdown tree, or the checkout of a wiki that a forge keeps.

/// Pages shown beside every other page. They lead through the wiki and have no content of their own.
const NAVIGATION: &str = "_sidebar _footer _header";

/// Names of pages that represent their directory.
const INDEXES: &str = "index _index readme";

/// Reads a page of a wiki at `path` (relative, with forward slashes), divided into sections.
///
/// The title is that of the front matter, or else the first heading if it is the only one of level 1, or else the name
/// of the file with spaces for its dashes. It begins every heading path, so that each section names its page. The first
/// passage has the page's lead and represents the page.
///
/// `_Sidebar`, `_Footer` and `_Header` have no passages, since their links would match the name of any page. Files other than
/// prose are read as [`read`] does. Always succeeds, in time linear in the size.
///
/// ```
/// use tamis_text::{Options, read_page};
///
/// let page = b"Signs each build.\n\n## Keys\n\nOne a year.\n";
/// let document = read_page("Release-Process.md", page, &Options::default());
/// assert_eq!(document.title.as_deref(), Some("Release Process"));
/// let headings: Vec<_> = document.passages.iter().map(|passage| passage.heading.as_deref().unwrap_or("")).collect();
/// assert_eq!(headings, ["Release Process", "Release Process > Keys"]);
/// ```
#[must_use]
pub fn read_page(path: &str, bytes: &[u8], options: &Options) -> Document {
    let (text, notes) = decode_words(bytes);
    let Some(language) = Language::of_text(path, &text).filter(|language| language.category == Category::Prose) else {
        return read(path, bytes, options);
    };
    let lines = Lines::new(&text);
    let mut outline = prose::outline(language.name, &lines);
    if outline.title.is_none() {
        outline.title = own_title(&lines, &outline).or_else(|| title_of_name(path));
    }
    let role = role(path, Some(language.name));
    let mut prose = prose::divided(&lines, &outline, options.limit(), role);
    if is_navigation(path) {
        prose.passages.clear();
    }
    prose.document(Some(language.name), Category::Prose, role, notes)
}

/// The only heading of level 1, if only metadata comes before it. Pages with several use them for sections.
fn own_title(lines: &Lines<'_>, outline: &Outline) -> Option<String> {
    let mut top = outline.headings.iter().filter(|heading| heading.level == 1);
    let (heading, None) = (top.next()?, top.next()) else {
        return None;
    };
    let first = outline.front_matter.map_or(0, |last| last + 1);
    let alone = heading.first <= first || lines.trim(first, heading.first - 1).is_none();
    (alone && !heading.text.is_empty()).then(|| heading.text.clone())
}

/// `guides/Release-Process.md` is "Release Process"; `guides/index.md` is "guides".
fn title_of_name(path: &str) -> Option<String> {
    let mut parts = path.rsplit('/');
    let name = stem(parts.next()?);
    let name = match parts.next() {
        Some(directory) if has_word(INDEXES, &name.to_ascii_lowercase()) => directory,
        _ => name,
    };
    // File systems do not allow all characters.
    let name = String::from_utf8(unescaped(name.as_bytes(), b'%')).unwrap_or_else(|_| name.to_owned());
    non_empty(one_line(&name.replace('-', " ")))
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn is_navigation(path: &str) -> bool {
    let name = file_name(path);
    has_word(NAVIGATION, &stem(name).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Document {
        read_page(path, text.as_bytes(), &Options::default())
    }

    fn title(path: &str, text: &str) -> Option<String> {
        page(path, text).title
    }

    #[test]
    fn the_page_says_its_title_or_its_name_does() {
        for (path, text, expected) in [
            ("Home.md", "Welcome.\n", "Home"),
            ("Set-up-the-Server.md", "## First\n\nx\n", "Set up the Server"),
            ("a/What%3F-Why%3F.md", "x\n", "What? Why?"),
            ("a/100%.md", "x\n", "100%"),
            ("guides/README.md", "x\n", "guides"),
            ("README.md", "x\n", "README"),
            ("A.md", "# Real Title\n\nx\n\n## B\n", "Real Title"),
            ("Usage-Notes.md", "# Install\n\nx\n\n# Use\n\ny\n", "Usage Notes"),
            ("Usage-Notes.md", "Lead.\n\n# Install\n\nx\n", "Usage Notes"),
            ("A.md", "---\ntitle: From Front\n---\n# Other\n\nx\n", "From Front"),
            ("A-B.mediawiki", "== C ==\n\nx\n", "A B"),
        ] {
            assert_eq!(title(path, text).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn the_first_passage_stands_for_the_page_sections_follow_and_navigation_has_none() {
        let document = page("Key-Rotation.md", "Why we do it.\n\n# When\n\nEach spring.\n\n# How\n\nBy hand.\n");
        let texts: Vec<_> = document.passages.iter().map(|passage| passage.embedded_text().into_owned()).collect();
        let parts = ["Why we do it.", "# When\n\nEach spring.", "# How\n\nBy hand."];
        assert_eq!(texts, parts.map(|part| format!("Key Rotation\n{part}")));
        for path in ["_Sidebar.md", "a/_Footer.md", "_header.rst"] {
            assert!(page(path, "* [Home](Home)\n").passages.is_empty(), "{path}");
        }
        assert_eq!(page("Sidebar.md", "* [Home](Home)\n").passages.len(), 1);
    }
}
