//! Lists the symbols of a file, or of the files of a directory.

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_store::{DocumentState, StoredPassage};
use tamis_text::{Language, outline};

use super::{Tree, TreeScope};
use crate::Error;
#[cfg(feature = "clap")]
use crate::flag_values::whole;
use crate::get::{Lookup, Named, by_line, path_in, whole_text};
use crate::handle::readable;
use crate::search::Asker;

/// A request for an outline. [`OutlineRequest::new`] asks for all symbols of a file, or for the outermost of a directory's files.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct OutlineRequest {
    /// File, directory or glob.
    #[schemars(length(min = 1, max = 4000))]
    #[cfg_attr(feature = "clap", arg(value_name = "PATH", default_value = "."))]
    pub path: String,
    /// Also list symbols compiled only for tests.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long))]
    pub tests: bool,
    /// List at most this many symbols of a file (default: all; 20 of each of several).
    #[schemars(range(min = 1, max = 10_000))]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = whole::<1, 10_000>))]
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

impl OutlineRequest {
    /// Creates a request for the outline of a path.
    pub fn new(path: impl Into<String>) -> Self {
        OutlineRequest { path: path.into(), ..OutlineRequest::default() }
    }
}

/// The symbols of some files.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OutlineAnswer {
    /// Number of symbols in all files.
    pub symbols: u64,
    /// The files, by namespace and path.
    pub files: Vec<FileOutline>,
    /// Remarks on what is not listed.
    pub notes: Vec<String>,
}

/// The symbols of a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileOutline {
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path under the root, with forward slashes.
    pub path: String,
    /// Canonical name of the language.
    pub language: Option<String>,
    /// Number of its last line that has text.
    pub lines: u32,
    /// Number of symbols, or of headings in a document.
    pub symbols: u64,
    /// Number of those that are not listed.
    pub unlisted: u64,
    /// The symbols, in the order of the file.
    pub entries: Vec<OutlineEntry>,
}

/// A symbol or heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutlineEntry {
    /// Number of listed symbols around it.
    pub depth: usize,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// `function`, `method`, `type`, `implementation`, `section`, …
    pub kind: String,
    /// Qualified name, or the path of headings.
    pub name: String,
    /// The definition up to its body, or the heading.
    pub signature: String,
}

/// Symbols listed of each of several files.
const OF_SEVERAL: usize = 20;

/// Most files of an outline.
const MOST_FILES: usize = 500;

impl Tree<'_> {
    /// Lists the symbols of a file with their lines and signatures, or those of the files of a directory. The outline is that of the
    /// indexed text, like that of [`Index::get`](crate::Index::get).
    ///
    /// # Errors
    /// The path is missing or left out of the index, or the namespace does not exist.
    pub fn outline(&self, request: &OutlineRequest) -> Result<OutlineAnswer, Error> {
        let OutlineRequest { path, namespace, asker, .. } = request;
        let mut notes = Vec::new();
        let mut files = match self.single(request)? {
            Some(file) => vec![file],
            None => {
                let scope = TreeScope {
                    paths: vec![path.trim().to_owned()],
                    namespace: namespace.clone(),
                    asker: asker.clone(),
                    ..TreeScope::default()
                };
                self.listed(&scope)?.files
            }
        };
        let single = files.len() == 1;
        if files.len() > MOST_FILES {
            let left_out = files.len() - MOST_FILES;
            notes.push(format!("not listed: {left_out} more of the files; name a directory below"));
            files.truncate(MOST_FILES);
        }
        let read = |file: &DocumentState| -> Result<(FileOutline, u64), Error> {
            let passages = self.index.store.document_passages(&file.namespace, &file.path)?;
            let (entries, lines, tests) = entries(file, &passages, request.tests);
            Ok((listing(file, entries, lines, request.limit, single), tests))
        };
        let read: Vec<_> = files.par_iter().map(read).collect::<Result<_, Error>>()?;
        let tests: u64 = read.iter().map(|(_, tests)| tests).sum();
        if tests > 0 {
            notes.push(format!("{tests} symbols compiled for tests are not listed"));
        }
        let files: Vec<FileOutline> =
            read.into_iter().map(|(file, _)| file).filter(|file| single || file.symbols > 0).collect();
        if let [only] = files.as_slice()
            && only.symbols == 0
        {
            let language = only.language.as_deref().unwrap_or("plain text");
            notes.push(format!("{}: no symbols or headings ({language}, {} lines)", only.path, only.lines));
        }
        Ok(OutlineAnswer { symbols: files.iter().map(|file| file.symbols).sum(), files, notes })
    }

    /// The document that the path names, in any of the forms of [`Index::get`](crate::Index::get) without lines.
    fn single(&self, request: &OutlineRequest) -> Result<Option<DocumentState>, Error> {
        let allowed = request.asker.allowed_namespaces.as_deref();
        if let Some(namespace) = &request.namespace {
            let path = request.path.trim_start_matches('/');
            if !readable(allowed, namespace) {
                return Ok(None);
            }
            let path = path_in(self.index, namespace, path.to_owned())?;
            let document = path.map(|path| self.index.store.document(namespace, &path)).transpose()?;
            return Ok(document.flatten());
        }
        match (Lookup { index: self.index, allowed }).meant_by(&request.path) {
            // Lines stand for their file.
            Ok(Named::Lines(place, _)) => Ok(self.index.store.document(&place.namespace, &place.path)?),
            Ok(_) | Err(Error::NotFound { .. } | Error::Argument { .. }) => Ok(None),
            // A directory is no file that was left out.
            Err(Error::LeftOut { wanted, reason }) => {
                let scope = TreeScope {
                    paths: vec![format!("/{}", wanted.trim_matches('/'))],
                    asker: request.asker.clone(),
                    ..TreeScope::default()
                };
                match self.listed(&scope) {
                    Ok(listed) if !listed.files.is_empty() => Ok(None),
                    _ => Err(Error::LeftOut { wanted, reason }),
                }
            }
            Err(error) => Err(error),
        }
    }
}

/// The symbols or headings of a document, its last line, and the number of symbols left out as tests.
fn entries(file: &DocumentState, passages: &[StoredPassage], tests: bool) -> (Vec<OutlineEntry>, u32, u64) {
    let lines = by_line(passages);
    let last = lines.last().map_or(0, |(line, _)| *line);
    let text = whole_text(passages);
    let by_path = Language::detect(&file.path, &text).is_some();
    let language = file.description.language.as_deref().unwrap_or_default();
    let mut symbols = outline(if by_path { &file.path } else { language }, &text);
    if symbols.is_empty() {
        return (headings(passages), last, 0);
    }
    let all = symbols.len();
    // A file of tests has nothing else.
    if !tests && !symbols.iter().all(|symbol| symbol.is_test) {
        symbols.retain(|symbol| !symbol.is_test);
    }
    let left_out = (all - symbols.len()) as u64;
    let entry = |symbol: tamis_text::OutlineSymbol| OutlineEntry {
        depth: symbol.depth,
        start_line: symbol.line,
        end_line: symbol.end_line,
        kind: if symbol.is_implementation { "implementation".to_owned() } else { symbol.kind.as_str().to_owned() },
        name: symbol.name,
        signature: symbol.signature,
    };
    (symbols.into_iter().map(entry).collect(), last, left_out)
}

/// The headings of a document: a passage begins at each.
fn headings(passages: &[StoredPassage]) -> Vec<OutlineEntry> {
    let mut entries: Vec<OutlineEntry> = Vec::new();
    for passage in passages {
        let Some(heading) = passage.heading.as_deref().filter(|heading| !heading.is_empty()) else { continue };
        match entries.last_mut().filter(|last| last.name == heading) {
            Some(last) => last.end_line = last.end_line.max(passage.end_line),
            None => entries.push(OutlineEntry {
                depth: heading.matches(" > ").count(),
                start_line: passage.start_line,
                end_line: passage.end_line,
                kind: passage.kind.clone(),
                name: heading.to_owned(),
                signature: heading.rsplit(" > ").next().unwrap_or(heading).to_owned(),
            }),
        }
    }
    entries
}

/// The outline of a file with as many entries as may be listed: the outermost first.
fn listing(
    file: &DocumentState,
    entries: Vec<OutlineEntry>,
    lines: u32,
    limit: Option<usize>,
    single: bool,
) -> FileOutline {
    let symbols = entries.len();
    let most = limit.unwrap_or(if single { usize::MAX } else { OF_SEVERAL });
    let mut entries = entries;
    if entries.len() > most {
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|&at| (entries[at].depth, entries[at].kind == "implementation", at));
        order.truncate(most);
        order.sort_unstable();
        entries = order.into_iter().map(|at| entries[at].clone()).collect();
    }
    FileOutline {
        namespace: file.namespace.clone(),
        path: file.path.clone(),
        language: file.description.language.clone(),
        lines,
        symbols: symbols as u64,
        unlisted: (symbols - entries.len()) as u64,
        entries,
    }
}
