//! Numbers that look random, the same in every run.

/// A linear congruential generator (Knuth's MMIX), of which the high bits are used.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }

    /// A number in `0..1`.
    pub fn unit(&mut self) -> f32 {
        self.next() as f32 / (1u64 << 31) as f32
    }

    /// Shuffles after Fisher and Yates.
    pub fn shuffle<T>(&mut self, order: &mut [T]) {
        for last in (1..order.len()).rev() {
            order.swap(last, self.below(last + 1));
        }
    }
}
