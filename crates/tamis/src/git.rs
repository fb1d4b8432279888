//! What git knows of a tree: the last commit of each file, and the commits themselves.
//!
//! The repository is not trusted. `git` runs so that nothing in the repository's configuration can run ([`command`]), reads
//! objects and never the files of the tree, and is stopped when it takes too long. A few small files show if git has to run at
//! all ([`Repository`]).

use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sha1::{Digest, Sha1};
use sha2::Sha256;

use crate::file::untrusted::{read_in, read_regular};
use crate::subprocess;
use crate::subprocess::{End, Limit};

/// The time limit for one repository. The results up to then are used.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same for a history that somebody asked for.
const PATIENCE_FOR_ALL: Duration = Duration::from_secs(300);

/// The dates found in a history.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Dated {
    /// Paths under the root of the source, each with the time of its last commit in nanoseconds since 1970.
    pub dates: Vec<(String, i64)>,
    /// The reason why some or all dates are missing.
    pub note: Option<String>,
}

/// Returns the times of the last commits of those of `paths` (under `root`) that still have the committed content. A path that
/// git does not know, or whose file has changed since, has none. `stopped` ends the search early.
pub(crate) fn dates(repository: &Repository, root: &Path, paths: &[&str], stopped: &dyn Fn() -> bool) -> Dated {
    let note = |note: &str| Dated { note: Some(note.to_owned()), ..Dated::default() };
    if repository.is_shallow() {
        return note("the clone is shallow, so git does not know when files last changed");
    }
    if let Some(file) = repository.unsound() {
        return note(&format!("{}: not a regular file of a sensible size, so git is not asked", file.display()));
    }
    let limit = Limit { until: Instant::now() + PATIENCE, stopped };
    let tracked = match tracked(root, &limit) {
        Ok(tracked) => tracked,
        Err(problem) => return note(&problem),
    };
    let mut wanted: HashMap<&str, Option<i64>> =
        as_committed(root, paths, &tracked, &limit).into_iter().map(|path| (path, None)).collect();
    let problem = read(root, repository.top() == root, &mut wanted, &limit).err();
    let mut dates: Vec<(String, i64)> = wanted
        .into_iter()
        .filter_map(|(path, seconds)| Some((path.to_owned(), seconds?.checked_mul(1_000_000_000)?)))
        .collect();
    dates.sort_unstable();
    Dated { dates, note: problem }
}

// Finds the files that still have the content of the last commit.
//
// git's own comparison reads the files of the tree, for which a repository can name filters that run. Here files are read as
// they are, so a file that git would convert (line endings, filters) counts as changed.

/// The longest file that is compared, in bytes. Longer ones cannot be indexed.
const LONGEST: u64 = 1 << 30;

/// Returns the files of the last commit under `root`, with the identifiers of their content.
///
/// # Errors
/// The reason why git gives no answer, in words for people.
pub(crate) fn tracked(root: &Path, limit: &Limit<'_>) -> Result<HashMap<String, String>, String> {
    let mut tracked = HashMap::new();
    let mut pending = Vec::new();
    ask(root, &["ls-tree", "-r", "-z", "HEAD"], limit, |bytes| {
        pending.extend_from_slice(bytes);
        let whole = pending.iter().rposition(|&byte| byte == 0).map_or(0, |end| end + 1);
        for line in pending[..whole].split(|&byte| byte == 0) {
            // MODE TYPE IDENTIFIER, a tab, PATH.
            let line = String::from_utf8_lossy(line);
            let Some((kind, path)) = line.split_once('\t') else { continue };
            let mut parts = kind.split(' ').skip(1);
            if let (Some("blob"), Some(identifier)) = (parts.next(), parts.next()) {
                tracked.insert(path.to_owned(), identifier.to_owned());
            }
        }
        pending.drain(..whole);
        ControlFlow::Continue(())
    })?;
    Ok(tracked)
}

/// Returns those of `paths` whose files have the committed content.
pub(crate) fn as_committed<'a>(
    root: &Path,
    paths: &[&'a str],
    tracked: &HashMap<String, String>,
    limit: &Limit<'_>,
) -> Vec<&'a str> {
    let until = limit.until;
    let known: Vec<(&str, &String)> = paths.iter().filter_map(|&path| Some((path, tracked.get(path)?))).collect();
    let unchanged = |&(path, identifier): &(&'a str, &String)| {
        if std::time::Instant::now() >= until {
            return None;
        }
        let content = read_in(root, Path::new(path), LONGEST).ok()?;
        is(&content, identifier).then_some(path)
    };
    known.par_iter().filter_map(unchanged).collect()
}

/// Returns `true` if a file's content has this identifier, SHA-1 or SHA-256.
fn is(content: &[u8], identifier: &str) -> bool {
    fn hex<D: Digest>(content: &[u8]) -> String {
        let hash = D::new().chain_update(format!("blob {}\0", content.len())).chain_update(content).finalize();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
    match identifier.len() {
        40 => hex::<Sha1>(content) == identifier,
        64 => hex::<Sha256>(content) == identifier,
        _ => false,
    }
}

// Finds the newest commit of each wanted path in one pass over the log.

/// Each commit begins with two empty items and its header, in the format that follows; its paths follow. A merge lists the paths that
/// differ from all its parents, which are those that the merge itself changed. `-O/dev/null` is there because a repository's own
/// setting for the order of paths would name a file.
const LOG: [&str; 13] = [
    "log", "--name-only", "-z", "-c", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-show-signature",
    "--no-notes", "--no-decorate", "--no-color", "--no-mailmap", "-O/dev/null",
];

/// Passes the items of the log under `root`, newest commit first, to `each` until it breaks off. `options` are those of this log, the
/// format among them.
fn log(
    root: &Path,
    is_top: bool,
    options: &[&str],
    limit: &Limit<'_>,
    each: impl FnMut(LogItem<'_>) -> ControlFlow<()> + Send,
) -> Result<(), String> {
    let mut arguments = [&LOG, options].concat();
    arguments.extend(if is_top { &["--no-relative", "HEAD", "--"][..] } else { &["--relative", "HEAD", "--", "."] });
    let mut log = Log { each, pending: Vec::new(), empty: 0, first: false };
    ask(root, &arguments, limit, |bytes| log.take(bytes))
}

/// Fills in the times, in seconds since 1970, newest commit first, until every path has one or the history ends.
///
/// # Errors
/// The reason why the log was not read to the end, in words for people. The times read until then are filled in.
pub(crate) fn read(
    root: &Path,
    is_top: bool,
    wanted: &mut HashMap<&str, Option<i64>>,
    limit: &Limit<'_>,
) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    log(root, is_top, &["--format=%x00%x00%ct", "--diff-filter=ACMR"], limit, first_times(wanted))
}

/// Gives each wanted path the time of the first commit that names it.
fn first_times(wanted: &mut HashMap<&str, Option<i64>>) -> impl FnMut(LogItem<'_>) -> ControlFlow<()> {
    let mut left = wanted.len();
    let mut time: Option<i64> = None;
    move |item| {
        match item {
            LogItem::Header(header) => time = header.trim().parse().ok(),
            LogItem::Path(path) => {
                if let (Some(time), Some(slot @ None)) = (time, wanted.get_mut(path)) {
                    *slot = Some(time);
                    left -= 1;
                }
            }
        }
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The reason why a repository has no history.
pub(crate) const NO_COMMIT: &str = "the git repository has no commit yet";

/// A commit of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commit {
    /// Its identifier, in hexadecimal digits.
    pub hash: String,
    /// Its time in seconds since 1970.
    pub seconds: i64,
    /// The name of its author.
    pub author: String,
    /// Its message.
    pub message: String,
    /// The paths under the root that it touched.
    pub paths: Vec<String>,
}

impl Commit {
    /// Returns the commit that a header describes; `None` if it is malformed.
    fn parse(header: &str) -> Option<Commit> {
        let mut lines = header.splitn(4, '\n');
        let (hash, seconds, author) = (lines.next()?.to_owned(), lines.next()?.parse().ok()?, lines.next()?.to_owned());
        Some(Commit { hash, seconds, author, message: lines.next()?.trim().to_owned(), paths: Vec::new() })
    }
}

/// Returns the last `most` commits under `root` since a time in seconds since 1970, newest first.
///
/// # Errors
/// The reason why git gives no whole answer, in words for people.
pub(crate) fn history(
    root: &Path,
    most: usize,
    since: Option<i64>,
    stopped: &dyn Fn() -> bool,
) -> Result<Vec<Commit>, String> {
    let repository = Repository::find(root).ok_or("no git repository holds it")?;
    if let Some(file) = repository.unsound() {
        return Err(format!("{}: not a regular file of a sensible size, so git is not asked", file.display()));
    }
    let most = format!("--max-count={most}");
    let since = since.map(|since| format!("--since={since}"));
    let mut options = vec!["--format=%x00%x00%H%n%at%n%an%n%B", most.as_str()];
    options.extend(since.as_deref());
    let mut commits: Vec<Commit> = Vec::new();
    let limit = Limit { until: Instant::now() + PATIENCE_FOR_ALL, stopped };
    log(root, repository.top() == root, &options, &limit, |item| {
        match item {
            LogItem::Header(header) => commits.extend(Commit::parse(header)),
            LogItem::Path(path) => commits.last_mut().into_iter().for_each(|commit| commit.paths.push(path.to_owned())),
        }
        ControlFlow::Continue(())
    })
    .map_err(|problem| if repository.head().is_none() { NO_COMMIT.to_owned() } else { problem })?;
    Ok(commits)
}

/// Returns what a commit changed in these paths under `root`, as a patch of at most `most_bytes`, and `true` if that is all of it.
///
/// # Errors
/// The reason why git gives no answer, in words for people.
pub(crate) fn patch(root: &Path, hash: &str, paths: &[&str], most_bytes: usize) -> Result<(String, bool), String> {
    let mut arguments = vec![
        "show", "--format=", "--patch", "--relative", "--no-renames", "--no-ext-diff", "--no-textconv",
        "--no-show-signature", "--no-notes", "--no-color", "-O/dev/null", hash, "--",
    ];
    arguments.extend(paths);
    let mut patch = Vec::new();
    ask(root, &arguments, &Limit { until: Instant::now() + PATIENCE, stopped: &|| false }, |bytes| {
        patch.extend_from_slice(bytes);
        if patch.len() > most_bytes { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let is_whole = patch.len() <= most_bytes;
    patch.truncate(most_bytes);
    Ok((String::from_utf8_lossy(&patch).into_owned(), is_whole))
}

/// A part of the log.
enum LogItem<'a> {
    /// The header of a commit.
    Header(&'a str),
    /// A path of the commit.
    Path(&'a str),
}

/// The log while it is read.
struct Log<F> {
    each: F,
    /// The beginning of an unfinished item.
    pending: Vec<u8>,
    /// The number of empty items just before.
    empty: usize,
    /// True until the first path of the commit is read.
    first: bool,
}

impl<F: FnMut(LogItem<'_>) -> ControlFlow<()>> Log<F> {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == 0) {
            let mut item = std::mem::take(&mut self.pending);
            item.extend_from_slice(&rest[..end]);
            self.item(&String::from_utf8_lossy(&item))?;
            rest = &rest[end + 1..];
        }
        self.pending.extend_from_slice(rest);
        ControlFlow::Continue(())
    }

    fn item(&mut self, item: &str) -> ControlFlow<()> {
        if item.is_empty() {
            self.empty += 1;
            return ControlFlow::Continue(());
        }
        if std::mem::take(&mut self.empty) >= 2 {
            self.first = true;
            return (self.each)(LogItem::Header(item));
        }
        // In a commit other than a merge, a line break separates the header from the first path.
        let path = if std::mem::take(&mut self.first) { item.strip_prefix('\n').unwrap_or(item) } else { item };
        (self.each)(LogItem::Path(path))
    }
}

// The directory of a repository's hooks.

/// Returns the directory of the hooks inside the repository, which all of its work trees share.
pub(crate) fn hooks(start: &Path, git_dir: Option<&Path>) -> Result<PathBuf, String> {
    let repository = match git_dir {
        Some(directory) => Repository::at(directory)
            .ok_or_else(|| format!("{} is not the directory of a repository", directory.display()))?,
        None => {
            let start = dunce::canonicalize(start).map_err(|error| error.to_string())?;
            Repository::find(&start).ok_or("not in a git repository; name its directory with --git-dir")?
        }
    };
    let common = repository.common();
    Ok(dunce::canonicalize(common).unwrap_or_else(|_| common.to_owned()).join("hooks"))
}

/// Returns the directory that `core.hooksPath` names in any of the files that configure the repository.
pub(crate) fn hooks_elsewhere(start: &Path, git_dir: Option<&Path>) -> Result<Option<PathBuf>, String> {
    let directory = git_dir.map(|directory| std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned()));
    let directory = directory.map(|directory| directory.to_string_lossy().into_owned());
    let mut arguments: Vec<&str> = Vec::new();
    if let Some(directory) = &directory {
        arguments.extend(["--git-dir", directory]);
    }
    // The setting on our own command line is listed as well, with another origin.
    arguments.extend(["config", "--null", "--show-origin", "--type=path", "--get-all", "core.hooksPath"]);
    let limit = Limit { until: Instant::now() + Duration::from_secs(10), stopped: &|| false };
    let mut listed = Vec::new();
    ask(start, &arguments, &limit, |piece| {
        listed.extend_from_slice(piece);
        ControlFlow::Continue(())
    })?;
    let listed = String::from_utf8_lossy(&listed);
    let fields: Vec<&str> = listed.split_terminator('\0').collect();
    let named =
        fields.chunks_exact(2).filter(|pair| !pair[0].starts_with("command line")).map(|pair| pair[1]).next_back();
    let top = || match git_dir {
        Some(directory) => Some(directory.to_owned()),
        None => Repository::find(&dunce::canonicalize(start).ok()?).map(|found| found.top().to_owned()),
    };
    // A relative path starts where hooks run, which is the top of the work tree.
    Ok(named.filter(|path| !path.is_empty()).map(|path| top().unwrap_or_default().join(path)))
}

// A repository read from its own files, without starting git.

/// The longest small file of a repository, in bytes. A longer one is not valid.
const LONGEST_SMALL_FILE: u64 = 64 * 1024;

/// The longest list of packed references that is read, in bytes.
const LONGEST_LIST: u64 = 64 * 1024 * 1024;

/// A work tree and the directory of its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    top: PathBuf,
    directory: PathBuf,
    common: PathBuf,
}

impl Repository {
    /// Finds the repository of the work tree that contains `root`: that of the nearest ancestor with `.git`, which may be `root`
    /// itself. `.git` is a directory, or in further work trees and submodules a file that names one.
    pub fn find(root: &Path) -> Option<Repository> {
        Repository::with_top(root.ancestors().find(|directory| directory.join(".git").exists())?)
    }

    /// Returns the repository whose work tree begins at `top`.
    fn with_top(top: &Path) -> Option<Repository> {
        let mark = top.join(".git");
        let directory = match fs::metadata(&mark).ok()? {
            metadata if metadata.is_dir() => mark,
            _ => top.join(small_file(&mark)?.strip_prefix("gitdir:")?.trim()),
        };
        Some(Repository::new(top.to_owned(), directory))
    }

    /// Creates the repository at `directory` with the work tree `top`.
    fn new(top: PathBuf, directory: PathBuf) -> Repository {
        // A further work tree shares references, objects and hooks with the first one.
        let common = match small_file(&directory.join("commondir")) {
            Some(common) => directory.join(common.trim()),
            None => directory.clone(),
        };
        Repository { top, directory, common }
    }

    /// Returns the repository whose own directory this is; `None` if it is not one.
    pub fn at(directory: &Path) -> Option<Repository> {
        let is_one = directory.join("HEAD").is_file();
        is_one.then(|| Repository::new(directory.to_owned(), directory.to_owned()))
    }

    /// Returns `true` if a further work tree of this repository begins at a directory.
    pub fn has_work_tree(&self, directory: &Path) -> bool {
        // A repository of its own has a directory there.
        let has_mark = fs::symlink_metadata(directory.join(".git")).is_ok_and(|mark| mark.is_file());
        let is_same = |other: Repository| {
            let common = [&self.common, &other.common].map(dunce::canonicalize);
            matches!(common, [Ok(own), Ok(other)] if own == other)
        };
        has_mark && Repository::with_top(directory).is_some_and(is_same)
    }

    /// Returns the directory that all of its work trees share.
    pub fn common(&self) -> &Path {
        &self.common
    }

    /// Returns the top of the work tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns `true` if older commits are missing. The oldest commit present then seems to have created every file.
    pub fn is_shallow(&self) -> bool {
        fs::metadata(self.common.join("shallow")).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// Returns the first unsafe one of the files that git reads whole: not a regular file, or too large. git would block on a
    /// pipe, and read a device until memory runs out.
    pub fn unsound(&self) -> Option<PathBuf> {
        const READ_WHOLE: [&str; 8] = [
            "HEAD", "config", "config.worktree", "packed-refs", "shallow", "info/attributes", "info/grafts",
            "objects/info/alternates",
        ];
        let places = [&self.directory, &self.common].into_iter();
        let files = places.flat_map(|from| READ_WHOLE.map(|name| from.join(name)));
        let is_sound = |metadata: fs::Metadata| metadata.is_file() && metadata.len() <= LONGEST_LIST;
        files.into_iter().find(|file| fs::metadata(file).is_ok_and(|metadata| !is_sound(metadata)))
    }

    /// Returns a text that changes with every checkout of another commit, usually that commit's identifier. `None` if there is no
    /// commit yet, or if the repository's files are not valid.
    pub fn head(&self) -> Option<String> {
        let head = small_file(&self.directory.join("HEAD"))?;
        let Some(reference) = head.trim_end().strip_prefix("ref:").map(str::trim) else { return commit(&head) };
        // In a repository with reftables this name is a placeholder. The list of tables changes with each reference.
        if reference == "refs/heads/.invalid" {
            let lists = [&self.directory, &self.common].map(|from| small_file(&from.join("reftable/tables.list")));
            let lists: Vec<String> = lists.into_iter().flatten().collect();
            return (!lists.is_empty()).then(|| blake3::hash(lists.concat().as_bytes()).to_hex().to_string());
        }
        let path = Path::new(reference);
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || !path.starts_with("refs") {
            return None;
        }
        match small_file(&self.common.join(path)) {
            Some(own) => commit(&own),
            None => self.packed(reference),
        }
    }

    fn packed(&self, reference: &str) -> Option<String> {
        let list = file(&self.common.join("packed-refs"), LONGEST_LIST)?;
        let line = list.lines().find(|line| line.split_once(' ').is_some_and(|(_, name)| name == reference))?;
        commit(line.split_once(' ')?.0)
    }
}

/// Returns the text if it is the identifier of a commit.
fn commit(text: &str) -> Option<String> {
    let text = text.trim();
    (matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

fn small_file(path: &Path) -> Option<String> {
    file(path, LONGEST_SMALL_FILE)
}

/// Reads a regular text file. Reading a pipe in its place would block forever.
fn file(path: &Path, longest: u64) -> Option<String> {
    String::from_utf8(read_regular(path, longest).ok()?).ok()
}

/// Returns the file of exclusions for a work tree whose repository is somewhere else.
pub(crate) fn exclude_elsewhere(top: &Path) -> Option<PathBuf> {
    Some(Repository::with_top(top)?.common.join("info/exclude"))
}

// Calls `git` so that nothing in a repository's own configuration runs.
//
// A repository can name programs: a file system monitor, hooks, a pager, a differ, text converters, a signature checker, an ssh
// command, or helpers of a remote that would fetch missing objects. Each is either set to nothing on the command line, which
// overrides every file and its includes, or switched off by a flag. We only run commands that read objects. None reads the files
// of the tree, for which filters could run.

/// Settings on the command line, before the command.
const SETTINGS: [&str; 14] = [
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.attributesFile=/dev/null",
    "core.sshCommand=false", "core.askPass=", "credential.helper=", "gpg.program=false", "gpg.ssh.program=false",
    "diff.external=", "diff.relative=false", "log.showSignature=false", "log.showRoot=true", "log.follow=false",
];

/// Most bytes taken from one command.
const MOST_BYTES: usize = 1 << 30;

/// Runs `git` with these arguments in `root` and passes its output to `each`, piece by piece, until the output ends or `each`
/// breaks off.
///
/// # Errors
/// The reason for a missing or partial answer, in words for people.
pub(crate) fn ask(
    root: &Path,
    arguments: &[&str],
    limit: &Limit<'_>,
    each: impl FnMut(&[u8]) -> ControlFlow<()> + Send,
) -> Result<(), String> {
    let ended = subprocess::run(&mut command(root, arguments)?, MOST_BYTES, limit, each)
        .map_err(|error| format!("git cannot be started: {error}"))?;
    match ended.end {
        End::Enough => Ok(()),
        End::Late => Err("git took too long, so only a part of the history was read".into()),
        End::All if ended.code == Some(0) => Ok(()),
        End::TooMuch => Err("git's answer is too long, so only a part of it was read".into()),
        End::All | End::Broken => Err(reason(&ended.complaint)),
    }
}

/// Returns git's error output as one line.
fn reason(complaint: &str) -> String {
    if complaint.contains("dubious ownership") {
        return "the repository belongs to somebody else, so git does not read it (`git config --global --add safe.directory DIR` allows it)".into();
    }
    match complaint.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!("git says: {line}"),
        None => "git failed without a word".into(),
    }
}

fn command(root: &Path, arguments: &[&str]) -> Result<Command, String> {
    let mut command = Command::new(subprocess::program("git").ok_or("there is no git on this machine")?);
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().to_ascii_uppercase().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    // Objects missing from a partial clone are not fetched. The first variable is for newer versions, the second for all.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command.args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"]);
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    command.args(arguments);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_gits() {
        // `printf 'hello\n' | git hash-object --stdin`, in repositories of both kinds.
        assert!(is(b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"));
        assert!(is(b"hello\n", "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"));
        assert!(!is(b"hullo\n", "ce013625030ba8dba906f756967f9e9ca394464a") && !is(b"hello\n", "ce01"));
    }

    fn reader<F: FnMut(LogItem<'_>) -> ControlFlow<()>>(each: F) -> Log<F> {
        Log { each, pending: Vec::new(), empty: 0, first: false }
    }

    #[test]
    fn a_header_is_a_commit() {
        let commit = Commit::parse("1f2e\n300\nAda Lovelace\nMend the pump\n\nIt leaked.\n\n").expect("a commit");
        assert_eq!((commit.seconds, commit.author.as_str()), (300, "Ada Lovelace"));
        assert_eq!(commit.message, "Mend the pump\n\nIt leaked.");
        assert_eq!(Commit::parse("1f2e\nnoon\nAda\nMend"), None);
    }

    #[test]
    fn the_first_commit_that_names_a_path_counts() {
        // A merge that changed `d` itself, a commit without paths, and two plain ones.
        let log = b"\0\x00300\0\0d\0\0\x00250\0\0\x00200\0\na\0d\0\0\x00100\0\na\0sub/b\x00300\0";
        for size in [1, 3, 1000] {
            let mut wanted: HashMap<&str, Option<i64>> = ["a", "sub/b", "d", "300", "none"].map(|a| (a, None)).into();
            let mut reader = reader(first_times(&mut wanted));
            assert!(log.chunks(size).all(|bytes| reader.take(bytes).is_continue()));
            let expected =
                [("a", Some(200)), ("sub/b", Some(100)), ("d", Some(300)), ("300", Some(100)), ("none", None)];
            drop(reader);
            assert_eq!(wanted, expected.into());
        }

        let mut wanted: HashMap<&str, Option<i64>> = [("a", None)].into();
        assert!(reader(first_times(&mut wanted)).take(b"\0\x00200\0\na\0b\0").is_break());
        assert_eq!(wanted["a"], Some(200));
    }

    const FIRST: &str = "1111111111111111111111111111111111111111";
    const SECOND: &str = "2222222222222222222222222222222222222222";

    fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        let root = directory.path().to_owned();
        (directory, root)
    }

    fn head(files: &[(&str, &str)]) -> Option<String> {
        let (_directory, root) = repository(files);
        Repository::find(&root)?.head()
    }

    #[test]
    fn the_head_is_the_commit_that_is_checked_out() {
        let on_main = (".git/HEAD", "ref: refs/heads/main\n");
        let packed = format!("# pack-refs with: peeled\n{FIRST} refs/heads/main\n{SECOND} refs/heads/maintenance\n");
        assert_eq!(head(&[(".git/HEAD", &format!("{FIRST}\n"))]).as_deref(), Some(FIRST), "detached");
        assert_eq!(head(&[on_main, (".git/packed-refs", &packed)]).as_deref(), Some(FIRST));
        let loose = (".git/refs/heads/main", SECOND);
        assert_eq!(head(&[on_main, loose, (".git/packed-refs", &packed)]).as_deref(), Some(SECOND), "loose is newer");
        assert_eq!(head(&[on_main]), None, "no commit yet");
        let tables = |of: &str| head(&[(".git/HEAD", "ref: refs/heads/.invalid"), (".git/reftable/tables.list", of)]);
        assert!(tables("0x1.ref\n").is_some());
        assert_ne!(tables("0x1.ref\n"), tables("0x2.ref\n"));

        let elsewhere = ("secret", FIRST);
        for target in ["../secret", "/etc/passwd", "refs/../../secret", "secret"] {
            assert_eq!(head(&[(".git/HEAD", &format!("ref: {target}")), elsewhere]), None, "{target}");
        }
        assert_eq!(head(&[(".git/HEAD", "not a commit")]), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_repository_that_git_could_not_read_to_an_end_is_named() {
        let (_directory, root) = repository(&[(".git/HEAD", FIRST), (".git/objects/info/none", "")]);
        let found = Repository::find(&root).expect("a repository");
        assert_eq!(found.unsound(), None);
        let alternates = root.join(".git/objects/info/alternates");
        std::os::unix::fs::symlink("/dev/zero", &alternates).expect("linked");
        assert_eq!(found.unsound(), Some(alternates));
        std::os::unix::fs::symlink("/dev/zero", root.join(".git/packed-refs")).expect("linked");
        assert_eq!(found.unsound(), Some(root.join(".git/packed-refs")));
        assert_eq!(found.head().as_deref(), Some(FIRST));
    }

    #[test]
    fn further_work_trees_have_their_own_head_and_shared_references() {
        let (_directory, root) = repository(&[
            ("main/.git/refs/heads/topic", FIRST),
            ("main/.git/worktrees/side/HEAD", "ref: refs/heads/topic"),
            ("main/.git/worktrees/side/commondir", "../..\n"),
            ("side/.git", "gitdir: ../main/.git/worktrees/side\n"),
            ("side/src/lib.rs", ""),
        ]);
        let repository = Repository::find(&root.join("side/src")).expect("a repository");
        assert_eq!(repository.head().as_deref(), Some(FIRST));
        assert_eq!(repository.top(), root.join("side"));
        assert!(!repository.is_shallow());
        fs::write(root.join("main/.git/shallow"), FIRST).expect("written");
        assert!(repository.is_shallow());
    }
}
