//! The weights of the model of relevance. `cargo xtask fit` writes this file.

use super::Weights;

/// Words, meaning, and the late vectors of the first entries.
pub(super) const LATE: Weights = Weights {
    bias: -7.7243,
    features: [
        0.0847,  // similarity
        2.3589,  // similarity_max
        1.1095,  // coverage
        3.0029,  // coverage_max
        -0.3932, // coverage_by_words
        -0.1399, // coverage_by_best
        -0.2363, // rank
        1.1965,  // score
        -0.3813, // other_role
        0.2310,  // length
        -0.2696, // name
        2.7806,  // exact
        1.1080,  // required
        -0.8430, // required_best
        -0.3171, // corpus
        1.7136,  // words
        -0.7570, // similarity_best
        0.5394,  // coverage_best
        0.2341,  // coverage_best_by_words
        -0.4911, // similarity_by_words
        0.9887,  // late
        0.6373,  // late_relative
        0.3737,  // late_deviation
        1.7832,  // late_best
        0.4249,  // late_by_best
        -1.9874, // late_best_by_coverage
        -0.4549, // late_best_by_words
        -0.1318, // late_by_words
        1.0888,  // late_missing
    ],
};

/// Words and meaning.
pub(super) const SCORES: Weights = Weights {
    bias: -5.1315,
    features: [
        0.9759,  // similarity
        1.8816,  // similarity_max
        3.1121,  // coverage
        1.9382,  // coverage_max
        0.0577,  // coverage_by_words
        -1.8338, // coverage_by_best
        -0.3224, // rank
        1.9920,  // score
        -0.7849, // other_role
        0.0810,  // length
        0.1398,  // name
        1.5161,  // exact
        1.2436,  // required
        -0.7964, // required_best
        -0.2871, // corpus
        1.1966,  // words
        -1.5215, // similarity_best
        0.0585,  // coverage_best
        -0.4228, // coverage_best_by_words
        -0.2150, // similarity_by_words
        0.0000,  // late
        0.0000,  // late_relative
        0.0000,  // late_deviation
        0.0000,  // late_best
        0.0000,  // late_by_best
        0.0000,  // late_best_by_coverage
        0.0000,  // late_best_by_words
        0.0000,  // late_by_words
        0.0000,  // late_missing
    ],
};

/// Words alone.
pub(super) const WORDS: Weights = Weights {
    bias: -5.3496,
    features: [
        0.0000,  // similarity
        0.0000,  // similarity_max
        3.0631,  // coverage
        2.3752,  // coverage_max
        0.1417,  // coverage_by_words
        -1.9817, // coverage_by_best
        -0.3984, // rank
        2.5305,  // score
        -0.8370, // other_role
        0.0046,  // length
        0.1956,  // name
        1.3481,  // exact
        1.3076,  // required
        -0.7507, // required_best
        -0.2608, // corpus
        1.2710,  // words
        0.0000,  // similarity_best
        0.5017,  // coverage_best
        -0.4633, // coverage_best_by_words
        0.0000,  // similarity_by_words
        0.0000,  // late
        0.0000,  // late_relative
        0.0000,  // late_deviation
        0.0000,  // late_best
        0.0000,  // late_by_best
        0.0000,  // late_best_by_coverage
        0.0000,  // late_best_by_words
        0.0000,  // late_by_words
        0.0000,  // late_missing
    ],
};

/// Meaning alone.
pub(super) const MEANING: Weights = Weights {
    bias: -5.4853,
    features: [
        0.0119,  // similarity
        2.5295,  // similarity_max
        0.0000,  // coverage
        0.0000,  // coverage_max
        0.0000,  // coverage_by_words
        0.0000,  // coverage_by_best
        -0.5687, // rank
        3.1717,  // score
        -0.4352, // other_role
        0.3230,  // length
        -0.0335, // name
        0.0000,  // exact
        0.0000,  // required
        0.0000,  // required_best
        -0.2916, // corpus
        0.0000,  // words
        0.0864,  // similarity_best
        0.0000,  // coverage_best
        0.0000,  // coverage_best_by_words
        -0.0271, // similarity_by_words
        0.0000,  // late
        0.0000,  // late_relative
        0.0000,  // late_deviation
        0.0000,  // late_best
        0.0000,  // late_by_best
        0.0000,  // late_best_by_coverage
        0.0000,  // late_best_by_words
        0.0000,  // late_by_words
        0.0000,  // late_missing
    ],
};
