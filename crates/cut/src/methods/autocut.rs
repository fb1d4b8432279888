//! `autocut`: the jumps of the curve against a straight line.

use crate::cut::{ALL_EQUAL, Cut, Value, them, too_few};
use crate::method::{Range, declare};
use crate::pool::{Pool, unit};
use crate::rule::{Rule, Want};

declare! {
    /// Keeps what comes before the n-th jump of the values, as Weaviate's autocut does.
    ///
    /// Position and value are scaled to [0, 1], so that the first candidate is at 0 and the last at 1. The difference,
    /// value minus position, has a local maximum wherever the values jump, and the cut comes before the `jumps`-th of them.
    /// The first candidate is never a maximum; the last one is when it exceeds the two before it. With fewer jumps, or when
    /// all values are equal, everything is kept. O(n).
    ///
    /// Source: `Autocut` in `entities/autocut/autocut.go` of Weaviate, which has it since 1.20, as of commit e3ab5815 of 2024
    /// (fewer than two candidates are kept as they are). Weaviate computes in single precision and this crate in double, so
    /// lists whose steps are equal but for rounding can differ: on a straight line every jump is a rounding error.
    pub struct Autocut = "autocut" on Score, "keeps what comes before the n-th jump of the values" {
        /// Jumps to pass; the cut is before the last of them.
        pub jumps: usize = 1, Range::Integer { min: 1, max: 1_000 };
    }
}

impl Rule for Autocut {
    fn strictness(&self, want: Want) -> Option<(&'static str, Value)> {
        Some(("jumps", Value::Integer(want as i64)))
    }

    fn cut(&self, pool: &Pool) -> Cut {
        // Mirrored, so that the first candidate is at 0 and the arithmetic equals the source's to the last bit.
        let ascending: Vec<f64> = pool.descending().iter().map(|value| -value).collect();
        let Some(values) = unit(&ascending) else {
            let reason = if pool.len() < 2 { too_few(pool.len()) } else { ALL_EQUAL };
            return Cut::new("autocut", pool, pool.len(), reason).with("jumps_found", 0_usize);
        };
        let maxima = jumps(&values);
        let found = maxima.len();
        // A struct can ask for 0 jumps; the source then returns the first maximum.
        let wanted = self.jumps.max(1);
        let cut = match maxima.get(wanted - 1) {
            Some(&(index, height)) => {
                let reason = match wanted {
                    1 => format!("the scores drop after {}", them(index)),
                    _ => format!("drop number {wanted} in the scores comes after {}", them(index)),
                };
                Cut::new("autocut", pool, index, reason).with("jump_index", index).with("jump_height", height)
            }
            None => Cut::new(
                "autocut",
                pool,
                pool.len(),
                match (wanted, found) {
                    (1, _) => "the scores have no clear drop".to_string(),
                    (_, 1) => format!("the scores drop clearly only once, not {wanted} times"),
                    _ => format!("the scores drop clearly {found} times, not {wanted}"),
                },
            ),
        };
        cut.with("jumps_found", found)
    }
}

/// The local maxima of (value − position), with their heights, in order. `values` ascend from 0 to 1.
fn jumps(values: &[f64]) -> Vec<(usize, f64)> {
    let last = values.len() - 1;
    let step = 1.0 / last as f64;
    let difference: Vec<f64> = values.iter().enumerate().map(|(index, value)| value - index as f64 * step).collect();
    let is_maximum = |index: usize| {
        let here = difference[index];
        let before = difference[index - 1];
        let other =
            if index == last { index.checked_sub(2).map(|i| difference[i]) } else { Some(difference[index + 1]) };
        here > before && other.is_some_and(|other| here > other)
    };
    (1..=last).filter(|&index| is_maximum(index)).map(|index| (index, difference[index])).collect()
}
