//! Numbered pairs of symbols from the same file and from different files. Drawing numbers draws pairs.
//!
//! Symbols are numbered file after file. All same-file pairs are numbered from 0, and so are all pairs of different
//! files. A number leads to its pair in time logarithmic in the number of files. Drawing numbers uniformly draws pairs
//! uniformly: a file with n symbols contributes n(n − 1)/2 same-file pairs, not one.

use std::collections::BTreeSet;
use tamis_eval::Random;

/// The pairs of some symbols, which are numbered from 0, file after file.
#[derive(Debug)]
pub(super) struct Pairs {
    /// The first symbol of each file, followed by the total number of symbols.
    starts: Vec<u64>,
    /// The number of same-file pairs in the files before each file, followed by the total.
    same: Vec<u64>,
    /// The number of different-file pairs whose first file comes before each file, followed by the total.
    different: Vec<u64>,
}

impl Pairs {
    /// The pairs of files with this many symbols each.
    pub(super) fn new(sizes: &[usize]) -> Self {
        let sizes = || sizes.iter().map(|&size| size as u64);
        let all: u64 = sizes().sum();
        let cumulated = |counts: &mut dyn Iterator<Item = u64>| -> Vec<u64> {
            let mut sum = 0;
            let sums = counts.map(|count| {
                sum += count;
                sum
            });
            std::iter::once(0).chain(sums).collect()
        };
        let starts = cumulated(&mut sizes());
        let later = starts.iter().skip(1).map(|end| all - end);
        Pairs {
            same: cumulated(&mut sizes().map(|size| size * size.saturating_sub(1) / 2)),
            different: cumulated(&mut sizes().zip(later).map(|(size, later)| size * later)),
            starts,
        }
    }

    /// Returns the number of pairs that are of the same file.
    pub(super) fn same_count(&self) -> u64 {
        self.same.last().copied().unwrap_or(0)
    }

    /// Returns the number of pairs that are of different files.
    pub(super) fn different_count(&self) -> u64 {
        self.different.last().copied().unwrap_or(0)
    }

    /// The same-file pair with a number below [`Pairs::same_count`].
    fn same(&self, number: u64) -> (usize, usize) {
        let file = self.same.partition_point(|&before| before <= number) - 1;
        let within = number - self.same[file];
        // The pair (a, b) with a < b has the number b(b − 1)/2 + a: b is the largest whole number with b(b − 1)/2 ≤ number.
        let mut b = (((8 * within + 1) as f64).sqrt() as u64).div_ceil(2);
        while b * b.saturating_sub(1) / 2 > within {
            b -= 1;
        }
        while (b + 1) * b / 2 <= within {
            b += 1;
        }
        let a = within - b * (b - 1) / 2;
        ((self.starts[file] + a) as usize, (self.starts[file] + b) as usize)
    }

    /// The pair of different files with a number below [`Pairs::different_count`].
    fn different(&self, number: u64) -> (usize, usize) {
        let file = self.different.partition_point(|&before| before <= number) - 1;
        let within = number - self.different[file];
        let end = self.starts[file + 1];
        let later = self.starts[self.starts.len() - 1] - end;
        ((self.starts[file] + within / later) as usize, (end + within % later) as usize)
    }

    /// Draws `count` same-file pairs, each equally likely and none twice; all pairs if there are fewer.
    pub(super) fn draw_same(&self, count: u64, random: &mut Random) -> Vec<(usize, usize)> {
        draw(self.same_count(), count, random).into_iter().map(|number| self.same(number)).collect()
    }

    /// Draws `count` pairs of different files, each equally likely and none twice; all pairs if there are fewer.
    pub(super) fn draw_different(&self, count: u64, random: &mut Random) -> Vec<(usize, usize)> {
        draw(self.different_count(), count, random).into_iter().map(|number| self.different(number)).collect()
    }
}

/// Draws `count` numbers below `bound`, every set of them equally likely (Floyd's method, Bentley, *A sample of
/// brilliance*, 1987); all numbers if there are fewer.
fn draw(bound: u64, count: u64, random: &mut Random) -> BTreeSet<u64> {
    let mut drawn = BTreeSet::new();
    for last in bound.saturating_sub(count)..bound {
        if !drawn.insert(random.below_u64(last + 1)) {
            drawn.insert(last);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The file of each symbol.
    fn files(sizes: &[usize]) -> Vec<usize> {
        sizes.iter().enumerate().flat_map(|(file, &size)| std::iter::repeat_n(file, size)).collect()
    }

    proptest! {
        #[test]
        fn every_pair_has_one_number(sizes in prop::collection::vec(0usize..7, 0..8)) {
            let (pairs, files) = (Pairs::new(&sizes), files(&sizes));
            let expected = |same: bool| {
                let every = (0..files.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
                every.filter(|&(a, b)| (files[a] == files[b]) == same).collect::<BTreeSet<_>>()
            };
            let same: Vec<_> = (0..pairs.same_count()).map(|number| pairs.same(number)).collect();
            let different: Vec<_> = (0..pairs.different_count()).map(|number| pairs.different(number)).collect();
            prop_assert_eq!(same.len(), expected(true).len());
            prop_assert_eq!(same.into_iter().collect::<BTreeSet<_>>(), expected(true));
            prop_assert_eq!(different.len(), expected(false).len());
            prop_assert_eq!(different.into_iter().collect::<BTreeSet<_>>(), expected(false));
        }

        #[test]
        fn large_numbers_lead_to_pairs_of_their_file(size in 2usize..3_000_000, share in 0.0f64..1.0) {
            let pairs = Pairs::new(&[3, size, 5]);
            let number = 3 + ((pairs.same_count() - 13) as f64 * share) as u64;
            let (a, b) = pairs.same(number);
            prop_assert!((3..3 + size).contains(&a) && a < b && b < 3 + size);
            let (a, b) = (a as u64 - 3, b as u64 - 3);
            prop_assert_eq!(3 + b * (b - 1) / 2 + a, number);
        }

        #[test]
        fn a_draw_has_as_many_as_asked_for_and_none_twice(bound in 0u64..2000, count in 0u64..600, seed: u64) {
            let drawn = draw(bound, count, &mut Random::new(seed, "test", ""));
            prop_assert_eq!(drawn.len() as u64, bound.min(count));
            prop_assert!(drawn.iter().all(|&number| number < bound));
        }
    }

    /// The trap: the first 500 pairs by path all come from the first few files.
    #[test]
    fn trap_the_first_pairs_by_path_are_of_the_first_few_files() {
        let sizes = vec![20; 400];
        let (pairs, files) = (Pairs::new(&sizes), files(&sizes));
        let of = |drawn: Vec<(usize, usize)>| -> (BTreeSet<usize>, f64) {
            let touched = drawn.iter().flat_map(|&(a, b)| [files[a], files[b]]).collect();
            (touched, drawn.iter().map(|&(a, _)| files[a] as f64).sum::<f64>() / drawn.len() as f64)
        };
        // 190 pairs a file: the first 500 would touch 3 files of 400. 500 draws of 400 files touch 400 · (1 − e^(−1.25)) = 285.
        let (touched, mean) = of(pairs.draw_same(500, &mut Random::new(0, "same", "rust")));
        assert!((250..=320).contains(&touched.len()), "{}", touched.len());
        assert!((170.0..=230.0).contains(&mean), "{mean}");
        let (touched, _) = of(pairs.draw_different(500, &mut Random::new(0, "different", "rust")));
        assert!(touched.len() > 330, "{}", touched.len());
    }

    #[test]
    fn a_file_weighs_as_many_as_its_pairs() {
        // 45 pairs in the first file and 1,225 in the second.
        let pairs = Pairs::new(&[10, 50]);
        let mut in_first = 0;
        for seed in 0..40 {
            let drawn = pairs.draw_same(100, &mut Random::new(seed, "same", "rust"));
            in_first += drawn.iter().filter(|(a, _)| *a < 10).count();
        }
        // 4,000 · 45 / 1,270 = 142, with a deviation of 12.
        assert!((100..=185).contains(&in_first), "{in_first}");
    }
}
