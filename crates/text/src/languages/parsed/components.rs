//! Components of Vue and Svelte: files with a template, whose scripts are read as TypeScript.

use super::grammar;
use super::javascript;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const VUE: Language =
    Language::code("vue", "Vue", &["vue"]).parsed(GRAMMAR).related_to(&["typescript", "javascript"]);

pub(in crate::languages) const SVELTE: Language =
    Language::code("svelte", "Svelte", &["svelte"]).parsed(GRAMMAR).related_to(&["typescript", "javascript"]);

const GRAMMAR: Parsing = grammar!(
    "typescript",
    Grammar {
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        definitions: &[
            tree_sitter_javascript::TAGS_QUERY,
            tree_sitter_typescript::TAGS_QUERY,
            javascript::DEFINITIONS,
            super::typescript::DEFINITIONS,
        ],
        references: &[tree_sitter_javascript::TAGS_QUERY, javascript::REFERENCES, super::typescript::REFERENCES,],
        depth: 12,
        naming: Naming::DOTS,
        rewrite: Some(scripts),
        title: None,
    }
);

/// The text with everything but its scripts blanked out, so that all places stay the same.
fn scripts(text: &str) -> Option<String> {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = find_tag(rest, "<script") {
        // Attributes of Svelte and Vue have no `>` in them outside of expressions, which scripts do not take.
        let Some(open) = rest[start..].find('>').map(|end| start + end + 1) else { break };
        blank(&rest[..open], &mut kept);
        rest = &rest[open..];
        let end = find_tag(rest, "</script").unwrap_or(rest.len());
        kept.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    blank(rest, &mut kept);
    Some(kept)
}

/// The start of a tag, in any case: `<script` followed by white space or `>`.
fn find_tag(text: &str, tag: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(start) = text[from..].find('<').map(|at| from + at) {
        let end = start + tag.len();
        let name = bytes.get(start..end).is_some_and(|found| found.eq_ignore_ascii_case(tag.as_bytes()));
        if name && bytes.get(end).is_none_or(|next| next.is_ascii_whitespace() || *next == b'>') {
            return Some(start);
        }
        from = start + 1;
    }
    None
}

/// Replaces every byte by a space, except line ends.
fn blank(text: &str, kept: &mut String) {
    kept.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scripts_are_read_and_every_place_stays() {
        let text =
            "<p>é {x > 1}</p>\n<SCRIPT lang=\"ts\">\nlet a = '<p>';\n</script>\n<scripted>b</scripted>\n<script>c()";
        let read = scripts(text).unwrap_or_default();
        assert_eq!(read.len(), text.len());
        let words: Vec<_> = read.lines().map(str::trim).collect();
        assert_eq!(words, ["", "", "let a = '<p>';", "", "", "c()"]);
        assert_eq!(scripts("<script").unwrap_or_default(), "       ");
    }
}
