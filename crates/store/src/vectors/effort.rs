//! How much work a scan does.

use super::kernels::Instructions;

/// How much work a scan does, and with what.
///
/// The defaults were chosen by measurement on vectors of real text, see `docs/research/vector-codes.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Up to this many passages are all scored by their int8 codes, so that the background is of all of them.
    pub exact_rows: usize,
    /// How many passages the sign codes of a larger corpus leave for the int8 codes; `None` chooses by the size of the
    /// corpus and what is asked for.
    pub depth: Option<usize>,
    /// How many passages the background of a larger corpus is measured on.
    pub sample: usize,
    /// The instructions to scan with; they change the time and nothing else.
    pub instructions: Instructions,
}

impl Default for Effort {
    fn default() -> Self {
        Self { exact_rows: 32_768, depth: None, sample: 8_192, instructions: Instructions::best() }
    }
}

impl Effort {
    /// How many of `rows` the first stage hands to the second when `count` are asked for.
    ///
    /// At one depth recall falls slowly as a corpus grows; the square root makes up for more than that.
    pub(super) fn depth(&self, rows: usize, count: usize) -> usize {
        let chosen = || count.saturating_mul(4).max(3_000).max(5 * rows.isqrt());
        self.depth.unwrap_or_else(chosen).clamp(1, rows.max(1))
    }
}
