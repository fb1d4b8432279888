//! Wikis: dumps of a MediaWiki, whole and broken, and the documents of their pages.

#[path = "../../../fuzz/checks/whole.rs"]
mod whole;

use std::io::Write as _;
use std::ops::ControlFlow;

use proptest::prelude::*;
use tamis_text::{Kind, Options, WikiDump, WikiDumpError, WikiDumpOptions, WikiPage, read_wiki_dump};

const DUMP: &str = include_str!("fixtures/harbour.xml");

fn dump(bytes: &[u8]) -> (Vec<WikiPage>, Result<WikiDump, WikiDumpError>) {
    let mut pages = Vec::new();
    let result = read_wiki_dump(bytes, &WikiDumpOptions::default(), |page| {
        pages.push(page);
        ControlFlow::Continue(())
    });
    (pages, result)
}

#[test]
fn pages_come_in_their_last_revision_and_the_rest_is_counted() {
    let (pages, result) = dump(DUMP.as_bytes());
    let dump = result.expect("a whole dump");
    let titles: Vec<_> = pages.iter().map(|page| page.title.as_str()).collect();
    assert_eq!(titles, ["Schleuse Nord", "Gelöscht"]);
    assert_eq!((dump.pages, dump.redirects, dump.other_namespaces, dump.other_models), (2, 1, 1, 1));
    assert_eq!((dump.bad.len(), dump.bad[0].position.as_str(), dump.stopped), (1, "page id 11", false));
    assert_eq!(dump.site.name.as_deref(), Some("Hafenwiki"));
    assert_eq!(dump.site.namespaces.get(&14).map(String::as_str), Some("Kategorie"));
    assert_eq!(dump.site.url("Schleuse Nord").as_deref(), Some("https://wiki.example.org/wiki/Schleuse_Nord"));
    let page = &pages[0];
    assert_eq!((page.id, page.revision, page.author.as_deref()), (Some(7), Some(71), Some("Änne")));
}

#[test]
fn a_page_becomes_readable_sections() {
    let (pages, _) = dump(DUMP.as_bytes());
    let document = pages[0].document(&Options::default());
    assert_eq!(WikiPage::path(&pages[0].title), "wiki:Schleuse Nord");
    assert_eq!(document.title.as_deref(), Some("Schleuse Nord"));
    assert_eq!(document.dated_ns, Some(1_795_356_300_000_000_000));
    assert_eq!(document.attributes, [("category".to_owned(), "Bauwerke".to_owned())]);
    let told: Vec<_> = document
        .passages
        .iter()
        .map(|passage| (passage.start_line, passage.heading.as_deref().unwrap_or(""), passage.text.as_str()))
        .collect();
    let expected = [
        (1, "Schleuse Nord", "# Schleuse Nord\n\nDie Schleuse Nord ist die größte."),
        (5, "Schleuse Nord > Betrieb", "## Betrieb\nSie öffnet um 6 Uhr, siehe den Plan."),
        (8, "Schleuse Nord > Betrieb > Störung", "### Störung\n- Zuerst Pumpe 2 abstellen.\n- Dann gate --close."),
    ];
    assert_eq!(told, expected);
    assert!(document.passages.iter().all(|passage| passage.kind == Kind::Section));
    assert_eq!(pages[1].document(&Options::default()).passages, []);
}

#[test]
fn a_dump_that_is_cut_off_anywhere_is_an_error() {
    let end = DUMP.trim_end().len();
    for length in (0..end).filter(|length| DUMP.is_char_boundary(*length)).chain([75, 76]) {
        let (pages, result) = dump(&DUMP.as_bytes()[..length]);
        match result {
            Ok(_) => panic!("{length} bytes were taken for the whole"),
            Err(WikiDumpError::NotADump { .. }) => assert!(pages.is_empty() && length < 200, "{length}"),
            Err(WikiDumpError::Broken { byte, pages: read, reason }) => {
                assert!(byte <= length as u64 && !reason.is_empty());
                assert_eq!(read, pages.len());
            }
        }
    }
}

#[test]
fn a_broken_dump_says_where() {
    let broken = DUMP.replace("</siteinfo>", "</sitinfo>");
    let place = broken.find("</sitinfo>").expect("it is there") as u64;
    match dump(broken.as_bytes()).1 {
        Err(WikiDumpError::Broken { byte, pages: 0, .. }) => {
            assert!(byte >= place && byte < place + 20, "{byte}, {place}")
        }
        other => panic!("{other:?}"),
    }
    let told = dump(DUMP.replace("Ein Buch", "&unknown;").as_bytes()).1.expect_err("no entity of XML").to_string();
    assert!(told.contains("&unknown;") && told.contains("at byte"), "{told}");
}

#[test]
fn a_message_quotes_only_the_beginning_of_what_is_broken() {
    let name = "x".repeat(100_000);
    for dump in [format!("<mediawiki><siteinfo></{name}>"), format!("<{name}></{name}>")] {
        let told = self::dump(dump.as_bytes()).1.expect_err("no dump").to_string();
        assert!(told.contains("xxx") && told.len() < 1000, "{told}");
    }
}

#[test]
fn what_is_no_dump_is_told_from_a_broken_one() {
    for other in ["", "<html><body>x</body></html>", "# Markdown\n", "{\"a\": 1}", "<rss/>"] {
        let (pages, result) = dump(other.as_bytes());
        assert!(matches!(result, Err(WikiDumpError::NotADump { .. })), "{other}: {result:?}");
        assert!(pages.is_empty());
    }
}

#[test]
fn an_element_without_end_does_not_fill_the_memory() {
    let endless = std::io::Read::chain(&b"<mediawiki><page><text>"[..], std::io::repeat(b'x'));
    let result = read_wiki_dump(endless, &WikiDumpOptions::default(), |_| ControlFlow::Continue(()));
    assert!(matches!(result, Err(WikiDumpError::Broken { .. })), "{result:?}");
}

#[test]
fn compressed_dumps_are_read_and_a_cut_one_is_an_error() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    gzip.write_all(DUMP.as_bytes()).expect("written");
    bzip2.write_all(DUMP.as_bytes()).expect("written");
    for packed in [gzip.finish().expect("packed"), bzip2.finish().expect("packed")] {
        let (pages, result) = dump(&packed);
        assert_eq!((pages.len(), result.expect("a whole dump").pages), (2, 2));
        let (_, result) = dump(&packed[..packed.len() / 2]);
        assert!(matches!(result, Err(WikiDumpError::Broken { .. })), "{result:?}");
    }
}

#[test]
fn the_caller_can_stop_and_choose_namespaces() {
    let options = WikiDumpOptions { namespaces: vec![10] };
    let mut titles = Vec::new();
    let dump = read_wiki_dump(DUMP.as_bytes(), &options, |page| {
        titles.push(page.title);
        ControlFlow::Break(())
    });
    let dump = dump.expect("a dump");
    assert_eq!((titles, dump.stopped), (vec!["Vorlage:Infobox".to_owned()], true));
    assert_eq!(dump.site.name.as_deref(), Some("Hafenwiki"));
}

proptest! {
    #[test]
    fn every_line_of_a_page_is_in_one_passage(
        parts in prop::collection::vec(prop::sample::select(vec![
            "== A ==\n", "=== B ===\n", "words and [[links|more]]\n", "\n", "* item\n", "{|\n| a || b\n|}\n", "<pre>\ncode\n</pre>\n", "{{x}}\n", "語語語。", "{{", "''",
        ]), 0..40),
        max_tokens in 0_usize..100,
    ) {
        let page = WikiPage {
            id: None, namespace: 0, title: "A Title".to_owned(), revision: None, timestamp: None, author: None,
            wikitext: parts.concat(), site: std::sync::Arc::default(),
        };
        let rendered = page.rendered();
        let document = page.document(&Options { max_tokens });
        if !document.passages.is_empty() {
            whole::check("a page", &rendered, &document, max_tokens);
        }
        for passage in &document.passages {
            prop_assert!(passage.heading.as_deref().is_some_and(|heading| heading.starts_with("A Title")));
        }
    }
}
