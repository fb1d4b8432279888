//! Which tables are distributed. Tests read this file too, so it needs nothing else.

/// The column that tables are distributed by.
pub const COLUMN: &str = "namespace";

/// The tables that grow with the content, by the namespace of their rows. A table comes after those that it refers to.
pub const DISTRIBUTED: &[&str] = &[
    "namespaces", "documents", "attributes", "passages", "words", "frequencies", "vectors", "coverages",
    "evidence_tasks", "evidence_works", "evidence_pages", "evidence_fragments", "evidence_claims", "evidence_edges",
];

/// Small tables that are joined with distributed ones, so each node has a copy.
pub const REFERENCE: &[&str] = &["models"];

/// Tables that stay on the coordinator, each with the reason.
#[cfg(test)]
pub const LOCAL: &[(&str, &str)] = &[
    ("meta", "a few rows, never joined"),
    ("properties", "a few rows for each tree, never joined"),
    ("threshold_calibration", "a few rows, never joined"),
    (
        "usage_searches",
        "bounded by its retention; callers know an identifier alone, and the oldest rows of all namespaces go first",
    ),
    ("usage_judgements", "refers to usage_searches"),
    ("usage_openings", "refers to usage_searches"),
    ("usage_grades", "no longer written"),
    ("jobs", "workers take one over all namespaces; rows of finished jobs are replaced"),
    ("sessions", "found by their own identifiers; the oldest go first"),
    ("usage_quality", "bounded by its retention, in the order of its numbers"),
];
