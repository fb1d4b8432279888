//! Pages of wikis.

use crate::import::listing::{counts, listing};
use crate::support::{assert_says, opened_notes};
use tamis::import::{ImportSummary, PageImport};
use tamis::{Index, RunOptions, SearchRequest};
use tamis_text::WikiDumpOptions;

fn page(title: &str, revision: u64, day: u64, text: &str) -> String {
    format!(
        "<page><title>{title}</title><ns>0</ns><id>{revision}</id><revision><id>{revision}</id>\
         <timestamp>2026-11-{day:02}T08:00:00Z</timestamp><text>{text}</text></revision></page>"
    )
}

fn dump(pages: &[String]) -> String {
    let site = "<siteinfo><sitename>Handbook</sitename><base>https://wiki.engine.test/wiki/Start</base></siteinfo>";
    let redirect = "<page><title>Old</title><ns>0</ns><id>90</id><redirect title=\"Backups\" /><revision><id>91</id>\
                    <timestamp>2026-11-01T08:00:00Z</timestamp><text>#REDIRECT [[Backups]]</text></revision></page>";
    format!("<mediawiki>{site}{redirect}{}</mediawiki>", pages.concat())
}

fn backups(day: u64) -> String {
    let text = "Archives are written at night.\n\n== Restoring ==\nFetch the newest archive from the [[second site]] and \
                unpack it with the key of the operators.";
    page("Backups", 10 + day, day, &format!("{text} Größe: {day}."))
}

fn read(dumps: &[(&str, &str)]) -> PageImport {
    let mut import = PageImport::default();
    for (name, xml) in dumps {
        import.read(name, xml.as_bytes(), None, &WikiDumpOptions::default()).expect("read");
    }
    import
}

fn take_in(index: &Index, import: PageImport) -> ImportSummary {
    index.imports().pages(import, &()).expect("imported")
}

#[test]
fn a_section_of_a_page_is_found_and_the_same_dump_changes_nothing() {
    let (_tree, index) = opened_notes(&[]);
    let xml = dump(&[backups(3), page("Help/Über uns", 7, 2, "We run the engine.")]);
    let summary = take_in(&index, read(&[("dump.xml", &xml)]));
    assert_eq!((counts(&summary), summary.origin.as_str()), ((2, 0, 0, 0), "wiki.engine.test"));
    assert_eq!(summary.left_out.get("redirect"), Some(&1));
    index.complete(RunOptions::WHOLE, &()).expect("completed");
    let request = SearchRequest {
        collections: vec!["wiki".into()],
        ..SearchRequest::new("unpack the newest archive with the key of the operators")
    };
    let answer = index.search(&request).expect("searched");
    let hit = &answer.results[0];
    assert_eq!(hit.path, "wiki:Backups");
    assert!(hit.title.as_deref().is_some_and(|title| title.contains("Restoring")), "{:?}", hit.title);
    assert!(index.get("wiki:Backups").expect("there").text.contains("second site"));
    assert!(index.get("wiki:Help/Über uns").expect("there").text.contains("We run the engine"));

    let before = listing(&index);
    assert_eq!(counts(&take_in(&index, read(&[("dump.xml", &xml)]))), (0, 0, 2, 0));
    assert_eq!(listing(&index), before);
    index.refresh_with(RunOptions { reread: true, ..RunOptions::WHOLE }, &()).expect("refreshed");
    assert!(index.get("wiki:Backups").is_ok(), "a run of the index leaves pages alone");
}

#[test]
fn a_later_revision_of_the_same_wiki_holds() {
    let (_tree, index) = opened_notes(&[]);
    take_in(&index, read(&[("a.xml", &dump(&[backups(3)]))]));
    // Two parts of one dump, one of which has the page in an earlier revision.
    let (newer, older) = (dump(&[backups(9)]), dump(&[backups(5)]));
    assert_eq!(counts(&take_in(&index, read(&[("b.xml", &newer), ("c.xml", &older)]))), (0, 1, 0, 0));
    assert!(index.get("wiki:Backups").expect("there").text.contains("Größe: 9."));
    let before = listing(&index);
    assert_eq!(counts(&take_in(&index, read(&[("a.xml", &dump(&[backups(3)]))]))), (0, 0, 0, 1));
    assert_eq!(listing(&index), before);

    let (_tree, index) = opened_notes(&[]);
    take_in(&index, read(&[("dump.xml", &dump(&[backups(3)]))]));
    let mut other = PageImport::default();
    let xml = dump(&[backups(9)]);
    other.read("other.xml", xml.as_bytes(), Some("elsewhere"), &WikiDumpOptions::default()).expect("read");
    let before = listing(&index);
    assert_says(index.imports().pages(other.clone(), &()).expect_err("refused"), &["wiki.engine.test", "namespace"]);
    assert_eq!(listing(&index), before);
    let apart = PageImport { namespace: Some("elsewhere".into()), ..other };
    assert_eq!(counts(&take_in(&index, apart)), (1, 0, 0, 0));
    assert!(index.get("elsewhere:wiki:Backups").is_ok());
}

#[test]
fn a_dump_that_breaks_off_and_nothing_is_imported_unless_that_is_left_out() {
    let (_tree, index) = opened_notes(&[]);
    let xml = dump(&[backups(3), page("Pumps", 8, 2, "There are two.")]);
    let cut = &xml[..xml.find("There are").expect("there")];
    let import = read(&[("dump.xml", cut)]);
    let before = listing(&index);
    assert_says(index.imports().pages(import.clone(), &()).expect_err("refused"), &["dump.xml: byte ", "breaks off"]);
    assert_eq!(listing(&index), before);
    let dry = PageImport { skip_bad: true, dry_run: true, ..import.clone() };
    assert_eq!(counts(&take_in(&index, dry)), (1, 0, 0, 0));
    assert_eq!(listing(&index), before);
    let summary = take_in(&index, PageImport { skip_bad: true, ..import });
    assert_eq!((counts(&summary), summary.bad.len()), ((1, 0, 0, 0), 1));

    let none = PageImport::default().read("a.xml", &b"<html></html>"[..], None, &WikiDumpOptions::default());
    let error = none.expect_err("no dump").to_string();
    assert!(error.starts_with("a.xml: "), "{error}");
}
