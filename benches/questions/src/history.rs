//! Questions that the history of a repository asks: each commit's subject, answered by the files that it changed.

use crate::list::{List, Question, Source};
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// Words of the shortest subject.
const WORDS: usize = 4;

/// Most files that a commit changed. One that touches more is about none of them.
const FILES: usize = 4;

/// Beginnings of subjects that say nothing of the code.
const EMPTY: [&str; 9] =
    ["merge", "bump", "release", "version", "revert", "update changelog", "chore", "build(deps", "prepare"];

/// Reads the subjects of the newest commits whose changed files are all there today, at most `most`, evenly chosen.
///
/// # Errors
/// The directory is no checkout of git.
pub fn list(checkout: &Path, most: usize) -> Result<List> {
    let output = Command::new("git")
        .arg("-C")
        .arg(checkout)
        .args(["log", "--no-merges", "-n", "3000", "--format=%x01%s", "--name-only", "--diff-filter=AM"])
        .output()
        .context("cannot run git")?;
    ensure!(output.status.success(), "{}: git log: {}", checkout.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut questions: Vec<Question> = Vec::new();
    for commit in text.split('\u{1}').skip(1) {
        let mut lines = commit.lines().filter(|line| !line.is_empty());
        let Some(subject) = lines.next() else { continue };
        let files: Vec<String> = lines.map(str::to_owned).collect();
        // The number of the change names no file.
        let subject = subject.rsplit_once(" (#").map_or(subject, |(words, _)| words).trim();
        let lower = subject.to_lowercase();
        let says = subject.split_whitespace().count() >= WORDS && !EMPTY.iter().any(|start| lower.starts_with(start));
        let there = (1..=FILES).contains(&files.len()) && files.iter().all(|file| checkout.join(file).is_file());
        let lists = |file: &String| file.to_lowercase().contains("change") || file.ends_with(".lock");
        if says && there && !files.iter().any(lists) && !questions.iter().any(|known| known.ask == subject) {
            questions.push(Question::answered_by(subject, files));
        }
    }
    let name = checkout.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = Source::Directory { path: checkout.to_owned(), notes: false };
    let questions = crate::collection::evenly(questions, most);
    Ok(List { about: format!("the commits of {name}"), name, source, questions })
}
