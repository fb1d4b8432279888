//! Diversity: new information before repetition.

use std::borrow::Borrow;
use std::collections::HashMap;

use crate::fusion::order;

/// The order of maximal marginal relevance (Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998):
/// the most relevant first, then repeatedly the candidate with the highest `lambda` · relevance − (1 − `lambda`) · its greatest
/// similarity to those chosen before.
///
/// - `relevance` has one value per candidate, on any scale; it is scaled to [0, 1]. A value that is not finite counts as the
///   lowest.
/// - `lambda` is clamped to [0, 1]; at 1 the order follows relevance, and `similarity` is never called.
/// - `similarity` of two positions is clamped to [0, 1]; NaN counts as 0.
///
/// The first `limit` places are chosen this way, and the others follow by relevance. A smaller limit gives the beginning of a
/// larger one's order. Ties keep the order given. After each choice, `similarity` compares each remaining candidate with the one
/// just chosen: O(candidates · limit) calls.
///
/// ```
/// use tamis_rank::diversified;
///
/// // The second repeats the first.
/// let similarity = |a: usize, b: usize| if a + b == 1 { 1.0 } else { 0.0 };
/// assert_eq!(diversified(&[0.9, 0.88, 0.7], 0.5, 3, similarity), [0, 2, 1]);
/// assert_eq!(diversified(&[0.9, 0.88, 0.7], 1.0, 3, similarity), [0, 1, 2]);
/// ```
pub fn diversified(
    relevance: &[f64],
    lambda: f64,
    limit: usize,
    mut similarity: impl FnMut(usize, usize) -> f64,
) -> Vec<usize> {
    let mut left = order(relevance);
    let lambda = if lambda.is_nan() { 1.0 } else { lambda.clamp(0.0, 1.0) };
    if lambda == 1.0 {
        return left;
    }
    let shares = shares(relevance);
    let mut nearest = vec![0.0_f64; relevance.len()];
    let mut chosen = Vec::with_capacity(relevance.len());
    while chosen.len() < limit && !left.is_empty() {
        if let Some(&last) = chosen.last() {
            for &position in &left {
                let alike = similarity(position, last);
                // `max` ignores NaN.
                nearest[position] = nearest[position].max(alike).min(1.0);
            }
        }
        let worth = |position: usize| lambda * shares[position] - (1.0 - lambda) * nearest[position];
        let best = (1..left.len()).fold(0, |best, at| if worth(left[at]) > worth(left[best]) { at } else { best });
        chosen.push(left.remove(best));
    }
    chosen.extend(left);
    chosen
}

/// The values scaled to [0, 1].
fn shares(values: &[f64]) -> Vec<f64> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let lowest = finite().fold(f64::INFINITY, f64::min);
    let highest = finite().fold(f64::NEG_INFINITY, f64::max);
    let share = |&value: &f64| {
        let share = (value - lowest) / (highest - lowest);
        match value.is_finite() {
            true if share.is_finite() => share,
            true => f64::from(u8::from(value >= highest)),
            false => 0.0,
        }
    };
    values.iter().map(share).collect()
}

/// Jaccard similarity of two sets, 0 to 1; 0 for two empty ones. Both are ascending and without repetition. O(a + b).
///
/// ```
/// assert_eq!(tamis_rank::jaccard(&["a", "b", "c"], &["b", "c", "d"]), 0.5);
/// ```
pub fn jaccard<T: Ord>(a: &[T], b: &[T]) -> f64 {
    let (mut at_a, mut at_b, mut common) = (0, 0, 0usize);
    while let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
        let ordering = x.cmp(y);
        at_a += usize::from(ordering.is_le());
        at_b += usize::from(ordering.is_ge());
        common += usize::from(ordering.is_eq());
    }
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

// Near-copies: texts of nearly the same words, such as a vendored file or a page of the last version.
//
// Two texts are compared by the Jaccard similarity of their shingles, the runs of three words (Broder, "On the resemblance
// and containment of documents", SEQUENCES 1997). `near_copies` is exact without comparing all pairs: two sets with a
// Jaccard similarity of t or more share one of the first |x| − ⌈t·|x|⌉ + 1 elements of each in any common order (prefix
// filtering; Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", WWW 2007).

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
    use std::cell::Cell;

    #[test]
    fn by_hand() {
        // Shares 1, 0.8, 0.6, 0. After 0: 1 is worth 0.7 · 0.8 − 0.3 · 0.9 = 0.29, 2 is worth 0.42 − 0.03 = 0.39.
        let alike = |a: usize, b: usize| match (a.min(b), a.max(b)) {
            (0, 1) => 0.9,
            (0, 2) => 0.1,
            (1, 2) => 0.2,
            _ => 0.0,
        };
        assert_eq!(diversified(&[1.0, 0.9, 0.8, 0.5], 0.7, 4, alike), [0, 2, 1, 3]);
    }

    #[test]
    fn the_most_relevant_is_always_the_first() {
        for lambda in [0.0, 0.3, 0.7, 1.0] {
            assert_eq!(diversified(&[0.2, 0.9, 0.4], lambda, 3, |_, _| 1.0)[0], 1, "{lambda}");
        }
    }

    #[test]
    fn a_similarity_is_asked_once_for_each_that_is_left_at_each_choice() {
        let calls = Cell::new(0_usize);
        let counted = |candidates: usize, limit: usize| {
            calls.set(0);
            let relevance: Vec<f64> = (0..candidates).map(|at| 1.0 / (1.0 + at as f64)).collect();
            diversified(&relevance, 0.7, limit, |_, _| {
                calls.set(calls.get() + 1);
                0.5
            });
            calls.get()
        };
        // (n − 1) + (n − 2) + … for the second to the last choice.
        assert_eq!(counted(50, 5), 49 + 48 + 47 + 46);
        assert_eq!(counted(50, 50), 50 * 49 / 2);
        assert_eq!(counted(200, 10) / counted(100, 10), 2, "linear in the candidates");
        assert_eq!((counted(50, 1), counted(50, 0), counted(1, 5), counted(0, 5)), (0, 0, 0, 0));
    }

    #[test]
    fn what_is_no_number_does_no_harm() {
        let relevance = [f64::NAN, 0.5, f64::INFINITY, 0.7];
        assert_eq!(diversified(&relevance, 0.7, 4, |_, _| f64::NAN), [3, 1, 0, 2]);
        assert_eq!(diversified(&[0.3, 0.3, 0.3], f64::NAN, 3, |_, _| 1.0), [0, 1, 2]);
        assert_eq!(diversified(&[f64::MAX, f64::MIN], 0.7, 2, |_, _| 0.0), [0, 1]);
    }

    #[test]
    fn sets_in_common() {
        assert_eq!(jaccard::<u32>(&[], &[]), 0.0);
        assert_eq!(jaccard(&[1, 2], &[3]), 0.0);
        assert_eq!(jaccard(&[1, 2, 5], &[1, 2, 5]), 1.0);
    }

    fn pools() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        let size = 0..25usize;
        size.prop_flat_map(|n| (prop::collection::vec(-1.0..1.0f64, n), prop::collection::vec(-0.5..1.5f64, n * n)))
    }

    proptest! {
        #[test]
        fn fewer_are_the_beginning_of_more((relevance, alike) in pools(), lambda in 0.0..=1.0f64, limit in 0..25usize) {
            let n = relevance.len();
            let similarity = |a: usize, b: usize| alike[a.min(b) * n + a.max(b)];
            let whole = diversified(&relevance, lambda, n, similarity);
            let part = diversified(&relevance, lambda, limit, similarity);
            let limit = limit.min(n);
            prop_assert_eq!(&part[..limit], &whole[..limit]);
            let mut all = part;
            all.sort_unstable();
            prop_assert_eq!(all, (0..n).collect::<Vec<_>>());
        }

        #[test]
        fn relevance_alone_is_the_plain_order((relevance, _) in pools()) {
            let plain = diversified(&relevance, 1.0, usize::MAX, |_, _| panic!("not asked"));
            prop_assert_eq!(plain, order(&relevance));
        }

        #[test]
        fn the_running_maximum_is_the_greatest_similarity_to_the_chosen((relevance, alike) in pools(), lambda in 0.0..1.0f64) {
            let n = relevance.len();
            let similarity = |a: usize, b: usize| alike[a.min(b) * n + a.max(b)];
            let shares = shares(&relevance);
            let found = diversified(&relevance, lambda, n, similarity);
            for place in 1..n {
                let worth = |position: usize| {
                    let nearest = found[..place].iter().map(|&before| similarity(position, before).clamp(0.0, 1.0));
                    lambda * shares[position] - (1.0 - lambda) * nearest.fold(0.0, f64::max)
                };
                let best = found[place..].iter().map(|&position| worth(position)).fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(worth(found[place]) >= best - 1e-12);
            }
        }
    }

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
        assert_eq!(likeness("timeout", "Timeout!"), 1.0);
        assert_eq!(likeness("", "…"), 0.0);
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
