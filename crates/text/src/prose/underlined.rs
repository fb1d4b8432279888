//! reStructuredText: headings are lines that the next line underlines.

use super::sections::{Heading, Outline};
use crate::lines::Lines;

/// An underline shorter than its title counts from this length on, as in docutils.
const SURE_UNDERLINE: usize = 4;

/// The headings, whose levels follow the order in which their styles first appear.
pub(super) fn outline(lines: &Lines<'_>) -> Outline {
    let mut styles: Vec<(char, bool)> = Vec::new();
    let mut outline = Outline::default();
    let mut row = 0;
    while row < lines.count() {
        let Some((heading, style)) = heading_at(lines, row) else {
            row += 1;
            continue;
        };
        let level = styles.iter().position(|known| *known == style).unwrap_or_else(|| {
            styles.push(style);
            styles.len() - 1
        });
        row = heading.last + 1;
        outline.headings.push(Heading { level: level + 1, ..heading });
    }
    outline
}

/// The heading that begins at `row`, and its style: the adornment and whether it is above the title too.
fn heading_at(lines: &Lines<'_>, row: usize) -> Option<(Heading, (char, bool))> {
    if row > 0 && !lines.is_blank(row - 1) {
        return None;
    }
    let (title, over) = match adornment(lines, row) {
        Some((mark, length)) => (row + 1, Some((mark, length))),
        None => (row, None),
    };
    let (mark, length) = adornment(lines, title + 1)?;
    if title >= lines.count() || lines.is_blank(title) || adornment(lines, title).is_some() {
        return None;
    }
    let line = lines.line(title);
    if over.is_some_and(|(above, _)| above != mark) || (over.is_none() && line.starts_with(char::is_whitespace)) {
        return None;
    }
    let text = line.trim();
    let enough = length >= text.chars().count() || length >= SURE_UNDERLINE;
    enough.then(|| (Heading { first: row, last: title + 1, level: 0, text: text.to_owned() }, (mark, over.is_some())))
}

/// The punctuation mark that the whole line repeats, and the number of repetitions.
fn adornment(lines: &Lines<'_>, row: usize) -> Option<(char, usize)> {
    if row >= lines.count() {
        return None;
    }
    let line = lines.line(row).trim_end();
    let mark = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 2 && line.chars().all(|character| character == mark)).then_some((mark, line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(text: &str) -> Vec<(usize, usize, String)> {
        let outline = outline(&Lines::new(text));
        outline.headings.into_iter().map(|heading| (heading.first, heading.level, heading.text)).collect()
    }

    #[test]
    fn levels_follow_the_order_of_styles() {
        let text = "=====\nGuide\n=====\n\nIntro.\n\nInstall\n-------\n\nx\n\nLinux\n~~~~~\n\ny\n\nUse\n---\nz\n";
        let expected = [(0, 1, "Guide"), (6, 2, "Install"), (11, 3, "Linux"), (16, 2, "Use")];
        assert_eq!(headings(text), expected.map(|(row, level, text)| (row, level, text.to_owned())));
    }

    #[test]
    fn tables_transitions_and_literal_blocks_are_no_headings() {
        for text in [
            "====  ====\na     b\n====  ====\n1     2\n====  ====\n",
            "above\n\n--------\n\nbelow\n",
            "code::\n\n    a\n    ==\n",
            "a paragraph\nof two lines\n--\n",
        ] {
            assert_eq!(headings(text), [], "{text}");
        }
    }
}
