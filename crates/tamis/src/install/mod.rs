//! The server for agents in the configuration of the clients that start it.
//!
//! Each client lists the servers that it may start in a file of its own, one for a project or one for the user. A [`Plan`] holds
//! the new content of that file: one entry is added or removed, and everything else stays byte for byte, comments included. Only
//! [`Plan::carry_out`] writes, and it replaces the whole file or nothing. An entry of that name that does not start this program
//! belongs to somebody else, and stays unless the caller asks to replace it.
//!
//! Several clients have a command that adds a server. It writes the same file, but windowed applications lack it, and it cannot
//! show the change beforehand.
//!
//! ```
//! use tamis::install::{Client, Entry, Scope, Surroundings, System};
//!
//! let around = Surroundings::new(System::Linux, |name| (name == "HOME").then(|| "/home/ada".to_owned()));
//! let file = Client::Cursor.file(Scope::User, "/home/ada/mill".as_ref(), &around);
//! assert_eq!(file.as_deref(), Some("/home/ada/.cursor/mcp.json".as_ref()));
//! ```

mod clients;
mod json_file;
mod plan;
mod toml_file;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::file::untrusted::read_regular;
use crate::file::{DirectoryLock, LONGEST_TEXT, replace_whole};
use crate::index_location::{Bases, UserDirectories};

pub use crate::index_location::System;
pub use clients::{Client, Entry, EntryOptions, Scope};
pub use plan::{Plan, Standing, standing};

// The places of a user's files on each system.

/// A function that returns the value of an environment variable.
type Environment = dyn Fn(&str) -> Option<String>;

/// The system and the environment, which determine where files are.
pub struct Surroundings {
    system: System,
    environment: Box<Environment>,
    bases: Bases,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("system", &self.system).finish_non_exhaustive()
    }
}

impl Surroundings {
    /// Creates the surroundings from a system and a function that returns the value of an environment variable.
    pub fn new(system: System, environment: impl Fn(&str) -> Option<String> + 'static) -> Surroundings {
        let bases = Bases::new(system, &|name| environment(name).map(OsString::from));
        Surroundings { system, environment: Box::new(environment), bases }
    }

    /// Returns those of this process.
    pub fn here() -> Surroundings {
        let bases = Bases::here();
        Surroundings { bases, ..Surroundings::new(System::here(), |name| std::env::var(name).ok()) }
    }

    /// The system.
    pub fn system(&self) -> System {
        self.system
    }

    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.bases.home.clone()
    }

    /// Returns this program's own configuration directory.
    pub(crate) fn own_configuration(&self) -> Option<PathBuf> {
        let directories = UserDirectories::new(&self.bases, &|name| self.variable(name).map(OsString::from));
        directories.configuration().map(Path::to_owned)
    }

    /// Returns `~/.config` on every system, for the programs that use it. On Linux it follows `XDG_CONFIG_HOME`.
    pub(crate) fn configuration(&self) -> Option<PathBuf> {
        match self.system {
            System::Linux => self.bases.configuration.clone(),
            System::Mac | System::Windows => Some(self.home()?.join(".config")),
        }
    }

    /// Returns the directory of a windowed application's files. `package` is its identity if it came from the Microsoft Store,
    /// which gives such a program its own directory in place of the common one.
    pub(crate) fn application_data(&self, name: &str, package: Option<&str>) -> Option<PathBuf> {
        let packaged = package.filter(|_| self.system == System::Windows).and_then(|package| {
            let local = self.bases.cache.as_ref()?;
            let directory = local.join("Packages").join(package).join("LocalCache/Roaming").join(name);
            directory.exists().then_some(directory)
        });
        packaged.or_else(|| Some(self.bases.configuration.as_ref()?.join(name)))
    }

    /// Returns the path of a program on the search path. A link is not followed, since its target moves with the next version.
    pub(crate) fn on_path(&self, program: &str) -> Option<PathBuf> {
        let name = if self.system == System::Windows { format!("{program}.exe") } else { program.to_owned() };
        let path = self.variable("PATH")?;
        std::env::split_paths(&path).map(|directory| directory.join(&name)).find(|file| file.is_file())
    }
}

// The changes made to the files of clients, recorded so that they can be undone exactly.
//
// A file shows its entry, but not whether the file was created for it, nor the layout before the entry was added. So each change
// is recorded in the user's configuration directory: the inserted text and the text that it replaced. Only inserted text that is
// still unchanged is undone this way.

/// The file in the user's configuration directory.
const FILE: &str = "installed.json";

/// One entry added to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
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
pub(crate) struct Records {
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
