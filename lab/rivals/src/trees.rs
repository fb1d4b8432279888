//! The trees: copies of the sources that the lists of questions are about, and one tree with all of them.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use tamis_questions::{List, Place, Topic};

/// A tree, and the questions that are put to it.
pub struct Tree {
    /// The name of the list.
    pub name: String,
    /// The copy.
    pub root: PathBuf,
    /// Each question with the files that answer it.
    pub questions: Vec<(String, Vec<String>)>,
    /// Questions that nothing in it answers.
    pub unanswerable: Vec<String>,
}

/// Copies the tree of each list that is about sources of a crate.
///
/// # Errors
/// A list or a tree cannot be read, or nothing is there.
pub fn copied(to: &Path, only: &[String]) -> Result<Vec<Tree>> {
    let mut trees = Vec::new();
    for list in List::all()? {
        if !matches!(list.source, tamis_questions::Source::Crate { .. }) {
            continue;
        }
        if !only.is_empty() && !only.contains(&list.name) {
            continue;
        }
        let Place::Tree { root, .. } = Place::of(&list)? else {
            eprintln!("{}: skipped, its sources are not here", list.name);
            continue;
        };
        let copy = to.join(&list.name);
        copy_tree(&root, &copy).with_context(|| format!("cannot copy {}", root.display()))?;
        // A marker, so that no tool takes a directory above for the project.
        fs::create_dir_all(copy.join(".git"))?;
        let (answerable, others): (Vec<_>, Vec<_>) =
            list.questions.into_iter().partition(|question| question.topic == Topic::Answerable);
        let questions = answerable.into_iter().map(|question| (question.ask, question.expect)).collect();
        let unanswerable = others.into_iter().map(|question| question.ask).collect();
        trees.push(Tree { name: list.name, root: copy, questions, unanswerable });
    }
    ensure!(!trees.is_empty(), "no tree was found; `cargo fetch` downloads the crates");
    Ok(trees)
}

/// Copies all trees into one, each under its name, with all questions.
///
/// # Errors
/// A file cannot be copied.
pub fn together(trees: &[Tree], to: &Path) -> Result<Tree> {
    let mut questions = Vec::new();
    for tree in trees {
        copy_tree(&tree.root, &to.join(&tree.name))?;
        let under = |file: &String| format!("{}/{file}", tree.name);
        let of_all = |(ask, expect): &(String, Vec<String>)| (ask.clone(), expect.iter().map(under).collect());
        questions.extend(tree.questions.iter().map(of_all));
    }
    fs::create_dir_all(to.join(".git"))?;
    Ok(Tree { name: "all".into(), root: to.to_owned(), questions, unanswerable: Vec::new() })
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if entry.file_name() == ".git" {
            continue;
        }
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
