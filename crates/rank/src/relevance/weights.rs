//! The weights of the models of relevance. `cargo xtask fit` writes this file.

use super::Models;

/// Words alone.
#[rustfmt::skip]
pub(super) const WORDS: Models = Models {
    list: (-2.5093, [
        1.4628, // words
        -0.3686, // corpus
        0.0000, // similarity_1
        0.0000, // similarity_3
        0.0000, // similarity_5
        2.0044, // coverage_1
        2.1440, // coverage_3
        1.7141, // coverage_5
        0.0000, // both
        1.1319, // exact
        1.0416, // title
        0.4419, // name
        -1.1959, // has_required
        2.1565, // required
        -0.5294, // has_names
        0.5781, // names
        -1.1374, // missing_names
        -0.9798, // missing_words
        0.0000, // background_deviations
        -1.1452, // long
        0.0000, // long_similarity
        8.8500, // long_coverage
        0.0000, // long_both
        -6.7298, // long_missing_words
        -0.5940, // long_missing_names
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
        0.6753, // coverage
        0.9826, // coverage_max
        0.1131, // passages
        -0.3064, // rank
        4.4547, // score
        -0.5809, // other_role
        -0.6452, // no_program
        -0.3708, // directories
        0.0179, // length
        0.8398, // name
        0.2133, // title
        0.5315, // exact
        0.2105, // required
        0.6459, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        0.0000, // similarity
        0.0000, // similarity_max
        0.0000, // similarity_deviation
        -0.4808, // coverage
        1.6874, // coverage_max
        0.1525, // passages
        -0.2820, // rank
        3.5236, // score
        -0.6989, // other_role
        -0.6767, // no_program
        -0.3112, // directories
        0.0791, // length
        0.7697, // name
        -0.8486, // title
        0.1081, // exact
        0.9448, // required
        0.7050, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (0.8272, [
        1.5607, // answer
        0.6788, // share
        0.3511, // below_best
        0.1597, // place
        0.0250, // entropy
    ]),
};

/// Meaning alone.
#[rustfmt::skip]
pub(super) const MEANING: Models = Models {
    list: (-2.7215, [
        0.2962, // words
        -0.2374, // corpus
        1.8413, // similarity_1
        2.7805, // similarity_3
        1.7825, // similarity_5
        0.0000, // coverage_1
        0.0000, // coverage_3
        0.0000, // coverage_5
        0.0000, // both
        0.0000, // exact
        0.7851, // title
        0.1115, // name
        0.0000, // has_required
        0.0000, // required
        -2.2032, // has_names
        2.8054, // names
        0.0000, // missing_names
        0.0000, // missing_words
        -0.2662, // background_deviations
        -2.4722, // long
        1.2800, // long_similarity
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
        -0.0013, // similarity
        0.1456, // similarity_max
        0.0555, // similarity_deviation
        0.0000, // coverage
        0.0000, // coverage_max
        0.1117, // passages
        -0.3310, // rank
        5.2390, // score
        -0.4162, // other_role
        -0.4835, // no_program
        -0.4240, // directories
        0.0446, // length
        0.6402, // name
        0.1440, // title
        0.0000, // exact
        0.0000, // required
        0.9985, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        -0.1375, // similarity
        0.3072, // similarity_max
        0.6189, // similarity_deviation
        0.0000, // coverage
        0.0000, // coverage_max
        0.0974, // passages
        -0.2410, // rank
        2.9154, // score
        -0.8322, // other_role
        -0.6917, // no_program
        -0.3195, // directories
        0.1009, // length
        0.8052, // name
        -1.0018, // title
        0.0000, // exact
        0.0000, // required
        0.8673, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.0954, [
        1.5967, // answer
        0.7000, // share
        0.3173, // below_best
        0.1415, // place
        -0.0729, // entropy
    ]),
};

/// Words, and meaning by the quick model.
#[rustfmt::skip]
pub(super) const SCORES: Models = Models {
    list: (-3.2795, [
        0.8774, // words
        -0.2569, // corpus
        0.6601, // similarity_1
        1.8449, // similarity_3
        1.0444, // similarity_5
        0.9283, // coverage_1
        1.2177, // coverage_3
        -0.1627, // coverage_5
        1.4228, // both
        0.9647, // exact
        0.0298, // title
        0.0802, // name
        -1.1281, // has_required
        2.0105, // required
        -0.4357, // has_names
        0.3251, // names
        -1.4692, // missing_names
        -0.4182, // missing_words
        -0.3550, // background_deviations
        -2.3996, // long
        0.4949, // long_similarity
        1.2539, // long_coverage
        0.7179, // long_both
        -2.8478, // long_missing_words
        0.0064, // long_missing_names
        0.0000, // on_demand_1
        0.0000, // on_demand_3
        0.0000, // on_demand_5
        0.0000, // on_demand_lead
        0.0000, // on_demand_coverage
        0.0000, // on_demand_words
        0.0000, // on_demand_long
    ]),
    covered: [
        0.0975, // similarity
        0.1245, // similarity_max
        0.0677, // similarity_deviation
        0.7124, // coverage
        0.9889, // coverage_max
        0.1134, // passages
        -0.2897, // rank
        4.1056, // score
        -0.6140, // other_role
        -0.6450, // no_program
        -0.3702, // directories
        0.0197, // length
        0.8848, // name
        0.2150, // title
        0.6368, // exact
        0.2141, // required
        0.6367, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        -0.0905, // similarity
        0.2453, // similarity_max
        0.6427, // similarity_deviation
        0.0705, // coverage
        1.6679, // coverage_max
        0.0973, // passages
        -0.2260, // rank
        2.4333, // score
        -0.9402, // other_role
        -0.7349, // no_program
        -0.3193, // directories
        0.0803, // length
        0.9381, // name
        -0.8011, // title
        0.3760, // exact
        0.8835, // required
        0.5108, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.0563, [
        1.5188, // answer
        0.6738, // share
        0.3414, // below_best
        0.1350, // place
        -0.0705, // entropy
    ]),
};

/// The same, and the better model on the first candidates.
#[rustfmt::skip]
pub(super) const ON_DEMAND: Models = Models {
    list: (-3.6497, [
        0.2913, // words
        -0.2624, // corpus
        0.1125, // similarity_1
        0.4563, // similarity_3
        -0.2699, // similarity_5
        1.5306, // coverage_1
        0.9678, // coverage_3
        0.2760, // coverage_5
        1.1307, // both
        0.9821, // exact
        0.0082, // title
        -0.0948, // name
        -1.1656, // has_required
        1.9634, // required
        -0.5847, // has_names
        0.2683, // names
        -1.3717, // missing_names
        -0.3876, // missing_words
        -0.2490, // background_deviations
        -2.2007, // long
        -0.2420, // long_similarity
        -0.2750, // long_coverage
        -0.0507, // long_both
        -2.8247, // long_missing_words
        0.0743, // long_missing_names
        2.2402, // on_demand_1
        1.2137, // on_demand_3
        0.1686, // on_demand_5
        0.7929, // on_demand_lead
        -1.2511, // on_demand_coverage
        0.7383, // on_demand_words
        0.9053, // on_demand_long
    ]),
    covered: [
        0.0211, // similarity
        0.0388, // similarity_max
        -0.0696, // similarity_deviation
        0.6502, // coverage
        0.8941, // coverage_max
        0.0722, // passages
        -0.2364, // rank
        3.7045, // score
        -0.6253, // other_role
        -0.6427, // no_program
        -0.3681, // directories
        0.0242, // length
        0.7625, // name
        0.0570, // title
        0.6757, // exact
        0.2508, // required
        0.5473, // held_names
        0.6220, // on_demand
        0.3257, // on_demand_deviation
        -0.0152, // on_demand_missing
    ],
    uncovered: [
        -0.2336, // similarity
        0.0839, // similarity_max
        0.3346, // similarity_deviation
        -0.1568, // coverage
        1.3117, // coverage_max
        0.0321, // passages
        -0.1665, // rank
        2.1089, // score
        -1.0499, // other_role
        -0.7622, // no_program
        -0.3402, // directories
        0.0903, // length
        0.6471, // name
        -1.3651, // title
        0.2779, // exact
        0.8126, // required
        0.3397, // held_names
        0.8582, // on_demand
        0.6519, // on_demand_deviation
        0.9815, // on_demand_missing
    ],
    joint: (1.1661, [
        1.4494, // answer
        0.6952, // share
        0.3448, // below_best
        0.1643, // place
        -0.1003, // entropy
    ]),
};

/// Words, and meaning by the better model.
#[rustfmt::skip]
pub(super) const EMBEDDED: Models = Models {
    list: (-4.1507, [
        0.5139, // words
        -0.2278, // corpus
        2.4178, // similarity_1
        1.5943, // similarity_3
        0.0396, // similarity_5
        0.6820, // coverage_1
        0.2251, // coverage_3
        0.8831, // coverage_5
        1.7648, // both
        1.3928, // exact
        -0.5144, // title
        -0.0665, // name
        -0.9686, // has_required
        2.8471, // required
        -0.4715, // has_names
        -0.0153, // names
        -1.5686, // missing_names
        -0.1442, // missing_words
        -0.0928, // background_deviations
        -2.6507, // long
        1.3456, // long_similarity
        2.7162, // long_coverage
        1.2147, // long_both
        -6.5946, // long_missing_words
        0.0178, // long_missing_names
        0.0000, // on_demand_1
        0.0000, // on_demand_3
        0.0000, // on_demand_5
        0.0000, // on_demand_lead
        0.0000, // on_demand_coverage
        0.0000, // on_demand_words
        0.0000, // on_demand_long
    ]),
    covered: [
        -0.0484, // similarity
        0.1745, // similarity_max
        0.1324, // similarity_deviation
        0.8469, // coverage
        0.8746, // coverage_max
        -0.1731, // passages
        -0.0002, // rank
        5.1776, // score
        -0.4721, // other_role
        -0.4171, // no_program
        -0.3975, // directories
        0.0236, // length
        0.3765, // name
        -0.0463, // title
        0.7100, // exact
        0.0377, // required
        0.5126, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        0.4705, // similarity
        0.1895, // similarity_max
        0.7934, // similarity_deviation
        -0.0564, // coverage
        1.5262, // coverage_max
        0.0966, // passages
        -0.0024, // rank
        2.8904, // score
        -0.7238, // other_role
        -0.7217, // no_program
        -0.3333, // directories
        0.1179, // length
        0.8081, // name
        -0.8746, // title
        -0.3623, // exact
        1.3066, // required
        0.4627, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.0404, [
        1.4961, // answer
        0.6279, // share
        0.4431, // below_best
        0.2142, // place
        -0.0538, // entropy
    ]),
};
