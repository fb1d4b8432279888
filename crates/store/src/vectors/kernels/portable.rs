//! The kernels for any processor, which are also the reference in tests of the others.

use super::{GROUP, Int8Query, TABLE_BYTES};

pub(super) fn table_sums(codes: &[u8], table: &[u8], sums: &mut [i32; GROUP]) {
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

pub(super) fn dots(rows: &[i8], query: &Int8Query, dots: &mut [i32]) {
    for (row, dot) in rows.chunks_exact(query.codes.len()).zip(dots) {
        *dot = row.iter().zip(&query.codes).map(|(row, query)| i32::from(*row) * i32::from(*query)).sum();
    }
}

#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn at_least(values: &[f32; GROUP], floor: f32) -> u64 {
    values.iter().enumerate().fold(0, |mask, (at, value)| mask | u64::from(*value >= floor) << at)
}
