//! Near-copies: texts of nearly the same words, such as a vendored file or a page of the last version.
//!
//! Two texts are compared by the Jaccard similarity of their shingles, the runs of three words (Broder, "On the resemblance
//! and containment of documents", SEQUENCES 1997). `near_copies` is exact without comparing all pairs: two sets with a
//! Jaccard similarity of t or more share one of the first |x| − ⌈t·|x|⌉ + 1 elements of each in any common order (prefix
//! filtering; Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", WWW 2007).

use std::borrow::Borrow;
use std::collections::HashMap;

use crate::diversity::jaccard;

/// The least Jaccard similarity of two near-copies. In a text of two hundred words, three may differ.
pub const NEAR_COPY: f64 = 0.9;

/// Words of a shingle.
const WORDS: usize = 3;

/// A text as the set of its shingles. Case, space and punctuation do not count. A text of fewer than three words has one
/// shingle, and a text without words none.
///
/// ```
/// use tamis_rank::Shingles;
///
/// let one = Shingles::from_text("Heat the oven, then wait.");
/// assert_eq!(one.likeness(&Shingles::from_text("heat the OVEN then\nwait")), 1.0);
/// assert!(one.likeness(&Shingles::from_text("Heat the pan, then wait.")) < 0.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles(Vec<u64>);

impl Shingles {
    /// The shingles of a text, by a hash that is the same on every machine. O(n log n).
    pub fn from_text(text: &str) -> Self {
        let mut words = Vec::with_capacity(text.len() / 5);
        let mut word = OFFSET;
        let mut within = false;
        for c in text.chars() {
            if c.is_alphanumeric() {
                within = true;
                if c.is_ascii() {
                    word = hashed(word, u64::from(c.to_ascii_lowercase() as u32));
                } else {
                    word = c.to_lowercase().fold(word, |word, c| hashed(word, u64::from(c as u32)));
                }
            } else if within {
                words.push(word);
                (word, within) = (OFFSET, false);
            }
        }
        words.extend(within.then_some(word));
        let shingle = |words: &[u64]| words.iter().fold(OFFSET, |shingle, &word| mixed(hashed(shingle, word)));
        let mut shingles: Vec<u64> = match words.len() {
            0 => Vec::new(),
            few if few < WORDS => vec![shingle(&words)],
            _ => words.windows(WORDS).map(shingle).collect(),
        };
        shingles.sort_unstable();
        shingles.dedup();
        Shingles(shingles)
    }

    /// Jaccard similarity, 0 to 1; 0 for two texts without words.
    pub fn likeness(&self, other: &Shingles) -> f64 {
        jaccard(&self.0, &other.0)
    }

    /// The first shingles. Every near-copy shares one of them in its own prefix.
    fn prefix(&self) -> &[u64] {
        let length = self.0.len();
        // A product of floats that comes out too large must not shorten the prefix.
        let shared = (NEAR_COPY * length as f64 - 1e-9).ceil().max(0.0) as usize;
        &self.0[..(length - shared.min(length) + 1).min(length)]
    }
}

/// Basis and prime of the hash FNV-1a.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

fn hashed(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_mul(PRIME)
}

/// Spreads a hash over all bits, so that sorted shingles begin with arbitrary ones.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// Returns, for each text, the first earlier text that it is a near-copy of and that is not a copy itself, if any.
///
/// `texts` are in ranking order; `None` is not a copy of anything. `may(earlier, later)` can rule a pair out, for example two
/// passages of one file.
///
/// ```
/// use tamis_rank::{Shingles, near_copies};
///
/// let text = "Cached answers stay for an hour, or until the index changes.";
/// let texts = [text, "Nothing is cached.", text].map(|text| Some(Shingles::from_text(text)));
/// assert_eq!(near_copies(&texts, |_, _| true), [None, None, Some(0)]);
/// assert_eq!(near_copies(&texts, |_, _| false), [None, None, None]);
/// ```
pub fn near_copies<S: Borrow<Shingles>>(texts: &[Option<S>], may: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let texts: Vec<Option<&Shingles>> = texts.iter().map(|text| text.as_ref().map(Borrow::borrow)).collect();
    let mut originals: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut copies = vec![None; texts.len()];
    let mut alike: Vec<usize> = Vec::new();
    for (position, text) in texts.iter().enumerate() {
        let Some(text) = text.filter(|text| !text.0.is_empty()) else { continue };
        alike.clear();
        alike.extend(text.prefix().iter().filter_map(|shingle| originals.get(shingle)).flatten());
        alike.sort_unstable();
        alike.dedup();
        let is_original = |&&original: &&usize| {
            may(original, position) && texts[original].is_some_and(|original| original.likeness(text) >= NEAR_COPY)
        };
        copies[position] = alike.iter().find(is_original).copied();
        if copies[position].is_none() {
            for &shingle in text.prefix() {
                originals.entry(shingle).or_default().push(position);
            }
        }
    }
    copies
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two hundred words, `changed` of which differ from those of `text(0, _)`.
    fn text(changed: usize, word: &str) -> String {
        let step = 200_usize.checked_div(changed).unwrap_or(usize::MAX);
        let words = (0..200).map(|at| if at % step == step / 2 { word.to_owned() } else { format!("word{at}") });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_few_changed_words_in_a_page_leave_a_copy() {
        let original = Shingles::from_text(&text(0, ""));
        for (changed, copy) in [(0, true), (1, true), (3, true), (4, false), (20, false)] {
            let likeness = original.likeness(&Shingles::from_text(&text(changed, "other")));
            assert_eq!(likeness >= NEAR_COPY, copy, "{changed} words: {likeness}");
        }
    }

    #[test]
    fn one_changed_word_of_a_short_text_makes_another() {
        let likeness = |a: &str, b: &str| Shingles::from_text(a).likeness(&Shingles::from_text(b));
        assert!(likeness("the timeout is 30 seconds by default", "the timeout is 60 seconds by default") < 0.5);
        assert_eq!([likeness("timeout", "Timeout!"), likeness("", "…")], [1.0, 0.0]);
        assert_eq!(likeness("Ölofen im Keller", "ölofen im keller"), 1.0);
    }

    #[test]
    fn a_copy_of_a_copy_belongs_to_the_first() {
        let texts: Vec<Option<Shingles>> = [text(0, ""), text(20, "x"), text(1, "y"), text(20, "x"), text(0, "")]
            .iter()
            .map(|text| Some(Shingles::from_text(text)))
            .collect();
        assert_eq!(near_copies(&texts, |_, _| true), [None, None, Some(0), Some(1), Some(0)]);
        assert_eq!(near_copies(&texts, |a, b| (a, b) != (0, 2)), [None, None, None, Some(1), Some(0)]);
        let mut unread = texts;
        unread[0] = None;
        assert_eq!(near_copies(&unread, |_, _| true), [None, None, None, Some(1), Some(2)]);
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_comparing_all_pairs_finds(texts in proptest::collection::vec("([a-c] ){0,12}", 0..14)) {
            let shingles: Vec<Option<Shingles>> = texts.iter().map(|text| Some(Shingles::from_text(text))).collect();
            let found = near_copies(&shingles, |_, _| true);
            let mut expected: Vec<Option<usize>> = vec![None; texts.len()];
            for later in 0..texts.len() {
                expected[later] = (0..later).find(|&earlier| {
                    let likeness = Shingles::from_text(&texts[earlier]).likeness(&Shingles::from_text(&texts[later]));
                    expected[earlier].is_none() && likeness >= NEAR_COPY
                });
            }
            prop_assert_eq!(found, expected);
        }
    }
}
