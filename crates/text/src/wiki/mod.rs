//! Wikis: pages that are files, and dumps of a MediaWiki.

mod page;

pub use page::read_page;
