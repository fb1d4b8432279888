//! From a file to a stored document: its collection, its attributes and date, and what a model reads of each passage.

use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tamis_embed::{ModelInfo, Provider};
use tamis_store::{FileStat, NewDocument, TextForm};
use tamis_text::{Category, Document, Language, Options, Skip};

use super::read::{is_file, passages};
use crate::collections::SKIPPED;
use crate::config::{Config, FileCollection, Words};
use crate::git::Repository;
use crate::handle::{Index, Source};
use crate::{Error, git};

/// The time that every document may take. The largest books take a few seconds.
const USUAL: Duration = Duration::from_secs(5);

/// The time that one document may take besides, and all documents of a source together.
const LONGER: Duration = Duration::from_secs(55);
const ALL_LONGER: Duration = Duration::from_secs(5 * 60);

/// Most documents that are read at a time, in this process. One may take some hundred megabytes.
const MOST_AT_ONCE: usize = 3;

/// Stack of the thread, in bytes.
const STACK: usize = 16 << 20;

/// Documents that are being read, also those that nobody waits for any more.
static READING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// A place among the documents that are being read.
struct Place;

impl Place {
    /// Waits for a place.
    fn take() -> Self {
        let (reading, left) = &READING;
        let mut count = reading.lock().unwrap_or_else(PoisonError::into_inner);
        while *count >= MOST_AT_ONCE {
            count = left.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
        *count += 1;
        Self
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (reading, left) = &READING;
        *reading.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        left.notify_one();
    }
}

type Reader = fn(&str, &[u8], &Options) -> Result<Option<Document>, Skip>;

/// The time that the documents of a source may take besides the usual.
pub(crate) struct Budget {
    left: Mutex<Duration>,
    usual: Duration,
    read: Reader,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: Mutex::new(ALL_LONGER), usual: USUAL, read: tamis_text::read_document }
    }
}

impl Budget {
    /// [`tamis_text::read_document`] within a time limit. A thread that exceeds it ends by itself, later.
    pub fn read_document(&self, path: &str, bytes: &[u8], options: &Options) -> Result<Option<Document>, Skip> {
        if !tamis_text::is_document(path) && !bytes.starts_with(b"%PDF-") {
            return tamis_text::read_document(path, bytes, options);
        }
        let (sender, receiver) = sync_channel(1);
        let (path, bytes, options) = (path.to_owned(), bytes.to_vec(), options.clone());
        let (place, read, usual) = (Place::take(), self.read, self.usual);
        let work = move || {
            let read = read(&path, &bytes, &options);
            drop(place);
            // The receiver is gone only if the time was up.
            let _ = sender.send(read);
        };
        if Builder::new().name("document".to_owned()).stack_size(STACK).spawn(work).is_err() {
            return Err(Skip::TooMuchWork);
        }
        let started = Instant::now();
        let read = receiver.recv_timeout(usual + LONGER.min(*self.left()));
        let longer = started.elapsed().saturating_sub(usual);
        let mut left = self.left();
        *left = left.saturating_sub(longer);
        match read {
            Ok(read) => read,
            Err(RecvTimeoutError::Timeout) => Err(Skip::TooMuchWork),
            // The thread panicked.
            Err(RecvTimeoutError::Disconnected) => Err(Skip::Damaged),
        }
    }

    fn left(&self) -> std::sync::MutexGuard<'_, Duration> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Assigns each file to its collection: `code`, or the kind of its prose.
//
// The rules, the strongest first: the collection of the whole source, `index.notes` and the directory of notes, `index.wiki`, a
// source called `*.wiki` like a checkout of a wiki, and `docs` for the rest.

impl FromStr for FileCollection {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let allowed = || format!("one of {}", FileCollection::NAMES.join(", "));
        FileCollection::from_word(name).ok_or_else(|| Error::argument("collection", format!("{name:?}"), allowed()))
    }
}

/// The rules of one source.
pub(crate) struct Collections {
    whole: Option<FileCollection>,
    notes: Gitignore,
    wiki: Gitignore,
    otherwise: FileCollection,
}

impl Collections {
    /// # Errors
    /// A glob is invalid.
    pub fn new(source: &Source, config: &Config) -> Result<Self, Error> {
        let directory = Some(&config.notes.directory).filter(|directory| !directory.is_empty());
        let own = directory.map(|directory| format!("/{}/", escaped(directory)));
        let name = source.root.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        Ok(Collections {
            whole: source.collection,
            notes: globs("index.notes", config.index.notes.iter().chain(&own))?,
            wiki: globs("index.wiki", &config.index.wiki)?,
            otherwise: if name.ends_with(".wiki") { FileCollection::Wiki } else { FileCollection::Docs },
        })
    }

    /// Returns the collection of the file at `path`; `None` for code and data, whatever the rules say.
    pub fn of_file(&self, path: &str) -> Option<FileCollection> {
        let prose = Language::detect(path, "").is_some_and(|language| language.category == Category::Prose);
        prose.then(|| self.of_prose(path))
    }

    fn of_prose(&self, path: &str) -> FileCollection {
        let matches = |globs: &Gitignore| globs.matched_path_or_any_parents(path, false).is_ignore();
        match self.whole {
            Some(whole) => whole,
            None if matches(&self.notes) => FileCollection::Notes,
            None if matches(&self.wiki) => FileCollection::Wiki,
            None => self.otherwise,
        }
    }
}

fn globs<'a>(key: &'static str, globs: impl IntoIterator<Item = &'a String>) -> Result<Gitignore, Error> {
    let mut builder = GitignoreBuilder::new("");
    let wrong =
        |error: ignore::Error, glob: &str| Error::argument(key, format!("{glob:?}"), format!("globs ({error})"));
    for glob in globs {
        builder.add_line(None, glob).map_err(|error| wrong(error, glob))?;
    }
    builder.build().map_err(|error| wrong(error, ""))
}

/// Returns a glob that matches this directory and nothing else.
fn escaped(directory: &str) -> String {
    let special = |character| matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '#' | '\\' | ' ');
    directory.chars().flat_map(|character| special(character).then_some('\\').into_iter().chain([character])).collect()
}

// What `.gitattributes` says of files: which ones a program wrote or another project did, their language and their encoding.
//
// Patterns are those of ignore files, but a directory's own does not cover what is in it, and of two rules the later one wins.

/// The file with the rules of a directory.
pub(crate) const FILE: &str = ".gitattributes";

/// The most rules of a file that count.
const MOST_RULES: usize = 1_000;

/// The attributes of a file, where a rule sets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileAttributes {
    pub generated: Option<bool>,
    pub vendored: Option<bool>,
    /// The name of its language.
    pub language: Option<String>,
    /// Its encoding in the tree, if that is not UTF-8.
    pub encoding: Option<String>,
}

impl FileAttributes {
    /// Adds what another rule sets, where none did so far.
    fn complete(&mut self, other: &FileAttributes) {
        self.generated = self.generated.or(other.generated);
        self.vendored = self.vendored.or(other.vendored);
        self.language = self.language.take().or_else(|| other.language.clone());
        self.encoding = self.encoding.take().or_else(|| other.encoding.clone());
    }

    /// A number of these attributes, 0 without any, so that a file is read again when they change.
    pub fn mark(&self) -> i64 {
        if *self == FileAttributes::default() {
            return 0;
        }
        let hash = blake3::hash(format!("{self:?}").as_bytes());
        hash.as_bytes().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
    }
}

/// The rules of one file, in its order.
#[derive(Debug, Default)]
pub(crate) struct AttributeRules(Vec<(Gitignore, FileAttributes)>);

impl AttributeRules {
    /// Reads the rules for a directory. Lines that set none of the attributes above, or that are invalid, are passed over.
    pub fn parse(directory: &Path, text: &str) -> AttributeRules {
        let lines = text.trim_start_matches('\u{feff}').lines();
        AttributeRules(lines.filter_map(|line| rule(directory, line)).take(MOST_RULES).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what the rules say of a file to what stronger ones said.
    pub fn apply(&self, path: &Path, attributes: &mut FileAttributes) {
        for (pattern, set) in self.0.iter().rev() {
            if pattern.matched(path, false).is_ignore() {
                attributes.complete(set);
            }
        }
    }
}

/// `gen/** linguist-generated=true`, or a pattern in quotes.
fn rule(directory: &Path, line: &str) -> Option<(Gitignore, FileAttributes)> {
    let line = line.trim();
    let (pattern, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_once(char::is_whitespace)?,
    };
    // A comment, a macro, or a pattern that git does not take.
    if pattern.is_empty() || pattern.starts_with(['#', '!', '[']) || pattern.ends_with('/') {
        return None;
    }
    let mut set = FileAttributes::default();
    for word in rest.split_whitespace() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.trim_start_matches(['-', '!']), None),
        };
        let flag = match value {
            Some(value) => !value.eq_ignore_ascii_case("false"),
            None => !word.starts_with(['-', '!']),
        };
        match name {
            "linguist-generated" => set.generated = Some(flag),
            "linguist-vendored" => set.vendored = Some(flag),
            "linguist-language" => set.language = value.map(str::to_owned),
            "working-tree-encoding" => set.encoding = value.map(str::to_owned),
            _ => {}
        }
    }
    if set == FileAttributes::default() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(directory);
    builder.add_line(None, pattern).ok()?;
    Some((builder.build().ok()?, set))
}

// The dates of documents: the last commit of each file. A file without one has the date of its last change.
//
// A document keeps its date until its content changes and makes it a new document. So only documents without a date are looked
// up, and only after a checkout of another commit: until then git can have learnt nothing new.

/// Looks up the missing dates of a source if there can be new ones; `again` forces it. Returns the reason why dates are still
/// missing.
pub(crate) fn date(
    index: &Index,
    source: &Source,
    again: bool,
    stopped: &dyn Fn() -> bool,
) -> Result<Option<String>, Error> {
    let Some(repository) = Repository::find(&source.root) else { return Ok(Some("no git repository".into())) };
    let Some(head) = repository.head() else { return Ok(Some(git::NO_COMMIT.into())) };
    let property = property(&source.namespace);
    let last = index.store.property(&property)?.unwrap_or_default();
    let (last_head, last_note) = last.split_once('\n').unwrap_or((&last, ""));
    if last_head == head && !again {
        return Ok((!last_note.is_empty()).then(|| last_note.to_owned()));
    }
    let mut documents = index.store.documents(&source.namespace)?;
    documents.retain(|document| {
        document.dated_ns.is_none()
            && document.collection != SKIPPED
            // A note has the date that it names, or none. The commit of its file says nothing about its subject.
            && document.collection != FileCollection::Notes.as_str()
            && is_file(document)
    });
    let paths: Vec<&str> = documents.iter().map(|document| document.path.as_str()).collect();
    let dated = match paths.is_empty() {
        true => git::Dated::default(),
        false => git::dates(&repository, &source.root, &paths, stopped),
    };
    if !dated.dates.is_empty() {
        index.store.set_dates(&source.namespace, &dated.dates)?;
    }
    // A stopped run leaves the rest to the next one.
    if !stopped() {
        index.store.set_property(&property, &format!("{head}\n{}", dated.note.as_deref().unwrap_or_default()))?;
    }
    Ok(dated.note)
}

/// Forgets the last dating of a namespace.
pub(crate) fn forget(index: &Index, namespace: &str) -> Result<(), Error> {
    Ok(index.store.set_property(&property(namespace), "")?)
}

/// Returns the property that holds the commit at which a namespace was dated, and on a second line the reason why dates were
/// missing.
fn property(namespace: &str) -> String {
    format!("git_head:{namespace}")
}

// What a model reads of a passage.

/// Parts of a path that a model reads, the last ones.
const PATH_PARTS: usize = 3;

/// Returns what a model reads of a passage: the last three parts of its document's path as a first line, then its text. A file's
/// name often says what its passages only imply. The vector stays the text's: a moved file keeps its vectors, and a text that
/// several files have is read with the path of the first.
pub(crate) fn model_input<'t>(model: &ModelInfo, path: &str, text: &'t str) -> Cow<'t, str> {
    if model.provider == Provider::Static || path.is_empty() {
        return text.into();
    }
    format!("{}\n{text}", path_line(path)).into()
}

/// Returns the last three parts of a path.
pub(crate) fn path_line(path: &str) -> &str {
    let start = path.rmatch_indices('/').nth(PATH_PARTS - 1).map_or(0, |(at, _)| at + 1);
    &path[start..]
}

// Documents that a program passes as text.

/// A document as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextDocument {
    /// Its identifier, which is its path in results.
    pub id: String,
    /// The collection it belongs to.
    pub collection: String,
    /// Its title; searched with every passage.
    pub title: Option<String>,
    /// Its text. Long text is split by paragraphs.
    pub text: String,
}

pub(super) fn text_document(index: &Index, document: &TextDocument) -> NewDocument {
    let title = document.title.clone().filter(|title| !title.trim().is_empty());
    let options = Options::default();
    // The text is read like a text file. The name only marks it as plain text.
    let mut read = tamis_text::read("document.txt", document.text.as_bytes(), &options).into_plain();
    for passage in &mut read.passages {
        passage.heading.clone_from(&title);
        (passage.symbol, passage.signature, passage.context) = (None, None, None);
    }
    NewDocument {
        role: read.role.as_str().to_owned(),
        title,
        file: FileStat { size: document.text.len() as u64, ..FileStat::default() },
        content_hash: *blake3::hash(document.text.as_bytes()).as_bytes(),
        passages: passages(read, TextForm::Prose),
        ..NewDocument::new(&index.namespace, &document.collection, &document.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Origins;

    #[test]
    fn documents_are_read_within_the_budget() {
        let read =
            |_| Budget::default().read_document("a.ipynb", br#"{"cells": [{"source": "x"}]}"#, &Options::default());
        std::thread::scope(|scope| {
            for thread in 0..3 * MOST_AT_ONCE {
                scope.spawn(move || assert!(read(thread).is_ok_and(|document| document.is_some())));
            }
        });
        let places: Vec<Place> = (0..MOST_AT_ONCE).map(|_| Place::take()).collect();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| read(0));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            drop(places);
            assert!(waiting.join().expect("no panic").is_ok());
        });

        let budget = Budget { left: Mutex::new(Duration::from_secs(7)), ..Budget::default() };
        assert!(budget.read_document("a.ipynb", b"{}", &Options::default()).is_err());
        assert_eq!(*budget.left(), Duration::from_secs(7));

        let slow = |_: &str, _: &[u8], _: &Options| {
            std::thread::sleep(Duration::from_millis(400));
            Ok(None)
        };
        let read = |left| {
            let budget = Budget { left: Mutex::new(left), usual: Duration::from_millis(50), read: slow };
            (budget.read_document("a.pdf", b"", &Options::default()), *budget.left())
        };
        let (done, left) = read(Duration::from_secs(60));
        assert!(done.is_ok() && left <= Duration::from_millis(59_650), "{left:?}");
        let (late, left) = read(Duration::from_millis(100));
        assert!(matches!(late, Err(Skip::TooMuchWork)) && left.is_zero(), "{left:?}");
    }

    fn collections(root: &str, whole: Option<FileCollection>, settings: &[(&str, &str)]) -> Collections {
        let flags = settings.iter().map(|&(key, value)| (key.into(), value.into(), "test".into())).collect();
        let config = Config::load(&Origins { flags, ..Origins::default() }, None).expect("valid");
        let source = Source { root: Path::new(root).into(), collection: whole, ..Source::default() };
        Collections::new(&source, &config).expect("globs")
    }

    fn names(collections: &Collections, paths: &[&str]) -> Vec<&'static str> {
        paths.iter().map(|path| collections.of_file(path).map_or("code", FileCollection::as_str)).collect()
    }

    #[test]
    fn files_have_the_collection_of_their_place_their_globs_or_their_source() {
        let plain = collections("/project", None, &[]);
        let paths = ["MEMORY.md", "sub/MEMORY.md", "memory/2026-03-01.md", "memory/ops/dns.md", "memory/note.txt"];
        assert_eq!(names(&plain, &paths), ["notes"; 5]);
        let paths = ["README.md", "src/memory/allocator.md", "memory.md", "docs/MEMORY.rst"];
        assert_eq!(names(&plain, &paths), ["docs"; 4]);
        assert_eq!(names(&plain, &["memory/pool.rs", "memory/dump.json", "memory/Makefile"]), ["code"; 3]);

        let settings =
            [("index.notes", "*.note.md,!/memory/keep/"), ("index.wiki", "/handbook/"), ("memory.directory", "log!")];
        let some = collections("/project", None, &settings);
        let paths =
            ["log!/2026-03-01.md", "a.note.md", "handbook/x.note.md", "handbook/x.md", "memory/a.md", "log/a.md"];
        assert_eq!(names(&some, &paths), ["notes", "notes", "notes", "wiki", "docs", "docs"]);
        let root = collections("/project", None, &[("memory.directory", ".")]);
        assert_eq!(names(&root, &["a.md", "memory/a.md"]), ["docs", "notes"], "the root itself makes nothing a note");

        let wiki = collections("/checkouts/project.wiki", None, &[]);
        assert_eq!(names(&wiki, &["Home.md", "MEMORY.md", "tool.py"]), ["wiki", "notes", "code"]);
        let notes = collections("/project.wiki", Some(FileCollection::Notes), &[("index.wiki", "*.md")]);
        assert_eq!(names(&notes, &["Home.md", "tool.py"]), ["notes", "code"]);
        let docs = collections("/project", Some(FileCollection::Docs), &[]);
        assert_eq!(names(&docs, &["MEMORY.md", "memory/a.md"]), ["docs", "docs"]);
    }

    #[test]
    fn the_last_rule_that_matches_decides_each_attribute() {
        let rules = AttributeRules::parse(
            Path::new("/tree"),
            "\u{feff}# note\n[attr]foo bar\n*.api text linguist-generated linguist-language=Rust\ngen/** linguist-generated=true\n\
             gen/own.rs -linguist-generated\n\"a b.txt\" working-tree-encoding=UTF-16LE\nlib linguist-vendored\n/only.c linguist-vendored\n*.md text\n",
        );
        let of = |path: &str| {
            let mut attributes = FileAttributes::default();
            rules.apply(&Path::new("/tree").join(path), &mut attributes);
            attributes
        };
        let generated = |flag| FileAttributes { generated: Some(flag), ..FileAttributes::default() };
        let vendored = || FileAttributes { vendored: Some(true), ..FileAttributes::default() };
        assert_eq!(of("x/y.api"), FileAttributes { language: Some("Rust".into()), ..generated(true) });
        assert_eq!((of("gen/a/b.rs"), of("gen/own.rs")), (generated(true), generated(false)));
        assert_eq!(of("a b.txt").encoding.as_deref(), Some("UTF-16LE"));
        assert_eq!((of("lib"), of("only.c")), (vendored(), vendored()));
        for path in ["lib/a.c", "x/only.c", "README.md"] {
            assert_eq!((of(path).mark(), of(path)), (0, FileAttributes::default()), "{path}");
        }
        assert_ne!(of("gen/a.rs").mark(), of("gen/own.rs").mark());
    }

    #[test]
    fn a_model_reads_the_end_of_the_path_first() {
        let model =
            |provider| ModelInfo { id: "m".into(), dimension: 1, max_tokens: None, provider, fusion_weight: 0.5 };
        let read = |path: &str| model_input(&model(Provider::Local), path, "fn main() {}");
        assert_eq!(read("a/b/src/bin/main.rs"), "src/bin/main.rs\nfn main() {}");
        assert_eq!([read("bin/main.rs"), read("")], ["bin/main.rs\nfn main() {}", "fn main() {}"]);
        assert_eq!(model_input(&model(Provider::Static), "main.rs", "x"), "x");
    }
}
