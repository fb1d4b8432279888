//! Runs another program within a limit of time and of output. No shell is involved.

use std::io;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Most bytes kept of a program's error output.
const LONGEST_COMPLAINT: u64 = 4096;

/// The interval at which the caller is asked whether to stop.
const POLL: Duration = Duration::from_millis(50);

/// The end of a program's time.
pub(crate) struct Limit<'a> {
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

/// The way in which reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The output is complete.
    All,
    /// The reader broke off.
    Enough,
    /// The output is too long.
    TooMuch,
    /// The limit was reached.
    Late,
    /// The output broke off.
    Broken,
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The end of its output.
    pub end: End,
    /// Its exit status; `None` if it was killed.
    pub code: Option<i32>,
    /// The beginning of its error output.
    pub complaint: String,
}

/// Runs a program without input and passes its output to `each`, piece by piece, until the output ends, is longer than
/// `most_bytes`, or `each` breaks off.
///
/// # Errors
/// It cannot be started or waited for.
pub(crate) fn run(
    command: &mut Command,
    most_bytes: usize,
    limit: &Limit<'_>,
    mut each: impl FnMut(&[u8]) -> ControlFlow<()> + Send,
) -> io::Result<Ended> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (sender, ended) = channel::<bool>();
    let (end, complaint, in_time) = std::thread::scope(|scope| {
        let complaint = scope.spawn(move || stderr.map(complaint).unwrap_or_default());
        let reading = scope.spawn(move || {
            let end = stdout.map_or(End::Broken, |stdout| read(stdout, most_bytes, &mut each));
            // The receiver waits for this as long as it runs.
            let _ = sender.send(end == End::All);
            end
        });
        let in_time = wait(&mut child, &ended, limit);
        // A reader panics only if `each` does.
        (reading.join().unwrap_or(End::Broken), complaint.join().unwrap_or_default(), in_time)
    });
    let end = if in_time || end == End::Enough { end } else { End::Late };
    Ok(Ended { end, code: child.wait()?.code(), complaint })
}

fn read(mut stdout: impl Read, most_bytes: usize, each: &mut impl FnMut(&[u8]) -> ControlFlow<()>) -> End {
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
                if total > most_bytes {
                    return End::TooMuch;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
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
    let _ = io::copy(&mut taken.into_inner(), &mut io::sink());
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the whole path of a program on the `PATH`. A search path with the current directory must not find one in a repository.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|entry| entry.is_absolute())
        .map(|entry| entry.join(&name))
        .find(|at| at.is_file())
}
