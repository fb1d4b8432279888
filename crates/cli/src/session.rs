//! Turns flags into a location, a configuration and an open index.

use crate::command_line::Global;
use anyhow::{Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use tamis::config::{Config, Origins};
use tamis::{Index, Location};

/// Names the directory of the index if no flag does.
const INDEX_VARIABLE: &str = "TAMIS_INDEX";

/// A tree with its configuration; the index is not open yet.
#[derive(Debug)]
pub struct Session {
    /// The tree and the place of its index.
    pub location: Location,
    /// The origins of the configuration.
    pub origins: Origins,
    /// The user's configuration directory, if there is a home.
    pub user_directory: Option<PathBuf>,
    /// True if a flag names the directory to start in.
    is_named: bool,
}

/// A flag that sets a configuration key: the key, its text, the flag's name.
pub type FlagSetting = (String, String, String);

/// A flag's setting, if the flag is given.
pub fn setting(key: &str, flag: &str, text: Option<&str>) -> Option<FlagSetting> {
    text.map(|text| (key.to_owned(), text.to_owned(), flag.to_owned()))
}

impl Session {
    /// Finds the tree and the origins of its configuration.
    ///
    /// # Errors
    /// The directory to start from does not exist.
    pub fn start(global: &Global, flags: Vec<FlagSetting>) -> Result<Self> {
        let variable = || std::env::var_os(INDEX_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let index = global.index.clone().or_else(variable);
        let location = Location::discover(global.start(), index.as_deref())?;
        Ok(Self::at(location, global, flags))
    }

    /// Finds the origins of the configuration of a tree.
    pub fn at(location: Location, global: &Global, mut flags: Vec<FlagSetting>) -> Self {
        flags.extend(setting("store.url", "--store", global.store.as_deref()));
        let format = global.hyperlink_format.as_deref();
        flags.extend(setting("output.hyperlink_format", "--hyperlink-format", format));
        let origins = Origins::of_process(&location, flags);
        let user_directory = origins.directories.configuration().map(Path::to_owned);
        Session { location, origins, user_directory, is_named: global.directory.is_some() }
    }

    /// The validated configuration.
    ///
    /// # Errors
    /// The first error in a file, a variable or a flag.
    pub fn config(&self) -> Result<Config> {
        Ok(Config::load(&self.origins, self.user_directory.clone())?)
    }

    /// Opens the index, or makes one.
    ///
    /// # Errors
    /// The index cannot be made or read; or a whole home directory would be indexed without having been named.
    pub fn open(self, config: Config) -> Result<Index> {
        if !self.has_index(&config) && self.location.holds_home() {
            let root = self.location.root.display();
            if !self.is_named {
                bail!(
                    "{root}: all of your files would be indexed; go to a project first, or name its directory: `tamis --directory DIR`"
                );
            }
            // Without a reader the remark is lost.
            let _ = writeln!(
                std::io::stderr(),
                "tamis: {root} holds your home directory, and all of it is indexed; `tamis index --dry-run` says what that is"
            );
        }
        self.open_anywhere(config)
    }

    /// Opens the index, or makes one, which does not hold the files around it.
    ///
    /// # Errors
    /// The index cannot be made or read.
    pub fn open_anywhere(self, config: Config) -> Result<Index> {
        Ok(Index::at(self.location, config)?)
    }

    /// Returns `true` if there is an index: a database has one of everybody, else the directory must hold one.
    pub fn has_index(&self, config: &Config) -> bool {
        config.store.url.is_some() || self.location.has_index()
    }

    /// Opens an existing index.
    ///
    /// # Errors
    /// There is no index, or it cannot be read.
    pub fn open_existing(self, config: Config) -> Result<Index> {
        if !self.has_index(&config) {
            bail!(
                "{}: no index here yet; run `tamis index` or `tamis import` to make one",
                self.location.directory.display()
            );
        }
        self.open_anywhere(config)
    }
}
