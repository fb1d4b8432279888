//! Finds the code of a Markdown text, and its HTML comments.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::lines::Lines;

pub(super) struct Markup {
    /// By line: true if it belongs to a block of code outside quotations.
    pub(super) code: Vec<bool>,
    /// The closed HTML comments outside code, in bytes.
    pub(super) comments: Vec<Range<usize>>,
}

pub(super) fn read(text: &str) -> Markup {
    let lines = Lines::new(text);
    let mut markup = Markup { code: vec![false; text.split('\n').count()], comments: Vec::new() };
    let mut quotations = 0_usize;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotations += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotations = quotations.saturating_sub(1),
            Event::Start(Tag::CodeBlock(_)) if quotations == 0 && !range.is_empty() => {
                let (first, last) = (lines.row_at(range.start), lines.row_at(range.end - 1));
                if let Some(rows) = markup.code.get_mut(first..=last) {
                    rows.fill(true);
                }
            }
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                let html = text.get(range.clone()).unwrap_or_default();
                markup.comments.extend(comments(html).map(|found| range.start + found.start..range.start + found.end));
            }
            _ => {}
        }
    }
    markup
}

/// `<!-- … -->`, each to its own end; one without an end is text.
fn comments(html: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + html.get(from..)?.find("<!--")?;
        let end = start + 4 + html.get(start + 4..)?.find("-->")? + 3;
        from = end;
        Some(start..end)
    })
}

/// The text without these ranges, but with all its line ends.
pub(super) fn without(text: &str, ranges: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        kept.push_str(text.get(from..range.start).unwrap_or_default());
        let lines = text.get(range.clone()).unwrap_or_default().matches('\n').count();
        kept.extend(std::iter::repeat_n('\n', lines));
        from = range.end;
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> String {
        without(text, &read(text).comments)
    }

    #[test]
    fn comments_leave_and_lines_stay() {
        assert_eq!(cleaned("a <!-- b --> c\n<!--\nd\n\ne\n-->\nf<!-- g"), "a  c\n\n\n\n\n\nf<!-- g");
        assert_eq!(cleaned("before <!-- one\ntwo --> after"), "before \n after");
        assert_eq!(cleaned("<!-- ü --> 語 <!-- é -->"), " 語 ");
    }

    #[test]
    fn code_is_left_alone() {
        for text in ["```html\n<!-- x -->\n```", "    <!-- x -->", "`<!-- x -->`", "~~~\n<!--\n~~~\n-->"] {
            assert_eq!(cleaned(text), text);
        }
        assert_eq!(read("a\n```\nb\n```\nc").code, [false, true, true, true, false]);
        assert_eq!(read("> ```\n> b\n> ```").code, [false, false, false]);
    }
}
