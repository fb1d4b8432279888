//! The kernels in AVX2 and AVX-512.

use std::arch::x86_64::*;

use super::{GROUP, Int8Query, TABLE_BYTES};

/// After this many bytes of code the 16-bit sums, of at most 254 each, are added to the 32-bit ones.
const FLUSH: usize = 256;

/// Loads 64 bytes.
#[target_feature(enable = "avx512f")]
fn load_512(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: an unaligned load of the 64 bytes that the reference guarantees.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Loads 32 bytes.
#[target_feature(enable = "avx2")]
fn load_256(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: an unaligned load of the 32 bytes that the reference guarantees.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Loads 16 bytes.
#[target_feature(enable = "avx2")]
fn load_128(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: an unaligned load of the 16 bytes that the reference guarantees.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Splits the tables of one byte of code into the one for its low and the one for its high half.
fn halves(entries: &[u8; TABLE_BYTES]) -> (&[u8; 16], &[u8; 16]) {
    let (low, high) = entries.split_at(16);
    // Both are 16 long by the type above; the fallback is never taken and removed by the compiler.
    (low.first_chunk().unwrap_or(&[0; 16]), high.first_chunk().unwrap_or(&[0; 16]))
}

/// Adds sums that stand in 16-bit lanes: the even rows', and the odd rows'.
fn add_lanes<const N: usize>(even: [u16; N], odd: [u16; N], sums: &mut [i32]) {
    for ((pair, even), odd) in sums.as_chunks_mut::<2>().0.iter_mut().zip(even).zip(odd) {
        pair[0] += i32::from(even);
        pair[1] += i32::from(odd);
    }
}

/// As [`super::Instructions::prefetch`]: a cache line at a time.
pub(crate) fn prefetch(row: &[i8]) {
    for line in row.chunks(64) {
        // SAFETY: a prefetch is a hint that cannot fault, and part of the base instruction set.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr()) };
    }
}

/// As [`super::at_least`].
pub(crate) fn at_least(values: &[f32; GROUP], floor: f32) -> u64 {
    let mut mask = 0;
    for (at, four) in values.as_chunks::<4>().0.iter().enumerate() {
        // SAFETY: an unaligned load of the 16 bytes of four floats, with instructions of the base set.
        let bits = unsafe { _mm_movemask_ps(_mm_cmpge_ps(_mm_loadu_ps(four.as_ptr()), _mm_set1_ps(floor))) };
        mask |= (bits as u64) << (4 * at);
    }
    mask
}

/// As [`super::Instructions::table_sums`].
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn table_sums_avx512(codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
    sums.fill(0);
    let low_half = _mm512_set1_epi8(15);
    let (columns, _) = codes.as_chunks::<GROUP>();
    let (entries, _) = table.as_chunks::<TABLE_BYTES>();
    for (columns, entries) in columns.chunks(FLUSH).zip(entries.chunks(FLUSH)) {
        // Two rows share a 16-bit lane. `both` adds the lane as it is, `odd` its upper row; the difference is the lower.
        let (mut both, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (column, entries) in columns.iter().zip(entries) {
            let code = load_512(column);
            let (low, high) = halves(entries);
            let low = _mm512_broadcast_i32x4(load_128(low));
            let high = _mm512_broadcast_i32x4(load_128(high));
            let low = _mm512_shuffle_epi8(low, _mm512_and_si512(code, low_half));
            let high = _mm512_shuffle_epi8(high, _mm512_and_si512(_mm512_srli_epi16::<4>(code), low_half));
            let sum = _mm512_add_epi8(low, high);
            both = _mm512_add_epi16(both, sum);
            odd = _mm512_add_epi16(odd, _mm512_srli_epi16::<8>(sum));
        }
        let even = _mm512_sub_epi16(both, _mm512_slli_epi16::<8>(odd));
        // SAFETY: both are 64 bytes for which every value is valid.
        let (even, odd) = unsafe {
            (std::mem::transmute::<__m512i, [u16; 32]>(even), std::mem::transmute::<__m512i, [u16; 32]>(odd))
        };
        add_lanes(even, odd, sums);
    }
}

/// As [`super::Instructions::table_sums`].
#[target_feature(enable = "avx2")]
pub(crate) fn table_sums_avx2(codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
    sums.fill(0);
    let low_half = _mm256_set1_epi8(15);
    let (columns, _) = codes.as_chunks::<GROUP>();
    let (entries, _) = table.as_chunks::<TABLE_BYTES>();
    for (columns, entries) in columns.chunks(FLUSH).zip(entries.chunks(FLUSH)) {
        let mut both = [_mm256_setzero_si256(); 2];
        let mut odd = [_mm256_setzero_si256(); 2];
        for (column, entries) in columns.iter().zip(entries) {
            let (low, high) = halves(entries);
            let low = _mm256_broadcastsi128_si256(load_128(low));
            let high = _mm256_broadcastsi128_si256(load_128(high));
            let (parts, _) = column.as_chunks::<32>();
            for (half, part) in parts.iter().enumerate() {
                let code = load_256(part);
                let low = _mm256_shuffle_epi8(low, _mm256_and_si256(code, low_half));
                let high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16::<4>(code), low_half));
                let sum = _mm256_add_epi8(low, high);
                both[half] = _mm256_add_epi16(both[half], sum);
                odd[half] = _mm256_add_epi16(odd[half], _mm256_srli_epi16::<8>(sum));
            }
        }
        for (half, sums) in sums.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let even = _mm256_sub_epi16(both[half], _mm256_slli_epi16::<8>(odd[half]));
            // SAFETY: both are 32 bytes for which every value is valid.
            let (even, odd) = unsafe {
                (std::mem::transmute::<__m256i, [u16; 16]>(even), std::mem::transmute::<__m256i, [u16; 16]>(odd[half]))
            };
            add_lanes(even, odd, sums);
        }
    }
}

/// As [`super::Instructions::dots`].
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(crate) fn dots_avx512(rows: &[i8], query: &Int8Query, dots: &mut [i32]) {
    // The instruction multiplies unsigned with signed numbers: 128 is added to each code of the row, and 128 times the
    // query's sum taken off the result.
    let offset = _mm512_set1_epi8(-128);
    let (query_blocks, _) = zerocopy::IntoBytes::as_bytes(query.codes.as_slice()).as_chunks::<64>();
    for (row, dot) in rows.chunks_exact(query.codes.len()).zip(dots) {
        let (row_blocks, _) = zerocopy::IntoBytes::as_bytes(row).as_chunks::<64>();
        let mut sum = _mm512_setzero_si512();
        for (row, query) in row_blocks.iter().zip(query_blocks) {
            sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(load_512(row), offset), load_512(query));
        }
        *dot = _mm512_reduce_add_epi32(sum).wrapping_sub(query.sum.wrapping_mul(128));
    }
}

/// As [`super::Instructions::dots`].
#[target_feature(enable = "avx2")]
pub(crate) fn dots_avx2(rows: &[i8], query: &Int8Query, dots: &mut [i32]) {
    let (query_blocks, _) = zerocopy::IntoBytes::as_bytes(query.codes.as_slice()).as_chunks::<16>();
    for (row, dot) in rows.chunks_exact(query.codes.len()).zip(dots) {
        let (row_blocks, _) = zerocopy::IntoBytes::as_bytes(row).as_chunks::<16>();
        let mut sum = _mm256_setzero_si256();
        for (row, query) in row_blocks.iter().zip(query_blocks) {
            // In 16 bits no product of two codes is cut short, as it would be by multiplying bytes.
            let row = _mm256_cvtepi8_epi16(load_128(row));
            let query = _mm256_cvtepi8_epi16(load_128(query));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(row, query));
        }
        // SAFETY: 32 bytes for which every value is valid.
        *dot = unsafe { std::mem::transmute::<__m256i, [i32; 8]>(sum) }.iter().sum();
    }
}
