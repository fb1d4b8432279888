//! The instructions of the processor: the standard library's, and two that it does not give yet.

pub(super) use std::arch::aarch64::*;
use std::arch::asm;

/// Returns `true` if the processor has [`dot_product`].
pub(super) fn has_dot_product() -> bool {
    std::arch::is_aarch64_feature_detected!("dotprod")
}

/// Adds to each lane of `sum` the products of four pairs of bytes.
///
/// # Safety
/// The processor [has the instruction](has_dot_product).
#[target_feature(enable = "neon,dotprod")]
pub(super) unsafe fn dot_product(mut sum: int32x4_t, one: int8x16_t, other: int8x16_t) -> int32x4_t {
    // SAFETY: arithmetic on registers alone, with an instruction that the caller has checked for.
    unsafe {
        asm!(
            "sdot {sum:v}.4s, {one:v}.16b, {other:v}.16b",
            sum = inout(vreg) sum,
            one = in(vreg) one,
            other = in(vreg) other,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}

/// Begins to load the cache line of the first value.
pub(super) fn prefetch(line: &[i8]) {
    // SAFETY: a hint that cannot fault and changes nothing.
    unsafe {
        asm!("prfm pldl1keep, [{line}]", line = in(reg) line.as_ptr(), options(readonly, nostack, preserves_flags));
    }
}
