//! The `tamis` command, which is all in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    tamis_cli::run(std::env::args_os().collect()).into()
}
