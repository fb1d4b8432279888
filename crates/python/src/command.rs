//! The program `tamis`, which the package brings along as a command.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the program with a command line, whose first word is the program itself, and returns its exit status.
#[pyfunction]
pub fn main(py: Python<'_>, command_line: Vec<OsString>) -> u8 {
    py.detach(|| tamis_cli::run(command_line))
}
