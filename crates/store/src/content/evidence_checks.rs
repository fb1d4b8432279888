//! Checking the evidence against itself and its documents.

use crate::session::{Row, Session, first, values};

/// Problems of the namespace `$1` with the statements that count them.
const CHECKS: [(&str, &str); 5] = [
    (
        "fragments or claims have no document, so that no search finds them",
        "SELECT (SELECT count(*) FROM evidence_fragments r WHERE r.namespace = $1 AND NOT EXISTS (SELECT 1 FROM documents d \
           WHERE d.namespace = $1 AND d.path = ('fragment:' || r.id) AND d.collection = 'evidence')) \
         + (SELECT count(*) FROM evidence_claims r WHERE r.namespace = $1 AND NOT EXISTS (SELECT 1 FROM documents d \
           WHERE d.namespace = $1 AND d.path = ('claim:' || r.id) AND d.collection = 'evidence'))",
    ),
    (
        "documents of evidence are no fragment and no claim of the graph",
        "SELECT count(*) FROM documents d WHERE d.namespace = $1 AND d.collection = 'evidence' \
         AND NOT EXISTS (SELECT 1 FROM evidence_fragments r WHERE r.namespace = $1 AND d.path = 'fragment:' || r.id) \
         AND NOT EXISTS (SELECT 1 FROM evidence_claims r WHERE r.namespace = $1 AND d.path = 'claim:' || r.id)",
    ),
    (
        "edges start from what is not there",
        "SELECT count(*) FROM evidence_edges e WHERE e.namespace = $1 AND NOT EXISTS (SELECT 1 FROM (\
           SELECT 'fragment' AS type, id FROM evidence_fragments WHERE namespace = $1 UNION ALL \
           SELECT 'page', id FROM evidence_pages WHERE namespace = $1 UNION ALL \
           SELECT 'work', id FROM evidence_works WHERE namespace = $1) n \
         WHERE n.type = e.source_type AND n.id = e.source_id)",
    ),
    (
        "edges lead to what is not there",
        "SELECT count(*) FROM evidence_edges e WHERE e.namespace = $1 AND NOT EXISTS (SELECT 1 FROM (\
           SELECT 'claim' AS type, id FROM evidence_claims WHERE namespace = $1 UNION ALL \
           SELECT 'page', id FROM evidence_pages WHERE namespace = $1 UNION ALL \
           SELECT 'work', id FROM evidence_works WHERE namespace = $1) n \
         WHERE n.type = e.target_type AND n.id = e.target_id)",
    ),
    (
        "tasks of fragments are not those of their claims",
        "WITH said AS (SELECT d.path, a.value FROM documents d JOIN attributes a ON {attributes_of_document} \
           WHERE d.namespace = $1 AND d.collection = 'evidence' AND d.path LIKE 'fragment:%' AND a.name = 'task'), \
         meant AS (SELECT DISTINCT ('fragment:' || e.source_id), c.task_id \
           FROM evidence_edges e JOIN evidence_claims c ON c.namespace = e.namespace AND c.id = e.target_id \
           WHERE e.namespace = $1 AND e.source_type = 'fragment' AND e.target_type = 'claim') \
         SELECT (SELECT count(*) FROM (SELECT * FROM said EXCEPT SELECT * FROM meant) s) \
         + (SELECT count(*) FROM (SELECT * FROM meant EXCEPT SELECT * FROM said) m)",
    ),
];

/// Counts each problem of a namespace.
pub(crate) async fn evidence_problems<E>(
    session: &dyn Session<E>,
    namespace: &str,
) -> Result<Vec<(&'static str, u64)>, E> {
    let mut found = Vec::new();
    for (problem, count) in CHECKS {
        let count = count.replace("{attributes_of_document}", session.dialect().attributes_of_document);
        found.push((problem, first(session, &count, values![namespace], Row::next).await?.unwrap_or_default()));
    }
    Ok(found)
}
