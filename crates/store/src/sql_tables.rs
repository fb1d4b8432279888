//! The tables that an untrusted statement sees.

use schemars::JsonSchema;
use serde::Serialize;

use crate::session::Dialect;

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
        let Dialect { vector, passage_of_document, vector_of_passage, .. } = dialect;
        let vectors = |kind: &str| {
            format!(
                "SELECT '{kind}', e.id, m.name, {vector}, CAST(m.dimension AS bigint) FROM evidence_{kind}s e \
                 JOIN documents d ON d.namespace = e.namespace AND d.path = '{kind}:' || e.id AND d.collection = 'evidence' \
                 JOIN passages p ON {passage_of_document} JOIN vectors v ON {vector_of_passage} \
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
