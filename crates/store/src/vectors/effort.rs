//! The amount of work of a scan.

use super::kernels::Instructions;

/// The amount of work of a scan, and the instructions for it.
///
/// The defaults were measured on vectors of real text: see `docs/research/vector-codes.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Up to this many passages are all scored by int8 codes, so that the background covers all of them.
    pub exact_rows: usize,
    /// The number of passages that pass from the sign codes of a larger corpus to the int8 codes; `None` chooses by the sizes of
    /// corpus and answer.
    pub depth: Option<usize>,
    /// The number of passages that the background of a larger corpus is measured on.
    pub sample: usize,
    /// The processor instructions. They only change the time.
    pub instructions: Instructions,
    /// True if a scan of many rows of the tail is divided among threads. A thread that waits for its share may begin something else.
    pub in_parallel: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { exact_rows: 32_768, depth: None, sample: 8_192, instructions: Instructions::best(), in_parallel: true }
    }
}

impl Effort {
    /// The number of `rows` that pass from the first stage to the second when `count` are wanted.
    ///
    /// At a fixed depth recall falls slowly as a corpus grows. The square root more than compensates.
    pub(super) fn depth(&self, rows: usize, count: usize) -> usize {
        let chosen = || count.saturating_mul(4).max(3_000).max(5 * rows.isqrt());
        self.depth.unwrap_or_else(chosen).clamp(1, rows.max(1))
    }
}
