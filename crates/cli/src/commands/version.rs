//! `tamis version`: the build of this program, for reports of problems and for installers.

use crate::args::VersionArguments;
use crate::exit::Exit;
use crate::output::Output;
use crate::print::version::{Version, version};
use anyhow::Result;

/// Prints the version, the commit, the target, the features and the built-in models.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(arguments: &VersionArguments, output: &Output) -> Result<Exit> {
    let this = Version::of_this_build();
    output.answer(arguments.json, &this, output.styled(), |out| version(out, &this))?;
    Ok(Exit::Found)
}
