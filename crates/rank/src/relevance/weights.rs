//! The weights of the model of relevance. `cargo xtask fit` writes this file.

use super::Weights;

/// Words, meaning, and the late vectors of the first entries.
#[rustfmt::skip]
pub(super) const LATE: Weights = Weights {
    bias: -4.6373,
    features: [
        0.0551, // similarity
        1.7821, // similarity_max
        0.0177, // coverage
        2.7896, // coverage_max
        -0.0741, // coverage_by_words
        0.6096, // coverage_by_best
        -0.3224, // rank
        0.5597, // score
        -0.4214, // other_role
        0.2396, // length
        -0.2559, // name
        3.0784, // exact
        1.1350, // required
        -0.9478, // required_best
        -0.4418, // corpus
        1.4109, // words
        -0.9255, // similarity_best
        -0.8425, // coverage_best
        0.6705, // coverage_best_by_words
        -0.3849, // similarity_by_words
        -2.2973, // shortfall
        0.6125, // title
        0.7662, // late
        0.9589, // late_relative
        0.3285, // late_deviation
        1.4550, // late_best
        0.7596, // late_by_best
        -1.5945, // late_best_by_coverage
        -0.4095, // late_best_by_words
        -0.2352, // late_by_words
        1.1162, // late_missing
    ],
};

/// Words and meaning.
#[rustfmt::skip]
pub(super) const SCORES: Weights = Weights {
    bias: -2.4498,
    features: [
        0.9100, // similarity
        1.4613, // similarity_max
        2.0530, // coverage
        1.7564, // coverage_max
        0.3848, // coverage_by_words
        -1.0673, // coverage_by_best
        -0.3332, // rank
        1.6369, // score
        -0.8463, // other_role
        0.0982, // length
        0.1462, // name
        1.5772, // exact
        1.2871, // required
        -0.8622, // required_best
        -0.4174, // corpus
        0.7946, // words
        -1.6186, // similarity_best
        -1.1627, // coverage_best
        -0.0713, // coverage_best_by_words
        -0.1199, // similarity_by_words
        -3.3411, // shortfall
        0.6915, // title
        0.0000, // late
        0.0000, // late_relative
        0.0000, // late_deviation
        0.0000, // late_best
        0.0000, // late_by_best
        0.0000, // late_best_by_coverage
        0.0000, // late_best_by_words
        0.0000, // late_by_words
        0.0000, // late_missing
    ],
};

/// Words alone.
#[rustfmt::skip]
pub(super) const WORDS: Weights = Weights {
    bias: -4.2179,
    features: [
        0.0000, // similarity
        0.0000, // similarity_max
        2.8069, // coverage
        2.3295, // coverage_max
        0.3580, // coverage_by_words
        -2.1360, // coverage_by_best
        -0.3937, // rank
        2.3720, // score
        -0.8597, // other_role
        0.0543, // length
        0.1579, // name
        1.2963, // exact
        1.3446, // required
        -0.8512, // required_best
        -0.3832, // corpus
        1.0264, // words
        0.0000, // similarity_best
        -0.3267, // coverage_best
        -0.0797, // coverage_best_by_words
        0.0000, // similarity_by_words
        0.0000, // shortfall
        0.9863, // title
        0.0000, // late
        0.0000, // late_relative
        0.0000, // late_deviation
        0.0000, // late_best
        0.0000, // late_by_best
        0.0000, // late_best_by_coverage
        0.0000, // late_best_by_words
        0.0000, // late_by_words
        0.0000, // late_missing
    ],
};

/// Meaning alone.
#[rustfmt::skip]
pub(super) const MEANING: Weights = Weights {
    bias: -4.7157,
    features: [
        -0.0037, // similarity
        2.1549, // similarity_max
        0.0000, // coverage
        0.0000, // coverage_max
        0.0000, // coverage_by_words
        0.0000, // coverage_by_best
        -0.5156, // rank
        3.1521, // score
        -0.4545, // other_role
        0.3760, // length
        -0.0600, // name
        0.0000, // exact
        0.0000, // required
        0.0000, // required_best
        -0.4298, // corpus
        0.0000, // words
        -0.1601, // similarity_best
        0.0000, // coverage_best
        0.0000, // coverage_best_by_words
        0.1226, // similarity_by_words
        0.0000, // shortfall
        1.2910, // title
        0.0000, // late
        0.0000, // late_relative
        0.0000, // late_deviation
        0.0000, // late_best
        0.0000, // late_by_best
        0.0000, // late_best_by_coverage
        0.0000, // late_best_by_words
        0.0000, // late_by_words
        0.0000, // late_missing
    ],
};
