//! The errors that name files, addresses or models of the server. A caller who is limited to namespaces reads another text instead,
//! and the log has the details.

use crate::caller::Caller;
use tamis::Error;
use tamis_store::StoreError;

/// The text instead of an error that says what failed inside the server.
pub(crate) const UNREADABLE: &str = "the index could not be read; the server's log has the details";

/// The text instead of such an error; `None` if the error says nothing of the server.
pub(crate) fn instead(error: &Error) -> Option<&'static str> {
    match error {
        Error::NotFound { .. }
        | Error::LeftOut { .. }
        | Error::Ambiguous { .. }
        | Error::Argument { .. }
        | Error::Aim(_)
        | Error::Guarantee { .. }
        | Error::NotEmbedded { .. }
        | Error::Sql { .. }
        | Error::Cancelled
        | Error::Store(StoreError::Sql { .. } | StoreError::Invalid { .. } | StoreError::Glob { .. }) => None,
        Error::Model { .. } | Error::Embed(_) | Error::NoVectors { .. } => {
            Some("a model of the server cannot be used; the server's log has the details")
        }
        Error::Store(StoreError::Busy { .. } | StoreError::WriterLost { .. }) => {
            Some("another process is writing the index; try again in a moment")
        }
        // The reason can be the server's own words, with its users, hosts and ports.
        Error::Store(StoreError::Unavailable { .. }) => {
            Some("the database is not available now; try again in a moment")
        }
        Error::View { .. } => Some("the view cannot be used; the server's log has the details"),
        _ => Some(UNREADABLE),
    }
}

/// The message of a failure as a caller may read it.
pub(crate) fn for_caller(caller: &Caller, message: String, instead: Option<&'static str>) -> String {
    match instead.filter(|_| caller.namespaces.is_some()) {
        None => message,
        Some(instead) => {
            tracing::warn!(target: "tamis::server", detail = message, "a call failed");
            instead.to_owned()
        }
    }
}
