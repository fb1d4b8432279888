//! `tamis evidence add`: adds or replaces one record.

use crate::args::{EvidenceAddArguments, Global};
use crate::commands::import::{Ending, import_and_report};
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Result;
use tamis::evidence::EvidenceImport;

/// Imports one record, which searches find at once.
///
/// # Errors
/// A value that is not allowed, a reference to a missing record, an index that cannot be written, or a model that fails.
pub fn run(arguments: &EvidenceAddArguments, global: &Global, output: &Output) -> Result<Exit> {
    let import = EvidenceImport {
        namespace: arguments.namespace.clone(),
        ..EvidenceImport::new(arguments.origin.as_str(), [arguments.record.clone()])
    };
    import_and_report(
        Ending { json: arguments.json, wait: false },
        global,
        output,
        |_| Ok(import),
        |index, import, progress| index.evidence().import(&import, progress),
    )
}
