//! The weights of the models of relevance. `cargo xtask fit` writes this file.

use super::Models;

/// Words alone.
#[rustfmt::skip]
pub(super) const WORDS: Models = Models {
    list: (-0.1569, [
        0.1971, // words
        -0.2268, // corpus
        0.0000, // similarity_1
        0.0000, // similarity_3
        0.0000, // similarity_5
        1.9019, // coverage_1
        1.6690, // coverage_3
        1.4948, // coverage_5
        0.0000, // both
        1.6980, // exact
        0.4292, // title
        1.7886, // name
        -1.5003, // has_required
        2.8347, // required
        -0.6695, // has_names
        0.3251, // names
        -2.1835, // missing_names
        -2.7518, // missing_words
        0.0000, // background_deviations
        0.2477, // long
        0.0000, // long_similarity
        15.2648, // long_coverage
        0.0000, // long_both
        -4.8179, // long_missing_words
        -0.9035, // long_missing_names
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
        0.4399, // coverage
        1.3335, // coverage_max
        -0.4585, // rank
        3.6913, // score
        -1.0606, // other_role
        0.0094, // length
        1.1938, // name
        0.5826, // title
        0.0084, // exact
        0.2540, // required
        0.7295, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        0.0000, // similarity
        0.0000, // similarity_max
        0.0000, // similarity_deviation
        0.6341, // coverage
        0.1439, // coverage_max
        -0.3109, // rank
        3.6699, // score
        -0.7765, // other_role
        0.0678, // length
        0.7306, // name
        -0.6490, // title
        0.9167, // exact
        1.5238, // required
        0.3190, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.3747, [
        1.3707, // answer
        0.6531, // share
        0.4414, // below_best
        0.2835, // place
        -0.2702, // entropy
    ]),
};

/// Meaning alone.
#[rustfmt::skip]
pub(super) const MEANING: Models = Models {
    list: (-4.0443, [
        0.0614, // words
        -0.0050, // corpus
        4.5276, // similarity_1
        0.8601, // similarity_3
        0.9830, // similarity_5
        0.0000, // coverage_1
        0.0000, // coverage_3
        0.0000, // coverage_5
        0.0000, // both
        0.0000, // exact
        0.0661, // title
        1.0373, // name
        0.0000, // has_required
        0.0000, // required
        -2.6425, // has_names
        3.2613, // names
        0.0000, // missing_names
        0.0000, // missing_words
        -0.2456, // background_deviations
        -3.0166, // long
        1.9456, // long_similarity
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
        0.0645, // similarity
        0.2880, // similarity_max
        -0.2110, // similarity_deviation
        0.0000, // coverage
        0.0000, // coverage_max
        -0.4889, // rank
        4.4216, // score
        -0.7202, // other_role
        0.0224, // length
        0.9770, // name
        0.5588, // title
        0.0000, // exact
        0.0000, // required
        1.2217, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        0.9144, // similarity
        1.8918, // similarity_max
        -0.0053, // similarity_deviation
        0.0000, // coverage
        0.0000, // coverage_max
        -0.2621, // rank
        3.0608, // score
        -0.9192, // other_role
        0.0840, // length
        0.8066, // name
        -0.9554, // title
        0.0000, // exact
        0.0000, // required
        0.6111, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.4651, [
        1.5680, // answer
        0.7078, // share
        0.3987, // below_best
        0.2752, // place
        -0.2419, // entropy
    ]),
};

/// Words, and meaning by the quick model.
#[rustfmt::skip]
pub(super) const SCORES: Models = Models {
    list: (-3.2380, [
        0.2093, // words
        -0.0731, // corpus
        2.0024, // similarity_1
        0.3505, // similarity_3
        0.4247, // similarity_5
        -0.6998, // coverage_1
        1.9195, // coverage_3
        1.0244, // coverage_5
        1.8938, // both
        0.8011, // exact
        -0.9367, // title
        1.2833, // name
        -1.2962, // has_required
        2.5631, // required
        -0.4824, // has_names
        0.0943, // names
        -2.8785, // missing_names
        -0.9020, // missing_words
        -0.2895, // background_deviations
        -2.1374, // long
        1.1352, // long_similarity
        4.7461, // long_coverage
        1.3048, // long_both
        -4.8183, // long_missing_words
        -0.2521, // long_missing_names
        0.0000, // on_demand_1
        0.0000, // on_demand_3
        0.0000, // on_demand_5
        0.0000, // on_demand_lead
        0.0000, // on_demand_coverage
        0.0000, // on_demand_words
        0.0000, // on_demand_long
    ]),
    covered: [
        0.0626, // similarity
        0.1964, // similarity_max
        -0.2104, // similarity_deviation
        0.4423, // coverage
        1.3200, // coverage_max
        -0.4508, // rank
        3.6263, // score
        -1.0786, // other_role
        0.0073, // length
        1.1856, // name
        0.5929, // title
        0.0392, // exact
        0.2736, // required
        0.7808, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        0.9885, // similarity
        1.8748, // similarity_max
        0.0054, // similarity_deviation
        1.4797, // coverage
        -0.0662, // coverage_max
        -0.2460, // rank
        2.6377, // score
        -1.0555, // other_role
        0.0729, // length
        0.9226, // name
        -0.6802, // title
        1.1142, // exact
        1.4342, // required
        -0.0912, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.4780, [
        1.3668, // answer
        0.6625, // share
        0.4350, // below_best
        0.2671, // place
        -0.3003, // entropy
    ]),
};

/// The same, and the better model on the first candidates.
#[rustfmt::skip]
pub(super) const ON_DEMAND: Models = Models {
    list: (-3.1571, [
        0.0511, // words
        -0.0927, // corpus
        1.9267, // similarity_1
        -0.4217, // similarity_3
        -0.3285, // similarity_5
        -0.7248, // coverage_1
        0.9136, // coverage_3
        0.2619, // coverage_5
        1.8868, // both
        0.7446, // exact
        -0.7407, // title
        0.7888, // name
        -1.1176, // has_required
        2.1518, // required
        -0.3539, // has_names
        -0.1109, // names
        -2.8291, // missing_names
        -0.9329, // missing_words
        -0.3629, // background_deviations
        -2.0130, // long
        0.4296, // long_similarity
        2.9966, // long_coverage
        0.6749, // long_both
        -5.4782, // long_missing_words
        0.2471, // long_missing_names
        0.4984, // on_demand_1
        0.5886, // on_demand_3
        0.6314, // on_demand_5
        1.6403, // on_demand_lead
        1.5342, // on_demand_coverage
        0.3048, // on_demand_words
        0.7572, // on_demand_long
    ]),
    covered: [
        -0.1138, // similarity
        -0.0632, // similarity_max
        -0.2959, // similarity_deviation
        0.3597, // coverage
        1.1297, // coverage_max
        -0.3790, // rank
        3.2575, // score
        -1.1056, // other_role
        0.0091, // length
        1.0577, // name
        0.3542, // title
        -0.0340, // exact
        0.2212, // required
        0.7112, // held_names
        0.6980, // on_demand
        0.4189, // on_demand_deviation
        0.2540, // on_demand_missing
    ],
    uncovered: [
        0.4319, // similarity
        1.0758, // similarity_max
        0.0958, // similarity_deviation
        1.5144, // coverage
        -0.6658, // coverage_max
        -0.1772, // rank
        2.2989, // score
        -1.2451, // other_role
        0.0799, // length
        0.6795, // name
        -1.5881, // title
        0.9700, // exact
        1.3360, // required
        -0.1679, // held_names
        0.7247, // on_demand
        0.6818, // on_demand_deviation
        1.1322, // on_demand_missing
    ],
    joint: (1.6319, [
        1.3606, // answer
        0.6589, // share
        0.4315, // below_best
        0.2626, // place
        -0.3665, // entropy
    ]),
};

/// Words, and meaning by the better model.
#[rustfmt::skip]
pub(super) const EMBEDDED: Models = Models {
    list: (-5.7331, [
        0.3934, // words
        -0.0816, // corpus
        4.4102, // similarity_1
        -0.1889, // similarity_3
        -0.2715, // similarity_5
        0.1546, // coverage_1
        1.9012, // coverage_3
        0.9924, // coverage_5
        2.1232, // both
        0.6868, // exact
        -0.5720, // title
        0.7082, // name
        -1.1635, // has_required
        2.3575, // required
        -0.4948, // has_names
        0.0859, // names
        -2.7695, // missing_names
        0.3991, // missing_words
        -0.1234, // background_deviations
        -1.8082, // long
        0.7827, // long_similarity
        3.8458, // long_coverage
        0.7731, // long_both
        -6.1919, // long_missing_words
        0.7779, // long_missing_names
        0.0000, // on_demand_1
        0.0000, // on_demand_3
        0.0000, // on_demand_5
        0.0000, // on_demand_lead
        0.0000, // on_demand_coverage
        0.0000, // on_demand_words
        0.0000, // on_demand_long
    ]),
    covered: [
        0.2568, // similarity
        0.2903, // similarity_max
        -0.0584, // similarity_deviation
        0.7906, // coverage
        0.8546, // coverage_max
        0.2916, // rank
        6.4620, // score
        -0.8341, // other_role
        -0.0011, // length
        0.6805, // name
        -0.3952, // title
        0.8446, // exact
        -0.0118, // required
        0.6571, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        0.9753, // similarity
        1.7859, // similarity_max
        0.1037, // similarity_deviation
        0.4599, // coverage
        1.0567, // coverage_max
        -0.2688, // rank
        2.8114, // score
        -0.7993, // other_role
        0.0640, // length
        0.3000, // name
        -0.6106, // title
        0.8353, // exact
        1.4248, // required
        -0.0713, // held_names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (1.3224, [
        1.3920, // answer
        0.6133, // share
        0.4970, // below_best
        0.3108, // place
        -0.2104, // entropy
    ]),
};
