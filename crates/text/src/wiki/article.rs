//! A page of a dump as a document.

use std::sync::Arc;

use jiff::Timestamp;

use super::WikiSite;
use super::wikitext::{Names, Readable, readable};
use crate::document::{Document, Options};
use crate::languages::Category;
use crate::lines::Lines;
use crate::prose::{self, Heading, Outline};
use crate::{Role, dates};

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
        let passages = if readable.text.is_empty() {
            Vec::new()
        } else {
            prose::divide(&lines, &outline, options.limit(), Role::Main)
        };
        Document {
            language: Some("markdown"),
            category: Category::Prose,
            role: Role::Main,
            title: Some(self.title.clone()),
            severity: None,
            dated_ns: self.timestamp.and_then(dates::nanoseconds),
            attributes: readable.categories.into_iter().map(|category| (CATEGORY.to_owned(), category)).collect(),
            notes: Vec::new(),
            passages,
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
        self.title.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn titled(&self, text: &str) -> String {
        format!("# {}\n\n{text}", self.title_line())
    }
}

/// Number of lines before the text.
const TITLE_ROWS: usize = 2;
