//! `tamis hook`, with the machine's git: a commit really brings the index up to date.

use crate::support::{Tree, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// git in the root of a tree, with the given search path and without the machine's configuration.
fn git(tree: &Tree, path: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("git");
    command.current_dir(tree.root()).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").env("PATH", path);
    command.env("TAMIS_CONFIG_HOME", tree.home()).env("TAMIS_CACHE", tree.home().join("cache"));
    command.env("TAMIS_INDEX_MODELS", "static").env_remove("TAMIS_INDEX");
    let output = command.output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn repository() -> Tree {
    let tree = Tree::new();
    fs::remove_dir(tree.root().join(".git")).expect("the mark alone");
    git(&tree, &machine(), &["init", "-q"]);
    tree
}

fn machine() -> String {
    std::env::var("PATH").expect("a path")
}

/// The path with the binary on it.
fn with_binary() -> String {
    let binary = PathBuf::from(assert_cmd::cargo::cargo_bin!("tamis"));
    let directory = binary.parent().expect("a directory").to_owned();
    let paths = std::iter::once(directory).chain(std::env::split_paths(&machine()).collect::<Vec<_>>());
    std::env::join_paths(paths).expect("a path").into_string().expect("text")
}

/// The background run is stuck after this time, however busy the machine is.
const HANGS: Duration = Duration::from_secs(300);

/// Waits until the index in the background holds a file.
fn indexed(tree: &Tree, path: &str) -> bool {
    let until = Instant::now() + HANGS;
    while Instant::now() < until {
        if tree.root().join(".tamis/tamis.db").exists() && run(tree.tamis(&["get", path])).0 == 0 {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

#[test]
fn a_commit_and_a_checkout_bring_the_index_up_to_date() {
    let tree = repository();
    fs::write(tree.root().join(".gitignore"), ".tamis/\n").expect("written");
    let (code, out, err) = run(tree.tamis(&["hook", "install"]));
    assert_eq!((code, out.lines().count()), (0, 4), "{out}{err}");
    git(&tree, &with_binary(), &["add", "."]);
    let output = git(&tree, &with_binary(), &["commit", "-q", "-m", "first"]);
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    assert!(indexed(&tree, "docs/tides.md"), "the commit made the index");

    git(&tree, &with_binary(), &["checkout", "-q", "-b", "other"]);
    tree.write("docs/moor.md", "# Moor\n\nPeat grows a millimetre a year.\n");
    git(&tree, &with_binary(), &["add", "."]);
    git(&tree, &with_binary(), &["commit", "-q", "-m", "second"]);
    assert!(indexed(&tree, "docs/moor.md"));

    let (code, ..) = run(tree.tamis(&["hook", "remove"]));
    assert_eq!(code, 0);
    assert!(!tree.root().join(".git/hooks/post-commit").exists());
}

#[test]
fn without_the_command_git_works_as_before_and_what_a_hook_returns_it_still_returns() {
    let tree = repository();
    let hook = tree.root().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().expect("a parent")).expect("made");
    fs::write(&hook, "#!/bin/sh\necho \"checked out\" >mine.txt\nexit 0\n").expect("written");
    executable(&hook);
    assert_eq!(run(tree.tamis(&["hook", "install"])).0, 0);
    git(&tree, &machine(), &["add", "."]);
    git(&tree, &machine(), &["commit", "-q", "-m", "first"]);
    let output = git(&tree, &machine(), &["checkout", "-q", "-b", "other"]);
    assert!(output.stderr.is_empty(), "{output:?}");
    assert!(tree.root().join("mine.txt").exists(), "the hook's own lines ran");
}

#[cfg(unix)]
fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
}

#[cfg(not(unix))]
fn executable(_: &Path) {}

#[test]
fn the_lines_are_printed_and_a_refusal_tells_them_too() {
    let tree = repository();
    let (code, lines, _) = run(tree.tamis(&["hook", "print"]));
    assert_eq!(code, 0);
    assert!(lines.contains("tamis --quiet index") && lines.contains("command -v tamis"), "{lines}");

    let hook = tree.root().join(".git/hooks/post-merge");
    fs::create_dir_all(hook.parent().expect("a parent")).expect("made");
    fs::write(&hook, "#!/usr/bin/env node\n").expect("written");
    executable(&hook);
    let (code, out, err) = run(tree.tamis(&["hook", "install"]));
    assert_eq!((code, out.lines().count()), (1, 3), "{out}{err}");
    assert!(
        err.contains("post-merge") && err.contains("not a shell script") && err.contains(lines.trim_end()),
        "{err}"
    );

    git(&tree, &machine(), &["config", "core.hooksPath", ".husky"]);
    let (code, _, err) = run(tree.tamis(&["hook", "install"]));
    assert_eq!(code, 2);
    assert!(err.contains("core.hooksPath") && err.contains(".husky") && err.contains(lines.trim_end()), "{err}");
}
