//! Output files that the user names, through the binary: each keeps its kind.

use crate::support::{Tree, run};
use assert_cmd::Command;
use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;

const GRAPH: &str = "{\"record\":\"task\",\"id\":\"t1\",\"question\":\"Does folic acid prevent strokes?\"}\n";

fn graph() -> Tree {
    let tree = Tree::new();
    tree.write("graph.jsonl", GRAPH);
    let (code, _, error) = run(tree.tamis(&["import", "evidence", "graph.jsonl"]));
    assert_eq!(code, 0, "{error}");
    tree
}

fn exported(tree: &Tree, file: &str) {
    let (code, out, error) = run(tree.tamis(&["evidence", "export", file]));
    assert_eq!(code, 0, "{file}: {out}{error}");
}

fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().expect("runs").success());
}

/// The content read from a pipe while a command writes.
fn through(path: &Path, command: Command) -> String {
    let reader = std::thread::spawn({
        let path = path.to_owned();
        move || fs::read_to_string(path).expect("read")
    });
    let (code, _, error) = run(command);
    assert_eq!(code, 0, "{error}");
    reader.join().expect("read")
}

#[test]
fn an_export_follows_links_and_replaces_no_pipe_and_no_device() {
    let tree = graph();
    let at = |name: &str| tree.root().join(name);
    exported(&tree, "/dev/null");
    assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());

    fs::create_dir(at("real")).expect("made");
    fs::write(at("real/out.jsonl"), "old").expect("written");
    fs::set_permissions(at("real/out.jsonl"), Permissions::from_mode(0o640)).expect("set");
    symlink("real/out.jsonl", at("link")).expect("linked");
    symlink("real/new.jsonl", at("to-none")).expect("linked");
    for (link, file) in [("link", "real/out.jsonl"), ("to-none", "real/new.jsonl")] {
        exported(&tree, link);
        assert!(fs::symlink_metadata(at(link)).expect("there").is_symlink(), "{link}");
        assert_eq!(fs::read_to_string(at(file)).expect("text"), GRAPH, "{link}");
    }
    assert_eq!(fs::metadata(at("real/out.jsonl")).expect("there").permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(at("real")).expect("listed").count(), 2, "nothing is left beside them");

    pipe(&at("pipe"));
    assert_eq!(through(&at("pipe"), tree.tamis(&["evidence", "export", "pipe"])), GRAPH);
    assert!(fs::metadata(at("pipe")).expect("there").file_type().is_fifo());

    // Only the superuser can make a device, and not everywhere.
    let device = at("device");
    let made = std::process::Command::new("mknod").arg(&device).args(["c", "1", "3"]).output().expect("runs");
    if made.status.success() && fs::OpenOptions::new().write(true).open(&device).is_ok() {
        exported(&tree, "device");
        assert!(fs::symlink_metadata(&device).expect("there").file_type().is_char_device());
    } else {
        println!("skipped 1 case: no device can be made or opened here");
    }

    let (code, out, _) = run(tree.tamis(&["evidence", "export", "/dev/stdout"]));
    assert!(code == 0 && out.starts_with(GRAPH), "{out}");
    let (code, _, error) = run(tree.tamis(&["evidence", "export", "real"]));
    assert!(code == 2 && error.contains("a directory; name a file"), "{error}");
}

#[test]
fn manual_pages_and_reports_follow_links_and_replace_no_pipe() {
    let tree = Tree::empty();
    let at = |name: &str| tree.root().join(name);
    fs::create_dir_all(at("man")).expect("made");
    fs::write(at("elsewhere.1"), "a longer page than any that there is\n".repeat(10_000)).expect("written");
    symlink("../elsewhere.1", at("man/tamis-search.1")).expect("linked");
    let (code, _, error) = run(tree.tamis(&["man", "man"]));
    assert_eq!(code, 0, "{error}");
    assert!(fs::symlink_metadata(at("man/tamis-search.1")).expect("there").is_symlink());
    let page = fs::read_to_string(at("elsewhere.1")).expect("text");
    assert!(page.contains(".TH tamis-search") && !page.contains("a longer page"), "{page}");
    assert!(fs::read_to_string(at("man/tamis.1")).expect("text").contains(".TH tamis 1"));

    tree.write("run.txt", "q1 Q0 d1 1 0.9 tamis\nq1 Q0 d2 2 0.1 tamis\n");
    tree.write("qrels.txt", "q1 0 d1 1\n");
    pipe(&at("report.html"));
    let arguments = ["eval", "--run", "run.txt", "--qrels", "qrels.txt", "--html", "report.html", "--cut", "otsu"];
    assert!(through(&at("report.html"), tree.tamis(&arguments)).contains("</html>"));
    assert!(fs::metadata(at("report.html")).expect("there").file_type().is_fifo());
}

#[test]
fn an_import_reads_from_a_pipe_that_the_user_names() {
    let tree = Tree::empty();
    let path = tree.root().join("pipe");
    pipe(&path);
    let writer = std::thread::spawn(move || fs::write(path, GRAPH).expect("written"));
    let (code, out, error) = run(tree.tamis(&["import", "evidence", "pipe"]));
    assert!(code == 0 && out.starts_with("1 record: 1 added"), "{out}{error}");
    writer.join().expect("written");
    let mut command = tree.tamis(&["import", "evidence", "/dev/stdin"]);
    command.write_stdin(GRAPH);
    let (code, out, error) = run(command);
    assert!(code == 0 && out.starts_with("1 record"), "{out}{error}");
}
