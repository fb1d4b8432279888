//! `[[collection]]`: directories that an index holds besides, or instead of, the tree around it.
//!
//! Only a project's configuration names them, with paths relative to the project's root. The file came with the project and could
//! make us read any of the user's files, so directories outside that root need the user's trust.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use ignore::gitignore::GitignoreBuilder;

use super::error::{ConfigError, no_such_key};
use super::words::{Words, words};

/// A directory that a `[[collection]]` names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectionDirectory {
    /// The directory: absolute, and without symbolic links where it exists.
    pub root: PathBuf,
    /// The namespace of its documents; `None`: the name of the directory.
    pub namespace: Option<String>,
    /// Its owner. Namespaces of one owner may share their contents.
    pub owner: Option<String>,
    /// True if its owner's other namespaces may search it.
    pub shared: bool,
    /// Globs, as in `.gitignore`. A file must match one of them; empty: every file.
    pub include: Vec<String>,
    /// Globs of files to leave out, as in `.gitignore`.
    pub ignore: Vec<String>,
    /// The collection of its prose; `None`: as `index.notes` and `index.wiki` decide.
    pub collection: Option<FileCollection>,
}

words! {
    /// The collection that the prose of a directory belongs to. Code and data stay in the collection `code`.
    #[derive(PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FileCollection {
        /// Documentation.
        Docs = "docs",
        /// Pages of a wiki.
        Wiki = "wiki",
        /// Notes.
        Notes = "notes",
    }
}

impl FileCollection {
    /// The name of the collection.
    pub fn as_str(self) -> &'static str {
        self.word()
    }
}

/// An entry as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Collection {
    /// Its position in the file, from 1.
    position: usize,
    path: String,
    /// Everything but the root, which the path gives.
    settings: CollectionDirectory,
}

const KEYS: [&str; 7] = ["path", "namespace", "owner", "shared", "include", "ignore", "collection"];

/// Longest name of a namespace or an owner, in characters.
const LONGEST_NAME: usize = 200;

/// Reads and validates the entries of a file.
///
/// # Errors
/// The first invalid entry, with the allowed values.
pub(crate) fn read_collections(value: &toml::Value, file: &Path) -> Result<Vec<Collection>, ConfigError> {
    let tables = value.as_array().and_then(|items| items.iter().map(toml::Value::as_table).collect::<Option<Vec<_>>>());
    let Some(tables) = tables else {
        return Err(wrong(file, "collection", value.to_string(), "tables, each [[collection]] with a `path`"));
    };
    let mut collections: Vec<Collection> = Vec::new();
    let mut names = HashSet::new();
    for (position, table) in (1..).zip(tables) {
        let collection = entry(position, table, file)?;
        if let Some(name) = &collection.settings.namespace
            && !names.insert(name.clone())
        {
            let name = format!("{name:?}");
            let allowed = "another name than that of an earlier [[collection]]";
            return Err(wrong(file, &format!("collection[{position}].namespace"), name, allowed));
        }
        collections.push(collection);
    }
    Ok(collections)
}

fn entry(position: usize, table: &toml::Table, file: &Path) -> Result<Collection, ConfigError> {
    let at = |key: &str| format!("collection[{position}].{key}");
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let (source_name, key) = (file.display().to_string(), format!("collection[{position}]"));
        return Err(ConfigError::Malformed { source_name, key, reason: no_such_key(unknown, &KEYS.join(", ")) });
    }
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong(file, &at(key), other.to_string(), "a text")),
    };
    let name = |key: &str| {
        let name = text(key)?;
        match &name {
            Some(name) if !is_name(name) => {
                let allowed = "a name of 1 to 200 characters, none of them `:`, `/`, `\\` or a control character";
                Err(wrong(file, &at(key), format!("{name:?}"), allowed))
            }
            _ => Ok(name),
        }
    };
    let globs = |key: &str| match table.get(key) {
        None => Ok(Vec::new()),
        Some(value) => {
            let items = value.as_array().and_then(|items| items.iter().map(toml::Value::as_str).collect());
            let globs: Vec<&str> = items.ok_or_else(|| wrong(file, &at(key), value.to_string(), "a list of globs"))?;
            let mut builder = GitignoreBuilder::new("/");
            for glob in &globs {
                if let Err(error) = builder.add_line(None, glob) {
                    return Err(wrong(
                        file,
                        &at(key),
                        format!("{glob:?}"),
                        &format!("a glob as in .gitignore ({error})"),
                    ));
                }
            }
            Ok(globs.into_iter().map(str::to_owned).collect())
        }
    };
    let path = text("path")?.filter(|path| !path.is_empty());
    let path = path.ok_or_else(|| wrong(file, &at("path"), "\"\"".into(), "a directory, or a glob of directories"))?;
    let shared = match table.get("shared") {
        None => false,
        Some(toml::Value::Boolean(shared)) => *shared,
        Some(other) => return Err(wrong(file, &at("shared"), other.to_string(), "true or false")),
    };
    let collection = match text("collection")? {
        None => None,
        Some(name) => Some(FileCollection::from_word(&name).ok_or_else(|| {
            let allowed = format!("one of {}", FileCollection::NAMES.join(", "));
            wrong(file, &at("collection"), format!("{name:?}"), &allowed)
        })?),
    };
    let settings = CollectionDirectory {
        root: PathBuf::new(),
        namespace: name("namespace")?,
        owner: name("owner")?,
        shared,
        include: globs("include")?,
        ignore: globs("ignore")?,
        collection,
    };
    if is_glob(&path) && settings.namespace.is_some() {
        let allowed = "left out where `path` is a glob: each directory becomes a namespace of its own name";
        return Err(wrong(file, &at("namespace"), format!("{:?}", settings.namespace.unwrap_or_default()), allowed));
    }
    if shared && settings.owner.is_none() {
        return Err(wrong(file, &at("shared"), "true".into(), "false, or with an `owner` whose namespaces share"));
    }
    for part in parts(Path::new(&path)).filter(|part| is_glob(part)) {
        part_glob(&part).map_err(|reason| wrong(file, &at("path"), format!("{path:?}"), &reason))?;
    }
    Ok(Collection { position, path, settings })
}

/// Returns `true` if a text can name a namespace or an owner. A colon would end the name in `NAMESPACE:PATH`.
pub(crate) fn is_name(name: &str) -> bool {
    let odd = |character: char| character.is_control() || matches!(character, ':' | '/' | '\\');
    !name.trim().is_empty() && name.chars().count() <= LONGEST_NAME && !name.chars().any(odd)
}

fn wrong(file: &Path, key: &str, value: String, allowed: &str) -> ConfigError {
    ConfigError::in_file(file, key, value, allowed)
}

/// Returns the directories that the entries of `file` name. If several entries name one directory, the first counts. `root` is
/// the project's root; nothing outside it is read unless `trusted` allows it.
///
/// # Errors
/// A directory outside the root that the user does not trust.
pub(crate) fn directories(
    collections: &[Collection],
    root: &Path,
    file: &Path,
    trusted: impl Fn() -> bool,
) -> Result<Vec<CollectionDirectory>, ConfigError> {
    let root = dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let mut directories: Vec<CollectionDirectory> = Vec::new();
    let mut seen = HashSet::new();
    let allow = |directory: &Path, collection: &Collection| {
        if directory.starts_with(&root) || trusted() {
            return Ok(());
        }
        let (path, key) = (file.to_owned(), format!("collection[{}].path", collection.position));
        Err(ConfigError::UntrustedDirectory { path, key, directory: directory.to_owned() })
    };
    for collection in collections {
        let written = normal(&root.join(&collection.path));
        allow(&written, collection)?;
        let found = if is_glob(&collection.path) { expand(&root, &collection.path) } else { vec![written] };
        for directory in found {
            // A link in the project can lead out of it.
            let directory = dunce::canonicalize(&directory).unwrap_or(directory);
            allow(&directory, collection)?;
            if seen.insert(directory.clone()) {
                directories.push(CollectionDirectory { root: directory, ..collection.settings.clone() });
            }
        }
    }
    Ok(directories)
}

/// Returns a path without `.` and `..`. Links are not followed.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn parts(path: &Path) -> impl Iterator<Item = String> {
    path.components().map(|part| part.as_os_str().to_string_lossy().into_owned())
}

fn part_glob(part: &str) -> Result<globset::GlobMatcher, String> {
    if part.contains("**") {
        return Err("a glob without `**`: name each level, such as `../*/*`".into());
    }
    match GlobBuilder::new(part).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(format!("a directory, or a glob of directories ({})", error.kind())),
    }
}

/// Returns the directories that match a glob, by path. A wildcard does not match a hidden one, as in a shell.
fn expand(root: &Path, glob: &str) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    for part in parts(Path::new(glob)) {
        if !is_glob(&part) {
            found = found.into_iter().map(|directory| normal(&directory.join(&part))).collect();
            continue;
        }
        // The glob was checked when the file was read.
        let Ok(matcher) = part_glob(&part) else { return Vec::new() };
        let hidden = part.starts_with('.');
        let entries = found.iter().filter_map(|directory| std::fs::read_dir(directory).ok()).flatten().flatten();
        let matches = |name: &str| (hidden || !name.starts_with('.')) && matcher.is_match(name);
        let matching = entries.filter(|entry| matches(&entry.file_name().to_string_lossy())).map(|entry| entry.path());
        found = matching.collect();
    }
    found.retain(|directory| directory.is_dir());
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn parse(text: &str) -> Result<Vec<Collection>, ConfigError> {
        let table: toml::Table = text.parse().expect("TOML");
        read_collections(&table["collection"], Path::new("config.toml"))
    }

    fn names(directories: &[CollectionDirectory]) -> Vec<String> {
        let name = |entry: &CollectionDirectory| entry.root.file_name().map(|name| name.to_string_lossy().into());
        directories.iter().filter_map(name).collect()
    }

    #[test]
    fn every_mistake_is_named_with_its_entry_and_what_is_allowed() {
        for (text, said) in [
            (
                "[[collection]]\npth = 'a'",
                "collection[1]: it has no key pth (did you mean path?); its keys are path, namespace, ",
            ),
            ("[[collection]]\nowner = 'a'", "collection[1].path = \"\": must be a directory"),
            ("[collection]\npath = 'a'", "collection = "),
            ("[[collection]]\npath = 1", "collection[1].path = 1: must be a text"),
            ("[[collection]]\npath = 'a'\nshared = 'yes'", "collection[1].shared = \"yes\": must be true or false"),
            ("[[collection]]\npath = 'a'\nshared = true", "`owner`"),
            ("[[collection]]\npath = 'a'\ninclude = ['a{b']", "collection[1].include = \"a{b\""),
            ("[[collection]]\npath = 'a'\nignore = 'b'", "collection[1].ignore = \"b\": must be a list of globs"),
            (
                "[[collection]]\npath = 'a'\ncollection = 'note'",
                "collection[1].collection = \"note\": must be one of docs,",
            ),
            ("[[collection]]\npath = 'a'\nnamespace = 'x:y'", "collection[1].namespace = \"x:y\": must be a name"),
            ("[[collection]]\npath = 'a-*'\nnamespace = 'x'", "left out where `path` is a glob"),
            ("[[collection]]\npath = '../**'", "without `**`"),
            ("[[collection]]\npath = 'a{b'", "collection[1].path = \"a{b\""),
            (
                "[[collection]]\npath = 'a'\nnamespace = 'x'\n[[collection]]\npath = 'b'\nnamespace = 'x'",
                "collection[2].namespace = \"x\": must be another name than that of an earlier [[collection]]",
            ),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(said), "{text}\n{error}");
        }
    }

    #[test]
    fn globs_name_directories_and_the_first_entry_counts() {
        let base = tempfile::tempdir().expect("a temporary directory");
        for directory in ["service-b", "service-a", "library", ".service-hidden", "project/.tamis"] {
            fs::create_dir_all(base.path().join(directory)).expect("made");
        }
        fs::write(base.path().join("service-file"), "").expect("written");
        let root = base.path().join("project");
        let file = root.join(".tamis/config.toml");
        let entries = parse(
            "[[collection]]\npath = '../service-b'\nowner = 'team'\n[[collection]]\npath = '../service-*'\n\
             [[collection]]\npath = './../library/'\n[[collection]]\npath = '../gone'",
        )
        .expect("valid");
        let found = directories(&entries, &root, &file, || true).expect("allowed");
        assert_eq!(names(&found), ["service-b", "service-a", "library", "gone"]);
        assert_eq!(found[0].owner.as_deref(), Some("team"));
    }

    #[test]
    fn directories_outside_the_project_need_trust_and_links_do_not_hide_them() {
        let base = tempfile::tempdir().expect("a temporary directory");
        let root = base.path().join("project");
        fs::create_dir_all(root.join("inside")).expect("made");
        fs::create_dir_all(base.path().join("secret")).expect("made");
        #[cfg(unix)]
        std::os::unix::fs::symlink(base.path().join("secret"), root.join("link")).expect("linked");
        let file = root.join(".tamis/config.toml");
        let found = |path: &str, trusted: bool| {
            let entries = parse(&format!("[[collection]]\npath = '{path}'")).expect("valid");
            directories(&entries, &root, &file, || trusted)
        };
        assert_eq!(names(&found("inside", false).expect("inside")), ["inside"]);
        assert_eq!(names(&found("../project/inside", false).expect("inside")), ["inside"]);
        let outside = ["../secret", "..", "/", "../*", "inside/../../secret", "/etc"];
        let links: &[&str] = if cfg!(unix) { &["link", "li*"] } else { &[] };
        for path in outside.iter().chain(links) {
            let error = found(path, false).expect_err(path).to_string();
            assert!(error.contains("tamis trust"), "{path}: {error}");
            assert!(found(path, true).is_ok(), "{path}");
        }
    }
}
