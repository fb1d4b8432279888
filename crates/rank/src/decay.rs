//! Exponential decay of a value with age.

use crate::age::age_days;
use crate::role::lowered;

/// Decay of memories: value · 2^(−age / half-life).
///
/// Unlike [`Recency`](crate::Recency), which moves distances and ends at a floor, it multiplies the fused value and goes on for
/// ever. Undated memories do not decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    /// Half-life in days, above 0.
    pub half_life_days: f64,
}

impl Default for Decay {
    fn default() -> Self {
        Decay { half_life_days: 30.0 }
    }
}

/// Half-lives after which decay stops, so that the oldest values still have an order.
const LAST_HALF_LIFE: f64 = 1_000.0;

impl Decay {
    /// The factor after `age_days`, in (0, 1]. An age below 0 (a date in the future), or one that is not a number, counts as 0.
    pub fn after(&self, age_days: f64) -> f64 {
        let half_lives = age_days.max(0.0) / self.half_life_days;
        // An age of 0 does not decay, even with a half-life of 0.
        if half_lives.is_nan() { 1.0 } else { (-half_lives.min(LAST_HALF_LIFE)).exp2() }
    }

    /// The factor at `now_ns` for the date `date_ns`, both in nanoseconds since 1970; 1 without a date.
    pub fn factor(&self, date_ns: Option<i64>, now_ns: i64) -> f64 {
        date_ns.map_or(1.0, |date| self.after(age_days(date, now_ns)))
    }

    /// `value` times `factor`. A value that is not positive stays as it is, so that decay never raises it.
    pub fn apply(value: f64, factor: f64) -> f64 {
        lowered(value, factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: i64 = 86_400_000_000_000;

    #[test]
    fn half_is_left_after_the_half_life_and_a_quarter_after_two() {
        let decay = Decay::default();
        assert_eq!((decay.after(0.0), decay.after(30.0), decay.after(60.0)), (1.0, 0.5, 0.25));
        assert!((decay.after(15.0) - 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(decay.factor(Some(10 * DAY), 40 * DAY), 0.5);
        assert_eq!(Decay { half_life_days: 7.0 }.factor(Some(0), 7 * DAY), 0.5);
    }

    #[test]
    fn the_future_and_the_undated_do_not_decay() {
        let decay = Decay::default();
        assert_eq!(decay.factor(Some(20 * DAY), 10 * DAY), 1.0);
        assert_eq!(decay.factor(None, i64::MAX), 1.0);
        assert_eq!(decay.after(f64::NAN), 1.0);
    }

    #[test]
    fn the_oldest_are_still_in_their_order_and_nothing_overflows() {
        let decay = Decay { half_life_days: 0.1 };
        let factor = decay.factor(Some(i64::MIN), i64::MAX);
        assert!(factor > 0.0 && Decay::apply(0.8, factor) > Decay::apply(0.7, factor));
    }

    #[test]
    fn what_is_not_positive_is_not_raised() {
        assert_eq!(Decay::apply(-0.2, 0.5), -0.2);
        assert_eq!(Decay::apply(0.0, 0.5), 0.0);
        assert_eq!(Decay::apply(1.5, 0.5), 0.75);
    }

    proptest! {
        #[test]
        fn the_older_the_less_and_never_more_than_there_was(age in -50.0..40_000.0f64, more in 0.0..900.0f64, value in -1.0..2.0f64) {
            let decay = Decay::default();
            prop_assert!(decay.after(age + more) <= decay.after(age));
            prop_assert!((0.0..=1.0).contains(&decay.after(age)));
            prop_assert!(Decay::apply(value, decay.after(age)) <= value);
        }
    }
}
