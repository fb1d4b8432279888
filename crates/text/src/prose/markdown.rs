//! Markdown: headings, front matter, and where a block may be cut.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::front_matter::FrontMatter;
use super::sections::{Heading, Outline};
use crate::lines::Lines;

/// Places where pieces may begin, from best to worst.
const BLOCK: u8 = 0;
const ITEM: u8 = 2;
const NESTED: u8 = 3;
const WITHIN_TEXT: u8 = 8;
const FENCE_GAP: u8 = 10;
const WITHIN_TABLE: u8 = 14;
const WITHIN_FENCE: u8 = 16;

pub(super) fn outline(lines: &Lines<'_>) -> Outline {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let mut outline = Outline { badness: vec![WITHIN_TEXT; lines.count()], ..Outline::default() };
    let mut depth = 0_usize;
    let mut heading: Option<Heading> = None;
    let mut metadata: Option<String> = None;
    for (event, range) in Parser::new_ext(lines.text, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let first = lines.row_at(range.start);
                let last = lines.row_at(range.end.saturating_sub(1).max(range.start));
                if !tag_is_inline(&tag) {
                    mark(&mut outline.badness, lines, &tag, (first, last), depth);
                    depth += 1;
                }
                match tag {
                    Tag::Table(_) => outline.tables.push((first, last)),
                    Tag::Heading { level, .. } if depth == 1 => {
                        heading = Some(Heading { first, last, level: number(level), text: String::new() });
                    }
                    Tag::MetadataBlock(_) if range.start == 0 => {
                        outline.front_matter = Some(last);
                        metadata = Some(String::new());
                    }
                    _ => {}
                }
            }
            Event::End(tag) => {
                if !end_is_inline(tag) {
                    depth = depth.saturating_sub(1);
                }
                match tag {
                    TagEnd::Heading(_) => outline.headings.extend(heading.take()),
                    TagEnd::MetadataBlock(kind) => {
                        if let Some(block) = metadata.take() {
                            outline.metadata = FrontMatter::parse(&block, kind);
                            outline.title = outline.metadata.value("title").map(str::to_owned);
                        }
                    }
                    _ => {}
                }
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.text.push_str(&text);
                } else if let Some(block) = &mut metadata {
                    block.push_str(&text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut heading {
                    heading.text.push(' ');
                }
            }
            Event::Rule => {
                let row = lines.row_at(range.start);
                outline.badness[row] = BLOCK;
            }
            _ => {}
        }
    }
    for heading in &mut outline.headings {
        heading.text = heading.text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    outline
}

/// Notes where pieces may begin inside and at the start of a block that is `depth` blocks deep.
fn mark(badness: &mut [u8], lines: &Lines<'_>, tag: &Tag<'_>, (first, last): (usize, usize), depth: usize) {
    let start = match tag {
        Tag::Item => ITEM.saturating_add(u8::try_from(depth.min(8) / 2).unwrap_or(4)),
        Tag::TableHead | Tag::TableRow | Tag::TableCell => return,
        _ if depth == 0 => BLOCK,
        _ => NESTED.saturating_add(u8::try_from(depth.min(8) / 2).unwrap_or(4)),
    };
    // The first block of a list item is on the item's own line.
    badness[first] = badness[first].min(start);
    match tag {
        Tag::CodeBlock(_) => {
            for (row, bad) in (first + 1..=last).zip(&mut badness[first + 1..=last]) {
                *bad = if lines.is_blank(row - 1) { FENCE_GAP } else { WITHIN_FENCE };
            }
        }
        Tag::Table(_) => badness[first + 1..=last].fill(WITHIN_TABLE),
        _ => {}
    }
}

fn number(level: HeadingLevel) -> usize {
    level as usize
}

fn tag_is_inline(tag: &Tag<'_>) -> bool {
    end_is_inline(tag.to_end())
}

fn end_is_inline(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_headings_of_both_styles_outside_of_code() {
        let text =
            "Title `x`\n=========\n\n## Two {#id}\n\n```\n# not one\n```\n\n> # quoted\n\n- # listed\n\nThree\n---\n";
        let outline = outline(&Lines::new(text));
        let found: Vec<_> = outline.headings.iter().map(|h| (h.first, h.last, h.level, h.text.as_str())).collect();
        assert_eq!(found, [(0, 1, 1, "Title x"), (3, 3, 2, "Two"), (13, 14, 2, "Three")]);
        assert_eq!(outline.title().as_deref(), Some("Title x"));
    }

    #[test]
    fn front_matter_says_how_severe_it_is() {
        let severity = |text: &str| outline(&Lines::new(text)).metadata.value("severity").map(str::to_owned);
        assert_eq!(severity("---\ntitle: Outage\nseverity: Critical\n---\nBody\n").as_deref(), Some("Critical"));
        assert_eq!(severity("---\ntitle: Outage\n---\nseverity: major\n"), None);
    }

    #[test]
    fn front_matter_gives_the_title() {
        for text in ["---\ntitle: \"A: b\"\ntags: [x]\n---\n\nBody\n", "+++\ntitle = 'A: b'\n+++\nBody\n"] {
            let outline = outline(&Lines::new(text));
            assert_eq!(outline.title.as_deref(), Some("A: b"));
            assert!(outline.front_matter.is_some());
        }
        assert_eq!(outline(&Lines::new("a\n\n---\ntitle: x\n---\n")).front_matter, None);
    }
}
