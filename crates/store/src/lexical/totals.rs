//! The number of passages and terms of each namespace in the index, for average lengths and frequencies.
//!
//! They are stored with each commit and updated by the next, so that opening the index counts nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Passages, and the terms in their two fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) passages: u64,
    pub(crate) body: u64,
    pub(crate) name: u64,
}

impl Lengths {
    pub(crate) fn add(&mut self, more: Lengths) {
        self.passages += more.passages;
        self.body += more.body;
        self.name += more.name;
    }

    fn subtract(&mut self, less: Lengths) {
        self.passages = self.passages.saturating_sub(less.passages);
        self.body = self.body.saturating_sub(less.body);
        self.name = self.name.saturating_sub(less.name);
    }
}

/// The lengths of each namespace that has passages, by its number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Totals(BTreeMap<u32, Lengths>);

impl Totals {
    /// Adds passages to a namespace.
    pub(super) fn add(&mut self, namespace: u32, lengths: Lengths) {
        self.0.entry(namespace).or_default().add(lengths);
    }

    /// Subtracts passages from a namespace.
    pub(super) fn subtract(&mut self, namespace: u32, lengths: Lengths) {
        if let Some(total) = self.0.get_mut(&namespace) {
            total.subtract(lengths);
            if total.passages == 0 {
                self.0.remove(&namespace);
            }
        }
    }

    /// The passages of all namespaces.
    pub(super) fn passages(&self) -> u64 {
        self.0.values().map(|lengths| lengths.passages).fold(0, u64::saturating_add)
    }

    /// The lengths of the given namespaces, or of all for `None`, ascending.
    pub(super) fn of(&self, namespaces: Option<&[u32]>) -> Vec<(u32, Lengths)> {
        match namespaces {
            None => self.0.iter().map(|(&namespace, &lengths)| (namespace, lengths)).collect(),
            Some(asked) => asked.iter().filter_map(|namespace| Some((*namespace, *self.0.get(namespace)?))).collect(),
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (namespace, Lengths { passages, body, name })) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { " " };
            write!(formatter, "{separator}{namespace}:{passages}:{body}:{name}")?;
        }
        Ok(())
    }
}

impl FromStr for Totals {
    type Err = ();

    fn from_str(text: &str) -> Result<Totals, ()> {
        let mut totals = BTreeMap::new();
        for entry in text.split_whitespace() {
            let mut numbers = entry.split(':').map(|number| number.parse::<u64>().map_err(|_| ()));
            let mut next = || numbers.next().unwrap_or(Err(()));
            let namespace = u32::try_from(next()?).map_err(|_| ())?;
            totals.insert(namespace, Lengths { passages: next()?, body: next()?, name: next()? });
        }
        Ok(Totals(totals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn totals_read_back(entries in prop::collection::btree_map(any::<u32>(), (1u64..1 << 40, any::<u32>(), any::<u32>()), 0..20)) {
            let mut totals = Totals::default();
            for (namespace, (passages, body, name)) in entries {
                totals.add(namespace, Lengths { passages, body: body.into(), name: name.into() });
            }
            prop_assert_eq!(totals.to_string().parse(), Ok(totals));
        }

        #[test]
        fn any_text_reads_as_totals_or_as_none(text in "[0-9: ]{0,30}") {
            let _ = text.parse::<Totals>();
        }
    }

    #[test]
    fn what_is_counted_in_can_be_counted_out() {
        let lengths = Lengths { passages: 1, body: 7, name: 2 };
        let mut totals = Totals::default();
        totals.add(3, lengths);
        totals.add(5, lengths);
        totals.add(5, lengths);
        totals.subtract(5, lengths);
        totals.subtract(9, lengths);
        assert_eq!(totals.of(None), [(3, lengths), (5, lengths)]);
        assert_eq!(totals.of(Some(&[4, 5])), [(5, lengths)]);
        totals.subtract(3, lengths);
        totals.subtract(5, lengths);
        assert_eq!(totals, Totals::default());
        assert_eq!("1:2:x:3".parse::<Totals>(), Err(()));
        assert_eq!("1:2".parse::<Totals>(), Err(()));
    }
}
