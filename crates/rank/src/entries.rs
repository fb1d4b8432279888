//! Entries: the passages of one file, issue or session count as one result.

use std::collections::HashMap;
use std::hash::Hash;

/// The passages of one result, as a person counts results.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The value that ranks it; see [`entry_value`].
    pub value: f64,
    /// Positions of its passages in the list, best first; never empty.
    pub passages: Vec<usize>,
}

/// Groups ranked passages into entries, best first.
///
/// `keys` names the entry of each passage and `values` holds its value, both in ranking order. Values need not descend, since a
/// ranking by reciprocal ranks follows others. If they do descend, the entries are ordered by their own values, otherwise by
/// their first passages. O(n log n).
///
/// ```
/// use tamis_rank::entries;
///
/// let entries = entries(&["oven.md", "bread.md", "oven.md"], &[0.9, 0.7, 0.6]);
/// assert_eq!(entries.len(), 2);
/// assert_eq!((entries[0].value, entries[0].passages.as_slice()), (0.9, [0, 2].as_slice()));
/// ```
pub fn entries<K: Eq + Hash>(keys: &[K], values: &[f64]) -> Vec<Entry> {
    let mut places: HashMap<&K, usize> = HashMap::with_capacity(keys.len());
    let mut entries: Vec<Entry> = Vec::new();
    for (position, key) in keys.iter().enumerate().take(values.len()) {
        let place = *places.entry(key).or_insert(entries.len());
        match entries.get_mut(place) {
            Some(entry) => entry.passages.push(position),
            None => entries.push(Entry { value: 0.0, passages: vec![position] }),
        }
    }
    let mut of_entry = Vec::new();
    for entry in &mut entries {
        of_entry.clear();
        of_entry.extend(entry.passages.iter().map(|&position| values[position]));
        entry.value = entry_value(&of_entry);
    }
    // Values that are not finite come last.
    let finite = |value: f64| if value.is_finite() { value } else { f64::NEG_INFINITY };
    if values.is_sorted_by(|&a, &b| finite(a) >= finite(b)) {
        entries.sort_by(|a, b| finite(b.value).total_cmp(&finite(a.value)));
    }
    entries
}

/// Returns the value of an entry from the values of its passages in the pool: the best one. A value that is not finite counts
/// only if there is no other.
///
/// ```
/// assert_eq!(tamis_rank::entry_value(&[0.4, f64::NAN, 0.9]), 0.9);
/// ```
pub fn entry_value(passages: &[f64]) -> f64 {
    let finite = passages.iter().copied().filter(|value| value.is_finite()).reduce(f64::max);
    finite.or(passages.first().copied()).unwrap_or(f64::NEG_INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn passages_of_one_key_are_one_entry_where_its_best_stands() {
        let grouped = entries(&['b', 'a', 'b', 'c', 'a'], &[0.9, 0.8, 0.7, 0.6, 0.5]);
        let shape: Vec<(f64, &[usize])> = grouped.iter().map(|entry| (entry.value, &*entry.passages)).collect();
        assert_eq!(shape, [(0.9, &[0, 2][..]), (0.8, &[1, 4]), (0.6, &[3])]);
    }

    #[test]
    fn another_order_than_by_value_stays() {
        // Reciprocal ranks put the second best value first.
        let grouped = entries(&['a', 'b', 'b'], &[0.7, 0.5, 0.9]);
        assert_eq!(grouped.iter().map(|entry| entry.value).collect::<Vec<_>>(), [0.7, 0.9]);
    }

    #[test]
    fn values_that_are_not_finite_come_last_and_raise_nothing() {
        let grouped = entries(&['a', 'b', 'a', 'c'], &[0.7, 0.6, f64::NAN, f64::NAN]);
        assert_eq!(grouped[0].value, 0.7);
        assert!(grouped[2].value.is_nan() && grouped[2].passages == [3]);
        assert_eq!(entry_value(&[]), f64::NEG_INFINITY);
        assert!(entries::<u8>(&[], &[]).is_empty());
    }

    proptest! {
        #[test]
        fn each_passage_is_in_one_entry_and_entries_descend(pairs in proptest::collection::vec((0u8..6, -1e3f64..1e3), 0..60)) {
            let mut pairs = pairs;
            pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
            let (keys, values): (Vec<u8>, Vec<f64>) = pairs.into_iter().unzip();
            let grouped = entries(&keys, &values);
            let mut seen: Vec<usize> = grouped.iter().flat_map(|entry| entry.passages.clone()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..keys.len()).collect::<Vec<_>>());
            prop_assert!(grouped.windows(2).all(|pair| pair[0].value >= pair[1].value));
            for entry in &grouped {
                prop_assert!(entry.passages.is_sorted());
                prop_assert!(entry.passages.iter().all(|&at| keys[at] == keys[entry.passages[0]]));
                prop_assert_eq!(entry.value, values[entry.passages[0]]);
            }
        }
    }
}
