//! Finds files by their names.

use super::Tree;
use super::listing::TreeScope;
use crate::Error;
#[cfg(feature = "clap")]
use crate::flags::{language, whole};
use crate::search::moment;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use tamis_store::{DocumentState, PathGlobs};

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
    /// The namespaces that the caller may read; nothing else is read. `None`: all.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub allowed_namespaces: Option<Vec<String>>,
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
        let changed = document.dated_ns.or(Some(document.modified_ns).filter(|ns| *ns > 0));
        FileEntry {
            namespace: document.namespace,
            path: document.path,
            bytes: document.size,
            language: document.language,
            role: document.role,
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
        let FilesRequest { languages, namespace, allowed_namespaces, .. } = request.clone();
        let listed = self.listed(&TreeScope { paths: Vec::new(), languages, namespace, allowed_namespaces })?;
        let remark = listed.remark();
        let (matched, mut files) = match request.pattern.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            None => ("all", listed.files),
            Some(pattern) if is_glob(pattern) => {
                let globs = PathGlobs::new(&[pattern.to_owned()])?;
                ("glob", listed.files.into_iter().filter(|file| globs.matches(&file.path)).collect())
            }
            Some(part) => by_part(part, listed.files),
        };
        let bytes = files.iter().map(|file| file.size).sum();
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
