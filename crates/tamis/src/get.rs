//! Looks up a user's target: a passage, a document, some lines, or the reason why a file is not in the index.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamis_store::{DocumentState, StoredPassage};
use tamis_text::{Issue, composed};

use crate::Error;
use crate::collections::SKIPPED;
#[cfg(feature = "clap")]
use crate::flag_values::whole;
use crate::handle::{Index, MOST_ALIKE, Source, readable};
use crate::import::{commits, is_imported};
use crate::index::{DEADLY, list_file};
use crate::search::Asker;

// Gets the full text of a result by its identifier, or by path and lines.

/// Some lines of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Excerpt {
    /// The repository or project it belongs to.
    pub namespace: String,
    /// Path under its root.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, included.
    pub end_line: u32,
    /// Identifier of the passage, where one was asked for.
    pub id: Option<String>,
    /// Qualified name of the symbol, where a passage was asked for that has one.
    pub symbol: Option<String>,
    /// The lines as they are indexed.
    pub text: String,
}

/// A text to read.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct GetRequest {
    /// Id of a result, PATH, PATH:LINE, PATH:FIRST-LAST, PATH#L10-L12, a file: address, or #233 for an issue; NAMESPACE: may precede it.
    #[schemars(length(min = 1, max = 4000))]
    #[cfg_attr(feature = "clap", arg(value_name = "PATH[:LINES]|ID|#ISSUE"))]
    pub id: String,
    /// Lines before and after it, 0 to 1000.
    #[schemars(range(min = 0, max = 1000))]
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 0, value_parser = |text: &str| whole::<0, 1000>(text).map(|lines| lines as u32)))]
    pub context: u32,
    /// Who asks.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub asker: Asker,
}

impl Index {
    /// Returns the text that `wanted` names: the identifier of a passage (or its beginning, if it is unique), or `PATH`, `PATH:LINE` or
    /// `PATH:FIRST-LAST`, or the number of an issue as `#233` or `233`. Text comes from the index alone, so no other file can be read.
    ///
    /// In an index of several repositories, a path is looked up in the own namespace first, then in the only one that has it.
    /// `NAMESPACE:PATH` names the namespace.
    ///
    /// # Errors
    /// No indexed text has that name, the beginning of an identifier or a path is ambiguous, or the file lacks the lines.
    pub fn get(&self, wanted: &str) -> Result<Excerpt, Error> {
        self.get_allowed(wanted, None)
    }

    /// [`Index::get`] for a caller who may read only these namespaces (`None`: all). The content of others counts as missing.
    ///
    /// # Errors
    /// As [`Index::get`].
    pub fn get_allowed(&self, wanted: &str, allowed: Option<&[String]>) -> Result<Excerpt, Error> {
        let lookup = Lookup { index: self, allowed };
        match lookup.meant_by(wanted)? {
            Named::Passage(passage) => Ok(Excerpt {
                namespace: passage.namespace,
                path: passage.path,
                start_line: passage.start_line,
                end_line: passage.end_line,
                id: Some(passage.id),
                symbol: passage.symbol,
                text: passage.text,
            }),
            Named::Lines(place, lines) => lookup.lines(place, lines),
        }
    }

    /// Returns a whole document by its namespace and its path as the index has them. Neither is interpreted otherwise, so only
    /// indexed documents can be named. The caller may read only these namespaces (`None`: all).
    ///
    /// # Errors
    /// The document does not exist or may not be read. The error is the same for both.
    pub fn document_allowed(&self, namespace: &str, path: &str, allowed: Option<&[String]>) -> Result<Excerpt, Error> {
        let missing = || Error::NotFound { wanted: path.to_owned(), nearest: None };
        let state = if readable(allowed, namespace) { self.store.document(namespace, path)? } else { None };
        state.filter(|state| state.passages > 0).ok_or_else(missing)?;
        Lookup { index: self, allowed }
            .lines(DocumentPlace { namespace: namespace.to_owned(), path: path.to_owned() }, None)
    }

    /// Returns the text that a request asks for.
    ///
    /// # Errors
    /// As [`Index::get`]; or more than 1000 lines around it are asked for.
    pub fn read(&self, request: &GetRequest) -> Result<Excerpt, Error> {
        let GetRequest { id, context, asker } = request;
        let (context, allowed) = (*context, asker.allowed_namespaces.as_deref());
        if context > MOST_CONTEXT {
            return Err(Error::argument("context", context.to_string(), format!("0 to {MOST_CONTEXT}")));
        }
        let excerpt = self.get_allowed(id, allowed)?;
        if context == 0 {
            return Ok(excerpt);
        }
        let Excerpt { namespace, path, start_line, end_line, id, symbol, .. } = excerpt;
        let lines = (start_line.saturating_sub(context).max(1), end_line.saturating_add(context));
        let around = Lookup { index: self, allowed }.lines(DocumentPlace { namespace, path }, Some(lines))?;
        Ok(Excerpt { id, symbol, ..around })
    }

    /// Returns the reason why an existing file is not in the index, for a caller who may read only these namespaces (`None`:
    /// all). `None`: the file does not exist, or it is indexed. `path` lies under the root of `namespace`, or of any
    /// namespace.
    ///
    /// # Errors
    /// The store or an ignore file cannot be read.
    pub fn left_out(
        &self,
        namespace: Option<&str>,
        path: &str,
        allowed: Option<&[String]>,
    ) -> Result<Option<String>, Error> {
        let sources = self.sources().into_iter().filter(|source| readable(allowed, &source.namespace));
        let meant = sources.filter(|source| namespace.is_none_or(|namespace| source.namespace == namespace));
        for source in meant {
            if let Some(reason) = left_out_of(self, source, path)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }
}

/// Looks up what a caller names in the namespaces that it may read (`None`: all).
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub index: &'a Index,
    pub allowed: Option<&'a [String]>,
}

impl Lookup<'_> {
    /// Finds what `wanted` names in the readable namespaces, in the forms that [`Index::get`] takes. The document exists; its
    /// lines need not.
    pub(crate) fn meant_by(&self, wanted: &str) -> Result<Named, Error> {
        if wanted.trim().is_empty() {
            return Err(Error::argument("id", format!("{wanted:?}"), "a path, a passage or the number of an issue"));
        }
        if let Some(place) = self.issue_by_number(wanted)? {
            return Ok(Named::Lines(place, None));
        }
        if wanted.len() >= 4 && wanted.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let mut found = self.index.store.find(&wanted.to_ascii_lowercase(), MOST_ALIKE)?;
            found.retain(|passage| readable(self.allowed, &passage.namespace));
            found.truncate(2);
            match (found.pop(), found.pop()) {
                (None, _) => {}
                (Some(passage), None) => return Ok(Named::Passage(Box::new(passage))),
                _ => {
                    return Err(Error::argument(
                        "id",
                        format!("{wanted:?}"),
                        "longer: the identifiers of several passages begin with it",
                    ));
                }
            }
        }
        let namespaces = self.readable_names()?;
        let mut forms: Vec<(Option<&str>, &str)> = in_namespace(&namespaces, wanted)
            .map(|(name, path)| (Some(name), path))
            .into_iter()
            .chain([(None, wanted)])
            .collect();
        // In an index of one tree, people rarely name the namespace, so a path is tried as a path first.
        if self.index.is_of_one_tree() {
            forms.reverse();
        }
        for &(namespace, wanted) in &forms {
            // A path may contain a colon itself. If a document has the whole path, it is meant.
            if let Some(place) = self.place(namespace, wanted)? {
                return Ok(Named::Lines(with_text(self.index, place)?, None));
            }
            // What another program printed can have more after the line.
            let (path, lines) = match split_lines(wanted) {
                Err(_) if forms.len() > 1 || pasted(wanted).is_some() => continue,
                split => split?,
            };
            if let Some(place) = self.place(namespace, path)? {
                return Ok(Named::Lines(with_text(self.index, place)?, lines));
            }
        }
        if let Some(place) = pasted(wanted) {
            return self.meant_by(&place);
        }
        let meant = forms.iter().find(|(namespace, _)| namespace.is_some()).or(forms.first());
        let &(namespace, wanted) = meant.unwrap_or(&(None, wanted));
        let path = split_lines(wanted)?.0;
        // The number of an issue is not a line number.
        let whole = is_imported(wanted) && !is_imported(path);
        Err(self.not_found(namespace, if whole { wanted } else { path })?)
    }

    /// Finds the issue that `#233`, `233` or `NAMESPACE:#233` names; `None` if there is none of that number.
    fn issue_by_number(&self, wanted: &str) -> Result<Option<DocumentPlace>, Error> {
        let (namespace, number) = match wanted.rsplit_once(':') {
            Some((namespace, number)) if number.starts_with('#') => (Some(namespace), number),
            _ => (None, wanted),
        };
        let digits = number.strip_prefix('#').unwrap_or(number);
        // Identifiers of passages have more digits than numbers of issues.
        let is_number = (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse().ok().filter(|_| is_number) {
            Some(number) => self.place(namespace, &Issue::path(number)),
            None => Ok(None),
        }
    }

    /// Returns the names of the readable namespaces.
    pub(crate) fn readable_names(&self) -> Result<Vec<String>, Error> {
        let mut names = self.index.namespace_names()?;
        names.retain(|name| readable(self.allowed, name));
        Ok(names)
    }

    /// Brings paths and globs into the form in which the index has them, and returns the namespace that they name, as `NAMESPACE:PATH`
    /// or by its root. If they name several, each path counts in all. `named` are the namespaces that the caller asks for; none: all.
    pub(crate) fn indexed_paths(
        &self,
        given: &[String],
        named: &[String],
    ) -> Result<(Vec<String>, Option<String>), Error> {
        let mut known = self.readable_names()?;
        known.retain(|name| named.is_empty() || named.contains(name));
        let from_root = |path: &str| format!("/{}", if path.is_empty() { "*" } else { path });
        let mut namespaces = BTreeSet::new();
        let mut indexed = |given: &String| {
            let (not, path) = given.strip_prefix('!').map_or(("", given.as_str()), |path| ("!", path));
            let path = match in_namespace(&known, path.trim_start_matches('/')) {
                Some((namespace, path)) => {
                    namespaces.insert(namespace.to_owned());
                    from_root(path)
                }
                None => match (self.under_root(path, named), path.strip_prefix("./")) {
                    (Some((namespace, path)), _) => {
                        namespaces.insert(namespace.to_owned());
                        from_root(&path)
                    }
                    (None, Some(path)) => from_root(path),
                    (None, None) if ["", ".", "/"].contains(&path) => from_root(""),
                    _ => path.to_owned(),
                },
            };
            format!("{not}{path}")
        };
        let paths = given.iter().map(&mut indexed).collect();
        Ok((paths, namespaces.pop_first().filter(|_| namespaces.is_empty())))
    }

    /// The namespace whose root an absolute path is or lies under, and the path from there. A namespace that the caller may not read
    /// counts as missing.
    fn under_root(&self, path: &str, named: &[String]) -> Option<(&str, String)> {
        let sources = self.index.sources().into_iter().filter(|source| readable(self.allowed, &source.namespace));
        let under = |source: &&Source| Some(stored(Path::new(path).strip_prefix(&source.root).ok()?));
        let meant = sources.filter(|source| named.is_empty() || named.contains(&source.namespace));
        let held = meant.filter_map(|source| Some((source.namespace.as_str(), under(&source)?)));
        held.min_by_key(|(_, path)| path.len())
    }

    /// Finds the document that a path means.
    fn place(&self, namespace: Option<&str>, path: &str) -> Result<Option<DocumentPlace>, Error> {
        // People write absolute paths, or paths with `./`; the index has neither.
        if let Some((namespace, path)) = self.under_root(path, &[]) {
            let path = path_in(self.index, namespace, path)?;
            return Ok(path.map(|path| DocumentPlace { namespace: namespace.to_owned(), path }));
        }
        // The name of an imported document is taken literally, whatever it would mean as a path.
        let path = if is_imported(path) { path.to_owned() } else { stored(Path::new(path)) };
        let commit = commits::path_start(&path);
        let names = self.readable_names()?;
        // In an index of one tree that is the tree's namespace.
        let first = namespace.or(self.index.own_namespace());
        let named = names.iter().filter(|own| Some(own.as_str()) == first).collect();
        let others = names.iter().filter(|_| namespace.is_none()).collect();
        let rounds: [Vec<&String>; 2] = [named, others];
        for round in rounds {
            let mut found = Vec::new();
            for namespace in round {
                let mut paths: Vec<String> = path_in(self.index, namespace, path.clone())?.into_iter().collect();
                if let Some(start) = commit.as_ref().filter(|_| paths.is_empty()) {
                    paths = commits::commits_from(self.index, namespace, start)?;
                }
                if paths.len() > 1 {
                    let allowed = format!("longer: these commits begin with it: {}", paths.join(", "));
                    return Err(Error::argument("id", format!("{path:?}"), allowed));
                }
                found.extend(paths.into_iter().map(|path| DocumentPlace { namespace: namespace.clone(), path }));
            }
            match found.as_slice() {
                [] => {}
                [_] => return Ok(found.pop()),
                several => {
                    let forms = several.iter().map(|one| format!("{}:{}", one.namespace, one.path)).collect();
                    return Err(Error::Ambiguous { wanted: path, forms });
                }
            }
        }
        Ok(None)
    }

    /// Returns the indexed lines of a document, joined from its passages.
    fn lines(&self, place: DocumentPlace, lines: Option<(u32, u32)>) -> Result<Excerpt, Error> {
        let DocumentPlace { namespace, path } = place;
        let by_line = match self.index.imports().rendered(&namespace, &path)? {
            // An imported document is more than its passages.
            Some(text) => (1..).zip(text.lines().map(str::to_owned)).collect(),
            None => by_line(&self.index.store.document_passages(&namespace, &path)?),
        };
        if by_line.is_empty() {
            return Err(self.not_found(Some(&namespace), &path)?);
        }
        let last = by_line.last().map_or(1, |(line, _)| *line);
        let (first, end) = lines.unwrap_or((1, last));
        if first > last {
            return Err(Error::argument(
                "lines",
                format!("{first}-{end}"),
                format!("1 to {last}, the last line of {path}"),
            ));
        }
        let end = end.min(last);
        let mut text = String::new();
        let mut at = first;
        for (line, content) in by_line.into_iter().filter(|(line, _)| (first..=end).contains(line)) {
            // Blank lines between passages are in none of them.
            while at < line {
                text.push('\n');
                at += 1;
            }
            text.push_str(&content);
            text.push('\n');
            at = line + 1;
        }
        Ok(Excerpt { namespace, path, start_line: first, end_line: end, id: None, symbol: None, text })
    }

    pub(crate) fn not_found(&self, namespace: Option<&str>, path: &str) -> Result<Error, Error> {
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        if let Some(reason) = self.index.left_out(namespace, path, self.allowed)? {
            return Ok(Error::LeftOut { wanted: path.to_owned(), reason });
        }
        let wanted = path.to_lowercase();
        let name = name_of(&wanted);
        let own = self.index.own_namespace();
        let mut nearest: Option<(f64, String)> = None;
        for known in self.readable_names()? {
            if namespace.is_some_and(|namespace| namespace != known) {
                continue;
            }
            for document in self.index.store.documents(&known)?.into_iter().filter(|one| one.passages > 0) {
                if document.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')) {
                    let allowed = "a file; files lists this directory";
                    return Ok(Error::argument("id", format!("{path:?}"), allowed));
                }
                let known_path = document.path.to_lowercase();
                let known_name = name_of(&known_path);
                let similarity =
                    strsim::jaro_winkler(&wanted, &known_path) + if known_name == name { 1.0 } else { 0.0 };
                // Two files of one directory have much of their paths in common.
                let is_slip = strsim::jaro_winkler(stem(name), stem(known_name)) > 0.8;
                if similarity > 0.8 && is_slip && nearest.as_ref().is_none_or(|(best, _)| similarity >= *best) {
                    let is_own = own == Some(known.as_str());
                    let form = if is_own { document.path } else { format!("{known}:{}", document.path) };
                    nearest = Some((similarity, form));
                }
            }
        }
        Ok(Error::NotFound { wanted: path.to_owned(), nearest: nearest.map(|(_, form)| form) })
    }
}

/// Refuses a document that was left out for its content: the index remembers it without text.
fn with_text(index: &Index, place: DocumentPlace) -> Result<DocumentPlace, Error> {
    let document = index.store.document(&place.namespace, &place.path)?;
    match document.and_then(|document| reason_of(&document)) {
        Some(reason) => Err(Error::LeftOut { wanted: place.path, reason }),
        None => Ok(place),
    }
}

/// Returns the path of a document as the index has it; `None` if there is none. The name of a file can have decomposed letters,
/// and people write composed ones, or the other way round.
pub(crate) fn path_in(index: &Index, namespace: &str, path: String) -> Result<Option<String>, Error> {
    if index.store.document(namespace, &path)?.is_some() {
        return Ok(Some(path));
    }
    if path.is_ascii() {
        return Ok(None);
    }
    let wanted = composed(&path);
    let documents = index.store.documents(namespace)?;
    Ok(documents.into_iter().map(|document| document.path).find(|known| composed(known) == wanted))
}

/// Most lines of context on each side.
const MOST_CONTEXT: u32 = 1000;

/// A document, by its namespace and path.
pub(crate) struct DocumentPlace {
    pub namespace: String,
    pub path: String,
}

/// Splits `NAMESPACE:PATH`, if there is such a namespace.
pub(crate) fn in_namespace<'a>(namespaces: &'a [String], wanted: &'a str) -> Option<(&'a str, &'a str)> {
    let form = |namespace: &'a String| {
        let path = wanted.strip_prefix(namespace.as_str())?.strip_prefix(':')?;
        Some((namespace.as_str(), path))
    };
    namespaces.iter().filter_map(form).min_by_key(|(_, path)| path.len())
}

/// Returns a relative path in the form that the index stores.
fn stored(path: &Path) -> String {
    let parts = path.components().filter(|part| !matches!(part, Component::CurDir));
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The target of a name that the user wrote.
pub(crate) enum Named {
    /// A passage, by its identifier.
    Passage(Box<StoredPassage>),
    /// A document, with the first and last line if they are named.
    Lines(DocumentPlace, Option<(u32, u32)>),
}

/// Returns the lines of a document, joined from its passages: each with its number, ascending. Blank lines in no passage are
/// missing. Lines shared by neighbouring passages of a note appear once.
pub(crate) fn by_line(passages: &[StoredPassage]) -> Vec<(u32, String)> {
    /// A line's text, and `true` if it came from a passage of that line alone.
    struct Line(String, bool);
    let mut by_line: BTreeMap<u32, Line> = BTreeMap::new();
    for passage in passages {
        let alone = passage.start_line == passage.end_line;
        for (line, text) in (passage.start_line..).zip(passage.text.lines()) {
            match by_line.entry(line) {
                Entry::Vacant(entry) => drop(entry.insert(Line(text.to_owned(), alone))),
                // A line too long for one passage is split over several, each of that line alone.
                Entry::Occupied(mut entry) if alone && entry.get().1 => entry.get_mut().0.push_str(text),
                Entry::Occupied(_) => {}
            }
        }
    }
    by_line.into_iter().map(|(line, Line(text, _))| (line, text)).collect()
}

/// The text of a document, with its lines where they are in the file.
pub(crate) fn whole_text(passages: &[StoredPassage]) -> String {
    let mut text = String::new();
    let mut at = 1;
    for (line, content) in by_line(passages) {
        // Blank lines between passages are in none of them.
        (at..line).for_each(|_| text.push('\n'));
        text.push_str(&content);
        text.push('\n');
        at = line + 1;
    }
    text
}

/// The last part of a path, or of the name of an imported document.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', ':']).next().unwrap_or(path)
}

/// A name without its extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// A path, with the first and last line if they are named.
type PathAndLines<'a> = (&'a str, Option<(u32, u32)>);

/// Splits `PATH`, `PATH:LINE` or `PATH:FIRST-LAST`.
fn split_lines(wanted: &str) -> Result<PathAndLines<'_>, Error> {
    let Some((path, lines)) = wanted.rsplit_once(':') else { return Ok((wanted, None)) };
    if lines.is_empty() || !lines.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok((wanted, None));
    }
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let range = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
    match range {
        Some((first, last)) if first >= 1 && first <= last => Ok((path, Some((first, last)))),
        // The digits of a commit's hash are no lines.
        _ if is_imported(wanted) => Ok((wanted, None)),
        _ => Err(Error::argument("lines", lines, "LINE or FIRST-LAST, from 1")),
    }
}

/// A place as other programs write it, in the form that [`split_lines`] reads; `None` for any other text: `a.py:2:5` with or without the
/// line behind it, `a.py#L10-L12`, `file:///tree/a.py`, `tamis://tree/a.py`.
fn pasted(wanted: &str) -> Option<String> {
    let text = wanted.trim();
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned);
    let address = text.strip_prefix("file://").map(|rest| rest.strip_prefix("localhost").unwrap_or(rest));
    if let Some(address) = address {
        let (path, fragment) = address.split_at(address.find('#').unwrap_or(address.len()));
        // `/C:/a` is a path with a drive.
        let path = path.strip_prefix('/').filter(|path| path.as_bytes().get(1) == Some(&b':')).unwrap_or(path);
        return Some(format!("{}{fragment}", decoded(path)?));
    }
    if let Some((namespace, path)) = text.strip_prefix("tamis://").and_then(|address| address.split_once('/')) {
        return Some(format!("{}:{}", decoded(namespace)?, decoded(path)?));
    }
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if let Some((path, fragment)) = text.rsplit_once("#L").filter(|(path, _)| !path.is_empty()) {
        // `#L10C5-L12C8` has columns too.
        let lines = fragment.split('-').map(|part| part.trim_start_matches('L'));
        let lines: Vec<&str> = lines.map(|part| &part[..digits(part)]).filter(|line| !line.is_empty()).collect();
        return (!lines.is_empty() && lines.len() < 3).then(|| format!("{path}:{}", lines.join("-")));
    }
    let place = |(at, _): (usize, &str)| {
        let rest = &text[at + 1..];
        let line = digits(rest);
        let is_line = at > 0 && line > 0 && rest[line..].starts_with(':');
        is_line.then(|| text[..at + 1 + line].to_owned())
    };
    let found = text.match_indices(':').find_map(place);
    found.or_else(|| (text != wanted).then(|| text.to_owned()))
}

// Explains why a file of the tree is not in the index. Without the reason, a file left out on purpose looks absent.

fn left_out_of(index: &Index, source: &Source, path: &str) -> Result<Option<String>, Error> {
    let Some(path) = under(source, path) else { return Ok(None) };
    let known = path_in(index, &source.namespace, path.clone())?;
    if let Some(document) = known.map(|path| index.store.document(&source.namespace, &path)).transpose()?.flatten() {
        return Ok(reason_of(&document));
    }
    match file(&source.root, &path) {
        PathEntry::Nothing => return Ok(None),
        PathEntry::Link => return Ok(Some(reason(&path, "symlink"))),
        PathEntry::File => {}
    }
    let config = &index.config.index;
    let found = list_file(index, source, &path)?;
    Ok(Some(match found.skipped.keys().next() {
        Some(skip) => reason(&path, skip),
        None if !found.files.is_empty() => "it came after the last run, and the next one adds it".to_owned(),
        None if !config.hidden && path.split('/').any(|part| part.starts_with('.')) => {
            "it is hidden, and index.hidden is false".to_owned()
        }
        None => "an ignore file or index.ignore leaves it out".to_owned(),
    }))
}

/// Returns the reason why a document has no text; `None` if it has some.
pub(crate) fn reason_of(document: &DocumentState) -> Option<String> {
    (document.collection == SKIPPED).then(|| reason(&document.path, &document.description.role))
}

/// Returns the reason to skip the file at a path, as a sentence.
pub(crate) fn reason(path: &str, skip: &str) -> String {
    let why = match skip {
        "symlink" => return "it is a symbolic link, and none is followed".to_owned(),
        "work_tree" => return "it is in a further work tree of the same repository".to_owned(),
        "name_not_utf8" => return "its name is not UTF-8".to_owned(),
        // An SVG is text that holds a picture.
        "binary" if path.to_lowercase().ends_with(".svg") => return "it is a picture".to_owned(),
        "binary" => return "it is binary".to_owned(),
        "empty" => return "it is empty".to_owned(),
        "encrypted" => return "it is encrypted; save a copy without a password".to_owned(),
        "no_text" => return "it has no text; a scan needs text recognition first".to_owned(),
        "lfs_pointer" => {
            return "Git LFS has not fetched it, and a pointer stands in its place; run `git lfs pull`".to_owned();
        }
        "damaged" => return "it is damaged, or not what its name says".to_owned(),
        "too_much_work" => return "finding its text took too long".to_owned(),
        DEADLY => {
            return "a run ended while it read it; the next one reads it when it has changed, or `tamis index --full` now".to_owned();
        }
        "too_large" if tamis_text::is_document(path) => {
            return "it is larger than index.max_document_bytes, or would unpack to too much".to_owned();
        }
        "too_large" => return "it is larger than index.max_file_bytes allows".to_owned(),
        "lock" => "it is a lock file, which a package manager writes",
        "minified" => "it is minified: most of its text is in very long lines",
        "generated" => "it is generated: its name or its first lines say so",
        "secret" => "it may hold a key, a password or a token",
        "data" => "it is a table or a dump too large for people to read",
        other => return format!("it is left out as {other}"),
    };
    format!("{why} (index.skip names \"{skip}\")")
}

/// Returns a user's path in the form that the index stores; `None` if it leads out of the tree.
fn under(source: &Source, path: &str) -> Option<String> {
    let path = Path::new(path);
    let path = if path.is_absolute() { path.strip_prefix(&source.root).ok()? } else { path };
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_string_lossy()),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The kind of entry at a path.
enum PathEntry {
    Nothing,
    File,
    /// A symbolic link, at the path or on the way to it. Its target is not read.
    Link,
}

fn file(root: &Path, path: &str) -> PathEntry {
    let mut whole = PathBuf::from(root);
    let mut is_file = false;
    for part in path.split('/') {
        whole.push(part);
        match fs::symlink_metadata(&whole) {
            Ok(metadata) if metadata.is_symlink() => return PathEntry::Link,
            Ok(metadata) => is_file = metadata.is_file(),
            Err(_) => return PathEntry::Nothing,
        }
    }
    if is_file { PathEntry::File } else { PathEntry::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::test_support::passage;

    #[test]
    fn places_are_read_as_other_programs_write_them() {
        for case in [
            "a.py:2:5 => a.py:2", "a.py:2:5:    return 1 => a.py:2", "a.py:2: => a.py:2", "a.py#L10-L12 => a.py:10-12",
            "a.py#L10 => a.py:10", "a.py#L10C3-L12C8 => a.py:10-12", "file:///t/a%20b.py#L3 => /t/a b.py#L3",
            "file://localhost/t/a.py => /t/a.py", "tamis://app/%C3%BC.md => app:ü.md", " a.py:2  => a.py:2",
        ] {
            let (wanted, expected) = case.split_once(" => ").expect("two parts");
            assert_eq!(pasted(wanted).as_deref(), Some(expected), "{wanted}");
        }
        for wanted in ["a.py", "a.py:2", "a.py:2-5", "issue:12", "#L3", "wiki:Home", "a.py#Largest", "tamis://", "::"] {
            assert_eq!(pasted(wanted), None, "{wanted}");
        }
    }

    #[test]
    fn trap_lines_that_neighbouring_passages_share_come_once() {
        let lines = |start_line: u32, text: &str| StoredPassage {
            start_line,
            end_line: start_line + text.matches('\n').count() as u32,
            ..passage(u64::from(start_line), "", text)
        };
        let whole = |passages: &[StoredPassage]| {
            by_line(passages).into_iter().map(|(line, text)| format!("{line}{text}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(whole(&[lines(1, "a\nb\nc"), lines(2, "b\nc\nd"), lines(6, "f")]), "1a 2b 3c 4d 6f");
        assert_eq!(whole(&[lines(1, "a\nb"), lines(2, "b"), lines(3, "c")]), "1a 2b 3c");
        assert_eq!(whole(&[lines(2, "long "), lines(2, "line"), lines(3, "c")]), "2long line 3c");

        assert_eq!(split_lines("src/a.rs").expect("a path"), ("src/a.rs", None));
        assert_eq!(split_lines("src/a.rs:12").expect("a line"), ("src/a.rs", Some((12, 12))));
        assert_eq!(split_lines("src/a.rs:3-9").expect("lines"), ("src/a.rs", Some((3, 9))));
        assert_eq!(split_lines("odd:name").expect("a path"), ("odd:name", None));
        for wrong in ["a:0", "a:9-3", "a:5-", "a:1-x", "a:99999999999"] {
            assert!(split_lines(wrong).is_err(), "{wrong}");
        }
    }
}
