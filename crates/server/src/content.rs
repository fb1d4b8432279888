//! The kinds of content that a caller can reach, which decide the tools that are worth listing.

use crate::call::Need;
use crate::caller::Caller;
use tamis::Index;
use tamis_store::Filter;

/// The kinds of content in the namespaces of a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    evidence: bool,
    solutions: bool,
    notes: bool,
    judgements: bool,
}

impl Content {
    /// Looks which kinds there are. What cannot be read counts as there, so that its tool can say what is wrong.
    pub fn of(index: &Index, caller: &Caller) -> Content {
        let has = |collections: &[&str]| {
            let filter = Filter {
                namespaces: caller.namespaces.clone().unwrap_or_default(),
                collections: collections.iter().map(|&one| one.to_owned()).collect(),
                ..Filter::default()
            };
            // Nothing may be read, which an empty filter would not say.
            let nothing = caller.namespaces.as_ref().is_some_and(Vec::is_empty);
            !nothing && index.contents().coverage("", &filter).map_or(true, |coverage| coverage.passages > 0)
        };
        Content {
            evidence: has(&["evidence"]),
            solutions: has(&["issues", "wiki"]),
            notes: caller.may_remember || has(&["notes", "sessions"]),
            judgements: caller.may_judge || (caller.namespaces.is_none() && index.feedback().has_judgements()),
        }
    }

    /// True if a tool of this need is worth listing.
    pub fn has(self, need: Need) -> bool {
        match need {
            Need::Nothing => true,
            Need::Evidence => self.evidence,
            Need::Solutions => self.solutions,
            Need::Notes => self.notes,
            Need::Judgements => self.judgements,
        }
    }
}
