//! Questions that the history of a repository asks: each commit's message, answered by the files that it changed.

use crate::collection::evenly;
use crate::list::Question;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// Words of the shortest subject, and of the shortest long message.
const WORDS: usize = 4;
const LONG: usize = 25;

/// Most files that a commit changed. One that touches more is about none of them.
const FILES: usize = 4;

/// Beginnings of subjects that say nothing of the code.
const EMPTY: [&str; 9] =
    ["merge", "bump", "release", "version", "revert", "update changelog", "chore", "build(deps", "prepare"];

/// Beginnings of the lines that tools add to a message.
const TRAILERS: [&str; 4] = ["Signed-off-by", "Co-authored-by", "Reviewed-by", "Change-Id"];

/// Reads the messages of the newest commits whose changed files are all there today: at most `most` subjects of short messages, and as
/// many long messages, evenly chosen.
///
/// # Errors
/// The directory is no checkout of git.
pub fn questions(checkout: &Path, most: usize) -> Result<[Vec<Question>; 2]> {
    let output = Command::new("git")
        .arg("-C")
        .arg(checkout)
        .args(["log", "--no-merges", "-n", "4000", "--format=%x01%B%x02", "--name-only", "--diff-filter=AM"])
        .output()
        .context("cannot run git")?;
    ensure!(output.status.success(), "{}: git log: {}", checkout.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (mut short, mut long): (Vec<Question>, Vec<Question>) = (Vec::new(), Vec::new());
    for commit in text.split('\u{1}').skip(1) {
        let Some((message, files)) = commit.split_once('\u{2}') else { continue };
        let files: Vec<String> = files.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
        // The number of the change names no file.
        let subject = subject.rsplit_once(" (#").map_or(subject, |(words, _)| words).trim();
        let lower = subject.to_lowercase();
        let says = subject.split_whitespace().count() >= WORDS && !EMPTY.iter().any(|start| lower.starts_with(start));
        let there = (1..=FILES).contains(&files.len()) && files.iter().all(|file| checkout.join(file).is_file());
        let lists = |file: &String| file.to_lowercase().contains("change") || file.ends_with(".lock");
        if !says || !there || files.iter().any(lists) {
            continue;
        }
        let own = |line: &&str| !TRAILERS.iter().any(|start| line.starts_with(start));
        let body = body.lines().filter(own).collect::<Vec<_>>().join("\n");
        let (to, ask) = match body.split_whitespace().count() >= LONG {
            true => (&mut long, format!("{subject}\n\n{}", body.trim())),
            false => (&mut short, subject.to_owned()),
        };
        if !to.iter().any(|known| known.ask == ask) {
            to.push(Question::answered_by(ask, files));
        }
    }
    Ok([evenly(short, most), evenly(long, most)])
}
