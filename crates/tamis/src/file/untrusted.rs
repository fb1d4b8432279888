//! Reads files that somebody else put in place.
//!
//! A tree comes from a repository, an archive or another user. A text file in it can turn out to be a pipe, a device or a link
//! out of the tree, and it can change between listing and opening. So we open a file without following a link and without
//! blocking, check the opened file, and read it up to a limit. A [`Directory`] also holds its own path open, so no directory on
//! that path is a link either.

use std::fs::{File, FileType, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path};
use std::{fmt, fs, io};

#[cfg(not(unix))]
pub(crate) use portable::{Directory, open_regular};
#[cfg(unix)]
pub(crate) use unix::{Directory, open_regular};

/// The reason why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A symbolic link.
    Link,
    /// A symbolic link that leads out of the tree or to a missing file.
    LeadsOut,
    /// Neither a file nor a link, with the name of its kind.
    Special(&'static str),
    /// A file of more than this many bytes.
    TooLarge(u64),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Link => f.write_str("a symbolic link, which is not followed"),
            Refusal::LeadsOut => f.write_str("a symbolic link out of the tree, which is not followed"),
            Refusal::Special(what) => write!(f, "{what}, not a regular file"),
            Refusal::TooLarge(longest) => write!(f, "larger than {longest} bytes, the most that is read of it"),
        }
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    fn error(self) -> io::Error {
        io::Error::new(ErrorKind::InvalidInput, self)
    }

    /// Returns the reason why a file was refused, if the error stands for one.
    fn from_error(error: &io::Error) -> Option<&Refusal> {
        error.get_ref()?.downcast_ref()
    }
}

/// Reads a whole file of a tree. `path` is relative to `root`, and no part of it may be a link.
///
/// # Errors
/// The file is missing, is not a regular file, is reached through a link, or holds more than `longest` bytes.
pub(crate) fn read_in(root: &Path, path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    Directory::open(root)?.read(path, longest)
}

/// Reads as [`read_in`] does, but follows links that stay in the tree.
///
/// # Errors
/// As [`read_in`].
pub(crate) fn read_linked(root: &Path, path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let whole = root.join(path);
    // This opens nothing, so a pipe at the end of the path does no harm yet.
    let target = match dunce::canonicalize(&whole) {
        // A dangling link differs from a missing file: its target may exist for others.
        Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(&whole).is_ok() => {
            return Err(Refusal::LeadsOut.error());
        }
        target => target?,
    };
    let root = dunce::canonicalize(root)?;
    match target.strip_prefix(&root) {
        Ok(inside) => read_in(&root, inside, longest),
        Err(_) => Err(Refusal::LeadsOut.error()),
    }
}

/// Reads a file anywhere. It may be a link, but its target must be a regular file.
///
/// # Errors
/// The file is missing, is not a regular file, or holds more than `longest` bytes.
pub(crate) fn read_regular(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let (file, metadata) = open_regular(path)?;
    whole(file, metadata.len(), longest)
}

/// Reads an opened file up to a limit, since it can grow meanwhile.
fn whole(file: File, size: u64, longest: u64) -> io::Result<Vec<u8>> {
    if size > longest {
        return Err(Refusal::TooLarge(longest).error());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(longest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(Refusal::TooLarge(longest).error());
    }
    Ok(bytes)
}

/// Refuses everything but a regular file.
fn regular(kind: FileType) -> io::Result<()> {
    match kind {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_symlink() => Err(Refusal::Link.error()),
        kind if kind.is_dir() => Err(Refusal::Special("a directory").error()),
        kind => Err(Refusal::Special(special(kind)).error()),
    }
}

#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> &'static str {
    "something else"
}

/// Returns the parts of a relative path. None may lead up or to the root of the file system.
fn parts(path: &Path) -> io::Result<Vec<&std::ffi::OsStr>> {
    let part = |component| match component {
        Component::Normal(name) => Ok(name),
        _ => Err(io::Error::new(ErrorKind::InvalidInput, "not a plain path under the directory")),
    };
    path.components().filter(|component| *component != Component::CurDir).map(part).collect()
}

#[cfg(unix)]
mod unix {
    use super::{Metadata, Refusal, parts, regular, whole};
    use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
    use rustix::io::Errno;
    use std::ffi::OsStr;
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    /// Does not wait for the other end of a pipe, and does not make a terminal the controlling one.
    const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

    const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    /// An open directory. Every read through it stays inside, whatever its path leads to meanwhile.
    #[derive(Debug)]
    pub(crate) struct Directory {
        handle: OwnedFd,
    }

    impl Directory {
        /// Opens a directory that somebody named. Links in its path are followed.
        ///
        /// # Errors
        /// The path is missing, is not a directory, or cannot be read.
        pub fn open(path: &Path) -> io::Result<Directory> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(Directory { handle: rustix::fs::open(path, flags, Mode::empty())? })
        }

        /// Opens a directory below this one. No part of the path may be a link.
        ///
        /// # Errors
        /// The path is missing, is not a directory, cannot be read, or is reached through a link.
        pub fn below(&self, path: &Path) -> io::Result<Directory> {
            let mut handle = self.handle.try_clone()?;
            for part in parts(path)? {
                handle = step(&handle, part)?;
            }
            Ok(Directory { handle })
        }

        /// Reads a whole file below this directory. No part of the path may be a link.
        ///
        /// # Errors
        /// The file is missing, is not a regular file, is reached through a link, or holds more than `longest` bytes.
        pub fn read(&self, path: &Path, longest: u64) -> io::Result<Vec<u8>> {
            let (file, metadata) = self.open_file(path)?;
            whole(file, metadata.len(), longest)
        }

        fn open_file(&self, path: &Path) -> io::Result<(File, Metadata)> {
            let mut parts = parts(path)?;
            #[cfg(target_os = "linux")]
            if parts.len() > 1
                && let Some(opened) = self.open_at_once(path)
            {
                return Ok(opened);
            }
            let name: &OsStr = parts.pop().ok_or(io::ErrorKind::InvalidInput)?;
            let mut held: Option<OwnedFd> = None;
            for part in parts {
                held = Some(step(held.as_ref().unwrap_or(&self.handle), part)?);
            }
            let directory = held.as_ref().unwrap_or(&self.handle);
            // A device is not even opened if we can help it, since opening some has effects.
            let mode = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode;
            match FileType::from_raw_mode(mode) {
                FileType::RegularFile => {}
                FileType::Symlink => return Err(Refusal::Link.error()),
                FileType::Directory => return Err(Refusal::Special("a directory").error()),
                FileType::Fifo => return Err(Refusal::Special("a pipe").error()),
                FileType::Socket => return Err(Refusal::Special("a socket").error()),
                _ => return Err(Refusal::Special("a device").error()),
            }
            let file = match openat(directory, name, READ | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(handle) => File::from(handle),
                Err(Errno::LOOP) => return Err(Refusal::Link.error()),
                Err(error) => return Err(error.into()),
            };
            let metadata = file.metadata()?;
            regular(metadata.file_type())?;
            Ok((file, metadata))
        }
    }

    #[cfg(target_os = "linux")]
    impl Directory {
        /// Opens a regular file below this directory by one call, which refuses links itself. `None` if that fails for any reason:
        /// opening part by part says which, and also works where the call is unknown or forbidden.
        fn open_at_once(&self, path: &Path) -> Option<(File, Metadata)> {
            use rustix::fs::{ResolveFlags, openat2};
            let mode = statat(&self.handle, path, AtFlags::SYMLINK_NOFOLLOW).ok()?.st_mode;
            if FileType::from_raw_mode(mode) != FileType::RegularFile {
                return None;
            }
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            let file = File::from(openat2(&self.handle, path, READ, Mode::empty(), resolve).ok()?);
            let metadata = file.metadata().ok()?;
            metadata.is_file().then_some((file, metadata))
        }
    }

    /// Opens a directory in another one. Systems report a link in its place by different errors.
    fn step(directory: &OwnedFd, part: &OsStr) -> io::Result<OwnedFd> {
        match openat(directory, part, LIST, Mode::empty()) {
            Err(Errno::LOOP) => Err(io::ErrorKind::NotADirectory.into()),
            opened => Ok(opened?),
        }
    }

    /// Opens a file that may be a link, if its target is a regular file.
    ///
    /// # Errors
    /// The file is missing or is not a regular file.
    pub(crate) fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
        regular(fs::metadata(path)?.file_type())?;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
        let metadata = file.metadata()?;
        regular(metadata.file_type())?;
        Ok((file, metadata))
    }
}

/// On systems that cannot hold directories open, each part of a path is checked before it is used.
#[cfg(not(unix))]
mod portable {
    use super::{Metadata, parts, regular, whole};
    use std::fs::{self, File};
    use std::io;
    use std::path::{Path, PathBuf};

    /// A directory of a tree.
    #[derive(Debug)]
    pub(crate) struct Directory {
        path: PathBuf,
    }

    impl Directory {
        /// Opens a directory that somebody named. Links in its path are followed.
        ///
        /// # Errors
        /// The path is missing or is not a directory.
        pub fn open(path: &Path) -> io::Result<Directory> {
            match fs::metadata(path)?.is_dir() {
                true => Ok(Directory { path: path.to_owned() }),
                false => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        /// Opens a directory below this one. No part of the path may be a link.
        ///
        /// # Errors
        /// The path is missing, is not a directory, or is reached through a link.
        pub fn below(&self, path: &Path) -> io::Result<Directory> {
            let mut whole = self.path.clone();
            for part in parts(path)? {
                whole.push(part);
                if !fs::symlink_metadata(&whole)?.is_dir() {
                    return Err(io::ErrorKind::NotADirectory.into());
                }
            }
            Ok(Directory { path: whole })
        }

        /// Reads a whole file below this directory. No part of the path may be a link.
        ///
        /// # Errors
        /// The file is missing, is not a regular file, is reached through a link, or holds more than `longest` bytes.
        pub fn read(&self, path: &Path, longest: u64) -> io::Result<Vec<u8>> {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            let directory = self.below(path.parent().unwrap_or(Path::new("")))?;
            let path = directory.path.join(name);
            regular(fs::symlink_metadata(&path)?.file_type())?;
            let (file, metadata) = open_regular(&path)?;
            whole(file, metadata.len(), longest)
        }
    }

    /// Opens a file that may be a link, if its target is a regular file.
    ///
    /// # Errors
    /// The file is missing or is not a regular file.
    pub(crate) fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
        regular(fs::metadata(path)?.file_type())?;
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        regular(metadata.file_type())?;
        Ok((file, metadata))
    }
}

/// Returns `true` if a file was refused for being a link.
pub(crate) fn is_link(error: &io::Error) -> bool {
    Refusal::from_error(error) == Some(&Refusal::Link)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    fn outcome(result: io::Result<Vec<u8>>) -> String {
        result.expect_err("refused").to_string()
    }

    #[test]
    fn only_regular_files_of_the_tree_are_read_and_only_so_far() {
        let outside = tempfile::tempdir().expect("a temporary directory");
        fs::write(outside.path().join("secret"), "outside").expect("written");
        let tree = tempfile::tempdir().expect("a temporary directory");
        let root = tree.path();
        fs::create_dir_all(root.join("a/b")).expect("made");
        fs::write(root.join("a/b/file"), "inside").expect("written");
        assert!(Command::new("mkfifo").arg(root.join("pipe")).status().expect("runs").success());
        for (link, to) in [("zero", "/dev/zero"), ("gone", "/nowhere"), ("inner", "a/b/file"), ("pipes", "pipe")] {
            symlink(to, root.join(link)).expect("linked");
        }
        symlink(outside.path(), root.join("way")).expect("linked");

        let read = |path: &str| read_in(root, Path::new(path), 6);
        assert_eq!(read("a/b/file").expect("read"), b"inside");
        assert!(outcome(read("pipe")).contains("a pipe, not a regular file"));
        for link in ["zero", "gone", "inner", "pipes"] {
            assert!(outcome(read(link)).contains("a symbolic link"), "{link}");
        }
        for path in ["way/secret", "../secret", "/etc/passwd", "a/b", ""] {
            assert!(read(path).is_err(), "{path}");
        }
        assert!(outcome(read_in(root, Path::new("a/b/file"), 5)).contains("larger than 5 bytes"));
        assert_eq!(read("none").expect_err("none").kind(), ErrorKind::NotFound);

        let linked = |path: &str| read_linked(root, Path::new(path), 6);
        assert_eq!(linked("inner").expect("stays in the tree"), b"inside");
        assert!(outcome(linked("pipes")).contains("a pipe"));
        for path in ["zero", "gone", "way/secret"] {
            assert!(outcome(linked(path)).contains("out of the tree"), "{path}");
        }
        assert_eq!(linked("none").expect_err("none").kind(), ErrorKind::NotFound);

        let regular = |path: &str| read_regular(&root.join(path), 7);
        assert_eq!(regular("way/secret").expect("followed"), b"outside");
        assert!(outcome(regular("zero")).contains("a device"));
        assert!(outcome(regular("pipe")).contains("a pipe"));
    }

    #[test]
    fn a_directory_that_is_held_is_the_one_that_was_opened() {
        let outside = tempfile::tempdir().expect("a temporary directory");
        fs::write(outside.path().join("file"), "outside").expect("written");
        let tree = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(tree.path().join("a")).expect("made");
        fs::write(tree.path().join("a/file"), "inside").expect("written");
        let held = Directory::open(tree.path()).and_then(|top| top.below(Path::new("a"))).expect("opened");
        fs::rename(tree.path().join("a"), tree.path().join("b")).expect("moved");
        symlink(outside.path(), tree.path().join("a")).expect("linked");
        assert_eq!(held.read(Path::new("file"), 100).expect("read"), b"inside");
        assert!(read_in(tree.path(), Path::new("a/file"), 100).is_err());
    }
}
