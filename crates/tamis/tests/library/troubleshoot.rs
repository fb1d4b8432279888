//! Problems answered from solved issues, or else from the wiki, or else not at all.

use crate::support::issues::{closed, put, said};
use crate::support::{Tree, opened_notes, stop_everywhere, store};
use tamis::Index;
use tamis::telemetry::StatsRequest;
use tamis::troubleshoot::{Fallback, TroubleshootRequest, Troubleshooting};
use tamis_store::{Change, NewDocument, NewPassage, TextForm};
use tamis_text::{Issue, IssueState};

const TITLE: &str = "Login fails with a bad token after the update";
const BODY: &str = "Since the update the login page says bad token and nobody gets into the application.";

fn tracker() -> Vec<Issue> {
    let mut solved = closed(1, TITLE, BODY);
    solved.comments = vec![said("alice", "Which version of the session store is it?"), said("bob", "Clear it once.")];
    vec![
        solved,
        closed(2, "Printer driver cannot find the paper tray", "The driver shows no tray of paper at all."),
        closed(3, "Colours of the chart are too pale", "On a bright screen the chart is hard to read."),
        Issue { state: IssueState::Open, ..closed(4, TITLE, BODY) },
    ]
}

fn index(settings: &[(&str, &str)]) -> (Tree, Index) {
    let (tree, index) = opened_notes(settings);
    put(&index, &tracker());
    (tree, index)
}

fn ask(index: &Index, title: &str, body: &str) -> Troubleshooting {
    index.troubleshooting().answer(&TroubleshootRequest::text(title, body), &()).expect("answered")
}

fn wiki(index: &Index, pages: &[(&str, &str)]) {
    let page = |(name, text): &(&str, &str)| {
        let new = NewPassage::new("section", 1..=1, *text, TextForm::Prose);
        let embedded_text = format!("{name}\n{text}");
        let passage = NewPassage { heading: Some((*name).to_owned()), embedded_text, ..new };
        Change::Put(NewDocument {
            title: Some((*name).to_owned()),
            origin: Some("test".into()),
            passages: vec![passage],
            ..NewDocument::new(index.own_namespace().expect("one"), "wiki", format!("wiki:{name}"))
        })
    };
    store(index).apply(&pages.iter().map(page).collect::<Vec<_>>()).expect("put");
    index.complete(tamis::RunOptions::WHOLE, &()).expect("completed");
}

const PAGES: [(&str, &str); 4] = [
    ("Paper Trays", "When the printer finds no paper, open the tray and push the paper guide to the stack."),
    ("Session Store", "The session store holds tokens. Clear it after each update of the login service."),
    ("Release Calendar", "Releases come out on the first Monday of each month."),
    ("Style Guide", "Names of functions are verbs, names of types are nouns."),
];

#[test]
fn the_wiki_answers_where_no_issue_does_and_says_what_found_it() {
    let (_tree, index) = opened_notes(&[]);
    wiki(&index, &PAGES);
    let found = ask(&index, "Printer finds no paper in its tray", "The printer says PAPER_OUT with paper in it.");
    assert_eq!(found.fallback, Fallback::Wiki);
    assert_eq!(found.sources, ["[Wiki: Paper Trays]"], "{found:?}");
    let page = &found.wiki[0];
    assert_eq!((page.path.as_str(), page.found_by), ("wiki:Paper Trays", tamis::troubleshoot::WikiFound::Both));
    assert!(page.text.contains("push the paper guide") && page.characters <= 12_000);
    assert!(found.markdown().contains("## [Wiki: Paper Trays]"));
    let off_topic = ask(&index, "Quarterly harvest of seaweed", "How much kelp grows near the coast?");
    assert!(off_topic.is_empty() && off_topic.fallback == Fallback::Wiki, "{off_topic:?}");
    assert!(off_topic.reason.contains("nothing in the wiki either"), "{}", off_topic.reason);

    let (_tree, index) = opened_notes(&[]);
    let pages = [&PAGES[..], &[("Failures", "KRAKEN_OVERRUN: the queue of the loader is full; extend it.")]].concat();
    wiki(&index, &pages);
    let body = "Yesterday evening my colleague and I came back from lunch, sat down, drank some tea with lemon, watched birds \
                outside and wondered about holidays in the mountains, about skiing, snow, cheese and good weather. Then a \
                grey window showed KRAKEN_OVERRUN and went away again before anybody could take a photograph of it.";
    let found = ask(&index, "A grey window in the evening", body);
    assert_eq!(found.sources, ["[Wiki: Failures]"], "{}", found.reason);
    assert_ne!(found.wiki[0].found_by, tamis::troubleshoot::WikiFound::Text, "the keywords find it");
}

#[test]
fn a_call_ends_wherever_it_is_given_up_and_asks_no_wiki_where_an_issue_answers() {
    let (_tree, index) = index(&[]);
    assert!(!index.troubleshooting().is_enabled());
    assert!(ask(&index, TITLE, BODY).query_id.is_some());
    let request = TroubleshootRequest::text(TITLE, BODY);
    assert!(stop_everywhere(|observer| index.troubleshooting().answer(&request, observer)) > 1);
    let alike = tamis::duplicates::DuplicatesRequest::issue(1);
    let considered = index.duplicates().find(&alike, &()).expect("answered").considered.len();
    assert!(stop_everywhere(|observer| index.duplicates().find(&alike, observer)) > considered);
    let stats = index.statistics().summarize(&StatsRequest::default()).expect("counted");
    assert!(stats.entry_points.iter().any(|share| share.name == "troubleshoot"), "{stats:?}");

    wiki(&index, &PAGES);
    let found = ask(&index, TITLE, BODY);
    assert!(!found.matches.is_empty() && found.wiki.is_empty());
}
