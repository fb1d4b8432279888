//! Hides notes from search: finds the entries meant, and marks or deletes them.

use std::collections::HashSet;
use std::path::Path;

use jiff::civil::Date;
use serde::Serialize;
use tamis_text::{Entry, entries};

use super::Notes;
use super::edit::{Change, change};
use super::remember::NoteFile;
use crate::Error;
use crate::config::FileCollection;
use crate::file::{DirectoryLock, edit};
use crate::get::{Lookup, Named};
use crate::handle::Source;
use crate::index::is_file;
use crate::progress::Observer;
use crate::search::{Asker, SearchRequest};
use crate::words::words_of;

/// One entry of a note file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoteEntry {
    /// The source it belongs to.
    pub namespace: String,
    /// The file's path from the root of the source.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// Its text, without the mark.
    pub text: String,
    /// True if it is marked as forgotten.
    pub forgotten: bool,
}

/// The action on entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetAction {
    /// Mark them: they stay in the file but are no longer found.
    Mark,
    /// Delete them from the file.
    Delete,
    /// Remove the mark, so that they are found again.
    Undo,
}

/// The entries that a user may mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Meant {
    /// The entries, most likely first.
    pub entries: Vec<NoteEntry>,
    /// True if they were found by a search, so that others may be meant.
    pub guessed: bool,
    /// True if none of them holds at least half of the words of the search: they match by meaning alone.
    pub by_meaning: bool,
}

/// The result of a change to entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// The action taken.
    pub action: ForgetAction,
    /// The entries as they are now; deleted ones as they were.
    pub entries: Vec<NoteEntry>,
    /// The reason the index is not up to date yet; `None` if it is.
    pub not_indexed: Option<String>,
}

/// The most entries that a query is taken to mean.
const MOST_GUESSED: usize = 10;

impl Notes<'_> {
    /// Finds the entries that `what` names: the identifier of a passage, `PATH:LINE` or `PATH:FIRST-LAST`, or some
    /// words. `action` limits the candidates: marked entries to restore, unmarked ones to hide, all to delete.
    ///
    /// # Errors
    /// A path alone, a file that is missing or without notes, or an index that cannot be searched.
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
            return Ok(Meant { entries, guessed: false, by_meaning: false });
        }
        // Marked entries are not indexed, so only their words find them.
        let (marked, unmarked): (Vec<_>, Vec<_>) =
            self.with_words(what, namespace)?.into_iter().partition(|entry| entry.forgotten);
        let mut entries = if action == ForgetAction::Mark { Vec::new() } else { marked };
        if entries.is_empty() && action != ForgetAction::Undo {
            entries = self.found(what, namespace)?;
            // What holds all of the words may be meant, whatever the cut of the search keeps.
            let others: Vec<_> = unmarked.into_iter().filter(|entry| !entries.contains(entry)).collect();
            entries.extend(others);
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

    /// Lists all entries marked as forgotten, by file and line, of the named source or the current one, or else of
    /// every source.
    ///
    /// # Errors
    /// An unknown source, or a file that cannot be read.
    pub fn forgotten(&self, namespace: Option<&str>) -> Result<Vec<NoteEntry>, Error> {
        let mut entries = self.all_entries(namespace)?;
        entries.retain(|entry| entry.forgotten);
        Ok(entries)
    }

    /// Marks, restores or deletes entries, each file as a whole. If one of them is no longer as given, nothing changes.
    /// `day`: the day of the marks; `None`: today.
    ///
    /// # Errors
    /// A file has changed since or cannot be written, or an entry cannot be marked in its position.
    pub fn forget(
        &self,
        wanted: &[NoteEntry],
        action: ForgetAction,
        day: Option<Date>,
        observer: &dyn Observer,
    ) -> Result<Forgotten, Error> {
        self.check_writable()?;
        let change = match action {
            ForgetAction::Mark => Change::Mark(day.unwrap_or_else(|| crate::dates::now().date())),
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
        // Every change is tried before anything is written.
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
                // Only marks on lines of their own move the lines after them.
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

    /// The source, path and lines that an identifier or `PATH:LINES` names; `None` if `what` is words.
    fn named_lines(&self, what: &str, namespace: Option<&str>) -> Result<Option<NamedLines<'_>>, Error> {
        let form = namespace.filter(|_| !self.index.is_of_one_tree()).map(|namespace| format!("{namespace}:{what}"));
        let lookup = Lookup { index: self.index, allowed: None };
        let named = form.iter().map(String::as_str).chain([what]).find_map(|form| match lookup.meant_by(form) {
            Err(Error::NotFound { .. } | Error::LeftOut { .. }) => None,
            // An invalid line number can be a word such as `10:5x`.
            Err(Error::Argument { name: "lines", .. }) if what.contains(char::is_whitespace) => None,
            named => Some(named),
        });
        let Some(named) = named else {
            // A missing file is not words to search for, which could name the note of another.
            let is_line =
                |(path, line): &(&str, &str)| path.ends_with(".md") && line.starts_with(|c: char| c.is_ascii_digit());
            return match what.rsplit_once(':').filter(is_line) {
                Some((path, _)) => Err(Error::path(Path::new(path), "no such file in the index")),
                None => Ok(None),
            };
        };
        let (namespace, path, lines) = match named? {
            Named::Passage(passage) => (passage.namespace, passage.path, Some((passage.start_line, passage.end_line))),
            Named::Lines(place, lines) => (place.namespace.to_owned(), place.path, lines),
        };
        Ok(Some((self.note_source(Some(&namespace))?, path, lines)))
    }

    /// The entries that a search finds.
    fn found(&self, words: &str, namespace: Option<&str>) -> Result<Vec<NoteEntry>, Error> {
        let mut request = SearchRequest::memory(words)
            .collections([FileCollection::Notes.as_str()])
            .namespace(namespace.map(str::to_owned))
            .passages()
            .asker(Asker::at("forget"));
        request.filters.no_sharing = true;
        // The best line of each passage selects the entry within it.
        request.output.context = Some(0);
        let answer = self.index.search(&request)?;
        let mut found: Vec<NoteEntry> = Vec::new();
        for hit in &answer.results {
            let source = self.note_source(Some(&hit.namespace))?;
            let place = self.note_place(source, &hit.path)?;
            let mut within = read(&place)?;
            within.retain(|entry| entry.start_line <= hit.end_line && hit.start_line <= entry.end_line);
            // A passage found by meaning has no best line, so each of its entries may be meant.
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

    /// The entries that hold all of these words, ignoring case.
    fn with_words(&self, words: &str, namespace: Option<&str>) -> Result<Vec<NoteEntry>, Error> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let mut entries = self.all_entries(namespace)?;
        entries.retain(|entry| {
            let text = entry.text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        });
        Ok(entries)
    }

    /// Every entry of every note file.
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
                // Only Markdown has entries, and a deleted file has none either.
                let Ok(place) = self.note_place(source, &document.path) else { continue };
                if place.whole.is_file() {
                    entries.extend(read(&place)?);
                }
            }
        }
        Ok(entries)
    }
}

/// A source, a path in it, and the first and last line if given.
type NamedLines<'a> = (&'a Source, String, Option<(u32, u32)>);

/// The current entries of a file.
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

/// Changes some entries of a file's text, last one first, so that the line numbers of the others stay valid.
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
