//! The headings of Markdown, of formats whose headings begin with a mark on their own line, and of reStructuredText.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::metadata::FrontMatter;
use super::{Heading, Outline};
use crate::lines::{Lines, one_line};

/// Places where pieces may begin, from best to worst.
const BLOCK: u8 = 0;
const ITEM: u8 = 2;
const NESTED: u8 = 3;
const WITHIN_TEXT: u8 = 8;
const FENCE_GAP: u8 = 10;
const WITHIN_TABLE: u8 = 14;
const WITHIN_FENCE: u8 = 16;

pub fn markdown_outline(lines: &Lines<'_>) -> Outline {
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
                if !end_is_inline(tag.to_end()) {
                    mark(&mut outline.badness, lines, &tag, (first, last), depth);
                    depth += 1;
                }
                match tag {
                    Tag::Table(_) => outline.tables.push((first, last)),
                    Tag::Heading { level, .. } if depth == 1 => {
                        heading = Some(Heading { first, last, level: level as usize, text: String::new() });
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
        heading.text = one_line(&heading.text);
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

// Formats whose headings begin with a mark on their own line.

/// The headings among all lines: `heading` returns the level and the text of one.
pub fn marked_outline(lines: &Lines<'_>, heading: fn(&str) -> Option<(usize, &str)>) -> Outline {
    let mut outline = Outline::default();
    let mut literal: Option<&str> = None;
    for row in 0..lines.count() {
        let line = lines.line(row).trim_end();
        if let Some(end) = literal {
            if line == end {
                literal = None;
            }
            continue;
        }
        // Blocks between equal fences are quoted as they are.
        if matches!(line, "----" | "...." | "```") {
            literal = Some(line);
        } else if let Some((level, text)) = heading(line) {
            outline.headings.push(Heading { first: row, last: row, level, text: text.trim().to_owned() });
        }
    }
    outline
}

/// `== Text`, at most six deep, and a space after the marks.
/// `== Text`, with a mark for each level.
pub fn repeated(line: &str, mark: char) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(mark);
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then_some((level, text))
}

/// `h2. Text`.
pub fn textile(line: &str) -> Option<(usize, &str)> {
    let rest = line.strip_prefix('h')?;
    let (level, text) = rest.split_once(". ")?;
    Some((level.parse().ok().filter(|level| (1..=6).contains(level))?, text))
}

/// `== Text ==`.
pub fn wikitext(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('=');
    let level = line.len() - text.len();
    let text = text.strip_suffix(&"======".get(..level)?)?;
    (level > 0 && !text.is_empty()).then_some((level, text))
}

/// `\subsection{Text}`.
pub fn latex(line: &str) -> Option<(usize, &str)> {
    const COMMANDS: &[(&str, usize)] =
        &[("part", 1), ("chapter", 2), ("section", 3), ("subsection", 4), ("subsubsection", 5), ("paragraph", 6)];
    let rest = line.trim_start().strip_prefix('\\')?;
    let (command, text) = rest.split_once('{')?;
    let command = command.trim_end_matches('*');
    let (_, level) = COMMANDS.iter().find(|(name, _)| *name == command)?;
    Some((*level, text.split('}').next().unwrap_or(text)))
}

// reStructuredText: headings are lines that the next line underlines.

/// An underline shorter than its title counts from this length on, as in docutils.
const SURE_UNDERLINE: usize = 4;

/// The headings, whose levels follow the order in which their styles first appear.
pub fn underlined_outline(lines: &Lines<'_>) -> Outline {
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

    #[test]
    fn finds_headings_of_both_styles_outside_of_code() {
        let text =
            "Title `x`\n=========\n\n## Two {#id}\n\n```\n# not one\n```\n\n> # quoted\n\n- # listed\n\nThree\n---\n";
        let outline = markdown_outline(&Lines::new(text));
        let found: Vec<_> = outline.headings.iter().map(|h| (h.first, h.last, h.level, h.text.as_str())).collect();
        assert_eq!(found, [(0, 1, 1, "Title x"), (3, 3, 2, "Two"), (13, 14, 2, "Three")]);
        assert_eq!(outline.title().as_deref(), Some("Title x"));
    }

    #[test]
    fn front_matter_gives_the_title_and_says_how_severe_it_is() {
        let severity = |text: &str| markdown_outline(&Lines::new(text)).metadata.value("severity").map(str::to_owned);
        assert_eq!(severity("---\ntitle: Outage\nseverity: Critical\n---\nBody\n").as_deref(), Some("Critical"));
        assert_eq!(severity("---\ntitle: Outage\n---\nseverity: major\n"), None);
        for text in ["---\ntitle: \"A: b\"\ntags: [x]\n---\n\nBody\n", "+++\ntitle = 'A: b'\n+++\nBody\n"] {
            let outline = markdown_outline(&Lines::new(text));
            assert_eq!(outline.title.as_deref(), Some("A: b"));
            assert!(outline.front_matter.is_some());
        }
        assert_eq!(markdown_outline(&Lines::new("a\n\n---\ntitle: x\n---\n")).front_matter, None);
    }

    #[test]
    fn reads_each_mark_outside_of_fenced_blocks() {
        assert_eq!([repeated("== Install", '='), repeated("====", '=')], [Some((2, " Install")), None]);
        assert_eq!([repeated("* Note", '*'), repeated("*bold* word", '*')], [Some((1, " Note")), None]);
        assert_eq!(textile("h3. Use"), Some((3, "Use")));
        assert_eq!([wikitext("== Use =="), wikitext("===")], [Some((2, " Use ")), None]);
        assert_eq!([latex(r"\section*{Method} \label{m}"), latex(r"\emph{x}")], [Some((3, "Method")), None]);
        let outline = marked_outline(&Lines::new("= A\n\n----\n= B\n----\n\n== C\n"), |line| repeated(line, '='));
        let found: Vec<_> = outline.headings.iter().map(|heading| heading.text.as_str()).collect();
        assert_eq!(found, ["A", "C"]);
    }

    fn headings(text: &str) -> Vec<(usize, usize, String)> {
        let outline = underlined_outline(&Lines::new(text));
        outline.headings.into_iter().map(|heading| (heading.first, heading.level, heading.text)).collect()
    }

    #[test]
    fn levels_follow_the_order_of_styles_and_tables_transitions_and_literal_blocks_are_no_headings() {
        let text = "=====\nGuide\n=====\n\nIntro.\n\nInstall\n-------\n\nx\n\nLinux\n~~~~~\n\ny\n\nUse\n---\nz\n";
        let expected = [(0, 1, "Guide"), (6, 2, "Install"), (11, 3, "Linux"), (16, 2, "Use")];
        assert_eq!(headings(text), expected.map(|(row, level, text)| (row, level, text.to_owned())));
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
