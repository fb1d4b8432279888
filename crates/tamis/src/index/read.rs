//! Turns a file into a document of the store.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use jiff::tz::TimeZone;
use tamis_store::{Attribute, DocumentState, NewDocument, NewPassage, TextForm};
use tamis_text::{Category, Document, Language, NoteOptions, Options, Role, Skip};

use super::document::{Budget, Collections, FileAttributes};
use super::walk::{FoundFile, is_by_size, limits, skip_by_path, skips};
use crate::Error;
use crate::collections::{FILE_COLLECTIONS, SKIPPED};
use crate::config::{Config, FileCollection, IndexConfig};
use crate::file::untrusted::{read_in, read_regular};
use crate::handle::Source;

/// The reason to leave out a file that ends the process which reads it.
pub(crate) const DEADLY: &str = "deadly";

/// Returns `true` if a document is a file of its namespace's tree.
pub(crate) fn is_file(document: &DocumentState) -> bool {
    document.origin.is_none() && FILE_COLLECTIONS.contains(&document.collection.as_str())
}

/// Returns the hash that distinguishes a changed file from a touched one. Attributes that decide how it is read belong to it.
pub(crate) fn content_hash(file: &FoundFile, bytes: &[u8]) -> [u8; 32] {
    match file.attributes.mark() {
        0 => *blake3::hash(bytes).as_bytes(),
        mark => *blake3::Hasher::new().update(bytes).update(&mark.to_le_bytes()).finalize().as_bytes(),
    }
}

/// Reads the files of one source.
pub(crate) struct Reader<'a> {
    namespace: &'a str,
    config: &'a IndexConfig,
    notes: LazyLock<NoteOptions>,
    collections: Collections,
    budget: Budget,
}

impl<'a> Reader<'a> {
    /// # Errors
    /// A glob of the configuration is invalid.
    pub fn new(source: &'a Source, config: &'a Config) -> Result<Self, Error> {
        let collections = Collections::new(source, config)?;
        // People date their notes in local time. Most runs read no file, and finding the time zone takes half a millisecond.
        let notes: LazyLock<NoteOptions> =
            LazyLock::new(|| NoteOptions { time_zone: TimeZone::system(), ..NoteOptions::default() });
        Ok(Reader {
            namespace: &source.namespace,
            config: &config.index,
            notes,
            collections,
            budget: Budget::default(),
        })
    }

    /// Splits a file's content into passages. A file left out for its content becomes a document without passages.
    pub fn read(&self, file: &FoundFile, bytes: &[u8]) -> NewDocument {
        let empty = |skip: &str| self.without_text(file, skip, content_hash(file, bytes));
        let options = Options::default();
        let FileAttributes { generated, vendored, language, encoding } = &file.attributes;
        let transcoded = encoding.as_ref().and_then(|encoding| tamis_text::transcoded(bytes, encoding));
        let bytes = transcoded.as_deref().unwrap_or(bytes);
        let rich = match self.budget.read_document(&file.path, bytes, &options) {
            Ok(rich) => rich,
            Err(skip) => return empty(skip.as_str()),
        };
        let is_page = rich.as_ref().is_some_and(|document| document.language == Some("html"));
        if (rich.is_none() || is_page)
            && let Some(skip) = tamis_text::skip_by_content(&file.path, bytes)
            && skips(self.config, skip)
            // The text of a page has lines of its own.
            && !(is_page && skip == Skip::Minified)
            && !(skip == Skip::Generated && *generated == Some(false))
        {
            return empty(skip.as_str());
        }
        let collection = self.collections.of_file(&file.path);
        let document = rich.unwrap_or_else(|| {
            let language = language.as_ref().and_then(|name| Language::resolve(name));
            self.document(collection, file, language, bytes)
        });
        let mut document = document.into_plain();
        match (generated, vendored) {
            (Some(true), _) => document.set_role(Role::Generated),
            (_, Some(true)) => document.set_role(Role::Vendored),
            _ => {}
        }
        let notes: Vec<String> = document.notes.iter().map(ToString::to_string).collect();
        let form = if document.category == Category::Prose { TextForm::Prose } else { TextForm::Code };
        NewDocument {
            collection: collection.map_or(document.collection(), FileCollection::as_str).to_owned(),
            language: document.language.as_ref().map(ToString::to_string),
            role: document.role.as_str().to_owned(),
            title: document.title.clone(),
            severity: document.severity.clone(),
            dated_ns: document.dated_ns,
            attributes: attributes(&document),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            passages: passages(document, form),
            ..empty("")
        }
    }

    /// A document that is remembered only as left out.
    fn without_text(&self, file: &FoundFile, skip: &str, content_hash: [u8; 32]) -> NewDocument {
        NewDocument {
            role: skip.to_owned(),
            file: file.state,
            content_hash,
            ..NewDocument::new(self.namespace, SKIPPED, file.path.as_str())
        }
    }

    /// The document of a file that is not read, since it is too large.
    pub fn too_large(&self, file: &FoundFile) -> Option<NewDocument> {
        let skip = skip_by_path(&file.path, file.state.size, self.config).filter(|skip| is_by_size(*skip))?;
        // Another large file must not look like this one, moved.
        let hash = content_hash(file, format!("{}\n{}", file.path, file.state.size).as_bytes());
        Some(self.without_text(file, skip.as_str(), hash))
    }

    /// The document of a file that is left out, since processes ended while they read it.
    pub fn deadly(&self, file: &FoundFile, bytes: &[u8]) -> NewDocument {
        self.without_text(file, DEADLY, content_hash(file, bytes))
    }

    /// The document of a text. `language` is the one that it is said to have.
    fn document(
        &self,
        collection: Option<FileCollection>,
        file: &FoundFile,
        language: Option<&'static Language>,
        bytes: &[u8],
    ) -> Document {
        let options = Options::default();
        match collection {
            Some(FileCollection::Notes) => tamis_text::read_note(&file.path, bytes, &self.notes),
            #[cfg(feature = "wiki")]
            Some(FileCollection::Wiki) => tamis_text::read_page(&file.path, bytes, &options),
            _ => match language.and_then(|language| language.extensions.split_whitespace().next()) {
                // Read as a file beside it with an ending of the language.
                Some(extension) => tamis_text::read(&format!("{}.{extension}", file.path), bytes, &options),
                None => tamis_text::read(&file.path, bytes, &options),
            },
        }
    }
}

/// Returns the attributes of a document in the store's form.
pub(crate) fn attributes(document: &Document) -> Vec<Attribute> {
    let attribute = |(name, value): &(String, String)| Attribute { name: name.clone(), value: value.clone() };
    document.attributes.iter().map(attribute).collect()
}

/// Returns the passages of a document in the store's form.
pub(crate) fn passages(document: Document, form: TextForm) -> Vec<NewPassage> {
    // A notebook is code, with prose around it.
    let mixed = document.passages.iter().any(|passage| passage.own.language.is_some());
    let passage = |passage: tamis_text::Passage| NewPassage {
        form: if mixed && passage.own.language.is_none() { TextForm::Prose } else { form },
        start_line: passage.start_line,
        end_line: passage.end_line,
        kind: passage.kind.as_str().to_owned(),
        embedded_text: passage.embedded_text().into_owned(),
        symbol: passage.symbol,
        signature: passage.signature,
        heading: passage.heading,
        context: passage.context,
        text: passage.text,
        role: passage.role.as_str().to_owned(),
        language: passage.own.language,
        author: passage.own.author,
        dated_ns: passage.own.dated_ns,
        part: passage.own.part,
    };
    document.passages.into_iter().map(passage).collect()
}

/// Reads a whole file of the tree. It may have changed since it was listed, so a link in its path is not followed, a pipe does
/// not block, and no more is read than a file may hold.
pub(crate) fn bytes(root: &Path, file: &FoundFile, config: &IndexConfig) -> std::io::Result<Vec<u8>> {
    read_in(root, Path::new(&file.path), tamis_text::most_bytes(&file.path, &limits(config)))
}

// The record of the files that are being read, so that the run after a killed one knows what may have killed it.
//
// Parsers are bounded, and still a file can end the process that reads it: the system kills it for its memory, or a library
// aborts. The next run has a process of its own read such a file first, and leaves it out if that ends too. A program that embeds
// the library has no such process: there, a file is left out after two killed runs.

/// The name of the file in the directory of the index.
const FILE: &str = "reading";

/// The room for the place of a file, in bytes. A longer one is not recorded.
const ROOM: usize = 4 << 10;

/// Most places of a record that are believed.
const MOST: u64 = 1_024;

/// The largest file that a configuration can allow, in bytes.
const LARGEST: u64 = 1 << 30;

/// A file that so many killed runs were reading is left out where no other process can be asked.
const MOST_STRIKES: u8 = 2;

/// The time that the process of its own gets, and between two looks at it.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The files that a run is reading, one for each thread, and those that the run before was reading when it was killed.
#[derive(Debug)]
pub(crate) struct ReadingRecord {
    path: PathBuf,
    file: Mutex<File>,
    suspects: BTreeMap<String, u8>,
}

impl ReadingRecord {
    /// Opens the record of an index. `None` where nothing can be written: such a run is as good as the others, but not remembered.
    pub fn open(directory: &Path) -> Option<Self> {
        let path = directory.join(FILE);
        let left = read_regular(&path, MOST * ROOM as u64).unwrap_or_default();
        let mut suspects = BTreeMap::new();
        for (place, strikes) in left.chunks(ROOM).filter_map(parse) {
            let most = suspects.entry(place).or_default();
            *most = strikes.max(*most);
        }
        if !left.is_empty() {
            // Whatever has the name is replaced.
            fs::remove_file(&path).ok()?;
        }
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path).ok()?;
        let record = ReadingRecord { path, file: Mutex::new(file), suspects };
        // They stay on record until the end of this run, which can be killed too.
        let after = rayon::current_num_threads() + 1;
        for (index, (suspect, &strikes)) in record.suspects.iter().enumerate() {
            record.write(after + index, suspect, strikes).ok()?;
        }
        Some(record)
    }

    /// Reads a file, which is on record meanwhile.
    pub fn reading<T>(&self, place: &str, read: impl FnOnce() -> T) -> T {
        let slot = rayon::current_thread_index().map_or(0, |thread| thread + 1);
        // Without its place on record a file is read all the same.
        let _ = self.write(slot, place, self.strikes(place).saturating_add(1));
        let result = read();
        let _ = self.write(slot, "", 0);
        result
    }

    /// Returns `true` if the process that read this file may have been killed by it, and another one does not survive it either.
    pub fn is_deadly(&self, place: &str, file: &Path) -> bool {
        let strikes = self.strikes(place);
        strikes > 0 && !survives(file).unwrap_or(strikes < MOST_STRIKES)
    }

    /// Returns how many killed runs were reading a file.
    fn strikes(&self, place: &str) -> u8 {
        self.suspects.get(place).copied().unwrap_or(0)
    }

    /// Ends a run that has read everything.
    pub fn end(self) {
        drop(self.file);
        let _ = fs::remove_file(&self.path);
    }

    fn write(&self, slot: usize, place: &str, strikes: u8) -> io::Result<()> {
        if place.len() + size_of::<u32>() + 1 > ROOM {
            return Ok(());
        }
        let mut bytes = (place.len() as u32).to_le_bytes().to_vec();
        bytes.push(strikes);
        bytes.extend(place.as_bytes());
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start((slot * ROOM) as u64))?;
        file.write_all(&bytes)
    }
}

/// Reads one part of the record: a place, and how many runs have been killed while they read it.
fn parse(part: &[u8]) -> Option<(String, u8)> {
    let (length, rest) = part.split_first_chunk()?;
    let (&strikes, rest) = rest.split_first()?;
    let place = rest.get(..u32::from_le_bytes(*length) as usize)?;
    let place = std::str::from_utf8(place).ok()?;
    (!place.is_empty()).then(|| (place.to_owned(), strikes))
}

/// Returns whether another process can read a file: `None` in a program that is not ours, which cannot be asked.
fn survives(file: &Path) -> Option<bool> {
    let program =
        std::env::current_exe().ok().filter(|program| program.file_stem().is_some_and(|name| name == "tamis"))?;
    let mut command = Command::new(program);
    command.args(["index", "--try-file"]).arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Ok(Some(status)) => return Some(status.success()),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    Some(false)
}

/// Reads a file as a run does, for a run that fears it, and keeps nothing of it.
///
/// # Errors
/// It is no regular file, or larger than any that is read.
pub fn try_file(path: &Path) -> io::Result<()> {
    let bytes = read_regular(path, LARGEST)?;
    let (name, options) = (path.to_string_lossy(), Options::default());
    if let Ok(None) = tamis_text::read_document(&name, &bytes, &options) {
        let _ = tamis_text::read(&name, &bytes, &options);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_being_read_is_suspected_until_a_run_ends() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let open = || ReadingRecord::open(directory.path()).expect("a record");
        let first = open();
        assert_eq!(first.reading("api\0done.rs", || 7), 7);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        // The record of a killed run is what was written until then.
        let killed = first.reading("api\0main.rs", || {
            pool.install(|| {
                first.reading("api\0deadly.pdf", || fs::read(directory.path().join(FILE)).expect("a record"))
            })
        });
        first.end();
        assert!(!directory.path().join(FILE).exists());
        assert!(open().suspects.is_empty());
        fs::write(directory.path().join(FILE), killed).expect("written");
        let suspects = |strikes| BTreeMap::from(["api\0deadly.pdf", "api\0main.rs"].map(|at| (at.to_owned(), strikes)));
        for _ in 0..2 {
            assert_eq!(open().suspects, suspects(1), "also after a run that was killed before it came to them");
        }
        let record = open();
        // This program cannot be asked to read a file, so what was being read gets another try, and no third.
        assert!(!record.is_deadly("api\0main.rs", Path::new("main.rs")));
        let killed = record.reading("api\0main.rs", || fs::read(directory.path().join(FILE)).expect("a record"));
        fs::write(directory.path().join(FILE), killed).expect("written");
        let record = open();
        assert!(record.is_deadly("api\0main.rs", Path::new("main.rs")));
        assert!(!record.is_deadly("api\0deadly.pdf", Path::new("deadly.pdf")));
        assert!(!record.is_deadly("api\0done.rs", Path::new("done.rs")));
        record.end();
        fs::write(directory.path().join(FILE), [255; 5_000]).expect("written");
        assert!(open().suspects.is_empty(), "nonsense");
    }
}
