//! Entries: the passages of one file, issue or session count as one result, for which the name of its file speaks too.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;

use rust_stemmers::{Algorithm, Stemmer};

use crate::query_names::{for_each_word, is_minor};

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

/// Weight of each further passage of an entry in relation to the one before.
const FURTHER: f64 = 0.8;

/// Weights of the mass of an entry's passages and of its name.
const MASS: f64 = 0.3;
const NAME: f64 = 0.2;

/// Returns the scores of entries: what their best passages say, and what the other passages and the name add to it, scaled so that
/// the best of the list stands where the best passage stood. A list of entries with one passage and no matching name keeps its
/// values. O(passages).
///
/// One passage that matches well can stand alone by chance; a file whose passages match again and again, or that is named after
/// what is asked, seldom does. The value of an entry's best passage is raised by
///
/// `(best value of all − background) · (0.3 · m + 0.2 · n)`
///
/// where n is the match of its name with the query, 0 to 1, and m its mass in relation to the greatest mass in the list. The mass
/// of an entry with passages of values v₁ ≥ v₂ ≥ … is Σ 0.8ⁱ⁻¹ · max(0, vᵢ − background): a passage that is no better than one
/// that has nothing to do with the query adds nothing, and none takes anything away from its own entry.
///
/// `passages` holds the values of the passages of each entry, best first, `names` the match of each entry's name, and `background` is the
/// value of a passage that has nothing to do with the query.
pub fn entry_scores(passages: &[Vec<f64>], names: &[f64], background: f64) -> Vec<f64> {
    let own: Vec<f64> = passages.iter().map(|passages| entry_value(passages)).collect();
    // Scaling back would leave the errors of rounding.
    if passages.iter().all(|passages| passages.len() == 1) && names.iter().all(|&name| name == 0.0) {
        return own;
    }
    scaled(&own, &additions(passages, names, background), background)
}

/// Returns what is added to the value of each entry, 0 or more. `passages` holds the values of each entry's passages, best first.
fn additions(passages: &[Vec<f64>], names: &[f64], background: f64) -> Vec<f64> {
    let above = |value: f64| if value.is_finite() { (value - background).max(0.0) } else { 0.0 };
    let mass = |values: &Vec<f64>| {
        let mut weight = 1.0;
        values.iter().fold(0.0, |mass, &value| {
            let added = mass + weight * above(value);
            weight *= FURTHER;
            added
        })
    };
    let masses: Vec<f64> = passages.iter().map(mass).collect();
    let greatest = masses.iter().copied().fold(0.0, f64::max);
    let span = passages.iter().flatten().map(|&value| above(value)).fold(0.0, f64::max);
    let share = |mass: f64| if greatest > 0.0 { mass / greatest } else { 0.0 };
    let addition = |(&mass, &name): (&f64, &f64)| span * (MASS * share(mass) + NAME * name);
    masses.iter().zip(names).map(addition).collect()
}

/// Adds to values, and scales what is above the background to the greatest value before.
fn scaled(values: &[f64], additions: &[f64], background: f64) -> Vec<f64> {
    let above = |value: f64| if value.is_finite() { (value - background).max(0.0) } else { 0.0 };
    let raised: Vec<f64> = values.iter().zip(additions).map(|(value, addition)| value + addition).collect();
    let greatest = |values: &[f64]| values.iter().map(|&value| above(value)).fold(0.0, f64::max);
    let (before, after) = (greatest(values), greatest(&raised));
    let factor = if after > 0.0 { before / after } else { 1.0 };
    let scale = |value: f64| if above(value) > 0.0 { background + factor * above(value) } else { value };
    raised.into_iter().map(scale).collect()
}

// The passage that stands for an entry.

/// The least match of a query's names with a symbol at which its definition is shown from its head; see
/// [`QueryNames::match_score`](crate::QueryNames::match_score).
pub const NAMED: f64 = 0.3;

/// The share of the best value at which the head of a definition stands for the part that is better.
const NEAR: f64 = 0.9;

/// A passage of an entry, as the choice of its representative reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The value that ranks it.
    pub value: f64,
    /// True for an exact find.
    pub exact: bool,
    /// False for a text that says nothing by itself; see [`is_heading_alone`](crate::is_heading_alone),
    /// [`is_signature_alone`](crate::is_signature_alone), [`is_preamble_alone`](crate::is_preamble_alone) and
    /// [`is_empty_comment`](crate::is_empty_comment).
    pub says: bool,
    /// The position in the entry of the head of the definition that it continues; `None` for a head and for other text.
    pub head: Option<usize>,
    /// True if the query names its symbol.
    pub named: bool,
}

/// Returns the position of the passage that stands for an entry. `passages` are those of the entry, best first, and `background` is the
/// value of a passage that has nothing to do with the query. O(n).
///
/// It is the best passage, with three exceptions. An exact find comes before the others. A text that says nothing by itself stands only
/// for an entry without others. The head of a definition, which has its signature, stands for a later part of it if the query names the
/// definition or the head is nearly as good.
///
/// ```
/// use tamis_rank::{Standing, representative};
///
/// let passage = Standing { value: 0.8, exact: false, says: true, head: None, named: false };
/// let heading = Standing { says: false, ..passage };
/// let body = Standing { head: Some(2), ..passage };
/// let head = Standing { value: 0.78, ..passage };
/// assert_eq!(representative(&[heading, body, head], 0.3), 2);
/// ```
pub fn representative(passages: &[Standing], background: f64) -> usize {
    let first = |counts: fn(&Standing) -> bool| passages.iter().position(counts);
    let best = first(|one| one.exact).or_else(|| first(|one| one.says)).unwrap_or(0);
    let Some(part) = passages.get(best) else { return 0 };
    let Some((at, head)) = part.head.and_then(|at| Some((at, passages.get(at)?))) else { return best };
    let above = |one: &Standing| if one.value.is_finite() { (one.value - background).max(0.0) } else { 0.0 };
    let near = above(head) >= NEAR * above(part);
    let may = head.says && (head.exact || !part.exact);
    if may && (part.named || near) { at } else { best }
}

/// Stems of file names that name no subject: the directory does.
pub const GENERIC: &[&str] = &[
    "__init__", "__main__", "_index", "base", "common", "core", "default", "helpers", "impl", "index", "init", "lib",
    "main", "misc", "mod", "package", "readme", "types", "util", "utils",
];

/// Match of the directory, relative to the file's own name.
const DIRECTORY: f64 = 0.5;

/// The words of a query, to compare the names of files with.
///
/// ```
/// use tamis_rank::PathNames;
///
/// let names = PathNames::from_query("who collects the orphaned processes");
/// assert_eq!(names.match_score("src/process/unix/orphan.rs"), 1.0);
/// assert_eq!(names.match_score("src/process/mod.rs"), 1.0);
/// assert_eq!(names.match_score("src/process/kill.rs"), 0.5);
/// assert_eq!(names.match_score("src/net/tcp.rs"), 0.0);
/// ```
pub struct PathNames {
    stemmer: Stemmer,
    words: HashSet<String>,
}

/// Those of no words.
impl Default for PathNames {
    fn default() -> Self {
        PathNames::from_query("")
    }
}

impl fmt::Debug for PathNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathNames").field("words", &self.words).finish_non_exhaustive()
    }
}

impl PathNames {
    /// Reads a query. O(its length).
    pub fn from_query(query: &str) -> Self {
        // A pasted log has thousands of words, and the first ones say as much.
        const MOST_WORDS: usize = 64;
        let stemmer = Stemmer::create(Algorithm::English);
        let mut words = HashSet::new();
        for_each_word(query, |word| {
            let word = word.to_lowercase();
            if !is_minor(&word) {
                words.insert(stemmer.stem(&word).into_owned());
            }
            words.len() < MOST_WORDS
        });
        PathNames { stemmer, words }
    }

    /// The match of a path, 0 to 1: the share of the words of the file's name that the query has, or half of that share for the
    /// directory where it is greater. A name that says nothing, such as `mod.rs`, stands for its directory. O(its length).
    pub fn match_score(&self, path: &str) -> f64 {
        if self.words.is_empty() {
            return 0.0;
        }
        let mut parts = path.rsplit('/');
        let name = parts.next().unwrap_or_default();
        let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or(name);
        let directory = parts.next().map_or(0.0, |directory| self.share(directory));
        if GENERIC.contains(&stem.to_lowercase().as_str()) {
            directory
        } else {
            self.share(stem).max(DIRECTORY * directory)
        }
    }

    /// The share of the query's words that the name of a passage has, a symbol or a heading, 0 to 1. O(its length).
    pub fn share_in(&self, name: &str) -> f64 {
        let [_, held] = self.counts(name);
        (f64::from(held) / self.words.len().max(1) as f64).min(1.0)
    }

    /// The share of a name's words that the query has.
    fn share(&self, name: &str) -> f64 {
        let [all, held] = self.counts(name);
        if all == 0 { 0.0 } else { f64::from(held) / f64::from(all) }
    }

    /// The words of a name, and how many of them the query has.
    fn counts(&self, name: &str) -> [u32; 2] {
        let (mut all, mut held) = (0u32, 0u32);
        for_each_word(name, |word| {
            let word = word.to_lowercase();
            all += 1;
            held += u32::from(self.words.contains(self.stemmer.stem(&word).as_ref()));
            true
        });
        [all, held]
    }
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

    #[test]
    fn more_matches_and_a_name_raise_an_entry_and_one_passage_keeps_its_value() {
        let scores = entry_scores(&[vec![0.80], vec![0.79, 0.78, 0.77, 0.76]], &[0.0, 0.0], 0.3);
        assert!(scores[1] > scores[0], "{scores:?}");
        assert!((scores[1] - 0.80).abs() < 1e-12, "the best stands where the best passage stood: {scores:?}");
        let values = [0.9, 0.7, 0.5, 0.2, f64::NAN];
        let scores = entry_scores(&values.map(|value| vec![value]), &[0.0; 5], 0.3);
        assert!(scores[..4] == values[..4] && scores[4].is_nan(), "{scores:?}");
        let scores = entry_scores(&[vec![0.8], vec![0.75]], &[0.0, 1.0], 0.3);
        assert!(scores[1] > scores[0], "{scores:?}");
    }

    const PASSAGE: Standing = Standing { value: 0.8, exact: false, says: true, head: None, named: false };

    #[test]
    fn the_best_passage_stands_for_an_entry_without_reasons_against() {
        assert_eq!([representative(&[PASSAGE, PASSAGE], 0.0), representative(&[], 0.0)], [0, 0]);
        assert_eq!(representative(&[Standing { says: false, ..PASSAGE }; 2], 0.0), 0, "nothing else is there");
        let heading = Standing { says: false, exact: true, ..PASSAGE };
        assert_eq!(representative(&[heading, PASSAGE], 0.0), 0, "it is what was asked for");
    }

    #[test]
    fn a_head_stands_for_its_definition_if_it_is_near_or_named() {
        let part = Standing { head: Some(1), ..PASSAGE };
        let head = |value: f64| Standing { value, ..PASSAGE };
        assert_eq!(representative(&[part, head(0.75)], 0.3), 1);
        assert_eq!(representative(&[part, head(0.5)], 0.3), 0, "the part is much better");
        assert_eq!(representative(&[Standing { named: true, ..part }, head(0.1)], 0.3), 1);
        let exact = Standing { exact: true, named: true, ..part };
        assert_eq!(representative(&[exact, head(0.79)], 0.3), 0, "the head is not what was found");
        assert_eq!(representative(&[exact, Standing { exact: true, ..head(0.5) }], 0.3), 1);
        assert_eq!(representative(&[part, Standing { says: false, ..head(0.79) }], 0.3), 0);
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

        #[test]
        fn a_relevant_passage_never_lowers_its_entry_and_an_irrelevant_one_changes_nothing(
            lists in proptest::collection::vec(proptest::collection::vec(0.0f64..1.0, 1..6), 1..6),
            added in 0.0f64..1.0,
            background in 0.0f64..0.5,
        ) {
            let sorted = |mut list: Vec<f64>| { list.sort_by(|a, b| b.total_cmp(a)); list };
            let before: Vec<Vec<f64>> = lists.into_iter().map(sorted).collect();
            let irrelevant = added <= background && added <= before[0][0];
            let mut after = before.clone();
            after[0].push(added);
            after[0] = sorted(after[0].clone());
            let names = vec![0.5; before.len()];
            let value = |lists: &[Vec<f64>]| -> Vec<f64> {
                let own: Vec<f64> = lists.iter().map(|list| list[0]).collect();
                scaled(&own, &additions(lists, &names, background), background)
            };
            let (before, after) = (value(&before), value(&after));
            prop_assert!(after[0] >= before[0] - 1e-12, "{} < {}", after[0], before[0]);
            if irrelevant {
                prop_assert_eq!(before, after);
            }
        }

        #[test]
        fn what_stands_for_an_entry_says_something_if_anything_does(
            passages in prop::collection::vec((0.0f64..1.0, any::<bool>(), prop::option::of(0usize..8), any::<bool>()), 1..8),
        ) {
            let standing = |&(value, says, head, named): &(f64, bool, Option<usize>, bool)| {
                Standing { value, exact: false, says, head, named }
            };
            let passages: Vec<Standing> = passages.iter().map(standing).collect();
            let chosen = representative(&passages, 0.2);
            prop_assert!(passages[chosen].says || passages.iter().all(|one| !one.says));
        }
    }

    #[test]
    fn words_match_by_their_stems_and_in_any_style_of_name() {
        let names = PathNames::from_query("how is the message compressed with a TokenBucket");
        for (path, score) in [
            ("compression.go", 1.0),
            ("src/token_bucket.rs", 1.0),
            ("src/TokenStream.java", 0.5),
            ("compress/__init__.py", 1.0),
            ("compress/zlib.py", 0.5),
            ("a/how.rs", 0.0),
            ("", 0.0),
        ] {
            assert_eq!(names.match_score(path), score, "{path}");
        }
        assert_eq!(names.share_in("TokenBucket::refill"), 0.5, "token, bucket of message, compressed, token, bucket");
        assert_eq!(PathNames::from_query("").match_score("src/a.rs"), 0.0);
        assert_eq!(PathNames::from_query("").share_in("a"), 0.0);
    }
}
