//! The weights of the models of relevance. `cargo xtask fit` writes this file.

#![allow(clippy::approx_constant, reason = "a fitted weight is no constant")]

use super::Models;

/// Words alone.
#[rustfmt::skip]
pub const WORDS: Models = Models {
    list: (-2.9221, [
        1.4166, // words
        -0.3234, // corpus
        0.0000, // similarity_1
        0.0000, // similarity_3
        0.0000, // similarity_5
        2.0976, // coverage_1
        2.1793, // coverage_3
        1.6399, // coverage_5
        0.0000, // both
        1.1261, // exact
        1.2139, // title
        0.5486, // name
        -1.0382, // has_required
        2.0641, // required
        -0.7011, // has_names
        0.6932, // names
        -1.1508, // missing_names
        -1.1399, // missing_words
        0.0000, // background_deviations
        -1.3150, // long
        0.0000, // long_similarity
        9.7812, // long_coverage
        0.0000, // long_both
        -6.2472, // long_missing_words
        -0.4951, // long_missing_names
        0.0000, // on_demand_1
        0.0000, // on_demand_3
        0.0000, // on_demand_5
        0.0000, // on_demand_lead
        0.0000, // on_demand_coverage
        0.0000, // on_demand_words
        0.0000, // on_demand_long
    ]),
    covered: [
        0.0000, // similarity
        0.0000, // similarity_max
        0.0000, // similarity_deviation
        0.6865, // coverage
        0.9985, // coverage_max
        0.1255, // passages
        -0.3067, // rank
        4.4366, // score
        -0.5606, // other_role
        -0.5866, // no_program
        0.0189, // length
        0.8197, // name
        0.2399, // title
        0.5760, // exact
        0.2110, // required
        0.6493, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        0.0000, // similarity
        0.0000, // similarity_max
        0.0000, // similarity_deviation
        -0.4863, // coverage
        1.7218, // coverage_max
        0.1578, // passages
        -0.2799, // rank
        3.5340, // score
        -0.6756, // other_role
        -0.5899, // no_program
        0.0799, // length
        0.7571, // name
        -0.8297, // title
        0.0869, // exact
        0.9379, // required
        0.7022, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (0.8361, [
        1.4500, // answer
        0.6709, // share
        0.3566, // below_best
        0.1684, // place
        -0.0019, // entropy
    ]),
};

/// Meaning alone.
#[rustfmt::skip]
pub const MEANING: Models = Models {
    list: (-3.2710, [
        0.2732, // words
        -0.1929, // corpus
        1.8077, // similarity_1
        2.8907, // similarity_3
        1.8584, // similarity_5
        0.0000, // coverage_1
        0.0000, // coverage_3
        0.0000, // coverage_5
        0.0000, // both
        0.0000, // exact
        0.9282, // title
        0.1832, // name
        0.0000, // has_required
        0.0000, // required
        -2.2739, // has_names
        2.8476, // names
        0.0000, // missing_names
        0.0000, // missing_words
        -0.2613, // background_deviations
        -2.3997, // long
        1.2833, // long_similarity
        0.0000, // long_coverage
        0.0000, // long_both
        0.0000, // long_missing_words
        0.0000, // long_missing_names
        0.0000, // on_demand_1
        0.0000, // on_demand_3
        0.0000, // on_demand_5
        0.0000, // on_demand_lead
        0.0000, // on_demand_coverage
        0.0000, // on_demand_words
        0.0000, // on_demand_long
    ]),
    covered: [
        -0.0115, // similarity
        0.1497, // similarity_max
        0.0566, // similarity_deviation
        0.0000, // coverage
        0.0000, // coverage_max
        0.1255, // passages
        -0.3320, // rank
        5.2433, // score
        -0.3893, // other_role
        -0.4090, // no_program
        0.0463, // length
        0.6124, // name
        0.1788, // title
        0.0000, // exact
        0.0000, // required
        1.0093, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        -0.1357, // similarity
        0.3085, // similarity_max
        0.6170, // similarity_deviation
        0.0000, // coverage
        0.0000, // coverage_max
        0.1040, // passages
        -0.2386, // rank
        2.9342, // score
        -0.8096, // other_role
        -0.6023, // no_program
        0.1020, // length
        0.7888, // name
        -0.9832, // title
        0.0000, // exact
        0.0000, // required
        0.8629, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.0970, [
        1.4945, // answer
        0.6866, // share
        0.3211, // below_best
        0.1359, // place
        -0.0936, // entropy
    ]),
};

/// Words, and meaning by the quick model.
#[rustfmt::skip]
pub const SCORES: Models = Models {
    list: (-3.7852, [
        0.8363, // words
        -0.2080, // corpus
        0.5813, // similarity_1
        1.9542, // similarity_3
        1.1049, // similarity_5
        0.9648, // coverage_1
        1.3036, // coverage_3
        -0.2263, // coverage_5
        1.4021, // both
        0.9487, // exact
        0.1735, // title
        0.1759, // name
        -0.9889, // has_required
        1.9483, // required
        -0.6305, // has_names
        0.4681, // names
        -1.4303, // missing_names
        -0.4581, // missing_words
        -0.3485, // background_deviations
        -2.4902, // long
        0.4788, // long_similarity
        1.7488, // long_coverage
        0.7310, // long_both
        -2.5234, // long_missing_words
        0.0650, // long_missing_names
        0.0000, // on_demand_1
        0.0000, // on_demand_3
        0.0000, // on_demand_5
        0.0000, // on_demand_lead
        0.0000, // on_demand_coverage
        0.0000, // on_demand_words
        0.0000, // on_demand_long
    ]),
    covered: [
        0.0963, // similarity
        0.1269, // similarity_max
        0.0691, // similarity_deviation
        0.7236, // coverage
        1.0041, // coverage_max
        0.1258, // passages
        -0.2898, // rank
        4.0839, // score
        -0.5941, // other_role
        -0.5873, // no_program
        0.0206, // length
        0.8649, // name
        0.2410, // title
        0.6830, // exact
        0.2154, // required
        0.6399, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        -0.0883, // similarity
        0.2460, // similarity_max
        0.6411, // similarity_deviation
        0.0675, // coverage
        1.7004, // coverage_max
        0.1034, // passages
        -0.2236, // rank
        2.4455, // score
        -0.9180, // other_role
        -0.6469, // no_program
        0.0812, // length
        0.9243, // name
        -0.7817, // title
        0.3628, // exact
        0.8750, // required
        0.5069, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.0596, [
        1.4225, // answer
        0.6585, // share
        0.3444, // below_best
        0.1246, // place
        -0.0914, // entropy
    ]),
};

/// The same, and the better model on the first candidates.
#[rustfmt::skip]
pub const ON_DEMAND: Models = Models {
    list: (-4.1405, [
        0.2932, // words
        -0.2186, // corpus
        0.0518, // similarity_1
        0.4647, // similarity_3
        -0.2795, // similarity_5
        1.5478, // coverage_1
        1.0234, // coverage_3
        0.1781, // coverage_5
        1.1222, // both
        0.9838, // exact
        0.1257, // title
        -0.0232, // name
        -1.0946, // has_required
        1.9239, // required
        -0.7354, // has_names
        0.3742, // names
        -1.2852, // missing_names
        -0.3468, // missing_words
        -0.2495, // background_deviations
        -2.1738, // long
        -0.2441, // long_similarity
        -0.1515, // long_coverage
        -0.0532, // long_both
        -2.8333, // long_missing_words
        0.1375, // long_missing_names
        2.0857, // on_demand_1
        1.2288, // on_demand_3
        0.3956, // on_demand_5
        0.9420, // on_demand_lead
        -1.1813, // on_demand_coverage
        0.7278, // on_demand_words
        0.8907, // on_demand_long
    ]),
    covered: [
        0.0201, // similarity
        0.0410, // similarity_max
        -0.0680, // similarity_deviation
        0.6611, // coverage
        0.9081, // coverage_max
        0.0846, // passages
        -0.2364, // rank
        3.6800, // score
        -0.6073, // other_role
        -0.5880, // no_program
        0.0251, // length
        0.7415, // name
        0.0863, // title
        0.7173, // exact
        0.2545, // required
        0.5500, // held_names
        0.6214, // on_demand
        0.3270, // on_demand_deviation
        -0.0160, // on_demand_missing
    ],
    uncovered: [
        -0.2350, // similarity
        0.0867, // similarity_max
        0.3338, // similarity_deviation
        -0.1580, // coverage
        1.3451, // coverage_max
        0.0397, // passages
        -0.1634, // rank
        2.1223, // score
        -1.0249, // other_role
        -0.6685, // no_program
        0.0910, // length
        0.6296, // name
        -1.3452, // title
        0.2520, // exact
        0.8098, // required
        0.3389, // held_names
        0.8590, // on_demand
        0.6501, // on_demand_deviation
        0.9799, // on_demand_missing
    ],
    joint: (1.1580, [
        1.3506, // answer
        0.6762, // share
        0.3506, // below_best
        0.1532, // place
        -0.1202, // entropy
    ]),
};

/// Words, and meaning by the better model.
#[rustfmt::skip]
pub const EMBEDDED: Models = Models {
    list: (-4.7626, [
        0.5114, // words
        -0.1553, // corpus
        2.3336, // similarity_1
        1.5635, // similarity_3
        0.1229, // similarity_5
        0.8109, // coverage_1
        0.2472, // coverage_3
        0.4966, // coverage_5
        1.8920, // both
        1.4039, // exact
        -0.2604, // title
        0.0562, // name
        -0.8680, // has_required
        2.6849, // required
        -0.7209, // has_names
        0.1406, // names
        -1.4178, // missing_names
        -0.0355, // missing_words
        -0.1183, // background_deviations
        -2.5882, // long
        1.2812, // long_similarity
        3.0061, // long_coverage
        1.1916, // long_both
        -5.9797, // long_missing_words
        -0.1188, // long_missing_names
        0.0000, // on_demand_1
        0.0000, // on_demand_3
        0.0000, // on_demand_5
        0.0000, // on_demand_lead
        0.0000, // on_demand_coverage
        0.0000, // on_demand_words
        0.0000, // on_demand_long
    ]),
    covered: [
        -0.0517, // similarity
        0.1754, // similarity_max
        0.1343, // similarity_deviation
        0.8713, // coverage
        0.8803, // coverage_max
        -0.1520, // passages
        0.0004, // rank
        5.1478, // score
        -0.4199, // other_role
        -0.3597, // no_program
        0.0246, // length
        0.3531, // name
        -0.0356, // title
        0.8009, // exact
        0.0449, // required
        0.5129, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        0.4641, // similarity
        0.1895, // similarity_max
        0.7945, // similarity_deviation
        -0.0472, // coverage
        1.5898, // coverage_max
        0.1076, // passages
        -0.0009, // rank
        2.8820, // score
        -0.7071, // other_role
        -0.5957, // no_program
        0.1188, // length
        0.7875, // name
        -0.8747, // title
        -0.3698, // exact
        1.3262, // required
        0.4801, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.0340, [
        1.4234, // answer
        0.6011, // share
        0.4351, // below_best
        0.1623, // place
        -0.0670, // entropy
    ]),
};
