//! `cargo xtask torture --postgres`: kills in a team's installation, with an index in PostgreSQL.
//!
//! All rounds share one database server, which keeps what it has acknowledged (`fsync`). Each has a tree and a namespace of its own, two
//! servers under load, and a worker that indexes the tree. One of them, or the database server with all its processes, is killed at a
//! seeded moment ([`round`]). A [`crowd`] of processes comes first.

mod crowd;
mod round;
mod team;

use super::random::Random;
use crate::postgres::DurableServer;
use anyhow::{Result, ensure};
use round::Target;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// What the rounds of a target came to.
#[derive(Debug, Default)]
struct Line {
    tried: u64,
    landed: u64,
    lost: u64,
    notes: usize,
    judgements: usize,
    recovery: Duration,
}

/// Runs the rounds and prints their table.
///
/// # Errors
/// Something was lost, or there is no PostgreSQL to download for this machine.
pub fn run(binary: &Path, seed: u64, rounds: u64) -> Result<()> {
    let started = Instant::now();
    let database = DurableServer::start()?;
    eprintln!("torture: {rounds} rounds with PostgreSQL from seed {seed}");
    println!("{}", crowd::run(binary, &database)?);
    let mut lines = BTreeMap::<Target, Line>::new();
    let mut lost = Vec::new();
    for number in 1..=rounds {
        let mut random = Random(seed ^ Random(number << 8).next_u64());
        // Each target has its turn; everything else is random.
        let target = Target::ALL[(number % 3) as usize];
        let line = lines.entry(target).or_default();
        line.tried += 1;
        match round::run(binary, &database, target, number, &mut random) {
            Ok(outcome) => {
                line.landed += u64::from(outcome.landed);
                line.notes += outcome.notes;
                line.judgements += outcome.judgements;
                line.recovery = line.recovery.max(outcome.recovery);
            }
            Err(error) => {
                line.lost += 1;
                eprintln!("lost: round {number}, {target:?}: {error:#}\n");
                lost.push(number);
            }
        }
        if number.is_multiple_of(10) {
            eprintln!("torture: {number} of {rounds} rounds after {} s", started.elapsed().as_secs());
        }
    }
    println!("killed    tried  landed  lost  notes  judgements  slowest recovery");
    for (target, line) in &lines {
        let Line { tried, landed, lost, notes, judgements, recovery } = line;
        let name = target.name();
        println!(
            "{name:<8} {tried:>6} {landed:>7} {lost:>5} {notes:>6} {judgements:>11} {:>15.2} s",
            recovery.as_secs_f64()
        );
    }
    println!("in {} s", started.elapsed().as_secs());
    ensure!(lost.is_empty(), "something was lost in the rounds {lost:?}; `--seed {seed} --rounds N` repeats them");
    Ok(())
}
