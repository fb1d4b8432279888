//! Every view on graphs small enough to be counted by hand.

use std::path::Path;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ToSql};
use tamis_store::SqlValue;

use super::query::statement;
use super::template::Template;
use super::{BUILT_IN, Header, ParameterType, ViewParameter, ViewRequest};

/// The tables as a statement sees them.
const TABLES: &str = "
CREATE TABLE tasks(id, question, status, created_at);
CREATE TABLE works(id, title, authors, year, venue, doi, citation_count);
CREATE TABLE pages(id, url, domain, title, work_id, published_at, fetched_at);
CREATE TABLE fragments(id, page_id, text, heading, position, created_at);
CREATE TABLE claims(id, task_id, text, type, confidence, status, created_at);
CREATE TABLE edges(source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note, created_at);
";

/// Runs a file of cases and returns it with the rows that the views have. A line `= …` begins a new graph; `+ …` adds to
/// it, several things separated by commas; `? VIEW COLUMNS… | NAME=VALUE…` asks a view, and its rows follow, indented.
/// `-` stands for no value. Other lines explain.
fn run(cases: &str) -> String {
    let (mut graph, mut told) = (empty(), String::new());
    for line in cases.lines().filter(|line| !line.starts_with(' ')) {
        told.push_str(&format!("{line}\n"));
        match line.split_at_checked(2) {
            Some(("= ", _)) => graph = empty(),
            Some(("+ ", parts)) => parts.split(", ").for_each(|part| add(&graph, part)),
            Some(("? ", question)) => {
                let (asked, given) = question.split_once(" | ").unwrap_or((question, ""));
                let mut words = asked.split(' ');
                let view = words.next().expect("a view");
                let given: Vec<_> = given.split_whitespace().map(|given| parameter(view, given)).collect();
                for row in ask(&graph, view, &words.collect::<Vec<_>>(), &given) {
                    told.push_str(&format!("  {row}\n"));
                }
            }
            _ => {}
        }
    }
    told
}

#[test]
fn views_say_what_is_counted_by_hand() {
    for (name, cases) in [
        ("citations", include_str!("citations.txt")),
        ("claims", include_str!("claims.txt")),
        ("sources", include_str!("sources.txt")),
        ("times", include_str!("times.txt")),
    ] {
        let told = run(cases);
        assert!(told == cases, "{name}:\n{told}");
    }
}

fn empty() -> Connection {
    let connection = Connection::open_in_memory().expect("a database");
    connection.execute_batch(TABLES).expect("tables");
    connection
}

/// Adds a claim, a work, a page with a fragment of the same name, a fragment, an edge to a claim, or a citation.
fn add(graph: &Connection, part: &str) {
    let put = |table: &str, columns: &str, values: &[&dyn ToSql]| {
        let marks = vec!["?"; values.len()].join(", ");
        graph.execute(&format!("INSERT INTO {table}({columns}) VALUES ({marks})"), values).expect(part);
    };
    let fragment = |id: &str, page: &str| put("fragments", "id, page_id, text", &[&id, &page, &format!("text {id}")]);
    let some = |value: &str| (value != "-").then(|| value.to_owned());
    let number = |value: &str| some(value).map(|value| value.parse::<f64>().expect(part));
    const EDGE: &str = "source_type, source_id, target_type, target_id, relation, nli_edge_confidence";
    match part.split(' ').collect::<Vec<_>>()[..] {
        ["claim", id, task, confidence] => {
            put("claims", "id, task_id, text, confidence", &[&id, &task, &format!("claim {id}"), &number(confidence)]);
        }
        ["work", id, year] => {
            let year = some(year).map(|year| year.parse::<i64>().expect(part));
            put("works", "id, title, year", &[&id, &format!("title of {id}"), &year]);
        }
        ["page", id, work, published_at] => {
            let url = format!("https://example.org/{id}");
            let values: [&dyn ToSql; 5] = [&id, &url, &"example.org", &some(work), &some(published_at)];
            put("pages", "id, url, domain, work_id, published_at", &values);
            fragment(id, id);
        }
        ["fragment", id, page] => fragment(id, page),
        ["edge", fragment, relation, claim, confidence] => {
            put("edges", EDGE, &[&"fragment", &fragment, &"claim", &claim, &relation, &number(confidence)]);
        }
        ["cite", citing, cited] => {
            let of = |one: &str| one.split_once(':').map(|(kind, id)| (kind.to_owned(), id.to_owned())).expect(part);
            let ((source_type, source), (target_type, target)) = (of(citing), of(cited));
            put("edges", EDGE, &[&source_type, &source, &target_type, &target, &"cites", &None::<f64>]);
        }
        ["sql", ..] => graph.execute_batch(&part[4..].replace(" #", ",")).expect(part),
        _ => panic!("{part:?} is nothing to add"),
    }
}

/// A parameter, of the type that the view gives it.
fn parameter(view: &str, given: &str) -> (&'static str, SqlValue) {
    let (name, value) = given.split_once('=').expect(given);
    let known = header(view).parameters.into_iter().find(|known| known.name == name).expect(given);
    let value = match known.kind {
        ParameterType::Integer => SqlValue::Integer(value.parse().expect(given)),
        ParameterType::Number => SqlValue::Real(value.parse().expect(given)),
        ParameterType::Text | ParameterType::Time => text(value),
    };
    (known.name.leak(), value)
}

fn header(view: &str) -> Header {
    let (name, source) = BUILT_IN.iter().find(|(name, _)| *name == view).expect("built in");
    Template::load(name, source).expect("fit").header
}

/// Returns these columns of a view, a row a line.
fn ask(graph: &Connection, view: &str, columns: &[&str], given: &[(&str, SqlValue)]) -> Vec<String> {
    let mut request = ViewRequest::new(view);
    request.parameters = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let now = "2026-06-30T00:00:00Z".parse().expect("a time");
    let query = statement(None, &request, now).expect("a statement");
    let mut prepared = graph.prepare(&query.sql).unwrap_or_else(|error| panic!("{view}: {error}\n{}", query.sql));
    for (name, value) in &query.parameters {
        let place = prepared.parameter_index(&format!(":{name}")).expect("an index").expect("a parameter");
        let value = match value {
            SqlValue::Null => Value::Null,
            SqlValue::Integer(number) => Value::Integer(*number),
            SqlValue::Real(number) => Value::Real(*number),
            SqlValue::Text(text) => Value::Text(text.clone()),
        };
        prepared.raw_bind_parameter(place, value).expect("bound");
    }
    let names: Vec<String> = prepared.column_names().map(str::to_owned).collect();
    let all: Vec<_> = header(view).columns.into_iter().map(|column| column.name).collect();
    assert_eq!(names, all, "columns of {view}");
    let mut rows = prepared.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().expect("a row") {
        let cell = |column: &&str| match row.get_ref(*column).expect("a column") {
            ValueRef::Null => "-".to_owned(),
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => format!("{}", (number * 1e4).round() / 1e4),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            ValueRef::Blob(_) => panic!("bytes"),
        };
        lines.push(columns.iter().map(cell).collect::<Vec<_>>().join(" "));
    }
    lines
}

fn text(text: &str) -> SqlValue {
    SqlValue::Text(text.to_owned())
}

/// A value for each parameter, so that every text of every view is a statement.
fn any(kind: ParameterType) -> SqlValue {
    match kind {
        ParameterType::Integer => SqlValue::Integer(2),
        ParameterType::Number => SqlValue::Real(0.5),
        ParameterType::Text => text("none"),
        ParameterType::Time => text("2026-01-01"),
    }
}

#[test]
fn every_view_has_every_form_and_says_nothing_of_an_empty_graph() {
    let graph = empty();
    for (name, _) in BUILT_IN {
        let parameters = header(name).parameters;
        assert!(parameters.iter().any(|parameter| parameter.name == "task_id"), "{name}");
        for given in 0..1_u32 << parameters.len() {
            let given = parameters.iter().enumerate().filter(|(bit, _)| given & (1 << bit) != 0);
            let value = |parameter: &ViewParameter| parameter.values.first().cloned().unwrap_or(any(parameter.kind));
            let given: Vec<(&str, SqlValue)> =
                given.map(|(_, parameter)| (parameter.name.as_str(), value(parameter))).collect();
            assert!(ask(&graph, name, &[], &given).is_empty(), "{name} {given:?}");
        }
    }
}

#[test]
fn what_is_not_there_or_of_another_type_is_told_with_what_is_near() {
    let error = |view: &str, given: &[(&str, SqlValue)], user: Option<&Path>| {
        let mut request = ViewRequest::new(view);
        request.parameters = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let now = "2026-06-30T00:00:00Z".parse().expect("a time");
        statement(user, &request, now).expect_err("refused").to_string()
    };
    assert!(error("v_contradiction", &[], None).contains("did you mean v_contradictions?"));
    let wrong = error("v_contradictions", &[("task", text("t"))], None);
    assert!(wrong.contains("a parameter of v_contradictions"), "{wrong}");
    assert!(wrong.contains("it has task_id, min_controversy"), "{wrong}");
    let wrong = error("v_outdated_evidence", &[("min_years", text("many"))], None);
    assert_eq!(wrong, "parameter = min_years=\"many\": must be a whole number");
    let wrong = error("v_citation_chains", &[("max_steps", text("9"))], None);
    assert_eq!(wrong, "parameter = max_steps=\"9\": must be 2 or 3");
    let wrong = error("v_evidence_chain", &[("relation", text("suports"))], None);
    assert!(wrong.ends_with("\"suports\": must be \"supports\" or \"refutes\" or \"neutral\""), "{wrong}");
    let both = {
        let mut request = ViewRequest::new("v_contradictions");
        request.task = Some("one".into());
        request.parameters.push(("task_id".into(), text("other")));
        statement(None, &request, "2026-06-30T00:00:00Z".parse().expect("a time"))
    };
    assert!(both.is_err());

    let user = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(user.path().join("views")).expect("made");
    let write = |name: &str, body: &str| {
        let header = "{# answers = \"x\"\nparameters = [{ name = \"word\", type = \"text\", is = \"a word\" }] #}\n";
        std::fs::write(user.path().join("views").join(name), format!("{header}{body}")).expect("written");
    };
    write("said.sql.j2", "SELECT id FROM claims WHERE text = :word");
    write("spliced.sql.j2", "SELECT id FROM claims WHERE text = '{{ word }}'");
    assert!(error("said", &[], Some(user.path())).contains("given, since said needs it: a word"));
    assert!(error("spliced", &[], Some(user.path())).contains("spliced.sql.j2: line 3: a template may ask"));
    let mut request = ViewRequest::new("said");
    request.parameters.push(("word".into(), text("' OR 1=1 --")));
    let query = statement(Some(user.path()), &request, "2026-06-30T00:00:00Z".parse().expect("a time")).expect("fit");
    assert_eq!(query.sql.trim(), "SELECT id FROM claims WHERE text = :word");
    assert_eq!(query.parameters["word"], text("' OR 1=1 --"));
}
