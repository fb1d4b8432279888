//! Lists whose cut was computed by hand, and those at the edges of each method.

use tamis_cut::{Pool, parse};

#[test]
fn scores_are_cut_where_the_definition_says() {
    let stairs = &[4.0, 4.0, 2.0, 2.0, 0.0, 0.0][..];
    let drop = &[0.9, 0.85, 0.8, 0.4, 0.35, 0.3, 0.25, 0.2];
    // Ten drops, of which the last is ignored; without the first value nine, of which floor(0.9) = 0 are.
    let tail = &[1.0, 0.89, 0.88, 0.87, 0.86, 0.85, 0.84, 0.83, 0.82, 0.81, 0.0];
    let line: Vec<f64> = (0..11).map(|i| 0.9 - 0.07 * f64::from(i)).collect();
    let ties = &[0.9, 0.5, 0.5, 0.5, 0.1];
    let signs = &[1.0, 0.8, 0.5, 0.4, -0.1];
    for (specification, scores, keep) in [
        ("fixed:k=3", &[0.0, -1.0][..], 2),
        ("fixed:k=3", &[0.0, -1.0, -2.0], 3),
        ("fixed:k=3", stairs, 3),
        ("fixed:k=1", stairs, 1),
        // Normalised: 0, 0.1, 0.9, 1 against 0, 1/3, 2/3, 1: difference 0, -0.23, 0.23, 0.
        ("autocut", &[10.0, 9.0, 1.0, 0.0], 2),
        // Two jumps: 0, 0, 0.5, 0.5, 1, 1 against fifths: 0, -0.2, 0.1, -0.1, 0.2, 0.
        ("autocut", stairs, 2),
        ("autocut:jumps=2", stairs, 4),
        ("autocut:jumps=3", stairs, 6),
        // Convex from the start: 0, 0.8, 0.9, 1 against thirds has its maximum right at the second.
        ("autocut", &[10.0, 2.0, 1.0, 0.0], 1),
        // Concave: 0, 0.1, 0.3, 1 against thirds: 0, -0.23, -0.37, 0. The last exceeds the two before it.
        ("autocut", &[10.0, 9.0, 7.0, 0.0], 3),
        ("autocut:jumps=2", &[10.0, 9.0, 7.0, 0.0], 4),
        ("autocut", &[0.5; 6], 6),
        ("autocut", &[0.5], 1),
        ("autocut", &[0.5, 0.1], 2),
        // Before the largest drop, and the buffer.
        ("adaptive_k:buffer=0", drop, 3),
        ("adaptive_k:buffer=1", drop, 4),
        ("adaptive_k:buffer=5", drop, 8),
        ("adaptive_k:buffer=1000000", drop, 8),
        ("adaptive_k:buffer=0", tail, 1),
        ("adaptive_k:buffer=0", &tail[1..], 9),
        ("adaptive_k:buffer=0", &[0.3], 1),
        ("adaptive_k:buffer=0", &[0.3, 0.1], 1),
        // The first of equal drops, as in the source.
        ("adaptive_k:buffer=0", &[0.3; 9], 1),
        ("adaptive_k:buffer=5", &[0.3; 9], 6),
        ("otsu", &[0.4], 1),
        ("otsu", &[0.4, 0.4, 0.4], 3),
        ("otsu", &[0.4, 0.3], 1),
        ("otsu", &[9.0, 8.0, 1.0, 0.0], 2),
        // 10 | 6 5 0: 3/16 * (10 - 11/3)^2 = 7.5; 10 6 | 5 0: 4/16 * 5.5^2 = 7.56; 10 6 5 | 0: 3/16 * 7^2 = 9.19.
        ("otsu", &[10.0, 6.0, 5.0, 0.0], 3),
        // Equal splits (2 | 1 0 and 2 1 | 0 both give 2/9 * 2.25): the first.
        ("otsu", &[2.0, 1.0, 0.0], 1),
        // Ties are never split.
        ("otsu", &[1.0, 0.5, 0.5, 0.5, 0.5, 0.0], 1),
        ("otsu", &[1.0, 1.0, 1.0, 0.0], 3),
        // Convex: 1, 0.2, 0.1, 0 against 1, 2/3, 1/3, 0: differences 0, -0.47, -0.23, 0.
        ("elbow", &[10.0, 2.0, 1.0, 0.0], 1),
        // Plateau and cliff: 1, 0.95, 0.9, 0.1, 0 against quarters: 0, 0.2, 0.4, -0.15, 0.
        ("elbow", &[1.0, 0.95, 0.9, 0.1, 0.0], 3),
        // Concave: 1, 0.9, 0.8, 0: the last before the fall is kept.
        ("elbow", &[10.0, 9.0, 8.0, 0.0], 3),
        // Without a bend, everything.
        ("elbow", &line, 11),
        ("elbow", &[0.4], 1),
        ("elbow", &[0.4, 0.1], 2),
        ("elbow", &[0.4; 5], 5),
        ("percentile:share=0.2", ties, 4),
        ("relative:share=1", signs, 1),
        ("relative:share=0.8", signs, 2),
        ("relative:share=0.5", signs, 3),
        ("relative:share=0.45", signs, 3),
        ("relative:share=0.1", signs, 4),
        ("relative:share=0", signs, 4),
        // A best score that is not positive keeps nothing.
        ("relative", &[0.0, 0.0], 0),
        ("relative", &[-0.1, -0.2], 0),
    ] {
        let cut = parse(specification).unwrap().cut(&Pool::scores(scores.iter().copied()).unwrap());
        assert_eq!(cut.keep, keep, "{specification} of {scores:?}");
        let has_threshold = keep > 0 && !specification.starts_with("fixed");
        assert!(has_threshold || cut.threshold.is_none(), "{specification} of {scores:?}: {cut:?}");
    }
}

#[test]
fn distances_are_cut_where_the_definition_says() {
    let quarters = &[0.1, 0.2, 0.3, 0.4][..];
    // The example of the source.
    let source = &[0.1899, 0.1901, 0.191, 0.21, 0.215, 0.23][..];
    for (specification, distances, keep, threshold) in [
        ("autocut:jumps=1", source, 3, None),
        ("autocut:jumps=2", source, 5, None),
        ("autocut:jumps=3", source, 6, None),
        // The value at the share.
        ("percentile:share=0", quarters, 1, Some(0.1)),
        ("percentile:share=0.25", quarters, 2, Some(0.2)),
        ("percentile:share=0.5", quarters, 3, Some(0.3)),
        ("percentile:share=0.75", quarters, 4, Some(0.4)),
        ("percentile:share=1", quarters, 4, Some(0.4)),
        ("otsu", &[0.25, 0.25, 0.75], 2, Some(0.25)),
        ("relative", &[1.0, 1.2], 0, None),
    ] {
        let cut = parse(specification).unwrap().cut(&Pool::distances(distances.iter().copied()).unwrap());
        assert_eq!(cut.keep, keep, "{specification} of {distances:?}");
        assert!(threshold.is_none() || cut.threshold == threshold, "{specification} of {distances:?}: {cut:?}");
        if specification == "otsu" {
            assert_eq!(cut.diagnostics["threshold_on"].as_text(), Some("distance"));
            let separability = cut.diagnostics["separability"].as_number().unwrap();
            assert!((separability - 1.0).abs() < 1e-12, "a perfect split explains everything: {separability}");
        }
    }
}
