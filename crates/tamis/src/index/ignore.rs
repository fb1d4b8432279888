//! Ignore files, read as Git reads them, and the rules of a whole tree.

use std::borrow::Cow;
use std::fs::DirEntry;
use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::Match;
use ignore::gitignore::gitconfig_excludes_path;
use ignore::overrides::Override;

use super::document;
use super::document::{AttributeRules, FileAttributes};
use super::wildmatch::{is_special, matches};
use crate::file::untrusted::{Directory, is_link, read_linked, read_regular};
use crate::git::exclude_elsewhere;

/// Directories that are never read: those of version control and of Tamis itself, and the settings and deleted notes of Obsidian.
pub(crate) const NEVER: [&str; 7] = [".git", ".hg", ".svn", ".jj", ".tamis", ".obsidian", ".trash"];

/// Most bytes of a pattern, as of a path. Nobody writes longer ones, and each star of one costs room on the stack.
const LONGEST_PATTERN: usize = 4096;

/// The patterns of one file.
#[derive(Debug)]
pub(crate) struct IgnoreFile {
    /// The directory that the patterns are relative to.
    directory: PathBuf,
    /// In the order of the file; the last one that matches decides.
    patterns: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    /// Without the signs around it.
    text: Vec<u8>,
    /// Its bytes before the first wildcard.
    literal: usize,
    /// True if it takes back what another one ignores.
    negated: bool,
    /// True if only directories match.
    of_directories: bool,
    /// True if it has no slash, and matches names at any depth.
    of_names: bool,
}

impl IgnoreFile {
    /// Parses the text of a file.
    pub fn new(directory: &Path, text: &[u8]) -> IgnoreFile {
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        let patterns = text.split(|&byte| byte == b'\n').filter_map(Pattern::parse).collect();
        IgnoreFile { directory: directory.to_owned(), patterns }
    }

    /// Returns `true` if there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns what the file says of a path: to ignore it or not; `None` if it says nothing. What it says of the directories above
    /// counts separately.
    pub fn verdict(&self, path: &Path, is_directory: bool) -> Option<bool> {
        let under = path.strip_prefix(&self.directory).ok()?.as_os_str().as_encoded_bytes();
        let slashes = |&byte: &u8| if byte == b'\\' { b'/' } else { byte };
        let windows: Option<Vec<u8>> = cfg!(windows).then(|| under.iter().map(slashes).collect());
        let under = windows.as_deref().unwrap_or(under);
        let last = self.patterns.iter().rfind(|pattern| pattern.matches(under, is_directory))?;
        Some(!last.negated)
    }
}

impl Pattern {
    fn parse(line: &[u8]) -> Option<Pattern> {
        if line.first().is_none_or(|&first| first == b'#') {
            return None;
        }
        let line = without_spaces(line.strip_suffix(b"\r").unwrap_or(line));
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        let (negated, line) = line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
        let (of_directories, text) = line.strip_suffix(b"/").map_or((false, line), |rest| (true, rest));
        let of_names = !text.contains(&b'/');
        let text = text.strip_prefix(b"/").unwrap_or(text);
        let literal = text.iter().position(|&byte| is_special(byte)).unwrap_or(text.len());
        let is_usual = (1..=LONGEST_PATTERN).contains(&text.len());
        is_usual.then(|| Pattern { text: text.to_owned(), literal, negated, of_directories, of_names })
    }

    fn matches(&self, under: &[u8], is_directory: bool) -> bool {
        if self.of_directories && !is_directory {
            return false;
        }
        let name = under.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        if self.of_names {
            return matches(&self.text, name, false);
        }
        // Git compares what stands before the wildcards first, so that two stars after a word still cross directories.
        let (literal, wild) = self.text.split_at(self.literal);
        under.strip_prefix(literal).is_some_and(|rest| matches(wild, rest, true))
    }
}

/// A line without the spaces at its end, except those after a backslash.
fn without_spaces(line: &[u8]) -> &[u8] {
    let (mut end, mut at) = (0, 0);
    while at < line.len() {
        match line[at] {
            b' ' => at += 1,
            b'\\' if at + 1 == line.len() => return line,
            byte => {
                at += if byte == b'\\' { 2 } else { 1 };
                end = at;
            }
        }
    }
    &line[..end]
}

// The ignore files of a tree, and its `.gitattributes`.
//
// A tree can have anything in the place of an ignore file, such as a link to an endless device, or a pipe without a writer, so
// these files are read defensively. The order is that of ripgrep: `.tamisignore`, `.ignore`, `.gitignore`, `.git/info/exclude`,
// then the user's own; in each the nearest file with a matching rule. Files above the tree count too.

/// The files with rules in a directory, the strongest first.
const FILES: [&str; 4] = [".tamisignore", ".ignore", ".gitignore", ".git/info/exclude"];

/// The longest ignore file that is read, in bytes: a thousand times the usual size.
const LONGEST: u64 = 1 << 20;

/// The rules of a tree.
pub(crate) struct Rules {
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
pub(crate) struct Level {
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
        let held = match FILES.iter().any(|file| holds(file)) || holds(document::FILE) {
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
        let text = read(document::FILE).ok();
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::io::Write;
    use std::process::{Command, Stdio};

    fn ignores(patterns: &str, path: &str) -> bool {
        let (path, is_directory) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
        let file = IgnoreFile::new(Path::new("/t"), patterns.as_bytes());
        file.verdict(&Path::new("/t").join(path), is_directory) == Some(true)
    }

    #[test]
    fn a_pattern_of_many_stars_ends_soon() {
        let started = std::time::Instant::now();
        assert!(!ignores(&format!("{}c", "**/a*b*".repeat(60)), &"a/b".repeat(500)));
        assert!(started.elapsed().as_secs() < 5);
    }

    const NAMES: [&str; 22] = [
        "a", "b", "ab", "a.log", "b.log", "a-b", "a]b", "a b", "{a,b}", "A", "1", "a1", "[a]", "a\tb", "log\t", "x!y",
        "#a", "ü", "-", "^", "a,b", "!a",
    ];

    /// What Git ignores of some paths, or `None` without Git.
    fn ignored_by_git(root: &Path, paths: &[String]) -> Option<Vec<String>> {
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command
                .arg("-C")
                .arg(root)
                .args(["-c", "core.ignorecase=false", "-c", "core.excludesFile="])
                .args(arguments);
            command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()
        };
        git(&["init", "-q"])?.wait_with_output().ok()?;
        let mut child = git(&["check-ignore", "--no-index", "-z", "--stdin"])?;
        child.stdin.take()?.write_all(paths.join("\0").as_bytes()).ok()?;
        let output = child.wait_with_output().ok()?;
        let listed = String::from_utf8(output.stdout).ok()?;
        Some(listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
        #[test]
        fn git_ignores_the_same(lines in prop::collection::vec(line(), 1..6)) {
            let directory = tempfile::tempdir().expect("a temporary directory");
            let root = directory.path();
            let mut paths: Vec<(String, bool)> = Vec::new();
            for outer in ["a", "ab", "{a,b}"] {
                paths.push((outer.to_owned(), true));
                fs::create_dir_all(root.join(outer).join("b")).expect("made");
                paths.push((format!("{outer}/b"), true));
                for name in NAMES.iter().filter(|name| **name != "b") {
                    for path in [format!("{outer}/{name}"), format!("{outer}/b/{name}")] {
                        fs::write(root.join(&path), "").expect("written");
                        paths.push((path, false));
                    }
                }
            }
            let text = lines.join("\n");
            fs::write(root.join(".gitignore"), &text).expect("written");
            let names: Vec<String> = paths.iter().map(|(path, _)| path.clone()).collect();
            let Some(expected) = ignored_by_git(root, &names) else {
                eprintln!("skipped: git does not run here");
                return Ok(());
            };
            let file = IgnoreFile::new(root, text.as_bytes());
            // What lies in an ignored directory is ignored.
            let is_ignored = |path: &str, is_directory: bool| {
                let outer = path.match_indices('/').map(|(at, _)| (&path[..at], true));
                outer.chain([(path, is_directory)]).any(|(path, is_directory)| {
                    file.verdict(&root.join(path), is_directory) == Some(true)
                })
            };
            let found: Vec<String> =
                paths.iter().filter(|(path, is_directory)| is_ignored(path, *is_directory)).map(|(path, _)| path.clone()).collect();
            prop_assert_eq!(found, expected, "{:?}", text);
        }
    }

    /// A line of an ignore file, with much of what can be in one.
    fn line() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a", "b", "ab", "log", ".log", "*", "**", "?", "/", "/", "[ab]", "[a-z]", "[!a]", "[^a]", "[[:alpha:]]",
            "[[:digit:]]", "[a\\]b]", "[a\\-z]", "[]-]", "[a", "[[:x:]]", "{a,b}", "\\*", "\\ ", " ", "\t", "!", "#",
            "-", "\\", "[[a]", "[--a]", "ü", "**/", "/**",
        ]);
        let ends = prop::sample::select(vec!["", "", "", "/", " ", "\t", "\r"]);
        (prop::collection::vec(piece, 1..6), prop::bool::weighted(0.15), ends)
            .prop_map(|(pieces, negated, end)| format!("{}{}{end}", if negated { "!" } else { "" }, pieces.concat()))
    }
}
