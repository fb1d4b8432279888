//! The title of a source file, from its first words.

use crate::languages::Grammar;
use crate::lines::Lines;

/// Rows at the start of a file in which its documentation begins.
const REACH: usize = 60;
/// Longest title, in characters.
const LENGTH: usize = 160;

/// The first line of the module's documentation, in languages with a convention for it.
pub(super) fn title(grammar: &Grammar, lines: &Lines<'_>) -> Option<String> {
    let rows: Vec<&str> = (0..lines.count().min(REACH)).map(|row| lines.line(row).trim()).collect();
    let line = grammar.title?(&rows)?.trim_start_matches('#').trim();
    let end = line.char_indices().nth(LENGTH).map_or(line.len(), |(end, _)| end);
    Some(line[..end].to_owned()).filter(|title| !title.is_empty())
}

#[cfg(all(test, feature = "grammars"))]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn reads_each_convention() {
        let title = |language, text: &str| {
            let grammar = Language::named(language).and_then(Language::grammar).expect("a language with a grammar");
            title(grammar, &Lines::new(text))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(title("rust", "// licence\n\n//! # The store\n//! more\n"), some("The store"));
        assert_eq!(title("python", "#!/usr/bin/python\n\"\"\"Store things.\"\"\"\n"), some("Store things."));
        assert_eq!(title("python", "\"\"\"\nStore things.\n\"\"\"\n"), some("Store things."));
        assert_eq!(title("python", "import os\n"), None);
        assert_eq!(
            title("go", "// licence\n\n// Package store keeps.\n// More.\npackage store\n"),
            some("Package store keeps.")
        );
        assert_eq!(title("go", "// licence\n\npackage store\n"), None);
        assert_eq!(title("c", "/* x */\n"), None);
    }
}
