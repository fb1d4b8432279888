//! Paths as they are written from where the user stands. The index has them from its root.

use std::path::{Component, Path, PathBuf};

/// Where the user stands, as a path under a root; `None` at the root itself and outside of it.
pub fn below(root: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).ok()?;
    let under = here.strip_prefix(root).ok()?;
    (under.components().next().is_some()).then(|| under.to_owned())
}

/// A path of the index as it is written from `here`, which is a path under the root.
pub fn written_from(here: &Path, path: &str) -> String {
    let (mut from, mut to) = (here.components().peekable(), Path::new(path).components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| "..".to_owned());
    up.chain(to.map(|part| part.as_os_str().to_string_lossy().into_owned())).collect::<Vec<_>>().join("/")
}

/// What the user wrote (a path, or a path and `:LINES`), from the root if it is written from `here`: when the file or
/// directory that it names from there exists.
pub fn from_root(root: &Path, here: &Path, wanted: &str) -> String {
    let exists = |text: &str| !text.is_empty() && root.join(here).join(text).exists();
    let path = wanted.rsplit_once(':').map_or(wanted, |(path, _)| path);
    if Path::new(wanted).is_absolute() || !(exists(wanted) || exists(path)) {
        return wanted.to_owned();
    }
    let mut parts: Vec<String> = Vec::new();
    for part in here.join(wanted).components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            part => parts.push(part.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
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
}
