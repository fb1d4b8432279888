//! Converts between paths of the index, which start at its root, and paths from the user's working directory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use tamis::Index;

/// The user's working directory in relation to an index.
#[derive(Debug)]
pub struct WorkingDirectory {
    position: Position,
    /// The namespace of paths that name none.
    own_namespace: Option<String>,
}

/// The directories of an index, and the working directory among them.
#[derive(Debug)]
enum Position {
    /// One tree with this root. The working directory is at this path under it; `None`: at the root itself, or outside.
    InTree(PathBuf, Option<PathBuf>),
    /// Several repositories, by namespace. The working directory is anywhere.
    AmongSources(PathBuf, BTreeMap<String, PathBuf>),
}

impl WorkingDirectory {
    /// The process's working directory in relation to an index.
    pub fn from_index(index: &Index) -> WorkingDirectory {
        let root = index.root();
        let position = match current() {
            Some(current) if !index.is_of_one_tree() => {
                let roots = index.sources().into_iter().map(|source| (source.namespace.clone(), source.root.clone()));
                Position::AmongSources(current, roots.collect())
            }
            current => Position::InTree(root.to_owned(), current.and_then(|current| below(root, &current))),
        };
        WorkingDirectory { position, own_namespace: index.own_namespace().map(str::to_owned) }
    }

    /// The root of a tree as the working directory.
    #[cfg(test)]
    pub fn at_root(root: &Path) -> WorkingDirectory {
        WorkingDirectory { position: Position::InTree(root.to_owned(), None), own_namespace: None }
    }

    /// A path of the index in a form that can be opened from here: in one tree relative to the working directory; among
    /// several repositories relative where it lies below, else absolute. Imported documents keep the name that `tamis get`
    /// takes, as do files of a namespace without a directory here.
    pub fn display_path(&self, namespace: &str, path: &str) -> String {
        let is_own = || self.own_namespace.as_deref().is_none_or(|own| own == namespace);
        let named = || format!("{namespace}:{path}");
        if tamis::import::is_imported(path) {
            return if self.own_namespace.is_some() && is_own() { path.to_owned() } else { named() };
        }
        match &self.position {
            Position::InTree(_, Some(current)) if is_own() => relative_to(current, path),
            Position::InTree(_, None) if is_own() => path.to_owned(),
            Position::InTree(..) => named(),
            Position::AmongSources(current, roots) => match roots.get(namespace) {
                Some(root) => {
                    let whole = root.join(path);
                    whole.strip_prefix(current).map_or_else(|_| whole.to_string_lossy().into_owned(), slashed)
                }
                None => named(),
            },
        }
    }

    /// The whole path of a file whose path is as [`display_path`](Self::display_path) gives it; `None` if it is not here.
    pub fn file(&self, namespace: &str, shown: &str) -> Option<PathBuf> {
        let base = match &self.position {
            Position::InTree(root, below) => {
                let is_own = self.own_namespace.as_deref().is_none_or(|own| own == namespace);
                is_own.then(|| below.as_ref().map_or_else(|| root.clone(), |below| root.join(below)))?
            }
            Position::AmongSources(current, roots) => roots.contains_key(namespace).then(|| current.clone())?,
        };
        Some(plain(&base.join(shown))).filter(|file| file.is_absolute() && file.is_file())
    }

    /// The index's form of the user's text (a path, or a path and `:LINES`). It counts as a path from here where a file
    /// or directory of that name exists here.
    pub fn index_path(&self, typed: &str) -> String {
        // The index has slashes on every system.
        let typed = if cfg!(windows) { Cow::Owned(typed.replace('\\', "/")) } else { Cow::Borrowed(typed) };
        let typed = &*typed;
        match &self.position {
            Position::InTree(root, Some(current)) => from_root(root, current, typed),
            Position::InTree(_, None) => typed.to_owned(),
            Position::AmongSources(current, roots) => {
                let whole = plain(&current.join(typed));
                let is_held = names_something(current, typed) && roots.values().any(|root| whole.starts_with(root));
                // A file here is meant, even where the index does not hold it and has another one of that path.
                let is_meant = is_held || current.join(without_lines(typed)).is_file();
                if is_meant { whole.to_string_lossy().into_owned() } else { typed.to_owned() }
            }
        }
    }

    /// The index's form of a glob. One that names something here counts from here. A path that begins with `!` excludes only if
    /// it was typed so.
    pub fn index_glob(&self, typed: &str) -> String {
        let path = self.index_path(typed);
        let path = path.strip_prefix("./").filter(|rest| !rest.is_empty()).map_or_else(|| path.clone(), str::to_owned);
        if path.starts_with('!') && !typed.starts_with('!') { format!("/{path}") } else { path }
    }

    /// A file or directory, from here, as a path of the index, among several repositories its whole path; empty for all of the index. `None`
    /// outside it.
    pub fn inside(&self, typed: &Path) -> Option<String> {
        let whole = dunce::canonicalize(typed).ok()?;
        match &self.position {
            Position::InTree(root, _) => whole.strip_prefix(root).ok().map(slashed),
            Position::AmongSources(_, roots) if roots.values().all(|root| root.starts_with(&whole)) => {
                Some(String::new())
            }
            Position::AmongSources(_, roots) => {
                roots.values().any(|root| whole.starts_with(root)).then(|| slashed(&whole))
            }
        }
    }
}

/// The working directory without symbolic links.
fn current() -> Option<PathBuf> {
    std::env::current_dir().and_then(dunce::canonicalize).ok()
}

/// A directory as a path under a root; `None` at the root itself and outside it.
fn below(root: &Path, directory: &Path) -> Option<PathBuf> {
    let under = directory.strip_prefix(root).ok()?;
    (under.components().next().is_some()).then(|| under.to_owned())
}

/// A path of the index relative to `current`; both start at the root.
fn relative_to(current: &Path, path: &str) -> String {
    let (mut from, mut to) = (current.components().peekable(), Path::new(path).components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| "..".to_owned());
    up.chain(to.map(|part| part.as_os_str().to_string_lossy().into_owned())).collect::<Vec<_>>().join("/")
}

/// The user's text as a path from the root, if it names something in `current`, which is a path under the root.
fn from_root(root: &Path, current: &Path, typed: &str) -> String {
    if !names_something(&root.join(current), typed) {
        return typed.to_owned();
    }
    slashed(&plain(&current.join(typed)))
}

/// A path without `:LINES`.
fn without_lines(typed: &str) -> &str {
    typed.rsplit_once(':').map_or(typed, |(path, _)| path)
}

/// True if a path, or a path and `:LINES`, names something in a directory.
fn names_something(directory: &Path, typed: &str) -> bool {
    let exists = |text: &str| !text.is_empty() && directory.join(text).exists();
    !Path::new(typed).is_absolute() && (exists(typed) || exists(without_lines(typed)))
}

/// A relative path with slashes between its parts, as in the index.
fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_from_a_directory_and_back() {
        let current = Path::new("crates/cli");
        assert_eq!(relative_to(current, "crates/cli/src/main.rs"), "src/main.rs");
        assert_eq!(relative_to(current, "crates/cut/src/lib.rs"), "../cut/src/lib.rs");
        assert_eq!(relative_to(current, "README.md"), "../../README.md");
    }

    #[test]
    fn a_path_that_exists_here_counts_from_here() {
        let root = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir_all(root.path().join("a/b")).expect("made");
        std::fs::write(root.path().join("a/b/note.md"), "").expect("written");
        std::fs::write(root.path().join("top.md"), "").expect("written");
        let from = |wanted| from_root(root.path(), Path::new("a"), wanted);
        assert_eq!([from("b/note.md:3-4"), from("../top.md"), from("./b")], ["a/b/note.md:3-4", "top.md", "a/b"]);
        assert_eq!(from("top.md"), "top.md", "from the root");
        assert_eq!(from("8d49f0aa12bc"), "8d49f0aa12bc", "an identifier");
    }

    #[test]
    fn among_several_repositories_a_path_can_be_opened_from_here() {
        let base = tempfile::tempdir().expect("a temporary directory");
        let base = dunce::canonicalize(base.path()).expect("a path");
        std::fs::create_dir_all(base.join("api/src")).expect("made");
        std::fs::write(base.join("api/src/lib.rs"), "").expect("written");
        let roots: BTreeMap<String, PathBuf> = ["api", "web"].map(|name| (name.to_owned(), base.join(name))).into();
        let whole = |path: &str| base.join(path).to_string_lossy().into_owned();

        let of = |current: PathBuf| WorkingDirectory {
            position: Position::AmongSources(current, roots.clone()),
            own_namespace: Some("api".into()),
        };
        let outside = of(base.clone());
        assert_eq!(outside.display_path("api", "src/lib.rs"), "api/src/lib.rs");
        assert_eq!(outside.index_path("api/src/lib.rs:2"), whole("api/src/lib.rs:2"));
        assert_eq!(outside.index_path("web:src/lib.rs"), "web:src/lib.rs", "nothing here has that name");
        std::fs::write(base.join("lib.rs"), "").expect("written");
        assert_eq!(outside.index_path("lib.rs"), whole("lib.rs"), "outside every repository");
        assert_eq!([outside.index_glob("api/src"), outside.index_glob("*.rs")], [whole("api/src"), "*.rs".into()]);

        let inside = of(base.join("api/src"));
        assert_eq!(inside.display_path("api", "src/lib.rs"), "lib.rs");
        assert_eq!(inside.display_path("web", "app.ts"), whole("web/app.ts"));
        assert_eq!(inside.index_path("../src/lib.rs:1-2"), whole("api/src/lib.rs:1-2"));
        assert_eq!(inside.display_path("gone", "app.ts"), "gone:app.ts", "`tamis get` takes it");
        assert_eq!(inside.display_path("api", "issue:12"), "issue:12", "imported, so not a path");
        assert_eq!(inside.display_path("engine", "issue:12"), "engine:issue:12");
    }
}
