//! What a store says about itself: coverage, summary, findings of a check, progress.

use crate::record::ModelKey;

/// How much of the passages a model's vectors cover.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Coverage {
    /// Passages that the filter lets through.
    pub passages: u64,
    /// Those that have a vector.
    pub embedded: u64,
}

/// How many documents and passages share a property.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    /// The collection, language or role; empty where there is none.
    pub name: String,
    /// Documents that have it or hold a passage that does.
    pub documents: u64,
    /// Passages.
    pub passages: u64,
}

/// What came from one place into one collection of a namespace, where that is no file of its tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    /// Where it came from, as [`NewDocument::origin`](crate::NewDocument::origin) says.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// The collection.
    pub collection: String,
    /// Its documents.
    pub documents: u64,
    /// Their passages.
    pub passages: u64,
    /// The latest date of its documents in nanoseconds since 1970, where one has a date.
    pub dated_ns: Option<i64>,
}

/// What a store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Documents in all namespaces.
    pub documents: u64,
    /// Passages in all namespaces.
    pub passages: u64,
    /// By namespace.
    pub namespaces: Vec<Count>,
    /// By collection.
    pub collections: Vec<Count>,
    /// By language of the passage.
    pub languages: Vec<Count>,
    /// By role of the passage.
    pub roles: Vec<Count>,
    /// Models and how far their vectors go.
    pub models: Vec<ModelSummary>,
    /// Sizes in bytes of what is on the disk.
    pub sizes: Sizes,
    /// When passages were last changed or published, in milliseconds since 1970.
    pub last_change_ms: Option<i64>,
    /// When the indexes were last brought up to date, in milliseconds since 1970.
    pub last_publish_ms: Option<i64>,
    /// Version of the database's schema.
    pub schema_version: u32,
    /// The database's change number.
    pub seq: u64,
    /// The change number that the lexical index holds, where there is a usable one.
    pub lexical_seq: Option<u64>,
}

/// A model's part of a [`Summary`].
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ModelSummary {
    /// The model.
    pub model: ModelKey,
    /// How far its vectors go.
    pub coverage: Coverage,
    /// Vectors stored, those counted that no passage refers to.
    pub vectors: u64,
    /// The change number that its vector file holds, where there is a usable one.
    pub file_seq: Option<u64>,
}

/// Sizes in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Sizes {
    /// The database with its log.
    pub database: u64,
    /// The lexical index.
    pub lexical: u64,
    /// The vector files.
    pub vectors: u64,
}

/// What a namespace's evidence amounts to.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct EvidenceSummary {
    /// The namespace.
    pub namespace: String,
    /// Questions.
    pub tasks: u64,
    /// Publications.
    pub works: u64,
    /// Pages; of one task those with a fragment that has to do with it.
    pub pages: u64,
    /// Pieces of pages; of one task those with an edge to one of its claims.
    pub fragments: u64,
    /// Statements.
    pub claims: u64,
    /// Edges by which a fragment speaks for a claim.
    pub supporting: u64,
    /// Edges by which a fragment speaks against a claim.
    pub refuting: u64,
    /// Edges by which a fragment does neither, or is not judged yet.
    pub neutral: u64,
    /// The ten domains with most fragments, each with its pages as documents and its fragments as passages.
    pub top_domains: Vec<Count>,
}

impl EvidenceSummary {
    /// Whether there is no evidence at all.
    pub fn is_empty(&self) -> bool {
        self.tasks + self.works + self.pages + self.fragments + self.claims == 0
    }
}

/// What [`Store::check`](crate::Store::check) looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The database: the truth.
    Database,
    /// The lexical index: derived.
    Lexical,
    /// A vector file: derived.
    Vectors,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Where.
    pub part: Part,
    /// What, in a sentence.
    pub message: String,
    /// Whether [`Store::mend`](crate::Store::mend) repairs it, losing nothing.
    pub mendable: bool,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Findings {
    /// What is wrong; empty when all is well.
    pub problems: Vec<Problem>,
    /// Passages looked at.
    pub passages: u64,
}

/// What [`Store::prune`](crate::Store::prune) removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Pruned {
    /// Vectors that no passage refers to.
    pub vectors: u64,
}

/// Where publishing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being brought up to date: [`Part::Lexical`] or [`Part::Vectors`].
    pub part: Part,
    /// Passages done.
    pub done: u64,
    /// Passages to do.
    pub total: u64,
}
