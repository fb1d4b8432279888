//! Keeping the best of many scored rows.

/// A row and its score as one number. It orders by score, and among equal scores puts the lower row first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl Key {
    pub(super) fn new(score: f32, row: u32) -> Self {
        let bits = score.to_bits();
        // Floats order like their bits once those of negative numbers are inverted.
        let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
        Self(u64::from(ordered) << 32 | u64::from(!row))
    }

    pub(super) fn row(self) -> u32 {
        !(self.0 as u32)
    }

    pub(super) fn score(self) -> f32 {
        let ordered = (self.0 >> 32) as u32;
        f32::from_bits(if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered })
    }
}

/// The `limit` best keys, in whatever order they are pushed.
#[derive(Debug)]
pub(super) struct Best {
    limit: usize,
    keys: Vec<Key>,
    floor: f32,
}

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, keys: Vec::with_capacity(2 * limit), floor: f32::NEG_INFINITY }
    }

    /// Rows with a score below this can no longer be among the best.
    pub(super) fn floor(&self) -> f32 {
        self.floor
    }

    pub(super) fn push(&mut self, key: Key) {
        if self.limit == 0 {
            return;
        }
        self.keys.push(key);
        if self.keys.len() == 2 * self.limit {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.keys.len() > self.limit {
            let (_, last, _) = self.keys.select_nth_unstable_by(self.limit - 1, |a, b| b.cmp(a));
            self.floor = last.score();
            self.keys.truncate(self.limit);
        }
    }

    /// Adds the keys of another selection.
    pub(super) fn merge(mut self, other: Self) -> Self {
        if self.limit > 0 {
            self.keys.extend(other.keys);
            self.shrink();
        }
        self
    }

    /// Returns the best keys, in no particular order.
    pub(super) fn into_keys(mut self) -> Vec<Key> {
        if self.limit > 0 {
            self.shrink();
        }
        self.keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_order_by_score_then_row(a in -2.0_f32..2.0, b in -2.0_f32..2.0, row_a: u32, row_b: u32) {
            let expected = a.total_cmp(&b).then(row_b.cmp(&row_a));
            prop_assert_eq!(Key::new(a, row_a).cmp(&Key::new(b, row_b)), expected);
            prop_assert_eq!((Key::new(a, row_a).score(), Key::new(a, row_a).row()), (a, row_a));
        }

        #[test]
        fn the_best_are_kept_in_any_split(
            scores in prop::collection::vec(-3_i8..3, 0..200),
            limit in 0_usize..20,
            split in 0_usize..200,
        ) {
            let keys: Vec<Key> = scores.iter().zip(0..).map(|(score, row)| Key::new(f32::from(*score), row)).collect();
            let split = split.min(keys.len());
            let collect = |keys: &[Key]| {
                let mut best = Best::new(limit);
                for key in keys {
                    if key.score() >= best.floor() {
                        best.push(*key);
                    }
                }
                best
            };
            let mut found = collect(&keys[..split]).merge(collect(&keys[split..])).into_keys();
            found.sort_unstable_by(|a, b| b.cmp(a));
            let mut expected = keys;
            expected.sort_unstable_by(|a, b| b.cmp(a));
            expected.truncate(limit);
            prop_assert_eq!(found, expected);
        }
    }
}
