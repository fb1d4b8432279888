//! Ctrl-C: a run that polls stops at a whole step, or after two seconds; everything else, and a second Ctrl-C, stops at once.
//!
//! Stopping at once is safe as well: the index is committed in whole documents and survives a kill. One document can take a minute.

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// The exit status of a program that Ctrl-C stopped, as shells have it.
pub const EXIT_STATUS: u8 = 130;

/// The time that a run has for its step.
const PATIENCE: Duration = Duration::from_secs(2);

static PRESSED: AtomicBool = AtomicBool::new(false);
static POLLED: AtomicBool = AtomicBool::new(false);
static PATIENT: AtomicBool = AtomicBool::new(false);
static IGNORED: AtomicBool = AtomicBool::new(false);
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Takes over the signals, once.
///
/// # Errors
/// The system refuses.
pub fn install() -> anyhow::Result<()> {
    if INSTALLED.swap(true, SeqCst) {
        return Ok(());
    }
    Ok(tamis_server::on_signals(handle_signal)?)
}

/// Stops, or leaves that to the run that polls.
fn handle_signal() {
    if IGNORED.load(SeqCst) {
        return;
    }
    if PRESSED.swap(true, SeqCst) || !POLLED.load(SeqCst) {
        std::process::exit(i32::from(EXIT_STATUS));
    }
    // A closed standard error means that nobody reads this.
    let _ = writeln!(io::stderr(), "\ntamis: stopping at the next whole step; press Ctrl-C again to stop at once");
    if !PATIENT.load(SeqCst) {
        std::thread::spawn(|| {
            std::thread::sleep(PATIENCE);
            std::process::exit(i32::from(EXIT_STATUS));
        });
    }
}

/// True if the user wants to stop.
pub fn pressed() -> bool {
    PRESSED.load(SeqCst)
}

/// Stops as Ctrl-C would.
pub fn stop() {
    PRESSED.store(true, SeqCst);
}

/// While this lives, a run polls [`pressed`], and the first Ctrl-C leaves stopping to it.
#[derive(Debug)]
pub struct Polled(());

impl Polled {
    /// Polling begins.
    pub fn new() -> Self {
        POLLED.store(true, SeqCst);
        Polled(())
    }
}

/// Gives every run as long as it needs to stop, as a worker does that has taken a job.
pub fn be_patient() {
    PATIENT.store(true, SeqCst);
}

impl Drop for Polled {
    fn drop(&mut self) {
        POLLED.store(false, SeqCst);
    }
}

/// While this lives, Ctrl-C does nothing here: another program has the terminal.
#[derive(Debug)]
pub struct Ignored(());

impl Ignored {
    /// The other program begins.
    pub fn new() -> Self {
        IGNORED.store(true, SeqCst);
        // Without the handler Ctrl-C ends this program, as it does before anything is shown.
        let _ = install();
        Ignored(())
    }
}

impl Drop for Ignored {
    fn drop(&mut self) {
        IGNORED.store(false, SeqCst);
    }
}
