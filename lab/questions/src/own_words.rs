//! Questions in a tree's own words: headings of its pages, and the first sentences of its comments with words left out.

use crate::exact::taken;
use crate::list::Question;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Questions of each kind that are taken of a tree.
const EACH: usize = 12;

/// Marks of a comment that documents what follows.
const MARKS: [&str; 6] = ["///", "//!", "/**", "\"\"\"", "# ", "* "];

/// Returns the questions that the files of a tree ask, with the files that hold them.
///
/// # Errors
/// The tree cannot be listed.
pub fn questions(root: &Path) -> Result<Vec<Question>> {
    let mut headings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut comments: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in texts(root, root)? {
        let is_prose = [".md", ".rst", ".txt", ".adoc"].iter().any(|end| path.ends_with(end));
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if is_prose {
                let underlined = lines.get(at + 1).is_some_and(|next| {
                    next.len() >= line.trim().len().max(4) && next.chars().all(|c| "=-~^".contains(c))
                });
                let heading =
                    line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")).or(underlined.then_some(line));
                if let Some(heading) = heading.map(|heading| heading.trim().trim_matches('`')).filter(|h| words(h) >= 3)
                {
                    headings.entry(heading.to_owned()).or_default().insert(path.clone());
                }
                continue;
            }
            let line = line.trim();
            let comment = MARKS.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim);
            if let Some(sentence) =
                comment.filter(|c| (6..=16).contains(&words(c)) && c.starts_with(char::is_uppercase))
            {
                let kept = sentence.split_whitespace().enumerate().filter(|(at, _)| at % 3 != 1).map(|(_, word)| word);
                comments.entry(kept.collect::<Vec<_>>().join(" ")).or_default().insert(path.clone());
            }
        }
    }
    let once =
        |all: BTreeMap<String, BTreeSet<String>>| all.into_iter().filter(|(_, files)| files.len() <= 2).collect();
    let asked = [headings, comments].into_iter().flat_map(|all| taken(once(all), EACH));
    let question = |(ask, files): (String, BTreeSet<String>)| Question::answered_by(ask, files.into_iter().collect());
    Ok(asked.map(question).collect())
}

fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count()
}

fn texts(root: &Path, directory: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)?.flatten() {
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() && !name.starts_with('.') && !["test", "tests", "node_modules"].contains(&name.as_str()) {
            found.extend(texts(root, &path)?);
        } else if kind.is_file()
            && entry.metadata()?.len() < 400_000
            && let Ok(text) = fs::read_to_string(&path)
        {
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if !relative.to_lowercase().contains("change") {
                found.push((relative, text));
            }
        }
    }
    Ok(found)
}
