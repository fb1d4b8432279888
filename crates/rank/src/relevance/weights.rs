//! The weights of the model of relevance. `cargo xtask fit` writes this file.

use super::Weights;

/// Words, meaning, and the late vectors of the first entries.
#[rustfmt::skip]
pub(super) const LATE: Weights = Weights {
    bias: -4.6414,
    features: [
        0.0300, // similarity
        1.8090, // similarity_max
        0.0605, // coverage
        2.8279, // coverage_max
        -0.0656, // coverage_by_words
        0.5804, // coverage_by_best
        -0.3201, // rank
        0.5445, // score
        -0.4313, // other_role
        0.2383, // length
        -0.2429, // name
        3.0800, // exact
        1.1338, // required
        -0.9416, // required_best
        -0.4422, // corpus
        1.4166, // words
        -0.9341, // similarity_best
        -0.8204, // coverage_best
        0.6352, // coverage_best_by_words
        -0.3888, // similarity_by_words
        -2.2832, // shortfall
        0.6377, // title
        0.7055, // late
        0.9045, // late_relative
        0.3438, // late_deviation
        1.4560, // late_best
        0.7833, // late_by_best
        -1.5848, // late_best_by_coverage
        -0.4014, // late_best_by_words
        -0.2333, // late_by_words
        1.1253, // late_missing
    ],
};

/// Words and meaning.
#[rustfmt::skip]
pub(super) const SCORES: Weights = Weights {
    bias: -2.4687,
    features: [
        0.8857, // similarity
        1.4598, // similarity_max
        2.0628, // coverage
        1.6969, // coverage_max
        0.4191, // coverage_by_words
        -1.0580, // coverage_by_best
        -0.3267, // rank
        1.6595, // score
        -0.8632, // other_role
        0.0879, // length
        0.1382, // name
        1.5596, // exact
        1.2925, // required
        -0.8773, // required_best
        -0.4097, // corpus
        0.7997, // words
        -1.6428, // similarity_best
        -1.1084, // coverage_best
        -0.0765, // coverage_best_by_words
        -0.1159, // similarity_by_words
        -3.3452, // shortfall
        0.7366, // title
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
    bias: -4.2199,
    features: [
        0.0000, // similarity
        0.0000, // similarity_max
        2.7976, // coverage
        2.2634, // coverage_max
        0.3908, // coverage_by_words
        -2.1058, // coverage_by_best
        -0.3887, // rank
        2.3859, // score
        -0.8733, // other_role
        0.0482, // length
        0.1495, // name
        1.2850, // exact
        1.3501, // required
        -0.8668, // required_best
        -0.3803, // corpus
        1.0238, // words
        0.0000, // similarity_best
        -0.3018, // coverage_best
        -0.0846, // coverage_best_by_words
        0.0000, // similarity_by_words
        0.0000, // shortfall
        1.0199, // title
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
    bias: -4.7513,
    features: [
        -0.0003, // similarity
        2.1406, // similarity_max
        0.0000, // coverage
        0.0000, // coverage_max
        0.0000, // coverage_by_words
        0.0000, // coverage_by_best
        -0.5085, // rank
        3.1792, // score
        -0.4666, // other_role
        0.3712, // length
        -0.0674, // name
        0.0000, // exact
        0.0000, // required
        0.0000, // required_best
        -0.4216, // corpus
        0.0000, // words
        -0.1679, // similarity_best
        0.0000, // coverage_best
        0.0000, // coverage_best_by_words
        0.1221, // similarity_by_words
        0.0000, // shortfall
        1.3155, // title
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
