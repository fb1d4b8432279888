//! Work that gives way to other work.
//!
//! Not to all other work: a thread that runs only when nobody else wants to would, on a busy machine, hold up whoever waits
//! for what it holds, and the end of its process.

/// How far it gives way: to less than a fiftieth of what another thread on the same processor gets.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;

/// Has the system prefer other threads to the calling one and to those that it starts. Where that cannot be had, nothing
/// changes.
#[cfg(target_os = "linux")]
pub(crate) fn give_way() {
    // SAFETY: a call without pointers; 0 names the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICE);
    }
}

/// As above.
#[cfg(not(target_os = "linux"))]
pub(crate) fn give_way() {}
