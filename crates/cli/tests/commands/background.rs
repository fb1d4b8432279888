//! What a command leaves without a vector is embedded by a process of its own, which can be killed at any time.

use crate::support::{Tree, good, ignores_permissions, run, skipped};
use serde_json::{Value, json};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// No machine is so loaded that what a test waits for takes this long.
const PATIENCE: Duration = Duration::from_secs(600);

/// Said once an index.
const NOTE: &str = "embeds the rest in the background";

/// A few more than a search embeds at once.
const PASSAGES: u64 = 530;

/// A tree with more passages than a search waits for, whose background processes end with it.
struct Large(Tree);

impl Large {
    fn new() -> Self {
        let tree = Tree::empty();
        let words = "the glacier left stones and sand behind when it melted, and the stream after it wore them round";
        for number in 0..PASSAGES {
            tree.write(&format!("moraines/{number}.md"), &format!("# Moraine {number}\n\nIn year {number} {words}.\n"));
        }
        Large(tree)
    }

    /// Runs a command with these variables, and returns its messages. It must succeed.
    fn with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> String {
        let mut command = self.0.tamis(arguments);
        command.env_remove("CI").env("TAMIS_INDEX_MODELS", "static,minilm").env("TAMIS_INDEX_BACKGROUND", "true");
        // The cache would have what a killed process has lost.
        command.env("TAMIS_INDEX_EMBEDDING_CACHE_MB", "0").envs(variables.iter().copied());
        let (_, err) = good(command);
        err
    }

    fn run(&self, arguments: &[&str]) -> String {
        self.with(&[], arguments)
    }

    /// An index that lacks vectors, and nobody makes them.
    fn indexed(self) -> Self {
        self.with(&[("TAMIS_INDEX_BACKGROUND", "false")], &["index"]);
        assert!(self.lacking() > 0 && !self.lock().exists());
        self
    }

    fn lock(&self) -> PathBuf {
        self.0.root().join(".tamis/embedding.lock")
    }

    fn status(&self) -> Value {
        let mut command = self.0.tamis(&["status", "--json"]);
        command.env("TAMIS_INDEX_MODELS", "static,minilm");
        let (_, out, err) = run(command);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
    }

    /// Passages without a vector of the better model.
    fn lacking(&self) -> u64 {
        self.status()["pending"]["minilm"].as_u64().unwrap_or(0)
    }

    /// The process that embedded last, or does.
    fn process(&self) -> Option<String> {
        let holder = fs::read_to_string(self.lock()).ok()?;
        holder.split(' ').nth(1).map(str::to_owned)
    }

    fn is_embedding(&self) -> bool {
        File::open(self.lock()).is_ok_and(|file| file.try_lock_shared().is_err())
    }

    /// Waits until a process embeds, and returns its number.
    fn embeds(&self) -> String {
        until("a process embeds", || self.is_embedding());
        // The name is written after the lock is taken.
        until("it has a name", || self.process().is_some());
        self.process().expect("named")
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        if self.is_embedding() {
            self.process().iter().for_each(|process| kill(process));
        }
    }
}

fn kill(process: &str) {
    let _ = Command::new("kill").args(["-KILL", process]).status();
}

fn is_alive(process: &str) -> bool {
    // One that has ended and that nobody waits for is a zombie.
    let output = Command::new("ps").args(["-o", "stat=", "-p", process]).output().expect("runs");
    !matches!(output.stdout.trim_ascii().first(), None | Some(b'Z'))
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_killed_process_leaves_what_it_has_done_and_the_next_search_starts_one_that_ends_the_work() {
    let tree = Large::new();
    let told = tree.run(&["search", "glacier"]);
    assert_eq!(told.matches(NOTE).count(), 1, "{told}");
    let process = tree.embeds();
    until("its progress is told", || tree.status()["embedding"].is_object());
    let embedding = tree.status()["embedding"].clone();
    assert_eq!((&embedding["model"], &embedding["passages"]), (&json!("minilm"), &json!(PASSAGES)), "{embedding}");

    // Another one ends at once, and leaves the first alone. Nor does a search start one, or embed by itself.
    tree.run(&["index", "--background"]);
    assert!(!tree.run(&["search", "stones"]).contains(NOTE));
    assert_eq!(tree.process().as_ref(), Some(&process));

    let before = tree.lacking();
    until("it commits", || tree.lacking() < before);
    kill(&process);
    until("it is gone", || !tree.is_embedding());
    let left = tree.lacking();
    assert!(left > 0 && left < before, "killed in the middle: {left} of {before}");
    assert_eq!(tree.status()["embedding"], Value::Null);

    let told = tree.run(&["search", "sand"]);
    assert!(!told.contains(NOTE), "{told}");
    until("everything is embedded", || tree.lacking() == 0);
    until("it ends", || !tree.is_embedding());
    tree.run(&["doctor", "--check-only"]);
    // The tree is done, so nothing starts any more.
    let last = tree.process();
    tree.run(&["search", "stream"]);
    assert_eq!(tree.process(), last);
}

#[test]
fn nothing_starts_where_nobody_wants_it() {
    let tree = Large::new().indexed();
    for variables in [
        [("CI", "true"), ("TAMIS_INDEX_BACKGROUND", "true")],
        [("CI", ""), ("TAMIS_INDEX_BACKGROUND", "false")],
        [("CI", ""), ("TAMIS_INDEX_MODELS", "static")],
    ] {
        for command in [&["index"][..], &["search", "glacier"], &["search", "--no-refresh", "glacier"]] {
            let told = tree.with(&variables, command);
            assert!(!told.contains(NOTE) && !tree.lock().exists(), "{variables:?} {command:?}: {told}");
        }
    }
}

#[test]
fn a_process_whose_index_or_tree_is_deleted_ends_and_makes_nothing_anew() {
    for gone in [".tamis", "."] {
        let tree = Large::new().indexed();
        tree.run(&["index"]);
        let process = tree.embeds();
        // A path that ends with a dot cannot be removed.
        let gone_path: PathBuf = tree.0.root().join(gone).components().collect();
        // A file that the process makes meanwhile keeps its directory until it is removed as well.
        until("it is removed", || fs::remove_dir_all(&gone_path).is_ok());
        until("it ends", || !is_alive(&process));
        assert!(!tree.0.root().join(".tamis").exists(), "{gone} came back");
    }
}

#[test]
fn an_index_that_cannot_be_written_is_searched_and_starts_nothing() {
    let tree = Large::new();
    if ignores_permissions(tree.0.home()) {
        return skipped("a background process beside a read-only index", "permissions do not stop this user");
    }
    let tree = tree.indexed();
    let index = tree.0.root().join(".tamis");
    fs::set_permissions(&index, Permissions::from_mode(0o555)).expect("set");
    let told = tree.run(&["search", "glacier"]);
    fs::set_permissions(&index, Permissions::from_mode(0o755)).expect("set");
    assert!(!told.contains(NOTE) && !tree.lock().exists(), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_leaves_its_session_and_gives_way() {
    let tree = Large::new().indexed();
    tree.run(&["index"]);
    let process = tree.embeds();
    let output = Command::new("ps").args(["-o", "sid=,ni=", "-p", &process]).output().expect("runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let fields: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(fields, [process.as_str(), "19"], "its own session, and the lowest priority");
}
