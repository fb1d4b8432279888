//! The probability that an entry answers the query, from the evidence on the entry itself.

/// What is known of a query and of the list that it found, the same for all its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryFeatures {
    /// Words of the query that the lexical leg looked for.
    pub words: usize,
    /// Passages that were searched.
    pub passages: u64,
    /// Highest similarity of an entry.
    pub best_similarity: f64,
    /// Highest coverage of an entry.
    pub best_coverage: f64,
}

/// What is known of an entry of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EntryFeatures {
    pub similarity: f64,
    pub similarity_max: f64,
    pub deviation: f64,
    pub coverage: f64,
    pub coverage_max: f64,
    pub rank: usize,
    pub normalized_score: f64,
    pub added: f64,
    pub passages: usize,
    pub is_main: bool,
    pub is_code: bool,
    pub exact: bool,
    pub name: f64,
    pub required: Option<f64>,
    pub late: Option<f64>,
    pub characters: usize,
    pub lines: usize,
}

impl EntryFeatures {
    /// Its figures by name.
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        let flag = |flag: bool| f64::from(u8::from(flag));
        let mut figures = vec![
            ("similarity", self.similarity),
            ("similarity_max", self.similarity_max),
            ("deviation", self.deviation),
            ("coverage", self.coverage),
            ("coverage_max", self.coverage_max),
            ("rank", self.rank as f64),
            ("normalized_score", self.normalized_score),
            ("added", self.added),
            ("passages", self.passages as f64),
            ("main", flag(self.is_main)),
            ("code", flag(self.is_code)),
            ("exact", flag(self.exact)),
            ("name", self.name),
            ("characters", self.characters as f64),
            ("lines", self.lines as f64),
        ];
        figures.extend(self.late.map(|late| ("late", late)));
        figures.extend(self.required.map(|required| ("required", required)));
        figures
    }
}

/// The weight of late vectors, 0 to 1, for the coverage of the first entries: words answer a query that has most of them in one place, and then meaning
/// adds noise.
pub fn late_weight(first_coverages: &[f64]) -> f64 {
    const FULL: f64 = 0.4;
    const NONE: f64 = 0.6;
    let best = first_coverages.iter().take(3).copied().fold(0.0, f64::max);
    ((NONE - best) / (NONE - FULL)).clamp(0.0, 1.0)
}
