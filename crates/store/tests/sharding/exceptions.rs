//! The statements that name no namespaces, each with the reason: every node answers them for its shards. And the rule of those that
//! several nodes answer: what Citus can plan for them.
//!
//! The distributed tables of one query are joined by their namespaces, so that each node joins its own rows. A subquery on such a
//! table refers to no query around it that has none, since that query runs on the coordinator alone.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, JoinConstraint, JoinOperator, Select, Statement, TableFactor, TableWithJoins, Visit, Visitor,
};

use super::tables::{COLUMN, DISTRIBUTED};

/// Statements by their text; `…` stands for any text within.
const EXCEPTIONS: &[(&str, &str)] = &[
    // A caller who has a passage or a document knows its number alone, and each shard has an index of the numbers.
    ("SELECT DISTINCT namespace FROM documents WHERE document = ANY($1)", "documents of other trees, by number"),
    ("SELECT d.document, d.record FROM documents d WHERE d.document = ANY($1)", "records by the numbers of documents"),
    ("SELECT a.document, a.name, a.value FROM documents d …", "attributes by the numbers of documents"),
    ("SELECT p.passage, p.public_id, …p.passage = ANY($1)", "passages by number"),
    ("SELECT p.passage, d.namespace, d.path, p.ordinal …p.passage = ANY($1)", "places of passages by number"),
    ("SELECT p.passage, p.public_id, …p.public_id = $1", "a passage by its public identifier"),
    (
        "SELECT p.passage, p.public_id, …p.public_id > $1 AND p.public_id < $1 || 'g' ORDER BY p.public_id, p.passage LIMIT $2",
        "passages by the start of a public identifier",
    ),
    ("SELECT q.passage, q.document, vector_send(v.embedding) …q.passage = ANY($2)", "vectors of passages by number"),
    // A text is the same wherever it is.
    (
        "INSERT INTO vectors(namespace, model, text_hash, embedding) SELECT DISTINCT ON …",
        "vectors that a text has in other namespaces",
    ),
    // Small rows, one for each namespace.
    (
        "SELECT (SELECT coalesce(sum(change_number), 0)::bigint FROM namespaces) + …",
        "the change number of the whole store; where tables are distributed, of the list on the coordinator",
    ),
    (
        "SELECT namespace, number, change_number, passages, body_terms, name_terms, current_user = 'tamis_searcher' …WHERE passages > 0 ORDER BY namespace",
        "a search of everything",
    ),
    ("SELECT namespace FROM namespaces WHERE passages > 0", "where texts can be"),
    ("SELECT namespace FROM namespaces ORDER BY namespace", "a new index needs the words of all"),
    ("SELECT namespace FROM namespaces WHERE analysis < … ORDER BY namespace", "publishing looks for old words"),
    (
        "SELECT namespace FROM namespaces WHERE changed_ms >= coalesce(published_ms, 0) ORDER BY namespace",
        "publishing looks for changes",
    ),
    (
        "SELECT (SELECT coalesce(sum(passages), 0)::bigint FROM namespaces), (SELECT greatest(reltuples, 0)::bigint …",
        "the decision to count again",
    ),
    ("SELECT max(changed_ms), max(published_ms) FROM namespaces", "the summary"),
    ("SELECT namespace, analysis FROM namespaces ORDER BY namespace", "the check"),
    // Lists and counts of everything.
    (
        "SELECT namespace, root, machine, owner, shared, documents, passages FROM namespaces ORDER BY namespace",
        "the list of namespaces; where tables are distributed, that on the coordinator",
    ),
    (
        "SELECT namespace, documents, passages, change_number, …",
        "the status of the store; where tables are distributed, by the list on the coordinator",
    ),
    ("SELECT namespace, newest FROM …", "the newest date of each namespace"),
    ("SELECT namespace, collection, origin, …", "the list of origins"),
    ("SELECT count(*), CAST(coalesce(sum(passages), 0) AS bigint) FROM documents", "the summary"),
    ("SELECT namespace, count(*), CAST(sum(passages) AS bigint) FROM documents GROUP BY …", "the summary"),
    ("SELECT collection, count(*), CAST(sum(passages) AS bigint) FROM documents GROUP BY …", "the summary"),
    ("SELECT coalesce(p.language, d.language, ''), …", "the summary"),
    ("SELECT role, count(DISTINCT document), count(*) FROM passages GROUP BY role ORDER BY role", "the summary"),
    ("SELECT model, count(*) FROM vectors GROUP BY model", "the summary"),
    ("SELECT v.model, count(*) FROM passages p JOIN vectors v …GROUP BY v.model", "the summary"),
    (
        "SELECT (SELECT count(*) FROM documents WHERE namespace <> ALL($1)) …",
        "the check looks for rows of no namespace",
    ),
    ("SELECT count(*)::text FROM tamis.documents", "a test counts all documents"),
    ("SELECT w::text FROM words w UNION ALL SELECT f::text FROM frequencies f ORDER BY 1", "a test compares all words"),
    ("SELECT DISTINCT namespace FROM vectors ORDER BY namespace", "pruning, also in removed namespaces"),
    (
        "SELECT count(*) FROM (SELECT 1 FROM vectors WHERE model = $1 LIMIT $2) AS counted",
        "the decision to create an index",
    ),
];

/// The reason why a statement needs no namespaces; `None` if there is none.
pub fn reason(statement: &str) -> Option<&'static str> {
    let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    EXCEPTIONS.iter().find(|(exception, _)| matches(exception, &statement)).map(|(_, reason)| *reason)
}

fn matches(exception: &str, statement: &str) -> bool {
    match exception.split_once('…') {
        Some((start, end)) => {
            statement.len() >= start.len() + end.len() && statement.starts_with(start) && statement.ends_with(end)
        }
        None => exception == statement,
    }
}

/// The reason why Citus would refuse a statement that concerns several nodes; `None` if it would not.
pub fn refused(statement: &Statement) -> Option<String> {
    let mut found = Found::default();
    let _ = statement.visit(&mut found);
    found.refused
}

/// A query: its relations by alias, and those that are joined by their namespaces.
#[derive(Debug, Default)]
struct Frame {
    /// The distributed table that each alias stands for; `None` for another relation.
    relations: HashMap<String, Option<String>>,
    joined: Vec<(String, String)>,
    /// True if it refers to a query around it that has no distributed table.
    refers_outside: bool,
}

impl Frame {
    fn of(select: &Select) -> Frame {
        let mut frame = Frame::default();
        for table in &select.from {
            frame.add(table);
        }
        frame
    }

    fn add(&mut self, table: &TableWithJoins) {
        let mut last = self.factor(&table.relation);
        for join in &table.joins {
            let next = self.factor(&join.relation);
            let (JoinOperator::Join(by)
            | JoinOperator::Inner(by)
            | JoinOperator::Left(by)
            | JoinOperator::LeftOuter(by)) = &join.join_operator
            else {
                last = next.or(last);
                continue;
            };
            if let JoinConstraint::Using(columns) = by
                && columns.iter().any(|column| column.to_string() == COLUMN)
                && let (Some(last), Some(next)) = (&last, &next)
            {
                self.joined.push((last.clone(), next.clone()));
            }
            last = next.or(last);
        }
    }

    fn factor(&mut self, factor: &TableFactor) -> Option<String> {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let table = name.0.last().map(ToString::to_string).unwrap_or_default();
                let alias = alias.as_ref().map_or_else(|| table.clone(), |alias| alias.name.value.clone());
                self.relations.insert(alias.clone(), DISTRIBUTED.contains(&table.as_str()).then_some(table));
                Some(alias)
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                self.add(table_with_joins);
                None
            }
            TableFactor::Derived { alias: Some(alias), .. } => {
                self.relations.insert(alias.name.value.clone(), None);
                Some(alias.name.value.clone())
            }
            _ => None,
        }
    }

    fn is_distributed(&self) -> bool {
        self.relations.values().any(Option::is_some)
    }

    /// Two distributed tables that are not joined by their namespaces.
    fn apart(&self) -> Option<(String, String)> {
        let mut tables = self.relations.iter().filter_map(|(alias, table)| Some((alias, table.as_ref()?)));
        let (first, name) = tables.next()?;
        let mut reached = vec![first];
        let mut at = 0;
        while let Some(alias) = reached.get(at).copied() {
            for (a, b) in &self.joined {
                let other = if a == alias {
                    b
                } else if b == alias {
                    a
                } else {
                    continue;
                };
                if !reached.contains(&other) {
                    reached.push(other);
                }
            }
            at += 1;
        }
        tables.find(|(alias, _)| !reached.contains(alias)).map(|(_, other)| (name.clone(), other.clone()))
    }
}

#[derive(Default)]
struct Found {
    frames: Vec<Frame>,
    refused: Option<String>,
}

impl Found {
    /// The innermost query with a relation of this name, by its depth.
    fn depth(&self, relation: &str) -> Option<usize> {
        self.frames.iter().rposition(|frame| frame.relations.contains_key(relation))
    }
}

/// The relation and the column of a name.
fn parts(expr: &Expr) -> Option<(&str, &str)> {
    match expr {
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [.., relation, column] => Some((&relation.value, &column.value)),
            _ => None,
        },
        _ => None,
    }
}

impl Visitor for Found {
    type Break = ();

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.frames.push(Frame::of(select));
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        if let Some(frame) = self.frames.pop() {
            if let Some((one, other)) = frame.apart() {
                self.refused = Some(format!("{one} and {other} are not joined by {COLUMN}"));
            }
            if frame.refers_outside && frame.is_distributed() {
                self.refused = Some("a subquery on a distributed table refers to a query that has none".to_owned());
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Some((relation, _)) = parts(expr)
            && let Some(depth) = self.depth(relation)
            && !self.frames[depth].is_distributed()
        {
            self.frames[depth + 1..].iter_mut().for_each(|frame| frame.refers_outside = true);
        }
        if let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = expr
            && let (Some((left, COLUMN)), Some((right, COLUMN))) = (parts(left), parts(right))
            && let Some(frame) = self.frames.last_mut()
        {
            frame.joined.push((left.to_owned(), right.to_owned()));
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::parsed;

    fn refused(statement: &str) -> Option<String> {
        super::refused(&parsed(statement).unwrap().remove(0).1)
    }

    #[test]
    fn what_each_node_answers_for_its_rows_passes() {
        for statement in [
            "SELECT count(*) FROM documents",
            "SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM passages)",
            "SELECT 1 FROM passages p JOIN documents d ON d.namespace = p.namespace AND d.document = p.document",
            "SELECT 1 FROM passages p JOIN vectors v USING (namespace) JOIN models m ON m.model = v.model",
            "SELECT 1 FROM passages p WHERE EXISTS (SELECT 1 FROM vectors v WHERE v.namespace = p.namespace)",
            "SELECT 1 FROM documents UNION SELECT 1 FROM passages",
        ] {
            assert_eq!(refused(statement), None, "{statement}");
        }
    }

    #[test]
    fn nothing_else_does() {
        for statement in [
            "SELECT m.name, (SELECT count(*) FROM vectors v WHERE v.model = m.model) FROM models m",
            "SELECT 1 FROM passages p JOIN documents d ON d.document = p.document",
            "SELECT 1 FROM passages p, vectors v WHERE v.text_hash = p.text_hash",
            "SELECT 1 FROM models m WHERE EXISTS (SELECT 1 FROM vectors v WHERE v.model = m.model)",
        ] {
            assert!(refused(statement).is_some(), "{statement}");
        }
    }
}
