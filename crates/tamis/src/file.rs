//! File access. Changes are serialized and atomic. Files from others are read defensively ([`untrusted`]). A file that the user
//! names is written according to its kind (`output`).

mod output;
pub mod untrusted;

use std::fs;
use std::fs::{File, Metadata, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Error;

pub(crate) use output::replace_whole;
pub use output::{write_bytes, write_file};

/// The prefix of temporary files. A file gets its final name when it is complete.
pub(crate) const TEMPORARY: &str = ".tamis-new-";

/// The largest file that is edited as text, in bytes.
pub(crate) const LONGEST_TEXT: u64 = 64 << 20;

/// The longest wait for another process that writes in the same directory. Each write takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of attempts to edit a file that somebody keeps saving.
const TRIES: usize = 5;

/// An advisory lock on the files of a directory. A killed process loses it.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    /// Waits for the lock, up to ten seconds. Removes the half-written files of killed processes.
    ///
    /// # Errors
    /// The directory cannot be locked, or another process holds the lock for that long.
    pub fn take(directory: &Path) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::path(directory, format!("cannot be locked: {error}"));
        let file = open(directory).map_err(failed)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::path(directory, "another process is writing here; try again when it is done"));
                }
                Err(TryLockError::Error(error)) => {
                    let reason = "its file system has no working file locks, as on a network drive; use a local disk";
                    return Err(Error::path(directory, format!("cannot be locked: {error}; {reason}")));
                }
            }
        }
        remove_leftovers(directory);
        Ok(DirectoryLock { _file: file })
    }
}

/// On Unix the directory itself can be locked, without a file in it.
#[cfg(unix)]
fn open(directory: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    // Opening a pipe in its place would block.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(directory, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(directory: &Path) -> std::io::Result<File> {
    let path = directory.join(format!("{TEMPORARY}lock"));
    fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Removes the temporary files of killed processes. Nobody writes them now, since we hold the lock.
fn remove_leftovers(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let left = |name: &str| name.starts_with(TEMPORARY) && name != format!("{TEMPORARY}lock");
    for entry in entries.flatten().filter(|entry| left(&entry.file_name().to_string_lossy())) {
        // One that stays does no harm: it is never indexed.
        let _ = fs::remove_file(entry.path());
    }
}

/// Replaces the text of a file by the result of `change`. The file stays as it is if `change` fails or changes nothing. The
/// caller holds the lock of its directory. Readers see the old file or the new one, also after a crash.
///
/// # Errors
/// The file cannot be read or written, is not UTF-8, or keeps changing; or `change` fails.
pub(crate) fn edit<T>(path: &Path, change: impl Fn(&str) -> Result<(String, T), Error>) -> Result<T, Error> {
    for _ in 0..TRIES {
        let before = state(path)?;
        let bytes = untrusted::read_in(output::directory_of(path), name(path), LONGEST_TEXT)
            .map_err(|error| Error::path(path, format!("cannot be read: {error}")))?;
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(Error::path(path, "not UTF-8, so it is not written to; convert it first"));
        };
        let (new, result) = change(&text)?;
        if new == text {
            return Ok(result);
        }
        // Editors ignore the lock, and a version saved meanwhile must not be lost.
        if replace(path, &new, &before)? {
            return Ok(result);
        }
    }
    Err(Error::path(path, "something else keeps changing it; try again when that is done"))
}

/// Replaces a file atomically. Returns `false` if the file has changed since `before` and was left alone.
fn replace(path: &Path, text: &str, before: &Metadata) -> Result<bool, Error> {
    let failed = |error: std::io::Error| Error::path(path, format!("cannot be written: {error}"));
    let mut file = output::new_in(output::directory_of(path), 0o600).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    if !same(&state(path)?, before) {
        return Ok(false);
    }
    output::put(file, path, Some(before)).map_err(failed)?;
    Ok(true)
}

/// Returns the last part of a path.
fn name(path: &Path) -> &Path {
    path.file_name().map_or(path, Path::new)
}

fn state(path: &Path) -> Result<Metadata, Error> {
    let metadata = fs::symlink_metadata(path).map_err(|error| Error::path(path, format!("cannot be read: {error}")))?;
    if metadata.is_file() { Ok(metadata) } else { Err(Error::path(path, "not a regular file; no other is written to")) }
}

fn same(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}

/// Makes the names in a directory survive a power failure, if the system can.
fn sync(directory: &Path) {
    #[cfg(unix)]
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    #[cfg(not(unix))]
    let _ = directory;
}

/// Creates a file with this text. Returns `false` if it already exists.
///
/// # Errors
/// The file cannot be created.
pub(crate) fn create(path: &Path, text: &str) -> Result<bool, Error> {
    let failed = |error: std::io::Error| Error::path(path, format!("cannot be made: {error}"));
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
        Ok(_) => return Ok(false),
    }
    let directory = output::directory_of(path);
    // The mode of any new file: the user's mask decides.
    let mut file = output::new_in(directory, 0o666).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => {
            sync(directory);
            Ok(true)
        }
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error.error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_whole_and_keeps_what_an_editor_saves_meanwhile() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.md");
        assert!(create(&path, "one\n").expect("made") && !create(&path, "two\n").expect("it is there"));
        fs::write(directory.path().join(format!("{TEMPORARY}old")), "half").expect("written");
        let _lock = DirectoryLock::take(directory.path()).expect("free");
        let length = edit(&path, |text| Ok((format!("{text}two\n"), text.len()))).expect("edited");
        assert_eq!((length, fs::read_to_string(&path).expect("text").as_str()), (4, "one\ntwo\n"));
        let failed: Result<(), Error> = edit(&path, |_| Err(Error::argument("text", "x", "y")));
        assert!(failed.is_err());
        let names: Vec<_> = fs::read_dir(directory.path()).expect("it").flatten().map(|it| it.file_name()).collect();
        assert_eq!(names, ["a.md"]);

        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.md");
        fs::write(&path, "one\n").expect("written");
        let saved = std::cell::Cell::new(false);
        edit(&path, |text| {
            if !saved.replace(true) {
                fs::write(&path, "one\nfrom the editor\n").expect("written");
            }
            Ok((format!("{text}ours\n"), ()))
        })
        .expect("edited");
        assert_eq!(fs::read_to_string(&path).expect("text"), "one\nfrom the editor\nours\n");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_links_are_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.md");
        fs::write(&path, "one\n").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("set");
        edit(&path, |text| Ok((format!("{text}x"), ()))).expect("edited");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
        let link = directory.path().join("b.md");
        symlink(&path, &link).expect("linked");
        assert!(edit(&link, |text| Ok((format!("{text}x"), ()))).is_err());
        fs::write(&path, [0xff, 0xfe, b'a']).expect("written");
        let error = edit(&path, |text| Ok((text.to_owned(), ()))).expect_err("not text").to_string();
        assert!(error.contains("not UTF-8"), "{error}");
    }

    #[test]
    fn a_lock_is_one_persons_at_a_time() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a.md");
        fs::write(&path, "0").expect("written");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let _lock = DirectoryLock::take(directory.path()).expect("taken in turn");
                        let next = |text: &str| (text.parse::<u32>().expect("a number") + 1).to_string();
                        edit(&path, |text| Ok((next(text), ()))).expect("edited");
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&path).expect("text"), "80");
    }
}
