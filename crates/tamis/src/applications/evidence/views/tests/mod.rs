//! Every view on graphs small enough to be counted by hand.

mod citations;
mod claims;
mod sources;
mod times;

use std::path::Path;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ToSql};
use tamis_store::SqlValue;

use super::query::statement;
use super::template::Template;
use super::{BUILT_IN, ViewRequest};

/// The tables as a statement sees them.
const TABLES: &str = "
CREATE TABLE tasks(id, question, status, created_at);
CREATE TABLE works(id, title, authors, year, venue, doi, citation_count);
CREATE TABLE pages(id, url, domain, title, work_id, published_at, fetched_at);
CREATE TABLE fragments(id, page_id, text, heading, position, created_at);
CREATE TABLE claims(id, task_id, text, type, confidence, status, created_at);
CREATE TABLE edges(source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note, created_at);
";

/// A graph under construction.
struct Graph(Connection);

impl Graph {
    /// Creates an empty graph.
    fn empty() -> Self {
        let connection = Connection::open_in_memory().expect("a database");
        connection.execute_batch(TABLES).expect("tables");
        Graph(connection)
    }

    fn put(&self, table: &str, columns: &str, values: &[&dyn ToSql]) {
        let marks = vec!["?"; values.len()].join(", ");
        let sql = format!("INSERT INTO {table}({columns}) VALUES ({marks})");
        self.0.execute(&sql, values).expect("put");
    }

    fn claim(&self, id: &str, task: &str, confidence: Option<f64>) -> &Self {
        self.put("claims", "id, task_id, text, confidence", &[&id, &task, &format!("claim {id}"), &confidence]);
        self
    }

    fn work(&self, id: &str, year: Option<i64>) -> &Self {
        self.put("works", "id, title, year", &[&id, &format!("title of {id}"), &year]);
        self
    }

    /// Adds a page `id`, of a work if one is named, with a fragment of the same name.
    fn page(&self, id: &str, work: Option<&str>, published_at: Option<&str>) -> &Self {
        let url = format!("https://example.org/{id}");
        self.put("pages", "id, url, domain, work_id, published_at", &[&id, &url, &"example.org", &work, &published_at]);
        self.fragment(id, id)
    }

    fn fragment(&self, id: &str, page: &str) -> &Self {
        self.put("fragments", "id, page_id, text", &[&id, &page, &format!("fragment {id}")]);
        self
    }

    /// Adds edges of this relation from the fragments to the claim.
    fn stand(&self, fragments: &[&str], relation: &str, claim: &str) -> &Self {
        for fragment in fragments {
            self.edge(fragment, relation, claim, None);
        }
        self
    }

    fn edge(&self, fragment: &str, relation: &str, claim: &str, confidence: Option<f64>) -> &Self {
        let columns = "source_type, source_id, target_type, target_id, relation, nli_edge_confidence";
        self.put("edges", columns, &[&"fragment", &fragment, &"claim", &claim, &relation, &confidence]);
        self
    }

    /// Adds a citation of the second by the first, each written `page:ID` or `work:ID`.
    fn cites(&self, citing: &str, cited: &str) -> &Self {
        let (source_type, source) = citing.split_once(':').expect("a type");
        let (target_type, target) = cited.split_once(':').expect("a type");
        let columns = "source_type, source_id, target_type, target_id, relation";
        self.put("edges", columns, &[&source_type, &source, &target_type, &target, &"cites"]);
        self
    }

    /// Returns these columns of a view, a row a line.
    fn asked(&self, view: &str, columns: &[&str], given: &[(&str, SqlValue)]) -> Vec<String> {
        let mut request = ViewRequest::new(view);
        request.parameters = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let now = "2026-06-30T00:00:00Z".parse().expect("a time");
        let query = statement(None, &request, now).expect("a statement");
        let mut prepared = self.0.prepare(&query.sql).unwrap_or_else(|error| panic!("{view}: {error}\n{}", query.sql));
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
        let told = BUILT_IN.iter().find(|(name, _)| *name == view).expect("built in");
        let told = Template::load(told.0, told.1).expect("fit").header.columns;
        assert_eq!(names, told.into_iter().map(|column| column.name).collect::<Vec<_>>(), "columns of {view}");
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
}

fn text(text: &str) -> SqlValue {
    SqlValue::Text(text.to_owned())
}

/// A value for each parameter, so that every text of every view is a statement.
fn any(kind: crate::applications::evidence::views::ParameterType) -> SqlValue {
    match kind {
        crate::applications::evidence::views::ParameterType::Integer => SqlValue::Integer(2),
        crate::applications::evidence::views::ParameterType::Number => SqlValue::Real(0.5),
        crate::applications::evidence::views::ParameterType::Text => text("none"),
        crate::applications::evidence::views::ParameterType::Time => text("2026-01-01"),
    }
}

#[test]
fn every_view_has_every_form_and_says_nothing_of_an_empty_graph() {
    let graph = Graph::empty();
    for (name, source) in BUILT_IN {
        let parameters = Template::load(name, source).expect("fit").header.parameters;
        assert!(parameters.iter().any(|parameter| parameter.name == "task_id"), "{name}");
        for given in 0..1_u32 << parameters.len() {
            let given = parameters.iter().enumerate().filter(|(bit, _)| given & (1 << bit) != 0);
            let given: Vec<(&str, SqlValue)> =
                given.map(|(_, parameter)| (parameter.name.as_str(), any(parameter.kind))).collect();
            assert!(graph.asked(name, &[], &given).is_empty(), "{name} {given:?}");
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
    assert!(
        wrong.contains("a parameter of v_contradictions") && wrong.contains("it has task_id, min_controversy"),
        "{wrong}"
    );
    let wrong = error("v_outdated_evidence", &[("min_years", text("many"))], None);
    assert_eq!(wrong, "parameter = min_years=\"many\": must be a whole number");
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
