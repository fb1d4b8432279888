//! The sections of a note: its headings, and where an entry can be added under each.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// A heading and the lines up to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// Depth of the heading, 1 for the outermost; 0 for the text before the first heading.
    pub level: usize,
    /// The heading's text.
    pub title: String,
    /// Its lines from 0, including the heading. The text before the first heading excludes front matter.
    pub lines: Range<usize>,
}

/// The sections of a Markdown text in order. The first one precedes all headings and can be empty.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(offset, _)| offset + 1)).collect();
    let row = |offset: usize| starts.partition_point(|start| *start <= offset).saturating_sub(1);
    let mut sections = vec![Section { level: 0, title: String::new(), lines: 0..0 }];
    let (mut depth, mut heading) = (0_usize, None);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                match tag {
                    Tag::Heading { level, .. } if depth == 0 => {
                        heading = Some((level, row(range.start), String::new()))
                    }
                    // The closing line belongs to the block.
                    Tag::MetadataBlock(_) if range.start == 0 => sections[0].lines = after(text, row(range.end)),
                    _ => {}
                }
                depth += 1;
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                if let (TagEnd::Heading(_), Some((level, first, title))) = (tag, heading.take_if(|_| depth == 0)) {
                    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
                    sections.push(Section { level: number(level), title, lines: first..first });
                }
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some((_, _, title)) = &mut heading {
                    title.push_str(&words);
                }
            }
            _ => {}
        }
    }
    let count = text.lines().count();
    for at in 0..sections.len() {
        let end = sections.get(at + 1).map_or(count, |next| next.lines.start);
        sections[at].lines.end = end.max(sections[at].lines.start);
    }
    sections
}

/// The empty range after a line.
fn after(text: &str, row: usize) -> Range<usize> {
    let next = (row + 1).min(text.lines().count());
    next..next
}

fn number(level: HeadingLevel) -> usize {
    level as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(usize, String, Range<usize>)> {
        sections(text).into_iter().map(|section| (section.level, section.title, section.lines)).collect()
    }

    #[test]
    fn headings_divide_a_note_and_those_in_code_or_lists_do_not() {
        let note = "---\ntopic: x\n---\nlead\n# Day\n- a\n  # listed\n```\n## code\n```\n\nTopic `b`\n---\n- c\n";
        assert_eq!(told(note), [(0, String::new(), 3..4), (1, "Day".into(), 4..11), (2, "Topic b".into(), 11..14)]);
    }

    #[test]
    fn a_note_without_headings_is_one_section() {
        assert_eq!(told(""), [(0, String::new(), 0..0)]);
        assert_eq!(told("a\n\nb"), [(0, String::new(), 0..3)]);
        assert_eq!(told("# A"), [(0, String::new(), 0..0), (1, "A".into(), 0..1)]);
        assert_eq!(told("---\na: b\n---\n"), [(0, String::new(), 3..3)]);
    }
}
