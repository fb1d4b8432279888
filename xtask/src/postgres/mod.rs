//! `cargo xtask postgres`: a private PostgreSQL with pgvector and pg_textsearch, for tests.
//!
//! The programs come from pinned [`wheels`], which are kept in `target/postgres`. Each `up` unpacks them into a temporary directory,
//! makes a [`server`] there and notes it in the [`state`] file; `down` removes it all. PostgreSQL refuses to run as root, so root
//! hands the server to another [`account`].

pub mod account;
pub mod interrupt;
pub mod server;
mod state;
mod users;
pub mod wheels;

use crate::run::{as_by_hand, root};
use account::Account;
use anyhow::{Context, Result, bail};
use server::Server;
use state::State;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use users::Users;

/// Names the server to test with, in the form `postgres://…`. If it is set, no other server is started.
pub const VARIABLE: &str = "TAMIS_TEST_POSTGRES";

const USAGE: &str = "\
cargo xtask postgres up                 start a private server, unless it is up, and print its URL
cargo xtask postgres url                print the URL of the server that is up
cargo xtask postgres down               stop the server and remove its files
cargo xtask postgres run COMMAND [ARGUMENT]…
                                        run a command with TAMIS_TEST_POSTGRES set to the URL of a server, which `up` started
                                        or which lasts as long as the command

The server is PostgreSQL 18 with pgvector and pg_textsearch. It needs Linux on x86_64 and python3 with pip, loses its data in a
crash, and lets in every local user as its superuser.
";

/// Runs one of the commands.
///
/// # Errors
/// The server cannot be had here, or the command fails.
pub fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["up"] => println!("{}", up(true)?.url()),
        ["url"] => match State::read()?.map(|state| state.server) {
            Some(server) if server.is_up() => println!("{}", server.url()),
            Some(_) => bail!("the server has stopped; `cargo xtask postgres up` starts a new one"),
            None => bail!("no server is up; `cargo xtask postgres up` starts one"),
        },
        ["down"] => down()?,
        ["run", program, rest @ ..] => {
            let status = with_server(|url| {
                let mut command = Command::new(program);
                as_by_hand(&mut command).args(rest).env(VARIABLE, url);
                command.status().with_context(|| format!("{program} cannot be started"))
            })?;
            if !status.success() {
                eprintln!("{program} failed: {status}");
                std::process::exit(status.code().unwrap_or(1));
            }
        }
        ["help" | "--help" | "-h"] => print!("{USAGE}"),
        [] | ["run"] => bail!("a command is missing\n\n{USAGE}"),
        other => bail!("{}: unknown command\n\n{USAGE}", other.join(" ")),
    }
    Ok(())
}

/// Returns the reason that no server can be had here, if there is one. Downloads the wheels to find out.
pub fn obstacle() -> Option<String> {
    if given().is_some() {
        return None;
    }
    preparation().err().map(|error| format!("{error:#}"))
}

/// Calls `work` with the URL of a server: of the one that the variable names, else of the private one. A server that only work
/// of this kind uses is stopped after the last of it, also when it fails.
///
/// # Errors
/// No server can be had, or `work` fails.
pub fn with_server<T>(work: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    if let Some(url) = given() {
        return work(&url);
    }
    let users = Users::join(&directory()?)?;
    let server = up(false)?;
    let _survival = interrupt::Survival::begin();
    let result = work(&server.url());
    let stopped = stop_after_last(users);
    let result = result?;
    stopped.map(|()| result)
}

/// Calls `work` with the URL of a server to measure: of the one that the variable names, else of one with the settings that teams are
/// recommended.
///
/// # Errors
/// No server can be had, or `work` fails.
pub fn with_recommended_server<T>(work: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    if let Some(url) = given() {
        return work(&url);
    }
    let memory = fs::read_to_string("/proc/meminfo").context("/proc/meminfo")?;
    let total =
        memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    let settings = server::recommended(total.context("/proc/meminfo: no total")?);
    work(&DurableServer::start_with(&settings)?.url())
}

/// A server of one's own that keeps what it has acknowledged, removed when this is dropped.
#[derive(Debug)]
pub struct DurableServer {
    server: Server,
    _survival: interrupt::Survival,
}

impl DurableServer {
    /// Starts one.
    ///
    /// # Errors
    /// No server can be had here.
    pub fn start() -> Result<DurableServer> {
        DurableServer::start_with("")
    }

    fn start_with(settings: &str) -> Result<DurableServer> {
        let (wheels, account) = {
            let _lock = lock()?;
            preparation()?
        };
        let mut durable = DurableServer { server: Server::new(&account)?, _survival: interrupt::Survival::begin() };
        durable.server.start(&wheels, &account, &(server::DURABLE.to_owned() + settings))?;
        Ok(durable)
    }
}

impl std::ops::Deref for DurableServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Drop for DurableServer {
    fn drop(&mut self) {
        if let Err(error) = self.server.remove() {
            eprintln!("{error:#}");
        }
    }
}

/// The URL in the variable.
fn given() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|url| !url.is_empty())
}

/// Returns the directory of wheels and state.
pub fn directory() -> Result<PathBuf> {
    let directory = root().join("target/postgres");
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

/// Waits until no other process starts or stops the server. The lock ends with the file.
fn lock() -> Result<File> {
    let path = directory()?.join("lock");
    let file = File::create(&path)?;
    file.lock().with_context(|| path.display().to_string())?;
    Ok(file)
}

/// Finds the wheels and the account that a server needs.
fn preparation() -> Result<(Vec<PathBuf>, Account)> {
    server::check_platform()?;
    let account = Account::for_server()?;
    Ok((wheels::download(&wheels::SERVER, &directory()?)?, account))
}

/// Returns the server that is up, or starts one. `keeps` makes it stay until `down`.
fn up(keeps: bool) -> Result<Server> {
    let _lock = lock()?;
    if let Some(mut state) = State::read()? {
        if state.server.is_up() {
            if keeps && !state.keeps {
                state.keeps = true;
                state.write()?;
            }
            return Ok(state.server);
        }
        eprintln!("removing a server that has stopped");
        remove(&state)?;
    }
    let (wheels, account) = preparation()?;
    let started = std::time::Instant::now();
    let server = Server::new(&account)?;
    // Noted before it starts, so that `down` finds what an interrupted `up` leaves.
    let mut state = State { server, keeps };
    state.write()?;
    if let Err(error) = state.server.start(&wheels, &account, server::FAST).and_then(|()| state.write()) {
        if let Err(also) = remove(&state) {
            eprintln!("{also:#}");
        }
        return Err(error);
    }
    eprintln!(
        "PostgreSQL is up after {:.1} s, in {}",
        started.elapsed().as_secs_f32(),
        state.server.directory().display()
    );
    Ok(state.server)
}

/// Stops the server, if one is up.
fn down() -> Result<()> {
    let _lock = lock()?;
    match State::read()? {
        Some(state) => remove(&state),
        None => {
            eprintln!("no server is up");
            Ok(())
        }
    }
}

/// Stops a server that neither `up` nor other users keep.
fn stop_after_last(users: Users) -> Result<()> {
    let _lock = lock()?;
    if !users.leave()? {
        return Ok(());
    }
    match State::read()? {
        Some(state) if !state.keeps => remove(&state),
        _ => Ok(()),
    }
}

/// Stops a server and forgets it.
fn remove(state: &State) -> Result<()> {
    state.server.remove()?;
    State::forget()
}
