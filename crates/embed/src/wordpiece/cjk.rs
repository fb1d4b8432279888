//! Chinese, Japanese and Korean for a model of tokens without order.
//!
//! The vocabulary of uncased BERT has few ideographs, spells kana by single characters and takes Hangul syllables apart. A bag
//! of those says little. Characters that it lacks, Hangul syllables, and all pairs of neighbours are therefore hashed onto the rows
//! of the tokens that BERT left unused.

/// The number of unused tokens, `[unused0]` to `[unused993]`.
const UNUSED: u32 = 994;

/// Returns true for ideographs, kana, and Hangul syllables.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}'
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}' | '\u{3005}' | '\u{ac00}'..='\u{d7a3}')
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

/// Appends the tokens of a run of such characters: one a character and one a pair of neighbours. `known` finds a character
/// in the vocabulary.
pub(super) fn tokens(run: &str, known: impl Fn(char) -> Option<u32>, ids: &mut Vec<u32>) {
    let mut before = None;
    for c in run.chars() {
        ids.push(match known(c) {
            Some(id) if !is_hangul(c) => id,
            _ => unused(0, u32::from(c)),
        });
        if let Some(before) = before {
            ids.push(unused(u32::from(before), u32::from(c)));
        }
        before = Some(c);
    }
}

/// Returns the unused token that stands for a pair of characters, or for the second if the first is 0.
fn unused(first: u32, second: u32) -> u32 {
    // The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
    let mut x = (u64::from(first) << 32 | u64::from(second)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let bucket = ((x ^ (x >> 31)) % u64::from(UNUSED)) as u32;
    // `[unused0]` to `[unused98]` have the identifiers 1 to 99; then come four tokens with names.
    if bucket < 99 { bucket + 1 } else { bucket + 5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WordPiece;

    #[test]
    fn buckets_are_the_unused_tokens() {
        let mut seen = std::collections::BTreeSet::new();
        for c in 0..100_000 {
            let id = unused(0, c);
            assert!(WordPiece::uncased_bert().token(id).unwrap().starts_with("[unused"), "{id}");
            seen.insert(id);
        }
        assert_eq!(seen.len(), UNUSED as usize);
    }

    #[test]
    fn order_counts_within_a_run() {
        let of = |run: &str| {
            let mut ids = Vec::new();
            tokens(run, |_| None, &mut ids);
            ids
        };
        assert_eq!(of("数据").len(), 3);
        assert_ne!(of("数据")[1], of("据数")[1]);
        assert!(of("").is_empty());
    }
}
