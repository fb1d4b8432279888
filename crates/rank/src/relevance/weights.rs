//! The weights of the models of relevance. `cargo xtask fit` writes this file.

use super::Models;

/// x
#[rustfmt::skip]
pub(super) const WORDS: Models = Models {
    list: (-4.0000, [
        0.0000, // words
        0.0000, // corpus
        0.0000, // similarity_1
        0.0000, // similarity_3
        0.0000, // similarity_5
        3.0000, // coverage_1
        0.0000, // coverage_3
        0.0000, // coverage_5
        0.0000, // both
        1.0000, // exact
        0.0000, // title
        0.0000, // name
        0.0000, // has_required
        0.0000, // required
        0.0000, // has_names
        0.0000, // names
        -1.0000, // missing_names
        -1.0000, // missing_words
        0.0000, // background_deviations
        0.0000, // long
        0.0000, // long_similarity
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
        0.0000, // similarity
        0.0000, // similarity_max
        0.0000, // similarity_deviation
        2.0000, // coverage
        2.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        3.0000, // exact
        1.0000, // required
        0.5000, // names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        0.0000, // similarity
        0.0000, // similarity_max
        0.0000, // similarity_deviation
        2.0000, // coverage
        2.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        3.0000, // exact
        1.0000, // required
        0.5000, // names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (0.0000, [
        0.9000, // answer
        0.8000, // share
        0.2000, // below_best
        -0.2000, // place
        0.0000, // entropy
    ]),
};

/// x
#[rustfmt::skip]
pub(super) const MEANING: Models = Models {
    list: (-4.0000, [
        0.0000, // words
        0.0000, // corpus
        2.0000, // similarity_1
        0.0000, // similarity_3
        0.0000, // similarity_5
        0.0000, // coverage_1
        0.0000, // coverage_3
        0.0000, // coverage_5
        0.0000, // both
        0.0000, // exact
        0.0000, // title
        0.0000, // name
        0.0000, // has_required
        0.0000, // required
        0.0000, // has_names
        0.0000, // names
        0.0000, // missing_names
        0.0000, // missing_words
        0.0000, // background_deviations
        0.0000, // long
        0.0000, // long_similarity
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
        1.0000, // similarity
        1.0000, // similarity_max
        0.0000, // similarity_deviation
        0.0000, // coverage
        0.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        0.0000, // exact
        0.0000, // required
        0.5000, // names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        1.0000, // similarity
        1.0000, // similarity_max
        0.0000, // similarity_deviation
        0.0000, // coverage
        0.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        0.0000, // exact
        0.0000, // required
        0.5000, // names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (0.0000, [
        0.9000, // answer
        0.8000, // share
        0.2000, // below_best
        -0.2000, // place
        0.0000, // entropy
    ]),
};

/// x
#[rustfmt::skip]
pub(super) const SCORES: Models = Models {
    list: (-4.0000, [
        0.0000, // words
        0.0000, // corpus
        2.0000, // similarity_1
        0.0000, // similarity_3
        0.0000, // similarity_5
        3.0000, // coverage_1
        0.0000, // coverage_3
        0.0000, // coverage_5
        1.0000, // both
        1.0000, // exact
        0.0000, // title
        0.0000, // name
        0.0000, // has_required
        0.0000, // required
        0.0000, // has_names
        0.0000, // names
        -1.0000, // missing_names
        -1.0000, // missing_words
        0.0000, // background_deviations
        0.0000, // long
        0.0000, // long_similarity
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
        1.0000, // similarity
        1.0000, // similarity_max
        0.0000, // similarity_deviation
        2.0000, // coverage
        2.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        3.0000, // exact
        1.0000, // required
        0.5000, // names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        1.0000, // similarity
        1.0000, // similarity_max
        0.0000, // similarity_deviation
        2.0000, // coverage
        2.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        3.0000, // exact
        1.0000, // required
        0.5000, // names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (0.0000, [
        0.9000, // answer
        0.8000, // share
        0.2000, // below_best
        -0.2000, // place
        0.0000, // entropy
    ]),
};

/// x
#[rustfmt::skip]
pub(super) const ON_DEMAND: Models = Models {
    list: (-4.0000, [
        0.0000, // words
        0.0000, // corpus
        2.0000, // similarity_1
        0.0000, // similarity_3
        0.0000, // similarity_5
        3.0000, // coverage_1
        0.0000, // coverage_3
        0.0000, // coverage_5
        1.0000, // both
        1.0000, // exact
        0.0000, // title
        0.0000, // name
        0.0000, // has_required
        0.0000, // required
        0.0000, // has_names
        0.0000, // names
        -1.0000, // missing_names
        -1.0000, // missing_words
        0.0000, // background_deviations
        0.0000, // long
        0.0000, // long_similarity
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
        1.0000, // similarity
        1.0000, // similarity_max
        0.0000, // similarity_deviation
        2.0000, // coverage
        2.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        3.0000, // exact
        1.0000, // required
        0.5000, // names
        3.0000, // on_demand
        0.3000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        1.0000, // similarity
        1.0000, // similarity_max
        0.0000, // similarity_deviation
        2.0000, // coverage
        2.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        3.0000, // exact
        1.0000, // required
        0.5000, // names
        3.0000, // on_demand
        0.3000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (0.0000, [
        0.9000, // answer
        0.8000, // share
        0.2000, // below_best
        -0.2000, // place
        0.0000, // entropy
    ]),
};

/// x
#[rustfmt::skip]
pub(super) const EMBEDDED: Models = Models {
    list: (-4.0000, [
        0.0000, // words
        0.0000, // corpus
        2.0000, // similarity_1
        0.0000, // similarity_3
        0.0000, // similarity_5
        3.0000, // coverage_1
        0.0000, // coverage_3
        0.0000, // coverage_5
        1.0000, // both
        1.0000, // exact
        0.0000, // title
        0.0000, // name
        0.0000, // has_required
        0.0000, // required
        0.0000, // has_names
        0.0000, // names
        -1.0000, // missing_names
        -1.0000, // missing_words
        0.0000, // background_deviations
        0.0000, // long
        0.0000, // long_similarity
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
        1.0000, // similarity
        1.0000, // similarity_max
        0.0000, // similarity_deviation
        2.0000, // coverage
        2.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        3.0000, // exact
        1.0000, // required
        0.5000, // names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    uncovered: [
        1.0000, // similarity
        1.0000, // similarity_max
        0.0000, // similarity_deviation
        2.0000, // coverage
        2.0000, // coverage_max
        -0.5000, // rank
        2.0000, // score
        -0.8000, // other_role
        0.0000, // length
        1.0000, // name
        0.7000, // title
        3.0000, // exact
        1.0000, // required
        0.5000, // names
        0.0000, // on_demand
        0.0000, // on_demand_deviation
        0.0000, // on_demand_missing
    ],
    joint: (0.0000, [
        0.9000, // answer
        0.8000, // share
        0.2000, // below_best
        -0.2000, // place
        0.0000, // entropy
    ]),
};
