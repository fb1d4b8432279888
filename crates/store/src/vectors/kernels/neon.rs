//! The kernels in NEON, which every 64-bit ARM processor has, and with its dot product instruction, which most have.
//!
//! The source names only what [`instructions`] gives. On ARM that is the processor's own instructions. In the tests of
//! other processors it is an emulation of each, lane by lane, so that the very same kernels are tested everywhere.

use instructions::*;

use super::{GROUP, Int8Query, TABLE_BYTES};

/// After this many bytes of code the 16-bit sums, of at most 254 each, are added to the 32-bit ones.
const FLUSH: usize = 256;

/// Lanes of 8 bits in a register.
const LANES: usize = 16;

/// Returns `true` if the processor has the dot product instruction.
pub(crate) fn has_dot_product() -> bool {
    instructions::has_dot_product()
}

/// As [`super::Instructions::prefetch`]: a cache line at a time.
pub(crate) fn prefetch(row: &[i8]) {
    row.chunks(64).for_each(instructions::prefetch);
}

/// As [`super::at_least`].
///
/// # Safety
/// The processor has NEON, as every one of this architecture.
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
pub(crate) unsafe fn at_least(values: &[f32; GROUP], floor: f32) -> u64 {
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
pub(crate) unsafe fn table_sums(codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
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
pub(crate) unsafe fn dots(rows: &[i8], query: &Int8Query, dots: &mut [i32]) {
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
pub(crate) unsafe fn dots_by_dot_product(rows: &[i8], query: &Int8Query, dots: &mut [i32]) {
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

/// The instructions of the processor: the standard library's, and two that it does not give yet.
#[cfg(target_arch = "aarch64")]
mod instructions {
    pub(crate) use std::arch::aarch64::*;
    use std::arch::asm;

    /// Returns `true` if the processor has [`dot_product`].
    pub(crate) fn has_dot_product() -> bool {
        std::arch::is_aarch64_feature_detected!("dotprod")
    }

    /// Adds to each lane of `sum` the products of four pairs of bytes.
    ///
    /// # Safety
    /// The processor [has the instruction](has_dot_product).
    #[target_feature(enable = "neon,dotprod")]
    pub(crate) unsafe fn dot_product(mut sum: int32x4_t, one: int8x16_t, other: int8x16_t) -> int32x4_t {
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
    pub(crate) fn prefetch(line: &[i8]) {
        // SAFETY: a hint that cannot fault and changes nothing.
        unsafe {
            asm!("prfm pldl1keep, [{line}]", line = in(reg) line.as_ptr(), options(readonly, nostack, preserves_flags));
        }
    }
}

/// The instructions that the kernels use, lane by lane, as the architecture's manual defines them: for tests on processors
/// without them. Arithmetic that wraps there wraps here.
#[cfg(not(target_arch = "aarch64"))]
#[allow(non_camel_case_types)]
mod instructions {
    pub(crate) type int8x8_t = [i8; 8];
    pub(crate) type int8x16_t = [i8; 16];
    pub(crate) type int16x8_t = [i16; 8];
    pub(crate) type int32x4_t = [i32; 4];
    pub(crate) type uint8x8_t = [u8; 8];
    pub(crate) type uint8x16_t = [u8; 16];
    pub(crate) type uint16x4_t = [u16; 4];
    pub(crate) type uint16x8_t = [u16; 8];
    pub(crate) type uint32x4_t = [u32; 4];
    pub(crate) type uint64x2_t = [u64; 2];
    pub(crate) type float32x4_t = [f32; 4];

    fn lanes<T, const N: usize>(lane: impl FnMut(usize) -> T) -> [T; N] {
        std::array::from_fn(lane)
    }

    fn product(one: i8, other: i8) -> i16 {
        i16::from(one) * i16::from(other)
    }

    pub(crate) fn has_dot_product() -> bool {
        true
    }

    pub(crate) unsafe fn dot_product(sum: int32x4_t, one: int8x16_t, other: int8x16_t) -> int32x4_t {
        lanes(|at| {
            (4 * at..4 * at + 4).fold(sum[at], |sum, pair| sum.wrapping_add(i32::from(product(one[pair], other[pair]))))
        })
    }

    pub(crate) fn prefetch(_line: &[i8]) {}

    pub(crate) unsafe fn vld1q_u8(from: *const u8) -> uint8x16_t {
        // SAFETY: the caller's pointer is to sixteen.
        unsafe { from.cast::<uint8x16_t>().read_unaligned() }
    }

    pub(crate) unsafe fn vld1q_s8(from: *const i8) -> int8x16_t {
        // SAFETY: the caller's pointer is to sixteen.
        unsafe { from.cast::<int8x16_t>().read_unaligned() }
    }

    pub(crate) unsafe fn vld1q_f32(from: *const f32) -> float32x4_t {
        // SAFETY: the caller's pointer is to four.
        unsafe { from.cast::<float32x4_t>().read_unaligned() }
    }

    pub(crate) unsafe fn vst1q_u16(to: *mut u16, register: uint16x8_t) {
        // SAFETY: the caller's pointer is to eight.
        unsafe { to.cast::<uint16x8_t>().write_unaligned(register) };
    }

    pub(crate) fn vdupq_n_u8(value: u8) -> uint8x16_t {
        [value; 16]
    }

    pub(crate) fn vdupq_n_u16(value: u16) -> uint16x8_t {
        [value; 8]
    }

    pub(crate) fn vdupq_n_s32(value: i32) -> int32x4_t {
        [value; 4]
    }

    pub(crate) fn vdupq_n_f32(value: f32) -> float32x4_t {
        [value; 4]
    }

    pub(crate) fn vget_low_u8(one: uint8x16_t) -> uint8x8_t {
        lanes(|at| one[at])
    }

    pub(crate) fn vget_low_s8(one: int8x16_t) -> int8x8_t {
        lanes(|at| one[at])
    }

    pub(crate) fn vcombine_u8(low: uint8x8_t, high: uint8x8_t) -> uint8x16_t {
        lanes(|at| if at < 8 { low[at] } else { high[at - 8] })
    }

    pub(crate) fn vcombine_u16(low: uint16x4_t, high: uint16x4_t) -> uint16x8_t {
        lanes(|at| if at < 4 { low[at] } else { high[at - 4] })
    }

    pub(crate) fn vreinterpretq_u64_u8(one: uint8x16_t) -> uint64x2_t {
        lanes(|at| u64::from_le_bytes(lanes(|byte| one[8 * at + byte])))
    }

    pub(crate) fn vgetq_lane_u64<const LANE: i32>(one: uint64x2_t) -> u64 {
        one[LANE as usize]
    }

    pub(crate) fn vandq_u8(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        lanes(|at| one[at] & other[at])
    }

    pub(crate) fn vshrq_n_u8<const BITS: i32>(one: uint8x16_t) -> uint8x16_t {
        one.map(|lane| lane >> BITS)
    }

    /// A lane whose number is beyond the table is zero.
    pub(crate) fn vqtbl1q_u8(table: uint8x16_t, numbers: uint8x16_t) -> uint8x16_t {
        numbers.map(|number| table.get(usize::from(number)).copied().unwrap_or(0))
    }

    pub(crate) fn vaddq_u8(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        lanes(|at| one[at].wrapping_add(other[at]))
    }

    pub(crate) fn vaddq_s32(one: int32x4_t, other: int32x4_t) -> int32x4_t {
        lanes(|at| one[at].wrapping_add(other[at]))
    }

    pub(crate) fn vaddw_u8(wide: uint16x8_t, narrow: uint8x8_t) -> uint16x8_t {
        lanes(|at| wide[at].wrapping_add(u16::from(narrow[at])))
    }

    pub(crate) fn vaddw_high_u8(wide: uint16x8_t, narrow: uint8x16_t) -> uint16x8_t {
        lanes(|at| wide[at].wrapping_add(u16::from(narrow[8 + at])))
    }

    /// The sums of neighbours: those of the first register, then those of the second.
    pub(crate) fn vpaddq_u8(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
        let pair = |register: uint8x16_t, at: usize| register[2 * at].wrapping_add(register[2 * at + 1]);
        lanes(|at| if at < 8 { pair(one, at) } else { pair(other, at - 8) })
    }

    pub(crate) fn vmull_s8(one: int8x8_t, other: int8x8_t) -> int16x8_t {
        lanes(|at| product(one[at], other[at]))
    }

    pub(crate) fn vmlal_high_s8(sum: int16x8_t, one: int8x16_t, other: int8x16_t) -> int16x8_t {
        lanes(|at| sum[at].wrapping_add(product(one[8 + at], other[8 + at])))
    }

    pub(crate) fn vpadalq_s16(sum: int32x4_t, pairs: int16x8_t) -> int32x4_t {
        lanes(|at| sum[at].wrapping_add(i32::from(pairs[2 * at]) + i32::from(pairs[2 * at + 1])))
    }

    pub(crate) fn vaddvq_s32(one: int32x4_t) -> i32 {
        one.into_iter().fold(0, i32::wrapping_add)
    }

    pub(crate) fn vcgeq_f32(one: float32x4_t, other: float32x4_t) -> uint32x4_t {
        lanes(|at| if one[at] >= other[at] { u32::MAX } else { 0 })
    }

    pub(crate) fn vmovn_u32(one: uint32x4_t) -> uint16x4_t {
        one.map(|lane| lane as u16)
    }

    pub(crate) fn vmovn_u16(one: uint16x8_t) -> uint8x8_t {
        one.map(|lane| lane as u8)
    }
}
