//! The instructions that the kernels use, lane by lane, as the architecture's manual defines them: for tests on processors
//! without them. Arithmetic that wraps there wraps here.

#![allow(non_camel_case_types)]

pub(super) type int8x8_t = [i8; 8];
pub(super) type int8x16_t = [i8; 16];
pub(super) type int16x8_t = [i16; 8];
pub(super) type int32x4_t = [i32; 4];
pub(super) type uint8x8_t = [u8; 8];
pub(super) type uint8x16_t = [u8; 16];
pub(super) type uint16x4_t = [u16; 4];
pub(super) type uint16x8_t = [u16; 8];
pub(super) type uint32x4_t = [u32; 4];
pub(super) type uint64x2_t = [u64; 2];
pub(super) type float32x4_t = [f32; 4];

fn lanes<T, const N: usize>(lane: impl FnMut(usize) -> T) -> [T; N] {
    std::array::from_fn(lane)
}

fn product(one: i8, other: i8) -> i16 {
    i16::from(one) * i16::from(other)
}

pub(super) fn has_dot_product() -> bool {
    true
}

pub(super) unsafe fn dot_product(sum: int32x4_t, one: int8x16_t, other: int8x16_t) -> int32x4_t {
    lanes(|at| {
        (4 * at..4 * at + 4).fold(sum[at], |sum, pair| sum.wrapping_add(i32::from(product(one[pair], other[pair]))))
    })
}

pub(super) fn prefetch(_line: &[i8]) {}

pub(super) unsafe fn vld1q_u8(from: *const u8) -> uint8x16_t {
    // SAFETY: the caller's pointer is to sixteen.
    unsafe { from.cast::<uint8x16_t>().read_unaligned() }
}

pub(super) unsafe fn vld1q_s8(from: *const i8) -> int8x16_t {
    // SAFETY: the caller's pointer is to sixteen.
    unsafe { from.cast::<int8x16_t>().read_unaligned() }
}

pub(super) unsafe fn vld1q_f32(from: *const f32) -> float32x4_t {
    // SAFETY: the caller's pointer is to four.
    unsafe { from.cast::<float32x4_t>().read_unaligned() }
}

pub(super) unsafe fn vst1q_u16(to: *mut u16, register: uint16x8_t) {
    // SAFETY: the caller's pointer is to eight.
    unsafe { to.cast::<uint16x8_t>().write_unaligned(register) };
}

pub(super) fn vdupq_n_u8(value: u8) -> uint8x16_t {
    [value; 16]
}

pub(super) fn vdupq_n_u16(value: u16) -> uint16x8_t {
    [value; 8]
}

pub(super) fn vdupq_n_s32(value: i32) -> int32x4_t {
    [value; 4]
}

pub(super) fn vdupq_n_f32(value: f32) -> float32x4_t {
    [value; 4]
}

pub(super) fn vget_low_u8(one: uint8x16_t) -> uint8x8_t {
    lanes(|at| one[at])
}

pub(super) fn vget_low_s8(one: int8x16_t) -> int8x8_t {
    lanes(|at| one[at])
}

pub(super) fn vcombine_u8(low: uint8x8_t, high: uint8x8_t) -> uint8x16_t {
    lanes(|at| if at < 8 { low[at] } else { high[at - 8] })
}

pub(super) fn vcombine_u16(low: uint16x4_t, high: uint16x4_t) -> uint16x8_t {
    lanes(|at| if at < 4 { low[at] } else { high[at - 4] })
}

pub(super) fn vreinterpretq_u64_u8(one: uint8x16_t) -> uint64x2_t {
    lanes(|at| u64::from_le_bytes(lanes(|byte| one[8 * at + byte])))
}

pub(super) fn vgetq_lane_u64<const LANE: i32>(one: uint64x2_t) -> u64 {
    one[LANE as usize]
}

pub(super) fn vandq_u8(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
    lanes(|at| one[at] & other[at])
}

pub(super) fn vshrq_n_u8<const BITS: i32>(one: uint8x16_t) -> uint8x16_t {
    one.map(|lane| lane >> BITS)
}

/// A lane whose number is beyond the table is zero.
pub(super) fn vqtbl1q_u8(table: uint8x16_t, numbers: uint8x16_t) -> uint8x16_t {
    numbers.map(|number| table.get(usize::from(number)).copied().unwrap_or(0))
}

pub(super) fn vaddq_u8(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
    lanes(|at| one[at].wrapping_add(other[at]))
}

pub(super) fn vaddq_s32(one: int32x4_t, other: int32x4_t) -> int32x4_t {
    lanes(|at| one[at].wrapping_add(other[at]))
}

pub(super) fn vaddw_u8(wide: uint16x8_t, narrow: uint8x8_t) -> uint16x8_t {
    lanes(|at| wide[at].wrapping_add(u16::from(narrow[at])))
}

pub(super) fn vaddw_high_u8(wide: uint16x8_t, narrow: uint8x16_t) -> uint16x8_t {
    lanes(|at| wide[at].wrapping_add(u16::from(narrow[8 + at])))
}

/// The sums of neighbours: those of the first register, then those of the second.
pub(super) fn vpaddq_u8(one: uint8x16_t, other: uint8x16_t) -> uint8x16_t {
    let pair = |register: uint8x16_t, at: usize| register[2 * at].wrapping_add(register[2 * at + 1]);
    lanes(|at| if at < 8 { pair(one, at) } else { pair(other, at - 8) })
}

pub(super) fn vmull_s8(one: int8x8_t, other: int8x8_t) -> int16x8_t {
    lanes(|at| product(one[at], other[at]))
}

pub(super) fn vmlal_high_s8(sum: int16x8_t, one: int8x16_t, other: int8x16_t) -> int16x8_t {
    lanes(|at| sum[at].wrapping_add(product(one[8 + at], other[8 + at])))
}

pub(super) fn vpadalq_s16(sum: int32x4_t, pairs: int16x8_t) -> int32x4_t {
    lanes(|at| sum[at].wrapping_add(i32::from(pairs[2 * at]) + i32::from(pairs[2 * at + 1])))
}

pub(super) fn vaddvq_s32(one: int32x4_t) -> i32 {
    one.into_iter().fold(0, i32::wrapping_add)
}

pub(super) fn vcgeq_f32(one: float32x4_t, other: float32x4_t) -> uint32x4_t {
    lanes(|at| if one[at] >= other[at] { u32::MAX } else { 0 })
}

pub(super) fn vmovn_u32(one: uint32x4_t) -> uint16x4_t {
    one.map(|lane| lane as u16)
}

pub(super) fn vmovn_u16(one: uint16x8_t) -> uint8x8_t {
    one.map(|lane| lane as u8)
}
