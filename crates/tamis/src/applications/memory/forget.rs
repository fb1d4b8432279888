//! Notes that shall not be found any more: which are meant, and what is done to them.

use super::Notes;
use super::edit::{Change, change};
use super::note_file::NoteFile;
use crate::Error;
use crate::config::FileCollection;
use crate::file::{DirectoryLock, edit};
use crate::handle::Source;
use crate::index::is_file;
use crate::lookup::Named;
use crate::progress::Observer;
use crate::search::SearchRequest;
use crate::words::words_of;
use jiff::Zoned;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::HashSet;
use tamis_text::{Entry, entries};

/// One entry of a file of notes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoteEntry {
    /// The source it belongs to.
    pub namespace: String,
    /// The file, from the root of the source.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// What it says, without its mark.
    pub text: String,
    /// True if it is marked as forgotten.
    pub forgotten: bool,
}

/// What is done to entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetAction {
    /// Marked: they stay in the file and are not found any more.
    Mark,
    /// Taken out of the file.
    Delete,
    /// The mark taken away: they are found again.
    Undo,
}

/// The entries that a user can mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Meant {
    /// In the order of likelihood.
    pub entries: Vec<NoteEntry>,
    /// True if they were searched for, so that others may be meant.
    pub guessed: bool,
    /// True if none of them holds at least half of the words that were searched for: they are like it, and little else.
    pub by_meaning: bool,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// What was done to the entries.
    pub action: ForgetAction,
    /// The entries as they stand now; of deleted ones, as they stood.
    pub entries: Vec<NoteEntry>,
    /// The reason why the index does not say so yet, where that is so.
    pub not_indexed: Option<String>,
}

/// Most entries that a question is taken to mean.
const MOST_GUESSED: usize = 10;

impl Notes<'_> {
    /// The entries that `what` names: the identifier of a passage, `PATH:LINE` or `PATH:FIRST-LAST`, or some words.
    /// `action` says which can be meant: marked ones to be remembered again, others to be forgotten, all to be deleted.
    ///
    /// # Errors
    /// A path alone, lines that hold no such entry, a file that holds no notes, or an index that cannot be searched.
    pub fn entries_meant(&self, what: &str, namespace: Option<&str>, action: ForgetAction) -> Result<Meant, Error> {
        if what.trim().is_empty() {
            return Err(Error::argument("what", format!("{what:?}"), "an id, PATH:LINE, or some words of a note"));
        }
        let can_be = |entry: &NoteEntry| match action {
            ForgetAction::Mark => !entry.forgotten,
            ForgetAction::Undo => entry.forgotten,
            ForgetAction::Delete => true,
        };
        if let Some((source, path, lines)) = self.named_lines(what, namespace)? {
            let place = self.note_place(source, &path)?;
            let Some((first, last)) = lines else {
                return Err(Error::argument("what", format!("{what:?}"), format!("with a line, such as {path}:7")));
            };
            let mut entries = read(&place)?;
            entries.retain(|entry| entry.start_line <= last && first <= entry.end_line && can_be(entry));
            if entries.is_empty() {
                let kind = if action == ForgetAction::Undo { "a forgotten entry" } else { "an entry" };
                return Err(Error::argument(
                    "lines",
                    format!("{first}-{last}"),
                    format!("lines of {path} that hold {kind}"),
                ));
            }
            return Ok(Meant { entries, guessed: false, by_meaning: false });
        }
        let mut entries = match action {
            ForgetAction::Mark => self.found(what, namespace)?,
            // What is marked is in no index.
            _ => self.with_words(what, namespace)?,
        };
        if entries.is_empty() && action == ForgetAction::Delete {
            entries = self.found(what, namespace)?;
        }
        entries.retain(can_be);
        entries.truncate(MOST_GUESSED);
        let asked = words_of(what);
        let holds_half = |entry: &NoteEntry| {
            let said = words_of(&entry.text);
            2 * asked.iter().filter(|word| said.binary_search(word).is_ok()).count() >= asked.len()
        };
        let by_meaning = !entries.iter().any(holds_half);
        Ok(Meant { entries, guessed: true, by_meaning })
    }

    /// All entries that are marked as forgotten, by file and line; of every source where none is named or stood in.
    ///
    /// # Errors
    /// There is no source of that name, or a file cannot be read.
    pub fn forgotten(&self, namespace: Option<&str>) -> Result<Vec<NoteEntry>, Error> {
        let mut entries = self.all_entries(namespace)?;
        entries.retain(|entry| entry.forgotten);
        Ok(entries)
    }

    /// Marks entries, takes their marks away, or takes them out, each file as a whole. Nothing is done where one of them
    /// does not stand as it is given any more. `day`: of the marks; `None`: today.
    ///
    /// # Errors
    /// A file has changed meanwhile or cannot be written, or an entry cannot be marked where it stands.
    pub fn forget(
        &self,
        wanted: &[NoteEntry],
        action: ForgetAction,
        day: Option<Date>,
        observer: &dyn Observer,
    ) -> Result<Forgotten, Error> {
        self.check_writable()?;
        let change = match action {
            ForgetAction::Mark => Change::Mark(day.unwrap_or_else(|| Zoned::now().date())),
            ForgetAction::Delete => Change::Delete,
            ForgetAction::Undo => Change::Unmark,
        };
        let mut files: Vec<(NoteFile<'_>, Vec<&NoteEntry>)> = Vec::new();
        for entry in wanted {
            let source = self.note_source(Some(&entry.namespace))?;
            match files.iter_mut().find(|(place, _)| place.source == source && place.path == entry.path) {
                Some((_, entries)) => entries.push(entry),
                None => files.push((self.note_place(source, &entry.path)?, vec![entry])),
            }
        }
        // Everything is tried before anything is written.
        for (place, entries) in &files {
            changed(place, &place.read()?, entries, change)?;
        }
        let mut done = Vec::new();
        let mut not_indexed = None;
        for (place, entries) in &files {
            let lock = DirectoryLock::take(place.directory())?;
            let new = edit(&place.whole, |text| {
                let new = changed(place, text, entries, change)?;
                Ok((new.clone(), new))
            })?;
            drop(lock);
            match action {
                ForgetAction::Delete => done.extend(entries.iter().map(|&entry| entry.clone())),
                // Only marks on lines of their own move what comes after.
                _ => {
                    let texts: HashSet<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
                    let forgotten = action == ForgetAction::Mark;
                    let now = of_text(place, &new).into_iter();
                    done.extend(
                        now.filter(|entry| entry.forgotten == forgotten && texts.contains(entry.text.as_str())),
                    );
                }
            }
            not_indexed = self.index_note(place, observer).or(not_indexed);
        }
        Ok(Forgotten { action, entries: done, not_indexed })
    }

    /// The source, path and lines that an identifier or `PATH:LINES` names; `None` where these are words.
    fn named_lines(&self, what: &str, namespace: Option<&str>) -> Result<Option<NamedLines<'_>>, Error> {
        let form = namespace.filter(|_| !self.index.is_of_one_tree()).map(|namespace| format!("{namespace}:{what}"));
        let named =
            form.iter().map(String::as_str).chain([what]).find_map(|form| match self.index.meant_by(form, None) {
                Err(Error::NotFound { .. } | Error::LeftOut { .. }) => None,
                // A number of a line that is none can be a word such as `10:5x`.
                Err(Error::Argument { name: "lines", .. }) if what.contains(char::is_whitespace) => None,
                named => Some(named),
            });
        let Some(named) = named else { return Ok(None) };
        let (namespace, path, lines) = match named? {
            Named::Passage(passage) => (passage.namespace, passage.path, Some((passage.start_line, passage.end_line))),
            Named::Lines(place, lines) => (place.namespace.to_owned(), place.path, lines),
        };
        Ok(Some((self.note_source(Some(&namespace))?, path, lines)))
    }

    /// The entries that a search finds.
    fn found(&self, words: &str, namespace: Option<&str>) -> Result<Vec<NoteEntry>, Error> {
        let request = SearchRequest {
            collections: vec![FileCollection::Notes.as_str().to_owned()],
            namespace: namespace.map(str::to_owned),
            // The best line of each passage says which of its entries is meant.
            snippet_lines: Some(1),
            sharing: Some(false),
            entry_point: Some("forget".to_owned()),
            ..SearchRequest::memory(words)
        };
        let answer = self.index.search(&request)?;
        let mut found: Vec<NoteEntry> = Vec::new();
        for hit in &answer.results {
            let source = self.note_source(Some(&hit.namespace))?;
            let place = self.note_place(source, &hit.path)?;
            let mut within = read(&place)?;
            within.retain(|entry| entry.start_line <= hit.end_line && hit.start_line <= entry.end_line);
            // A passage found by its meaning has no best line: each of its entries can be meant.
            let best = |entry: &NoteEntry| {
                hit.highlights.is_empty() || (entry.start_line..=entry.end_line).contains(&hit.snippet_line)
            };
            if within.iter().any(best) {
                within.retain(best);
            }
            within.retain(|entry| !found.contains(entry));
            found.extend(within);
        }
        Ok(found)
    }

    /// The marked entries that hold all of these words, without regard to case.
    fn with_words(&self, words: &str, namespace: Option<&str>) -> Result<Vec<NoteEntry>, Error> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let mut entries = self.forgotten(namespace)?;
        entries.retain(|entry| {
            let text = entry.text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        });
        Ok(entries)
    }

    /// Every entry of every file of notes.
    fn all_entries(&self, namespace: Option<&str>) -> Result<Vec<NoteEntry>, Error> {
        let sources = match namespace.or(self.index.own_namespace()) {
            Some(name) => vec![self.note_source(Some(name))?],
            None => self.index.sources(),
        };
        let mut entries = Vec::new();
        for source in sources {
            let documents = self.index.store.documents(&source.namespace)?;
            let notes = documents.into_iter().filter(is_file);
            for document in notes.filter(|document| document.collection == FileCollection::Notes.as_str()) {
                // Other formats than Markdown have no entries, and a file that is gone has none either.
                let Ok(place) = self.note_place(source, &document.path) else { continue };
                if place.whole.is_file() {
                    entries.extend(read(&place)?);
                }
            }
        }
        Ok(entries)
    }
}

/// A source, a path in it, and the first and last line where they are named.
type NamedLines<'a> = (&'a Source, String, Option<(u32, u32)>);

/// The entries of a file as it is now.
fn read(place: &NoteFile<'_>) -> Result<Vec<NoteEntry>, Error> {
    Ok(of_text(place, &place.read()?))
}

fn of_text(place: &NoteFile<'_>, text: &str) -> Vec<NoteEntry> {
    let entry = |entry: Entry| NoteEntry {
        namespace: place.source.namespace.clone(),
        path: place.path.clone(),
        start_line: entry.start_line,
        end_line: entry.end_line,
        text: entry.text,
        forgotten: entry.forgotten,
    };
    entries(text).into_iter().map(entry).collect()
}

/// A file's text with a change of some of its entries, the last one first, so that the lines of the others stay.
fn changed(place: &NoteFile<'_>, text: &str, wanted: &[&NoteEntry], how: Change) -> Result<String, Error> {
    let now = of_text(place, text);
    let mut wanted = wanted.to_vec();
    wanted.sort_by_key(|entry| std::cmp::Reverse(entry.start_line));
    wanted.dedup();
    let mut text = text.to_owned();
    for entry in wanted {
        if !now.contains(entry) {
            let reason =
                format!("its lines {}-{} have changed meanwhile; look again", entry.start_line, entry.end_line);
            return Err(Error::path(&place.whole, reason));
        }
        let edited = change(&text, entry.start_line, how).ok_or_else(|| {
            let reason = format!(
                "its lines {}-{} cannot be changed without touching others; change them by hand",
                entry.start_line, entry.end_line
            );
            Error::path(&place.whole, reason)
        })?;
        text = edited.text;
    }
    Ok(text)
}
