//! Looking for rows that contradict each other.

use std::collections::BTreeSet;

use deadpool_postgres::Transaction;

use super::super::connection::Connections;
use super::super::error::Failure;
use crate::content::evidence_problems;
use crate::lexical::TermReader;
use crate::report::{Findings, Part, Problem};

/// The findings, and the namespaces that they concern.
#[derive(Debug, Default)]
pub(super) struct Found {
    passages: u64,
    problems: Vec<(Part, &'static str, u64)>,
    mendable: BTreeSet<String>,
}

/// Checks all namespaces in one snapshot.
pub(super) async fn check(connections: &Connections, transaction: &Transaction<'_>) -> Result<Found, Failure> {
    let mut found = Found::default();
    let rows = transaction.query("SELECT namespace, analysis FROM namespaces ORDER BY namespace", &[]).await?;
    let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    for (part, problem, count) in STRAYS {
        let row = transaction.query_one(*count, &[&names]).await?;
        found.count(*part, problem, row.get(0));
    }
    for (namespace, row) in names.iter().zip(&rows) {
        let passages = "SELECT count(*) FROM passages WHERE namespace = $1";
        found.passages += transaction.query_one(passages, &[namespace]).await?.get::<_, i64>(0) as u64;
        for (part, problem, count) in CHECKS.iter().copied() {
            let wrong: i64 = transaction.query_one(count, &[namespace]).await?.get(0);
            found.count(part, problem, wrong);
            if wrong > 0 && part == Part::Lexical {
                found.mendable.insert(namespace.clone());
            }
        }
        for (problem, count) in evidence_problems(&connections.content(transaction), namespace).await? {
            found.count(Part::Database, problem, count as i64);
        }
        if row.get::<_, i32>(1) < TermReader::VERSION as i32 {
            found.count(Part::Lexical, "namespaces have words of an earlier version", 1);
            found.mendable.insert(namespace.clone());
        }
    }
    Ok(found)
}

impl Found {
    /// Counts a problem. Those of all namespaces are one.
    fn count(&mut self, part: Part, problem: &'static str, more: i64) {
        if more <= 0 {
            return;
        }
        match self.problems.iter_mut().find(|(_, known, _)| *known == problem) {
            Some((_, _, count)) => *count += more as u64,
            None => self.problems.push((part, problem, more as u64)),
        }
    }

    /// The namespaces whose words can be rebuilt.
    pub fn mendable(&self) -> Vec<String> {
        self.mendable.iter().cloned().collect()
    }

    /// The findings for people.
    pub fn findings(self) -> Findings {
        let problem = |(part, problem, count): (Part, &str, u64)| Problem {
            part,
            message: format!("{count} {problem}"),
            mendable: part == Part::Lexical,
        };
        Findings { passages: self.passages, problems: self.problems.into_iter().map(problem).collect() }
    }
}

/// Rows of namespaces that are not among `$1`, all of them.
const STRAYS: &[(Part, &str, &str)] = &[(
    Part::Database,
    "rows are of no namespace",
    "SELECT (SELECT count(*) FROM documents WHERE namespace <> ALL($1)) \
     + (SELECT count(*) FROM passages WHERE namespace <> ALL($1)) \
     + (SELECT count(*) FROM attributes WHERE namespace <> ALL($1)) \
     + (SELECT count(*) FROM words WHERE namespace <> ALL($1)) \
     + (SELECT count(*) FROM frequencies WHERE namespace <> ALL($1))",
)];

/// The problems of the namespace `$1`.
const CHECKS: &[(Part, &str, &str)] = &[
    (
        Part::Database,
        "rows refer to missing rows",
        "SELECT (SELECT count(*) FROM passages p WHERE p.namespace = $1 AND NOT EXISTS \
           (SELECT 1 FROM documents d WHERE d.namespace = $1 AND d.document = p.document)) \
         + (SELECT count(*) FROM attributes a WHERE a.namespace = $1 AND NOT EXISTS \
           (SELECT 1 FROM documents d WHERE d.namespace = $1 AND d.document = a.document))",
    ),
    (
        Part::Database,
        "documents have a wrong passage count",
        "SELECT count(*) FROM documents d LEFT JOIN \
         (SELECT document, count(*) AS passages FROM passages WHERE namespace = $1 GROUP BY document) p \
         ON p.document = d.document WHERE d.namespace = $1 AND d.passages <> coalesce(p.passages, 0)",
    ),
    (
        Part::Database,
        "vectors have a wrong length for their model",
        "SELECT count(*) FROM vectors v JOIN models m ON m.model = v.model \
         WHERE v.namespace = $1 AND vector_dims(v.embedding) <> m.dimension",
    ),
    (
        Part::Database,
        "vectors are of an unknown model",
        "SELECT count(*) FROM vectors v WHERE v.namespace = $1 AND NOT EXISTS \
         (SELECT 1 FROM models m WHERE m.model = v.model)",
    ),
    (
        Part::Lexical,
        "passages have no words, or words have no passage",
        "SELECT count(*) FROM (SELECT passage, document FROM passages WHERE namespace = $1) p FULL JOIN \
         (SELECT passage, document FROM words WHERE namespace = $1) w ON w.passage = p.passage AND w.document = p.document \
         WHERE w.passage IS NULL OR p.passage IS NULL",
    ),
    (
        Part::Lexical,
        "passages have a wrong number of words",
        "SELECT count(*) FROM words w WHERE w.namespace = $1 AND ( \
           cardinality(w.terms) <> cardinality(w.body_counts) OR cardinality(w.terms) <> cardinality(w.name_counts) \
           OR w.body_terms <> (SELECT coalesce(sum(n), 0) FROM unnest(w.body_counts) n) \
           OR w.name_terms <> (SELECT coalesce(sum(n), 0) FROM unnest(w.name_counts) n))",
    ),
    (
        Part::Lexical,
        "terms have a wrong number of passages",
        "SELECT count(*) FROM (SELECT t.term, f.field, count(*) AS passages FROM words w \
           CROSS JOIN unnest(w.terms, w.body_counts, w.name_counts) AS t(term, body, name) \
           CROSS JOIN LATERAL (VALUES (0, t.body), (1, t.name)) AS f(field, number) \
           WHERE w.namespace = $1 AND f.number > 0 GROUP BY t.term, f.field) counted \
         FULL JOIN (SELECT term, field, passages FROM frequencies WHERE namespace = $1) stored \
         ON stored.term = counted.term AND stored.field = counted.field \
         WHERE stored.passages IS DISTINCT FROM counted.passages",
    ),
    (
        Part::Lexical,
        "namespaces have wrong totals",
        "SELECT count(*) FROM namespaces n CROSS JOIN (SELECT count(*) AS passages, coalesce(sum(body_terms), 0) AS body, \
           coalesce(sum(name_terms), 0) AS name FROM words WHERE namespace = $1) w \
         WHERE n.namespace = $1 AND (n.documents, n.passages, n.body_terms, n.name_terms) \
           <> ((SELECT count(*) FROM documents d WHERE d.namespace = $1), w.passages, w.body, w.name)",
    ),
];
