//! Unlabelled text to learn from: the files of the given directories, as short passages.
//!
//! The choice of passages depends on their content alone: each kind has a share, filled by the smallest checksums. The order and the
//! location of files do not matter.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The source of a passage. Each has its own share, so that a large directory does not dominate the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A dictionary's entry: words and their meaning.
    Gloss,
    /// Paragraphs of documentation.
    Prose,
    /// Source code.
    Code,
}

/// A passage after its checksum, which orders it.
type Passage = ([u8; 32], String);

/// Collects passages of each kind, in an order that depends on their text alone.
pub fn collect(directories: &[PathBuf], shares: &[(Kind, usize)]) -> Result<Vec<String>> {
    let mut kinds: Vec<(Kind, usize, BTreeSet<Passage>)> =
        shares.iter().map(|&(kind, share)| (kind, share, BTreeSet::new())).collect();
    for directory in directories {
        visit(directory, &mut |kind, text| {
            for (_, share, chosen) in kinds.iter_mut().filter(|entry| entry.0 == kind) {
                chosen.insert((*blake3::hash(text.as_bytes()).as_bytes(), text.to_owned()));
                if chosen.len() > *share {
                    chosen.pop_last();
                }
            }
        })?;
    }
    for (kind, share, chosen) in &kinds {
        println!("{kind:?}: {} of at most {share} passages", chosen.len());
    }
    let mut all: Vec<Passage> = kinds.into_iter().flat_map(|entry| entry.2).collect();
    all.sort_unstable();
    Ok(all.into_iter().map(|entry| entry.1).collect())
}

fn visit(path: &Path, found: &mut impl FnMut(Kind, &str)) -> Result<()> {
    if path.is_symlink() {
        return Ok(());
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
            visit(&entry?.path(), found)?;
        }
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let read = || fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let decoded = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match extension.as_ref() {
        "noun" | "verb" | "adj" | "adv" if name.starts_with("data.") => glosses(&decoded(read()?), found),
        "html" => prose(&without_tags(&decoded(read()?)), found),
        "md" | "rst" => prose(&decoded(read()?), found),
        "rs" | "py" | "c" | "h" | "js" | "go" | "java" | "ts" => code(&decoded(read()?), found),
        _ => {}
    }
    Ok(())
}

/// Finds the synonym sets of a WordNet data file, as `words: meaning`.
fn glosses(text: &str, found: &mut impl FnMut(Kind, &str)) {
    for line in text.lines().filter(|line| !line.starts_with(' ')) {
        let Some((set, gloss)) = line.split_once(" | ") else { continue };
        let mut fields = set.split(' ').skip(3);
        let count = fields.next().and_then(|count| usize::from_str_radix(count, 16).ok()).unwrap_or(0);
        let words: Vec<String> =
            fields.step_by(2).take(count).map(|word| word.replace('_', " ").replace("(a)", "")).collect();
        found(Kind::Gloss, &format!("{}: {}", words.join(", "), gloss.trim()));
    }
}

/// Finds paragraphs and cuts them to 12 to 90 words.
fn prose(text: &str, found: &mut impl FnMut(Kind, &str)) {
    for paragraph in text.split("\n\n") {
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        for part in words.chunks(90).filter(|part| part.len() >= 12) {
            let letters = part.iter().flat_map(|word| word.chars()).filter(|c| c.is_alphabetic()).count();
            let text = part.join(" ");
            // Tables of numbers and rows of punctuation have no meaning to learn.
            if letters * 10 > text.len() * 6 {
                found(Kind::Prose, &text);
            }
        }
    }
}

/// Finds blocks between blank lines, joined to at least 150 characters and cut at 500.
fn code(text: &str, found: &mut impl FnMut(Kind, &str)) {
    // Generated tables would dominate.
    if text.len() > 200_000 || text.lines().any(|line| line.len() > 400) {
        return;
    }
    let mut passage = String::new();
    for block in text.split("\n\n") {
        passage.push_str(block);
        passage.push('\n');
        if passage.len() >= 150 {
            let end = passage.char_indices().map(|(at, _)| at).take_while(|&at| at <= 500).last().unwrap_or(0);
            found(Kind::Code, passage[..end].trim());
            passage.clear();
        }
    }
}

/// Extracts the text of an HTML page, with blank lines between its blocks. It is not a parser, but good enough for documentation.
pub fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len() / 2);
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        let lower: String = rest.chars().take(10).flat_map(char::to_lowercase).collect();
        let skip = ["script", "style"].iter().find(|name| lower[1..].starts_with(**name));
        let end = match skip {
            Some(name) => rest.find(&format!("</{name}")).unwrap_or(rest.len()),
            None => rest.find('>').map_or(rest.len(), |end| end + 1),
        };
        let block = ["<p", "</p", "<li", "<h", "</h", "<dd", "<dt", "<div", "<tr", "<td", "<pre", "<br"];
        if block.iter().any(|tag| lower.starts_with(tag)) {
            text.push_str("\n\n");
        }
        rest = &rest[end.max(1)..];
    }
    text.push_str(rest);
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&#8217;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (entity, character)| text.replace(entity, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glosses_name_their_words() {
        let line = "00001930 03 n 02 physical_entity 0 thing 1 001 @ 00001740 n 0000 | an entity that exists  \n";
        let mut found = Vec::new();
        glosses(line, &mut |_, text| found.push(text.to_owned()));
        assert_eq!(found, ["physical entity, thing: an entity that exists"]);
    }

    #[test]
    fn tags_and_scripts_are_removed_and_entities_decoded() {
        let html = "<p>a &lt; <b>b</b></p><script>x()</script><li>c</li>";
        assert_eq!(without_tags(html).split_whitespace().collect::<Vec<_>>(), ["a", "<", "b", "c"]);
    }
}
