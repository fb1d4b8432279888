//! Reports of a store: coverage, summary, findings of a check, progress.

use crate::record::ModelKey;

/// The number of passages that a model's vectors cover.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Coverage {
    /// Passages that pass the filter.
    pub passages: u64,
    /// Those with a vector.
    pub embedded: u64,
}

/// The number of documents and passages with a property.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Count {
    /// The collection, language or role; empty without one.
    pub name: String,
    /// Documents with it, or with a passage that has it.
    pub documents: u64,
    /// Passages.
    pub passages: u64,
}

/// An origin of imported documents in one collection of a namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    /// Its name, as in [`NewDocument::origin`](crate::NewDocument::origin).
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// The collection.
    pub collection: String,
    /// Its documents.
    pub documents: u64,
    /// Their passages.
    pub passages: u64,
    /// The latest date of its documents in nanoseconds since 1970.
    pub dated_ns: Option<i64>,
}

/// The content and size of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Summary {
    /// Documents in all namespaces.
    pub documents: u64,
    /// Passages in all namespaces.
    pub passages: u64,
    /// Documents and passages by kind.
    #[serde(flatten)]
    pub counts: Counts,
    /// Models and their coverage.
    pub models: Vec<ModelSummary>,
    /// Sizes on the disk in bytes.
    pub sizes: Sizes,
    /// Time of the last change, in milliseconds since 1970.
    pub last_change_ms: Option<i64>,
    /// Time of the last publication, in milliseconds since 1970.
    pub last_publish_ms: Option<i64>,
    /// The version of the database's schema.
    pub schema_version: u32,
    /// The database's change number.
    pub seq: u64,
    /// The change number of the lexical index, if it is usable.
    pub lexical_seq: Option<u64>,
}

/// The documents and passages of a store, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Counts {
    /// By namespace.
    pub namespaces: Vec<Count>,
    /// By collection.
    pub collections: Vec<Count>,
    /// By language of the passage.
    pub languages: Vec<Count>,
    /// By role of the passage.
    pub roles: Vec<Count>,
}

/// A model in a [`Summary`].
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct ModelSummary {
    /// The model.
    pub model: ModelKey,
    /// Its coverage.
    pub coverage: Coverage,
    /// Vectors stored, including those without a passage.
    pub vectors: u64,
    /// The change number of its vector file, if it is usable.
    pub file_seq: Option<u64>,
}

/// Sizes in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Sizes {
    /// The database with its log.
    pub database: u64,
    /// The lexical index.
    pub lexical: u64,
    /// The vector files.
    pub vectors: u64,
}

/// The evidence of a namespace, or of one task, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct EvidenceSummary {
    /// The namespace.
    pub namespace: String,
    /// Tasks.
    pub tasks: u64,
    /// Publications.
    pub works: u64,
    /// Pages; for one task those with a fragment of it.
    pub pages: u64,
    /// Fragments; for one task those with an edge to one of its claims.
    pub fragments: u64,
    /// Claims.
    pub claims: u64,
    /// Edges by which a fragment supports a claim.
    pub supporting: u64,
    /// Edges by which a fragment refutes a claim.
    pub refuting: u64,
    /// Edges by which a fragment does neither, or is not judged yet.
    pub neutral: u64,
    /// The ten domains with most fragments, each with its pages as documents and its fragments as passages.
    pub top_domains: Vec<Count>,
}

impl EvidenceSummary {
    /// Returns `true` if the namespace has no evidence.
    pub fn is_empty(&self) -> bool {
        self.tasks + self.works + self.pages + self.fragments + self.claims == 0
    }
}

/// A part of a store, for [`Maintenance::check`](crate::Maintenance::check).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The database, which holds the truth.
    Database,
    /// The lexical index, which is derived.
    Lexical,
    /// A vector file, which is derived.
    Vectors,
}

/// A problem that a check found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The part with the problem.
    pub part: Part,
    /// The problem in a sentence.
    pub message: String,
    /// True if [`Maintenance::mend`](crate::Maintenance::mend) repairs it without loss.
    pub mendable: bool,
}

/// The findings of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Findings {
    /// The problems; empty for a sound store.
    pub problems: Vec<Problem>,
    /// Passages checked.
    pub passages: u64,
}

/// The effect of [`Maintenance::prune`](crate::Maintenance::prune).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Pruned {
    /// Vectors deleted.
    pub vectors: u64,
}

/// The progress of publishing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The part that is published: [`Part::Lexical`] or [`Part::Vectors`].
    pub part: Part,
    /// Passages done.
    pub done: u64,
    /// Passages to do.
    pub total: u64,
}
