//! The inner loops of a scan, compiled for the best instructions of the processor, which are chosen at run time.
//!
//! Each loop is written once, in a form that the compiler turns into vector instructions, and compiled for each set of instructions. Only
//! looking up bytes in a register and ARM's dot product have to be asked for by name. Both loops are integer arithmetic, so every set
//! gives the same result on every machine.

use std::sync::LazyLock;

use super::format::GROUP;

/// Bytes of a lookup table for each byte of a sign code: 16 entries for each half of it.
pub(crate) const TABLE_BYTES: usize = 32;
/// The largest entry of a lookup table: the sum of two still fits in a byte.
pub(crate) const TABLE_MAX: u8 = 127;

/// A set of processor instructions with scans compiled for it.
///
/// Values come only from [`available`](Self::available) and [`best`](Self::best), so the processor has the instructions.
#[derive(Debug, Clone, Copy)]
pub struct Instructions {
    name: &'static str,
    table_sums: unsafe fn(&[u8], &[u8], &mut [i32; GROUP]),
    dots: unsafe fn(&[i8], &[i8], &mut [i32]),
}

static BEST: LazyLock<Instructions> =
    LazyLock::new(|| Instructions::available().last().copied().unwrap_or(Instructions::PORTABLE));

impl Instructions {
    /// The set of any processor, which is also the reference in tests of the others.
    const PORTABLE: Instructions = Instructions {
        name: "portable",
        table_sums: |codes, table, sums| table_sums(codes, table, sums, looked_up),
        dots,
    };

    /// Returns the fastest set of this processor.
    ///
    /// ```
    /// use tamis_store::vectors::Instructions;
    ///
    /// assert!(["portable", "neon", "dotprod", "avx2"].contains(&Instructions::best().name()));
    /// ```
    #[must_use]
    pub fn best() -> Self {
        *BEST
    }

    /// Returns all sets of this processor, slowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut sets = vec![Self::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            sets.push(Self { name: "avx2", table_sums: x86::table_sums, dots: x86::dots });
        }
        #[cfg(target_arch = "aarch64")]
        {
            sets.push(Self { name: "neon", table_sums: arm::table_sums, dots });
            if std::arch::is_aarch64_feature_detected!("dotprod") {
                sets.push(Self { name: "dotprod", table_sums: arm::table_sums, dots: arm::dots });
            }
        }
        sets
    }

    /// `portable`, `neon`, `dotprod` or `avx2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Sums the table's entries for each of a group's 64 sign codes.
    ///
    /// `codes` holds the first byte of the 64 rows, then the second, and so on; `table` holds for each byte 16 entries
    /// for its low half and 16 for its high half, none above [`TABLE_MAX`]. ("Quick ADC", André, Kermarrec and Le
    /// Scouarnec 2017: the table stays in a register and one shuffle looks up many rows.)
    pub(crate) fn table_sums(self, codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
        debug_assert_eq!(codes.len() / GROUP, table.len() / TABLE_BYTES);
        debug_assert!(table.iter().all(|entry| *entry <= TABLE_MAX));
        // SAFETY: a set exists only where `available` found the instructions.
        unsafe { (self.table_sums)(codes, table, sums) }
    }

    /// The dot products of a query with consecutive rows of its length, a multiple of 64, one for each element of `dots`.
    pub(crate) fn dots(self, rows: &[i8], query: &[i8], dots: &mut [i32]) {
        debug_assert_eq!(rows.len(), query.len() * dots.len());
        // SAFETY: as above.
        unsafe { (self.dots)(rows, query, dots) }
    }
}

/// After this many bytes of code the 16-bit sums, of at most 254 each, are added to the 32-bit ones.
const FLUSH: usize = 256;

#[inline(always)]
fn table_sums(
    codes: &[u8],
    table: &[u8],
    sums: &mut [i32; GROUP],
    look_up: impl Fn([u8; 16], [u8; GROUP]) -> [u8; GROUP],
) {
    sums.fill(0);
    let (columns, _) = codes.as_chunks::<GROUP>();
    let (halves, _) = table.as_chunks::<16>();
    let (entries, _) = halves.as_chunks::<2>();
    for (columns, entries) in columns.chunks(FLUSH).zip(entries.chunks(FLUSH)) {
        // Two rows share 16 bits. `both` adds them as they are, `odd` the upper row; the difference is the lower.
        let (mut both, mut odd) = ([0_u16; GROUP / 2], [0_u16; GROUP / 2]);
        for (column, [low, high]) in columns.iter().zip(entries) {
            let low = look_up(*low, column.map(|byte| byte & 15));
            let high = look_up(*high, column.map(|byte| byte >> 4));
            let sum: [u8; GROUP] = std::array::from_fn(|row| low[row] + high[row]);
            for ((both, odd), pair) in both.iter_mut().zip(&mut odd).zip(sum.as_chunks().0) {
                let pair = u16::from_le_bytes(*pair);
                *both = both.wrapping_add(pair);
                *odd += pair >> 8;
            }
        }
        for ((sums, both), odd) in sums.as_chunks_mut::<2>().0.iter_mut().zip(both).zip(odd) {
            sums[0] += i32::from(both.wrapping_sub(odd << 8));
            sums[1] += i32::from(odd);
        }
    }
}

fn looked_up(entries: [u8; 16], places: [u8; GROUP]) -> [u8; GROUP] {
    places.map(|place| entries[usize::from(place & 15)])
}

#[inline(always)]
fn dots(rows: &[i8], query: &[i8], dots: &mut [i32]) {
    // With fewer sums an addition waits for the one before it, and more find no registers. A product fits 16 bits.
    let (query_blocks, _) = query.as_chunks::<32>();
    for (row, dot) in rows.chunks_exact(query.len()).zip(dots) {
        let mut sums = [0; 32];
        for (row, query) in row.as_chunks::<32>().0.iter().zip(query_blocks) {
            for ((sum, row), query) in sums.iter_mut().zip(row).zip(query) {
                *sum += i32::from(i16::from(*row) * i16::from(*query));
            }
        }
        *dot = sums.iter().sum();
    }
}

/// A bit for each value that is `floor` or more.
pub(crate) fn at_least(values: &[f32; GROUP], floor: f32) -> u64 {
    let flags = values.map(|value| u8::from(value >= floor));
    flags.as_chunks().0.iter().rev().fold(0, |mask, eight| {
        // The product moves the flag of each byte to the byte on top.
        mask << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// Begins to load a row that is scored soon. Otherwise each scattered row would be waited for.
pub(crate) fn prefetch(row: &[i8]) {
    for line in row.chunks(64) {
        // SAFETY: a hint that cannot fault and changes nothing.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.as_ptr());
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            let line = line.as_ptr();
            std::arch::asm!("prfm pldl1keep, [{line}]", line = in(reg) line, options(readonly, nostack, preserves_flags));
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = line;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::GROUP;

    #[target_feature(enable = "avx2")]
    pub(super) fn table_sums(codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
        super::table_sums(codes, table, sums, |entries, places| {
            // SAFETY: registers are arrays of bytes, for which every value is valid.
            let (entries, places) =
                unsafe { (transmute::<[u8; 16], __m128i>(entries), transmute::<[u8; GROUP], [__m256i; 2]>(places)) };
            let entries = _mm256_broadcastsi128_si256(entries);
            let found = places.map(|places| _mm256_shuffle_epi8(entries, places));
            // SAFETY: as above.
            unsafe { transmute::<[__m256i; 2], [u8; GROUP]>(found) }
        });
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn dots(rows: &[i8], query: &[i8], dots: &mut [i32]) {
        super::dots(rows, query, dots);
    }
}

/// Every processor of this architecture has NEON; most have the dot product instruction, which the standard library does not give yet.
#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::*;
    use std::arch::asm;
    use std::mem::transmute;

    use super::GROUP;

    pub(super) fn table_sums(codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
        super::table_sums(codes, table, sums, |entries, places| {
            // SAFETY: registers are arrays of bytes, for which every value is valid, and the processor has NEON.
            unsafe {
                let entries = transmute::<[u8; 16], uint8x16_t>(entries);
                let places = transmute::<[u8; GROUP], [uint8x16_t; 4]>(places);
                transmute::<[uint8x16_t; 4], [u8; GROUP]>(places.map(|places| vqtbl1q_u8(entries, places)))
            }
        });
    }

    #[target_feature(enable = "neon,dotprod")]
    pub(super) fn dots(rows: &[i8], query: &[i8], dots: &mut [i32]) {
        let (query_blocks, _) = query.as_chunks::<64>();
        for (row, dot) in rows.chunks_exact(query.len()).zip(dots) {
            let mut sums = [vdupq_n_s32(0); 4];
            for (row, query) in row.as_chunks::<64>().0.iter().zip(query_blocks) {
                // SAFETY: registers are arrays of bytes, for which every value is valid.
                let (row, query) = unsafe {
                    (transmute::<[i8; 64], [int8x16_t; 4]>(*row), transmute::<[i8; 64], [int8x16_t; 4]>(*query))
                };
                for ((sum, row), query) in sums.iter_mut().zip(row).zip(query) {
                    // SAFETY: arithmetic on registers alone, with an instruction that this function is compiled for.
                    unsafe {
                        asm!(
                            "sdot {sum:v}.4s, {row:v}.16b, {query:v}.16b",
                            sum = inout(vreg) *sum,
                            row = in(vreg) row,
                            query = in(vreg) query,
                            options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                }
            }
            *dot = sums.map(|sum| vaddvq_s32(sum)).iter().sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_level_sums_tables_alike(seed in any::<u64>(), bytes in 0_usize..40) {
            let (codes, table) = codes_and_table(seed, bytes);
            assert_levels_agree(&codes, &table)?;
        }

        #[test]
        fn every_level_gives_the_same_dot_products(
            rows in 0_usize..5,
            (blocks, values) in (1_usize..9).prop_flat_map(|blocks| {
                (Just(blocks), prop::collection::vec(any::<i8>(), 6 * 64 * blocks))
            })
        ) {
            let length = 64 * blocks;
            let query: Vec<i8> = values[..length].iter().map(|code| (*code).max(-127)).collect();
            let rows_of_codes = &values[length..length * (rows + 1)];
            let expected: Vec<i32> = rows_of_codes
                .chunks_exact(length)
                .map(|row| row.iter().zip(&query).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum())
                .collect();
            for level in Instructions::available() {
                let mut dots = vec![i32::MIN; rows];
                level.dots(rows_of_codes, &query, &mut dots);
                prop_assert_eq!(&dots, &expected, "{}", level.name());
            }
        }

        #[test]
        fn comparisons_are_those_of_each_value(
            values in prop::collection::vec(prop_oneof![-1.0_f32..1.0, Just(0.5), Just(f32::NAN)], GROUP),
            floor in prop_oneof![-1.0_f32..1.0, Just(0.5), Just(f32::NEG_INFINITY)],
        ) {
            let values = *values.first_chunk().unwrap();
            let mask = at_least(&values, floor);
            for (at, value) in values.iter().enumerate() {
                prop_assert_eq!(mask >> at & 1 == 1, *value >= floor);
            }
        }
    }

    fn codes_and_table(seed: u64, bytes: usize) -> (Vec<u8>, Vec<u8>) {
        let mut hash = blake3::Hasher::new();
        hash.update(&seed.to_le_bytes());
        let mut random = hash.finalize_xof();
        let mut codes = vec![0; bytes * GROUP];
        let mut table = vec![0; bytes * TABLE_BYTES];
        random.fill(&mut codes);
        random.fill(&mut table);
        table.iter_mut().for_each(|entry| *entry &= TABLE_MAX);
        (codes, table)
    }

    fn assert_levels_agree(codes: &[u8], table: &[u8]) -> Result<(), TestCaseError> {
        let mut expected = [0_i32; GROUP];
        for (row, sum) in expected.iter_mut().enumerate() {
            for (position, column) in codes.chunks_exact(GROUP).enumerate() {
                let byte = column[row];
                let entries = &table[position * TABLE_BYTES..];
                *sum += i32::from(entries[usize::from(byte & 15)]) + i32::from(entries[16 + usize::from(byte >> 4)]);
            }
        }
        for level in Instructions::available() {
            let mut sums = [i32::MAX; GROUP];
            level.table_sums(codes, table, &mut sums);
            prop_assert_eq!(sums, expected, "{}", level.name());
        }
        Ok(())
    }

    #[test]
    fn long_codes_do_not_overflow() {
        // 65,536 dimensions, every entry the largest.
        let (codes, _) = codes_and_table(1, 8192);
        let table = vec![TABLE_MAX; 8192 * TABLE_BYTES];
        for level in Instructions::available() {
            let mut sums = [0; GROUP];
            level.table_sums(&codes, &table, &mut sums);
            assert_eq!(sums, [8192 * 254; GROUP], "{}", level.name());
        }
        for value in [-128_i8, 127] {
            let rows = vec![value; 65_536];
            let query = vec![127; 65_536];
            for level in Instructions::available() {
                let mut dots = [0];
                level.dots(&rows, &query, &mut dots);
                assert_eq!(dots, [i32::from(value) * 127 * 65_536], "{}", level.name());
            }
        }
    }
}
