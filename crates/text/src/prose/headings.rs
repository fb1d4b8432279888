//! Formats whose headings begin with a mark on their own line.

use super::sections::{Heading, Outline};
use crate::lines::Lines;

/// The headings among all lines: `heading` returns the level and the text of one.
pub(super) fn outline(lines: &Lines<'_>, heading: fn(&str) -> Option<(usize, &str)>) -> Outline {
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
fn repeated(line: &str, mark: char) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(mark);
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then_some((level, text))
}

/// `== Text`.
pub(super) fn asciidoc(line: &str) -> Option<(usize, &str)> {
    repeated(line, '=')
}

/// `= Text`.
pub(super) fn typst(line: &str) -> Option<(usize, &str)> {
    repeated(line, '=')
}

/// `** Text`.
pub(super) fn org(line: &str) -> Option<(usize, &str)> {
    repeated(line, '*')
}

/// `h2. Text`.
pub(super) fn textile(line: &str) -> Option<(usize, &str)> {
    let rest = line.strip_prefix('h')?;
    let (level, text) = rest.split_once(". ")?;
    Some((level.parse().ok().filter(|level| (1..=6).contains(level))?, text))
}

/// `== Text ==`.
pub(super) fn wikitext(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('=');
    let level = line.len() - text.len();
    let text = text.strip_suffix(&"======".get(..level)?)?;
    (level > 0 && !text.is_empty()).then_some((level, text))
}

/// `\subsection{Text}`.
pub(super) fn latex(line: &str) -> Option<(usize, &str)> {
    const COMMANDS: &[(&str, usize)] =
        &[("part", 1), ("chapter", 2), ("section", 3), ("subsection", 4), ("subsubsection", 5), ("paragraph", 6)];
    let rest = line.trim_start().strip_prefix('\\')?;
    let (command, text) = rest.split_once('{')?;
    let command = command.trim_end_matches('*');
    let (_, level) = COMMANDS.iter().find(|(name, _)| *name == command)?;
    Some((*level, text.split('}').next().unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_mark() {
        assert_eq!(asciidoc("== Install"), Some((2, " Install")));
        assert_eq!(asciidoc("===="), None);
        assert_eq!(org("* Note"), Some((1, " Note")));
        assert_eq!(org("*bold* word"), None);
        assert_eq!(textile("h3. Use"), Some((3, "Use")));
        assert_eq!(wikitext("== Use =="), Some((2, " Use ")));
        assert_eq!(wikitext("==="), None);
        assert_eq!(latex(r"\section*{Method} \label{m}"), Some((3, "Method")));
        assert_eq!(latex(r"\emph{x}"), None);
    }

    #[test]
    fn fenced_blocks_hold_no_headings() {
        let outline = outline(&Lines::new("= A\n\n----\n= B\n----\n\n== C\n"), asciidoc);
        let found: Vec<_> = outline.headings.iter().map(|heading| heading.text.as_str()).collect();
        assert_eq!(found, ["A", "C"]);
    }
}
