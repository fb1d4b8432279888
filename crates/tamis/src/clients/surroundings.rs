//! Where a user's files are, on each system.

use crate::user_directories::{Bases, System, UserDirectories};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// What gives the value of an environment variable.
type Environment = dyn Fn(&str) -> Option<String>;

/// The system and the environment that say where files are.
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
    /// A system, and what gives the value of an environment variable.
    pub fn new(system: System, environment: impl Fn(&str) -> Option<String> + 'static) -> Surroundings {
        let bases = Bases::of(system, &|name| environment(name).map(OsString::from));
        Surroundings { system, environment: Box::new(environment), bases }
    }

    /// Those of this process.
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

    /// The directory of this program's own configuration.
    pub(super) fn own_configuration(&self) -> Option<PathBuf> {
        let directories = UserDirectories::of(&self.bases, &|name| self.variable(name).map(OsString::from));
        directories.configuration().map(Path::to_owned)
    }

    /// `~/.config` on every system, for the programs that keep to it; on Linux where the user has moved it.
    pub(super) fn configuration(&self) -> Option<PathBuf> {
        match self.system {
            System::Linux => self.bases.configuration.clone(),
            System::Mac | System::Windows => Some(self.home()?.join(".config")),
        }
    }

    /// Where an application with windows keeps its files. `package`: its identity where it was installed from the store of
    /// Windows, which gives such a program a directory of its own in place of the common one.
    pub(super) fn application_data(&self, name: &str, package: Option<&str>) -> Option<PathBuf> {
        let packaged = package.filter(|_| self.system == System::Windows).and_then(|package| {
            let local = self.bases.cache.as_ref()?;
            let directory = local.join("Packages").join(package).join("LocalCache/Roaming").join(name);
            directory.exists().then_some(directory)
        });
        packaged.or_else(|| Some(self.bases.configuration.as_ref()?.join(name)))
    }

    /// A program on the search path, as the path names it: a link is not followed, since what it leads to moves with the next
    /// version.
    pub(super) fn on_path(&self, program: &str) -> Option<PathBuf> {
        let name = if self.system == System::Windows { format!("{program}.exe") } else { program.to_owned() };
        let path = self.variable("PATH")?;
        std::env::split_paths(&path).map(|directory| directory.join(&name)).find(|file| file.is_file())
    }
}
