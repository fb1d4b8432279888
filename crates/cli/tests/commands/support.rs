//! A tree of its own for each test, and the binary run in it, isolated from the machine's configuration.

#[path = "../../../tamis/tests/library/support/endpoint.rs"]
pub mod endpoint;

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The files of a tree: enough code and prose that some answer a question and others do not.
const FILES: [(&str, &str); 7] = [
    (
        "src/retry.rs",
        "/// Runs `call` again after a failure, waiting twice as long each time: exponential backoff.\n\
         pub fn with_backoff(call: impl Fn() -> bool, tries: u32) -> bool {\n    \
             let mut wait = 10;\n    for _ in 0..tries {\n        if call() {\n            return true;\n        }\n        \
             std::thread::sleep(std::time::Duration::from_millis(wait));\n        wait *= 2;\n    }\n    false\n}\n",
    ),
    (
        "src/lock.rs",
        "/// One writer at a time.\npub struct WriteLock {\n    held: bool,\n}\n\nimpl WriteLock {\n    \
         /// Takes the lock, unless somebody holds it.\n    pub fn take(&mut self) -> bool {\n        \
         !std::mem::replace(&mut self.held, true)\n    }\n}\n",
    ),
    (
        "tools/settings.py",
        "def read_settings(path):\n    \"\"\"Parse a settings file: one key and value a line.\"\"\"\n    pairs = {}\n    \
         for line in open(path):\n        key, value = line.split('=')\n        pairs[key.strip()] = value.strip()\n    \
         return pairs\n",
    ),
    (
        "docs/bread.md",
        "# Bread\n\nFlour, water, salt and yeast.\n\n## Oven\n\nHeat the oven to 240 degrees before baking, and put a bowl of \
         water in it for steam.\n\n## Rising\n\nLeave the dough covered in a warm place until it has doubled.\n",
    ),
    (
        "docs/garden.md",
        "# Garden\n\n## Tomatoes\n\nTomatoes want sun and a roof against rain.\n\n## Compost\n\nTurn the compost heap every month.\n",
    ),
    ("docs/tides.md", "# Tides\n\nThe moon raises two tides a day; at new and full moon they are highest.\n"),
    ("README.md", "# A small tree\n\nFiles of many kinds for a search to tell apart.\n"),
];

/// A tree and a home directory, with ways to run the binary in them.
pub struct Tree {
    /// Holds the root, `tree`, and the user's directory, `home`.
    _directory: TempDir,
    root: PathBuf,
    home: PathBuf,
}

impl Tree {
    /// The sample files, not indexed yet.
    pub fn new() -> Self {
        let tree = Self::empty();
        for (path, text) in FILES {
            tree.write(path, text);
        }
        tree
    }

    /// The sample files, indexed.
    pub fn indexed() -> Self {
        let tree = Self::new();
        tree.succeed(&["index"]);
        tree
    }

    /// A root without files.
    pub fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let [root, home] = ["tree", "home"].map(|one| dunce::canonicalize(directory.path()).expect("a path").join(one));
        // A marker, so that no directory above becomes the root.
        fs::create_dir_all(root.join(".git")).expect("made");
        fs::create_dir(&home).expect("made");
        Tree { _directory: directory, root, home }
    }

    /// The root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The user's configuration directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Writes a file under the root.
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(&path, text).expect("written");
        path
    }

    /// The binary in the root, with the quick model alone unless a test says otherwise.
    pub fn tamis(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_tamis"));
        command.args(arguments);
        command
    }

    /// Runs the binary, which must succeed. Returns its standard output and standard error.
    pub fn succeed(&self, arguments: &[&str]) -> (String, String) {
        good(self.tamis(arguments))
    }

    /// Reads the tree, and imports the issues and the evidence that wait in `.tamis-import`.
    pub fn index_and_import(&self) {
        self.succeed(&["index"]);
        for kind in ["issues", "evidence"] {
            self.succeed(&["import", kind, &format!(".tamis-import/{kind}.jsonl")]);
        }
    }

    /// Any program in the root, with the same environment.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = isolated(program);
        command.current_dir(self.root());
        command.env("TAMIS_CONFIG_HOME", self.home()).env("TAMIS_INDEX_MODELS", "static");
        command.env("TAMIS_CACHE", self.home().join("cache"));
        command
    }

    /// The same, started with its output left out.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.tamis(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    }

    /// Returns the binary's standard output, which must be JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.tamis(arguments).output().expect("runs");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{arguments:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr));
        })
    }
}

/// The binary without any environment variable that could change its behaviour.
pub fn bare(arguments: &[&str]) -> Command {
    let mut command = isolated(env!("CARGO_BIN_EXE_tamis"));
    command.args(arguments);
    command
}

fn isolated(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("TAMIS_") || ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"].contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.env("TAMIS_INDEX_BACKGROUND", "false");
    command
}

/// Exit status, standard output and standard error.
pub fn run(mut command: Command) -> (i32, String, String) {
    let output = command.output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("not killed"), text(output.stdout), text(output.stderr))
}

/// Standard output and standard error of a command that succeeds.
pub fn good(command: Command) -> (String, String) {
    let what = format!("{command:?}");
    let (code, out, err) = run(command);
    assert_eq!(code, 0, "{what}: {out}{err}");
    (out, err)
}

/// Reports that tests were skipped, and why, past the capture of test output.
pub fn skipped(tests: &str, reason: &str) {
    // Without a reader, nothing is lost.
    let _ = writeln!(std::io::stderr(), "skipped {tests}: {reason}");
}

/// Returns `true` if the tests run with rights that no permission stops.
#[cfg(unix)]
pub fn ignores_permissions(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let probe = directory.join("probe");
    fs::create_dir(&probe).expect("made");
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o555)).expect("set");
    let ignored = fs::write(probe.join("file"), "x").is_ok();
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o755)).expect("set");
    fs::remove_dir_all(&probe).expect("removed");
    ignored
}

/// Kills processes at varying points of their work. The duration of the work is measured, and again when a process ends
/// before its kill, so that kills land on a machine of any speed.
pub struct Kills {
    whole: Duration,
    tried: u32,
    /// The number of processes that were still at work when they were killed.
    pub landed: u32,
}

impl Kills {
    /// Measures an undisturbed run, which has to succeed.
    pub fn within(undisturbed: impl FnOnce() -> bool) -> Self {
        let started = Instant::now();
        assert!(undisturbed());
        Kills { whole: started.elapsed(), tried: 0, landed: 0 }
    }

    /// Lets a process work for a part of the time, a different part each time, and kills it. Returns its working time.
    pub fn kill(&mut self, mut child: Child) -> Duration {
        /// Parts of the work.
        const PARTS: u32 = 8;
        /// After so many kills that do not land, the work is too short to be killed.
        const TRIES: u32 = 20;
        self.tried += 1;
        let started = Instant::now();
        std::thread::sleep(self.whole * (self.tried % PARTS) / PARTS);
        let at_work = child.try_wait().expect("its state").is_none();
        // A process that has ended by itself meanwhile cannot be killed.
        let _ = child.kill();
        let ended = child.wait().expect("it ends");
        if at_work && !ended.success() {
            self.landed += 1;
        } else {
            self.whole = self.whole * 3 / 4;
        }
        assert!(self.landed > 0 || self.tried < TRIES, "no kill of {} landed", self.tried);
        started.elapsed()
    }
}
