//! Random numbers that are the same on every machine and in every version.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A stream of random numbers (ChaCha8) that depends on a seed, a purpose and a name alone: a collection's folds and resamples
/// stay the same whatever else is evaluated with it.
///
/// ```
/// use tamis_eval::Random;
/// let draw = || Random::new(7, "folds", "recipes").below(1000);
/// assert_eq!(draw(), draw());
/// ```
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of this seed, purpose and name, from its beginning.
    #[must_use]
    pub fn new(seed: u64, purpose: &str, name: &str) -> Self {
        // FNV-1a, separated by a byte that UTF-8 never contains.
        let bytes = purpose.bytes().chain([0xff]).chain(name.bytes());
        let stream =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Random(generator)
    }

    /// A number below `bound`, each equally likely; 0 for a bound of 0 (Lemire, *Fast random integer generation in an
    /// interval*, 2019).
    pub fn below(&mut self, bound: usize) -> usize {
        self.below_u64(bound as u64) as usize
    }

    /// [`Random::below`] for 64-bit numbers on every platform, from the same stream.
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        let reject_below = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if product as u64 >= reject_below {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts the values into a random order, each order equally likely (Fisher–Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_apart() {
        let draw = |seed, purpose, name| {
            let mut random = Random::new(seed, purpose, name);
            [random.below(1000), random.below(1000), random.below(1000)]
        };
        assert_eq!(draw(7, "folds", "a"), draw(7, "folds", "a"));
        assert_ne!(draw(7, "folds", "a"), draw(8, "folds", "a"));
        assert_ne!(draw(7, "folds", "a"), draw(7, "resamples", "a"));
        assert_ne!(draw(7, "folds", "a"), draw(7, "folds", "b"));
    }

    #[test]
    fn every_number_below_the_bound_comes_up() {
        let mut random = Random::new(1, "test", "");
        let mut counts = [0; 7];
        for _ in 0..7000 {
            counts[random.below(7)] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }

    #[test]
    fn a_shuffle_keeps_the_values() {
        let mut values: Vec<usize> = (0..50).collect();
        Random::new(3, "test", "").shuffle(&mut values);
        assert_ne!(values, (0..50).collect::<Vec<_>>());
        values.sort_unstable();
        assert_eq!(values, (0..50).collect::<Vec<_>>());
    }
}
