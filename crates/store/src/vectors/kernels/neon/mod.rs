//! The kernels in NEON, which every 64-bit ARM processor has, and with its dot product instruction, which most have.
//!
//! The source names only what [`instructions`] gives. On ARM that is the processor's own instructions. In the tests of
//! other processors it is an emulation of each, lane by lane, so that the very same kernels are tested everywhere.

#[cfg_attr(target_arch = "aarch64", path = "processor.rs")]
#[cfg_attr(not(target_arch = "aarch64"), path = "emulated.rs")]
mod instructions;

use super::{GROUP, Int8Query, TABLE_BYTES};
use instructions::*;

/// After this many bytes of code the 16-bit sums, of at most 254 each, are added to the 32-bit ones.
const FLUSH: usize = 256;

/// Lanes of 8 bits in a register.
const LANES: usize = 16;

/// Returns `true` if the processor has the dot product instruction.
pub(super) fn has_dot_product() -> bool {
    instructions::has_dot_product()
}

/// As [`super::Instructions::prefetch`]: a cache line at a time.
pub(super) fn prefetch(row: &[i8]) {
    row.chunks(64).for_each(instructions::prefetch);
}

/// As [`super::at_least`].
///
/// # Safety
/// The processor has NEON, as every one of this architecture.
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
pub(super) unsafe fn at_least(values: &[f32; GROUP], floor: f32) -> u64 {
    let floor = vdupq_n_f32(floor);
    let at_least = |at: usize| vcgeq_f32(load_f32(&values[4 * at..]), floor);
    // Sixteen comparisons become sixteen bytes, each of which keeps the bit of its place.
    let sixteen = |at: usize| {
        let low = vcombine_u16(vmovn_u32(at_least(at)), vmovn_u32(at_least(at + 1)));
        let high = vcombine_u16(vmovn_u32(at_least(at + 2)), vmovn_u32(at_least(at + 3)));
        let places = load_u8(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
        vandq_u8(vcombine_u8(vmovn_u16(low), vmovn_u16(high)), places)
    };
    // Three rounds of adding neighbours make one byte of eight.
    let first = vpaddq_u8(sixteen(0), sixteen(4));
    let second = vpaddq_u8(sixteen(8), sixteen(12));
    let sums = vpaddq_u8(first, second);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

/// As [`super::Instructions::table_sums`].
///
/// # Safety
/// The processor has NEON, as every one of this architecture.
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
pub(super) unsafe fn table_sums(codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
    sums.fill(0);
    let low_half = vdupq_n_u8(15);
    let (columns, _) = codes.as_chunks::<GROUP>();
    let (entries, _) = table.as_chunks::<TABLE_BYTES>();
    for (columns, entries) in columns.chunks(FLUSH).zip(entries.chunks(FLUSH)) {
        let mut lanes = [vdupq_n_u16(0); GROUP / 8];
        for (column, entries) in columns.iter().zip(entries) {
            let (low, high) = (load_u8(&entries[..LANES]), load_u8(&entries[LANES..]));
            for (part, lanes) in column.as_chunks::<LANES>().0.iter().zip(lanes.as_chunks_mut::<2>().0) {
                let code = load_u8(part);
                let low = vqtbl1q_u8(low, vandq_u8(code, low_half));
                let high = vqtbl1q_u8(high, vshrq_n_u8::<4>(code));
                let sum = vaddq_u8(low, high);
                lanes[0] = vaddw_u8(lanes[0], vget_low_u8(sum));
                lanes[1] = vaddw_high_u8(lanes[1], sum);
            }
        }
        for (sums, lanes) in sums.as_chunks_mut::<8>().0.iter_mut().zip(lanes) {
            for (sum, lane) in sums.iter_mut().zip(lanes_of(lanes)) {
                *sum += i32::from(lane);
            }
        }
    }
}

/// As [`super::Instructions::dots`].
///
/// # Safety
/// The processor has NEON, as every one of this architecture.
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
pub(super) unsafe fn dots(rows: &[i8], query: &Int8Query, dots: &mut [i32]) {
    // The sum of two products must fit into 16 bits, which −128 · −128 twice does not. A query's codes are symmetric.
    debug_assert!(query.codes.iter().all(|code| *code != i8::MIN));
    let (query_blocks, _) = query.codes.as_chunks::<{ 2 * LANES }>();
    for (row, dot) in rows.chunks_exact(query.codes.len()).zip(dots) {
        let (row_blocks, _) = row.as_chunks::<{ 2 * LANES }>();
        // Two sums, since an addition waits for the one before it.
        let mut sums = [vdupq_n_s32(0); 2];
        for (row, query) in row_blocks.iter().zip(query_blocks) {
            for (half, sum) in sums.iter_mut().enumerate() {
                let (row, query) = (load_i8(&row[half * LANES..]), load_i8(&query[half * LANES..]));
                let products = vmull_s8(vget_low_s8(row), vget_low_s8(query));
                *sum = vpadalq_s16(*sum, vmlal_high_s8(products, row, query));
            }
        }
        *dot = vaddvq_s32(vaddq_s32(sums[0], sums[1]));
    }
}

/// As [`super::Instructions::dots`], by the instruction that multiplies and adds four pairs at once.
///
/// # Safety
/// The processor [has the instruction](has_dot_product).
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,dotprod"))]
pub(super) unsafe fn dots_by_dot_product(rows: &[i8], query: &Int8Query, dots: &mut [i32]) {
    let (query_blocks, _) = query.codes.as_chunks::<{ 4 * LANES }>();
    for (row, dot) in rows.chunks_exact(query.codes.len()).zip(dots) {
        let (row_blocks, _) = row.as_chunks::<{ 4 * LANES }>();
        let mut sums = [vdupq_n_s32(0); 4];
        for (row, query) in row_blocks.iter().zip(query_blocks) {
            for (quarter, sum) in sums.iter_mut().enumerate() {
                let (row, query) = (load_i8(&row[quarter * LANES..]), load_i8(&query[quarter * LANES..]));
                // SAFETY: the caller has checked that the processor has the instruction.
                *sum = unsafe { dot_product(*sum, row, query) };
            }
        }
        *dot = vaddvq_s32(vaddq_s32(vaddq_s32(sums[0], sums[1]), vaddq_s32(sums[2], sums[3])));
    }
}

/// Loads the first 16 bytes.
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn load_u8(bytes: &[u8]) -> uint8x16_t {
    let bytes = &bytes[..LANES];
    // SAFETY: an unaligned load of the 16 bytes of the slice.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Loads the first 16 codes.
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn load_i8(codes: &[i8]) -> int8x16_t {
    let codes = &codes[..LANES];
    // SAFETY: an unaligned load of the 16 bytes of the slice.
    unsafe { vld1q_s8(codes.as_ptr()) }
}

/// Loads the first four values.
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn load_f32(values: &[f32]) -> float32x4_t {
    let values = &values[..4];
    // SAFETY: an unaligned load of the four values of the slice.
    unsafe { vld1q_f32(values.as_ptr()) }
}

/// The lanes, the first first.
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn lanes_of(register: uint16x8_t) -> [u16; 8] {
    let mut lanes = [0; 8];
    // SAFETY: a store to an array of just as many lanes.
    unsafe { vst1q_u16(lanes.as_mut_ptr(), register) };
    lanes
}
