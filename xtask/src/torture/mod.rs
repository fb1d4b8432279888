//! `cargo xtask torture`: kills, failing system calls, damaged files, full disks, and the same again from a seed.
//!
//! Each round works on a copy of one small index ([`fixture`]) with the real program ([`sandbox`]), disturbs a piece of
//! [`work`] and [`check`]s what is left. What a round does follows from its seed, kind and number alone ([`plan`]); the
//! moment at which a signal arrives is the machine's. The [`table`] says how many were tried, how many disturbances hit
//! the work while it went on, and what was lost.

mod check;
mod corrupt;
mod disk;
mod fault;
mod fixture;
mod ground;
mod kill;
mod plan;
mod sandbox;
mod server;
mod table;
mod work;

use crate::run::{cargo, root};
use anyhow::{Context, Result, bail, ensure};
use ground::Ground;
use plan::{Kind, Options, Round};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use table::{Outcome, Table};

pub use plan::FLAGS;

/// How often the table so far is shown.
const SHOWN_EVERY: Duration = Duration::from_secs(60);

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
    let ground = Ground::new(&binary)?;
    let started = Instant::now();
    let table = Mutex::new(Table::default());
    let rounds = options.rounds();
    let (next, shown) = (AtomicUsize::new(0), Mutex::new(started));
    eprintln!("torture: {} rounds from seed {}, {} at a time", rounds.len(), options.seed, options.jobs);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.min(rounds.len()) {
            scope.spawn(|| {
                while let Some(round) = rounds.get(next.fetch_add(1, SeqCst)) {
                    one(&ground, *round, &options, &table);
                    let mut last = shown.lock().unwrap_or_else(PoisonError::into_inner);
                    if last.elapsed() > SHOWN_EVERY {
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
    ensure!(table.is_clean(), "something was lost; the commands above do those rounds again");
    Ok(())
}

/// Does one round and takes it down.
fn one(ground: &Ground, round: Round, options: &Options, table: &Mutex<Table>) {
    let obstacle = match (round.kind, &ground.faults) {
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
        Kind::Kill => kill::round(ground, &mut random, &mut sandbox),
        Kind::Fault => fault::round(ground, &mut random, &mut sandbox),
        Kind::Corrupt => corrupt::round(ground, &mut random, &mut sandbox),
        Kind::Disk => disk::round(ground, &mut random, &mut sandbox),
        Kind::Server => server::round(ground, &mut random, &mut sandbox),
    };
    let mut outcome: Result<Outcome, String> = outcome.map_err(|error| format!("{error:#}"));
    if let (Err(reason), Some(sandbox), true) = (&mut outcome, &mut sandbox, options.keep) {
        sandbox.keep();
        reason.push_str(&format!("\nleft in {}", sandbox.directory().display()));
    }
    match &outcome {
        Ok(outcome) if options.only.is_some() => println!("{}", outcome.told),
        Ok(_) => {}
        Err(reason) => eprintln!("lost: {}\n{reason}\n", round.command()),
    }
    lock().take(round, outcome);
}

/// The program that is tortured.
fn binary(options: &Options) -> Result<PathBuf> {
    if let Some(binary) = &options.binary {
        ensure!(binary.is_file(), "--binary {}: there is no such file", binary.display());
        return binary.canonicalize().context("--binary");
    }
    let profile = match options.debug {
        true => {
            cargo(&["build", "--workspace", "--bin", "tamis"])?;
            "debug"
        }
        false => {
            cargo(&["build", "--release", "--package", "tamis-cli"])?;
            "release"
        }
    };
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let binary = target.join(profile).join(format!("tamis{}", std::env::consts::EXE_SUFFIX));
    if !binary.is_file() {
        bail!("{} was not built", binary.display());
    }
    Ok(binary)
}
