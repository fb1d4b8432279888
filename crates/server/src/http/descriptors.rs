//! The file descriptors of the process. Connections take at most half of them, so that calls can still open the files of the index.

/// Raises the limit to the most that the system allows, and returns it; `None` where there is none that counts.
#[cfg(unix)]
pub(super) fn raised_limit() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes into the structure that it is given.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return None;
    }
    let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: the call only reads the structure.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } == 0 {
        limit = raised;
    }
    usize::try_from(limit.rlim_cur).ok()
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(super) fn raised_limit() -> Option<usize> {
    None
}
