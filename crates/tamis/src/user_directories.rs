//! The user's directories: this program's configuration and cache, and the base directories of other programs. No other module
//! looks up the home directory.

use etcetera::BaseStrategy;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(system: System, set: &[(&str, &str)]) -> [Option<PathBuf>; 3] {
        let environment =
            |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
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
        assert_eq!(
            found(System::Linux, &all[..3]),
            paths(["/x/config/tamis", "/x/cache/tamis", "/x/cache/tamis/eval"])
        );
        let home = [("HOME", "/h"), ("XDG_CONFIG_HOME", ""), ("XDG_CACHE_HOME", ""), ("TAMIS_CACHE", "")];
        assert_eq!(found(System::Linux, &home), paths(["/h/.config/tamis", "/h/.cache/tamis", "/h/.cache/tamis/eval"]));
        assert_eq!(found(System::Linux, &[]), [None, None, None]);

        assert_eq!(
            found(System::Mac, &[("HOME", "/no/such/home")]),
            paths([
                "/no/such/home/Library/Application Support/tamis",
                "/no/such/home/Library/Caches/tamis",
                "/no/such/home/Library/Caches/tamis/eval"
            ])
        );
        let windows = [("USERPROFILE", "U:/a"), ("APPDATA", "U:/a/AppData/Roaming"), ("LOCALAPPDATA", "L:/local")];
        assert_eq!(
            found(System::Windows, &windows),
            paths(["U:/a/AppData/Roaming/tamis", "L:/local/tamis", "L:/local/tamis/eval"])
        );
        assert_eq!(
            found(System::Windows, &windows[..1]),
            paths(["U:/a/AppData/Roaming/tamis", "U:/a/AppData/Local/tamis", "U:/a/AppData/Local/tamis/eval"])
        );
    }
}
