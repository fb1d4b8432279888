//! How memories fade: a factor on the value of what has a date, by its age.

/// value · 2^(−age / half-life): what is remembered counts less the longer ago it was.
///
/// Unlike [`Recency`](crate::Recency), which moves distances and ends at a floor, it is a factor on the fused value itself and
/// goes on for ever. What has no date does not fade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    /// Days after which half is left, above 0.
    pub half_life_days: f64,
}

impl Default for Decay {
    fn default() -> Self {
        Decay { half_life_days: 30.0 }
    }
}

/// Nanoseconds of a day.
const DAY_NS: f64 = 86_400e9;

/// Half-lives after which no more is taken away, so that the oldest values still have an order.
const LAST_HALF_LIFE: f64 = 1_000.0;

impl Decay {
    /// What is left after `age_days`, in (0, 1]. An age below 0 (a date in the future) and one that is not a number count as 0.
    pub fn after(&self, age_days: f64) -> f64 {
        let half_lives = age_days.max(0.0) / self.half_life_days;
        // Without an age there is nothing to fade by, also where the half-life is 0.
        if half_lives.is_nan() { 1.0 } else { (-half_lives.min(LAST_HALF_LIFE)).exp2() }
    }

    /// What is left at `now_ns` of what is dated `date_ns`, both in nanoseconds since 1970; all of what has no date.
    pub fn factor(&self, date_ns: Option<i64>, now_ns: i64) -> f64 {
        date_ns.map_or(1.0, |date| self.after((now_ns as f64 - date as f64) / DAY_NS))
    }

    /// `value` with `factor` of it left. What is not positive stays as it is: fading never raises a value.
    pub fn apply(value: f64, factor: f64) -> f64 {
        if value > 0.0 { value * factor } else { value }
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
    fn the_future_and_what_has_no_date_do_not_fade() {
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
