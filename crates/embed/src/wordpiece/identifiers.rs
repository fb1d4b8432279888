//! Where a written name divides into words: `getHttpResponse`, `HTTPServer`, `sha256`.
//!
//! The vocabulary is in lower case and knows few names of code, so that without this a name falls into pieces that mean
//! nothing (`get`, `##ht`, `##t`, `##pres`, …).

/// The case of the bytes of a word of at most 128, before it was lowered: a bit for each upper-case letter and each digit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) upper: u128,
    pub(super) digits: u128,
}

impl Shape {
    /// Records a byte, or the first byte of a character.
    pub(super) fn push(&mut self, at: usize, upper: bool, digit: bool) {
        if at < 128 {
            self.upper |= u128::from(upper) << at;
            self.digits |= u128::from(digit) << at;
        }
    }

    /// Returns a bit for each byte of a word of this length at which another word begins.
    ///
    /// - before a capital after a small letter: `get|Http`,
    /// - before the last of several capitals, if two small letters follow it: `HTTP|Server`, but `URLs`, `IPv4`,
    /// - between a letter and a digit: `sha|256`.
    pub(super) fn starts(self, length: usize) -> u128 {
        // Most words of prose are in small letters, or have a capital at most at the start.
        if self.upper <= 1 && self.digits == 0 || length > 128 {
            return 0;
        }
        let within = u128::MAX >> (128 - length);
        let (upper, digits) = (self.upper, self.digits);
        let lower = !(upper | digits) & within;
        let capital = upper & (lower << 1);
        let acronym = upper & (upper << 1) & (lower >> 1) & (lower >> 2);
        let digit = digits ^ (digits << 1);
        (capital | acronym | digit) & within & !1
    }
}

/// Calls `part` with each part of a word that begins at one of the bits, in order.
pub(super) fn for_each_part(word: &str, mut starts: u128, mut part: impl FnMut(&str)) {
    let mut from = 0;
    while starts != 0 {
        let to = starts.trailing_zeros() as usize;
        starts &= starts - 1;
        if word.is_char_boundary(to) {
            part(&word[from..to]);
            from = to;
        }
    }
    part(&word[from..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(word: &str) -> Vec<String> {
        let mut shape = Shape::default();
        for (at, c) in word.char_indices() {
            shape.push(at, c.is_uppercase(), c.is_numeric());
        }
        let mut parts = Vec::new();
        for_each_part(word, shape.starts(word.len()), |part| parts.push(part.to_owned()));
        parts
    }

    #[test]
    fn names_divide_at_capitals_and_digits() {
        for divided in [
            "get Http Response", "HTTP Server", "parse JSON", "XML Http Request", "sha 256 sum", "Vec 3 D", "URLs",
            "IPv 4", "README", "Plain", "plain", "x", "1980", "naïve Über",
        ] {
            assert_eq!(parts(&divided.replace(' ', "")).join(" "), divided);
        }
        assert_eq!(parts(&"aB".repeat(100)).len(), 1);
    }

    proptest! {
        #[test]
        fn parts_make_up_the_word(word in "[a-zA-Z0-9ÄäДдß中]{0,140}") {
            prop_assert_eq!(parts(&word).concat(), word);
        }
    }
}
