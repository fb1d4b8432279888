//! The weights of the model of relevance. `cargo xtask fit` writes this file.

use super::Weights;

/// Words, meaning, and the late vectors of the first entries.
#[rustfmt::skip]
pub(super) const LATE: Weights = Weights {
    bias: -6.1370,
    features: [
        -0.0399, // similarity
        1.8503, // similarity_max
        -0.0169, // coverage
        2.7699, // coverage_max
        -0.1525, // coverage_by_words
        0.9533, // coverage_by_best
        -0.2461, // rank
        1.0599, // score
        -0.3907, // other_role
        0.2211, // length
        -0.2461, // name
        2.7965, // exact
        1.1017, // required
        -0.8457, // required_best
        -0.3385, // corpus
        1.5913, // words
        -0.7171, // similarity_best
        0.0280, // coverage_best
        0.1662, // coverage_best_by_words
        -0.4027, // similarity_by_words
        -2.3085, // shortfall
        0.0, // title
        0.6889, // late
        0.7280, // late_relative
        0.3505, // late_deviation
        1.3846, // late_best
        0.7501, // late_by_best
        -1.5773, // late_best_by_coverage
        -0.4505, // late_best_by_words
        -0.1381, // late_by_words
        1.1701, // late_missing
    ],
};

/// Words and meaning.
#[rustfmt::skip]
pub(super) const SCORES: Weights = Weights {
    bias: -3.7082,
    features: [
        0.9327, // similarity
        1.6122, // similarity_max
        2.2714, // coverage
        1.7212, // coverage_max
        0.1892, // coverage_by_words
        -0.9107, // coverage_by_best
        -0.3208, // rank
        1.8580, // score
        -0.8202, // other_role
        0.0639, // length
        0.1501, // name
        1.5510, // exact
        1.2445, // required
        -0.7813, // required_best
        -0.3139, // corpus
        1.0460, // words
        -1.5146, // similarity_best
        -0.5607, // coverage_best
        -0.3611, // coverage_best_by_words
        -0.2029, // similarity_by_words
        -3.3830, // shortfall
        0.0, // title
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
    bias: -5.3496,
    features: [
        0.0000, // similarity
        0.0000, // similarity_max
        3.0631, // coverage
        2.3752, // coverage_max
        0.1417, // coverage_by_words
        -1.9817, // coverage_by_best
        -0.3984, // rank
        2.5305, // score
        -0.8370, // other_role
        0.0046, // length
        0.1956, // name
        1.3481, // exact
        1.3076, // required
        -0.7507, // required_best
        -0.2608, // corpus
        1.2710, // words
        0.0000, // similarity_best
        0.5017, // coverage_best
        -0.4633, // coverage_best_by_words
        0.0000, // similarity_by_words
        0.0000, // shortfall
        0.0, // title
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
    bias: -5.4853,
    features: [
        0.0119, // similarity
        2.5295, // similarity_max
        0.0000, // coverage
        0.0000, // coverage_max
        0.0000, // coverage_by_words
        0.0000, // coverage_by_best
        -0.5687, // rank
        3.1717, // score
        -0.4352, // other_role
        0.3230, // length
        -0.0335, // name
        0.0000, // exact
        0.0000, // required
        0.0000, // required_best
        -0.2916, // corpus
        0.0000, // words
        0.0864, // similarity_best
        0.0000, // coverage_best
        0.0000, // coverage_best_by_words
        -0.0271, // similarity_by_words
        0.0000, // shortfall
        0.0, // title
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
