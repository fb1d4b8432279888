//! Files of an index: their names and identity, replacing what may be mapped, and the list of those that match their checksums.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::cache::lock;

/// The file whose name is that of `path` followed by `suffix`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The write-ahead log of the database at `path`.
pub(crate) fn log_path(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// The size of the write-ahead log in bytes; 0 if there is none.
pub(crate) fn log_bytes(path: &Path) -> u64 {
    std::fs::metadata(log_path(path)).map_or(0, |log| log.len())
}

/// Returns `true` if the write-ahead log holds changes that the database's file lacks.
pub(crate) fn has_log(path: &Path) -> bool {
    log_bytes(path) > 0
}

/// A file's length, time and number. A file that replaces it never has the same three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) length: u64,
    pub(crate) modified: Option<SystemTime>,
    pub(crate) file: u64,
}

impl Stamp {
    /// The stamp of the file at a path, if it exists.
    pub(crate) fn from_path(path: &Path) -> Option<Stamp> {
        let metadata = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let file = 0;
        Some(Stamp { length: metadata.len(), modified: metadata.modified().ok(), file })
    }
}

/// The identity of a file, whatever is written to it. While a file is open, no other file has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    file: u64,
    created: Option<SystemTime>,
}

impl FileId {
    /// The identity of the file at a path, if it exists.
    pub(crate) fn from_path(path: &Path) -> Option<FileId> {
        let metadata = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(FileId { device: metadata.dev(), file: metadata.ino(), created: None })
        }
        #[cfg(not(unix))]
        Some(FileId { device: 0, file: 0, created: metadata.created().ok() })
    }
}

/// The prefix of the name of a file that was set aside.
const ASIDE: &str = ".aside-";

/// Replaces a file, which need not exist, by a new one.
///
/// Unix does both at once, because a mapping keeps its file. Windows refuses to replace or delete a mapped file, but renames
/// it. So where the system refuses, the old file is set aside under an unused name and removed by a later call.
pub(crate) fn replace(new: &Path, path: &Path) -> Result<()> {
    match fs::rename(new, path) {
        Err(error) if may_be_in_use(&error) => replace_by_setting_aside(new, path).map_err(|_| error),
        done => done,
    }
}

/// Removes a file, which need not exist.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if may_be_in_use(&error) => set_aside(path).map(drop).map_err(|_| error),
        done => done,
    }
}

/// Removes a directory, which need not exist, with its content. Files in use are set aside instead.
pub(crate) fn remove_directory(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if may_be_in_use(&error) => empty_by_setting_aside(directory).map_err(|_| error),
        done => done,
    }
}

fn may_be_in_use(error: &Error) -> bool {
    cfg!(windows) && error.kind() != ErrorKind::NotFound
}

fn replace_by_setting_aside(new: &Path, path: &Path) -> Result<()> {
    let old = set_aside(path)?;
    fs::rename(new, path).inspect_err(|_| {
        // Readers find the old file again.
        let _ = fs::rename(&old, path);
    })?;
    // A mapped file stays until a later call removes it.
    let _ = fs::remove_file(&old);
    Ok(())
}

fn empty_by_setting_aside(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_directory(&entry.path())?;
        } else if !entry.file_name().to_string_lossy().starts_with(ASIDE) {
            set_aside(&entry.path())?;
        }
    }
    Ok(())
}

/// Renames a file to an unused name, and removes earlier ones that are no longer in use.
fn set_aside(path: &Path) -> Result<PathBuf> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut taken = Vec::new();
    for entry in fs::read_dir(directory)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(number) = name.strip_prefix(ASIDE)
            && fs::remove_file(entry.path()).is_err()
        {
            taken.push(number.to_owned());
        }
    }
    let free = (0_u64..).map(|number| number.to_string()).find(|number| !taken.contains(number)).unwrap_or_default();
    let aside = directory.join(format!("{ASIDE}{free}"));
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// The list's file in the directory of the files.
const FILE: &str = "verified";

/// The first line of a list.
const HEADING: &str = "tamis-verified 2";

/// Age at which a file is listed. A change within one tick of the file system's clock would leave its time the same.
const SETTLED: Duration = Duration::from_millis(20);

/// The verified files of one directory.
///
/// A file counts as verified while its length, time and number stay the same. The list is a file in the same directory;
/// if it cannot be written, each process verifies for itself.
///
/// The list also has the hash of each file. If a file never changes under its name, one with another hash is damaged
/// even if its own checksum is right: it has another file's content.
#[derive(Debug)]
pub(crate) struct Verified {
    directory: PathBuf,
    /// True if files never change under their names.
    lasting: bool,
    known: Mutex<Option<BTreeMap<String, Entry>>>,
}

/// A file of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// Its length, time and number when it was verified.
    mark: String,
    /// The hash of its content, in hexadecimal digits.
    hash: String,
}

impl Verified {
    /// A list of files that are replaced under the same name.
    pub(crate) fn new(directory: PathBuf) -> Verified {
        Verified { directory, lasting: false, known: Mutex::default() }
    }

    /// A list of files that never change: new content has a new name.
    pub(crate) fn lasting(directory: PathBuf) -> Verified {
        Verified { lasting: true, ..Verified::new(directory) }
    }

    /// Verifies the files that changed since they were listed, and returns the damaged ones. `verify` compares a file with its
    /// checksum. A missing file is skipped.
    pub(crate) fn damaged<E>(
        &self,
        files: &[String],
        mut verify: impl FnMut(&str) -> std::result::Result<bool, E>,
    ) -> std::result::Result<Vec<String>, E> {
        let mut damaged = Vec::new();
        let mut verified = Vec::new();
        for file in files {
            let path = self.directory.join(file);
            let Some(stamp) = Stamp::from_path(&path) else { continue };
            let mark = mark(&stamp);
            let known = self.entry(file);
            if known.as_ref().is_some_and(|known| known.mark == mark) {
                continue;
            }
            let hash = hash(&path);
            let is_other = self.lasting && known.zip(hash.as_ref()).is_some_and(|(known, hash)| known.hash != *hash);
            if is_other || !verify(file)? {
                damaged.push(file.clone());
            } else if let Some(hash) = hash
                && stamp.age().is_some_and(|age| age > SETTLED)
                && Stamp::from_path(&path) == Some(stamp)
            {
                verified.push((file.clone(), Entry { mark, hash }));
            }
        }
        if !verified.is_empty() {
            self.remember(files, verified);
        }
        Ok(damaged)
    }

    fn entry(&self, file: &str) -> Option<Entry> {
        lock(&self.known).get_or_insert_with(|| self.read()).get(file).cloned()
    }

    fn read(&self) -> BTreeMap<String, Entry> {
        let text = std::fs::read_to_string(self.directory.join(FILE)).unwrap_or_default();
        let mut lines = text.lines();
        if lines.next() != Some(HEADING) {
            return BTreeMap::new();
        }
        let entry = |line: &str| {
            let mut parts = line.splitn(3, '\t').map(str::to_owned);
            let (mark, hash, file) = (parts.next()?, parts.next()?, parts.next()?);
            Some((file, Entry { mark, hash }))
        };
        lines.filter_map(entry).collect()
    }

    /// Adds files to the list, and drops those that are neither in `files` nor in the directory.
    fn remember(&self, files: &[String], verified: Vec<(String, Entry)>) {
        let mut known = lock(&self.known);
        // Another process may have added some.
        let mut marks = self.read();
        marks.extend(known.take().unwrap_or_default());
        marks.extend(verified);
        marks.retain(|file, _| files.contains(file) || Stamp::from_path(&self.directory.join(file)).is_some());
        let mut text = format!("{HEADING}\n");
        marks.iter().for_each(|(file, Entry { mark, hash })| text.push_str(&format!("{mark}\t{hash}\t{file}\n")));
        *known = Some(marks);
        // An unlisted file is only verified again.
        let _ = replace_list(&self.directory.join(FILE), &text);
    }
}

/// Replaces a small file as a whole.
fn replace_list(path: &Path, text: &str) -> std::io::Result<()> {
    let new = beside(path, &format!(".{}", std::process::id()));
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

/// The hash of a file; `None` if it cannot be read.
fn hash(path: &Path) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path).ok()?).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}

/// A stamp in the form of the list.
fn mark(stamp: &Stamp) -> String {
    let time = stamp.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{} {} {}", stamp.length, time.as_nanos(), stamp.file)
}

impl Stamp {
    /// The file's age; `None` if it lies in the future.
    fn age(&self) -> Option<Duration> {
        SystemTime::now().duration_since(self.modified?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .expect("listed")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_is_set_aside_gives_its_place_to_the_new_one() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, new) = (directory.path().join("a.tvec"), directory.path().join("a.tvec.new"));
        fs::write(&path, "old").expect("written");
        fs::write(&new, "new").expect("written");
        replace_by_setting_aside(&new, &path).expect("replaced");
        assert_eq!(fs::read_to_string(&path).expect("read"), "new");
        assert_eq!(names(directory.path()), ["a.tvec"]);
        assert!(replace_by_setting_aside(&new, &path).is_err(), "there is no new one");
        assert_eq!(fs::read_to_string(&path).expect("read"), "new", "what was there stays");
    }

    #[test]
    fn what_is_mapped_is_replaced_and_removed() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, new) = (directory.path().join("a.tvec"), directory.path().join("a.tvec.new"));
        fs::write(&path, "old").expect("written");
        // SAFETY: nobody changes the content of either file while it is mapped.
        let map = |path: &Path| unsafe { memmap2::Mmap::map(&fs::File::open(path).expect("opened")) }.expect("mapped");
        let old = map(&path);
        fs::write(&new, "new").expect("written");
        replace(&new, &path).expect("replaced");
        let current = map(&path);
        assert_eq!((&old[..], &current[..]), (&b"old"[..], &b"new"[..]));
        remove(&path).expect("removed");
        remove(&path).expect("it need not exist");
        assert!(!path.exists());
        assert_eq!(&current[..], b"new");
        drop((old, current));
        fs::write(&path, "newest").expect("written");
        remove(&set_aside(&path).expect("set aside")).expect("removed");
        assert_eq!(names(directory.path()), [""; 0], "nothing that was set aside is left once it is free");
    }

    #[test]
    fn a_directory_in_use_is_left_without_a_name_that_is_asked_for() {
        let base = tempfile::tempdir().expect("a temporary directory");
        let directory = base.path().join("lexical");
        fs::create_dir_all(directory.join("deep")).expect("made");
        fs::write(directory.join("meta.json"), "{}").expect("written");
        empty_by_setting_aside(&directory).expect("emptied");
        assert!(names(&directory).iter().all(|name| name.starts_with(ASIDE)), "{:?}", names(&directory));
        remove_directory(&directory).expect("removed");
        remove_directory(&directory).expect("it need not exist");
        assert!(!directory.exists());
    }

    /// Verifies the file `a`, whose content must be "good"; returns two flags: it was damaged, and it was read.
    fn look(verified: &Verified, directory: &Path) -> (bool, bool) {
        let mut read = false;
        let damaged = verified.damaged(&["a".to_owned()], |file| {
            read = true;
            Ok::<_, Infallible>(std::fs::read(directory.join(file)).unwrap() == b"good")
        });
        (!damaged.unwrap().is_empty(), read)
    }

    fn write(directory: &Path, text: &str, time: u64) {
        let path = directory.join("a");
        std::fs::write(&path, text).unwrap();
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(time)).unwrap();
    }

    #[test]
    fn a_file_is_read_once_until_it_changes() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let verified = || Verified::new(directory.to_owned());
        let first = verified();
        write(directory, "good", 1_000);
        assert_eq!([look(&first, directory), look(&first, directory)], [(false, true), (false, false)]);
        assert_eq!(look(&verified(), directory), (false, false), "another process reads the list");
        write(directory, "gooD", 2_000);
        for _ in 0..2 {
            assert_eq!(look(&first, directory), (true, true), "what is damaged is never taken down");
        }
        write(directory, "good", 3_000);
        assert_eq!(look(&first, directory), (false, true));
        std::fs::write(directory.join(FILE), "garbage").unwrap();
        assert_eq!([look(&verified(), directory), look(&verified(), directory)], [(false, true), (false, false)]);
    }

    #[test]
    fn a_file_with_the_content_of_another_is_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let damaged = || Verified::lasting(directory.to_owned()).damaged(&["a".into()], |_| Ok::<_, Infallible>(true));
        write(directory, "one", 1_000);
        assert!(damaged().unwrap().is_empty());
        write(directory, "two", 2_000);
        assert_eq!(damaged().unwrap(), ["a"]);
        write(directory, "one", 3_000);
        assert!(damaged().unwrap().is_empty());
    }

    #[test]
    fn a_file_that_was_just_written_is_not_taken_down() {
        let directory = tempfile::tempdir().unwrap();
        let verified = Verified::new(directory.path().to_owned());
        let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 1_000;
        write(directory.path(), "good", soon);
        assert_eq!(look(&verified, directory.path()), (false, true));
        assert_eq!(look(&verified, directory.path()), (false, true));
    }
}
