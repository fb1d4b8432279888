//! Disk rounds: a file system that has too little room, or a limit on the size of files.

use super::check::{answers, doctor_without_room, survived};
use super::ground::{Ground, VARIANTS};
use super::plan::Random;
use super::sandbox::{Running, Sandbox, size_of};
use super::table::Outcome;
use super::work::Work;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether this process may mount a file system of a given size.
///
/// # Errors
/// Why not.
pub fn can_mount(directory: &Path) -> Result<(), String> {
    let point = directory.join("mount");
    fs::create_dir_all(&point).map_err(|error| error.to_string())?;
    Mount::new(&point, 1 << 20).map(drop).map_err(|error| error.to_string())
}

/// A file system in memory.
struct Mount {
    point: PathBuf,
}

impl Mount {
    fn new(point: &Path, bytes: u64) -> Result<Mount> {
        mount(&["-t", "tmpfs", "-o", &format!("size={bytes}"), "torture"], point)?;
        Ok(Mount { point: point.to_owned() })
    }

    fn resize(&self, bytes: u64) -> Result<()> {
        mount(&["-o", &format!("remount,size={bytes}")], &self.point)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a process that was killed may still be going.
        let _ = Command::new("umount").arg("--lazy").arg(&self.point).output();
    }
}

fn mount(arguments: &[&str], point: &Path) -> Result<()> {
    let output = Command::new("mount").args(arguments).arg(point).output().context("mount")?;
    ensure!(output.status.success(), "mount: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}

/// Limits the size of files that a command writes. A file that would grow beyond is refused (EFBIG).
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

/// Does some work with too little room and checks what is left.
///
/// # Errors
/// Something was lost.
pub fn round(ground: &Ground, random: &mut Random, kept: &mut Option<Sandbox>) -> Result<Outcome> {
    let (work, variant) = (*random.pick(&Work::CHANGING), random.below(VARIANTS));
    let reference = ground.reference(work, variant)?;
    let arguments = work.arguments(&ground.base);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_limit = ground.mounts.is_err() || random.below(4) == 0;

    if is_limit {
        let sandbox = &*kept.insert(Sandbox::copy_of(&ground.base.sandbox)?);
        work.prepare(sandbox, variant)?;
        let bytes = random.below(600_000);
        let mut command = sandbox.command(&arguments);
        limit_files(&mut command, bytes);
        let ended = Running::start(&mut command)?.end()?;
        let told = format!("{work:?}, variant {variant}, files of at most {bytes} bytes, {}", ended.to_string().trim());
        if let Some(fault) = ended.fault() {
            bail!("{told}: {fault}");
        }
        survived(ground, sandbox, work, &reference, &ended, random.below(2) == 0).with_context(|| told.clone())?;
        return Ok(Outcome { landed: ended.code() == Some(2), told });
    }

    // The mount is undone before its directory goes, since it is declared after it.
    let directory = tempfile::tempdir()?;
    let mount = Mount::new(directory.path(), 64 << 20)?;
    let sandbox = Sandbox::copy_in(&ground.base.sandbox, &directory.path().canonicalize()?)?;
    work.prepare(&sandbox, variant)?;
    let used = size_of(sandbox.directory())? + (64 << 10);
    let room = random.below(reference.growth + (128 << 10)) / 4096 * 4096;
    mount.resize(used + room)?;
    let ended = sandbox.run(&arguments)?;
    let told = format!("{work:?}, variant {variant}, {room} bytes of room, {}", ended.to_string().trim());
    if let Some(fault) = ended.fault() {
        bail!("{told}: {fault}");
    }
    let landed = ended.code() == Some(2) || ended.err.contains("space");
    // No room is left at all: what is there is still found.
    let hog = fs::write(sandbox.directory().join("hog"), vec![0; usize::try_from(room)? + (1 << 20)]);
    ensure!(hog.is_err(), "{told}: the disk is not full");
    if work != Work::IndexNew {
        answers(&sandbox, false).with_context(|| format!("{told}: on the full disk"))?;
        doctor_without_room(&sandbox).with_context(|| format!("{told}: on the full disk"))?;
    }
    fs::remove_file(sandbox.directory().join("hog"))?;
    mount.resize(64 << 20)?;
    let refresh = random.below(2) == 0;
    survived(ground, &sandbox, work, &reference, &ended, refresh).with_context(|| told.clone())?;
    Ok(Outcome { landed, told })
}
