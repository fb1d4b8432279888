//! The step at the end of what is kept, for lists on a scale that nothing measured.

use crate::pool::{Orientation, Pool};
use crate::reason::{figure, them};

/// The step from the last kept candidate to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// The value of the last kept candidate.
    pub last: f64,
    /// The value of the next one.
    pub next: f64,
    /// Its size in relation to the median of the list's other steps; `None` where that is 0 or there is no other.
    pub times: Option<f64>,
}

/// Times the median from which a step is clear, and below which it is none.
const CLEAR: f64 = 5.0;
const NONE: f64 = 2.0;

impl Step {
    /// The step after the first `keep` candidates; `None` at either end of the list. O(n log n).
    pub fn of(pool: &Pool, keep: usize) -> Option<Step> {
        let values = pool.values();
        let (&last, &next) = (values.get(keep.checked_sub(1)?)?, values.get(keep)?);
        let sizes = values.windows(2).map(|pair| (pair[0] - pair[1]).abs()).enumerate();
        let mut others: Vec<f64> = sizes.filter(|(at, _)| at + 1 != keep).map(|(_, size)| size).collect();
        others.sort_by(f64::total_cmp);
        let median = others.get(others.len() / 2).copied().filter(|&median| median > 0.0);
        Some(Step { last, next, times: median.map(|median| (last - next).abs() / median) })
    }

    /// What the step says, after "Kept 2 of 5: ".
    pub fn sentence(&self, pool: &Pool, keep: usize) -> String {
        let moves = if pool.orientation() == Orientation::Score { "falls" } else { "rises" };
        let from =
            format!("after {} the value {moves} from {} to {}", them(keep), figure(self.last), figure(self.next));
        match self.times {
            Some(times) if times < NONE => format!("{from}, which is no clear step"),
            Some(times) if times < CLEAR => format!("{from}, {times:.1} times the median step"),
            Some(times) => format!("{from}, a clear step ({times:.0} times the median)"),
            None => format!("{from}, a clear step"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_as_clear_as_it_is_larger_than_the_others() {
        let sentence = |values: &[f64], keep| {
            let pool = Pool::scores(values.iter().copied()).expect("sorted");
            Step::of(&pool, keep).map(|step| step.sentence(&pool, keep))
        };
        let logits = [-6.0, -6.1, -6.2, -8.2, -8.3, -8.4];
        let clear = "after them the value falls from -6.2 to -8.2, a clear step (20 times the median)";
        assert_eq!(sentence(&logits, 3).as_deref(), Some(clear));
        let none = "after it the value falls from -6 to -6.1, which is no clear step";
        assert_eq!(sentence(&logits, 1).as_deref(), Some(none));
        assert_eq!(
            sentence(&[5.0, 4.9, 4.6, 4.5], 2).as_deref(),
            Some("after them the value falls from 4.9 to 4.6, 3.0 times the median step")
        );
        assert_eq!(sentence(&[5.0, 1.0], 1).as_deref(), Some("after it the value falls from 5 to 1, a clear step"));
        assert_eq!((sentence(&logits, 0), sentence(&logits, 6), sentence(&[], 0)), (None, None, None));
        let distances = Pool::distances([0.1, 0.2, 0.9]).expect("sorted");
        assert!(Step::of(&distances, 2).expect("a step").sentence(&distances, 2).contains("rises from 0.2 to 0.9"));
    }
}
