//! The clients: readers and judges of a server, writers of notes and an indexer.

use super::http::ask;
use super::ledger::{Call, Ledger};
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::Scope;
use std::time::{Duration, Instant};
use xtask::torture::sandbox::{Running, Sandbox};

/// The namespace of the tree that is indexed and searched.
pub const TREE: &str = "mill";

/// The number of its files, and of the sections of each.
pub const FILES: usize = 30;
const SECTIONS: usize = 5;

/// The number of readers.
const READERS: usize = 2;

/// Pause between two calls of a client.
const PAUSE: Duration = Duration::from_millis(50);

/// The limit for the server to start.
const START: Duration = Duration::from_secs(60);

/// The program with its database.
#[derive(Clone, Copy, Debug)]
pub struct Tamis<'a> {
    /// The program.
    pub binary: &'a Path,
    /// The address of its database.
    pub url: &'a str,
    /// The file with the password.
    pub passwords: &'a Path,
}

impl Tamis<'_> {
    /// Prepares a command in a tree of its own.
    pub fn command(&self, sandbox: &Sandbox, namespace: &str, arguments: &[&str]) -> Command {
        let mut command = sandbox.command(arguments);
        command.env("TAMIS_STORE_URL", self.url).env("TAMIS_STORE_NAMESPACE", namespace);
        command.env("PGPASSFILE", self.passwords).env_remove("PGPASSWORD");
        command
    }

    /// Runs a command and requires success.
    ///
    /// # Errors
    /// It fails.
    pub fn done(&self, sandbox: &Sandbox, namespace: &str, arguments: &[&str]) -> Result<String> {
        let ended = Running::start(&mut self.command(sandbox, namespace, arguments))?.end()?;
        anyhow::ensure!(ended.code() == Some(0), "tamis {} {ended}", arguments.join(" "));
        Ok(ended.out)
    }
}

/// Writes the tree of one round: every section of every file names it.
pub fn write_tree(sandbox: &Sandbox, round: u64) -> Result<()> {
    for file in 0..FILES {
        let mut text = format!("# Tide {file}\n");
        for section in 0..SECTIONS {
            text += &format!(
                "\n## Day {section}\n\nThe tide of day {section} turned near the mill {file}, as was noted in mark{round}x, and the \
                 miller waited for the water to rise before he opened the gate of the pond.\n"
            );
        }
        sandbox.write(&format!("tide-{file}.md"), &text)?;
    }
    Ok(())
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    running: Running,
    /// Its address.
    pub address: String,
}

impl Server {
    /// Starts `tamis serve` on a tree and waits for its address.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(tamis: &Tamis<'_>, sandbox: &Sandbox) -> Result<Server> {
        let arguments = ["serve", "--http", "127.0.0.1:0", "--allow-feedback", "--no-refresh"];
        let running = Running::start(&mut tamis.command(sandbox, TREE, &arguments))?;
        loop {
            let Ok(line) = running.lines.recv_timeout(START) else {
                bail!("tamis serve did not print its address: {}", running.kill()?);
            };
            if let Some((_, rest)) = line.split_once("http://") {
                let address = rest.split(['/', ' ']).next().unwrap_or_default().to_owned();
                return Ok(Server { running, address });
            }
        }
    }

    /// Kills it and returns what it printed on standard error.
    ///
    /// # Errors
    /// The system refuses.
    pub fn end(self) -> Result<String> {
        Ok(self.running.kill()?.err)
    }
}

/// Starts all clients. They end when `stop` is set.
pub fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    tamis: Tamis<'scope>,
    tree: &'scope Sandbox,
    server: &'scope str,
    ledger: &'scope Ledger,
    stop: &'scope AtomicBool,
) {
    let goes_on = || {
        std::thread::sleep(PAUSE);
        !stop.load(SeqCst)
    };
    for _ in 0..READERS {
        scope.spawn(move || {
            while goes_on() {
                search_and_judge(server, ledger);
            }
        });
    }
    scope.spawn(move || {
        for number in 0_u64.. {
            if !goes_on() {
                return;
            }
            let (began, name) = (Instant::now(), format!("note{number}"));
            match remember(&tamis, &name) {
                Ok(()) => ledger.acknowledge(Call::Note, began, |entries| entries.notes.push(name)),
                Err(error) => ledger.fail(Call::Note, &format!("{error:#}")),
            }
        }
    });
    scope.spawn(move || {
        for round in 1_u64.. {
            if !goes_on() {
                return;
            }
            let began = Instant::now();
            let done =
                write_tree(tree, round).and_then(|()| run(&mut tamis.command(tree, TREE, &["index", "--quiet"])));
            match done {
                Ok(_) => ledger.acknowledge(Call::Index, began, |entries| entries.round = round),
                Err(error) => ledger.fail(Call::Index, &format!("{error:#}")),
            }
        }
    });
}

/// Searches on the server and judges the first result.
fn search_and_judge(server: &str, ledger: &Ledger) {
    let began = Instant::now();
    let found = match ask(server, "/v1/search?query=when+does+the+tide+turn+near+the+mill&limit=3", None) {
        Ok(answer) if answer.status == 200 => answer.json(),
        Ok(answer) => return ledger.fail(Call::Search, &format!("{}: {}", answer.status, answer.body)),
        Err(error) => return ledger.fail(Call::Search, &format!("{error:#}")),
    };
    if found["results"].as_array().is_none_or(|results| results.is_empty()) {
        return ledger.fail(Call::Search, "an answer without results");
    }
    ledger.acknowledge(Call::Search, began, |_| {});
    // Without one, the search could not be recorded.
    let Some(search) = found["query_id"].as_str() else { return };
    let began = Instant::now();
    let judgement = json!({ "query_id": search, "ids": ["1"], "relevant": true });
    match ask(server, "/v1/feedback", Some(&judgement)) {
        Ok(answer) if answer.status == 200 => {
            ledger.acknowledge(Call::Judgement, began, |entries| entries.judged.push(search.to_owned()));
        }
        Ok(answer) => ledger.fail(Call::Judgement, &format!("{}: {}", answer.status, answer.body)),
        Err(error) => ledger.fail(Call::Judgement, &format!("{error:#}")),
    }
}

/// Adds a note in a tree and a namespace of its own, so that nothing later repairs it.
fn remember(tamis: &Tamis<'_>, name: &str) -> Result<()> {
    let sandbox = Sandbox::empty(tamis.binary)?;
    let out = run(&mut tamis.command(&sandbox, name, &["remember", "--json", &text_of(name)]))?;
    let place: serde_json::Value = serde_json::from_str(&out).context("a place")?;
    match place["not_indexed"].as_str() {
        Some(reason) => bail!("not indexed: {reason}"),
        None => Ok(()),
    }
}

/// The text of a note.
pub fn text_of(name: &str) -> String {
    format!("the word of the day is {name}x")
}

/// Runs a command to its end. Its messages are the error.
fn run(command: &mut Command) -> Result<String> {
    let ended = Running::start(command)?.end()?;
    match ended.code() {
        Some(0) => Ok(ended.out),
        code => bail!("{code:?}: {}", ended.err.trim()),
    }
}
