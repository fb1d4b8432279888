//! Where an index lies, the user's directories, and the name of the machine.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use etcetera::BaseStrategy;

use crate::Error;

/// The name of the directory that holds an index.
pub const INDEX_DIRECTORY: &str = ".tamis";

/// A tree and the directory of its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The root of the indexed tree, absolute.
    pub root: PathBuf,
    /// The directory that holds the index.
    pub directory: PathBuf,
    /// The name under which the tree's documents are stored.
    pub namespace: String,
    /// The directory where the search for the tree began: the root or one below it, absolute.
    pub start: PathBuf,
}

impl Location {
    /// Finds the tree that contains `start`: the nearest ancestor with `.tamis/` or `.git`, which may be `start` itself, or else
    /// `start`. `index` puts the index elsewhere.
    ///
    /// # Errors
    /// `start` does not exist or is not a directory.
    pub fn discover(start: &Path, index: Option<&Path>) -> Result<Self, Error> {
        let start = dunce::canonicalize(start).map_err(|error| Error::path(start, format!("{error}")))?;
        if !start.is_dir() {
            return Err(Error::path(&start, "not a directory; name the directory to search"));
        }
        let home = Bases::here().home.and_then(|home| dunce::canonicalize(home).ok());
        // A home directory under version control is not the project of everything in it.
        let root = start
            .ancestors()
            .take_while(|directory| *directory == start || home.as_deref() != Some(*directory))
            .find(|directory| is_marked(directory))
            .unwrap_or(&start);
        if index.is_none() {
            stays_in(root)?;
        }
        // From here on paths are compared as text, so one directory must not have two spellings.
        let index = index.map(resolved).map(|directory| match directory.join(INDEX_DIRECTORY) {
            // Whoever names the tree means the index in it.
            inside if holds_index(&inside) && !holds_index(&directory) => inside,
            _ => directory,
        });
        let location = Self::at(root, index.as_deref());
        Ok(Location { start, ..location })
    }

    /// Returns exactly this root, which need not exist.
    pub fn at(root: &Path, index: Option<&Path>) -> Self {
        let namespace = root.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned());
        Location {
            root: root.to_owned(),
            directory: index.map_or_else(|| root.join(INDEX_DIRECTORY), Path::to_owned),
            namespace,
            start: root.to_owned(),
        }
    }

    /// Returns the directory that the index moves with: the one that contains `.tamis`, or else the index's own.
    pub(crate) fn base(&self) -> PathBuf {
        match self.directory.parent() {
            Some(parent) if self.directory.ends_with(INDEX_DIRECTORY) => parent.to_owned(),
            _ => self.directory.clone(),
        }
    }

    /// Returns `true` if the root is that of a project: it has `.tamis/` or `.git`.
    pub(crate) fn is_project(&self) -> bool {
        is_marked(&self.root)
    }

    /// Returns `true` if the tree is the user's home directory, or holds it, as the root of a file system does. Nobody means to search
    /// all of that.
    pub fn holds_home(&self) -> bool {
        let home = Bases::here().home.and_then(|home| dunce::canonicalize(home).ok());
        self.root.parent().is_none() || home.is_some_and(|home| home.starts_with(&self.root))
    }

    /// Returns `true` if an index exists here.
    pub fn has_index(&self) -> bool {
        holds_index(&self.directory)
    }

    /// Returns the project's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.root.join(INDEX_DIRECTORY).join("config.toml")
    }
}

fn holds_index(directory: &Path) -> bool {
    directory.join("tamis.db").is_file()
}

fn is_marked(directory: &Path) -> bool {
    directory.join(INDEX_DIRECTORY).is_dir() || directory.join(".git").exists()
}

/// Refuses a tree whose index would lie outside of it, through a link that came with the tree.
fn stays_in(root: &Path) -> Result<(), Error> {
    let directory = root.join(INDEX_DIRECTORY);
    if !std::fs::symlink_metadata(&directory).is_ok_and(|metadata| metadata.is_symlink()) {
        return Ok(());
    }
    match dunce::canonicalize(&directory) {
        Ok(target) if target.starts_with(root) => Ok(()),
        _ => Err(Error::index_directory(
            &directory,
            "a symbolic link out of the tree, which may have come with it; if it is yours, name the directory that it leads to",
        )),
    }
}

/// Returns the system's path: absolute, and without `.`, `..` and links as far as it exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut there = whole.as_path();
    loop {
        if let Ok(found) = dunce::canonicalize(there) {
            let rest = whole.strip_prefix(there).unwrap_or(Path::new(""));
            let mut resolved = found;
            for part in rest.components() {
                match part {
                    Component::ParentDir => drop(resolved.pop()),
                    Component::CurDir => {}
                    part => resolved.push(part),
                }
            }
            return resolved;
        }
        match there.parent() {
            Some(parent) => there = parent,
            None => return whole,
        }
    }
}

// The user's directories: this program's configuration and cache, and the base directories of other programs. No other module
// looks up the home directory.

/// The name of this program's directory in each of them.
const PROGRAM: &str = "tamis";

/// The variable that sets the directory of the configuration.
const CONFIGURATION_VARIABLE: &str = "TAMIS_CONFIG_HOME";

/// The variable that sets the directory of the cache.
const CACHE_VARIABLE: &str = "TAMIS_CACHE";

/// A kind of operating system, by the places of programs' files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux, and systems with the same conventions.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl System {
    /// Returns the system that this process runs on.
    pub fn here() -> System {
        if cfg!(windows) {
            System::Windows
        } else if cfg!(target_os = "macos") {
            System::Mac
        } else {
            System::Linux
        }
    }
}

/// The base directories of a user's files. Each program has its own directory in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bases {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The base of configuration files.
    pub configuration: Option<PathBuf>,
    /// The base of files that can be created again.
    pub cache: Option<PathBuf>,
}

impl Bases {
    /// Returns those of the user who runs this process, by the conventions of XDG, of macOS or of Windows. Without the usual
    /// variables, the system says who the user is.
    pub fn here() -> Bases {
        let found = etcetera::base_strategy::choose_native_strategy().ok();
        let Some(found) = found.filter(|found| found.home_dir().is_absolute()) else {
            return Bases::new(System::here(), &|name| std::env::var_os(name));
        };
        // On macOS the other directory is for property lists only, which the system writes itself.
        let configuration = if cfg!(target_os = "macos") { found.data_dir() } else { found.config_dir() };
        Bases {
            home: Some(found.home_dir().to_owned()),
            configuration: Some(configuration),
            cache: Some(found.cache_dir()),
        }
    }

    /// Returns those that variables set on a system. Tests can check every system this way.
    pub fn new(system: System, environment: &dyn Fn(&str) -> Option<OsString>) -> Bases {
        let set = |name: &str| environment(name).map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
        let home = match system {
            System::Windows => set("USERPROFILE").or_else(|| set("HOME")),
            System::Linux | System::Mac => set("HOME"),
        };
        let (configuration, cache, under_home) = match system {
            System::Linux => (set("XDG_CONFIG_HOME"), set("XDG_CACHE_HOME"), [".config", ".cache"]),
            System::Mac => (None, None, ["Library/Application Support", "Library/Caches"]),
            System::Windows => (set("APPDATA"), set("LOCALAPPDATA"), ["AppData/Roaming", "AppData/Local"]),
        };
        let usual = |path: &str| home.as_ref().map(|home| home.join(path));
        Bases {
            configuration: configuration.or_else(|| usual(under_home[0])),
            cache: cache.or_else(|| usual(under_home[1])),
            home,
        }
    }
}

/// The user's directories of this program: the configuration and the cache.
///
/// Each directory is the one that its variable names (`TAMIS_CONFIG_HOME`, `TAMIS_CACHE`), or else `tamis` in the system's
/// directory for such files: `$XDG_CONFIG_HOME` or `~/.config`, and `$XDG_CACHE_HOME` or `~/.cache`, on Linux;
/// `~/Library/Application Support` and `~/Library/Caches` on macOS; `%APPDATA%` and `%LOCALAPPDATA%` on Windows.
///
/// ```
/// use tamis::config::UserDirectories;
///
/// let here = UserDirectories::here();
/// assert!(here.configuration().is_none_or(|directory| directory.is_absolute()));
/// assert_eq!(UserDirectories::default().cache(), None, "a program that names none has none");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserDirectories {
    configuration: Option<PathBuf>,
    cache: Option<PathBuf>,
    evaluations: Option<PathBuf>,
}

impl UserDirectories {
    /// Returns those of the user who runs this process.
    #[must_use]
    pub fn here() -> UserDirectories {
        UserDirectories::new(&Bases::here(), &|name| std::env::var_os(name))
    }

    /// Returns the directories given by the bases and the variables.
    pub(crate) fn new(bases: &Bases, environment: &dyn Fn(&str) -> Option<OsString>) -> UserDirectories {
        let named = |variable: &str| environment(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        let own = |base: &Option<PathBuf>| base.as_ref().map(|base| base.join(PROGRAM));
        let cache = named(CACHE_VARIABLE).or_else(|| own(&bases.cache));
        UserDirectories {
            configuration: named(CONFIGURATION_VARIABLE).or_else(|| own(&bases.configuration)),
            evaluations: named(CACHE_VARIABLE).or_else(|| cache.as_ref().map(|cache| cache.join("eval"))),
            cache,
        }
    }

    /// Uses these directories in place of the user's own.
    #[must_use]
    pub fn at(configuration: Option<PathBuf>, cache: Option<PathBuf>) -> UserDirectories {
        let evaluations = cache.as_ref().map(|cache| cache.join("eval"));
        UserDirectories { configuration, cache, evaluations }
    }

    /// Returns the directory of `config.toml`, of the list of trusted projects and of the user's views. `None` without a home
    /// directory.
    #[must_use]
    pub fn configuration(&self) -> Option<&Path> {
        self.configuration.as_deref()
    }

    /// Returns the directory of files that can be created again.
    #[must_use]
    pub fn cache(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// Returns the directory of the indexes of test collections: the one that `TAMIS_CACHE` names, or else `eval` in the cache.
    #[must_use]
    pub fn evaluations(&self) -> Option<&Path> {
        self.evaluations.as_deref()
    }
}

// The machine that this program runs on.

/// Returns the name of this machine, as others know it.
pub fn machine_name() -> String {
    #[cfg(unix)]
    let name = Some(rustix::system::uname().nodename().to_string_lossy().into_owned());
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").ok();
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "unnamed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_nearest_marked_ancestor_is_the_root() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let base = dunce::canonicalize(directory.path()).expect("a path");
        let deep = base.join("project/src/deep");
        fs::create_dir_all(&deep).expect("made");
        assert_eq!(Location::discover(&deep, None).expect("found").root, deep, "no mark: the directory named");
        fs::create_dir(base.join("project/.git")).expect("made");
        let location = Location::discover(&deep, None).expect("found");
        assert_eq!(location.root, base.join("project"));
        assert_eq!(location.namespace, "project");
        assert_eq!(location.directory, base.join("project/.tamis"));
        assert_eq!(location.start, deep);
        fs::create_dir(base.join("project/src/.tamis")).expect("made");
        assert_eq!(Location::discover(&deep, None).expect("found").root, base.join("project/src"));
        let elsewhere = base.join("elsewhere");
        assert_eq!(Location::discover(&deep, Some(&elsewhere)).expect("found").directory, elsewhere);

        let directory = tempfile::tempdir().expect("a temporary directory");
        assert!(Location::discover(&directory.path().join("none"), None).is_err());
        let file = directory.path().join("file");
        fs::write(&file, "").expect("written");
        let error = Location::discover(&file, None).expect_err("a file is no root").to_string();
        assert!(error.contains("not a directory"), "{error}");
    }

    #[test]
    fn one_directory_has_one_path_however_it_is_written() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let base = dunce::canonicalize(directory.path()).expect("a path");
        fs::create_dir_all(base.join("tree/sub")).expect("made");
        fs::create_dir(base.join("there")).expect("made");
        let of = |index: &Path| Location::discover(&base.join("tree"), Some(index)).expect("found").directory;
        assert_eq!(of(&base.join("tree/sub/../.tamis")), base.join("tree/.tamis"));
        assert_eq!(of(&base.join("./new/../other/./deep")), base.join("other/deep"), "what is not there yet");
        assert_eq!(of(&base.join("tree/../there")), base.join("there"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(base.join("there"), base.join("link")).expect("linked");
            assert_eq!(of(&base.join("link")), base.join("there"));
            assert_eq!(of(&base.join("link/new")), base.join("there/new"));
            assert_eq!(of(&base.join("link/../new")), base.join("new"), "up from where the link leads to");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_came_with_a_tree_makes_no_index_outside_of_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let base = dunce::canonicalize(directory.path()).expect("a path");
        fs::create_dir_all(base.join("tree/kept")).expect("made");
        fs::create_dir(base.join("outside")).expect("made");
        let link = base.join("tree/.tamis");
        for to in ["../outside", "../nowhere"] {
            std::os::unix::fs::symlink(to, &link).expect("linked");
            if to == "../outside" {
                let error = Location::discover(&base.join("tree"), None).expect_err("refused").to_string();
                assert!(error.contains("another directory"), "{error}");
                let named = Location::discover(&base.join("tree"), Some(&base.join("outside"))).expect("named");
                assert_eq!(named.directory, base.join("outside"));
            } else {
                fs::create_dir(base.join("tree/.git")).expect("made");
                assert!(Location::discover(&base.join("tree"), None).is_err());
            }
            fs::remove_file(&link).expect("removed");
        }
        std::os::unix::fs::symlink("kept", &link).expect("linked");
        assert!(Location::discover(&base.join("tree"), None).is_ok(), "a link in the tree leads nowhere else");
    }

    fn found(system: System, set: &[(&str, &str)]) -> [Option<PathBuf>; 3] {
        let environment = |name: &str| set.iter().find(|(one, _)| *one == name).map(|(_, value)| OsString::from(value));
        let found = UserDirectories::new(&Bases::new(system, &environment), &environment);
        [found.configuration, found.cache, found.evaluations]
    }

    fn paths(paths: [&str; 3]) -> [Option<PathBuf>; 3] {
        paths.map(|path| Some(path.into()))
    }

    #[test]
    fn directories_follow_the_strongest_variable_and_the_system() {
        let all = [
            ("HOME", "/h"),
            ("XDG_CONFIG_HOME", "/x/config"),
            ("XDG_CACHE_HOME", "/x/cache"),
            ("TAMIS_CONFIG_HOME", "/t/config"),
            ("TAMIS_CACHE", "/t/cache"),
        ];
        assert_eq!(found(System::Linux, &all), paths(["/t/config", "/t/cache", "/t/cache"]));
        let xdg = paths(["/x/config/tamis", "/x/cache/tamis", "/x/cache/tamis/eval"]);
        assert_eq!(found(System::Linux, &all[..3]), xdg);
        let home = [("HOME", "/h"), ("XDG_CONFIG_HOME", ""), ("XDG_CACHE_HOME", ""), ("TAMIS_CACHE", "")];
        assert_eq!(found(System::Linux, &home), paths(["/h/.config/tamis", "/h/.cache/tamis", "/h/.cache/tamis/eval"]));
        assert_eq!(found(System::Linux, &[]), [None, None, None]);

        let expected = paths([
            "/no/such/home/Library/Application Support/tamis",
            "/no/such/home/Library/Caches/tamis",
            "/no/such/home/Library/Caches/tamis/eval",
        ]);
        assert_eq!(found(System::Mac, &[("HOME", "/no/such/home")]), expected);
        let windows = [("USERPROFILE", "U:/a"), ("APPDATA", "U:/a/AppData/Roaming"), ("LOCALAPPDATA", "L:/local")];
        let local = paths(["U:/a/AppData/Roaming/tamis", "L:/local/tamis", "L:/local/tamis/eval"]);
        assert_eq!(found(System::Windows, &windows), local);
        let user = paths(["U:/a/AppData/Roaming/tamis", "U:/a/AppData/Local/tamis", "U:/a/AppData/Local/tamis/eval"]);
        assert_eq!(found(System::Windows, &windows[..1]), user);
    }
}
