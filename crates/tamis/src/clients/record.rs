//! The changes made to the files of clients, recorded so that they can be undone exactly.
//!
//! A file shows its entry, but not whether the file was created for it, nor the layout before the entry was added. So each change
//! is recorded in the user's configuration directory: the inserted text and the text that it replaced. Only inserted text that is
//! still unchanged is undone this way.

use crate::Error;
use crate::file::foreign::read_regular;
use crate::file::{DirectoryLock, LONGEST_TEXT, replace_whole};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The file in the user's configuration directory.
const FILE: &str = "installed.json";

/// One entry added to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The file's path, without links.
    pub file: String,
    /// The name of the entry.
    pub name: String,
    /// The inserted text.
    pub inserted: String,
    /// The text that it replaced.
    pub replaced: String,
    /// True if the file was created for the entry.
    pub made_file: bool,
    /// The directories that were created for the file, the outermost first.
    pub made_directories: Vec<PathBuf>,
}

impl Record {
    /// Creates the record of a change from `before` to `after`. `before` is `None` if the file is new.
    pub fn new(file: &Path, name: &str, before: Option<&str>, after: &str, made_directories: Vec<PathBuf>) -> Record {
        let made_file = before.is_none();
        let before = before.unwrap_or_default();
        let same = |(one, other): &(char, char)| one == other;
        let start: usize = before.chars().zip(after.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        let (old, new) = (&before[start..], &after[start..]);
        let end: usize = old.chars().rev().zip(new.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        Record {
            file: key(file),
            name: name.to_owned(),
            inserted: new[..new.len() - end].to_owned(),
            replaced: old[..old.len() - end].to_owned(),
            made_file,
            made_directories,
        }
    }

    /// Returns a text as it was before, if the inserted text occurs in it exactly once. With several occurrences, even
    /// overlapping ones, the right one is unknown.
    pub fn undone(&self, text: &str) -> Option<String> {
        if self.inserted.is_empty() {
            return None;
        }
        let at = text.find(&self.inserted)?;
        let next = at + text[at..].chars().next()?.len_utf8();
        if text[next..].contains(&self.inserted) {
            return None;
        }
        Some([&text[..at], &self.replaced, &text[at + self.inserted.len()..]].concat())
    }
}

/// The records of a user.
#[derive(Clone, Debug)]
pub(super) struct Records {
    directory: PathBuf,
}

impl Records {
    /// Opens the records in the user's configuration directory.
    pub fn new(directory: PathBuf) -> Records {
        Records { directory }
    }

    /// Returns the record of an entry.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn find(&self, file: &Path, name: &str) -> Result<Option<Record>, Error> {
        let key = key(file);
        Ok(self.read()?.into_iter().find(|record| record.file == key && record.name == name))
    }

    /// Stores a record, replacing an earlier one of the same entry.
    ///
    /// # Errors
    /// The records cannot be read or written.
    pub fn keep(&self, record: &Record) -> Result<(), Error> {
        self.change(|records| {
            records.retain(|known| (&known.file, &known.name) != (&record.file, &record.name));
            records.push(record.clone());
        })
    }

    /// Removes the record of an entry. If the file stays, another entry in it inherits the note that the file was created here.
    ///
    /// # Errors
    /// As [`Records::keep`].
    pub fn drop(&self, file: &Path, name: &str, file_stays: bool) -> Result<(), Error> {
        let key = key(file);
        self.change(|records| {
            let Some(at) = records.iter().position(|record| record.file == key && record.name == name) else { return };
            let gone = records.remove(at);
            if let Some(heir) = records.iter_mut().find(|record| file_stays && record.file == key) {
                heir.made_file |= gone.made_file;
                let new = gone.made_directories.into_iter().filter(|made| !heir.made_directories.contains(made));
                let new: Vec<PathBuf> = new.collect();
                heir.made_directories.splice(0..0, new);
            }
        })
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Record>)) -> Result<(), Error> {
        let directory = &self.directory;
        fs::create_dir_all(directory).map_err(|error| Error::path(directory, format!("cannot be made: {error}")))?;
        let _lock = DirectoryLock::take(directory)?;
        let before = self.read()?;
        let mut records = before.clone();
        change(&mut records);
        if records == before {
            return Ok(());
        }
        let path = self.path();
        let failed = |reason: String| Error::path(&path, format!("cannot be written: {reason}"));
        if records.is_empty() {
            fs::remove_file(&path).map_err(|error| failed(error.to_string()))?;
            // A directory with anything else in it stays, and so does one that the user chose.
            if directory.ends_with("tamis") {
                let _ = fs::remove_dir(directory);
            }
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&records).map_err(|error| failed(error.to_string()))? + "\n";
        // The recorded text of a client's file can be private to its user.
        let known = fs::metadata(&path).ok();
        replace_whole(&path, text.as_bytes(), known.as_ref(), 0o600).map_err(|error| failed(error.to_string()))
    }

    fn read(&self) -> Result<Vec<Record>, Error> {
        let path = self.path();
        let bytes = match read_regular(&path, LONGEST_TEXT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::path(&path, format!("cannot be read: {error}"))),
        };
        serde_json::from_slice(&bytes).map_err(|error| {
            Error::path(
                &path,
                format!("not the record of what was installed ({error}); move it away to go on without it"),
            )
        })
    }

    fn path(&self) -> PathBuf {
        // A link is the user's own, so its target is replaced.
        let path = self.directory.join(FILE);
        dunce::canonicalize(&path).unwrap_or(path)
    }
}

fn key(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(before: &str, after: &str) -> Record {
        Record::new(Path::new("/a"), "tamis", Some(before), after, Vec::new())
    }

    #[test]
    fn an_entry_is_taken_out_as_it_was_put_in() {
        let change = record("[]", "[aba]");
        assert_eq!(change.inserted, "aba");
        assert_eq!(change.undone("[aba, x]").as_deref(), Some("[, x]"), "what else changed stays");
        assert_eq!(change.undone("[aba] [aba]"), None);
        assert_eq!(change.undone("[ababa]"), None, "overlapping");
        assert_eq!(change.undone("[ab]"), None, "changed since");

        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = Records::new(directory.path().join("tamis"));
        let file = Path::new("/p/.mcp.json");
        let made = vec![PathBuf::from("/p")];
        records.keep(&Record::new(file, "one", None, "{1}", made.clone())).expect("kept");
        records.keep(&Record::new(file, "two", Some("{1}"), "{1,2}", Vec::new())).expect("kept");
        records.drop(file, "one", true).expect("dropped");
        let left = records.find(file, "two").expect("read").expect("there");
        assert!(left.made_file && left.made_directories == made);
        assert_eq!(records.find(file, "one").expect("read"), None);
        records.drop(file, "two", false).expect("dropped");
        assert!(!records.directory.exists(), "nothing stays");
        fs::create_dir(&records.directory).expect("made");
        fs::write(records.path(), "nonsense").expect("written");
        let error = records.find(file, "two").expect_err("damaged").to_string();
        assert!(error.contains("installed.json") && error.contains("move it away"), "{error}");
    }

    proptest! {
        #[test]
        fn a_change_is_undone_to_the_letter(before in "[ab{}é\\n]{0,12}", after in "[ab{}é\\n]{0,12}") {
            let change = record(&before, &after);
            if let Some(undone) = change.undone(&after) {
                prop_assert_eq!(undone, before);
            }
        }
    }
}
