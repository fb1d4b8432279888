//! Disk rounds: a file system with too little room, or a limit on the size of files.

use super::check::{answers, doctor_without_room, survived};
use super::mount::Mount;
use super::random::Random;
use super::sandbox::{Running, Sandbox, size_of};
use super::setup::{Setup, VARIANTS};
use super::table::Outcome;
use super::work::Work;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Limits the size of files that a command writes. Writes beyond the limit fail with EFBIG.
fn limit_files(command: &mut Command, bytes: u64) {
    let set = move || {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: both calls are safe between fork and exec, and touch nothing but this new process.
        let failed = unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit)
        };
        if failed != 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: `set` allocates nothing and takes no lock.
    unsafe { command.pre_exec(set) };
}

/// Does some work with too little room and checks the index it leaves.
///
/// # Errors
/// Something was lost.
pub fn round(setup: &Setup, random: &mut Random, kept: &mut Option<Sandbox>) -> Result<Outcome> {
    let (work, variant) = (*random.pick(&Work::CHANGING), random.below(VARIANTS));
    let reference = setup.reference(work, variant)?;
    let arguments = work.arguments(&setup.base);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_limit = setup.mounts.is_err() || random.below(4) == 0;

    if is_limit {
        let sandbox = &*kept.insert(Sandbox::copy_of(&setup.base.sandbox)?);
        work.prepare(sandbox, variant)?;
        let bytes = random.below(600_000);
        let mut command = sandbox.command(&arguments);
        limit_files(&mut command, bytes);
        let ended = Running::start(&mut command)?.end()?;
        let summary =
            format!("{work:?}, variant {variant}, files of at most {bytes} bytes, {}", ended.to_string().trim());
        if let Some(fault) = ended.fault() {
            bail!("{summary}: {fault}");
        }
        survived(setup, sandbox, work, &reference, &ended, random.below(2) == 0).with_context(|| summary.clone())?;
        return Ok(Outcome { landed: ended.code() == Some(2), summary });
    }

    // Declared after its directory, the mount is dropped before it.
    let directory = tempfile::tempdir()?;
    let mount = Mount::new(directory.path(), 64 << 20)?;
    let sandbox = Sandbox::copy_in(&setup.base.sandbox, &directory.path().canonicalize()?)?;
    work.prepare(&sandbox, variant)?;
    let used = size_of(sandbox.directory())? + (64 << 10);
    let room = random.below(reference.growth + (128 << 10)) / 4096 * 4096;
    mount.resize(used + room)?;
    let ended = sandbox.run(&arguments)?;
    let summary = format!("{work:?}, variant {variant}, {room} bytes of room, {}", ended.to_string().trim());
    if let Some(fault) = ended.fault() {
        bail!("{summary}: {fault}");
    }
    let landed = ended.code() == Some(2) || ended.err.contains("space");
    // With no room left at all, searches still find what is there.
    let hog = fs::write(sandbox.directory().join("hog"), vec![0; usize::try_from(room)? + (1 << 20)]);
    ensure!(hog.is_err(), "{summary}: the disk is not full");
    if work != Work::IndexNew {
        answers(&sandbox, false).with_context(|| format!("{summary}: on the full disk"))?;
        doctor_without_room(&sandbox).with_context(|| format!("{summary}: on the full disk"))?;
    }
    fs::remove_file(sandbox.directory().join("hog"))?;
    mount.resize(64 << 20)?;
    let refresh = random.below(2) == 0;
    survived(setup, &sandbox, work, &reference, &ended, refresh).with_context(|| summary.clone())?;
    Ok(Outcome { landed, summary })
}
