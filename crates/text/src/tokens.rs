//! Estimates the number of tokens of a text, without a tokenizer.

/// Estimates the number of tokens that a subword tokenizer makes of `text`.
///
/// A word counts one and one more for every six characters beyond its first six, two punctuation marks count one, a
/// Chinese, Japanese or Korean character counts one, white space nothing. The estimate of a text is at most the sum of
/// its lines' estimates, so that limits hold however the lines are joined.
///
/// ```
/// use tamis_text::estimate_tokens;
/// assert_eq!(estimate_tokens("where relevance ends"), 4);
/// assert_eq!(estimate_tokens("検索結果"), 4);
/// assert_eq!(estimate_tokens("  \n"), 0);
/// ```
#[must_use]
pub fn estimate_tokens(text: &str) -> usize {
    let mut meter = Meter::default();
    text.chars().for_each(|character| meter.push(character));
    meter.tokens()
}

/// The estimate, character by character. Counts halves, since two punctuation marks make one token.
#[derive(Default, Clone, Copy)]
pub struct Meter {
    halves: usize,
    word: usize,
}

/// Characters of one word that make one token.
const WORD_PART: usize = 6;

impl Meter {
    pub fn push(&mut self, character: char) {
        if !character.is_ascii() && is_wide_script(character) {
            self.word = 0;
            self.halves += 2;
        } else if character.is_alphanumeric() {
            self.letter();
        } else {
            self.word = 0;
            self.halves += usize::from(!character.is_whitespace() && !character.is_ascii_control());
        }
    }

    fn letter(&mut self) {
        if self.word.is_multiple_of(WORD_PART) {
            self.halves += 2;
        }
        self.word += 1;
    }

    pub fn tokens(self) -> usize {
        self.halves.div_ceil(2)
    }
}

/// Scripts written without spaces between words, where a character is about a token.
pub fn is_wide_script(character: char) -> bool {
    matches!(u32::from(character),
        0x0E00..=0x0EFF            // Thai, Lao
        | 0x1000..=0x109F | 0x1780..=0x17FF // Myanmar, Khmer
        | 0x1100..=0x11FF          // Hangul Jamo
        | 0x2E80..=0x9FFF          // CJK radicals to unified ideographs, kana included
        | 0xA000..=0xA4CF | 0xAC00..=0xD7FF // Yi, Hangul
        | 0xF900..=0xFAFF | 0xFE30..=0xFE4F | 0xFF00..=0xFFEF
        | 0x1F300..=0x1FAFF        // pictographs
        | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_are_close_to_what_tokenizers_make() {
        assert_eq!(estimate_tokens("pub fn open(&self, path: &Path) -> Result<Self, Error> {"), 15);
        assert_eq!([estimate_tokens("internationalization"), estimate_tokens("日本語の text")], [4, 5]);
        assert_eq!(estimate_tokens(""), 0);
    }

    proptest! {
        #[test]
        fn joining_lines_never_adds_tokens(lines in proptest::collection::vec("[^\n]{0,40}", 0..8)) {
            let sum: usize = lines.iter().map(|line| estimate_tokens(line)).sum();
            prop_assert!(estimate_tokens(&lines.join("\n")) <= sum);
        }
    }
}
