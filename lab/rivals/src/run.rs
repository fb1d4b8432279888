//! Runs other programs within a time limit, and measures them.

use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// GNU time, which measures a process and its children.
const TIME: &str = "/usr/bin/time";

/// Poll interval for a process that has not ended.
const POLL: Duration = Duration::from_millis(1);

/// A program that ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Time on the clock.
    pub wall: Duration,
    /// Processor time of the process and its children.
    pub cpu: Duration,
    /// Largest resident memory, in bytes.
    pub resident: u64,
    /// Its output.
    pub out: String,
}

/// Where commands run: what they may write, and how long they may take.
#[derive(Clone, Debug)]
pub struct Place {
    /// The home directory that programs see, so that they find no models or settings of this user.
    pub home: PathBuf,
    /// The longest time of one command.
    pub limit: Duration,
    /// The longest time for all questions of a tool.
    pub patience: Duration,
}

impl Place {
    /// Prepares a command for this place: an own home, and nothing from the network.
    pub fn prepare(&self, command: &mut Command) {
        command.env("HOME", &self.home).env("XDG_CACHE_HOME", self.home.join("cache"));
        command.env("XDG_CONFIG_HOME", self.home.join("config")).env("XDG_DATA_HOME", self.home.join("data"));
        command.env("HF_HOME", self.home.join("hub")).env("HF_HUB_OFFLINE", "1").env("NO_COLOR", "1");
        for variable in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env(variable, "http://127.0.0.1:9");
        }
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TAMIS_") {
                command.env_remove(name);
            }
        }
        command.env("TAMIS_CONFIG_HOME", self.home.join("config/tamis"));
        // A backtrace would take the place of the reason of a failure.
        command.env_remove("RUST_BACKTRACE");
    }

    /// Runs a command to its end. Statuses 0 and 1 are fine: many tools return 1 when nothing was found.
    ///
    /// # Errors
    /// The command cannot be started, fails, or takes longer than the limit.
    pub fn run(&self, command: &Command) -> Result<Ended> {
        fs::create_dir_all(&self.home)?;
        let (figures, out, err) = (self.home.join("figures"), self.home.join("out"), self.home.join("err"));
        let mut timed = Command::new(TIME);
        timed.args(["-f", "%U %S %M", "-o"]).arg(&figures).arg(command.get_program()).args(command.get_args());
        if let Some(directory) = command.get_current_dir() {
            timed.current_dir(directory);
        }
        self.prepare(&mut timed);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => timed.env(name, value),
                None => timed.env_remove(name),
            };
        }
        timed.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
        let started = Instant::now();
        let child =
            timed.spawn().with_context(|| format!("{TIME} cannot be started; Debian has it in the package time"))?;
        let status = wait(child, self.limit)?;
        let wall = started.elapsed();
        let said = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        match status {
            Some(0 | 1) => {}
            None => bail!("not done after {} s: {}", self.limit.as_secs(), reason(&said(&err), &said(&out))),
            Some(code) => bail!("status {code}: {}", reason(&said(&err), &said(&out))),
        }
        let figures = said(&figures);
        // GNU time writes a line of its own above the figures if the status is not 0.
        let numbers: Vec<f64> = figures.lines().last().unwrap_or_default().split(' ').flat_map(str::parse).collect();
        ensure!(numbers.len() == 3, "{TIME} printed {figures:?}");
        let ended = Ended {
            wall,
            cpu: Duration::from_secs_f64(numbers[0] + numbers[1]),
            resident: numbers[2] as u64 * 1024,
            out: said(&out),
        };
        if status == Some(1) && ended.out.trim().is_empty() && !said(&err).trim().is_empty() {
            bail!("status 1: {}", reason(&said(&err), ""));
        }
        Ok(ended)
    }
}

/// Waits for a process, and kills it after the limit. `None`: it was killed.
fn wait(mut child: Child, limit: Duration) -> Result<Option<i32>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code().unwrap_or(-1)));
        }
        if started.elapsed() > limit {
            // GNU time passes no signal on, so the process itself is named by its parent.
            let parent = child.id().to_string();
            let _ = Command::new("pkill").args(["-KILL", "-P", &parent]).status();
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

/// The line of a program's messages that says most: the last one that is not empty.
pub fn reason(err: &str, out: &str) -> String {
    let text = if err.trim().is_empty() { out } else { err };
    let telling =
        |line: &&str| ["rror", "ailed", "annot", "offline", "download"].iter().any(|word| line.contains(word));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = lines.iter().rev().find(|line| telling(line)).or(lines.last()).copied().unwrap_or("no message");
    line.chars().take(240).collect()
}

/// Returns the size of a file, or of everything under a directory, in bytes; 0 if there is none.
pub fn bytes(path: &Path) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    fs::read_dir(path).map_or(0, |entries| entries.flatten().map(|entry| bytes(&entry.path())).sum())
}
