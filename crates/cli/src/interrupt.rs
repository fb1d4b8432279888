//! Ctrl-C: while a run is polled it stops at a whole step, otherwise and the second time at once.
//!
//! Stopping at once is safe as well: the index is committed in whole documents and survives a kill.

use crate::exit::Exit;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

static PRESSED: AtomicBool = AtomicBool::new(false);
static POLLED: AtomicBool = AtomicBool::new(false);

/// Takes over the signals.
///
/// # Errors
/// The system refuses.
pub fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        if PRESSED.swap(true, SeqCst) || !POLLED.load(SeqCst) {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        // Whoever closed standard error does not want to know.
        let _ = writeln!(io::stderr(), "\ntamis: stopping at the next whole step; once more to stop at once");
    })?;
    Ok(())
}

/// Whether somebody wants to stop.
pub fn pressed() -> bool {
    PRESSED.load(SeqCst)
}

/// While this lives, somebody asks [`pressed`] and the first Ctrl-C leaves it to them.
#[derive(Debug)]
pub struct Polled(());

impl Polled {
    /// From now on.
    pub fn new() -> Self {
        POLLED.store(true, SeqCst);
        Polled(())
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        POLLED.store(false, SeqCst);
    }
}

/// Stops as Ctrl-C would.
pub fn stop() {
    PRESSED.store(true, SeqCst);
}
