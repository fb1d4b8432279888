//! A few rounds of `cargo xtask torture`, so that a change which loses something is noticed before a whole table is made.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program, where this workspace's tests have built it.
fn program() -> PathBuf {
    let directory = Path::new(env!("CARGO_BIN_EXE_xtask")).parent().expect("a directory");
    directory.join(format!("tamis{}", std::env::consts::EXE_SUFFIX))
}

#[test]
fn a_few_rounds_of_each_kind_lose_nothing() {
    let program = program();
    if !program.is_file() {
        println!("skipped: 1 test, since {} was not built", program.display());
        return;
    }
    let mut torture = Command::new(env!("CARGO_BIN_EXE_xtask"));
    torture.args(["torture", "--rounds", "2", "--jobs", "2", "--binary"]).arg(&program);
    let output = torture.output().expect("it starts");
    let (table, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{table}\n{errors}");
    for kind in ["kill", "fault", "corrupt", "disk", "server"] {
        assert!(table.lines().any(|line| line.starts_with(kind)), "{table}");
    }
}

#[test]
fn a_few_kills_in_a_team_lose_nothing() {
    let program = program();
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) || !program.is_file() {
        println!("skipped: 1 test, since {} was not built or there is no PostgreSQL for it", program.display());
        return;
    }
    // The tests that need a PostgreSQL have one only when its programs could be downloaded.
    if std::env::var_os("TAMIS_TEST_POSTGRES").is_none() {
        println!("skipped: 1 test, since TAMIS_TEST_POSTGRES is not set");
        return;
    }
    let mut torture = Command::new(env!("CARGO_BIN_EXE_xtask"));
    torture.args(["torture", "--postgres", "--rounds", "3", "--binary"]).arg(&program);
    let output = torture.output().expect("it starts");
    let (table, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{table}\n{errors}");
    for target in ["server", "database", "worker"] {
        assert!(table.lines().any(|line| line.starts_with(target)), "{table}");
    }
}
