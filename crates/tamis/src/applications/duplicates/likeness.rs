//! Likeness of two texts by their words.

use rust_stemmers::{Algorithm, Stemmer};
use std::collections::{BTreeMap, BTreeSet};

/// The words of a text: letters, digits and underscores in lower case, English words by their stem. An identifier
/// counts as a whole and by its parts.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut words = BTreeSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
        let whole = word.to_lowercase();
        words.insert(stemmer.stem(&whole).into_owned());
        let parts = parts(word);
        if parts.len() > 1 {
            words.extend(parts.into_iter().map(|part| stemmer.stem(&part.to_lowercase()).into_owned()));
        }
    }
    words
}

/// Splits `parseConfig2` into `parse`, `Config`, `2`; `HTTPServer` into `HTTP`, `Server`; `max_size` into `max`,
/// `size`.
fn parts(word: &str) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    for (at, &c) in characters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| characters.get(before)).copied();
        let after = characters.get(at + 1).copied();
        let begins = match before {
            Some(before) if c.is_uppercase() => {
                !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())
            }
            Some(before) => c.is_numeric() != before.is_numeric(),
            None => false,
        };
        if (begins || c == '_') && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        if c != '_' {
            part.push(c);
        }
    }
    parts.extend(Some(part).filter(|part| !part.is_empty()));
    parts
}

/// Word weights over a set of texts: ln(1 + (n − f + ½) / (f + ½)), where f of the n texts hold the word. Among texts
/// on one subject the subject's own words weigh little, and distinguishing words weigh much.
pub(super) struct Weights(BTreeMap<String, f64>);

impl Weights {
    /// Computes the weights of all words of these texts.
    pub fn of(texts: &[BTreeSet<String>]) -> Self {
        let mut frequencies: BTreeMap<&String, usize> = BTreeMap::new();
        for word in texts.iter().flatten() {
            *frequencies.entry(word).or_default() += 1;
        }
        let total = texts.len() as f64;
        let weight = |frequency: usize| (1.0 + (total - frequency as f64 + 0.5) / (frequency as f64 + 0.5)).ln();
        Weights(frequencies.into_iter().map(|(word, frequency)| (word.clone(), weight(frequency))).collect())
    }

    /// The weighted share of one text's words that the other has, averaged over both directions, in [0, 1]. Averaging
    /// keeps a long text from containing everything and a short one from being contained in everything. 0 if either has
    /// no words.
    pub fn shared(&self, a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
        let weight = |word: &String| self.0.get(word).copied().unwrap_or_default();
        let mass = |words: &BTreeSet<String>| words.iter().map(weight).sum::<f64>();
        let (of_a, of_b) = (mass(a), mass(b));
        if of_a <= 0.0 || of_b <= 0.0 {
            return 0.0;
        }
        let shared: f64 = a.intersection(b).map(weight).sum();
        ((shared / of_a + shared / of_b) / 2.0).clamp(0.0, 1.0)
    }
}

/// The mean of one model's similarity and the others', each of the others weighted by `weight`.
pub(super) fn mean_similarity(similarity: f64, others: impl Iterator<Item = f64>, weight: f64) -> f64 {
    let (sum, count) = others.fold((similarity, 1.0), |(sum, count), other| (sum + weight * other, count + weight));
    sum / count
}

/// Combines similarity and shared words into one value in [0, 1]; 1 is the same text.
pub(super) fn likeness(similarity: f64, shared_words: f64, words_weight: f64) -> f64 {
    (similarity.clamp(0.0, 1.0) + words_weight * shared_words) / (1.0 + words_weight)
}

/// Exponential decay from 1, halved after each half-life.
pub(super) fn nearness(days: f64, half_life_days: f64) -> f64 {
    (-days.abs() / half_life_days).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn likeness_weighs_rare_parts_and_near_times() {
        assert_eq!(parts("HTTPServer2"), ["HTTP", "Server", "2"]);
        assert_eq!(parts("max_size"), ["max", "size"]);
        assert_eq!(words("parseConfig fails"), set(&["parseconfig", "pars", "config", "fail"]));
        assert_eq!(words("crashes crashed"), set(&["crash"]));
        assert!(words("… !?").is_empty());

        let texts = [set(&["upgrade", "jetty"]), set(&["upgrade", "jackson"]), set(&["upgrade", "jetty", "now"])];
        let weights = Weights::of(&texts);
        assert!(weights.0["upgrade"] < weights.0["jetty"] && weights.0["jetty"] < weights.0["jackson"]);
        let (near, far) = (weights.shared(&texts[0], &texts[2]), weights.shared(&texts[0], &texts[1]));
        assert!(near > 2.0 * far, "{near} {far}");

        assert_eq!((nearness(0.0, 180.0), nearness(-180.0, 180.0), nearness(360.0, 180.0)), (1.0, 0.5, 0.25));
        assert_eq!((mean_similarity(0.6, [0.9].into_iter(), 0.5) * 10.0).round(), 7.0);
        assert_eq!(mean_similarity(0.6, [].into_iter(), 0.5), 0.6);
        assert_eq!((likeness(1.0, 1.0, 0.7), likeness(-0.5, 0.0, 0.7)), (1.0, 0.0));
    }

    proptest! {
        #[test]
        fn shared_words_are_a_share_and_the_same_both_ways(texts in proptest::collection::vec("[a-eA-E_0-2 ]{0,40}", 1..8)) {
            let texts: Vec<BTreeSet<String>> = texts.iter().map(|text| words(text)).collect();
            let weights = Weights::of(&texts);
            for (a, b) in texts.iter().zip(texts.iter().skip(1)) {
                let shared = weights.shared(a, b);
                prop_assert!((0.0..=1.0).contains(&shared));
                prop_assert_eq!(shared, weights.shared(b, a));
            }
            prop_assert!(texts[0].is_empty() || (weights.shared(&texts[0], &texts[0]) - 1.0).abs() < 1e-9);
        }

        #[test]
        fn any_text_has_words(text in "\\PC{0,80}") {
            prop_assert!(words(&text).iter().all(|word| !word.is_empty()) || text.is_empty());
        }
    }
}
