//! `cargo xtask failover`: the program on three PostgreSQL servers whose primary is killed under load.
//!
//! [`cluster`] runs the servers under Patroni, from [`packages`]. The clients of [`load`] write down in the [`ledger`] what the program
//! acknowledged, and [`check`] looks for all of it at the end. The [`table`] has the times until the program served again.

mod check;
mod cluster;
mod http;
mod ledger;
mod load;
mod options;
mod packages;
mod table;

use anyhow::{Context, Result, ensure};
use cluster::{Cluster, TTL, pause};
use ledger::Ledger;
use load::{Server, Tamis};
use options::{FLAGS, Options};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};
use table::Times;
use xtask::postgres::account::Account;
use xtask::postgres::interrupt::Survival;
use xtask::postgres::server::directory;
use xtask::torture::random::Random;
use xtask::torture::sandbox::Sandbox;

/// The start of the name of the directory.
const PREFIX: &str = "tamis-failover-";

/// The limit for the program to serve again.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The longest time after a kill until a search is answered again, by a standby, and until a change is accepted again.
const SEARCH: Duration = Duration::from_secs(5);
const CHANGE: Duration = Duration::from_secs(30);

/// The moments of kills: after this time under load, and up to as much more.
const CALM: Duration = Duration::from_secs(3);

/// Runs the test and prints its tables.
///
/// # Errors
/// Something acknowledged was lost, the program did not serve again, or the servers cannot be had here.
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help") {
        print!("{FLAGS}");
        return Ok(());
    }
    let options = Options::read(&arguments)?;
    let binary = xtask::torture::program(options.binary.as_deref(), options.debug)?;
    let _survival = Survival::of(&[libc::SIGINT, libc::SIGTERM]);
    // SAFETY: the call cannot fail. The servers' account must be able to read the programs.
    unsafe { libc::umask(0o022) };
    let account = Account::for_server()?;
    let directory = directory(&account, PREFIX)?;
    eprintln!("failover: three servers in {}", directory.display());
    let mut cluster = Cluster::start(account, &directory, options.keep)?;
    cluster.create_database()?;
    let (url, passwords) = (cluster.url(), cluster.password_file());
    eprintln!("failover: the servers are up: {url}");
    let tamis = Tamis { binary: &binary, url: &url, passwords: &passwords };
    let tree = Sandbox::empty(&binary)?;
    load::write_tree(&tree, 0)?;
    tamis.done(&tree, load::TREE, &["store", "init"])?;
    tamis.done(&tree, load::TREE, &["index", "--quiet"])?;
    let server = Server::start(&tamis, &tree)?;
    let (ledger, stop) = (Ledger::default(), AtomicBool::new(false));
    let disturbed = std::thread::scope(|scope| {
        load::start(scope, tamis, &tree, &server.address, &ledger, &stop);
        let disturbed = disturb(&mut cluster, &ledger, &options);
        stop.store(true, SeqCst);
        disturbed
    });
    let log = server.end()?;
    let entries = ledger.entries();
    print!("{}", table::calls(&entries));
    let (kills, restarts) = disturbed?;
    ensure!(!log.contains("panicked at"), "the server panicked: {log}");
    cluster.wait_until_whole()?;
    check::check(&cluster, &tamis, &tree, &entries)?;
    print!("{}", table::times("kill of the primary and its Patroni", &kills));
    print!("{}", table::times("restart of the primary's PostgreSQL", &restarts));
    println!(
        "\nnothing was lost: {} notes, {} judgements and round {} of the indexer are there; Patroni's ttl: {TTL} s",
        entries.notes.len(),
        entries.judged.len(),
        entries.round
    );
    Ok(())
}

/// Kills the primary again and again, then restarts it again and again.
fn disturb(cluster: &mut Cluster, ledger: &Ledger, options: &Options) -> Result<(Vec<Times>, Vec<Times>)> {
    let mut random = Random(options.seed);
    let (mut kills, mut restarts) = (Vec::new(), Vec::new());
    // The clients have to be at work.
    ledger.disturbed();
    wait_until_served(cluster, ledger, None).context("before the first kill")?;
    for number in 1..=options.kills {
        pause(CALM + Duration::from_millis(random.below(CALM.as_millis() as u64)))?;
        ledger.disturbed();
        let killed = cluster.kill_primary()?;
        let times = wait_until_served(cluster, ledger, Some(killed)).with_context(|| format!("after kill {number}"))?;
        say(&format!("kill {number} of {}: {}", options.kills, cluster.name(killed)), &times);
        let is_late = |time: Option<Duration>, most| time.is_none_or(|time| time > most);
        ensure!(!is_late(times.served.search, SEARCH), "kill {number}: no search was answered within {SEARCH:?}");
        ensure!(!is_late(times.served.change, CHANGE), "kill {number}: no change was accepted within {CHANGE:?}");
        kills.push(times);
        cluster.start_again(killed)?;
        cluster.wait_until_whole().with_context(|| format!("after kill {number}"))?;
    }
    for number in 1..=options.restarts {
        pause(CALM + Duration::from_millis(random.below(CALM.as_millis() as u64)))?;
        cluster.restart_primary()?;
        ledger.disturbed();
        let times = wait_until_served(cluster, ledger, None).with_context(|| format!("after restart {number}"))?;
        say(&format!("restart {number} of {}", options.restarts), &times);
        restarts.push(times);
        cluster.wait_until_whole().with_context(|| format!("after restart {number}"))?;
    }
    Ok((kills, restarts))
}

fn say(what: &str, times: &Times) {
    let seconds = |time: Option<Duration>| time.map_or("-".to_owned(), |time| format!("{:.1} s", time.as_secs_f32()));
    eprintln!(
        "failover: {what}; primary again after {}, search after {}, change after {}",
        seconds(times.primary),
        seconds(times.served.search),
        seconds(times.served.change)
    );
}

/// Waits until a search and a change were served, and another server is the primary in place of `killed`.
fn wait_until_served(cluster: &Cluster, ledger: &Ledger, killed: Option<usize>) -> Result<Times> {
    let (started, mut primary) = (Instant::now(), None);
    loop {
        if killed.is_some() && primary.is_none() && cluster.primary().is_some() {
            primary = Some(started.elapsed());
        }
        let served = ledger.served();
        if served.search.is_some() && served.change.is_some() && primary.is_some() == killed.is_some() {
            return Ok(Times { primary, served });
        }
        ensure!(started.elapsed() < TIMEOUT, "the program does not serve again after {TIMEOUT:?}: {served:?}");
        pause(Duration::from_millis(50))?;
    }
}
