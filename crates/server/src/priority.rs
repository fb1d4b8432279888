//! Work that gives way to all other work.

/// Has the system run the calling thread, and those that it starts, only when nothing else wants the processor. Where that
/// cannot be had, nothing changes.
#[cfg(target_os = "linux")]
pub(crate) fn give_way() {
    // SAFETY: 0 names the calling thread; the parameter is read only, and all its fields are numbers, for which 0 is valid.
    unsafe {
        let parameter: libc::sched_param = std::mem::zeroed();
        if libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameter) != 0 {
            libc::setpriority(libc::PRIO_PROCESS, 0, 19);
        }
    }
}

/// As above.
#[cfg(target_os = "macos")]
pub(crate) fn give_way() {
    // SAFETY: 0 names the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_DARWIN_THREAD, 0, libc::PRIO_DARWIN_BG);
    }
}

/// As above.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn give_way() {}
