//! `cargo xtask torture`: kills, failing system calls, damaged files and full disks, repeatable from a seed.
//!
//! Each round copies one small index ([`fixture`]), runs the real program on it ([`sandbox`]), disturbs a piece of [`work`] and
//! [`check`]s the index it leaves. Seed, kind and number alone determine a round ([`plan`]), except for the moment at which a signal
//! arrives. The [`table`] counts the rounds, the disturbances that hit the work while it went on, and the losses.

mod check;
mod corrupt;
mod disk;
mod fault;
mod fixture;
mod kill;
mod mount;
mod plan;
mod postgres;
pub mod random;
pub mod sandbox;
mod server;
mod setup;
mod snapshot;
mod table;
mod work;

use crate::run::{cargo, target};
use anyhow::{Context, Result, bail, ensure};
use plan::{Kind, Options, Round};
use setup::Setup;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use table::{Outcome, Table};

pub use plan::FLAGS;

/// The interval of progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

/// Runs the rounds that the arguments ask for and prints their table.
///
/// # Errors
/// Something was lost, or nothing could be tried.
pub fn run(arguments: &[String]) -> Result<()> {
    if arguments.iter().any(|argument| argument == "--help") {
        print!("{FLAGS}");
        return Ok(());
    }
    let options = Options::read(arguments)?;
    let binary = binary(&options)?;
    if options.postgres {
        return postgres::run(&binary, options.seed, options.rounds);
    }
    let setup = Setup::new(&binary)?;
    let started = Instant::now();
    let table = Mutex::new(Table::default());
    let rounds = options.rounds();
    let (next, shown) = (AtomicUsize::new(0), Mutex::new(started));
    eprintln!("torture: {} rounds from seed {}, {} at a time", rounds.len(), options.seed, options.jobs);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.min(rounds.len()) {
            scope.spawn(|| {
                while let Some(round) = rounds.get(next.fetch_add(1, SeqCst)) {
                    one(&setup, *round, &options, &table);
                    let mut last = shown.lock().unwrap_or_else(PoisonError::into_inner);
                    if last.elapsed() > PROGRESS_INTERVAL {
                        *last = Instant::now();
                        let table = table.lock().unwrap_or_else(PoisonError::into_inner);
                        eprintln!(
                            "torture: {} of {} rounds after {} s",
                            table.rounds(),
                            rounds.len(),
                            started.elapsed().as_secs()
                        );
                    }
                }
            });
        }
    });
    let table = table.into_inner().unwrap_or_else(PoisonError::into_inner);
    print!("{}", table.text(started.elapsed()));
    ensure!(table.is_clean(), "something was lost; the commands above repeat those rounds");
    Ok(())
}

/// Runs one round and adds it to the table.
fn one(setup: &Setup, round: Round, options: &Options, table: &Mutex<Table>) {
    let obstacle = match (round.kind, &setup.faults) {
        (Kind::Fault, Err(reason)) => Some(reason),
        _ => None,
    };
    let lock = || table.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(reason) = obstacle {
        return lock().skip(round, reason);
    }
    let mut random = round.random();
    let mut sandbox = None;
    let outcome = match round.kind {
        Kind::Kill => kill::round(setup, &mut random, &mut sandbox),
        Kind::Fault => fault::round(setup, &mut random, &mut sandbox),
        Kind::Corrupt => corrupt::round(setup, &mut random, &mut sandbox),
        Kind::Disk => disk::round(setup, &mut random, &mut sandbox),
        Kind::Server => server::round(setup, &mut random, &mut sandbox),
    };
    let mut outcome: Result<Outcome, String> = outcome.map_err(|error| format!("{error:#}"));
    if let (Err(reason), Some(sandbox), true) = (&mut outcome, &mut sandbox, options.keep) {
        sandbox.keep();
        reason.push_str(&format!("\nleft in {}", sandbox.directory().display()));
    }
    match &outcome {
        Ok(outcome) if options.only.is_some() => println!("{}", outcome.summary),
        Ok(_) => {}
        Err(reason) => eprintln!("lost: {}\n{reason}\n", round.command()),
    }
    lock().take(round, outcome);
}

/// Returns the program to torture.
fn binary(options: &Options) -> Result<PathBuf> {
    program(options.binary.as_deref(), options.debug)
}

/// Returns a program to try: the given one, or one that is built now.
///
/// # Errors
/// There is none.
pub fn program(given: Option<&Path>, debug: bool) -> Result<PathBuf> {
    if let Some(binary) = given {
        ensure!(binary.is_file(), "--binary {}: file not found", binary.display());
        return binary.canonicalize().context("--binary");
    }
    let profile = match debug {
        true => {
            cargo(&["build", "--workspace", "--bin", "tamis"])?;
            "debug"
        }
        false => {
            cargo(&["build", "--release", "--package", "tamis-cli"])?;
            "release"
        }
    };
    let binary = target().join(profile).join(format!("tamis{}", std::env::consts::EXE_SUFFIX));
    if !binary.is_file() {
        bail!("{} was not built", binary.display());
    }
    Ok(binary)
}
