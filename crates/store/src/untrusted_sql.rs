//! Untrusted SQL statements and their rows, as data, and the tables that they see.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::{Dialect, PassageSql};

/// The most rows of an answer.
pub const MOST_SQL_ROWS: usize = 200;

/// The longest time limit of a statement.
pub const LONGEST_SQL_TIME: Duration = Duration::from_secs(2);

/// The most bytes of an answer as JSON.
pub const MOST_SQL_BYTES: usize = 1 << 20;

/// The least [`SqlQuery::max_bytes`]: the size of the widest row with its values shortened to a few characters.
pub const LEAST_SQL_BYTES: usize = 16 << 10;

/// A statement on the evidence tables of one namespace.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlQuery {
    /// The statement. It must be a single one that reads.
    pub sql: String,
    /// Values for its parameters, by name without the colon: `task_id` for `:task_id`. They are bound, never inserted into the
    /// text. A value without a parameter is an error; a parameter without a value is null.
    pub parameters: BTreeMap<String, SqlValue>,
    /// Most rows returned, 1 to [`MOST_SQL_ROWS`].
    pub limit: usize,
    /// The time limit, at most [`LONGEST_SQL_TIME`].
    pub timeout: Duration,
    /// Most bytes of column names and rows as JSON, [`LEAST_SQL_BYTES`] to [`MOST_SQL_BYTES`]. Rows that do not fit are omitted
    /// ([`SqlRows::truncated`]); a first row that does not fit has its values shortened.
    pub max_bytes: usize,
}

impl SqlQuery {
    /// Makes a statement without parameters and with the default limits: 50 rows, 300 milliseconds, 256 KiB.
    pub fn new(sql: impl Into<String>) -> SqlQuery {
        SqlQuery {
            sql: sql.into(),
            parameters: BTreeMap::new(),
            limit: 50,
            timeout: Duration::from_millis(300),
            max_bytes: 256 << 10,
        }
    }
}

/// A value passed into a statement or returned by it. Bytes are returned as text, `x'…'` in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SqlValue {
    /// Null.
    Null,
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text.
    Text(String),
}

/// The result of a statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SqlRows {
    /// The names of the columns; a long one ends in `…` and its length.
    pub columns: Vec<String>,
    /// The rows, each with one value a column.
    pub rows: Vec<Vec<SqlValue>>,
    /// The number of rows returned.
    pub row_count: usize,
    /// True if a limit of this call cut off further rows. The statement's own LIMIT does not count.
    pub truncated: bool,
    /// The number of values that were shortened; such a value ends in `…` and its length.
    pub shortened: usize,
    /// Time taken, in milliseconds.
    pub elapsed_ms: f64,
}

/// A table that a statement can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SqlTable {
    /// Its name.
    pub name: &'static str,
    /// The meaning of a row.
    pub about: &'static str,
    /// Its columns, in order.
    pub columns: &'static [SqlColumn],
}

impl SqlTable {
    /// The statement that reads its rows of the namespace `$1` from the store's table of the same records. Every store names those
    /// alike; none has one of embeddings.
    pub(crate) fn select(&self) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        format!("SELECT {} FROM evidence_{} WHERE namespace = $1", columns.join(", "), self.name)
    }

    /// The same of all tables. Embeddings are the vectors of the documents of claims and fragments.
    pub(crate) fn rows(&self, dialect: &Dialect) -> String {
        let Dialect { vector: (vector, _), passages: PassageSql { of_document, .. }, vector_of_passage, .. } = dialect;
        let vectors = |kind: &str| {
            format!(
                "SELECT '{kind}', e.id, m.name, {vector}, CAST(m.dimension AS bigint) FROM evidence_{kind}s e \
                 JOIN documents d ON d.namespace = e.namespace AND d.path = '{kind}:' || e.id AND d.collection = 'evidence' \
                 JOIN passages p ON {of_document} JOIN vectors v ON {vector_of_passage} \
                 JOIN models m ON m.model = v.model WHERE e.namespace = $1"
            )
        };
        match self.name {
            "embeddings" => format!("{} UNION ALL {}", vectors("claim"), vectors("fragment")),
            _ => self.select(),
        }
    }
}

/// A column of a table that a statement can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SqlColumn {
    /// Its name.
    pub name: &'static str,
    /// The type of its values: `text`, `integer`, `real` or `blob`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

const fn text(name: &'static str) -> SqlColumn {
    SqlColumn { name, kind: "text" }
}

const fn integer(name: &'static str) -> SqlColumn {
    SqlColumn { name, kind: "integer" }
}

const fn real(name: &'static str) -> SqlColumn {
    SqlColumn { name, kind: "real" }
}

/// The tables of the evidence graph of a namespace. A statement sees these and nothing else.
pub const SQL_TABLES: &[SqlTable] = &[
    SqlTable {
        name: "tasks",
        about: "a question that evidence is gathered for",
        columns: &[text("id"), text("question"), text("status"), text("created_at")],
    },
    SqlTable {
        name: "works",
        about: "a publication; authors is a JSON array of names",
        columns: &[
            text("id"),
            text("title"),
            text("authors"),
            integer("year"),
            text("venue"),
            text("doi"),
            integer("citation_count"),
        ],
    },
    SqlTable {
        name: "pages",
        about: "a page that was read; domain is the host of its address; work_id is the work that it is a page of",
        columns: &[
            text("id"),
            text("url"),
            text("domain"),
            text("title"),
            text("work_id"),
            text("published_at"),
            text("fetched_at"),
        ],
    },
    SqlTable {
        name: "fragments",
        about: "a piece of text from a page; position is its place there, from 0",
        columns: &[text("id"), text("page_id"), text("text"), text("heading"), integer("position"), text("created_at")],
    },
    SqlTable {
        name: "claims",
        about: "a statement that evidence speaks for or against; confidence is from 0 to 1",
        columns: &[
            text("id"),
            text("task_id"),
            text("text"),
            text("type"),
            real("confidence"),
            text("status"),
            text("created_at"),
        ],
    },
    SqlTable {
        name: "edges",
        about: "how a fragment, page or work (source) bears on a claim, page or work (target); relation is origin, supports, \
                refutes, neutral or cites",
        columns: &[
            text("source_type"),
            text("source_id"),
            text("target_type"),
            text("target_id"),
            text("relation"),
            real("nli_edge_confidence"),
            text("note"),
            text("created_at"),
        ],
    },
    SqlTable {
        name: "embeddings",
        about: "the vector of a claim or fragment (target_type) under a model, as little-endian 32-bit floats; a long text has \
                several",
        columns: &[
            text("target_type"),
            text("target_id"),
            text("model_id"),
            SqlColumn { name: "embedding_blob", kind: "blob" },
            integer("dimension"),
        ],
    },
];
