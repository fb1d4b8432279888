//! Lines in the hooks of real repositories: added, kept beside existing lines, removed byte for byte.

use crate::support::assert_says;
use std::fs;
use std::path::Path;
use std::process::Command;
use tamis::hook::{HOOKS, HookReport, HookState, install, remove};
use tempfile::TempDir;

/// Runs git in a directory, isolated from the machine's configuration.
fn git(directory: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(directory).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.args(arguments).output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn repository() -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    git(directory.path(), &["init", "-q"]);
    directory
}

fn states(report: &HookReport) -> Vec<&HookState> {
    report.hooks.iter().map(|(_, state)| state).collect()
}

fn write_hook(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(path, text).expect("written");
    executable(path, 0o755);
}

#[cfg(unix)]
fn executable(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

#[cfg(not(unix))]
fn executable(_: &Path, _: u32) {}

#[test]
fn installed_twice_and_removed_leaves_nothing_behind() {
    let repository = repository();
    let hooks = repository.path().join(".git/hooks");
    let report = install(repository.path(), None).expect("installed");
    assert_eq!(states(&report), [&HookState::Installed; 4]);
    for name in HOOKS {
        let path = hooks.join(name);
        assert!(fs::read_to_string(&path).expect("there").starts_with("#!/bin/sh\n"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_ne!(fs::metadata(&path).expect("there").permissions().mode() & 0o100, 0, "git runs it");
        }
    }
    assert_eq!(states(&install(repository.path(), None).expect("again")), [&HookState::Unchanged; 4]);
    assert_eq!(states(&remove(repository.path(), None).expect("removed")), [&HookState::Removed; 4]);
    assert!(HOOKS.iter().all(|name| !hooks.join(name).exists()));
    assert_eq!(states(&remove(repository.path(), None).expect("again")), [&HookState::Unchanged; 4]);
}

#[test]
fn what_is_there_stays_byte_for_byte_with_its_permissions() {
    let repository = repository();
    let path = repository.path().join(".git/hooks/post-commit");
    let hook = "#!/usr/bin/env bash\r\nset -e\necho mine\nexit 3\n# no newline at the end";
    write_hook(&path, hook);
    executable(&path, 0o750);
    install(repository.path(), None).expect("installed");
    let with = fs::read_to_string(&path).expect("there");
    assert!(with.contains("tamis --quiet index") && with.contains("echo mine\nexit 3\n"), "{with}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o750);
    }
    assert_eq!(remove(repository.path(), None).expect("removed").hooks[0].1, HookState::Removed);
    assert_eq!(fs::read_to_string(&path).expect("there"), hook);
}

#[test]
fn a_hook_that_cannot_take_the_lines_is_left_alone_and_the_others_get_them() {
    let repository = repository();
    let hooks = repository.path().join(".git/hooks");
    let python = "#!/usr/bin/env python3\nprint('mine')\n";
    write_hook(&hooks.join("post-commit"), python);
    write_hook(&hooks.join("post-merge"), "#!/bin/sh\necho off\n");
    executable(&hooks.join("post-merge"), 0o644);
    let report = install(repository.path(), None).expect("installed");
    assert!(report.refused());
    let refused = |name: &str, why: &str| {
        let state = report.hooks.iter().find(|(known, _)| known == name).map(|(_, state)| state);
        assert!(matches!(state, Some(HookState::Refused(reason)) if reason.contains(why)), "{name}: {state:?}");
    };
    refused("post-commit", "not a shell script");
    assert_eq!(fs::read_to_string(hooks.join("post-commit")).expect("there"), python);
    #[cfg(unix)]
    refused("post-merge", "not executable");
    assert!(hooks.join("post-checkout").exists());
    remove(repository.path(), None).expect("removed");
    assert_eq!(fs::read_to_string(hooks.join("post-commit")).expect("there"), python);
    assert!(!hooks.join("post-checkout").exists());
}

#[test]
fn hooks_that_a_manager_keeps_are_its_own() {
    let repository = repository();
    git(repository.path(), &["config", "core.hooksPath", ".husky"]);
    let refused = install(repository.path(), None).expect_err("a manager's").to_string();
    for part in [".husky", "core.hooksPath", "tamis --quiet index", "post-rewrite"] {
        assert!(refused.contains(part), "{part} is not in {refused}");
    }
    assert!(!repository.path().join(".husky").exists() && !repository.path().join(".git/hooks/post-commit").exists());
    git(repository.path(), &["config", "core.hooksPath", ".git/hooks"]);
    assert!(install(repository.path(), None).is_ok(), "the usual place, spelled out");
    git(repository.path(), &["config", "core.hooksPath", ".husky"]);
    assert_eq!(states(&remove(repository.path(), None).expect("removed")), [&HookState::Removed; 4]);
}

#[test]
fn work_trees_and_named_directories_share_the_hooks_of_their_repository() {
    let repository = repository();
    fs::write(repository.path().join("a.md"), "# A\n").expect("written");
    git(repository.path(), &["add", "."]);
    git(repository.path(), &["commit", "-q", "-m", "first"]);
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let side = elsewhere.path().join("side");
    git(repository.path(), &["worktree", "add", "-q", &side.to_string_lossy()]);
    let report = install(&side, None).expect("installed");
    let hooks = dunce::canonicalize(repository.path()).expect("a path").join(".git/hooks");
    assert_eq!(report.directory, hooks);
    let named = install(elsewhere.path(), Some(&repository.path().join(".git"))).expect("found");
    assert_eq!((states(&named), &named.directory), (vec![&HookState::Unchanged; 4], &hooks));
    let own = repository.path().join(".git/worktrees/side");
    assert_eq!(remove(elsewhere.path(), Some(&own)).expect("found").directory, hooks);
}

#[test]
fn without_a_repository_there_is_nothing_to_do() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    assert_says(install(directory.path(), None).expect_err("no repository"), &["not in a git repository"]);
    assert!(install(directory.path(), Some(directory.path())).is_err());
    assert_eq!(fs::read_dir(directory.path()).expect("there").count(), 0);
}
