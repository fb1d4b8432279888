//! Dumps of a MediaWiki: XML with every page, as in `pages-articles.xml` and in a wiki's own exports.

use std::collections::BTreeMap;
use std::io;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use jiff::Timestamp;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::wikitext::{Names, Readable, readable};
use crate::document::{Document, Options};
use crate::languages::Category;
use crate::lines::{Lines, begins_with, has_word, non_empty, one_line, shortened};
use crate::prose::{Heading, Outline};
use crate::{BadRecord, Role, dates, prose};

/// The pages of a dump to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WikiDumpOptions {
    /// The numbers of the namespaces whose pages are read.
    pub namespaces: Vec<i32>,
}

impl Default for WikiDumpOptions {
    /// Articles (0), pages on the project itself (4) and help (12).
    fn default() -> Self {
        Self { namespaces: vec![0, 4, 12] }
    }
}

/// The wiki of a dump.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WikiSite {
    /// Name of the wiki.
    pub name: Option<String>,
    /// The address of its main page.
    pub base: Option<String>,
    /// The name of its database, such as `dewiki`.
    pub database: Option<String>,
    /// Names of its namespaces, by number. Articles are in 0, which has no name.
    pub namespaces: BTreeMap<i32, String>,
}

impl WikiSite {
    /// The address of a page, if that of the main page shows the form of addresses.
    #[must_use]
    pub fn url(&self, title: &str) -> Option<String> {
        let (directory, _) = self.base.as_deref()?.rsplit_once('/')?;
        Some(format!("{directory}/{}", title.replace(' ', "_")))
    }
}

/// Summary of a dump, besides the pages that the caller received one by one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WikiDump {
    /// The wiki.
    pub site: Arc<WikiSite>,
    /// Number of pages read.
    pub pages: usize,
    /// Number of pages that only redirect to another, which were left out.
    pub redirects: usize,
    /// Number of pages of other namespaces, which were left out.
    pub other_namespaces: usize,
    /// Number of pages left out because they are not wikitext, such as styles and scripts.
    pub other_models: usize,
    /// True if the caller stopped before the end of the dump.
    pub stopped: bool,
    /// Pages that could not be read.
    pub bad: Vec<BadRecord>,
}

/// The reason a dump could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum WikiDumpError {
    /// The input has another format.
    #[error("not a dump of a MediaWiki: it begins with {seen} instead of <mediawiki>")]
    NotADump {
        /// The first element, or a remark that there is none.
        seen: String,
    },
    /// The dump is broken or cut off. The caller received the pages before that place, which are not all.
    #[error("the dump is broken at byte {byte}, after {pages} pages: {reason}")]
    Broken {
        /// The position in bytes from the beginning, after decompression.
        byte: u64,
        /// Number of pages read before.
        pages: usize,
        /// The reason.
        reason: String,
    },
}

/// The largest page and the largest element, in bytes. MediaWiki itself allows 2 MiB by default.
const LARGEST: usize = 64 << 20;

/// Reads a dump of a MediaWiki page by page, each in its last revision.
///
/// `input` is plain XML or compressed with gzip or bzip2, by its first bytes. `each` receives every page of the wanted
/// namespaces that is wikitext and not a redirect, and can stop the reading. Holds one page at a time.
///
/// ```
/// use std::ops::ControlFlow;
/// use tamis_text::{Options, WikiDumpOptions, read_wiki_dump};
///
/// let xml = "<mediawiki><siteinfo><sitename>Ours</sitename></siteinfo><page><title>Tide</title><ns>0</ns><id>7</id>\
///     <revision><id>9</id><timestamp>2026-11-22T14:05:00Z</timestamp><text>The sea [[Rise|rises]].</text></revision>\
///     </page></mediawiki>";
/// let mut documents = Vec::new();
/// let dump = read_wiki_dump(xml.as_bytes(), &WikiDumpOptions::default(), |page| {
///     documents.push(page.document(&Options::default()));
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!((dump.pages, dump.site.name.as_deref()), (1, Some("Ours")));
/// assert_eq!(documents[0].passages[0].text, "# Tide\n\nThe sea rises.");
/// # Ok::<(), tamis_text::WikiDumpError>(())
/// ```
///
/// # Errors
/// The input is not a dump, is broken, or ends too early. The error names the byte and the number of pages read before.
/// The pages received before are then not the whole wiki.
pub fn read_wiki_dump(
    input: impl Read,
    options: &WikiDumpOptions,
    each: impl FnMut(WikiPage) -> ControlFlow<()>,
) -> Result<WikiDump, WikiDumpError> {
    let mut input = BufReader::with_capacity(64 << 10, input);
    let broken = |error: &io::Error| WikiDumpError::Broken { byte: 0, pages: 0, reason: error.to_string() };
    let mut magic = [0; 3];
    let head = input.fill_buf().map_err(|error| broken(&error))?;
    for (byte, read) in magic.iter_mut().zip(head) {
        *byte = *read;
    }
    match magic {
        [0x1f, 0x8b, _] => read_xml(BufReader::new(MultiGzDecoder::new(input)), options, each),
        [b'B', b'Z', b'h'] => read_xml(BufReader::new(bzip2::bufread::MultiBzDecoder::new(input)), options, each),
        _ => read_xml(input, options, each),
    }
}

fn read_xml(
    input: impl BufRead,
    options: &WikiDumpOptions,
    each: impl FnMut(WikiPage) -> ControlFlow<()>,
) -> Result<WikiDump, WikiDumpError> {
    let mut xml = Reader::from_reader(Bounded { inner: input, since: 0 });
    let mut state = State {
        options,
        each,
        dump: WikiDump::default(),
        site: WikiSite::default(),
        root: false,
        path: Vec::new(),
        text: None,
        page: Page::default(),
    };
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let no_dump = |seen: String| Err(WikiDumpError::NotADump { seen: shortened(&seen, QUOTED) });
        let event = xml.read_event_into(&mut buffer);
        if let Ok(Event::Start(element) | Event::Empty(element)) = &event
            && state.path.is_empty()
        {
            let name = element.local_name().into_inner();
            if name != "mediawiki" {
                return no_dump(format!("<{name}>"));
            }
            state.root = true;
        }
        let reason = match event {
            // A compressed dump can break off before its first element.
            Err(error) if !state.root && !matches!(error, quick_xml::Error::Io(_)) => {
                return no_dump("something other than XML".to_owned());
            }
            Ok(Event::Eof) if !state.root => return no_dump("no element".to_owned()),
            Ok(Event::Eof) => match state.path.last() {
                None => return Ok(state.finish()),
                Some(open) => format!("it ends inside <{open}>"),
            },
            Ok(event) => match state.event(&event) {
                Ok(ControlFlow::Continue(())) => continue,
                Ok(ControlFlow::Break(())) => {
                    state.dump.stopped = true;
                    return Ok(state.finish());
                }
                Err(reason) => reason,
            },
            Err(error) => error.to_string(),
        };
        let byte = xml.buffer_position().max(xml.error_position());
        return Err(WikiDumpError::Broken { byte, pages: state.dump.pages, reason: shortened(&reason, QUOTED) });
    }
}

/// The longest quotation in a message, in characters: a broken dump may have an element with a name of megabytes.
const QUOTED: usize = 200;

/// Rejects an element without end, so that a broken or hostile file cannot fill the memory.
struct Bounded<R> {
    inner: R,
    /// Bytes since the last `<`.
    since: usize,
}

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since > LARGEST {
            return Err(io::Error::other(format!("an element of more than {LARGEST} bytes")));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // Only buffered bytes are consumed, so this reads nothing.
        let seen = self.inner.fill_buf().map(|buffer| buffer.get(..amount).unwrap_or(buffer));
        let last = seen.ok().and_then(|seen| seen.iter().rposition(|byte| *byte == b'<'));
        self.since = last.map_or(self.since + amount, |last| amount - last);
        self.inner.consume(amount);
    }
}

/// A page as far as it has been read.
#[derive(Default)]
struct Page {
    title: Option<String>,
    namespace: Option<i32>,
    id: Option<u64>,
    redirect: bool,
    revision: Revision,
    latest: Option<Revision>,
}

#[derive(Default)]
struct Revision {
    id: Option<u64>,
    timestamp: Option<Timestamp>,
    contributor: Option<String>,
    model: Option<String>,
    text: String,
}

struct State<'options, F> {
    options: &'options WikiDumpOptions,
    each: F,
    dump: WikiDump,
    site: WikiSite,
    /// True once the root element has been seen.
    root: bool,
    path: Vec<String>,
    /// The text of the element that is being read, if it counts.
    text: Option<String>,
    page: Page,
}

/// Elements whose text counts.
const READ: &str = "sitename dbname base namespace title ns id timestamp username ip model text";

impl<F: FnMut(WikiPage) -> ControlFlow<()>> State<'_, F> {
    fn finish(mut self) -> WikiDump {
        if self.dump.pages == 0 {
            self.dump.site = Arc::new(self.site);
        }
        self.dump
    }

    fn event(&mut self, event: &Event<'_>) -> Result<ControlFlow<()>, String> {
        match event {
            Event::Start(element) => {
                let name = element.local_name().into_inner();
                match name {
                    "page" => self.page = Page::default(),
                    "revision" => self.page.revision = Revision::default(),
                    // The text of the element comes after its number.
                    "namespace" if self.path.last().is_some_and(|around| around == "namespaces") => {
                        let key = element.try_get_attribute("key").ok().flatten();
                        self.page.namespace = key.and_then(|key| key.value.parse().ok()).or(self.page.namespace);
                    }
                    _ => {}
                }
                self.path.push(name.to_owned());
                self.text = has_word(READ, name).then(String::new);
            }
            Event::Empty(element) => self.page.redirect |= element.local_name().into_inner() == "redirect",
            Event::Text(text) => self.push(text)?,
            Event::CData(text) => self.push(text)?,
            Event::GeneralRef(reference) => match reference.resolve_char_ref().map_err(|error| error.to_string())? {
                Some(character) => self.push(character.encode_utf8(&mut [0; 4]))?,
                None => match quick_xml::escape::resolve_predefined_entity(reference) {
                    Some(text) => self.push(text)?,
                    None => return Err(format!("`&{};` is not an entity of XML", &**reference)),
                },
            },
            Event::End(_) => return Ok(self.end()),
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn push(&mut self, text: &str) -> Result<(), String> {
        let Some(kept) = &mut self.text else { return Ok(()) };
        if kept.len() + text.len() > LARGEST {
            return Err(format!("an element of more than {LARGEST} bytes"));
        }
        kept.push_str(text);
        Ok(())
    }

    fn end(&mut self) -> ControlFlow<()> {
        let name = self.path.pop().unwrap_or_default();
        let parent = self.path.last().map(String::as_str).unwrap_or_default();
        let text = self.text.take().unwrap_or_default();
        let some = |text: &str| non_empty(text.trim().to_owned());
        let page = &mut self.page;
        match (parent, name.as_str()) {
            ("siteinfo", "sitename") => self.site.name = some(&text),
            ("siteinfo", "dbname") => self.site.database = some(&text),
            ("siteinfo", "base") => self.site.base = some(&text),
            ("namespaces", "namespace") => {
                if let Some(key) = page.namespace.take() {
                    self.site.namespaces.insert(key, text.trim().to_owned());
                }
            }
            ("mediawiki", "siteinfo") => self.dump.site = Arc::new(self.site.clone()),
            ("page", "title") => page.title = some(&text),
            ("page", "ns") => page.namespace = text.trim().parse().ok(),
            ("page", "id") => page.id = text.trim().parse().ok(),
            ("page", "redirect") => page.redirect = true,
            ("revision", "id") => page.revision.id = text.trim().parse().ok(),
            ("revision", "timestamp") => page.revision.timestamp = text.trim().parse().ok(),
            ("contributor", "username" | "ip") => page.revision.contributor = some(&text),
            ("revision", "model") => page.revision.model = some(&text),
            ("revision", "text") => page.revision.text = text,
            ("page", "revision") => {
                let revision = std::mem::take(&mut page.revision);
                if page.latest.as_ref().is_none_or(|latest| revision.timestamp >= latest.timestamp) {
                    page.latest = Some(revision);
                }
            }
            ("mediawiki", "page") => return self.give(),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Passes a page to the caller, if it is wanted.
    fn give(&mut self) -> ControlFlow<()> {
        let page = std::mem::take(&mut self.page);
        let namespace = page.namespace.unwrap_or(0);
        let revision = page.latest.unwrap_or_default();
        let Some(title) = page.title else {
            let position =
                page.id.map_or_else(|| format!("page {}", self.dump.pages + 1), |id| format!("page id {id}"));
            self.dump.bad.push(BadRecord { position, reason: "it has no title".to_owned() });
            return ControlFlow::Continue(());
        };
        if !self.options.namespaces.contains(&namespace) {
            self.dump.other_namespaces += 1;
        } else if page.redirect || begins_with(&revision.text, "#redirect") {
            self.dump.redirects += 1;
        } else if revision.model.as_deref().is_some_and(|model| model != "wikitext") {
            self.dump.other_models += 1;
        } else {
            self.dump.pages += 1;
            return (self.each)(WikiPage {
                id: page.id,
                namespace,
                title,
                revision: revision.id,
                timestamp: revision.timestamp,
                author: revision.contributor,
                wikitext: revision.text,
                site: Arc::clone(&self.dump.site),
            });
        }
        ControlFlow::Continue(())
    }
}

// A page of a dump as a document.

/// A page of a MediaWiki, in one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WikiPage {
    /// Its number in its wiki, which stays when it is renamed.
    pub id: Option<u64>,
    /// The number of its namespace; 0 for an article.
    pub namespace: i32,
    /// Its title, with the name of its namespace unless that is 0.
    pub title: String,
    /// The number of the revision.
    pub revision: Option<u64>,
    /// Time of the revision.
    pub timestamp: Option<Timestamp>,
    /// Author of the revision.
    pub author: Option<String>,
    /// The page as written.
    pub wikitext: String,
    /// Its wiki.
    pub site: Arc<WikiSite>,
}

/// The attribute for the categories of a page.
const CATEGORY: &str = "category";

/// The namespaces of files and of categories.
const FILES: i32 = 6;
const CATEGORIES: i32 = 14;

impl WikiPage {
    /// The path of a page with this title in a store: `wiki:Title`.
    #[must_use]
    pub fn path(title: &str) -> String {
        format!("wiki:{title}")
    }

    /// The page as people read it, in the form of Markdown: its title, its text, and a heading before each section.
    #[must_use]
    pub fn rendered(&self) -> String {
        self.titled(&self.readable().text)
    }

    /// The page divided into sections, each with its heading path. The first passage has title and lead and represents the
    /// page. The date is that of the revision, and the attributes `category` are the page's categories. A page without any
    /// remaining text has no passages.
    #[must_use]
    pub fn document(&self, options: &Options) -> Document {
        let readable = self.readable();
        let text = self.titled(&readable.text);
        let lines = Lines::new(&text);
        let title = Heading { first: 0, last: 0, level: 1, text: self.title_line() };
        let below = readable.headings.into_iter().map(|heading| Heading {
            first: heading.first + TITLE_ROWS,
            last: heading.last + TITLE_ROWS,
            ..heading
        });
        let tables = readable.tables.iter().map(|(first, last)| (first + TITLE_ROWS, last + TITLE_ROWS)).collect();
        let outline = Outline { headings: std::iter::once(title).chain(below).collect(), tables, ..Outline::default() };
        let mut prose = prose::divided(&lines, &outline, options.limit(), Role::Main);
        if readable.text.is_empty() {
            prose.passages.clear();
        }
        prose.title = Some(self.title.clone());
        prose.dated_ns = self.timestamp.and_then(dates::nanoseconds);
        Document {
            attributes: readable.categories.into_iter().map(|category| (CATEGORY.to_owned(), category)).collect(),
            ..prose.document(Some("markdown"), Category::Prose, Role::Main, Vec::new())
        }
    }

    fn readable(&self) -> Readable {
        let mut names = Names::default();
        for (number, known) in [(FILES, &mut names.files), (CATEGORIES, &mut names.categories)] {
            known.extend(self.site.namespaces.get(&number).map(|name| name.to_lowercase()));
        }
        readable(&self.wikitext, &self.title, &names)
    }

    fn title_line(&self) -> String {
        one_line(&self.title)
    }

    fn titled(&self, text: &str) -> String {
        format!("# {}\n\n{text}", self.title_line())
    }
}

/// Number of lines before the text.
const TITLE_ROWS: usize = 2;
