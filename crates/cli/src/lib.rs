//! The program `tamis`: flags, printers and progress around the library of the same name.
//!
//! `args` reads the command line and helps with one that it cannot read. Each command has a file of `commands`, with its flags, what
//! it does and how it prints that; `session` turns flags into a configuration and an index, and `print` has what several commands
//! print. Results go to standard output, everything else to standard error.
//!
//! [`run`] is the whole program. The command calls it, and so does the Python package, which brings the command along.

mod args;
mod background_embedding;
mod command_line;
mod commands;
mod exit;
mod hyperlinks;
mod interrupt;
mod layout;
mod output;
mod print;
mod progress;
mod session;
mod working_directory;

use output::Output;
use std::ffi::OsString;

/// Runs the program with a command line, whose first word is the program itself, and returns the exit status. Ctrl-C and
/// some faults end the process at once. For the first call of a process; a later one still has the first command line in its
/// messages.
///
/// Windows gives the first thread 1 MiB of stack, an eighth of other systems' default, so a thread with 8 MiB does the work there.
pub fn run(command_line: Vec<OsString>) -> u8 {
    command_line::set(command_line);
    on_a_large_stack(answer)
}

#[cfg(not(windows))]
fn on_a_large_stack(work: fn() -> u8) -> u8 {
    work()
}

#[cfg(windows)]
fn on_a_large_stack(work: fn() -> u8) -> u8 {
    const STACK_BYTES: usize = 8 << 20;
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work) {
        // A panic has printed its message; its status is the same on every system.
        Ok(thread) => thread.join().unwrap_or(101),
        Err(_) => work(),
    }
}

/// Warns of variables that look like settings and are none, such as those of a newer version.
fn warn_of_variables(output: &Output) {
    let names: Vec<String> = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    for unknown in tamis::config::unknown_variables(names.iter().map(String::as_str)) {
        output.warn(&unknown.to_string());
    }
}

fn answer() -> u8 {
    let arguments = match args::parse() {
        Ok(arguments) => arguments,
        Err(error) => return args::usage(&error),
    };
    let output = Output::new(&arguments.global);
    warn_of_variables(&output);
    match commands::run(&arguments.command, &arguments.global, &output, args::description) {
        Ok(exit) => exit.code(),
        Err(error) => exit::failed(&error, &output).code(),
    }
}
