//! Calls `git` so that nothing in a repository's own configuration runs.
//!
//! A repository can name programs: a file system monitor, hooks, a pager, a differ, text converters, a signature checker, an ssh
//! command, or helpers of a remote that would fetch missing objects. Each is either set to nothing on the command line, which
//! overrides every file and its includes, or switched off by a flag. We only run commands that read objects. None reads the files
//! of the tree, for which filters could run.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Settings on the command line, before the command.
const SETTINGS: [&str; 14] = [
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.attributesFile=/dev/null",
    "core.sshCommand=false", "core.askPass=", "credential.helper=", "gpg.program=false", "gpg.ssh.program=false",
    "diff.external=", "diff.relative=false", "log.showSignature=false", "log.showRoot=true", "log.follow=false",
];

/// Most bytes taken from one command.
const MOST_BYTES: usize = 1 << 30;

/// Most bytes kept of a command's error output.
const LONGEST_COMPLAINT: u64 = 4096;

/// The interval at which the caller is asked whether to stop.
const POLL: Duration = Duration::from_millis(50);

/// The end of a command's time.
pub(super) struct Limit<'a> {
    /// The deadline.
    pub until: Instant,
    /// Returns `true` if the caller wants to stop.
    pub stopped: &'a dyn Fn() -> bool,
}

impl Limit<'_> {
    /// Returns `true` if it is time to stop.
    pub fn reached(&self) -> bool {
        Instant::now() >= self.until || (self.stopped)()
    }
}

/// Runs `git` with these arguments in `root` and passes its output to `each`, piece by piece, until the output ends or `each`
/// breaks off.
///
/// # Errors
/// The reason for a missing or partial answer, in words for people.
pub(super) fn ask(
    root: &Path,
    arguments: &[&str],
    limit: &Limit<'_>,
    mut each: impl FnMut(&[u8]) -> ControlFlow<()> + Send,
) -> Result<(), String> {
    let mut child = command(root, arguments)?.spawn().map_err(|error| format!("git cannot be started: {error}"))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (sender, ended) = channel::<bool>();
    let (end, complaint, in_time) = std::thread::scope(|scope| {
        let complaint = scope.spawn(move || stderr.map(complaint).unwrap_or_default());
        let reading = scope.spawn(move || {
            let end = stdout.map_or(End::Broken, |stdout| read(stdout, &mut each));
            // The receiver waits for this as long as it runs.
            let _ = sender.send(end == End::All);
            end
        });
        let in_time = wait(&mut child, &ended, limit);
        // A reader panics only if `each` does.
        (reading.join().unwrap_or(End::Broken), complaint.join().unwrap_or_default(), in_time)
    });
    let status = child.wait().map_err(|error| format!("git cannot be waited for: {error}"))?;
    match end {
        End::Enough => Ok(()),
        _ if !in_time => Err("git took too long, so only a part of the history was read".into()),
        End::All if status.success() => Ok(()),
        End::TooMuch => Err("git's answer is too long, so only a part of it was read".into()),
        _ => Err(reason(&complaint)),
    }
}

/// The way in which reading ended.
#[derive(PartialEq)]
enum End {
    All,
    Enough,
    TooMuch,
    Broken,
}

fn read(mut stdout: impl Read, each: &mut impl FnMut(&[u8]) -> ControlFlow<()>) -> End {
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        match stdout.read(&mut buffer) {
            Ok(0) => return End::All,
            Ok(bytes) => {
                total += bytes;
                if each(&buffer[..bytes]).is_break() {
                    return End::Enough;
                }
                if total > MOST_BYTES {
                    return End::TooMuch;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return End::Broken,
        }
    }
}

/// Waits for the reader to say whether it reached the end, then ends the process. Returns `true` if that was in time.
fn wait(child: &mut Child, ended: &Receiver<bool>, limit: &Limit<'_>) -> bool {
    let (in_time, whole) = loop {
        match ended.recv_timeout(POLL) {
            Err(RecvTimeoutError::Timeout) if limit.reached() => break (false, false),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break (true, false),
            Ok(whole) => break (true, whole),
        }
    };
    // A process that has written everything ends by itself, with a useful status, unless it takes too long.
    let patience = Instant::now() + Duration::from_secs(1);
    while whole && Instant::now() < patience && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(1));
    }
    // The process may be gone already, which is fine.
    let _ = child.kill();
    in_time
}

fn complaint(stderr: impl Read) -> String {
    let mut taken = stderr.take(LONGEST_COMPLAINT);
    let mut text = Vec::new();
    // The readable part is enough.
    let _ = taken.read_to_end(&mut text);
    let _ = std::io::copy(&mut taken.into_inner(), &mut std::io::sink());
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns git's error output as one line.
fn reason(complaint: &str) -> String {
    if complaint.contains("dubious ownership") {
        return "the repository belongs to somebody else, so git does not read it (`git config --global --add safe.directory DIR` allows it)".into();
    }
    match complaint.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!("git says: {line}"),
        None => "git failed without a word".into(),
    }
}

fn command(root: &Path, arguments: &[&str]) -> Result<Command, String> {
    let mut command = Command::new(program().ok_or("there is no git on this machine")?);
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().to_ascii_uppercase().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    // Objects missing from a partial clone are not fetched. The first variable is for newer versions, the second for all.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command.args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"]);
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// Returns the program's whole path. A search path with the current directory must not find one in the repository.
fn program() -> Option<PathBuf> {
    let name = format!("git{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|entry| entry.is_absolute())
        .map(|entry| entry.join(&name))
        .find(|at| at.is_file())
}
