//! Assigns each file to its collection: `code`, or the kind of its prose.
//!
//! The rules, the strongest first: the collection of the whole source, `index.notes` and the directory of notes, `index.wiki`, a
//! source called `*.wiki` like a checkout of a wiki, and `docs` for the rest.

use crate::Error;
use crate::config::{Config, FileCollection, Words};
use crate::handle::Source;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::str::FromStr;
use tamis_text::{Category, Language};

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
        let prose = Language::of(path, "").is_some_and(|language| language.category == Category::Prose);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Origins;
    use std::path::Path;

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
}
