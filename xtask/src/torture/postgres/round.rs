//! One round: load on two servers, a worker at work, a kill, and the checks after it.

use super::super::random::Random;
use super::super::sandbox::Running;
use super::super::server::{Acknowledged, Call, post};
use super::team::{Served, Team, get};
use crate::postgres::DurableServer;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest time until everything answers again after a kill. A server that was killed and a database have started by then.
const MOST_RECOVERY: Duration = Duration::from_secs(5);

/// What a worker says that starts while the database is down or goes down.
const NO_DATABASE: [&str; 4] = [
    "no server listens there", "wait until the server has started", "the connection to the server was cut",
    "the server ended the connection",
];

/// The number of documents in a tree.
const DOCUMENTS: u64 = 400;

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// One of the servers.
    Server,
    /// The database server, with all its processes.
    Database,
    /// The worker that indexes.
    Worker,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 3] = [Target::Server, Target::Database, Target::Worker];

    /// Returns its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Target::Server => "server",
            Target::Database => "database",
            Target::Worker => "worker",
        }
    }
}

/// What a round that lost nothing did.
pub struct Outcome {
    /// True when the kill hit work that went on.
    pub landed: bool,
    pub notes: usize,
    pub judgements: usize,
    /// The time from the kill, or from the database's return, until all servers answered.
    pub recovery: Duration,
}

/// Runs a round.
///
/// # Errors
/// Something acknowledged was lost, or something did not recover by itself.
pub fn run(
    binary: &Path,
    database: &DurableServer,
    target: Target,
    number: u64,
    random: &mut Random,
) -> Result<Outcome> {
    let namespace = format!("round{number}");
    let team = Team::new(binary, &database.url(), &namespace)?;
    write_tree(&team, 0)?;
    team.queue()?;
    team.worker()?.end()?;
    // The worker of the round has changed and new files to read.
    write_tree(&team, 1 + random.below(DOCUMENTS))?;
    team.queue()?;

    let mut servers = vec![team.serve()?, team.serve()?];
    let stop = AtomicBool::new(false);
    let acknowledged = Mutex::new(Acknowledged::default());
    let written = Mutex::new(Vec::new());
    let after = random.below(20);
    let then = Duration::from_micros(random.below(500_000));
    let killed = random.below(2) as usize;
    let addresses: Vec<String> = servers.iter().map(|server| server.address.clone()).collect();
    let (worker, landed, recovery) = std::thread::scope(|scope| -> Result<(Running, bool, Duration)> {
        for (client, address) in addresses.iter().enumerate() {
            let (stop, acknowledged, written) = (&stop, &acknowledged, &written);
            scope.spawn(move || load(address, number, client as u64, stop, acknowledged, written));
        }
        let outcome = (|| {
            wait(&acknowledged, after);
            let worker = team.worker()?;
            std::thread::sleep(then);
            match target {
                Target::Server => {
                    let gone = servers.remove(killed).running.kill()?;
                    let back = Instant::now();
                    servers.push(team.serve()?);
                    answers(&servers, back)?;
                    Ok((worker, gone.is_killed(), back.elapsed()))
                }
                Target::Worker => {
                    let gone = worker.kill()?;
                    let back = Instant::now();
                    let next = team.worker()?;
                    answers(&servers, back)?;
                    Ok((next, gone.is_killed(), back.elapsed()))
                }
                Target::Database => {
                    database.kill()?;
                    restart(database)?;
                    let back = Instant::now();
                    answers(&servers, back)?;
                    Ok((worker, true, back.elapsed()))
                }
            }
        })();
        // A little more load on what came back.
        std::thread::sleep(Duration::from_millis(200));
        stop.store(true, SeqCst);
        outcome
    })?;
    ensure!(recovery <= MOST_RECOVERY, "it took {recovery:?} until all servers answered");
    let mut ended = worker.end()?;
    if NO_DATABASE.iter().any(|said| ended.err.contains(said)) {
        // One that starts while there is no database ends, and whoever looks after it starts it again.
        ended = team.worker()?.end()?;
    }
    ensure!(ended.code() == Some(0), "the worker: {ended}");
    for server in servers {
        let ended = server.running.kill()?;
        ensure!(ended.is_killed() && !ended.err.contains("panicked at"), "a server: {ended}");
    }
    let work = acknowledged.into_inner().unwrap_or_else(PoisonError::into_inner);
    let written = written.into_inner().unwrap_or_else(PoisonError::into_inner);
    check(&team, database, &namespace, &work, &written)?;
    // Later rounds check the whole database, and would take longer each time.
    team.run(&["index", "--remove", &namespace], &[0])?;
    Ok(Outcome { landed, notes: work.notes.len(), judgements: work.judged.len(), recovery })
}

/// Writes the documents from a number on, each with the number of its writing.
fn write_tree(team: &Team, from: u64) -> Result<()> {
    for number in from..from + DOCUMENTS {
        let mut text = format!("# Harbour {number}\n\nThe glacier and the harbour, written from {from}.\n");
        for section in 0..4 {
            text += &format!("\n## Pier {section}\n\nThe pier {section} of the harbour {number} holds {from} boats.\n");
        }
        team.sandbox.write(&format!("harbour/{number}.md"), &text)?;
    }
    Ok(())
}

/// Calls a server until the end, whatever it answers. `written` receives the notes that are in their file and, as their answer says,
/// not in the index yet.
fn load(
    address: &str,
    round: u64,
    client: u64,
    stop: &AtomicBool,
    acknowledged: &Mutex<Acknowledged>,
    written: &Mutex<Vec<String>>,
) {
    let word = |number: u64| {
        let letters = |mut number: u64| {
            let mut text = String::new();
            for _ in 0..3 {
                text.push(char::from(b'a' + (number % 26) as u8));
                number /= 26;
            }
            text
        };
        format!("quill{}{}{}", letters(round), letters(client), letters(number))
    };
    let mut call = if client == 0 { Call::Search } else { Call::Remember(word(0)) };
    for number in 1.. {
        if stop.load(SeqCst) {
            break;
        }
        match post(address, &call) {
            Ok(answer) if answer["result"]["structuredContent"]["not_indexed"].is_string() => {
                if let Call::Remember(word) = &call {
                    written.lock().unwrap_or_else(PoisonError::into_inner).push(word.clone());
                }
                call = Call::Search;
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(answer) => {
                acknowledged.lock().unwrap_or_else(PoisonError::into_inner).take(&call, &answer);
                call = call.next(&answer, || word(number));
            }
            // It was killed, or cannot reach its database.
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Waits for a number of answers.
fn wait(acknowledged: &Mutex<Acknowledged>, after: u64) {
    let started = Instant::now();
    let answers = || acknowledged.lock().unwrap_or_else(PoisonError::into_inner).answers;
    while answers() < after && started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until all servers answer a search.
fn answers(servers: &[Served], since: Instant) -> Result<()> {
    for server in servers {
        loop {
            let reply = get(&server.address, "/v1/search?query=the+glacier+and+the+harbour&mode=lexical");
            match reply {
                Ok((200, answer)) if answer["results"].as_array().is_some_and(|results| !results.is_empty()) => break,
                other if since.elapsed() > Duration::from_secs(30) => {
                    bail!("a server does not answer again: {other:?}")
                }
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
    Ok(())
}

/// Starts the database server again. What it shared with its processes may take a moment to go.
fn restart(database: &DurableServer) -> Result<()> {
    let started = Instant::now();
    loop {
        match database.restart() {
            Ok(()) => return Ok(()),
            Err(error) if started.elapsed() > Duration::from_secs(30) => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// The number of files that differ from the index.
fn stale(team: &Team) -> Result<u64> {
    let status: Value = serde_json::from_str(&team.run(&["status", "--json"], &[0])?)?;
    status["stale"].as_u64().context("a number of stale files")
}

/// Checks that everything acknowledged is there, that nothing is there in part, and that everything works.
fn check(
    team: &Team,
    database: &DurableServer,
    namespace: &str,
    work: &Acknowledged,
    written: &[String],
) -> Result<()> {
    ensure!(work.faults.is_empty(), "{:?}", work.faults);
    // Before anything is read again.
    let sound = team.run(&["store", "check", "--check-only", "--json"], &[0, 1])?;
    let sound: Value = serde_json::from_str(&sound)?;
    ensure!(sound["problems"].as_array().is_some_and(Vec::is_empty), "store check: {sound}");
    let judged = database.query(&format!(
        "SELECT DISTINCT s.id FROM tamis.usage_judgements j JOIN tamis.usage_searches s \
         ON s.namespace = j.namespace AND s.number = j.search WHERE j.namespace = '{namespace}'"
    ))?;
    for query_id in &work.judged {
        ensure!(judged.lines().any(|id| id == query_id), "the judgement of {query_id} was acknowledged and is missing");
    }
    let mut notes = String::new();
    if !work.notes.is_empty() || !written.is_empty() {
        let memory = team.sandbox.tree().join("memory");
        for entry in fs::read_dir(&memory).with_context(|| memory.display().to_string())? {
            notes.push_str(&fs::read_to_string(entry?.path())?);
        }
    }
    let stored = database.query(&format!(
        "SELECT text FROM tamis.passages p JOIN tamis.documents d ON d.namespace = p.namespace AND d.document = p.document \
         WHERE p.namespace = '{namespace}' AND d.path LIKE 'memory/%'"
    ))?;
    for word in work.notes.iter().chain(written) {
        ensure!(notes.contains(&format!("the {word} is what was noted")), "the note {word} is not in its file");
    }
    for word in &work.notes {
        ensure!(stored.contains(word.as_str()), "the note {word} was acknowledged and is not in the index");
    }
    if let Some(word) = work.notes.last() {
        let found = team.run(&["search", "--json", "--no-refresh", "--mode", "lexical", word], &[0])?;
        ensure!(found.contains("is what was noted"), "the note {word} is not found: {found}");
    }
    // Each document of the tree is whole and as it is on the disk: a heading and four piers.
    let expected = fs::read_dir(team.sandbox.tree().join("harbour"))?.count();
    let whole = database.query(&format!(
        "SELECT count(*) FROM (SELECT d.path FROM tamis.documents d JOIN tamis.passages p \
         ON p.namespace = d.namespace AND p.document = d.document WHERE d.namespace = '{namespace}' AND d.path LIKE 'harbour/%' \
         GROUP BY d.path, d.passages HAVING count(*) = d.passages) AS whole"
    ))?;
    ensure!(whole.trim() == expected.to_string(), "{} of {expected} documents are whole", whole.trim());
    let passages = database.query(&format!(
        "SELECT d.path || '|' || replace(p.text, E'\n', ' ') FROM tamis.documents d JOIN tamis.passages p \
         ON p.namespace = d.namespace AND p.document = d.document WHERE d.namespace = '{namespace}' AND d.path LIKE 'harbour/%'"
    ))?;
    for passage in passages.lines().filter(|line| !line.is_empty()) {
        let (path, text) = passage.split_once('|').context("a path and a text")?;
        let file = fs::read_to_string(team.sandbox.tree().join(path)).with_context(|| path.to_owned())?;
        ensure!(file.replace('\n', " ").contains(text), "{path} differs from the index: {text}");
    }
    if stale(team)? > 0 {
        // A note whose server was killed between its file and the index, or that said itself it was not indexed yet, is read by the
        // next run.
        team.queue()?;
        let ended = team.worker()?.end()?;
        ensure!(ended.code() == Some(0), "the next worker: {ended}");
        let stale = stale(team)?;
        ensure!(stale == 0, "{stale} files differ from the index after another run");
    }
    let failed =
        database.query(&format!("SELECT state FROM tamis.jobs WHERE namespace = '{namespace}' AND state <> 'done'"))?;
    ensure!(failed.trim().is_empty(), "a job is {failed}");
    Ok(())
}
