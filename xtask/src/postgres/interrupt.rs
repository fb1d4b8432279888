//! Ctrl-C while a command runs: it ends the command, and this process lives on to stop what it started.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Set when a signal came.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes this process outlive Ctrl-C until dropped. The terminal sends the signal to children as well. They act on it as usual,
/// since a process that starts a new program loses its handlers.
#[derive(Debug)]
pub struct Survival {
    former: Vec<(libc::c_int, libc::sighandler_t)>,
}

impl Survival {
    /// Begins to outlive Ctrl-C.
    pub fn begin() -> Survival {
        Survival::of(&[libc::SIGINT])
    }

    /// Begins to outlive some signals, by a handler that only notes them.
    pub fn of(signals: &[libc::c_int]) -> Survival {
        extern "C" fn note(_: libc::c_int) {
            INTERRUPTED.store(true, SeqCst);
        }
        let handler = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler is safe at any moment.
        let former = signals.iter().map(|signal| (*signal, unsafe { libc::signal(*signal, handler) })).collect();
        Survival { former }
    }

    /// Returns true once a signal came.
    pub fn is_interrupted() -> bool {
        INTERRUPTED.load(SeqCst)
    }
}

impl Drop for Survival {
    fn drop(&mut self) {
        for (signal, former) in &self.former {
            // SAFETY: the former handler was valid before.
            unsafe { libc::signal(*signal, *former) };
        }
    }
}
