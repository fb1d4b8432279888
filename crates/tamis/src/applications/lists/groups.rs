//! Lists whose entries belong to groups, such as the passages of a document. A group counts once, by its best entry.

use super::{DecidedList, ListCutter, ListEntry, ListError};
use crate::search::{Aim, TunedRule};
use std::collections::HashMap;
use tamis_cut::{Fixed, Want};

/// A decided list of groups.
#[derive(Clone, Debug)]
pub struct GroupedList {
    /// The decided groups; a candidate is a group.
    pub decided: DecidedList,
    /// The entries of each candidate as positions in the list, best first; in the order of the decided candidates.
    pub members: Vec<Vec<usize>>,
}

impl ListCutter<'_> {
    /// Decides groups by the best entry of each. `groups` has the group of each entry; an entry of none is a group by itself.
    ///
    /// # Errors
    /// As [`ListCutter::cut`].
    pub fn cut_groups(&self, entries: &[&ListEntry], groups: &[Option<usize>]) -> Result<GroupedList, ListError> {
        // The cut of everything orders the entries, on the scale of its method.
        let everything = TunedRule::new(&Fixed { k: 1_000_000 }, Want::Auto, &Aim::default()).ok();
        let rule = match &everything {
            Some(everything) if entries.iter().all(|entry| entry.score.is_some()) => everything,
            _ => self.rule,
        };
        let order = ListCutter { rule, gate: false, ..*self }.decided(entries)?;
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<usize, usize> = HashMap::new();
        for position in order.positions() {
            let next = members.len();
            let at = match groups.get(position).copied().flatten() {
                Some(group) => *known.entry(group).or_insert(next),
                None => next,
            };
            match members.get_mut(at) {
                Some(members) => members.push(position),
                None => members.push(vec![position]),
            }
        }
        let best: Vec<&ListEntry> = members.iter().map(|members| entries[members[0]]).collect();
        let decided = self.decided(&best)?;
        let members = decided.positions().map(|at| std::mem::take(&mut members[at])).collect();
        Ok(GroupedList { decided, members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_cut::parse;

    #[test]
    fn a_group_counts_once_by_its_best_entry() {
        let rule = TunedRule::new(parse("fixed:k=2").expect("a method").as_ref(), Want::Auto, &Aim::default());
        let rule = rule.expect("no aim");
        let entries = [0.9, 0.8, 0.7, 0.6].map(|score| ListEntry { score: Some(score), ..ListEntry::default() });
        let entries: Vec<&ListEntry> = entries.iter().collect();
        let grouped = ListCutter::new(&rule).cut_groups(&entries, &[Some(7), None, Some(7), None]).expect("decided");
        assert_eq!(grouped.members, [vec![0, 2], vec![1], vec![3]]);
        assert_eq!((grouped.decided.cut.keep, grouped.decided.cut.candidates), (2, 3));
        assert_eq!(grouped.decided.values, [0.9, 0.8, 0.6]);
    }
}
