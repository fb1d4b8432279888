//! The log, on standard error.

use crate::error::ServeError;
use std::io;
use tamis_text::safe::SafeWriter;
use tracing_subscriber::EnvFilter;

/// Format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object a line.
    Json,
}

/// Starts the log at a level: `error`, `warn`, `info`, `debug`, `trace`, or `off`. Text from clients is logged only
/// `with_queries`. Without it, arguments are left out, and so are all lines of the protocol's library, which may quote messages.
///
/// # Errors
/// This process already has a log.
pub fn start_log(level: &str, format: LogFormat, with_queries: bool) -> Result<(), ServeError> {
    let protocol = if with_queries { level } else { "off" };
    let filter = EnvFilter::builder().parse_lossy(format!("{level},rmcp={protocol}"));
    // A closed standard error is not worth a message.
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| SafeWriter::plain(io::stderr()))
        .with_ansi(false)
        .log_internal_errors(false);
    let begun = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    begun.map_err(|error| ServeError::Log(error.to_string()))
}
