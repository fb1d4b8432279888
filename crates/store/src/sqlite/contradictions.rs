//! Checking the evidence against itself and its documents.

use rusqlite::Connection;

use crate::query::count;

/// Problems with the statements that count them. References that are foreign keys are checked as such.
const CHECKS: [(&str, &str); 5] = [
    (
        "fragments or claims have no document, so that no search finds them",
        "SELECT (SELECT count(*) FROM evidence_fragments r WHERE NOT EXISTS (SELECT 1 FROM documents d \
           WHERE d.namespace = r.namespace AND d.path = 'fragment:' || r.id AND d.collection = 'evidence')) \
         + (SELECT count(*) FROM evidence_claims r WHERE NOT EXISTS (SELECT 1 FROM documents d \
           WHERE d.namespace = r.namespace AND d.path = 'claim:' || r.id AND d.collection = 'evidence'))",
    ),
    (
        "documents of evidence are no fragment and no claim of the graph",
        "SELECT count(*) FROM documents d WHERE d.collection = 'evidence' AND NOT EXISTS (SELECT 1 FROM evidence_fragments r \
           WHERE r.namespace = d.namespace AND d.path = 'fragment:' || r.id) \
         AND NOT EXISTS (SELECT 1 FROM evidence_claims r WHERE r.namespace = d.namespace AND d.path = 'claim:' || r.id)",
    ),
    (
        "edges start from what is not there",
        "SELECT count(*) FROM evidence_edges e WHERE NOT EXISTS (SELECT 1 FROM (\
           SELECT 'fragment' AS type, namespace, id FROM evidence_fragments UNION ALL \
           SELECT 'page', namespace, id FROM evidence_pages UNION ALL SELECT 'work', namespace, id FROM evidence_works) n \
         WHERE n.type = e.source_type AND n.namespace = e.namespace AND n.id = e.source_id)",
    ),
    (
        "edges lead to what is not there",
        "SELECT count(*) FROM evidence_edges e WHERE NOT EXISTS (SELECT 1 FROM (\
           SELECT 'claim' AS type, namespace, id FROM evidence_claims UNION ALL \
           SELECT 'page', namespace, id FROM evidence_pages UNION ALL SELECT 'work', namespace, id FROM evidence_works) n \
         WHERE n.type = e.target_type AND n.namespace = e.namespace AND n.id = e.target_id)",
    ),
    (
        "tasks of fragments are not those of their claims",
        "WITH said AS (SELECT d.namespace, d.path, a.value FROM documents d JOIN attributes a ON a.document = d.id \
           WHERE d.collection = 'evidence' AND d.path LIKE 'fragment:%' AND a.name = 'task'), \
         meant AS (SELECT DISTINCT e.namespace, 'fragment:' || e.source_id, c.task_id FROM evidence_edges e \
           JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
           WHERE e.source_type = 'fragment' AND e.target_type = 'claim') \
         SELECT (SELECT count(*) FROM (SELECT * FROM said EXCEPT SELECT * FROM meant)) \
         + (SELECT count(*) FROM (SELECT * FROM meant EXCEPT SELECT * FROM said))",
    ),
];

/// Returns a sentence for each problem found.
pub(super) fn contradictions(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut found = Vec::new();
    for (problem, sql) in CHECKS {
        let number = count(connection, sql, [])?;
        if number > 0 {
            found.push(format!("{number} {problem}"));
        }
    }
    Ok(found)
}
