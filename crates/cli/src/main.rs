//! The `tamis` command: flags, printers and progress around the library of the same name.
//!
//! `args` describes the command line, `session` turns it into a configuration and an index, one file of `commands` runs
//! each command, and `print` writes for people. Results go to standard output, everything else to standard error.

mod args;
mod commands;
mod exit;
mod interrupt;
mod output;
mod page;
mod pager;
mod print;
mod progress;
mod remedy;
mod session;
mod working_directory;

use output::Output;
use std::process::ExitCode;

#[cfg(not(windows))]
fn main() -> ExitCode {
    run()
}

/// Windows gives the first thread 1 MiB of stack, an eighth of other systems' default, so a thread with 8 MiB does the work.
#[cfg(windows)]
fn main() -> ExitCode {
    const STACK_BYTES: usize = 8 << 20;
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run) {
        // A panic has printed its message; its status is the same on every system.
        Ok(thread) => thread.join().unwrap_or(ExitCode::from(101)),
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    let arguments = match args::parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::usage(&error),
    };
    let output = Output::new(&arguments.global);
    match commands::run(&arguments, &output) {
        Ok(exit) => exit.into(),
        Err(error) => exit::failed(&error, &output).into(),
    }
}
