//! The places of a user's files on each system.

use crate::user_directories::{Bases, System, UserDirectories};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// A function that returns the value of an environment variable.
type Environment = dyn Fn(&str) -> Option<String>;

/// The system and the environment, which determine where files are.
pub struct Surroundings {
    system: System,
    environment: Box<Environment>,
    bases: Bases,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("system", &self.system).finish_non_exhaustive()
    }
}

impl Surroundings {
    /// Creates the surroundings from a system and a function that returns the value of an environment variable.
    pub fn new(system: System, environment: impl Fn(&str) -> Option<String> + 'static) -> Surroundings {
        let bases = Bases::new(system, &|name| environment(name).map(OsString::from));
        Surroundings { system, environment: Box::new(environment), bases }
    }

    /// Returns those of this process.
    pub fn here() -> Surroundings {
        let bases = Bases::here();
        Surroundings { bases, ..Surroundings::new(System::here(), |name| std::env::var(name).ok()) }
    }

    /// The system.
    pub fn system(&self) -> System {
        self.system
    }

    pub(super) fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.is_empty())
    }

    pub(super) fn home(&self) -> Option<PathBuf> {
        self.bases.home.clone()
    }

    /// Returns this program's own configuration directory.
    pub(super) fn own_configuration(&self) -> Option<PathBuf> {
        let directories = UserDirectories::new(&self.bases, &|name| self.variable(name).map(OsString::from));
        directories.configuration().map(Path::to_owned)
    }

    /// Returns `~/.config` on every system, for the programs that use it. On Linux it follows `XDG_CONFIG_HOME`.
    pub(super) fn configuration(&self) -> Option<PathBuf> {
        match self.system {
            System::Linux => self.bases.configuration.clone(),
            System::Mac | System::Windows => Some(self.home()?.join(".config")),
        }
    }

    /// Returns the directory of a windowed application's files. `package` is its identity if it came from the Microsoft Store,
    /// which gives such a program its own directory in place of the common one.
    pub(super) fn application_data(&self, name: &str, package: Option<&str>) -> Option<PathBuf> {
        let packaged = package.filter(|_| self.system == System::Windows).and_then(|package| {
            let local = self.bases.cache.as_ref()?;
            let directory = local.join("Packages").join(package).join("LocalCache/Roaming").join(name);
            directory.exists().then_some(directory)
        });
        packaged.or_else(|| Some(self.bases.configuration.as_ref()?.join(name)))
    }

    /// Returns the path of a program on the search path. A link is not followed, since its target moves with the next version.
    pub(super) fn on_path(&self, program: &str) -> Option<PathBuf> {
        let name = if self.system == System::Windows { format!("{program}.exe") } else { program.to_owned() };
        let path = self.variable("PATH")?;
        std::env::split_paths(&path).map(|directory| directory.join(&name)).find(|file| file.is_file())
    }
}
