//! The body of a page, as in a dump and as a file.

use crate::whole;
use std::sync::Arc;
use tamis_text::{Options, WikiPage, WikiSite, read, read_page};

pub fn check(data: &[u8]) {
    let options = Options::default();
    let text = String::from_utf8_lossy(data);
    let (title, body) = text.split_once('\n').unwrap_or(("Title", &text));
    let page = WikiPage {
        id: Some(7),
        namespace: 0,
        title: title.to_owned(),
        revision: None,
        timestamp: None,
        author: None,
        wikitext: body.to_owned(),
        site: Arc::new(WikiSite::default()),
    };
    let document = page.document(&options);
    whole::embed(&document);
    if !document.passages.is_empty() {
        whole::check("the rendered page", &page.rendered(), &document, options.max_tokens);
    }
    for document in [read("a.mediawiki", data, &options), read_page("A-B.wiki", data, &options)] {
        if whole::is_plain(&text) {
            whole::check("a.wiki", &text, &document, options.max_tokens);
        }
    }
}
