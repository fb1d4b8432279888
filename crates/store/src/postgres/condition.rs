//! A filter as a condition in SQL, on passages `p` of documents `d`.

use tokio_postgres::types::Type;

use super::scope::Scope;
use super::statement::Statement;
use crate::filter::{DAY_NS, Filter, folded};

/// The tables that a condition is on.
pub(super) const PASSAGES: &str =
    "passages p JOIN documents d ON d.namespace = p.namespace AND d.document = p.document";

/// The date of a passage: its own, else its document's, else that of its file.
const DATE: &str = "coalesce(p.dated_ns, d.dated_ns, nullif(d.modified_ns, 0))";

/// What a filter asks of passages and their documents. Globs and names of symbols are not among it: the globs have become numbers
/// of documents, and names of symbols are compared outside the server.
#[derive(Debug, Clone, Default)]
pub(super) struct Condition {
    filter: Filter,
    namespaces: Vec<String>,
    ids: Vec<i64>,
    /// The authors with their case folded.
    authors: Vec<String>,
    /// The values of each attribute with their case folded.
    attributes: Vec<(String, Vec<String>)>,
    /// The documents whose paths match; `None` without globs.
    pub documents: Option<Vec<i32>>,
}

impl Condition {
    pub fn new(filter: &Filter, scope: &Scope) -> Condition {
        let folded = |values: &[String]| values.iter().map(|value| folded(value)).collect::<Vec<String>>();
        Condition {
            namespaces: scope.namespaces.clone(),
            ids: filter.ids.iter().map(|id| i64::try_from(id.0).unwrap_or(-1)).collect(),
            authors: folded(&filter.authors),
            attributes: filter.attributes.iter().map(|one| (one.name.clone(), folded(&one.any_of))).collect(),
            documents: None,
            filter: filter.clone(),
        }
    }

    /// Adds what is asked of documents alone, on `d`.
    pub fn of_documents<'c>(&'c self, statement: &mut Statement<'c>) {
        statement.push("d.namespace = ANY(").texts(&self.namespaces).push(")");
        if !self.filter.collections.is_empty() {
            statement.push(" AND d.collection = ANY(").texts(&self.filter.collections).push(")");
        }
        if let Some(documents) = &self.documents {
            statement.push(" AND d.document = ANY(").bind(documents, Type::INT4_ARRAY).push(")");
        }
        for (name, values) in &self.attributes {
            statement.push(
                " AND EXISTS (SELECT 1 FROM attributes a WHERE a.namespace = d.namespace AND a.document = d.document AND a.name = ",
            );
            statement.bind(name, Type::TEXT).push(" AND a.folded = ANY(").texts(values).push("))");
        }
    }

    /// Returns `true` if documents alone decide: each passes whole or not at all.
    pub fn is_of_documents(&self) -> bool {
        let Filter { languages, kinds, roles, ids, authors, since_ns, until_ns, .. } = &self.filter;
        let lists_nothing = [languages, kinds, roles, authors].into_iter().all(Vec::is_empty) && ids.is_empty();
        lists_nothing && since_ns.is_none() && until_ns.is_none()
    }

    /// Adds everything, on `p` and `d`.
    pub fn of_passages<'c>(&'c self, statement: &mut Statement<'c>) {
        self.of_documents(statement);
        statement.push(" AND ");
        self.besides_documents(statement);
    }

    /// Adds what is asked of passages besides their documents, on `p` and `d`.
    pub fn besides_documents<'c>(&'c self, statement: &mut Statement<'c>) {
        statement.push("p.namespace = ANY(").texts(&self.namespaces).push(")");
        let filter = &self.filter;
        if !filter.languages.is_empty() {
            statement.push(" AND coalesce(p.language, d.language) = ANY(").texts(&filter.languages).push(")");
        }
        if !filter.kinds.is_empty() {
            statement.push(" AND p.kind = ANY(").texts(&filter.kinds).push(")");
        }
        if !filter.roles.is_empty() {
            statement.push(" AND p.role = ANY(").texts(&filter.roles).push(")");
        }
        if !filter.ids.is_empty() {
            statement.push(" AND p.passage = ANY(").numbers(&self.ids).push(")");
        }
        if !filter.authors.is_empty() {
            statement.push(" AND p.author_folded = ANY(").texts(&self.authors).push(")");
        }
        let bounds =
            [(" >= ", &filter.since_ns, &filter.since_day_ns), (" < ", &filter.until_ns, &filter.until_day_ns)];
        for (compared, moment, day) in bounds {
            let Some(moment) = moment else { continue };
            let Some(day) = day else {
                statement.push(" AND ").push(DATE).push(compared).bind(moment, Type::INT8);
                continue;
            };
            statement.push(" AND CASE WHEN ").push(DATE).push(" % ").bind(&DAY_NS, Type::INT8);
            statement.push(" = 0 THEN ").push(DATE).push(compared).bind(day, Type::INT8);
            statement.push(" ELSE ").push(DATE).push(compared).bind(moment, Type::INT8).push(" END");
        }
    }
}
