//! Low priority for threads of background work and of calls that yield, and for a whole process.
//!
//! The priority is low, but not the lowest. On a busy machine, a thread that runs only when nobody else wants to would hold
//! up everyone who waits for its locks, and the end of its own process.

/// At this niceness a thread gets less than a fiftieth of the time of a normal one on the same processor.
#[cfg(unix)]
const NICENESS: i32 = 19;

/// Lowers the priority of the calling thread and of those that it starts. Does nothing if the system does not allow it.
#[cfg(target_os = "linux")]
pub(crate) fn lower_thread_priority() {
    // SAFETY: the call takes no pointers; 0 names the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
    }
}

/// Does nothing on other systems.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lower_thread_priority() {}

/// Takes this process out of the session of its terminal, whose end does not reach it any more, and gives it low priority. To be
/// called before other threads start, which inherit it. What the system does not allow is left out.
#[cfg(unix)]
pub fn detach_process() {
    // SAFETY: the calls take no pointers; 0 names this process, on Linux its calling thread.
    unsafe {
        libc::setsid();
        libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS);
    }
}

/// Does nothing on other systems, where whoever starts a process decides that.
#[cfg(not(unix))]
pub fn detach_process() {}
