//! The files of the indexed tree: exact text in them ([`Tree::grep`]), their names ([`Tree::files`]) and their symbols
//! ([`Tree::outline`]).
//!
//! All three look at the files that the index knows, so that an ignored, generated or secret file is found by none of them.
//! This file makes that list. `grep` reads the files as they are on the disk; `files` and `outline` answer from the index.

mod grep;
mod outline;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_store::{DocumentState, PathGlobs};
use tamis_text::{Language, Limits, Relation, composed, most_bytes};

use crate::collections::SKIPPED;
use crate::file::untrusted::Directory;
#[cfg(feature = "clap")]
use crate::flag_values::{language, whole};
use crate::get::Lookup;
use crate::handle::Index;
use crate::index::{is_file, limits};
use crate::search::{Asker, Context, SearchRequest, moment, scope_of};
use crate::{Error, words};

pub use grep::{ContextLines, GrepAnswer, GrepFile, GrepLine, GrepRequest, MOST_LISTED};
pub use outline::{FileOutline, OutlineAnswer, OutlineEntry, OutlineRequest};

/// The files of the indexed tree. From [`Index::tree`].
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    pub(super) index: &'a Index,
}

// Finds files by their names.

/// A search for files by name. The default lists all of them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct FilesRequest {
    /// Glob, part of a path, or letters of it in order; !GLOB leaves paths out (default: all).
    #[schemars(length(max = 1000))]
    #[cfg_attr(feature = "clap", arg(value_name = "PATTERN"))]
    pub pattern: Option<String>,
    /// Only these languages or file extensions.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "lang", value_name = "LANG", value_delimiter = ',', value_parser = language))]
    pub languages: Vec<String>,
    /// List at most this many files; all are counted (default: all).
    #[schemars(range(min = 1, max = 1_000_000))]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = whole::<1, 1_000_000>))]
    pub limit: Option<usize>,
    /// Repository (default: this one, or all).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
}

/// The files of a name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FilesAnswer {
    /// Number of files found.
    pub total: u64,
    /// Size of all of them, in bytes.
    pub bytes: u64,
    /// The way the pattern was understood: `all`, `glob`, `part` of a path, or `fuzzy`: its letters in order.
    pub matched: String,
    /// The files: the best match first where the pattern is a part or fuzzy, otherwise by namespace and path.
    pub results: Vec<FileEntry>,
    /// Remarks on files that the index leaves out.
    pub notes: Vec<String>,
}

/// A file of the index.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileEntry {
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path under the root, with forward slashes.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Canonical name of the language.
    pub language: Option<String>,
    /// `main`, `test`, `example`, `vendored`, …
    pub role: String,
    /// The last change that is known (RFC 3339): the last commit, or the file's own time.
    pub changed_at: Option<String>,
}

impl From<DocumentState> for FileEntry {
    fn from(document: DocumentState) -> Self {
        let changed = document.dated_ns.or(Some(document.file.modified_ns).filter(|ns| *ns > 0));
        FileEntry {
            namespace: document.namespace,
            path: document.path,
            bytes: document.file.size,
            language: document.description.language,
            role: document.description.role,
            changed_at: changed.map(|ns| moment(ns).to_string()),
        }
    }
}

impl Tree<'_> {
    /// Finds files by a glob or a part of their path.
    ///
    /// # Errors
    /// A glob is invalid, a named path is missing, or the namespace does not exist.
    pub fn files(&self, request: &FilesRequest) -> Result<FilesAnswer, Error> {
        let FilesRequest { pattern, languages, mut namespace, asker, .. } = request.clone();
        let mut pattern = pattern.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if let Some(pattern) = &mut pattern {
            let lookup = Lookup { index: self.index, allowed: asker.allowed_namespaces.as_deref() };
            let (mut paths, named) = lookup.indexed_paths(std::slice::from_ref(pattern), namespace.as_slice())?;
            namespace = named.or(namespace);
            *pattern = paths.remove(0);
        }
        let listed = self.listed(&TreeScope { paths: Vec::new(), languages, namespace, asker })?;
        let remark = listed.remark();
        let (matched, mut files) = match pattern.as_deref() {
            None => ("all", listed.files),
            Some(pattern) if is_glob(pattern) => {
                let globs = PathGlobs::new(&[pattern.to_owned()])?;
                ("glob", listed.files.into_iter().filter(|file| globs.matches(&file.path)).collect())
            }
            Some(part) => by_part(part, listed.files),
        };
        let bytes = files.iter().map(|file| file.file.size).sum();
        let total = files.len() as u64;
        files.truncate(request.limit.unwrap_or(usize::MAX));
        Ok(FilesAnswer {
            total,
            bytes,
            matched: matched.to_owned(),
            results: files.into_iter().map(FileEntry::from).collect(),
            notes: remark.into_iter().collect(),
        })
    }
}

/// True if a pattern has characters of a glob, or names a directory by a slash at its end.
fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '{']) || pattern.starts_with(['!', '/']) || pattern.ends_with('/')
}

/// The files whose paths contain a part, or else its letters in order, best first.
fn by_part(part: &str, files: Vec<DocumentState>) -> (&'static str, Vec<DocumentState>) {
    let lower = part.to_lowercase();
    let (containing, others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.path.to_lowercase().contains(&lower));
    let (matched, files) = if containing.is_empty() { ("fuzzy", others) } else { ("part", containing) };
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let pattern = Pattern::parse(part, CaseMatching::Ignore, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut score = |path: &str| pattern.score(Utf32Str::new(path, &mut buffer), &mut matcher);
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let mut scored: Vec<_> = files
        .into_iter()
        .filter_map(|file| {
            let score = if matched == "part" { Some(score(&file.path).unwrap_or_default()) } else { score(&file.path) };
            let in_name = name(&file.path).contains(&lower);
            score.map(|score| ((Reverse(in_name), Reverse(score), file.path.len(), file.path.clone()), file))
        })
        .collect();
    scored.sort_by(|a, b| a.0.cmp(&b.0));
    (matched, scored.into_iter().map(|(_, file)| file).collect())
}

// The files that the index knows, restricted to some paths, languages and namespaces.

/// The files to look at. The default is all files of one's own namespace, or of all where none is one's own.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TreeScope {
    // Without a slash a name counts at any depth; a leading `/` ties it to the root.
    /// Only these files, directories or globs; !GLOB leaves paths out.
    #[schemars(length(max = 50), inner(length(max = 4000)), extend("x-whole" = true))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(short = 'g', long = "glob", value_name = "GLOB"))]
    pub paths: Vec<String>,
    /// Only these languages or file extensions.
    #[schemars(length(max = 50), inner(length(max = 50)))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long = "lang", value_name = "LANG", value_delimiter = ',', value_parser = language))]
    pub languages: Vec<String>,
    /// Repository (default: this one, or all).
    #[schemars(length(min = 1, max = 200))]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
}

/// The files in a scope, by namespace and path.
pub(crate) struct Listed {
    pub files: Vec<DocumentState>,
    /// Number of files that the index left out for their content, by reason.
    pub left_out: BTreeMap<String, u64>,
}

impl Listed {
    /// A remark on the files that the index leaves out; `None` if there are none.
    pub fn remark(&self) -> Option<String> {
        let kinds = self.left_out.iter().filter(|(kind, _)| !["binary", "empty"].contains(&kind.as_str()));
        let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{count} {}", kind.replace('_', " "))).collect();
        (!kinds.is_empty()).then(|| format!("left out of the index: {}", kinds.join(", ")))
    }
}

impl Tree<'_> {
    /// Lists the files in a scope.
    ///
    /// # Errors
    /// A glob is invalid, a named file is missing or left out, or the namespace does not exist.
    pub(crate) fn listed(&self, scope: &TreeScope) -> Result<Listed, Error> {
        let given = &scope.paths;
        let lookup = Lookup { index: self.index, allowed: scope.asker.allowed_namespaces.as_deref() };
        let (paths, named) = lookup.indexed_paths(given, scope.namespace.as_slice())?;
        let scope = &TreeScope { paths, namespace: named.or_else(|| scope.namespace.clone()), ..scope.clone() };
        let mut request = SearchRequest::default().namespace(scope.namespace.clone()).asker(scope.asker.clone());
        request.filters.no_sharing = true;
        let names = scope_of(&Context::unobserved(self.index), &request)?.names;
        let (paths, languages) = (Paths::new(&scope.paths)?, words::canonical(&scope.languages)?);
        let mut listed = Listed { files: Vec::new(), left_out: BTreeMap::new() };
        let mut named = vec![false; scope.paths.len()];
        for namespace in &names {
            for document in self.index.store.documents(namespace)? {
                if !is_file(&document) || !paths.matches(&document.path) {
                    continue;
                }
                for (path, seen) in scope.paths.iter().zip(&mut named) {
                    *seen = *seen || is_at(path, &document.path);
                }
                if document.collection == SKIPPED {
                    *listed.left_out.entry(document.description.role).or_default() += 1;
                } else if is_of(&languages, document.description.language.as_deref()) {
                    listed.files.push(document);
                }
            }
        }
        let missing = scope.paths.iter().zip(given).zip(named).find(|((path, _), seen)| !seen && is_plain(path));
        match missing {
            Some(((path, given), _)) if listed.files.is_empty() => {
                let mut error = lookup.not_found(scope.namespace.as_deref(), path.trim_matches('/'))?;
                if let Error::NotFound { wanted, .. } | Error::LeftOut { wanted, .. } = &mut error {
                    given.clone_into(wanted);
                }
                Err(error)
            }
            _ => Ok(listed),
        }
    }
}

/// Paths and globs, compiled.
struct Paths {
    literal: Vec<String>,
    globs: PathGlobs,
    any: bool,
}

impl Paths {
    fn new(given: &[String]) -> Result<Paths, Error> {
        let excluded = given.iter().filter(|path| path.starts_with('!'));
        let included: Vec<&String> = given.iter().filter(|path| !path.starts_with('!')).collect();
        // A path that has the characters of a glob in its name is found as it is.
        let literal = included.iter().map(|path| composed(path.trim_matches('/')).into_owned()).collect();
        let globs = included.iter().map(|path| (*path).clone()).chain(excluded.cloned()).collect::<Vec<_>>();
        match PathGlobs::new(&globs) {
            Ok(globs) => Ok(Paths { literal, globs, any: included.is_empty() }),
            Err(error) => Err(error.into()),
        }
    }

    fn matches(&self, path: &str) -> bool {
        let literal = || self.literal.iter().any(|literal| *literal == composed(path));
        self.globs.matches(path) || (!self.any && literal())
    }
}

/// True if a path has no characters of a glob and excludes nothing.
fn is_plain(path: &str) -> bool {
    !path.starts_with('!') && !path.contains(['*', '?', '[', '{'])
}

/// True if a document lies at or below a plain path.
fn is_at(given: &str, path: &str) -> bool {
    let (given, path) = (&*composed(given), &*composed(path));
    let plain = given.trim_matches('/');
    let below = |path: &str| path.strip_prefix(plain).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let anywhere = !given.starts_with('/') && !plain.contains('/');
    below(path) || (anywhere && path.split('/').any(|part| part == plain))
}

fn is_of(languages: &[String], language: Option<&str>) -> bool {
    let is = |wanted: &String| language.is_some_and(|language| Language::relation(wanted, language) == Relation::Same);
    languages.is_empty() || languages.iter().any(is)
}

/// The roots of the namespaces, held open.
pub(crate) struct Roots {
    directories: BTreeMap<String, io::Result<Directory>>,
    limits: Limits,
}

impl Roots {
    pub fn new(tree: &Tree<'_>) -> Roots {
        let sources = tree.index.sources().into_iter().filter(|source| source.root.is_dir());
        let directories = sources.map(|source| (source.namespace.clone(), Directory::open(&source.root))).collect();
        Roots { directories, limits: limits(&tree.index.config.index) }
    }

    /// Returns `true` if the files of a namespace are here, and not only in the index.
    pub fn has(&self, namespace: &str) -> bool {
        self.directories.contains_key(namespace)
    }

    /// Reads a file of the tree, never through a link.
    ///
    /// # Errors
    /// The file is missing, no longer a regular file, too large, or unreadable.
    pub fn read(&self, document: &DocumentState) -> io::Result<Vec<u8>> {
        match self.directories.get(&document.namespace) {
            Some(Ok(directory)) => directory.read(Path::new(&document.path), most_bytes(&document.path, &self.limits)),
            Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_file_a_directory_or_a_glob() {
        let matches = |given: &[&str], path: &str| {
            let given: Vec<String> = given.iter().map(|&one| one.to_owned()).collect();
            Paths::new(&given).expect("globs").matches(path)
        };
        assert!(matches(&[], "a.rs") && matches(&["src"], "src/a/b.rs") && matches(&["src/"], "x/src/b.rs"));
        assert!(!matches(&["/src"], "x/src/b.rs") && matches(&["/src"], "src/b.rs"));
        assert!(matches(&["src/*.rs", "!*_test.rs"], "src/a.rs") && !matches(&["src", "!*_test.rs"], "src/a_test.rs"));
        assert!(matches(&["app/[id].tsx"], "app/[id].tsx"), "a name with the characters of a glob");
        assert!(Paths::new(&["a{b".to_owned()]).is_err());
        let decomposed = "U\u{308}ber[1].md";
        assert!(matches(&["Über[1].md"], decomposed) && matches(&[decomposed], "Über[1].md"));
        assert!(is_at("Über", "a/U\u{308}ber/b.md"));
        assert!(is_at("src", "a/src/b.rs") && is_at("/src", "src/b.rs") && !is_at("/src", "a/src/b.rs"));
    }
}
