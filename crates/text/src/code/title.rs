//! What a source file says of itself in its first words.

use crate::languages::Grammar;
use crate::lines::Lines;

/// How far into a file its documentation begins.
const REACH: usize = 60;
/// Longest title, in characters.
const LENGTH: usize = 160;

/// The first line of the module's documentation: `//!` in Rust, the docstring in Python, the comment above `package`
/// in Go. Other languages have no such convention.
pub(super) fn title(grammar: Grammar, lines: &Lines<'_>) -> Option<String> {
    let mut rows = (0..lines.count().min(REACH)).map(|row| lines.line(row).trim());
    let line = match grammar {
        Grammar::Rust => {
            rows.find_map(|line| line.strip_prefix("//!").map(str::trim).filter(|line| !line.is_empty()))?
        }
        Grammar::Python => docstring(rows)?,
        Grammar::Go => go_package(rows)?,
        _ => return None,
    };
    let line = line.trim_start_matches('#').trim();
    let end = line.char_indices().nth(LENGTH).map_or(line.len(), |(end, _)| end);
    Some(line[..end].to_owned()).filter(|title| !title.is_empty())
}

fn docstring<'text>(mut rows: impl Iterator<Item = &'text str>) -> Option<&'text str> {
    let first = rows.find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let body = first.trim_start_matches(['r', 'R', 'u', 'U']);
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote))?;
    let text = body[quote.len()..].trim();
    let text = if text.is_empty() { rows.find(|line| !line.is_empty())? } else { text };
    Some(text.trim_end_matches(quote))
}

fn go_package<'text>(rows: impl Iterator<Item = &'text str>) -> Option<&'text str> {
    let mut comment = None;
    for line in rows {
        if line.starts_with("package ") {
            return comment;
        }
        match line.strip_prefix("//") {
            Some(text) if !text.starts_with("go:") => comment = comment.or(Some(text.trim())),
            _ => comment = None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_convention() {
        let title = |grammar, text: &str| title(grammar, &Lines::new(text));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(title(Grammar::Rust, "// licence\n\n//! # The store\n//! more\n"), some("The store"));
        assert_eq!(title(Grammar::Python, "#!/usr/bin/python\n\"\"\"Store things.\"\"\"\n"), some("Store things."));
        assert_eq!(title(Grammar::Python, "\"\"\"\nStore things.\n\"\"\"\n"), some("Store things."));
        assert_eq!(title(Grammar::Python, "import os\n"), None);
        assert_eq!(
            title(Grammar::Go, "// licence\n\n// Package store keeps.\n// More.\npackage store\n"),
            some("Package store keeps.")
        );
        assert_eq!(title(Grammar::Go, "// licence\n\npackage store\n"), None);
        assert_eq!(title(Grammar::C, "/* x */\n"), None);
    }
}
