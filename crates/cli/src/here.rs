//! Paths as they are written from where the user stands. The index has them from its root.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use tamis::Index;

/// Where the user stands, as seen from what is indexed.
pub struct Here {
    layout: IndexLayout,
    /// The namespace that is meant where none is named.
    own: Option<String>,
}

/// The working directory in relation to the indexed trees.
enum IndexLayout {
    /// Somewhere, where the index is of one tree: at this path under its root, or (`None`) at the root or outside.
    Tree(PathBuf, Option<PathBuf>),
    /// Here, where the index is of several repositories: these, by namespace.
    Sources(PathBuf, BTreeMap<String, PathBuf>),
}

impl Here {
    /// Where the user stands, as seen from an index.
    pub fn of(index: &Index) -> Here {
        let root = &index.location().root;
        let layout = match current() {
            Some(here) if !index.is_of_one_tree() => {
                let roots = index.sources().into_iter().map(|source| (source.namespace.clone(), source.root.clone()));
                IndexLayout::Sources(here, roots.collect())
            }
            here => IndexLayout::Tree(root.clone(), here.and_then(|here| below(root, &here))),
        };
        Here { layout, own: index.own_namespace().map(str::to_owned) }
    }

    /// A path of the index as it can be opened from here: in one tree from where the user stands, among several
    /// repositories from there where it lies under it, else from the top of the file system. What is no file is written as
    /// `tamis get` takes it.
    pub fn written(&self, namespace: &str, path: &str) -> String {
        if tamis::import::is_imported(path) {
            let is_own = self.own.as_deref() == Some(namespace);
            return if is_own { path.to_owned() } else { format!("{namespace}:{path}") };
        }
        match &self.layout {
            IndexLayout::Tree(_, Some(here)) => written_from(here, path),
            IndexLayout::Tree(_, None) => path.to_owned(),
            IndexLayout::Sources(here, roots) => match roots.get(namespace) {
                Some(root) => {
                    let whole = root.join(path);
                    whole.strip_prefix(here).map_or_else(|_| whole.to_string_lossy().into_owned(), slashed)
                }
                None => path.to_owned(),
            },
        }
    }

    /// What the user wrote (a path, or a path and `:LINES`) as the index takes it, if it is written from here: when the file
    /// or directory that it names from here exists.
    pub fn meant(&self, wanted: &str) -> String {
        // The index has slashes on every system.
        let wanted = if cfg!(windows) { Cow::Owned(wanted.replace('\\', "/")) } else { Cow::Borrowed(wanted) };
        let wanted = &*wanted;
        match &self.layout {
            IndexLayout::Tree(root, Some(here)) => from_root(root, here, wanted),
            IndexLayout::Tree(_, None) => wanted.to_owned(),
            IndexLayout::Sources(here, roots) => {
                let whole = plain(&here.join(wanted));
                let held = names_something(here, wanted) && roots.values().any(|root| whole.starts_with(root));
                if held { whole.to_string_lossy().into_owned() } else { wanted.to_owned() }
            }
        }
    }

    /// A glob as the index takes it: one that names something from here is meant from here.
    pub fn glob(&self, wanted: &str) -> String {
        let meant = self.meant(wanted);
        match &self.layout {
            IndexLayout::Tree(..) => meant,
            IndexLayout::Sources(_, roots) => {
                let under = roots.values().find_map(|root| Path::new(&meant).strip_prefix(root).ok());
                under.map_or_else(|| meant.clone(), slashed)
            }
        }
    }
}

/// The current directory, without symbolic links.
fn current() -> Option<PathBuf> {
    std::env::current_dir().and_then(dunce::canonicalize).ok()
}

/// A directory as a path under a root; `None` at the root itself and outside of it.
fn below(root: &Path, here: &Path) -> Option<PathBuf> {
    let under = here.strip_prefix(root).ok()?;
    (under.components().next().is_some()).then(|| under.to_owned())
}

/// A path of the index as it is written from `here`, which is a path under the root.
fn written_from(here: &Path, path: &str) -> String {
    let (mut from, mut to) = (here.components().peekable(), Path::new(path).components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| "..".to_owned());
    up.chain(to.map(|part| part.as_os_str().to_string_lossy().into_owned())).collect::<Vec<_>>().join("/")
}

/// What the user wrote from the root, if it is written from `here`, which is a path under the root.
fn from_root(root: &Path, here: &Path, wanted: &str) -> String {
    if !names_something(&root.join(here), wanted) {
        return wanted.to_owned();
    }
    slashed(&plain(&here.join(wanted)))
}

/// Whether a path, or a path and `:LINES`, names something in a directory.
fn names_something(directory: &Path, wanted: &str) -> bool {
    let exists = |text: &str| !text.is_empty() && directory.join(text).exists();
    let path = wanted.rsplit_once(':').map_or(wanted, |(path, _)| path);
    !Path::new(wanted).is_absolute() && (exists(wanted) || exists(path))
}

/// A relative path with slashes between its parts, as the index has it.
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
        let here = Path::new("crates/cli");
        assert_eq!(written_from(here, "crates/cli/src/main.rs"), "src/main.rs");
        assert_eq!(written_from(here, "crates/cut/src/lib.rs"), "../cut/src/lib.rs");
        assert_eq!(written_from(here, "README.md"), "../../README.md");
    }

    #[test]
    fn what_exists_from_here_is_meant_from_here() {
        let root = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir_all(root.path().join("a/b")).expect("made");
        std::fs::write(root.path().join("a/b/note.md"), "").expect("written");
        std::fs::write(root.path().join("top.md"), "").expect("written");
        let from = |wanted| from_root(root.path(), Path::new("a"), wanted);
        assert_eq!(from("b/note.md:3-4"), "a/b/note.md:3-4");
        assert_eq!(from("../top.md"), "top.md");
        assert_eq!(from("./b"), "a/b");
        assert_eq!(from("top.md"), "top.md", "written from the root");
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

        let of = |here: PathBuf| Here { layout: IndexLayout::Sources(here, roots.clone()), own: Some("api".into()) };
        let outside = of(base.clone());
        assert_eq!(outside.written("api", "src/lib.rs"), "api/src/lib.rs");
        assert_eq!(outside.meant("api/src/lib.rs:2"), whole("api/src/lib.rs:2"));
        assert_eq!(outside.meant("web:src/lib.rs"), "web:src/lib.rs", "nothing of that name is here");
        std::fs::write(base.join("lib.rs"), "").expect("written");
        assert_eq!(outside.meant("lib.rs"), "lib.rs", "what is here is in no repository");
        assert_eq!(outside.glob("api/src"), "src");
        assert_eq!(outside.glob("*.rs"), "*.rs");

        let inside = of(base.join("api/src"));
        assert_eq!(inside.written("api", "src/lib.rs"), "lib.rs");
        assert_eq!(inside.written("web", "app.ts"), whole("web/app.ts"));
        assert_eq!(inside.meant("../src/lib.rs:1-2"), whole("api/src/lib.rs:1-2"));
        assert_eq!(inside.written("gone", "app.ts"), "app.ts");
        assert_eq!(inside.written("api", "issue:12"), "issue:12", "no file, so no path from here");
        assert_eq!(inside.written("engine", "issue:12"), "engine:issue:12");
    }
}
