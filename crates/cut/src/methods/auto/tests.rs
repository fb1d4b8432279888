use proptest::prelude::*;

use super::*;
use crate::pool::Background;

const BACKGROUND: Background = Background { mean: 0.2, deviation: 0.05, count: 1000 };

fn pool(scores: &[f64]) -> Pool {
    Pool::scores(scores.iter().copied()).unwrap().with_background(BACKGROUND).unwrap()
}

fn at(level: f64) -> Relevance {
    Relevance { level, spread: 0.1, ..Relevance::default() }
}

/// A cluster at the top, one more cluster, and a tail.
fn list() -> Vec<f64> {
    let mut scores = vec![0.95, 0.9, 0.72, 0.7, 0.69, 0.68, 0.66, 0.65];
    scores.extend((0..40).map(|rank| 0.45 - 0.005 * f64::from(rank)));
    scores
}

#[test]
fn the_same_list_is_cut_by_the_level_of_the_collection() {
    let keep = |level| Auto::default().cut(&pool(&list()).with_relevance(at(level))).keep;
    assert!(keep(0.95) <= 2, "{}", keep(0.95));
    assert_eq!(keep(0.45), 8);
}

#[test]
fn a_model_of_numbers_that_make_no_sense_still_ends() {
    let sane = Relevance::default();
    for number in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300, 1e300] {
        for relevance in [
            Relevance { level: number, ..sane },
            Relevance { spread: number, ..sane },
            Relevance { softness: number, ..sane },
            Relevance { ceiling: number, ..sane },
        ] {
            let cut = Auto::default().cut(&pool(&list()).with_relevance(relevance));
            assert!(cut.keep <= list().len(), "{relevance:?}");
        }
    }
}

#[test]
fn given_probabilities_decide_alone_by_what_is_wanted() {
    let given = |probabilities: &[f64]| pool(&list()).with_probabilities(probabilities.to_vec());
    let keep = |want, probabilities: &[f64]| Auto { want, ..Auto::default() }.cut(&given(probabilities)).keep;
    let falling = [0.7, 0.3, 0.2, 0.1, 0.05, 0.01];
    let kept = [Want::One, Want::Auto, Want::All].map(|want| keep(want, &falling));
    assert_eq!(kept[0], 1);
    assert!(kept[0] < kept[1] && kept[1] < kept[2], "{kept:?}");
    assert_eq!(keep(Want::Best, &falling), kept[1]);
    assert_eq!(keep(Want::Auto, &[0.3]), 1, "the gate has decided that something passes");
    let precise = Auto { min_precision: 0.6, ..Auto::default() }.cut(&given(&falling));
    assert_eq!(precise.keep, 1);
    assert_eq!(precise.probabilities[..2], [0.7, 0.3]);
    let refused = Auto { min_precision: 0.8, ..Auto::default() }.cut(&given(&falling));
    assert_eq!(refused.keep, 0);
    let budget = Auto { budget_tokens: 150, ..Auto::default() };
    assert_eq!(budget.cut(&given(&falling).with_sizes(vec![100; list().len()])).keep, 1);
    assert_eq!(budget.cut(&given(&falling).with_sizes(vec![200; list().len()])).keep, 0);
    let recall = Auto { target_recall: 0.9, ..Auto::default() }.cut(&given(&falling)).keep;
    assert!((3..6).contains(&recall), "{recall}");
}

#[test]
fn a_list_without_differences_is_kept_whole_unless_nothing_scored() {
    let keep = |scores: &[f64]| Auto::default().cut(&Pool::scores(scores.iter().copied()).unwrap()).keep;
    assert_eq!((keep(&[0.9, 0.899_999]), keep(&[0.9; 7])), (2, 7));
    assert_eq!((keep(&[0.0; 20]), keep(&[0.0])), (0, 0));
    assert_eq!(keep(&[0.9, 0.1]), 1);
    assert_eq!(Auto::default().cut(&Pool::distances([0.0, 0.0]).unwrap()).keep, 2);
}

#[test]
fn the_asker_decides_when_the_asker_says_what_is_wanted() {
    let keep = |want| Auto { want, ..Auto::default() }.cut(&pool(&list()).with_relevance(at(0.7))).keep;
    assert_eq!((keep(Want::One), keep(Want::All)), (2, 8));
    let cut = Auto { want: Want::All, ..Auto::default() }.cut(&pool(&list()));
    assert_eq!(cut.diagnostics["basis"].as_text(), Some("the amount asked for"));
}

#[test]
fn modes_bind() {
    let relevance = Relevance::default();
    let cut = |auto: Auto| auto.cut(&pool(&list()).with_relevance(relevance));
    let free = cut(Auto::default());
    let recall = cut(Auto { target_recall: 0.95, ..Auto::default() });
    assert!(recall.keep > free.keep && recall.diagnostics["expected_recall"].as_number() >= Some(0.95));
    let precise = cut(Auto { min_precision: 0.8, ..Auto::default() });
    assert!(precise.keep < free.keep && precise.diagnostics["expected_precision"].as_number() >= Some(0.8));
    let strict = cut(Auto { strictness: 3.0, ..Auto::default() });
    let lax = cut(Auto { strictness: 0.33, ..Auto::default() });
    assert!(strict.keep < lax.keep, "{} {}", strict.keep, lax.keep);
}

#[test]
fn a_budget_is_never_exceeded_and_counts_from_the_best() {
    let sizes = vec![100; list().len()];
    let lax = at(0.4);
    for (budget, most) in [(50, 0), (100, 1), (350, 3), (100_000, 48)] {
        let pool = pool(&list()).with_sizes(sizes.clone()).with_relevance(lax);
        let cut = Auto { budget_tokens: budget, ..Auto::default() }.cut(&pool);
        assert!(cut.keep <= most, "{budget}: {}", cut.keep);
    }
}

#[test]
fn a_budget_below_the_best_candidate_is_said_to_be_the_reason() {
    let pool = |values: &[f64]| pool(values).with_sizes(vec![100; values.len()]).with_relevance(at(0.4));
    let short = Auto { budget_tokens: 50, ..Auto::default() };
    let cut = short.cut(&pool(&list()));
    assert_eq!(cut.keep, 0);
    for part in ["has 100 tokens", "budget is 50", "raise the budget"] {
        assert!(cut.reason.contains(part), "{}", cut.reason);
    }
    let enough = Auto { budget_tokens: 100, ..Auto::default() }.cut(&pool(&list()));
    assert!(enough.keep == 1 && !enough.reason.contains("raise"), "{}", enough.reason);
    let irrelevant = short.cut(&pool(&[0.2, 0.1]));
    assert!(irrelevant.keep == 0 && !irrelevant.reason.contains("raise"), "{}", irrelevant.reason);
}

#[test]
fn nothing_above_the_background_keeps_nothing_and_one_above_it_is_kept() {
    assert_eq!([Auto::default().cut(&pool(&[0.2, 0.1])).keep, Auto::default().cut(&pool(&[0.9])).keep], [0, 1]);
    assert_eq!(Auto::default().cut(&Pool::scores([]).unwrap()).keep, 0);
}

#[test]
fn the_reason_is_plain_and_the_figures_are_in_the_diagnostics() {
    let cut = Auto::default().cut(&pool(&list()));
    assert_eq!((cut.keep, cut.reason.as_str()), (8, "the next is much less likely"));
    assert_eq!(cut.probabilities.len(), list().len());
    assert!(cut.probabilities.windows(2).all(|pair| pair[0] >= pair[1]));
    assert!(cut.probabilities.iter().all(|probability| (0.0..=1.0).contains(probability)));
    for name in ["expected_precision", "expected_recall", "probability_at_cut", "next_probability"] {
        assert!(cut.diagnostics[name].as_number().is_some_and(|share| (0.0..=1.0).contains(&share)), "{name}");
    }
    assert_eq!(cut.diagnostics["basis"].as_text(), Some("built-in constants"));
}

#[test]
fn a_background_that_is_not_known_is_said_to_be_estimated() {
    let cut = Auto::default().cut(&Pool::scores(list()).unwrap());
    assert!(cut.reason.ends_with("; judged from this list alone"), "{}", cut.reason);
    assert_eq!(cut.diagnostics["background"].as_text(), Some("estimated"));
}

#[test]
fn the_depth_of_the_pool_hardly_matters() {
    let scores: Vec<f64> = (0..400).map(|rank| 0.25 + 0.7 * (-f64::from(rank) / 25.0).exp()).collect();
    let keep = |depth: usize| Auto::default().cut(&pool(&scores[..depth])).keep as f64;
    let deep = keep(400);
    for depth in [50, 100, 200] {
        assert!((keep(depth) - deep).abs() <= 0.15 * deep + 1.0, "{depth}: {} of {deep}", keep(depth));
    }
}

fn reason(keep: usize, next: &[f64], aim: Aim) -> String {
    explain(keep, &[&vec![0.8; keep][..], next].concat(), aim)
}

#[test]
fn the_reason_says_what_ended_the_list() {
    for (keep, next, aim, expected) in [
        (4, &[0.2][..], Aim::BestF, "the next is much less likely"),
        (4, &[0.6], Aim::BestF, "the next is less likely"),
        (1, &[0.8], Aim::BestF, "the next is no more likely, and adding more would lower precision"),
        (4, &[], Aim::BestF, "nothing else was found"),
        (4, &[0.4], Aim::Budget(4000), "more would exceed the budget of 4,000 tokens"),
        (4, &[0.4], Aim::Precision(0.6), "more would fall below a precision of 60%"),
        (4, &[0.4], Aim::Recall(0.9), "all 4 probably include 90% of what is relevant"),
        (4, &[], Aim::RecallMissed(0.9), "even all 4 may include less than 90% of what is relevant"),
        (0, &[0.4], Aim::BestF, "nothing close enough"),
        (0, &[0.4], Aim::Precision(0.8), "nothing is likely enough for a precision of 80%"),
    ] {
        assert_eq!(reason(keep, next, aim), expected);
    }
}

proptest! {
    #[test]
    fn scaling_and_shifting_the_values_changes_nothing(scale in 0.01..100.0f64, shift in -50.0..50.0f64) {
        let moved = list().iter().map(|score| scale * score + shift).collect::<Vec<f64>>();
        let background = Background { mean: scale * BACKGROUND.mean + shift, ..BACKGROUND };
        let moved = Pool::scores(moved).unwrap().with_background(background).unwrap();
        prop_assert_eq!(Auto::default().cut(&moved).keep, Auto::default().cut(&pool(&list())).keep);
    }

    #[test]
    fn copies_of_a_passage_at_the_background_change_nothing(copies in 1..60usize, level in -0.5..0.2f64) {
        let mut scores = list();
        scores.extend(std::iter::repeat_n(level, copies));
        prop_assert_eq!(Auto::default().cut(&pool(&scores)).keep, Auto::default().cut(&pool(&list())).keep);
    }
}
