//! A tree with its index, alone in a directory, and the program run in it.

use crate::run::Owned;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The limit after which a program counts as hanging. Everything here takes a second or two.
const TIMEOUT: Duration = Duration::from_secs(180);

/// A directory that belongs to one round.
#[derive(Debug)]
pub struct Sandbox {
    binary: PathBuf,
    directory: PathBuf,
    _owned: Option<TempDir>,
}

impl Sandbox {
    /// Makes an empty one.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn empty(binary: &Path) -> Result<Sandbox> {
        let owned = tempfile::Builder::new().prefix("torture-").tempdir().context("a directory for a round")?;
        let directory = owned.path().canonicalize()?;
        let sandbox = Sandbox { binary: binary.to_owned(), directory, _owned: Some(owned) };
        // Marks the root, so that no directory above is taken for it.
        fs::create_dir_all(sandbox.tree().join(".git"))?;
        fs::create_dir_all(sandbox.home())?;
        Ok(sandbox)
    }

    /// Copies another, with the times of its files.
    ///
    /// # Errors
    /// Something cannot be copied.
    pub fn copy_of(other: &Sandbox) -> Result<Sandbox> {
        let copy = Sandbox::empty(&other.binary)?;
        copy_tree(&other.directory, &copy.directory)?;
        Ok(copy)
    }

    /// Copies another into an existing directory, such as a mounted file system.
    ///
    /// # Errors
    /// Something cannot be copied.
    pub fn copy_in(other: &Sandbox, directory: &Path) -> Result<Sandbox> {
        copy_tree(&other.directory, directory)?;
        Ok(Sandbox { binary: other.binary.clone(), directory: directory.to_owned(), _owned: None })
    }

    /// Keeps the directory after the sandbox is dropped.
    pub fn keep(&mut self) {
        if let Some(owned) = self._owned.take() {
            let _ = owned.keep();
        }
    }

    /// Returns the whole directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the directory that is indexed.
    pub fn tree(&self) -> PathBuf {
        self.directory.join("tree")
    }

    /// Returns the directory of the index.
    pub fn index(&self) -> PathBuf {
        self.tree().join(".tamis")
    }

    /// Returns the directory of the user's configuration and cache.
    pub fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    /// Writes a file of the tree.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.tree().join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// Prepares the program to run in the tree, without this machine's configuration and with the quick model alone.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TAMIS_") || name == "RUST_BACKTRACE" {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.tree())
            .env("HOME", self.home())
            .env("TAMIS_CONFIG_HOME", self.home().join("config"))
            .env("TAMIS_CACHE", self.home().join("cache"))
            .env("TAMIS_INDEX_MODELS", "static")
            .env("TAMIS_INDEX_BACKGROUND", "false")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// It cannot be started, or it hangs.
    pub fn run(&self, arguments: &[&str]) -> Result<Ended> {
        Running::start(&mut self.command(arguments))?.end()
    }

    /// Runs the program and requires success.
    ///
    /// # Errors
    /// It did not end with 0.
    pub fn done(&self, arguments: &[&str]) -> Result<Ended> {
        let ended = self.run(arguments)?;
        anyhow::ensure!(ended.code() == Some(0), "tamis {} {ended}", arguments.join(" "));
        Ok(ended)
    }

    /// Runs the program and parses its output as JSON.
    ///
    /// # Errors
    /// It did not end with 0 or 1, or printed something else.
    pub fn json(&self, arguments: &[&str]) -> Result<Value> {
        let ended = self.run(arguments)?;
        anyhow::ensure!(matches!(ended.code(), Some(0 | 1)), "tamis {} {ended}", arguments.join(" "));
        serde_json::from_str(&ended.out)
            .with_context(|| format!("tamis {} printed no JSON: {ended}", arguments.join(" ")))
    }
}

/// A running program. Its output is read as it comes.
#[derive(Debug)]
pub struct Running {
    child: Owned,
    started: Instant,
    out: JoinHandle<String>,
    err: JoinHandle<String>,
    /// Whole lines of standard error as they come.
    pub lines: Receiver<String>,
}

impl Running {
    /// Starts it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &mut Command) -> Result<Running> {
        let started = Instant::now();
        let mut child = Owned(command.spawn().with_context(|| format!("{command:?} cannot be started"))?);
        let mut out = child.stdout.take().context("standard output is piped")?;
        let mut err = child.stderr.take().context("standard error is piped")?;
        let (sender, lines) = channel();
        let out = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = out.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let err = std::thread::spawn(move || {
            let (mut bytes, mut buffer, mut sent) = (Vec::new(), [0; 4096], 0);
            while let Ok(read) = err.read(&mut buffer) {
                if read == 0 {
                    break;
                }
                bytes.extend_from_slice(&buffer[..read]);
                while let Some(end) = bytes[sent..].iter().position(|byte| *byte == b'\n') {
                    let _ = sender.send(String::from_utf8_lossy(&bytes[sent..sent + end]).into_owned());
                    sent += end + 1;
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Ok(Running { child, started, out, err, lines })
    }

    /// Kills it (SIGKILL) and waits for its end.
    ///
    /// # Errors
    /// The system refuses.
    pub fn kill(mut self) -> Result<Ended> {
        self.child.kill()?;
        // However long it ran before, its end has the whole limit.
        self.end_from(Instant::now())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// It hangs, and was killed.
    pub fn end(self) -> Result<Ended> {
        let started = self.started;
        self.end_from(started)
    }

    fn end_from(mut self, from: Instant) -> Result<Ended> {
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if from.elapsed() > TIMEOUT {
                self.child.kill()?;
                self.child.wait()?;
                anyhow::bail!("hung: killed after {TIMEOUT:?}");
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let took = self.started.elapsed();
        let text = |thread: JoinHandle<String>| thread.join().unwrap_or_default();
        Ok(Ended { status, out: text(self.out), err: text(self.err), took })
    }
}

/// A program that ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its status.
    pub status: ExitStatus,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// Its running time.
    pub took: Duration,
}

impl Ended {
    /// Returns its exit code, unless a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Returns true when SIGKILL ended it.
    pub fn is_killed(&self) -> bool {
        self.status.signal() == Some(libc::SIGKILL)
    }

    /// Describes the fault of a disturbed program. It may succeed, or fail with a message and exit code 2; anything else is a fault.
    pub fn fault(&self) -> Option<String> {
        let output = format!("{}{}", self.out, self.err);
        match self.code() {
            _ if output.contains("panicked at") => Some(format!("panicked: {self}")),
            Some(0 | 1) => None,
            Some(2) if !self.err.trim().is_empty() => None,
            Some(_) | None => Some(format!("neither succeeded nor failed with a message: {self}")),
        }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let brief = |text: &str| text.chars().take(1500).collect::<String>();
        write!(formatter, "ended with {}\n{}{}", self.status, brief(&self.out), brief(&self.err))
    }
}

/// Copies the content of a directory into another, with the times of files.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let copied = match entry.file_type()?.is_dir() {
            true => copy_tree(&source, &target),
            false => copy_file(&source, &target).map_err(Into::into),
        };
        copied.with_context(|| source.display().to_string())?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let modified = fs::metadata(from)?.modified()?;
    fs::File::options().append(true).open(to)?.set_modified(modified)
}

/// Adds up the bytes that the files below a directory take.
///
/// # Errors
/// It cannot be read.
pub fn size_of(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        bytes += match entry.file_type()?.is_dir() {
            true => size_of(&entry.path())?,
            // In whole pages, as file systems count.
            false => entry.metadata()?.len().div_ceil(4096) * 4096,
        };
    }
    Ok(bytes)
}
