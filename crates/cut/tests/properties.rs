//! Properties of every method on any list.

use proptest::prelude::*;
use tamis_cut::{
    AdaptiveK, Auto, Autocut, Background, BackgroundShare, Cut, Elbow, Evidence, Fixed, Gate, Kneedle, METHODS, MaxGap,
    Orientation, Otsu, Percentile, Pick, Pool, Relative, Rule, TopScore, parse,
};

/// Every method with its defaults.
fn rules() -> Vec<Box<dyn Rule>> {
    METHODS.iter().map(|method| parse(method.name).expect("a method parses by its own name")).collect()
}

/// Every method with parameters anywhere, in range or not.
fn wild_rules(number: f64, count: usize) -> Vec<Box<dyn Rule>> {
    vec![
        Box::new(Fixed { k: count }),
        Box::new(Percentile { share: number }),
        Box::new(MaxGap {
            min_candidates_for_gap: count,
            fallback_percentile: number,
            min_gap: number,
            floor: number,
            ceiling: -number,
            configured: number,
            adaptive: count.is_multiple_of(2),
        }),
        Box::new(TopScore {
            high_bound: number,
            low_bound: -number,
            high_multiplier: number,
            middle_multiplier: number,
            floor: number,
        }),
        Box::new(Kneedle { sensitivity: number, min_results: count, max_results: count / 2, pick: Pick::First }),
        Box::new(Autocut { jumps: count }),
        Box::new(AdaptiveK { buffer: count, ignored_tail: number }),
        Box::new(Relative { share: number }),
        Box::new(BackgroundShare { lambda: number }),
        Box::new(Auto {
            strictness: number,
            target_recall: number,
            min_precision: -number,
            budget_tokens: count,
            ..Auto::default()
        }),
        Box::new(Otsu {}),
        Box::new(Elbow {}),
    ]
}

/// Any number at all: ordinary similarities most often, and every odd bit pattern sometimes.
fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -1.0..1.5f64,
        2 => (0..8i32).prop_map(|tie| f64::from(tie) / 8.0),
        1 => any::<f64>(),
        1 => prop_oneof![
            Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::MAX), Just(f64::MIN),
            Just(5e-324), Just(-0.0),
        ],
    ]
}

/// A list that a pool accepts: best first, with values that are not finite anywhere.
fn any_list(orientation: Orientation) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(any_value(), 0..60).prop_map(move |mut values| {
        values.sort_by(|a, b| match orientation {
            Orientation::Score => b.total_cmp(a),
            Orientation::Distance => a.total_cmp(b),
        });
        values
    })
}

fn any_pool() -> impl Strategy<Value = Pool> {
    let orientation = prop_oneof![Just(Orientation::Score), Just(Orientation::Distance)];
    orientation.prop_flat_map(|orientation| {
        let background = prop::option::of((any_value(), any_value(), 0..100_000usize));
        (any_list(orientation), background).prop_map(move |(values, background)| {
            let pool = Pool::new(values, orientation).expect("the list is sorted");
            match background {
                Some((mean, deviation, count)) => {
                    pool.clone().with_background(Background { mean, deviation: deviation.abs(), count }).unwrap_or(pool)
                }
                None => pool,
            }
        })
    })
}

/// Checks the properties of any cut.
fn check(cut: &Cut, pool: &Pool) -> Result<(), TestCaseError> {
    prop_assert!(cut.keep <= pool.len());
    prop_assert_eq!((cut.candidates, cut.keep + cut.dropped), (pool.len(), cut.candidates));
    prop_assert_eq!(cut.dropped_non_finite, pool.dropped_non_finite());
    prop_assert!(!cut.reason.is_empty() && !cut.reason.contains('\n') && !cut.reason.contains("NaN"), "{}", cut.reason);
    let json = serde_json::to_value(cut).expect("a cut serializes");
    let nulls = json["diagnostics"].as_object().expect("an object").values().filter(|value| value.is_null()).count();
    prop_assert_eq!(nulls, 0);
    Ok(())
}

/// Every kept candidate passes the threshold and no other does.
fn check_threshold(cut: &Cut, pool: &Pool) -> Result<(), TestCaseError> {
    let Some(threshold) = cut.threshold else { return Ok(()) };
    prop_assert!(threshold.is_finite());
    let on = cut.diagnostics.get("threshold_on").and_then(|value| value.as_text());
    let passing = match on {
        Some("score") => pool.as_similarities().iter().filter(|&&score| score >= threshold).count(),
        Some("distance") => pool.as_distances().iter().filter(|&&distance| distance <= threshold).count(),
        other => return Err(TestCaseError::fail(format!("{} says threshold_on {other:?}", cut.method))),
    };
    prop_assert_eq!(cut.keep, passing, "{}", cut.method);
    Ok(())
}

/// Scores on a grid of 1/1024, so that scaling by powers of two and shifting by whole numbers is exact.
fn grid_scores() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0..4096i32, 0..60).prop_map(|mut values| {
        values.sort_by(|a, b| b.cmp(a));
        values.into_iter().map(|value| f64::from(value) / 1024.0).collect()
    })
}

/// The methods that depend on the shape of the list alone.
fn shape_rules() -> Vec<Box<dyn Rule>> {
    [
        "kneedle", "kneedle:pick=first", "autocut", "autocut:jumps=3", "adaptive_k", "adaptive_k:buffer=0", "otsu",
        "elbow",
    ]
    .iter()
    .map(|specification| parse(specification).expect("a valid specification"))
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_method_answers_any_pool_consistently(pool in any_pool()) {
        for rule in rules() {
            let cut = rule.cut(&pool);
            prop_assert_eq!(cut.method.as_str(), rule.name());
            check(&cut, &pool)?;
            check_threshold(&cut, &pool)?;
            prop_assert_eq!(&cut, &rule.clone().cut(&pool), "equal input, equal answer");
        }
    }

    #[test]
    fn no_parameter_makes_a_method_panic(pool in any_pool(), number in any_value(), count in prop_oneof![0..40usize, Just(usize::MAX)]) {
        for rule in wild_rules(number, count) {
            let cut = rule.cut(&pool);
            prop_assert!(cut.keep <= pool.len());
            prop_assert_eq!(cut.keep + cut.dropped, pool.len());
        }
    }

    #[test]
    fn a_shape_does_not_depend_on_scale_offset_or_orientation(
        scores in grid_scores(), exponent in -20..20i32, offset in -1000..1000i32,
    ) {
        let pool = Pool::scores(scores.iter().copied()).unwrap();
        let moved = scores.iter().map(|score| (score + f64::from(offset)) * 2f64.powi(exponent));
        let moved = Pool::scores(moved).unwrap();
        let mirrored = Pool::distances(scores.iter().map(|score| -score)).unwrap();
        for rule in shape_rules() {
            let keep = rule.cut(&pool).keep;
            prop_assert_eq!(keep, rule.cut(&moved).keep, "{} moved", rule.name());
            prop_assert_eq!(keep, rule.cut(&mirrored).keep, "{} mirrored", rule.name());
        }
    }

    #[test]
    fn background_moves_with_its_background(
        scores in grid_scores(), mean in 0..4096i32, lambda in 0..=64i32, exponent in -20..20i32, offset in -1000..1000i32,
    ) {
        // A share in 64ths keeps the threshold exact, so that ties at it fall the same way.
        let rule = BackgroundShare { lambda: f64::from(lambda) / 64.0 };
        let moved = |value: f64| (value + f64::from(offset)) * 2f64.powi(exponent);
        let mean = f64::from(mean) / 1024.0;
        let background = |mean| Background { mean, deviation: 1.0, count: 100 };
        let pool = Pool::scores(scores.iter().copied()).unwrap();
        let moved_pool = Pool::scores(scores.iter().copied().map(moved)).unwrap();
        prop_assert_eq!(rule.cut(&pool).keep, rule.cut(&moved_pool).keep, "estimated");
        let pool = pool.with_background(background(mean)).unwrap();
        let moved_pool = moved_pool.with_background(background(moved(mean))).unwrap();
        prop_assert_eq!(rule.cut(&pool).keep, rule.cut(&moved_pool).keep, "measured");
    }

    #[test]
    fn background_does_not_depend_on_the_depth_of_the_pool(
        scores in grid_scores(), more in grid_scores(), mean in 0..4096i32, lambda in 0.0..1.0f64,
    ) {
        let rule = BackgroundShare { lambda };
        let background = Background { mean: f64::from(mean) / 1024.0, deviation: 0.1, count: 100 };
        let last = scores.last().copied().unwrap_or(4.0);
        let shallow = Pool::scores(scores.iter().copied()).unwrap().with_background(background).unwrap();
        let deeper = scores.iter().chain(more.iter().filter(|&&value| value <= last)).copied();
        let deep = Pool::scores(deeper).unwrap().with_background(background).unwrap();
        let keep = rule.cut(&shallow).keep;
        if keep < shallow.len() {
            prop_assert_eq!(keep, rule.cut(&deep).keep);
        }
    }

    #[test]
    fn a_stricter_parameter_keeps_a_prefix(pool in any_pool(), a in 0.0..1.0f64, b in 0.0..1.0f64) {
        let (low, high) = (a.min(b), a.max(b));
        let background = |lambda| BackgroundShare { lambda }.cut(&pool).keep;
        prop_assert!(background(high) <= background(low));
        let relative = |share| Relative { share }.cut(&pool).keep;
        prop_assert!(relative(high) <= relative(low));
        let percentile = |share| Percentile { share }.cut(&pool).keep;
        prop_assert!(percentile(low) <= percentile(high));
        let configured = |configured| MaxGap { adaptive: false, configured, ..MaxGap::default() }.cut(&pool).keep;
        prop_assert!(configured(low) <= configured(high));
    }

    #[test]
    fn max_gap_never_keeps_beyond_its_ceiling_nor_drops_within_its_floor(pool in any_pool()) {
        let keep = MaxGap::default().cut(&pool).keep;
        for (rank, distance) in pool.as_distances().into_iter().enumerate() {
            prop_assert!(rank >= keep || distance <= 0.65, "kept at distance {}", distance);
            prop_assert!(rank < keep || distance > 0.15, "dropped at distance {}", distance);
        }
    }

    #[test]
    fn the_gate_judges_any_evidence(
        coverage in prop::option::of(any_value()), best in prop::option::of(any_value()),
        reference in prop::option::of(any_value()), mean in any_value(), deviation in any_value(),
        count in any::<usize>(), known in any::<bool>(), required in prop::option::of(any_value()), min_evidence in any_value(), min_coverage in any_value(),
    ) {
        let background = known.then_some(Background { mean, deviation, count });
        let evidence = Evidence { coverage, best_similarity: best, background, reference, required, exact: false };
        let verdict = Gate { min_evidence, min_coverage, ..Gate::default() }.judge(&evidence);
        prop_assert!(!verdict.reason.is_empty());
        prop_assert!(verdict.diagnostics.values().all(|value| value.as_number().is_some_and(f64::is_finite)));
    }

    #[test]
    fn more_evidence_never_closes_the_gate(coverage in 0.0..1.0f64, best in -1.0..1.0f64, more in 0.0..1.0f64) {
        let background = Some(Background { mean: 0.1, deviation: 0.08, count: 5_000 });
        let evidence = Evidence { coverage: Some(coverage), best_similarity: Some(best), background, reference: Some(0.6), required: None, exact: false };
        if !Gate::default().judge(&evidence).empty {
            let better = Evidence { best_similarity: Some(best + more), ..evidence };
            prop_assert!(!Gate::default().judge(&better).empty);
            let better = Evidence { coverage: Some(coverage + more), ..evidence };
            prop_assert!(!Gate::default().judge(&better).empty);
        }
    }

    #[test]
    fn any_text_parses_or_says_what_is_allowed(text in "[a-z_]{0,12}(:[a-z_]{0,8}=?[-0-9.a-z,=]{0,12})?|.{0,40}") {
        match parse(&text) {
            Ok(rule) => prop_assert!(parse(&rule.to_string()).is_ok()),
            Err(error) => prop_assert!(error.to_string().len() > 20),
        }
    }
}
