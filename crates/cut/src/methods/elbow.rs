//! `elbow`: the point of the curve that is farthest from its chord.

use crate::cut::{Cut, them, too_few};
use crate::method::declare;
use crate::pool::{Pool, unit};
use crate::rule::Rule;

/// Distance from the chord, in a unit square, below which a point lies on it. Rounding is far smaller, and a bend that
/// anyone would see far larger.
const ON_THE_CHORD: f64 = 1e-9;

declare! {
    /// Keeps what comes before the point of the curve that is farthest from the straight line between its ends.
    ///
    /// Position and value are scaled to [0, 1], so that the answer does not depend on their units. The first of equally
    /// far points wins. A point below the line is the first of the low values and is left out; a point above it is the
    /// last of the high ones and is kept. Fewer than three candidates, equal values and a straight line have no such point,
    /// and everything is kept. O(n).
    ///
    /// Source: the oldest of the elbow heuristics, known from choosing the number of clusters or components. The distance
    /// to the chord is the measure of Ramer (1972) and of Douglas and Peucker (1973) for simplifying curves.
    pub struct Elbow = "elbow" on Score, "keeps what comes before the point farthest from the chord of the curve" {}
}

impl Rule for Elbow {
    fn cut(&self, pool: &Pool) -> Cut {
        let Some((index, distance)) = unit(&pool.descending()).and_then(|values| farthest(&values)) else {
            let reason = match pool.len() {
                few @ (0 | 1) => too_few(few),
                2 => "two are too few to compare",
                _ => "the scores fall evenly, without a bend",
            };
            return Cut::new("elbow", pool, pool.len(), reason);
        };
        let keep = if distance < 0.0 { index } else { index + 1 };
        let reason = format!("the scores bend most after {}", them(keep));
        Cut::new("elbow", pool, keep, reason).with("elbow_index", index).with("chord_distance", distance)
    }
}

/// The point farthest from the chord and its vertical difference, positive above; `None` when all are on it. `values`
/// descend from 1 to 0, where the distance to the chord is that difference divided by √2.
fn farthest(values: &[f64]) -> Option<(usize, f64)> {
    let last = values.len() - 1;
    let mut farthest: Option<(usize, f64)> = None;
    for (index, value) in values.iter().enumerate() {
        let distance = value - (1.0 - index as f64 / last as f64);
        if distance.abs() > farthest.map_or(ON_THE_CHORD, |(_, distance)| distance.abs()) {
            farthest = Some((index, distance));
        }
    }
    farthest
}
