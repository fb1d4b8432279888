//! How well two assessors agree beyond chance.

use serde::{Deserialize, Serialize};

/// The agreement of two assessors on the same items, each item in one of k ordered categories.
///
/// ```
/// use tamis_eval::Agreement;
///
/// // A person and a model graded six passages as not relevant (0) or relevant (1).
/// let pairs = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 0)];
/// let agreement = Agreement::of(&pairs, 2);
/// assert_eq!(agreement.table, [[2, 1], [1, 2]]);
/// assert!((agreement.kappa.unwrap() - 1.0 / 3.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Items that both assessed.
    pub items: u64,
    /// How often each combination occurs: a row for each category of the first assessor, a column for each of the second.
    pub table: Vec<Vec<u64>>,
    /// Share of items on which they agree, in [0, 1]; 0 without items.
    pub observed: f64,
    /// Share on which they would agree by chance, given how often each uses each category.
    pub expected: f64,
    /// Cohen's κ (1960): 1 is full agreement, 0 that of chance. `None` where chance alone makes them agree, as when both use
    /// one category only.
    pub kappa: Option<f64>,
    /// Cohen's κ (1968) with quadratic weights, where a disagreement counts by the square of its distance. With two
    /// categories it equals [`kappa`](Agreement::kappa).
    pub quadratic_kappa: Option<f64>,
}

impl Agreement {
    /// The agreement on these items, each with the category of both assessors. Items with a category of `categories` or above
    /// are left out. O(items + categories²).
    pub fn of(pairs: &[(usize, usize)], categories: usize) -> Agreement {
        let mut table = vec![vec![0u64; categories]; categories];
        for &(first, second) in pairs {
            if let Some(count) = table.get_mut(first).and_then(|row| row.get_mut(second)) {
                *count += 1;
            }
        }
        let rows: Vec<f64> = table.iter().map(|row| row.iter().sum::<u64>() as f64).collect();
        let columns: Vec<f64> = (0..categories).map(|at| table.iter().map(|row| row[at]).sum::<u64>() as f64).collect();
        let items = rows.iter().sum::<f64>();
        let mut sums = Sums::default();
        if items > 0.0 {
            for (first, row) in table.iter().enumerate() {
                for (second, &count) in row.iter().enumerate() {
                    let (observed, expected) = (count as f64 / items, rows[first] * columns[second] / (items * items));
                    let distance = first.abs_diff(second) as f64;
                    if first == second {
                        sums.observed += observed;
                        sums.expected += expected;
                    }
                    sums.observed_distance += distance * distance * observed;
                    sums.expected_distance += distance * distance * expected;
                }
            }
        }
        // Without any chance of disagreement there is nothing to measure.
        let possible = items > 0.0 && sums.expected_distance > 0.0;
        Agreement {
            items: items as u64,
            table,
            observed: sums.observed,
            expected: sums.expected,
            kappa: possible.then(|| (sums.observed - sums.expected) / (1.0 - sums.expected)),
            quadratic_kappa: possible.then(|| 1.0 - sums.observed_distance / sums.expected_distance),
        }
    }
}

#[derive(Default)]
struct Sums {
    observed: f64,
    expected: f64,
    observed_distance: f64,
    expected_distance: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(one: Option<f64>, other: f64) -> bool {
        one.is_some_and(|one| (one - other).abs() < 1e-12)
    }

    #[test]
    fn known_tables_have_their_known_values() {
        // 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: the usual example, κ = 0.4.
        let counts = [((1, 1), 20), ((1, 0), 5), ((0, 1), 10), ((0, 0), 15)];
        let pairs: Vec<_> = counts.iter().flat_map(|&(pair, count)| vec![pair; count]).collect();
        let agreement = Agreement::of(&pairs, 2);
        assert!(near(agreement.kappa, 0.4) && near(agreement.quadratic_kappa, 0.4), "{agreement:?}");
        assert_eq!((agreement.items, agreement.observed, agreement.expected), (50, 0.7, 0.5));
        // The observed squared distances are 1 + 1 + 1 + 4 of 8; the expected ones follow from the marginals.
        let pairs = [(0, 0), (0, 1), (1, 1), (1, 0), (2, 2), (2, 3), (3, 3), (3, 1)];
        let agreement = Agreement::of(&pairs, 4);
        assert_eq!(agreement.table[3], [0, 1, 0, 1]);
        let columns = [2.0, 3.0, 1.0, 2.0];
        let expected: f64 = (0..4)
            .flat_map(|row: i32| (0..4).map(move |column: i32| (row, column)))
            .map(|(row, column)| f64::from((row - column).pow(2)) * 2.0 * columns[column as usize] / 64.0)
            .sum();
        assert!(near(agreement.quadratic_kappa, 1.0 - (7.0 / 8.0) / expected), "{agreement:?}");
        assert!(near(agreement.kappa, (0.5 - 0.25) / 0.75));
    }

    #[test]
    fn one_category_alone_says_nothing() {
        for pairs in [&[][..], &[(1, 1), (1, 1)]] {
            let agreement = Agreement::of(pairs, 2);
            assert_eq!((agreement.kappa, agreement.quadratic_kappa), (None, None));
        }
        assert!(near(Agreement::of(&[(1, 1), (1, 0)], 2).kappa, 0.0), "a constant assessor agrees by chance alone");
        assert_eq!(Agreement::of(&[(0, 4), (4, 0), (0, 0)], 2).items, 1);
    }

    proptest! {
        #[test]
        fn kappa_is_symmetric_and_bounded(pairs in prop::collection::vec((0usize..4, 0usize..4), 0..60)) {
            let agreement = Agreement::of(&pairs, 4);
            let turned: Vec<_> = pairs.iter().map(|&(first, second)| (second, first)).collect();
            let turned = Agreement::of(&turned, 4);
            for (one, other) in
                [(agreement.kappa, turned.kappa), (agreement.quadratic_kappa, turned.quadratic_kappa)]
            {
                prop_assert_eq!(one.is_some(), other.is_some());
                if let (Some(one), Some(other)) = (one, other) {
                    prop_assert!((one - other).abs() < 1e-9 && (-1.0 - 1e-9..=1.0 + 1e-9).contains(&one));
                }
            }
            let same: Vec<_> = pairs.iter().map(|&(first, _)| (first, first)).collect();
            let same = Agreement::of(&same, 4);
            prop_assert!(same.kappa.is_none_or(|kappa| (kappa - 1.0).abs() < 1e-9));
        }
    }
}
