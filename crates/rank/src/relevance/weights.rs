//! The weights of the model of relevance. `cargo xtask fit` writes this file.

use super::Weights;

/// Words, meaning, and the late vectors of the first entries.
pub(super) const LATE: Weights = Weights {
    bias: -7.8002,
    features: [
        0.1095,  // similarity
        2.3200,  // similarity_max
        1.1960,  // coverage
        3.0386,  // coverage_max
        -0.3775, // coverage_by_words
        -0.4290, // coverage_by_best
        -0.2259, // rank
        1.1932,  // score
        -0.3936, // other_role
        0.2396,  // length
        -0.2729, // name
        2.7417,  // exact
        1.0679,  // required
        -0.8456, // required_best
        -0.3245, // corpus
        1.7483,  // words
        -0.6688, // similarity_best
        0.5309,  // coverage_best
        0.1825,  // coverage_best_by_words
        -0.5059, // similarity_by_words
        1.0315,  // late
        0.6949,  // late_relative
        0.3835,  // late_deviation
        1.6301,  // late_best
        0.3900,  // late_by_best
        -1.7355, // late_best_by_coverage
        -0.4301, // late_best_by_words
        -0.1494, // late_by_words
        1.0929,  // late_missing
    ],
};

/// Words and meaning.
pub(super) const SCORES: Weights = Weights {
    bias: -5.1665,
    features: [
        1.0194,  // similarity
        1.8473,  // similarity_max
        3.0864,  // coverage
        2.0012,  // coverage_max
        0.0760,  // coverage_by_words
        -1.8913, // coverage_by_best
        -0.3195, // rank
        1.9763,  // score
        -0.7467, // other_role
        0.0773,  // length
        0.1242,  // name
        1.5244,  // exact
        1.2457,  // required
        -0.8134, // required_best
        -0.2846, // corpus
        1.2157,  // words
        -1.5086, // similarity_best
        0.1250,  // coverage_best
        -0.4579, // coverage_best_by_words
        -0.2272, // similarity_by_words
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
    bias: -5.3764,
    features: [
        0.0000,  // similarity
        0.0000,  // similarity_max
        3.0499,  // coverage
        2.4207,  // coverage_max
        0.1603,  // coverage_by_words
        -2.0391, // coverage_by_best
        -0.3952, // rank
        2.5173,  // score
        -0.7887, // other_role
        0.0025,  // length
        0.1785,  // name
        1.3578,  // exact
        1.3107,  // required
        -0.7658, // required_best
        -0.2569, // corpus
        1.2755,  // words
        0.0000,  // similarity_best
        0.5635,  // coverage_best
        -0.4957, // coverage_best_by_words
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
    bias: -5.4978,
    features: [
        0.0337,  // similarity
        2.5027,  // similarity_max
        0.0000,  // coverage
        0.0000,  // coverage_max
        0.0000,  // coverage_by_words
        0.0000,  // coverage_by_best
        -0.5629, // rank
        3.1856,  // score
        -0.3748, // other_role
        0.3145,  // length
        -0.0427, // name
        0.0000,  // exact
        0.0000,  // required
        0.0000,  // required_best
        -0.2862, // corpus
        0.0000,  // words
        0.1114,  // similarity_best
        0.0000,  // coverage_best
        0.0000,  // coverage_best_by_words
        -0.0331, // similarity_by_words
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
