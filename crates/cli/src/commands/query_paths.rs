//! Divides the arguments of a query into its words and the paths after them, as in `tamis search "retry limit" src`.

use crate::working_directory::WorkingDirectory;
use anyhow::{Result, bail};
use std::path::Path;

/// The words of a query, and the paths to search.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WordsAndPaths {
    /// The query.
    pub query: String,
    /// Files and directories as typed.
    pub paths: Vec<String>,
    /// Words at the end that name a file or directory here too.
    pub either: Vec<String>,
}

/// Divides arguments. Everything is a path where `--query` gives the query. Otherwise the last arguments that name something here
/// are paths: all of them after a query in quotes, and those with a slash after a query without. What follows `--` are words.
pub fn divided(arguments: &[String], after_dashes: &[String], given: Option<&str>) -> WordsAndPaths {
    if let Some(query) = given {
        let query = std::iter::once(query).chain(after_dashes.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        return WordsAndPaths { query, paths: arguments.to_vec(), ..WordsAndPaths::default() };
    }
    let quoted = arguments.first().is_some_and(|first| first.trim().contains(char::is_whitespace));
    let exists = |text: &&String| !text.is_empty() && Path::new(text.as_str()).exists();
    let is_path = |text: &&String| exists(text) && (quoted || has_slash(text));
    // The first argument is a word, unless words follow the dashes.
    let first = usize::from(after_dashes.is_empty());
    let later = arguments.get(first..).unwrap_or_default();
    let paths = later.iter().rev().take_while(is_path).count();
    let (words, paths) = arguments.split_at(arguments.len() - paths);
    let either = match paths.is_empty() && after_dashes.is_empty() {
        true => words.iter().skip(1).rev().take_while(exists).cloned().collect(),
        false => Vec::new(),
    };
    let query = words.iter().chain(after_dashes).map(String::as_str).collect::<Vec<_>>().join(" ");
    WordsAndPaths { query, paths: paths.to_vec(), either }
}

fn has_slash(text: &str) -> bool {
    text.contains('/') || [".", ".."].contains(&text) || cfg!(windows) && text.contains('\\')
}

/// The globs of an index for paths from the working directory. A directory stands for everything in it; the root for everything.
///
/// # Errors
/// A path names nothing, or something outside the index.
pub fn globs(paths: &[String], directory: &WorkingDirectory, root: &Path) -> Result<Vec<String>> {
    let mut globs = Vec::with_capacity(paths.len());
    for path in paths {
        if !Path::new(path).exists() {
            bail!("{path}: no such file or directory; after --query, only paths follow");
        }
        match directory.inside(Path::new(path)) {
            Some(inside) if inside.is_empty() => globs.push("/**".to_owned()),
            Some(inside) => globs.push(format!("/{}", escaped(&inside))),
            None => {
                bail!("{path}: outside the index of {}; words that name a path by chance go after --", root.display())
            }
        }
    }
    Ok(globs)
}

/// A path as a glob that matches it alone, behind a slash: there, a `!` excludes nothing.
fn escaped(path: &str) -> String {
    let escape = |c: char| if "*?[]{}\\".contains(c) { format!("[{c}]") } else { c.to_string() };
    path.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn of(words: &[&str]) -> (String, Vec<String>) {
        let WordsAndPaths { query, paths, .. } = divided(&owned(words), &[], None);
        (query, paths)
    }

    // The tests run in the directory of this crate.
    #[test]
    fn paths_follow_a_query_in_quotes() {
        assert_eq!(of(&["retry limit", "src", "Cargo.toml"]), ("retry limit".into(), owned(&["src", "Cargo.toml"])));
        assert_eq!(of(&["retry limit", "nowhere"]), ("retry limit nowhere".into(), Vec::new()));
        assert_eq!(of(&["retry limit", "src", "nowhere"]), ("retry limit src nowhere".into(), Vec::new()));
        assert_eq!(of(&["retry limit"]), ("retry limit".into(), Vec::new()));
    }

    #[test]
    fn words_without_quotes_are_words_unless_they_have_a_slash() {
        assert_eq!(of(&["where", "is", "src"]), ("where is src".into(), Vec::new()));
        assert_eq!(of(&["retry", "src/"]), ("retry".into(), owned(&["src/"])));
        assert_eq!(of(&["retry", "limit", "src/main.rs"]), ("retry limit".into(), owned(&["src/main.rs"])));
        assert_eq!(of(&["src/main.rs"]), ("src/main.rs".into(), Vec::new()), "a query is never empty");
        assert_eq!(divided(&owned(&["retry", "src"]), &[], None).either, ["src"]);
        assert!(divided(&owned(&["retry", "policy"]), &[], None).either.is_empty());
    }

    #[test]
    fn dashes_and_the_flag_decide() {
        let words = divided(&owned(&["retry"]), &owned(&["src/main.rs"]), None);
        assert_eq!((words.query.as_str(), words.paths.len()), ("retry src/main.rs", 0));
        let flag = divided(&owned(&["src", "nowhere"]), &[], Some("retry"));
        assert_eq!((flag.query.as_str(), flag.paths), ("retry", owned(&["src", "nowhere"])));
        let dashes = divided(&[], &owned(&["-x"]), None);
        assert_eq!(dashes.query, "-x");
    }

    #[test]
    fn a_path_matches_itself() {
        assert_eq!(escaped("app/[id]/{a}.tsx"), "app/[[]id[]]/[{]a[}].tsx");
    }
}
