//! A dump is read to its end or refused, and every page that it gives has a document.

use crate::whole;
use std::io::Read;
use std::ops::ControlFlow;
use tamis_text::{Options, WikiDumpOptions, read_wiki_dump};

pub fn check(data: &[u8]) {
    let options = WikiDumpOptions { namespaces: (-2..16).collect() };
    let mut pages = 0;
    // Compressed input can expand a thousandfold, which takes time and tests nothing new.
    let plain = !data.starts_with(&[0x1f, 0x8b]) && !data.starts_with(b"BZh");
    let input: Box<dyn Read> = if plain { Box::new(data) } else { Box::new(data.take(1 << 10)) };
    let dump = read_wiki_dump(input, &options, |page| {
        pages += 1;
        whole::embed(&page.document(&Options::default()));
        if let Some(url) = page.site.url(&page.title) {
            assert!(url.len() >= page.title.len());
        }
        ControlFlow::Continue(())
    });
    match dump {
        Ok(dump) => assert_eq!(dump.pages, pages),
        Err(error) => assert!(error.to_string().len() < 2000, "{error}"),
    }
}
