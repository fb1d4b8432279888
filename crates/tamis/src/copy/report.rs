//! What a copy wrote, and how both sides compare afterwards.

/// The number of differing items that a comparison names.
const NAMED: usize = 10;

/// What [`copy`](super::copy) did and found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct CopyReport {
    /// What was written. What was equal already was not written again.
    pub written: Written,
    /// True if the observer stopped the copy. Nothing was compared then, and the same copy goes on where this one stopped.
    pub interrupted: bool,
    /// The comparison of each namespace, by name.
    pub namespaces: Vec<NamespaceComparison>,
    /// Settings of the index.
    pub settings: Compared,
    /// Calibrated thresholds.
    pub thresholds: Compared,
    /// Recorded searches with their judgements and openings.
    pub searches: Compared,
    /// Quality figures of queries.
    pub queries: Compared,
    /// Namespaces that only the destination has, and that stay as they are.
    pub other_namespaces: u64,
    /// The reason why the settings were not copied, if they were not.
    pub settings_left: Option<String>,
}

/// What a copy wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Written {
    /// Documents added or replaced.
    pub documents: u64,
    /// Documents deleted because the source does not have them.
    pub deleted: u64,
    /// Vectors added.
    pub vectors: u64,
    /// Records of evidence added or replaced.
    pub evidence: u64,
    /// Settings and registrations of namespaces.
    pub settings: u64,
    /// Calibrated thresholds.
    pub thresholds: u64,
    /// Recorded searches added, or completed with judgements and openings.
    pub searches: u64,
    /// Quality figures of queries.
    pub queries: u64,
}

/// Items of one kind on both sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Compared {
    /// Number at the source.
    pub from: u64,
    /// Number at the destination, which may have others as well.
    pub to: u64,
    /// Number of the source's items that the destination lacks, or has with another content.
    pub different: u64,
}

/// A model's vectors on both sides.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ModelComparison {
    /// The model.
    pub model: String,
    /// Its vectors. Values that differ by no more than half precision rounds are equal.
    pub vectors: Compared,
}

/// A namespace on both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct NamespaceComparison {
    /// Its name.
    pub name: String,
    /// True if its registration (root, owner, shared) is the same.
    pub same_registration: bool,
    /// Documents with all their properties.
    pub documents: Compared,
    /// Passages with their texts, properties and public identifiers.
    pub passages: Compared,
    /// Different texts to embed.
    pub texts: Compared,
    /// Vectors by model.
    pub vectors: Vec<ModelComparison>,
    /// Records of evidence.
    pub evidence: Compared,
    /// Documents that only the destination has.
    pub kept: u64,
    /// The first items that differ, by name.
    pub differing: Vec<String>,
}

impl Compared {
    /// Returns `true` if the destination has everything that the source has.
    pub fn is_equal(&self) -> bool {
        self.different == 0
    }
}

impl NamespaceComparison {
    /// Returns `true` if the destination has everything that the source has.
    pub fn is_equal(&self) -> bool {
        self.same_registration
            && [self.documents, self.passages, self.texts, self.evidence].iter().all(Compared::is_equal)
            && self.vectors.iter().all(|model| model.vectors.is_equal())
    }

    /// Names an item that differs.
    pub(super) fn name_difference(&mut self, item: impl FnOnce() -> String) {
        if self.differing.len() < NAMED {
            self.differing.push(item());
        }
    }
}

impl CopyReport {
    /// Returns `true` if the destination has everything that the source has.
    pub fn is_equal(&self) -> bool {
        !self.interrupted
            && self.namespaces.iter().all(NamespaceComparison::is_equal)
            && [self.settings, self.thresholds, self.searches, self.queries].iter().all(Compared::is_equal)
    }
}
