//! `tamis import conversations`: imports logs of turns.

use super::import_and_report::{Ending, import_and_report, inputs};
use crate::args::{Global, ImportConversationsArguments, local_zone};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use tamis::config::Config;
use tamis::import::ConversationImport;

/// Imports the sessions of logs.
///
/// # Errors
/// A log is unreadable or in an unknown format, the index cannot be written, or a model fails.
pub fn run(arguments: &ImportConversationsArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let read = |_: &Config| {
        let inputs = inputs(&arguments.files)?;
        let (name, origin) = (arguments.name.as_deref(), flags.origin.as_deref());
        let import = ConversationImport::read(&inputs, name, origin, &local_zone())?;
        let namespace = flags.namespace.clone();
        Ok(ConversationImport { namespace, skip_bad: flags.skip_bad, dry_run: flags.dry_run, ..import })
    };
    import_and_report(Ending::of(flags), global, output, read, |index, import, progress| {
        index.imports().conversations(&import, progress)
    })
}
