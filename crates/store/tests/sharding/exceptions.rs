//! The statements that name no namespaces, each with the reason. Every node answers them for its shards.

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
