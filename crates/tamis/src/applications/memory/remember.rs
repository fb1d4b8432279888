//! Adds a note.

use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use jiff::civil::DateTime;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_text::Language;

use super::Notes;
use super::edit::{NewEntry, append, checked, checked_topic};
use crate::Error;
use crate::config::FileCollection;
use crate::file::untrusted::read_in;
use crate::file::{DirectoryLock, LONGEST_TEXT, create, edit};
use crate::handle::Source;
use crate::index::{Collections, RunOptions, claim, list_file, refresh_file};
use crate::progress::Observer;

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
    pub(crate) fn index_note(&self, place: &NoteFile<'_>, observer: &dyn Observer) -> Option<String> {
        let options = RunOptions::BEFORE_SEARCH;
        refresh_file(self.index, place.source, &place.path, options, observer).err().map(|error| error.to_string())
    }

    /// # Errors
    /// The index was opened read-only, or is one of another tree: the note would not be found.
    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        if self.index.elsewhere().is_some() {
            // This is refused, with the reason.
            claim(self.index, &self.index.registry, false)?;
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
        if !list_file(self.index, place.source, &place.path)?.files.is_empty() {
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

// Resolves the file a note is written to: a Markdown file of the collection of notes, inside its source.

/// A note file, which may not exist yet.
#[derive(Clone, Debug)]
pub(crate) struct NoteFile<'a> {
    pub source: &'a Source,
    /// Path under the source's root, with forward slashes.
    pub path: String,
    /// The absolute path.
    pub whole: PathBuf,
}

impl NoteFile<'_> {
    /// Reads its current text.
    ///
    /// # Errors
    /// The file cannot be read, or is no longer a regular file of the tree.
    pub fn read(&self) -> Result<String, Error> {
        let failed = |reason: String| Error::path(&self.whole, format!("cannot be read: {reason}"));
        let bytes = read_in(&self.source.root, Path::new(&self.path), LONGEST_TEXT)
            .map_err(|error| failed(error.to_string()))?;
        String::from_utf8(bytes).map_err(|_| failed("not UTF-8".to_owned()))
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        self.whole.parent().unwrap_or(&self.source.root)
    }
}

impl Notes<'_> {
    /// The source for notes: the one named, the one that holds the working directory, or the only one.
    ///
    /// # Errors
    /// An unknown source, several possible ones, or a missing directory.
    pub(crate) fn note_source(&self, namespace: Option<&str>) -> Result<&Source, Error> {
        let sources = self.index.sources();
        let wanted = namespace.or(self.index.own_namespace());
        let named = wanted.and_then(|name| sources.iter().find(|source| source.namespace == name));
        let source = match (named, sources.as_slice()) {
            (Some(source), _) => source,
            (None, [only]) if namespace.is_none() => only,
            _ => {
                let names: Vec<&str> = sources.iter().map(|source| source.namespace.as_str()).collect();
                let value = namespace.map_or_else(|| "none".to_owned(), |name| format!("{name:?}"));
                let allowed = format!("one of {}: each keeps notes of its own", names.join(", "));
                return Err(Error::argument("namespace", value, allowed));
            }
        };
        if !source.root.is_dir() {
            return Err(Error::path(&source.root, "the directory is gone, and its notes with it"));
        }
        Ok(source)
    }

    /// The note file at `path` under the root of a source.
    ///
    /// # Errors
    /// A path that leaves the source or enters a hidden directory, is not Markdown, follows a symbolic link, or belongs
    /// to another collection.
    pub(crate) fn note_place<'a>(&self, source: &'a Source, path: &str) -> Result<NoteFile<'a>, Error> {
        let path = confined(path)?;
        let whole = source.root.join(&path);
        if whole.starts_with(&self.index.location().directory) {
            return Err(refused(&path, "outside of the directory of the index"));
        }
        if Collections::new(source, self.index.config())?.of_file(&path) != Some(FileCollection::Notes) {
            let wanted = "a file of the collection notes; name it in index.notes to make it one, or index its directory with \
                          --collection notes";
            return Err(refused(&path, wanted));
        }
        follows_no_link(&source.root, &path)?;
        Ok(NoteFile { source, path, whole })
    }
}

/// Normalizes a path under a root to the form in the index.
fn confined(written: &str) -> Result<String, Error> {
    let outside = "a path under the root, such as memory/ideas.md: not absolute, and without ..";
    let mut parts: Vec<&str> = Vec::new();
    for part in Path::new(written).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str().unwrap_or_default()),
            _ => return Err(refused(written, outside)),
        }
    }
    let odd = |part: &&str| {
        part.contains(['\\', ':']) || part.chars().any(char::is_control) || (cfg!(windows) && is_device(part))
    };
    if parts.is_empty() || parts.iter().any(odd) {
        return Err(refused(written, outside));
    }
    if parts.iter().any(|part| part.starts_with('.')) {
        return Err(refused(written, "no hidden file, and in no hidden directory"));
    }
    let path = parts.join("/");
    let markdown = Language::detect(&path, "").is_some_and(|language| language.name == "markdown");
    if !markdown || written.ends_with('/') {
        return Err(refused(written, "a Markdown file, such as memory/ideas.md"));
    }
    Ok(path)
}

/// True if Windows opens a device for this name, whatever the directory and extension, or drops the end of the name.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_uppercase();
    let numbered =
        |kind: &str| stem.strip_prefix(kind).is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']));
    ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str())
        || numbered("COM")
        || numbered("LPT")
        || part.ends_with(['.', ' '])
}

/// Rejects symbolic links: a link could lead out of the source, and its target is not indexed.
fn follows_no_link(root: &Path, path: &str) -> Result<(), Error> {
    let mut whole = root.to_owned();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        whole.push(part);
        let metadata = match fs::symlink_metadata(&whole) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::path(&whole, format!("cannot be read: {error}"))),
        };
        if metadata.is_symlink() {
            return Err(Error::path(&whole, "a symbolic link; notes are written to files in the tree itself"));
        }
        if metadata.is_dir() != parts.peek().is_some() {
            let what = if metadata.is_dir() { "a directory; name a file in it" } else { "not a directory" };
            return Err(Error::path(&whole, what));
        }
    }
    Ok(())
}

fn refused(path: &str, allowed: &str) -> Error {
    Error::argument("file", format!("{path:?}"), allowed)
}

// The sections of a note: its headings, and where an entry can be added under each.

/// A heading and the lines up to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Depth of the heading, 1 for the outermost; 0 for the text before the first heading.
    pub level: usize,
    /// The heading's text.
    pub title: String,
    /// Its lines from 0, including the heading. The text before the first heading excludes front matter.
    pub lines: Range<usize>,
}

/// The sections of a Markdown text in order. The first one precedes all headings and can be empty.
pub(crate) fn sections(text: &str) -> Vec<Section> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(offset, _)| offset + 1)).collect();
    let row = |offset: usize| starts.partition_point(|start| *start <= offset).saturating_sub(1);
    let mut sections = vec![Section { level: 0, title: String::new(), lines: 0..0 }];
    let (mut depth, mut heading) = (0_usize, None);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                match tag {
                    Tag::Heading { level, .. } if depth == 0 => {
                        heading = Some((level, row(range.start), String::new()))
                    }
                    // The closing line belongs to the block.
                    Tag::MetadataBlock(_) if range.start == 0 => sections[0].lines = after(text, row(range.end)),
                    _ => {}
                }
                depth += 1;
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                if let (TagEnd::Heading(_), Some((level, first, title))) = (tag, heading.take_if(|_| depth == 0)) {
                    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
                    sections.push(Section { level: number(level), title, lines: first..first });
                }
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some((_, _, title)) = &mut heading {
                    title.push_str(&words);
                }
            }
            _ => {}
        }
    }
    let count = text.lines().count();
    for at in 0..sections.len() {
        let end = sections.get(at + 1).map_or(count, |next| next.lines.start);
        sections[at].lines.end = end.max(sections[at].lines.start);
    }
    sections
}

/// The empty range after a line.
fn after(text: &str, row: usize) -> Range<usize> {
    let next = (row + 1).min(text.lines().count());
    next..next
}

fn number(level: HeadingLevel) -> usize {
    level as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_under_the_root_and_in_sight() {
        for (written, path) in [("MEMORY.md", "MEMORY.md"), ("./memory//ideas.md", "memory/ideas.md")] {
            assert_eq!(confined(written).expect(written), path);
        }
        for case in [
            "../x.md => under the root", "memory/../../x.md => under the root", "/etc/x.md => under the root",
            " => under the root", ". => under the root", "a\\..\\b.md => under the root", "c:x.md => under the root",
            "a\nb.md => under the root", ".git/x.md => hidden", "memory/.x.md => hidden", "memory => Markdown",
            "memory/x.md/ => Markdown", "src/main.rs => Markdown",
        ] {
            let (written, said) = case.split_once(" => ").expect("two parts");
            let error = confined(written).expect_err(written).to_string();
            assert!(error.contains(said), "{written}: {error}");
        }

        for name in ["nul", "NUL.md", "con.ideas.md", "aux .md", "com1.md", "Lpt9", "ideas.md.", "ideas "] {
            assert!(is_device(name), "{name}");
        }
        for name in ["null.md", "console.md", "com0.md", "com10.md", "ideas.md", ".md"] {
            assert!(!is_device(name), "{name}");
        }
    }

    fn told(text: &str) -> Vec<(usize, String, Range<usize>)> {
        sections(text).into_iter().map(|section| (section.level, section.title, section.lines)).collect()
    }

    #[test]
    fn headings_divide_a_note_and_without_them_it_is_one_section() {
        let note = "---\ntopic: x\n---\nlead\n# Day\n- a\n  # listed\n```\n## code\n```\n\nTopic `b`\n---\n- c\n";
        assert_eq!(told(note), [(0, String::new(), 3..4), (1, "Day".into(), 4..11), (2, "Topic b".into(), 11..14)]);
        assert_eq!([told(""), told("a\n\nb")], [[(0, String::new(), 0..0)], [(0, String::new(), 0..3)]]);
        assert_eq!(told("# A"), [(0, String::new(), 0..0), (1, "A".into(), 0..1)]);
        assert_eq!(told("---\na: b\n---\n"), [(0, String::new(), 3..3)]);
    }
}
