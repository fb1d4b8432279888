//! Attributes, records, authors and dates of documents and passages, and filters by them.

use proptest::prelude::*;
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

use crate::common::*;
use crate::filters::passing;

tests_on_every_store! {
    the_date_is_the_passages_own_else_its_documents_else_its_files
    the_newest_date_of_a_namespace_is_a_documents_own_else_a_files
    records_and_attributes_come_back_in_the_order_asked_for
    many_documents_are_filtered_like_few
}

const DAY: i64 = 86_400_000_000_000;

fn attributes(known: &[(&str, &str)]) -> Vec<Attribute> {
    known.iter().map(|&(name, value)| Attribute { name: name.into(), value: value.into() }).collect()
}

/// An issue with a body and a comment.
fn issue(number: u32, known: &[(&str, &str)]) -> NewDocument {
    let body = NewPassage { author: Some("Alice".into()), part: Some(0), ..passage(&format!("needle body {number}")) };
    let comment = NewPassage { author: Some("bob".into()), part: Some(1), ..passage(&format!("needle said {number}")) };
    NewDocument {
        collection: "issues".into(),
        origin: Some("github:owner/repository".into()),
        file: FileStat { modified_ns: 0, ..FileStat::default() },
        attributes: attributes(known),
        record: Some(format!("{{\"number\":{number}}}")),
        ..document(&format!("issue:{number}"), vec![body, comment])
    }
}

fn fill(store: &dyn Store, documents: Vec<NewDocument>) {
    put(store, documents);
    complete(store);
}

fn filled(documents: Vec<NewDocument>) -> (tempfile::TempDir, EmbeddedStore) {
    let (directory, store) = opened();
    fill(&store, documents);
    (directory, store)
}

/// The texts that pass, without the needle that all of them share.
fn passed(store: &dyn Store, filter: &Filter) -> Vec<String> {
    let ids: Vec<PassageId> = passing(store, filter).into_iter().collect();
    let mut passed: Vec<String> = texts(store, &ids).iter().map(|text| text.replace("needle ", "")).collect();
    passed.sort();
    passed
}

fn having(conditions: &[(&str, &[&str])]) -> Filter {
    let attributes = conditions.iter().map(|(name, any_of)| AttributeCondition::new(*name, any_of.iter().copied()));
    Filter { attributes: attributes.collect(), ..Filter::default() }
}

fn by(authors: &[&str]) -> Filter {
    Filter { authors: authors.iter().map(|&author| author.into()).collect(), ..Filter::default() }
}

/// A document of one text whose file was written on this day.
fn written(day: i64, path: &str, text: &str) -> NewDocument {
    NewDocument { file: FileStat { modified_ns: day * DAY, ..FileStat::default() }, ..prose(path, &[text]) }
}

/// Documents whose passages are dated in every possible way.
fn dated() -> Vec<NewDocument> {
    let mut conversation = prose("issue:1", &["needle by itself", "needle by its document"]);
    conversation.passages[0].dated_ns = Some(10 * DAY);
    conversation.dated_ns = Some(20 * DAY);
    conversation.file.modified_ns = 90 * DAY;
    let file = written(30, "a.md", "needle by its file");
    let committed = NewDocument { dated_ns: Some(40 * DAY), ..written(30, "b.md", "needle by its commit") };
    let undated = written(0, "page", "needle without a date");
    let mut early = written(0, "early", "needle before 1970");
    early.passages[0].dated_ns = Some(-5 * DAY);
    vec![conversation, file, committed, undated, early]
}

fn between(since: Option<i64>, until: Option<i64>) -> Filter {
    let bound = |day: Option<i64>| day.map(|day| DateBound::at(day * DAY));
    Filter { dates: DateRange { since: bound(since), until: bound(until) }, ..Filter::default() }
}

fn the_date_is_the_passages_own_else_its_documents_else_its_files(store: &dyn Store) {
    fill(store, dated());
    for (since, until, expected) in [
        (Some(10), Some(11), "by itself"),
        (Some(20), Some(21), "by its document"),
        (Some(30), Some(31), "by its file"),
        (Some(40), Some(41), "by its commit"),
        (None, Some(0), "before 1970"),
        (Some(41), None, ""),
        (Some(20), Some(40), "by its document, by its file"),
        // From the first moment to before the last.
        (Some(-5), Some(10), "before 1970"),
        (Some(40), Some(10), ""),
    ] {
        assert_eq!(passed(store, &between(since, until)).join(", "), expected, "{since:?} {until:?}");
    }
    assert_eq!(passing(store, &between(None, None)).len(), 6);
    let between =
        |since, until| Filter { dates: DateRange { since: Some(since), until: Some(until) }, ..Filter::default() };
    let always = between(DateBound::at(i64::MIN), DateBound::at(i64::MAX));
    assert_eq!(passing(store, &always).len(), 5, "a passage without a date never passes");
    // The asker's day begins eight hours later. What has a time is compared with the moment.
    let hours = DAY / 3;
    let begin = |day: i64| DateBound { moment_ns: day * DAY + hours, day_ns: day * DAY };
    let day = between(begin(20), begin(21));
    for ids in [Vec::new(), all(store)] {
        assert_eq!(passed(store, &Filter { ids, ..day.clone() }), ["by its document"]);
    }
    let ids = Filter { ids: all(store), ..self::between(Some(30), None) };
    assert_eq!(passing(store, &ids).len(), 2);
}

fn the_newest_date_of_a_namespace_is_a_documents_own_else_a_files(store: &dyn Store) {
    // A file without a date of its own was written later, at 50.
    let elsewhere = |path: &str, day: i64| NewDocument { namespace: "there".into(), ..written(day, path, "needle") };
    fill(store, [dated(), vec![elsewhere("c.md", 50), elsewhere("d.md", 7)]].concat());
    let expected = |there: i64| vec![("here".to_owned(), 40 * DAY), ("there".to_owned(), there * DAY)];
    assert_eq!(store.newest_dates().unwrap(), expected(50));
    store.set_dates("there", &[("d.md".into(), 9 * DAY)]).unwrap();
    assert_eq!(store.newest_dates().unwrap(), expected(9), "a date of its own decides");
}

#[test]
fn dates_that_change_alone_are_seen_by_filters_that_were_asked_before() {
    let (directory, store) = filled(dated());
    let late = between(Some(50), None);
    assert_eq!(passed(&store, &late), [""; 0]);
    assert_eq!(store.set_dates("here", &[("b.md".into(), 60 * DAY)]).unwrap(), 1);
    assert_eq!(passed(&store, &late), ["by its commit"]);
    store.apply(&[touched(id_of(&store, "a.md"), 70 * DAY)]).unwrap();
    assert_eq!(passed(&store, &late), ["by its commit", "by its file"]);
    let other = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(passed(&other, &late), ["by its commit", "by its file"]);
    drop(other);
    store.set_dates("here", &[("a.md".into(), 45 * DAY)]).unwrap();
    assert_eq!(passed(&store, &late), ["by its commit"]);
}

fn records_and_attributes_come_back_in_the_order_asked_for(store: &dyn Store) {
    let labels = [("state", "open"), ("label", "Bug"), ("label", "Bug"), ("label", "a"), ("label", "B")];
    fill(store, vec![issue(1, &labels), issue(2, &[]), prose("a.md", &["needle"])]);
    let [first, second, plain] = ["issue:1", "issue:2", "a.md"].map(|path| id_of(store, path));
    let gone = DocumentId(4_000_000);
    let record = |number: u32| Some(format!("{{\"number\":{number}}}"));
    let asked = [gone, plain, second, first, plain];
    assert_eq!(store.records(&[], &asked).unwrap(), [None, None, record(2), record(1), None]);
    // In order, each once.
    let known = attributes(&[("label", "B"), ("label", "Bug"), ("label", "a"), ("state", "open")]);
    let found = store.attributes(&[], &[plain, first, gone, first]).unwrap();
    assert_eq!(found, [vec![], known.clone(), vec![], known]);
    let body = store.document_passages("here", "issue:1").unwrap().remove(1);
    assert_eq!((body.author.as_deref(), body.part, body.dated_ns), (Some("bob"), Some(1), None));
    let origin = store.document("here", "issue:1").unwrap().unwrap().origin;
    assert_eq!(origin.as_deref(), Some("github:owner/repository"));
}

#[test]
fn what_is_replaced_or_deleted_loses_what_was_known_and_what_moves_keeps_it() {
    let (directory, store) = filled(vec![issue(1, &[("state", "open")]), issue(2, &[("state", "open")])]);
    let (first, second) = (id_of(&store, "issue:1"), id_of(&store, "issue:2"));
    let open_ones = having(&[("state", &["open"])]);
    assert_eq!(passing(&store, &open_ones).len(), 4);

    put(&store, vec![NewDocument { record: None, ..issue(1, &[("state", "closed")]) }]);
    complete(&store);
    assert_eq!(passed(&store, &open_ones), ["body 2", "said 2"]);
    assert_eq!(store.records(&[], &[first]).unwrap(), [None]);
    assert_eq!(store.attributes(&[], &[first]).unwrap(), [attributes(&[("state", "closed")])]);

    store.apply(&[moved(second, "issue:7")]).unwrap();
    publish(&store);
    assert_eq!(store.document("here", "issue:7").unwrap().unwrap().document, second);
    assert_eq!(store.attributes(&[], &[second]).unwrap(), [attributes(&[("state", "open")])]);
    assert_eq!(store.records(&[], &[second]).unwrap(), [Some("{\"number\":2}".into())]);
    assert_eq!(passed(&store, &open_ones), ["body 2", "said 2"]);
    assert_eq!(passed(&store, &by(&["alice"])), ["body 1", "body 2"]);

    // A document whose path another one takes is deleted with all its metadata.
    store.apply(&[moved(second, "issue:1")]).unwrap();
    publish(&store);
    assert_eq!(store.attributes(&[], &[first, second]).unwrap(), [vec![], attributes(&[("state", "open")])]);
    assert_sound(&store);

    store.apply(&[Change::Delete { document: second }]).unwrap();
    publish(&store);
    assert_eq!(store.records(&[], &[second]).unwrap(), [None]);
    assert_eq!(store.attributes(&[], &[second]).unwrap(), [vec![]]);
    put(&store, vec![NewDocument { namespace: "there".into(), ..issue(1, &[("state", "open")]) }]);
    store.remove_namespace("there").unwrap();
    publish(&store);
    assert_eq!(rows(directory.path(), "attributes") + rows(directory.path(), "records"), 0);
    assert_sound(&store);
}

fn rows(directory: &std::path::Path, table: &str) -> u32 {
    let connection = Connection::open(directory.join("tamis.db")).unwrap();
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn attributes_and_records_of_no_document_are_found_by_the_check() {
    let (directory, store) = filled(vec![issue(1, &[("state", "open")])]);
    let connection = Connection::open(directory.path().join("tamis.db")).unwrap();
    let rows = "INSERT INTO attributes VALUES (77, 'state', 'open', 'open'); INSERT INTO records VALUES (78, '{}')";
    connection.execute_batch(&format!("PRAGMA foreign_keys = OFF; {rows}")).unwrap();
    let problems = store.check().unwrap().problems;
    assert!(problems[0].message.contains("2 rows refer to missing rows"), "{problems:?}");
    // They have no passage that passes.
    assert_eq!(passing(&store, &having(&[("state", &["open"])])).len(), 2);
}

/// More documents than are looked up one by one.
fn many_documents_are_filtered_like_few(store: &dyn Store) {
    let numbered = |number: u32| {
        let state = if number.is_multiple_of(2) { "open" } else { "closed" };
        issue(number, &[("state", state), ("label", if number.is_multiple_of(10) { "rare" } else { "common" })])
    };
    put(store, (0..2_500).map(numbered).collect());
    let count = |filter: &Filter| store.select(filter).unwrap().len();
    assert_eq!(count(&having(&[("state", &["open"])])), 2_500);
    assert_eq!(count(&having(&[("state", &["open"]), ("label", &["rare"])])), 500);
    assert_eq!(count(&having(&[("label", &["rare"]), ("state", &["closed"])])), 0);
    let commented = Filter { authors: vec!["Bob".into()], ..having(&[("state", &["open"])]) };
    assert_eq!(count(&commented), 1_250);
    let few = Filter { authors: vec!["Bob".into()], ..having(&[("label", &["rare"])]) };
    assert_eq!(count(&few), 250);
    let path = Filter { path_globs: vec!["issue:1*".into()], ..having(&[("label", &["rare"])]) };
    assert_eq!(count(&path), 2 * (1 + 10 + 100));
}

const STATES: [&str; 3] = ["open", "closed", "Merged"];
const AUTHORS: [&str; 3] = ["alice", "Bob", "çelik"];

/// A document of the property test: its state, labels, date and file's time, and the author and date of each passage.
#[derive(Debug, Clone)]
struct Known {
    state: Option<usize>,
    labels: BTreeSet<u8>,
    dated: Option<i64>,
    modified: i64,
    passages: Vec<(Option<usize>, Option<i64>, bool)>,
}

fn known() -> impl Strategy<Value = Known> {
    let passage = (prop::option::of(0..AUTHORS.len()), prop::option::of(-3i64..8), any::<bool>());
    let labels = prop::collection::btree_set(0u8..4, 0..3);
    let (states, parts) = (prop::option::of(0..STATES.len()), prop::collection::vec(passage, 0..4));
    (states, labels, prop::option::of(-3i64..8), 0i64..8, parts)
        .prop_map(|(state, labels, dated, modified, passages)| Known { state, labels, dated, modified, passages })
}

#[derive(Debug, Clone)]
struct Asked {
    states: Vec<usize>,
    labels: Vec<Vec<u8>>,
    authors: Vec<usize>,
    since: Option<i64>,
    until: Option<i64>,
    functions: bool,
}

fn asked() -> impl Strategy<Value = Asked> {
    let labels = prop::collection::vec(prop::collection::vec(0u8..4, 0..3), 0..3);
    let states = prop::collection::vec(0..STATES.len(), 0..3);
    let authors = prop::collection::vec(0..AUTHORS.len(), 0..3);
    let dates = (prop::option::of(-3i64..8), prop::option::of(-3i64..8));
    (states, labels, authors, dates, prop::bool::weighted(0.2)).prop_map(
        |(states, labels, authors, dates, functions)| {
            let (since, until) = dates;
            Asked { states, labels, authors, since, until, functions }
        },
    )
}

impl Known {
    fn document(&self, number: usize) -> NewDocument {
        let passages = self.passages.iter().enumerate().map(|(place, &(author, dated, is_function))| {
            let text = format!("needle {number} {place}");
            let new = if is_function { function("one", &text) } else { passage(&text) };
            let author = author.map(|author| AUTHORS[author].to_owned());
            NewPassage { author, dated_ns: dated.map(|day| day * DAY), ..new }
        });
        let mut known: Vec<(&str, String)> = self.labels.iter().map(|label| ("label", format!("L{label}"))).collect();
        known.extend(self.state.map(|state| ("state", STATES[state].to_owned())));
        NewDocument {
            file: FileStat { modified_ns: self.modified * DAY, ..FileStat::default() },
            dated_ns: self.dated.map(|day| day * DAY),
            attributes: known.into_iter().map(|(name, value)| Attribute { name: name.into(), value }).collect(),
            ..document(&format!("{number}"), passages.collect())
        }
    }

    /// Returns `true` if a passage passes, by the words of the filter's documentation.
    fn passes(&self, place: usize, asked: &Asked) -> bool {
        let (author, own, is_function) = self.passages[place];
        let date = own.or(self.dated).or((self.modified != 0).then_some(self.modified));
        (asked.states.is_empty() || self.state.is_some_and(|state| asked.states.contains(&state)))
            && asked.labels.iter().all(|any_of| any_of.iter().any(|label| self.labels.contains(label)))
            && (asked.authors.is_empty() || author.is_some_and(|author| asked.authors.contains(&author)))
            && asked.since.is_none_or(|since| date.is_some_and(|date| date >= since))
            && asked.until.is_none_or(|until| date.is_some_and(|date| date < until))
            && (!asked.functions || is_function)
    }
}

impl Asked {
    fn filter(&self) -> Filter {
        let label = |any_of: &Vec<u8>| AttributeCondition::new("label", any_of.iter().map(|label| format!("l{label}")));
        let mut attributes: Vec<AttributeCondition> = self.labels.iter().map(label).collect();
        if !self.states.is_empty() {
            attributes.push(AttributeCondition::new("state", self.states.iter().map(|&at| STATES[at].to_uppercase())));
        }
        Filter {
            attributes,
            authors: self.authors.iter().map(|&author| AUTHORS[author].to_uppercase()).collect(),
            kinds: if self.functions { vec!["function".into()] } else { Vec::new() },
            ..between(self.since, self.until)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn exactly_what_passes_is_ever_returned(
        documents in prop::collection::vec(known(), 1..14),
        questions in prop::collection::vec(asked(), 1..6),
    ) {
        let (_directory, store) = filled(documents.iter().enumerate().map(|(number, known)| known.document(number)).collect());
        let place = |id: PassageId| {
            let stored = store.passages(&[], &[id]).unwrap().remove(0);
            (id, (stored.path.parse().unwrap(), stored.ordinal as usize))
        };
        let places: BTreeMap<PassageId, (usize, usize)> = all(&store).into_iter().map(place).collect();
        for asked in &questions {
            let passing_ones = places.iter().filter(|(_, (number, place))| documents[*number].passes(*place, asked));
            let expected: BTreeSet<PassageId> = passing_ones.map(|(&id, _)| id).collect();
            // Both retrievers, the selection and the counts agree.
            prop_assert_eq!(&passing(&store, &asked.filter()), &expected, "{:?}", asked);
            // A smaller limit still returns only passages that pass.
            let few = store.lexical(&LexicalQuery::new("needle"), &asked.filter(), 2).unwrap();
            prop_assert_eq!(few.hits.len(), expected.len().min(2));
            prop_assert!(few.hits.iter().all(|hit| expected.contains(&hit.passage)));
        }
    }
}
