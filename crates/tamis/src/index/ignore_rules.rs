//! The ignore files of a tree, and its `.gitattributes`.
//!
//! A tree can have anything in the place of an ignore file, such as a link to an endless device, or a pipe without a writer, so
//! these files are read defensively. The order is that of ripgrep: `.tamisignore`, `.ignore`, `.gitignore`, `.git/info/exclude`,
//! then the user's own; in each the nearest file with a matching rule. Files above the tree count too.

use super::attributes::{self, AttributeRules, FileAttributes};
use super::ignore_file::IgnoreFile;
use crate::file::foreign::{Directory, is_link, read_linked, read_regular};
use crate::git::exclude_elsewhere;
use ignore::Match;
use ignore::gitignore::gitconfig_excludes_path;
use ignore::overrides::Override;
use std::borrow::Cow;
use std::fs::DirEntry;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The files with rules in a directory, the strongest first.
const FILES: [&str; 4] = [".tamisignore", ".ignore", ".gitignore", ".git/info/exclude"];

/// The longest ignore file that is read, in bytes: a thousand times the usual size.
const LONGEST: u64 = 1 << 20;

/// The rules of a tree.
pub(super) struct Rules {
    root: PathBuf,
    /// The root without links. The rules above it match its files by this path.
    real: PathBuf,
    /// The root, held open; `None` if it cannot be read, which the walk itself reports.
    top: Option<Directory>,
    hidden: bool,
    overrides: Override,
    /// The user's own rules for all trees.
    global: IgnoreFile,
    /// The rules above the root.
    above: Arc<Level>,
    remarks: Mutex<Vec<String>>,
}

/// The rules of one directory, and the levels above it.
#[derive(Debug, Default)]
pub(super) struct Level {
    rules: [Option<IgnoreFile>; FILES.len()],
    attributes: AttributeRules,
    above: Option<Arc<Level>>,
}

impl Rules {
    /// Reads the rules for the tree at `root`. `hidden` leaves out files whose names begin with a dot, unless a rule says
    /// otherwise. `overrides` come first.
    pub fn new(root: &Path, hidden: bool, overrides: Override) -> Rules {
        let real = dunce::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        // The user's rules have no directory of their own: git applies them from the tree's root.
        let global = gitconfig_excludes_path().and_then(|path| read_regular(&path, LONGEST).ok()).unwrap_or_default();
        let global = IgnoreFile::new(&real, &global);
        let mut rules = Rules {
            root: root.to_owned(),
            top: Directory::open(root).ok(),
            hidden,
            overrides,
            global,
            above: Arc::default(),
            remarks: Mutex::default(),
            real,
        };
        let mut parents: Vec<PathBuf> = rules.real.ancestors().skip(1).map(Path::to_owned).collect();
        parents.reverse();
        for parent in parents {
            // Files above the tree did not come with it, so a link there is the user's own.
            let read = |name: &str| match read_regular(&parent.join(name), LONGEST) {
                // A file that we may not read is not worth a remark.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(ErrorKind::NotFound.into()),
                read => read,
            };
            rules.above = rules.level(&parent, &parent, &rules.above, read);
        }
        rules
    }

    /// The rules above the root.
    pub fn above(&self) -> &Arc<Level> {
        &self.above
    }

    /// Returns `true` if an entry of a directory is left out, by the rules of that directory.
    pub fn leave_out(&self, level: &Arc<Level>, entry: &DirEntry, path: &Path, is_directory: bool) -> bool {
        match self.overrides.matched(path, is_directory) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => {}
        }
        match self.verdict(level, path, is_directory) {
            Some(is_left_out) => is_left_out,
            None => self.hidden && is_hidden(entry),
        }
    }

    /// Returns the ignore files that could not be used, each with the reason.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = std::mem::take(&mut *self.remarks.lock().unwrap_or_else(PoisonError::into_inner));
        remarks.sort();
        remarks
    }

    /// Returns what the rules of a directory say of a file in it, by its path under the root.
    pub fn attributes(&self, level: &Arc<Level>, under: &str) -> FileAttributes {
        let mut attributes = FileAttributes::default();
        let mut next = Some(level);
        while let Some(level) = next {
            if !level.attributes.is_empty() {
                level.attributes.apply(&self.real.join(under), &mut attributes);
            }
            next = level.above.as_ref();
        }
        attributes
    }

    fn verdict(&self, level: &Arc<Level>, path: &Path, is_directory: bool) -> Option<bool> {
        let path = match path.strip_prefix(&self.root) {
            Ok(under) if self.real != self.root => Cow::Owned(self.real.join(under)),
            _ => Cow::Borrowed(path),
        };
        let said = |rules: &IgnoreFile| rules.verdict(&path, is_directory);
        let mut found: [Option<bool>; FILES.len()] = Default::default();
        let mut next = Some(level);
        while let Some(level) = next {
            for (found, rules) in found.iter_mut().zip(&level.rules) {
                if found.is_none() {
                    *found = rules.as_ref().and_then(said);
                }
            }
            if found[0].is_some() {
                break;
            }
            next = level.above.as_ref();
        }
        found.into_iter().flatten().next().or_else(|| said(&self.global))
    }

    /// Returns the rules for the entries of a directory, `under` the root. `holds` says which names it has, so that nothing is looked
    /// for in vain.
    pub fn enter(
        &self,
        directory: &Path,
        under: &Path,
        above: &Arc<Level>,
        holds: impl Fn(&str) -> bool,
    ) -> Arc<Level> {
        let holds = |file: &str| holds(file.split('/').next().unwrap_or(file));
        let held = match FILES.iter().any(|file| holds(file)) || holds(attributes::FILE) {
            true => self.top.as_ref().and_then(|top| top.below(under).ok()),
            false => None,
        };
        let Some(held) = held else { return above.clone() };
        self.level(directory, &self.real.join(under), above, |name| {
            if !holds(name) {
                return Err(ErrorKind::NotFound.into());
            }
            match held.read(Path::new(name), LONGEST) {
                Err(error) if is_link(&error) => read_linked(&self.real, &under.join(name), LONGEST),
                read => read,
            }
        })
    }

    /// Reads the rules of one directory on top of those above it. Without rules of its own, the level above is returned. `real`
    /// is the directory as the rules see it.
    fn level(
        &self,
        directory: &Path,
        real: &Path,
        above: &Arc<Level>,
        read: impl Fn(&str) -> io::Result<Vec<u8>>,
    ) -> Arc<Level> {
        let rules = FILES.map(|name| {
            let (bytes, path) = match read(name) {
                // In a further work tree `.git` is a file that names the repository.
                Err(error) if error.kind() == ErrorKind::NotADirectory && name.starts_with(".git/") => {
                    let path = exclude_elsewhere(directory)?;
                    (read_regular(&path, LONGEST), path)
                }
                read => (read, directory.join(name)),
            };
            match bytes {
                Ok(bytes) => Some(IgnoreFile::new(real, &bytes)).filter(|rules| !rules.is_empty()),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
                Err(error) => {
                    let remark = format!("{}: {error}; its rules do not apply", path.display());
                    self.remarks.lock().unwrap_or_else(PoisonError::into_inner).push(remark);
                    None
                }
            }
        });
        // An unreadable file leaves the attributes as they are.
        let text = read(attributes::FILE).ok();
        let attributes =
            text.map(|text| AttributeRules::parse(real, &String::from_utf8_lossy(&text))).unwrap_or_default();
        match rules.iter().any(Option::is_some) || !attributes.is_empty() {
            true => Arc::new(Level { rules, attributes, above: Some(above.clone()) }),
            false => above.clone(),
        }
    }
}

fn is_hidden(entry: &DirEntry) -> bool {
    #[cfg(windows)]
    {
        use std::os::windows::fs::MetadataExt;
        const HIDDEN: u32 = 2;
        if entry.metadata().is_ok_and(|metadata| metadata.file_attributes() & HIDDEN != 0) {
            return true;
        }
    }
    entry.file_name().as_encoded_bytes().starts_with(b".")
}
