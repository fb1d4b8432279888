//! The dates of documents are those of their last commits, and no program configured by a repository runs.

use crate::support::refresh;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tamis::config::{Config, Origins};
use tamis::{Index, Location};

/// A repository in a temporary directory.
struct Repository {
    directory: tempfile::TempDir,
}

/// The time of the first commit of each test; the others are given as seconds after it.
const START: i64 = 1_600_000_000;

/// Reports that a test was skipped, and why, past the capture of test output.
fn skipped(tests: &str, reason: &str) {
    // Without a reader, nothing is lost.
    let _ = writeln!(std::io::stderr(), "skipped {tests}: {reason}");
}

impl Repository {
    /// Creates an empty one; `None`, with a printed reason, on a machine without git.
    fn new() -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            skipped("a repository", "there is no git on this machine");
            return None;
        }
        let repository = Repository { directory: tempfile::tempdir().expect("a temporary directory") };
        repository.git(&["init", "-q", "-b", "main"]);
        Some(repository)
    }

    /// One with these files in its first commit.
    fn with(files: &[(&str, &str)]) -> Option<Self> {
        let repository = Repository::new()?;
        files.iter().for_each(|(path, text)| repository.write(path, text));
        repository.commit(0);
        Some(repository)
    }

    /// What git prints here.
    fn output(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").args(arguments).current_dir(self.root()).output().expect("git runs");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    fn root(&self) -> PathBuf {
        dunce::canonicalize(self.directory.path()).expect("a path")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn git(&self, arguments: &[&str]) {
        self.git_at(&self.root(), 0, arguments);
    }

    fn git_at(&self, directory: &Path, seconds: i64, arguments: &[&str]) {
        let date = format!("{} +0000", START + seconds);
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            command.env_remove(name);
        }
        let output = command
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false"])
            .args(["-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(directory)
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self, seconds: i64) {
        self.git(&["add", "-A"]);
        self.git_at(&self.root(), seconds, &["commit", "-q", "-m", "change"]);
    }

    fn open(&self) -> Index {
        open(&self.root())
    }
}

fn open(root: &Path) -> Index {
    let flags = vec![("index.models".into(), "static".into(), "test".into())];
    let config = Config::load(&Origins { flags, ..Origins::default() }, None).expect("valid");
    Index::at(Location::at(root, None), config).expect("opened")
}

/// Seconds after the start by path; `None` for a document without the date of a commit.
fn dates(index: &Index) -> BTreeMap<String, Option<i64>> {
    let documents = index.contents().documents(index.namespace()).expect("documents");
    let seconds = |date: i64| date / 1_000_000_000 - START;
    documents.into_iter().map(|document| (document.path, document.dated_ns.map(seconds))).collect()
}

fn expected<const N: usize>(dates: [(&str, Option<i64>); N]) -> BTreeMap<String, Option<i64>> {
    dates.into_iter().map(|(path, date)| (path.to_owned(), date)).collect()
}

#[cfg(unix)]
#[test]
fn a_repository_of_somebody_else_has_no_dates() {
    use std::os::unix::fs::chown;
    let Some(repository) = Repository::with(&[("a.md", "# One\n")]) else { return };
    if chown(repository.root(), Some(65534), None).is_err()
        || chown(repository.root().join(".git"), Some(65534), None).is_err()
    {
        skipped("another owner", "giving a file away needs rights that this user does not have");
        return;
    }
    let index = repository.open();
    let report = refresh(&index);
    assert!(report.undated.concat().contains("safe.directory"), "{:?}", report.undated);
    assert_eq!(dates(&index), expected([("a.md", None)]));
}

/// A script that leaves a file behind when it runs, and the file's path.
#[cfg(unix)]
fn tripwire(directory: &Path) -> (String, PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    let (script, trace) = (directory.join("run"), directory.join("ran"));
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $@\" >> {}\nexit 0\n", trace.display())).expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("set");
    (script.to_string_lossy().into_owned(), trace)
}

#[cfg(unix)]
#[test]
fn trap_nothing_that_a_repository_configures_runs() {
    let Some(repository) =
        Repository::with(&[("a.md", "# One\n"), (".gitattributes", "* diff=evil filter=evil merge=evil\n")])
    else {
        return;
    };
    repository.write("b.md", "# Two\n");
    repository.commit(10);
    // A signed commit, whose signature the configuration would have checked.
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let (script, trace) = tripwire(elsewhere.path());
    let object = repository.output(&["cat-file", "commit", "HEAD"]) + "\n";
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n";
    fs::write(elsewhere.path().join("signed"), object.replacen("\n\n", &format!("\n{signature}"), 1)).expect("written");
    let signed =
        repository.output(&["hash-object", "-t", "commit", "-w", &elsewhere.path().join("signed").to_string_lossy()]);
    repository.git(&["reset", "-q", "--hard", &signed]);
    let hooks = repository.root().join(".git/hooks");
    fs::create_dir_all(&hooks).expect("made");
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout", "pre-commit"] {
        fs::copy(&script, hooks.join(hook)).expect("copied");
    }
    let named = "core.fsmonitor|core.pager|core.editor|core.sshCommand|core.askPass|core.gitProxy|core.alternateRefsCommand|\
                 pager.log|pager.ls-tree|gpg.program|gpg.openpgp.program|gpg.ssh.program|gpg.x509.program|diff.external|\
                 diff.evil.command|diff.evil.textconv|filter.evil.clean|filter.evil.smudge|filter.evil.process|\
                 merge.evil.driver|trailer.evil.command|uploadpack.packObjectsHook";
    named.split('|').for_each(|key| repository.git(&["config", key, &script]));
    for key in ["credential.helper", "alias.log", "alias.ls-tree"] {
        repository.git(&["config", key, &format!("!{script}")]);
    }
    repository.git(&["config", "core.hooksPath", &hooks.to_string_lossy()]);
    for (key, value) in [
        ("log.showSignature", "true"),
        ("log.diffMerges", "on"),
        ("diff.orderFile", "/nowhere"),
        ("diff.relative", "true"),
    ] {
        repository.git(&["config", key, value]);
    }
    let included = elsewhere.path().join("included");
    fs::write(
        &included,
        format!("[core]\n\tfsmonitor = {script}\n\tpager = {script}\n[diff]\n\texternal = {script}\n"),
    )
    .expect("written");
    repository.git(&["config", "include.path", &included.to_string_lossy()]);
    // `git config` above may itself have run a hook.
    let _ = fs::remove_file(&trace);
    let index = repository.open();
    let report = refresh(&index);
    assert!(!trace.exists(), "{}", fs::read_to_string(&trace).unwrap_or_default());
    assert!(report.undated.is_empty(), "{:?}", report.undated);
    assert_eq!(dates(&index), expected([(".gitattributes", Some(0)), ("a.md", Some(0)), ("b.md", Some(10))]));
    // The tripwire works: git without the precautions runs it.
    repository.git(&["config", "--unset", "diff.orderFile"]);
    let _ = fs::remove_file(&trace);
    let _ = Command::new("git").args(["log", "-p", "--ext-diff"]).current_dir(repository.root()).output();
    assert!(trace.exists(), "the repository configures nothing that could run");
}

#[cfg(unix)]
#[test]
fn trap_objects_that_a_partial_clone_lacks_are_not_fetched() {
    let Some(repository) = Repository::with(&[("a.md", "# One\n"), ("sub/b.md", "# Two\n")]) else { return };
    repository.write("a.md", "# One, changed\n");
    repository.commit(10);
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let (script, trace) = tripwire(elsewhere.path());
    // The tree of the first commit is lost, and a remote that runs a program promises to have it.
    let tree = repository.output(&["rev-parse", "HEAD~1^{tree}"]);
    let (folder, file) = tree.split_at(2);
    let lost = repository.root().join(".git/objects").join(folder).join(file);
    fs::remove_file(lost).expect("removed");
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{script} %S")),
        ("remote.origin.uploadpack", &script),
        ("protocol.ext.allow", "always"),
        ("protocol.allow", "always"),
        ("core.sshCommand", &script),
    ] {
        repository.git(&["config", key, value]);
    }
    let _ = fs::remove_file(&trace);
    let index = repository.open();
    let report = refresh(&index);
    assert!(!trace.exists(), "{}", fs::read_to_string(&trace).unwrap_or_default());
    assert!(!report.undated.is_empty(), "what is missing is told");
    let _ = Command::new("git").args(["log", "--name-only"]).current_dir(repository.root()).output();
    assert!(trace.exists(), "git asked in the usual way fetches");
}

#[cfg(unix)]
#[test]
fn trap_a_pipe_in_place_of_a_repositorys_file_is_not_waited_for() {
    let Some(repository) = Repository::with(&[("a.md", "# One\n")]) else { return };
    let head = repository.root().join(".git/HEAD");
    fs::remove_file(&head).expect("removed");
    if !Command::new("mkfifo").arg(&head).status().is_ok_and(|status| status.success()) {
        skipped("a pipe", "there is no mkfifo on this machine");
        return;
    }
    let index = repository.open();
    assert!(!refresh(&index).undated.is_empty());
}
