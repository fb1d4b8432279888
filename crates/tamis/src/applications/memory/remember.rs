//! Adds a note.

use super::Notes;
use super::edit::{NewEntry, append};
use super::item::{checked, checked_topic};
use super::note_file::NoteFile;
use crate::Error;
use crate::file::{DirectoryLock, create, edit};
use crate::index::RunOptions;
use crate::progress::Observer;
use jiff::civil::DateTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs;

/// Longest text of one note, in characters.
const MOST_CHARACTERS: usize = 10_000;

/// A note to add.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RememberRequest {
    /// The note, in words that make sense by themselves.
    #[schemars(length(min = 1, max = 10_000))]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub text: String,
    /// Topic of the note, used as the heading above it (default: none).
    #[schemars(length(min = 1, max = 100))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "TOPIC"))]
    pub topic: Option<String>,
    /// Add it to this file under the root (default: today's, in memory.directory).
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub file: Option<String>,
    /// Repository (default: this one, or the only one).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// The time of writing; `None`: now, by the system's clock and time zone.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub at: Option<DateTime>,
}

/// The location of a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Remembered {
    /// The source it belongs to.
    pub namespace: String,
    /// The file's path from the root of the source.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// True if the file is new.
    pub created: bool,
    /// The reason it cannot be found yet; `None` if it can. The note is kept, and the next search or run that can write
    /// finds it.
    pub not_indexed: Option<String>,
}

impl Notes<'_> {
    /// Adds a note to a note file and indexes that file. The file is changed as a whole or not at all. Concurrent calls
    /// wait for each other.
    ///
    /// # Errors
    /// An invalid text, topic or file; several possible sources; an index or a directory that cannot be written; a file
    /// in which the note would not be an entry of its own.
    pub fn remember(&self, request: &RememberRequest, observer: &dyn Observer) -> Result<Remembered, Error> {
        let text = checked(&request.text, MOST_CHARACTERS)?;
        let topic = request.topic.as_deref().map(checked_topic).transpose()?;
        let at = request.at.unwrap_or_else(|| crate::dates::now().datetime());
        let day = at.date().to_string();
        self.check_writable()?;
        let source = self.note_source(request.namespace.as_deref())?;
        let path = match &request.file {
            Some(file) => file.clone(),
            None => match self.index.config().notes.directory.as_str() {
                "" => format!("{day}.md"),
                directory => format!("{directory}/{day}.md"),
            },
        };
        let place = self.note_place(source, &path)?;
        // A file named after its day need not repeat it.
        let of_the_day = place.path.rsplit('/').next().is_some_and(|name| name.starts_with(&day));
        let stamp = if of_the_day { at.strftime("%H:%M") } else { at.strftime("%Y-%m-%d %H:%M") }.to_string();
        let entry = NewEntry { stamp: &stamp, text: &text, topic: topic.as_deref() };

        let made = place.missing_directories();
        fs::create_dir_all(place.directory())
            .map_err(|error| Error::path(place.directory(), format!("cannot be made: {error}")))?;
        let lock = DirectoryLock::take(place.directory())?;
        // A link could have appeared between checking the path and locking.
        let place = self.note_place(source, &place.path)?;
        let created = create(&place.whole, &format!("# {}\n", place.stem()))?;
        let lines = self.check_indexed(&place).and_then(|()| {
            edit(&place.whole, |note| {
                let edited = append(note, &entry).ok_or_else(|| swallowed(&place))?;
                self.check_size(&place, edited.text.len())?;
                Ok((edited.text, edited.lines))
            })
        });
        if created && lines.is_err() {
            // It holds nothing but the heading, and the lock ensures that nobody else has written there.
            let _ = fs::remove_file(&place.whole);
        }
        drop(lock);
        if lines.is_err() {
            // Directories that are not empty stay.
            made.iter().for_each(|directory| drop(fs::remove_dir(directory)));
        }
        let lines = lines?;
        Ok(Remembered {
            namespace: source.namespace.clone(),
            path: place.path.clone(),
            start_line: lines.start,
            end_line: lines.end - 1,
            created,
            not_indexed: self.index_note(&place, observer),
        })
    }

    /// Indexes the file at once. Returns the reason if another process keeps writing the index or a model fails: the
    /// file is already written by then.
    pub(super) fn index_note(&self, place: &NoteFile<'_>, observer: &dyn Observer) -> Option<String> {
        let options = RunOptions::BEFORE_SEARCH;
        self.index.refresh_file(place.source, &place.path, options, observer).err().map(|error| error.to_string())
    }

    /// # Errors
    /// The index was opened read-only, or is one of another tree: the note would not be found.
    pub(super) fn check_writable(&self) -> Result<(), Error> {
        if self.index.elsewhere().is_some() {
            // This is refused, with the reason.
            self.index.claim(&self.index.registry, false)?;
        }
        if self.index.is_writable() {
            return Ok(());
        }
        let reason = "not writable, so that a note would not be found";
        Err(Error::index_directory(&self.index.location().directory, reason))
    }

    /// # Errors
    /// An index run would skip the file.
    fn check_indexed(&self, place: &NoteFile<'_>) -> Result<(), Error> {
        if self.index.would_index(place.source, &place.path)? {
            return Ok(());
        }
        let reason = "left out of the index by an ignore file or setting, so a note in it would not be found; allow it with a \
                      line such as !/memory/ in .tamisignore, or choose another file";
        Err(Error::path(&place.whole, reason))
    }

    /// # Errors
    /// The note would make the file too large to be indexed.
    fn check_size(&self, place: &NoteFile<'_>, bytes: usize) -> Result<(), Error> {
        let most = self.index.config().index.max_file_bytes;
        if bytes as u64 <= most {
            return Ok(());
        }
        let reason =
            format!("would have {bytes} bytes, more than the {most} of index.max_file_bytes; choose another file");
        Err(Error::path(&place.whole, reason))
    }
}

impl NoteFile<'_> {
    /// Its file name without extension, which is the title of a new file.
    fn stem(&self) -> String {
        self.whole.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The directories to create for it, innermost first.
    fn missing_directories(&self) -> Vec<std::path::PathBuf> {
        let missing = self.directory().ancestors().take_while(|directory| !directory.exists());
        missing.map(std::path::Path::to_owned).collect()
    }
}

fn swallowed(place: &NoteFile<'_>) -> Error {
    let reason = "the note could not stand there as an entry of its own: a block of code or a comment before it is not closed, or \
                  its topic is no plain line; mend the file or choose another";
    Error::path(&place.whole, reason)
}
