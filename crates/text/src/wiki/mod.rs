//! Wikis: pages that are files, and dumps of a MediaWiki.

mod article;
mod dump;
mod page;
mod wikitext;

pub use article::WikiPage;
pub use dump::{WikiDump, WikiDumpError, WikiDumpOptions, WikiSite, read_wiki_dump};
pub use page::read_page;
