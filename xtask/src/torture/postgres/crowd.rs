//! Many servers on one database with 100 connections: all of them answer at once.

use super::team::{Team, get};
use crate::postgres::DurableServer;
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of servers.
const SERVERS: usize = 20;

/// The number of clients of each.
const CLIENTS: usize = 4;

/// The number of searches of each client.
const SEARCHES: usize = 5;

/// Starts the servers, follows the changes at each and searches at all of them at once. Returns what they did.
///
/// # Errors
/// One does not start or answer.
pub fn run(binary: &Path, database: &DurableServer) -> Result<String> {
    let team = Team::new(binary, &database.url(), "crowd")?;
    team.sandbox.write("kept.md", "# Kept\n\nThe narwhal keeps the tide tables of the harbour.\n")?;
    team.queue()?;
    team.worker()?.end()?;
    let servers = (0..SERVERS).map(|_| team.serve()).collect::<Result<Vec<_>>>()?;
    let mut followers = Vec::new();
    for server in &servers {
        let mut stream = TcpStream::connect(&server.address)?;
        stream.write_all(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        followers.push(stream);
    }
    let started = Instant::now();
    let mut most = 0;
    let answered = std::thread::scope(|scope| -> Result<Duration> {
        let mut clients = Vec::new();
        for address in servers.iter().map(|server| server.address.as_str()) {
            clients.extend((0..CLIENTS).map(|_| {
                scope.spawn(move || -> Result<Duration> {
                    let mut slowest = Duration::ZERO;
                    for _ in 0..SEARCHES {
                        let asked = Instant::now();
                        let (status, answer) = get(address, "/v1/search?query=narwhal+tide+tables")?;
                        ensure!(status == 200 && answer.to_string().contains("kept.md"), "{status}: {answer}");
                        slowest = slowest.max(asked.elapsed());
                    }
                    Ok(slowest)
                })
            }));
        }
        while clients.iter().any(|client| !client.is_finished()) {
            most = most.max(connections(database)?);
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut slowest = Duration::ZERO;
        for client in clients {
            slowest = slowest.max(client.join().ok().context("a client ended")??);
        }
        Ok(slowest)
    })?;
    let took = started.elapsed();
    // What nobody needs is given back.
    std::thread::sleep(Duration::from_secs(8));
    let held = connections(database)?;
    drop(followers);
    for server in servers {
        let ended = server.running.kill()?;
        ensure!(!ended.err.contains("panicked at"), "{ended}");
    }
    Ok(format!(
        "{SERVERS} servers, {} searches of {} clients in {:.1} s, the slowest in {:.2} s; connections of 100: at most {most} \
         under load, {held} afterwards",
        SERVERS * CLIENTS * SEARCHES,
        SERVERS * CLIENTS,
        took.as_secs_f64(),
        answered.as_secs_f64()
    ))
}

/// The connections of the program, or all if none is left to count them by.
fn connections(database: &DurableServer) -> Result<u32> {
    match database.query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tamis'") {
        Ok(count) => count.trim().parse().context("a number"),
        // The servers wait for a connection then, and the searches show whether they do.
        Err(error) if error.to_string().contains("too many clients") => Ok(100),
        Err(error) => Err(error),
    }
}
