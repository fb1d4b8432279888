//! The two inner loops, in the best instructions of the processor, chosen at run time.
//!
//! Both are integer arithmetic, so every implementation gives the same result on every machine.

#[cfg(any(target_arch = "aarch64", test))]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::LazyLock;

use super::format::GROUP;

/// Bytes of a lookup table for each byte of a sign code: 16 entries for each half of it.
pub(crate) const TABLE_BYTES: usize = 32;
/// The largest entry of a lookup table: the sum of two still fits in a byte.
pub(crate) const TABLE_MAX: u8 = 127;

/// A set of processor instructions with scans written for it.
///
/// Values come only from [`available`](Self::available) and [`best`](Self::best), so the processor has the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instructions(Level);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(any(target_arch = "aarch64", test))]
    Neon,
    /// NEON and its dot product instruction.
    #[cfg(any(target_arch = "aarch64", test))]
    DotProduct,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW and VNNI.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

static BEST: LazyLock<Instructions> =
    LazyLock::new(|| Instructions::available().last().copied().unwrap_or(Instructions(Level::Portable)));

impl Instructions {
    /// Returns the fastest set of this processor.
    ///
    /// ```
    /// use tamis_store::vectors::Instructions;
    ///
    /// assert!(["portable", "neon", "dotprod", "avx2", "avx512"].contains(&Instructions::best().name()));
    /// ```
    #[must_use]
    pub fn best() -> Self {
        *BEST
    }

    /// Returns all sets of this processor, slowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut levels = vec![Self(Level::Portable)];
        // Tests on other processors run these kernels too, on emulated instructions.
        #[cfg(any(target_arch = "aarch64", test))]
        {
            levels.push(Self(Level::Neon));
            if neon::has_dot_product() {
                levels.push(Self(Level::DotProduct));
            }
        }
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                levels.push(Self(Level::Avx2));
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vnni")
            {
                levels.push(Self(Level::Avx512));
            }
        }
        levels
    }

    /// `portable`, `neon`, `dotprod`, `avx2` or `avx512`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Portable => "portable",
            #[cfg(any(target_arch = "aarch64", test))]
            Level::Neon => "neon",
            #[cfg(any(target_arch = "aarch64", test))]
            Level::DotProduct => "dotprod",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
        }
    }

    /// Begins to load a row that is scored soon. Otherwise each scattered row would be waited for.
    pub(crate) fn prefetch(self, row: &[i8]) {
        #[cfg(target_arch = "x86_64")]
        x86::prefetch(row);
        #[cfg(any(target_arch = "aarch64", test))]
        neon::prefetch(row);
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = row;
    }

    /// Sums the table's entries for each of a group's 64 sign codes.
    ///
    /// `codes` holds the first byte of the 64 rows, then the second, and so on; `table` holds for each byte 16 entries
    /// for its low half and 16 for its high half, none above [`TABLE_MAX`]. ("Quick ADC", André, Kermarrec and Le
    /// Scouarnec 2017: the table stays in a register and one shuffle looks up many rows.)
    pub(crate) fn table_sums(self, codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
        debug_assert_eq!(codes.len() / GROUP, table.len() / TABLE_BYTES);
        debug_assert!(table.iter().all(|entry| *entry <= TABLE_MAX));
        match self.0 {
            Level::Portable => portable::table_sums(codes, table, sums),
            // SAFETY: the variants exist only where `available` found the instructions.
            #[cfg(any(target_arch = "aarch64", test))]
            Level::Neon | Level::DotProduct => unsafe { neon::table_sums(codes, table, sums) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86::table_sums_avx2(codes, table, sums) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::table_sums_avx512(codes, table, sums) },
        }
    }

    /// The dot products of a query with consecutive rows of its length, one for each element of `dots`.
    pub(crate) fn dots(self, rows: &[i8], query: &Int8Query, dots: &mut [i32]) {
        debug_assert_eq!(rows.len(), query.codes.len() * dots.len());
        match self.0 {
            Level::Portable => portable::dots(rows, query, dots),
            // SAFETY: the variants exist only where `available` found the instructions.
            #[cfg(any(target_arch = "aarch64", test))]
            Level::Neon => unsafe { neon::dots(rows, query, dots) },
            // SAFETY: as above.
            #[cfg(any(target_arch = "aarch64", test))]
            Level::DotProduct => unsafe { neon::dots_by_dot_product(rows, query, dots) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { x86::dots_avx2(rows, query, dots) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86::dots_avx512(rows, query, dots) },
        }
    }
}

/// A bit for each value that is `floor` or more.
pub(crate) fn at_least(values: &[f32; GROUP], floor: f32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    return x86::at_least(values, floor);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: every processor of this architecture has NEON.
    return unsafe { neon::at_least(values, floor) };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    portable::at_least(values, floor)
}

/// A query's int8 code, padded to a multiple of 64.
#[derive(Debug, Clone)]
pub(crate) struct Int8Query {
    codes: Vec<i8>,
    /// The sum of the codes, by which products of unsigned with signed numbers are corrected.
    sum: i32,
}

impl Int8Query {
    pub(crate) fn new(codes: Vec<i8>) -> Self {
        let sum = codes.iter().map(|code| i32::from(*code)).sum();
        Self { codes, sum }
    }
}

/// The kernels for any processor, which are also the reference in tests of the others.
mod portable {
    use super::{GROUP, Int8Query, TABLE_BYTES};

    pub(crate) fn table_sums(codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
        sums.fill(0);
        let (columns, _) = codes.as_chunks::<GROUP>();
        let (entries, _) = table.as_chunks::<TABLE_BYTES>();
        for (column, entries) in columns.iter().zip(entries) {
            for (sum, byte) in sums.iter_mut().zip(column) {
                let low = entries[usize::from(byte & 15)];
                let high = entries[16 + usize::from(byte >> 4)];
                *sum += i32::from(low + high);
            }
        }
    }

    pub(crate) fn dots(rows: &[i8], query: &Int8Query, dots: &mut [i32]) {
        for (row, dot) in rows.chunks_exact(query.codes.len()).zip(dots) {
            *dot = row.iter().zip(&query.codes).map(|(row, query)| i32::from(*row) * i32::from(*query)).sum();
        }
    }

    #[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    pub(crate) fn at_least(values: &[f32; GROUP], floor: f32) -> u64 {
        values.iter().enumerate().fold(0, |mask, (at, value)| mask | u64::from(*value >= floor) << at)
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
            let query = Int8Query::new(values[..length].iter().map(|code| (*code).max(-127)).collect());
            let rows_of_codes = &values[length..length * (rows + 1)];
            let expected: Vec<i32> = rows_of_codes
                .chunks_exact(length)
                .map(|row| row.iter().zip(&query.codes).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum())
                .collect();
            for level in Instructions::available() {
                let mut dots = vec![i32::MIN; rows];
                level.dots(rows_of_codes, &query, &mut dots);
                prop_assert_eq!(&dots, &expected, "{:?}", level);
            }
        }
    }

    proptest! {
        #[test]
        fn comparisons_are_those_of_each_value(
            values in prop::collection::vec(prop_oneof![-1.0_f32..1.0, Just(0.5), Just(f32::NAN)], GROUP),
            floor in prop_oneof![-1.0_f32..1.0, Just(0.5), Just(f32::NEG_INFINITY)],
        ) {
            let values = *values.first_chunk().unwrap();
            let mask = at_least(&values, floor);
            prop_assert_eq!(mask, portable::at_least(&values, floor));
            // SAFETY: emulated, or on a processor that has it.
            prop_assert_eq!(mask, unsafe { neon::at_least(&values, floor) });
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
            prop_assert_eq!(sums, expected, "{:?}", level);
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
            assert_eq!(sums, [8192 * 254; GROUP], "{level:?}");
        }
        for value in [-128_i8, 127] {
            let rows = vec![value; 65_536];
            let query = Int8Query::new(vec![127; 65_536]);
            for level in Instructions::available() {
                let mut dots = [0];
                level.dots(&rows, &query, &mut dots);
                assert_eq!(dots, [i32::from(value) * 127 * 65_536], "{level:?}");
            }
        }
    }
}
