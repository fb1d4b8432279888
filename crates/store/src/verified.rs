//! A list of derived files that match their checksums, so that each is verified once and not at every search.
//!
//! A file counts as verified while its length, time and number stay the same. The list is a file in the same directory;
//! if it cannot be written, each process verifies for itself.
//!
//! The list also has the hash of each file. If a file never changes under its name, one with another hash is damaged
//! even if its own checksum is right: it has another file's content.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::files::beside;
use crate::mutex::lock;
use crate::stamp::Stamp;

/// The list's file in the directory of the files.
const FILE: &str = "verified";

/// The first line of a list.
const HEADING: &str = "tamis-verified 2";

/// Age at which a file is listed. A change within one tick of the file system's clock would leave its time the same.
const SETTLED: Duration = Duration::from_millis(20);

/// The verified files of one directory.
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
        mut verify: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<Vec<String>, E> {
        let mut damaged = Vec::new();
        let mut verified = Vec::new();
        for file in files {
            let path = self.directory.join(file);
            let Some(stamp) = Stamp::of(&path) else { continue };
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
                && Stamp::of(&path) == Some(stamp)
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
        marks.retain(|file, _| files.contains(file) || Stamp::of(&self.directory.join(file)).is_some());
        let mut text = format!("{HEADING}\n");
        marks.iter().for_each(|(file, Entry { mark, hash })| text.push_str(&format!("{mark}\t{hash}\t{file}\n")));
        *known = Some(marks);
        // An unlisted file is only verified again.
        let _ = replace(&self.directory.join(FILE), &text);
    }
}

/// Replaces a small file as a whole.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
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
        assert_eq!(look(&first, directory), (false, true));
        assert_eq!(look(&first, directory), (false, false));
        assert_eq!(look(&verified(), directory), (false, false), "another process reads the list");
        write(directory, "gooD", 2_000);
        for _ in 0..2 {
            assert_eq!(look(&first, directory), (true, true), "what is damaged is never taken down");
        }
        write(directory, "good", 3_000);
        assert_eq!(look(&first, directory), (false, true));
        std::fs::write(directory.join(FILE), "garbage").unwrap();
        assert_eq!(look(&verified(), directory), (false, true));
        assert_eq!(look(&verified(), directory), (false, false));
    }

    #[test]
    fn a_file_with_the_content_of_another_is_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let damaged =
            || Verified::lasting(directory.to_owned()).damaged(&["a".to_owned()], |_| Ok::<_, Infallible>(true));
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
