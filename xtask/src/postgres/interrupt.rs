//! Ctrl-C while a command runs: it ends the command, and this process lives on to stop the server.

/// Makes this process outlive Ctrl-C until dropped. The terminal sends the signal to children as well. They act on it as usual,
/// since a process that starts a new program loses its handlers.
#[derive(Debug)]
pub struct Survival {
    former: libc::sighandler_t,
}

impl Survival {
    /// Begins to ignore the signal, by a handler that does nothing.
    pub fn begin() -> Survival {
        extern "C" fn nothing(_: libc::c_int) {}
        // SAFETY: the handler is safe at any moment.
        let former = unsafe { libc::signal(libc::SIGINT, nothing as extern "C" fn(libc::c_int) as libc::sighandler_t) };
        Survival { former }
    }
}

impl Drop for Survival {
    fn drop(&mut self) {
        // SAFETY: the former handler was valid before.
        unsafe { libc::signal(libc::SIGINT, self.former) };
    }
}
