//! ripgrep, which finds lines and ranks nothing. A person would look for the words of the question, so files are ranked by the number
//! of different words that occur in them, and equal ones by the number of matches.

use super::{Tool, cargo_install, cargo_program};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = "15.2.0";

/// Words of fewer letters match almost every file.
const SHORTEST: usize = 3;

/// ripgrep.
pub struct Ripgrep {
    /// The directory of all tools.
    pub tools: PathBuf,
}

fn words(query: &str) -> BTreeSet<String> {
    let words = query.split(|letter: char| !letter.is_alphanumeric() && letter != '_').map(str::to_lowercase);
    let all: BTreeSet<String> = words.filter(|word| !word.is_empty()).collect();
    let long: BTreeSet<String> = all.iter().filter(|word| word.chars().count() >= SHORTEST).cloned().collect();
    if long.is_empty() { all } else { long }
}

impl Tool for Ripgrep {
    fn name(&self) -> &'static str {
        "ripgrep"
    }

    fn called(&self) -> &'static str {
        "`rg -i -o -F -e WORD -e WORD … .`; files ranked by the number of different words of the query in them, then by matches"
    }

    fn install(&self) -> Result<()> {
        cargo_install(&self.tools, "ripgrep", VERSION, "rg")
    }

    fn command(&self) -> Command {
        Command::new(cargo_program(&self.tools, "ripgrep", VERSION, "rg"))
    }

    fn search(&self, tree: &Path, query: &str) -> Command {
        let mut command = self.command();
        command.args(["-i", "-o", "-F", "--no-heading", "--with-filename", "--no-line-number", "--null"]);
        for word in words(query) {
            command.args(["-e", &word]);
        }
        command.arg(".").current_dir(tree);
        command
    }

    fn files(&self, tree: &Path, _: &str, out: &str) -> Result<Vec<String>> {
        let mut found: BTreeMap<String, (BTreeSet<String>, usize)> = BTreeMap::new();
        for (path, word) in out.lines().filter_map(|line| line.split_once('\0')) {
            let (words, matches) = found.entry(super::relative(tree, path)).or_default();
            words.insert(word.to_lowercase());
            *matches += 1;
        }
        let mut files: Vec<(String, usize, usize)> =
            found.into_iter().map(|(path, (words, matches))| (path, words.len(), matches)).collect();
        files.sort_by(|a, b| b.1.cmp(&a.1).then(b.2.cmp(&a.2)).then_with(|| a.0.cmp(&b.0)));
        Ok(files.into_iter().take(10).map(|(path, ..)| path).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_more_different_words_come_first() {
        let rival = Ripgrep { tools: PathBuf::new() };
        let out = "./a.rs\0one\n./a.rs\0one\n./a.rs\0ONE\n./b.rs\0one\n./b.rs\0two\n./c.rs\0two\n";
        assert_eq!(rival.files(Path::new("/t"), "", out).expect("read"), ["b.rs", "a.rs", "c.rs"]);
        assert_eq!(words("is it the `Open` call?").into_iter().collect::<Vec<_>>(), ["call", "open", "the"]);
    }
}
