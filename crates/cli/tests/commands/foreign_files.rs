//! Untrusted trees, through the binary: endless links, pipes without a writer, names that are not text.

use crate::support::{Tree, run};
use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The binary in a tree, with less memory than an endless file would take.
fn bounded(tree: &Tree, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 8000000; exec \"$@\"", "sh"]).arg(assert_cmd::cargo::cargo_bin!("tamis"));
    command.args(arguments).current_dir(tree.root());
    command.env("TAMIS_CONFIG_HOME", tree.home()).env("TAMIS_INDEX_MODELS", "static");
    command.env("TAMIS_CACHE", tree.home().join("cache")).env("HOME", tree.home());
    command
}

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    assert!(std::process::Command::new("mkfifo").arg(path).status().expect("runs").success());
}

/// Puts a pipe, a link to a device or an oversized file in place of a file.
fn hostile(path: &Path, kind: &str) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    match kind {
        "pipe" => pipe(path),
        "zero" => symlink("/dev/zero", path).expect("linked"),
        _ => fs::File::create(path).and_then(|file| file.set_len(1 << 42)).expect("made"),
    }
}

const KINDS: [&str; 3] = ["pipe", "zero", "huge"];

#[test]
fn an_ignore_file_that_is_none_stops_no_command() {
    for kind in KINDS {
        let tree = Tree::new();
        for file in [".gitignore", ".ignore", ".tamisignore", ".git/info/exclude", "src/.gitignore"] {
            hostile(&tree.root().join(file), kind);
        }
        let (code, out, error) = run(bounded(&tree, &["index"]));
        assert_eq!(code, 0, "{kind}: {out}{error}");
        assert_eq!(out.matches("its rules do not apply").count(), 5, "{kind}: {out}");
        for arguments in [&["search", "exponential backoff", "--files"][..], &["status"], &["doctor"]] {
            let (code, out, error) = run(bounded(&tree, arguments));
            assert!(code < 2, "{kind} {arguments:?}: {out}{error}");
        }
    }
}

#[test]
fn a_configuration_that_is_no_file_is_refused_by_name() {
    for kind in KINDS {
        let tree = Tree::new();
        let file = tree.root().join(".tamis/config.toml");
        hostile(&file, kind);
        for arguments in [&["search", "oven"][..], &["index"], &["config"], &["trust"], &["status"]] {
            let (code, out, error) = run(bounded(&tree, arguments));
            assert_eq!((code, out.as_str()), (2, ""), "{kind} {arguments:?}: {error}");
            assert!(error.contains(".tamis/config.toml"), "{kind} {arguments:?}: {error}");
        }
    }
    // A link within the tree is as good as a file.
    let tree = Tree::new();
    tree.write("settings/tamis.toml", "[search]\ntop_k = 3\n");
    fs::create_dir(tree.root().join(".tamis")).expect("made");
    symlink("../settings/tamis.toml", tree.root().join(".tamis/config.toml")).expect("linked");
    assert_eq!(run(bounded(&tree, &["config", "search.top_k"])).1, "3\n");
}

#[test]
fn a_file_of_a_client_or_of_git_that_is_none_stops_nothing() {
    for kind in KINDS {
        let tree = Tree::new();
        for file in [".mcp.json", ".vscode/mcp.json", ".codex/config.toml", "opencode.json"] {
            hostile(&tree.root().join(file), kind);
        }
        let (code, out, error) = run(bounded(&tree, &["install"]));
        assert_eq!(code, 0, "{kind}: {error}");
        assert_eq!(out.matches("unreadable").count(), 4, "{kind}: {out}");
        let (code, _, error) = run(bounded(&tree, &["install", "--client", "claude-code"]));
        assert!(code == 2 && error.contains(".mcp.json"), "{kind}: {error}");

        fs::remove_dir_all(tree.root().join(".git")).expect("removed");
        hostile(&tree.root().join(".git"), kind);
        let (code, _, error) = run(bounded(&tree, &["index"]));
        assert_eq!(code, 0, "{kind}: {error}");
        fs::remove_file(tree.root().join(".git")).expect("removed");
        for file in ["HEAD", "packed-refs", "commondir", "hooks/post-commit"] {
            hostile(&tree.root().join(".git").join(file), kind);
        }
        let (code, _, error) = run(bounded(&tree, &["index"]));
        assert_eq!(code, 0, "{kind}: {error}");
    }
}

#[test]
fn a_project_leads_no_client_file_out_of_itself() {
    let tree = Tree::empty();
    let outside = tempfile::tempdir().expect("a temporary directory");
    symlink(outside.path(), tree.root().join(".vscode")).expect("linked");
    symlink(outside.path().join("mine.json"), tree.root().join(".mcp.json")).expect("linked");
    fs::write(outside.path().join("mine.json"), "{}\n").expect("written");
    for client in ["vscode", "claude-code"] {
        let (code, _, error) = run(bounded(&tree, &["install", "--client", client]));
        assert!(code == 2 && error.contains("symbolic link"), "{client}: {error}");
    }
    assert_eq!(fs::read_to_string(outside.path().join("mine.json")).expect("text"), "{}\n");
    assert_eq!(fs::read_dir(outside.path()).expect("listed").count(), 1);
}

#[test]
fn an_index_directory_with_anything_but_files_in_it_is_not_written_through() {
    let outside = tempfile::tempdir().expect("a temporary directory");
    for name in ["tamis.db", "usage.db", "write.lock", "lexical/meta.json", "vectors/any"] {
        for kind in ["link", "pipe"] {
            let tree = Tree::new();
            let path = tree.root().join(".tamis").join(name);
            match kind {
                "pipe" => pipe(&path),
                _ => {
                    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
                    symlink(outside.path().join("target"), &path).expect("linked");
                }
            }
            let (code, _, error) = run(bounded(&tree, &["index"]));
            assert_eq!(code, 2, "{name} {kind}: {error}");
            assert!(error.contains(name) && error.contains("--index"), "{name} {kind}: {error}");
        }
    }
    let tree = Tree::new();
    symlink(outside.path(), tree.root().join(".tamis")).expect("linked");
    let (code, _, error) = run(bounded(&tree, &["search", "oven"]));
    assert!(code == 2 && error.contains("TAMIS_INDEX"), "{error}");
    assert_eq!(fs::read_dir(outside.path()).expect("listed").count(), 0);
    fs::remove_file(tree.root().join(".tamis")).expect("removed");
    fs::create_dir(tree.root().join(".tamis")).expect("made");
    symlink(outside.path().join("target"), tree.root().join(".tamis/.gitignore")).expect("linked");
    assert_eq!(run(bounded(&tree, &["index"])).0, 0);
    assert_eq!(fs::read_dir(outside.path()).expect("listed").count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_said_once_and_never_count_as_changed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let tree = Tree::new();
    for name in [&b"caf\xe9.md"[..], b"caf\xe8.md"] {
        fs::write(tree.root().join(OsStr::from_bytes(name)), "# Coffee\n").expect("written");
    }
    for _ in 0..2 {
        let (code, out, error) = run(tree.tamis(&["index"]));
        assert_eq!(code, 0, "{error}");
        let lines: Vec<&str> = out.lines().filter(|line| line.contains("not UTF-8")).collect();
        assert!(lines.len() == 1 && lines[0].contains("caf\\xE8.md") && lines[0].contains("rename"), "{out}");
        assert!(!out.contains("could not be read"), "{out}");
    }
    let status = tree.json(&["status", "--json"]);
    assert_eq!(status["stale"], 0, "{status}");
    let (_, _, error) = run(tree.tamis(&["search", "oven"]));
    assert!(!error.contains("could not be read") && !error.contains("changed"), "{error}");
}
