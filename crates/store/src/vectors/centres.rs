//! Centres for coding rows: the mean of the rows of each namespace.
//!
//! A sign code records the side of its centre on which a row lies. A single centre would lie far from every namespace and make
//! a search of one namespace depend on all others.

use std::collections::BTreeMap;

use super::format::MIXED;
use super::snapshot::Snapshot;

/// Sums of rows by namespace, for computing centres.
#[derive(Debug, Default)]
pub(super) struct Sums(BTreeMap<u32, (Vec<f64>, u64)>);

impl Sums {
    /// Adds a row.
    pub(super) fn add(&mut self, namespace: u32, codes: &[i8], scale: f32) {
        let (sum, count) = self.0.entry(namespace).or_insert_with(|| (vec![0.0; codes.len()], 0));
        for (sum, code) in sum.iter_mut().zip(codes) {
            *sum += f64::from(*code) * f64::from(scale);
        }
        *count += 1;
    }

    /// The means.
    pub(super) fn into_centres(self) -> Centres {
        let mut centres = Centres { namespaces: Vec::new(), values: Vec::new() };
        for (namespace, (sum, count)) in self.0 {
            centres.namespaces.push(namespace);
            centres.values.extend(sum.iter().map(|sum| (sum / count as f64) as f32));
        }
        centres
    }
}

/// Centres by namespace.
#[derive(Debug)]
pub(super) struct Centres {
    /// Ascending.
    pub(super) namespaces: Vec<u32>,
    /// One centre after the other.
    pub(super) values: Vec<f32>,
}

impl Centres {
    /// The position of a namespace's centre.
    pub(super) fn place(&self, namespace: u32) -> Option<usize> {
        self.namespaces.binary_search(&namespace).ok()
    }

    /// For each group of rows the position of their common centre, or a mark if they have several.
    pub(super) fn of_groups(&self, namespaces: &[u32], group: usize) -> Vec<u32> {
        let common = |rows: &[u32]| match (rows.iter().min(), rows.iter().max()) {
            (Some(least), Some(most)) if least == most => self.place(*least).map_or(MIXED, |place| place as u32),
            _ => MIXED,
        };
        namespaces.chunks(group).map(common).collect()
    }
}

/// The centre's part of the product of a row with a query, which the row's code lacks.
#[derive(Debug)]
pub(super) struct Offsets<'s> {
    namespaces: &'s [u32],
    offsets: Vec<f32>,
}

impl<'s> Offsets<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, query: &[f32]) -> Offsets<'s> {
        let product =
            |centre: &[f32]| centre.iter().zip(query).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let centres = snapshot.centres().chunks_exact(query.len().max(1));
        Offsets {
            namespaces: snapshot.centre_namespaces(),
            offsets: centres.map(|centre| product(centre) as f32).collect(),
        }
    }

    /// The part of the centre at a position; 0 in a damaged file without one.
    pub(super) fn at(&self, place: u32) -> f32 {
        self.offsets.get(place as usize).copied().unwrap_or_default()
    }

    /// The part of a namespace's centre.
    pub(super) fn of(&self, namespace: u32) -> f32 {
        self.namespaces.binary_search(&namespace).map_or(0.0, |place| self.at(place as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_namespace_has_the_mean_of_its_rows() {
        let mut sums = Sums::default();
        sums.add(7, &[2, 0], 0.5);
        sums.add(3, &[1, 1], 1.0);
        sums.add(7, &[0, 4], 0.5);
        let centres = sums.into_centres();
        assert_eq!(
            (centres.namespaces.as_slice(), centres.values.as_slice()),
            ([3, 7].as_slice(), [1.0, 1.0, 0.5, 1.0].as_slice())
        );
        assert_eq!((centres.place(7), centres.place(5)), (Some(1), None));
        assert_eq!(centres.of_groups(&[3, 3, 7, 7, 3, 7, 7], 2), [0, 1, MIXED, 1]);
    }
}
