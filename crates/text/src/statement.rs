//! A separate text: a fragment of a page, or a claim.

use crate::document::{HEADING_LENGTH, Options, Passage};
use crate::lines::Lines;
use crate::pack::{Piece, pack};
use crate::{Kind, Role, by_lines};

/// The passages of a separate text, under a heading that it need not contain. A text that fits is one passage, whatever
/// its form. The passages of a longer one are its parts, numbered from 0.
///
/// ```
/// use tamis_text::{Kind, Options, read_statement};
///
/// let passages = read_statement(Kind::Claim, "A sieve keeps what is coarse.", Some("Sieves"), &Options::default());
/// assert_eq!((passages.len(), passages[0].part), (1, None));
/// assert_eq!(passages[0].embedded_text(), "Sieves\nA sieve keeps what is coarse.");
/// ```
#[must_use]
pub fn read_statement(kind: Kind, text: &str, heading: Option<&str>, options: &Options) -> Vec<Passage> {
    let lines = Lines::new(text);
    let Some((first, last)) = lines.count().checked_sub(1).and_then(|last| lines.trim(0, last)) else {
        return Vec::new();
    };
    let max_tokens = options.limit();
    let pieces = if lines.tokens(first, last) > max_tokens {
        pack(&lines, (first, last), lines.token_sums(), max_tokens, |row| by_lines::badness(&lines, row))
    } else {
        vec![Piece { first, last, part: None }]
    };
    let heading = heading.map(str::trim).filter(|heading| !heading.is_empty());
    let heading: Option<String> = heading.map(|heading| heading.chars().take(HEADING_LENGTH).collect());
    let several = pieces.len() > 1;
    let numbered = pieces.iter().zip(0_u32..);
    numbered
        .map(|(piece, number)| Passage {
            heading: heading.clone(),
            part: several.then_some(number),
            ..piece.passage(&lines, kind, Role::Main)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_text_is_divided_and_its_parts_are_numbered() {
        let options = Options { max_tokens: 40 };
        let line = "One sentence of some length that is followed by another one of the same length.\n";
        let passages = read_statement(Kind::Fragment, &line.repeat(12), None, &options);
        assert!(passages.len() > 3);
        let parts: Vec<_> = passages.iter().map(|passage| passage.part).collect();
        assert_eq!(parts, (0..).take(passages.len()).map(Some).collect::<Vec<_>>());
        assert_eq!(passages.iter().map(|passage| passage.text.lines().count()).sum::<usize>(), 12);
    }

    proptest! {
        #[test]
        fn nothing_but_blanks_is_left_out(text in "[a-z \n.]{0,400}", max_tokens in 0_usize..80) {
            let passages = read_statement(Kind::Claim, &text, Some("h"), &Options { max_tokens });
            let words = |text: &str| text.split_whitespace().collect::<String>();
            let all: String = passages.iter().map(|passage| words(&passage.text)).collect();
            prop_assert_eq!(all, words(&text));
        }
    }
}
