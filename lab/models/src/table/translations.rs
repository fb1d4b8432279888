//! Paragraphs in Chinese, Japanese and Korean beside their English originals, from translated manuals.
//!
//! LibreOffice's help numbers its paragraphs across languages; the pages of GNOME's help have the same paragraphs in the same order.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::corpus::without_tags;

/// A paragraph and its original.
#[derive(Debug, PartialEq, Eq)]
pub struct Translation {
    pub text: String,
    pub english: String,
}

/// Finds the translations below a directory with the unpacked packages, without repetitions, in an order of their own.
pub fn collect(directory: &Path) -> Result<Vec<Translation>> {
    let mut pages = Vec::new();
    walk(directory, &mut pages)?;
    let mut found = HashMap::new();
    for page in pages {
        let path = page.to_string_lossy().into_owned();
        for language in ["ja", "ko", "zh-CN", "zh_CN"] {
            let (original, office) = if path.contains(&format!("/help/{language}/text/")) {
                let package = language.to_lowercase();
                let original = path.replace(&format!("/help/{language}/text/"), "/help/en-US/text/");
                (original.replace(&format!("libreoffice-help-{package}/"), "libreoffice-help-en-us/"), true)
            } else if path.contains(&format!("/share/help/{language}/")) {
                (path.replace(&format!("/share/help/{language}/"), "/share/help/C/"), false)
            } else {
                continue;
            };
            let Ok(original) = fs::read_to_string(original) else { continue };
            let text = fs::read_to_string(&page).with_context(|| format!("cannot read {path}"))?;
            let pairs = if office { by_number(&text, &original) } else { by_order(&text, &original) };
            for pair in pairs.into_iter().filter(is_translated) {
                found.entry(*blake3::hash(pair.text.as_bytes()).as_bytes()).or_insert(pair);
            }
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(key, _)| *key);
    Ok(found.into_iter().map(|(_, pair)| pair).collect())
}

fn walk(path: &Path, pages: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
            walk(&entry?.path(), pages)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "html" || extension == "page") {
        pages.push(path.to_owned());
    }
    Ok(())
}

/// Many pages are translated in part. What remains English is left out.
fn is_translated(pair: &Translation) -> bool {
    let foreign = pair.text.chars().filter(|&c| ('\u{3041}'..='\u{d7a3}').contains(&c)).count();
    let letters = pair.text.chars().filter(|c| c.is_alphabetic()).count();
    foreign >= 6 && foreign * 2 > letters && pair.english.split_whitespace().count() >= 3
}

fn by_number(text: &str, original: &str) -> Vec<Translation> {
    let originals: HashMap<&str, &str> = numbered(original).collect();
    numbered(text).filter_map(|(number, text)| Some(pair(text, originals.get(number)?))).collect()
}

/// Paragraphs and headings with their identifier.
fn numbered(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split(" id=\"").skip(1).filter_map(|part| {
        let (id, rest) = part.split_once('"')?;
        let rest = &rest[rest.find('>')? + 1..];
        let end = ["</p>", "</h1>", "</h2>", "</h3>"].iter().filter_map(|tag| rest.find(tag)).min()?;
        (id.starts_with("par_") || id.starts_with("hd_")).then_some((id, &rest[..end]))
    })
}

fn by_order(text: &str, original: &str) -> Vec<Translation> {
    let (texts, originals) = (blocks(text), blocks(original));
    if texts.len() != originals.len() {
        return Vec::new();
    }
    texts.into_iter().zip(originals).map(|(text, original)| pair(text, original)).collect()
}

fn blocks(page: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut rest = page.split_once("</info>").map_or(page, |(_, rest)| rest);
    while let Some(start) = rest.find("<p>") {
        rest = &rest[start + 3..];
        let end = rest.find("</p>").unwrap_or(rest.len());
        blocks.push(&rest[..end]);
        rest = &rest[end..];
    }
    blocks
}

fn pair(text: &str, original: &str) -> Translation {
    let plain = |text: &str| without_tags(text).split_whitespace().collect::<Vec<_>>().join(" ");
    Translation { text: plain(text), english: plain(original) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_matched_by_number_and_by_order() {
        let (text, original) = (
            "<p id=\"par_1\" class=\"x\">文書を<b>開く</b></p>",
            "<p id=\"par_2\">No</p><p id=\"par_1\">Open a document</p>",
        );
        assert_eq!(by_number(text, original), [pair("文書を開く", "Open a document")]);
        assert_eq!(by_order("<info><p>x</p></info><p>가</p><p>나</p>", "<p>a</p><p>b</p>")[1], pair("나", "b"));
        assert!(by_order("<p>가</p>", "<p>a</p><p>b</p>").is_empty());
    }
}
