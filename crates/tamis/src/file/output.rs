//! Writes the files that somebody names.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::NamedTempFile;

use super::{TEMPORARY, sync};
use crate::Error;

/// The maximum number of links followed in a row, as on common systems.
const MOST_LINKS: usize = 40;

/// Writes the output of `content` to a file that somebody named.
///
/// A regular file is replaced when the content is complete, and keeps its mode and owner; a link to it is followed. Content for a
/// pipe, a device or a handle such as `/dev/stdout` goes there, and nothing is replaced. A file with other names, or one that
/// cannot keep its owner otherwise, is overwritten in place.
///
/// # Errors
/// `content` fails, or the file is a directory or cannot be written.
pub fn write_file<T>(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<T, Error>) -> Result<T, Error> {
    let failed = |error: io::Error| Error::path(path, format!("cannot be written: {error}"));
    match target(path).map_err(failed)? {
        Target::Directory => Err(Error::path(path, "a directory; name a file to write")),
        Target::Output => through(io::stdout().lock(), content, failed),
        Target::Errors => through(io::stderr().lock(), content, failed),
        Target::Stream => through(OpenOptions::new().write(true).open(path).map_err(failed)?, content, failed),
        // The opener may have written before, so this appends.
        Target::Handle => through(OpenOptions::new().append(true).open(path).map_err(failed)?, content, failed),
        Target::File(target) => whole(&target, content, failed),
    }
}

/// Writes these bytes as [`write_file`] does.
///
/// # Errors
/// As [`write_file`].
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |error: io::Error| Error::path(path, format!("cannot be written: {error}"));
    write_file(path, |out| out.write_all(bytes).map_err(failed))
}

/// The target of a path.
enum Target {
    /// A regular file, existing or not.
    File(PathBuf),
    /// A regular file reached through a handle of the process.
    Handle,
    /// A pipe or a device.
    Stream,
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
    Directory,
}

fn target(path: &Path) -> io::Result<Target> {
    if cfg!(unix) {
        match path.to_str() {
            Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => return Ok(Target::Output),
            Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => return Ok(Target::Errors),
            _ => {}
        }
    }
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(Target::Directory),
        Ok(metadata) if !metadata.is_file() => return Ok(Target::Stream),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // The file at the end of the links is the one to write, even if it does not exist yet.
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(to) = fs::read_link(&at) else { return Ok(Target::File(at)) };
        if cfg!(unix) && (at.starts_with("/dev") || at.starts_with("/proc")) {
            return Ok(Target::Handle);
        }
        at = at.parent().unwrap_or(Path::new("")).join(to);
    }
    Err(io::Error::other("too many links in a row"))
}

fn through<T>(
    out: impl Write,
    content: impl FnOnce(&mut dyn Write) -> Result<T, Error>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<T, Error> {
    let mut out = BufWriter::new(out);
    let result = content(&mut out)?;
    out.flush().map_err(failed)?;
    Ok(result)
}

fn whole<T>(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> Result<T, Error>,
    failed: impl Fn(io::Error) -> Error + Copy,
) -> Result<T, Error> {
    let before = match fs::metadata(path) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    if before.is_some() {
        // A file without write permission is not replaced either. Opening it changes nothing.
        OpenOptions::new().write(true).open(path).map_err(failed)?;
    }
    match new_in(directory_of(path), 0o666) {
        Ok(mut temporary) => {
            let result = through(&mut temporary, content, failed)?;
            put(temporary, path, before.as_ref()).map_err(failed)?;
            Ok(result)
        }
        // If the directory takes no new file, an existing one can still be written.
        Err(_) if before.is_some() => {
            let mut temporary = tempfile::tempfile().map_err(failed)?;
            let result = through(&mut temporary, content, failed)?;
            overwrite(&mut temporary, path).map_err(failed)?;
            Ok(result)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Returns the directory of a file.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a file that gets its final name later. `mode` applies before the user's mask.
pub(crate) fn new_in(directory: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder.tempfile_in(directory)
}

/// Writes a whole file or nothing. If it replaces the file that `before` describes, it keeps that one's mode and owner. `mode` is
/// the mode of a new file before the user's mask.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn replace_whole(path: &Path, bytes: &[u8], before: Option<&Metadata>, mode: u32) -> io::Result<()> {
    let mut temporary = new_in(directory_of(path), mode)?;
    temporary.write_all(bytes)?;
    put(temporary, path, before)
}

/// Gives a complete file its final name. A replacement keeps the mode and owner of the old file. If it cannot, or if the old file
/// has further names, the content is written over the old file.
pub(crate) fn put(mut temporary: NamedTempFile, path: &Path, before: Option<&Metadata>) -> io::Result<()> {
    if let Some(before) = before {
        OpenOptions::new().write(true).open(path)?;
        if has_other_names(before) || !adopt(temporary.as_file(), before) {
            return overwrite(temporary.as_file_mut(), path);
        }
    }
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    sync(directory_of(path));
    Ok(())
}

fn overwrite(content: &mut File, path: &Path) -> io::Result<()> {
    content.seek(SeekFrom::Start(0))?;
    let mut file = OpenOptions::new().write(true).open(path)?;
    let written = io::copy(content, &mut file)?;
    file.set_len(written)?;
    file.sync_all()
}

#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

/// Gives a file the mode and the owner of another. Returns `true` if it has them now.
fn adopt(file: &File, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let Ok(own) = file.metadata() else { return false };
        let is_same = (own.uid(), own.gid()) == (other.uid(), other.gid());
        if !is_same && fchown(file, Some(other.uid()), Some(other.gid())).is_err() {
            return false;
        }
    }
    file.set_permissions(other.permissions()).is_ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::process::Command;

    fn write(path: &Path, text: &str) -> Result<(), Error> {
        write_bytes(path, text.as_bytes())
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o7777
    }

    #[test]
    fn a_file_is_replaced_whole_and_keeps_what_it_is() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("out.html");
        write(&path, "one").expect("written");
        let usual = directory.path().join("usual");
        fs::write(&usual, "").expect("written");
        assert_eq!(mode(&path), mode(&usual), "as any new file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("set");
        write(&path, "two").expect("written");
        assert_eq!((fs::read_to_string(&path).expect("text").as_str(), mode(&path)), ("two", 0o640));
        let failed: Result<(), Error> = write_file(&path, |out| {
            out.write_all(b"half").expect("written");
            Err(Error::argument("x", "y", "z"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).expect("text"), "two", "whole or not at all");
        let names = fs::read_dir(directory.path()).expect("listed").count();
        assert_eq!(names, 2, "nothing is left beside it");
    }

    #[test]
    fn links_pipes_and_devices_stay_what_they_are() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("real")).expect("made");
        for (link, to, file) in [("link", "real/file", "real/file"), ("chain", "link", "real/file")] {
            symlink(to, at(link)).expect("linked");
            write(&at(link), link).expect("written");
            assert!(fs::symlink_metadata(at(link)).expect("there").is_symlink(), "{link}");
            assert_eq!(fs::read_to_string(at(file)).expect("text"), link, "also where it was not there yet");
        }
        symlink("/dev/null", at("null")).expect("linked");
        for null in [at("null"), PathBuf::from("/dev/null")] {
            write(&null, "nothing").expect("written");
            assert!(fs::metadata(&null).expect("there").file_type().is_char_device());
        }
        assert!(fs::symlink_metadata(at("null")).expect("there").is_symlink());
        symlink(at("round"), at("round")).expect("linked");
        assert!(write(&at("round"), "x").is_err());
        let error = write(&at("real"), "x").expect_err("a directory").to_string();
        assert!(error.contains("a directory; name a file"), "{error}");

        assert!(Command::new("mkfifo").arg(at("pipe")).status().expect("runs").success());
        let reader = std::thread::spawn({
            let pipe = at("pipe");
            move || fs::read_to_string(pipe).expect("read")
        });
        write(&at("pipe"), "through").expect("written");
        assert_eq!(reader.join().expect("read"), "through");
        assert!(fs::metadata(at("pipe")).expect("there").file_type().is_fifo());
    }

    #[test]
    fn other_names_of_a_file_stay_its_names() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (one, other) = (directory.path().join("one"), directory.path().join("other"));
        fs::write(&one, "a longer text than the new one").expect("written");
        fs::hard_link(&one, &other).expect("linked");
        write(&one, "new").expect("written");
        assert_eq!(fs::read_to_string(&other).expect("text"), "new");
        assert_eq!(fs::metadata(&one).expect("there").nlink(), 2);
    }

    #[test]
    fn an_owner_stays_where_we_may_keep_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("theirs");
        fs::write(&path, "old").expect("written");
        // Only the superuser can change a file's owner, so only then there is something to test.
        if std::os::unix::fs::chown(&path, Some(12345), Some(12345)).is_err() {
            println!("skipped: this user cannot give a file away");
            return;
        }
        write(&path, "new").expect("written");
        let metadata = fs::metadata(&path).expect("there");
        assert_eq!((metadata.uid(), metadata.gid()), (12345, 12345));
    }
}
