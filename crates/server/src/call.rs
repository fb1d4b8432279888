//! The context of a call, and what an operation says of itself.

use crate::api::metrics::Metrics;
use crate::background::{Background, BackgroundState, Phase};
use crate::caller::Caller;
use tamis::feedback::Opened;
use tamis::search::{QueryParameters, SearchCaller};
use tamis::{Error, Index, Observer};

/// The entry point of tools, which recorded searches name.
pub(crate) const MCP: &str = "mcp";

/// The entry point of routes.
pub(crate) const HTTP: &str = "http";

/// Effect of a tool on stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It only reads.
    Reads,
    /// Each call adds something.
    Adds,
    /// It sets something; a second call changes nothing more.
    Sets,
}

/// Content of an index that a tool is for. A tool that is not listed still answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The tool is always listed.
    Nothing,
    /// Claims and fragments.
    Evidence,
    /// Issues, or wiki pages.
    Solutions,
    /// Notes or conversations, or the right to write the first note.
    Notes,
    /// Judged searches, or the right to judge.
    Judgements,
}

/// The context of a call.
pub(crate) struct Call<'a> {
    pub index: &'a Index,
    pub caller: &'a Caller,
    /// The session or connection that it comes from.
    pub session: SearchCaller,
    /// Receives progress, and reports whether the client has cancelled the call.
    pub observer: &'a dyn Observer,
    /// State of the background work at the beginning of the call.
    pub state: &'a BackgroundState,
    /// The background work.
    pub background: &'a Background,
    /// Counts of calls and searches.
    pub metrics: &'a Metrics,
    /// True if the client gets answers as data too.
    pub with_data: bool,
    /// The entry point that recorded searches name.
    pub entry_point: &'static str,
}

impl Call<'_> {
    /// The namespaces that the caller may read.
    pub fn allowed(&self) -> Option<Vec<String>> {
        self.caller.namespaces.clone()
    }

    /// True if the caller may read a namespace.
    pub fn may_read(&self, namespace: &str) -> bool {
        self.caller.may_read(namespace)
    }

    /// A question with the caller's rights and its origin.
    pub fn identified(&self, question: QueryParameters) -> QueryParameters {
        QueryParameters {
            allowed_namespaces: self.allowed(),
            entry_point: Some(self.entry_point.to_owned()),
            caller: Some(self.session),
            ..question
        }
    }

    /// The one namespace whose figures the caller may have: the one that it names, or its only one. `None`: all, for a caller who may
    /// read all.
    ///
    /// # Errors
    /// It may not read the one that it names, or names none of several.
    pub fn one_namespace(&self, wanted: Option<String>) -> Result<Option<String>, Error> {
        let Some(allowed) = self.allowed() else { return Ok(wanted) };
        let choice = match (wanted, allowed.as_slice()) {
            (Some(wanted), allowed) if allowed.contains(&wanted) => return Ok(Some(wanted)),
            (None, [one]) => return Ok(Some(one.clone())),
            (wanted, _) => wanted.unwrap_or_default(),
        };
        let allowed = match allowed.as_slice() {
            [] => "one that you may read; there is none".to_owned(),
            allowed => format!("one of {}", allowed.join(", ")),
        };
        Err(Error::Argument { name: "namespace", value: format!("{choice:?}"), allowed })
    }

    /// True if places need their namespace: the index holds several trees, or stands beside another one.
    pub fn holds_several(&self) -> bool {
        self.index.sources().len() > 1 || self.index.elsewhere().is_some()
    }

    /// Records that the client reads this text: a weak judgement, if a search showed it before.
    pub fn note_opened<'o>(&self, opened: impl Into<Opened<'o>>, operation: &str) {
        self.index.feedback().opened(opened, &self.session, &format!("{} {operation}", self.entry_point));
    }

    /// Warnings about the state of the index.
    pub fn warnings(&self) -> Vec<String> {
        let BackgroundState { phase, done, total, reason, .. } = self.state;
        // Counts and reasons could reveal other namespaces, so only callers who may read all of them get these.
        let detailed = self.caller.namespaces.is_none();
        let mut warnings: Vec<String> = self.index.elsewhere().filter(|_| detailed).into_iter().collect();
        let warning = match phase {
            Phase::Indexing if detailed && *total > 0 => {
                format!("the index is being updated ({done} of {total} so far); new text may not be found yet")
            }
            Phase::Indexing => "the index is being updated; new text may not be found yet".to_owned(),
            Phase::Failed => match reason {
                Some(reason) if detailed => format!("the index could not be updated: {reason}"),
                _ => "the index could not be updated; new text cannot be found".to_owned(),
            },
            Phase::Off | Phase::Embedding | Phase::Fresh => return warnings,
        };
        warnings.push(warning);
        warnings
    }
}
