//! Imports logs of conversations, one document per session.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Instant;

use jiff::tz::TimeZone;
use tamis_store::DocumentState;
use tamis_text::{Conversation, ConversationOptions, read_conversations};

use super::issues::{ImportInput, file_name};
use super::{Content, ImportSummary, Imports, Outcome, Target, commit, held_by_another, namespace, origin, refuse};
use crate::Error;
use crate::collections::SESSIONS;
use crate::error::UnreadableRecord;
use crate::handle::Index;
use crate::progress::{Observer, Stage};

/// An import of conversations.
#[derive(Clone, Debug, Default)]
pub struct ConversationImport {
    /// The logs with their origins.
    pub logs: Vec<ImportedLog>,
    /// The namespace of the sessions, which need not exist yet; `None`: the one that the index is used in.
    pub namespace: Option<String>,
    /// The speakers' time zone, for the times in the text of passages; `None`: UTC.
    pub time_zone: Option<TimeZone>,
    /// The number of items left out of the logs on purpose, by kind: `no_turn`, `repeated`, `unfinished`.
    pub left_out: BTreeMap<String, u64>,
    /// The records of the logs that could not be read.
    pub bad: Vec<UnreadableRecord>,
    /// Leaves out unreadable records instead of importing nothing.
    pub skip_bad: bool,
    /// Changes nothing and reports what would change.
    pub dry_run: bool,
}

/// A log that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedLog {
    /// Its origin, which is its name.
    pub origin: String,
    /// Its sessions, each with its own name.
    pub conversations: Vec<Conversation>,
}

impl ConversationImport {
    /// Reads logs. `name` is the prefix of sessions that are named by their time; `None`: each file's name without its extension.
    /// `origin` is the origin of the logs; `None`: `name`, or else the name of each file.
    ///
    /// # Errors
    /// A log has none of the formats that [`tamis_text::read_conversations`] knows.
    pub fn from_inputs(
        inputs: &[ImportInput],
        name: Option<&str>,
        origin: Option<&str>,
        time_zone: &TimeZone,
    ) -> Result<ConversationImport, Error> {
        let mut import = ConversationImport { time_zone: Some(time_zone.clone()), ..ConversationImport::default() };
        for input in inputs {
            let file = file_name(&input.name);
            let stem = Path::new(&file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let options = ConversationOptions { name: name.map(str::to_owned).or(stem), ..options(time_zone) };
            let log = read_conversations(&input.bytes, &options)
                .map_err(|error| Error::path(Path::new(&input.name), error.to_string()))?;
            let bad = log.bad.into_iter().map(|record| UnreadableRecord {
                position: format!("{}: {}", input.name, record.position),
                reason: record.reason,
            });
            import.bad.extend(bad);
            for (kind, count) in [("no_turn", log.other), ("repeated", log.repeated), ("unfinished", log.unfinished)] {
                if count > 0 {
                    *import.left_out.entry(kind.to_owned()).or_default() += count as u64;
                }
            }
            let origin = origin.or(name).map_or(file, str::to_owned);
            match import.logs.iter_mut().find(|log| log.origin == origin) {
                Some(known) => known.conversations.extend(log.conversations),
                None => import.logs.push(ImportedLog { origin, conversations: log.conversations }),
            }
        }
        Ok(import)
    }
}

fn options(time_zone: &TimeZone) -> ConversationOptions {
    ConversationOptions { time_zone: time_zone.clone(), ..ConversationOptions::default() }
}

impl Imports<'_> {
    /// Imports conversations in one transaction, one document per session (`session:NAME`). A stored session is continued: new
    /// turns are added in the order of time. Searches find them after the next [`Index::complete`].
    ///
    /// A record cannot be read and must not be left out; another log holds a session already; a namespace must be named; another
    /// process is still writing.
    pub fn conversations(&self, import: &ConversationImport, observer: &dyn Observer) -> Result<ImportSummary, Error> {
        let namespace = namespace(self.index, import.namespace.as_deref())?;
        let bad = refuse(import.bad.clone(), import.skip_bad)?;
        let origins = import.logs.iter().map(|log| origin(&log.origin)).collect::<Result<Vec<&str>, Error>>()?;
        let _writing = if import.dry_run { None } else { Some(self.index.wait_to_write(observer)?) };
        let named = origins.join(", ");
        let summary = Target::new(&namespace, SESSIONS, &named).summary(import.dry_run);
        let mut summary = ImportSummary { left_out: import.left_out.clone(), bad, ..summary };
        let started = Instant::now();
        observer.stage(Stage::Import, import.logs.iter().map(|log| log.conversations.len() as u64).sum());
        let options = options(import.time_zone.as_ref().unwrap_or(&TimeZone::UTC));
        let mut outcomes = Vec::new();
        let mut taken: BTreeMap<String, &str> = BTreeMap::new();
        for (log, origin) in import.logs.iter().zip(origins) {
            let target = Target::new(&namespace, SESSIONS, origin);
            for (path, conversation) in united(&log.conversations) {
                if observer.cancelled() {
                    return Ok(summary.stopped());
                }
                if let Some(other) = taken.insert(path.clone(), origin) {
                    return Err(held_by_another(&path, origin, other));
                }
                outcomes.push(outcome(self.index, &target, path, conversation, &options)?);
                observer.advance(1);
            }
        }
        summary.time("split", started);
        commit(self.index, outcomes, summary, observer)
    }
}

/// Returns the sessions of one log by their paths. Parts of one session in several files become one.
fn united(conversations: &[Conversation]) -> BTreeMap<String, Conversation> {
    let mut sessions: BTreeMap<String, Conversation> = BTreeMap::new();
    for conversation in conversations {
        let path = Conversation::path(&conversation.name);
        let session = match sessions.remove(&path) {
            Some(known) => gone_on(&known, conversation),
            None => conversation.clone(),
        };
        sessions.insert(path, session);
    }
    sessions
}

fn outcome(
    index: &Index,
    target: &Target<'_>,
    path: String,
    given: Conversation,
    options: &ConversationOptions,
) -> Result<Outcome, Error> {
    let state = index.store.document(target.namespace, &path)?;
    if let Some(DocumentState { origin: Some(other), .. }) =
        state.as_ref().filter(|state| state.origin.as_deref() != Some(target.origin))
    {
        return Err(held_by_another(&path, target.origin, other));
    }
    let stored = match &state {
        Some(state) => index.store.records(std::slice::from_ref(&state.namespace), &[state.document])?.pop().flatten(),
        None => None,
    };
    let stored: Option<Conversation> = stored.and_then(|record| serde_json::from_str(&record).ok());
    let session = match &stored {
        Some(stored) => gone_on(stored, &given),
        None => given.clone(),
    };
    let older = stored.is_some_and(|stored| stored == session && stored.turns.len() > given.turns.len());
    let content = Content::record(&session)?;
    Ok(match target.outcome(path, content, state.as_ref(), |_| session.document(options)) {
        Outcome::Unchanged if older => Outcome::Older,
        outcome => outcome,
    })
}

/// Merges a stored session with a later version from its log. If one of the two only continues the other, it is the result.
/// Otherwise the turns of both are merged in the order of time, without repetition. Without times the later version wins.
fn gone_on(stored: &Conversation, given: &Conversation) -> Conversation {
    let title = given.title.clone().or_else(|| stored.title.clone());
    let with = |turns| Conversation { name: given.name.clone(), title: title.clone(), turns };
    if given.turns.starts_with(&stored.turns) {
        return with(given.turns.clone());
    }
    if stored.turns.starts_with(&given.turns) {
        return with(stored.turns.clone());
    }
    if stored.turns.iter().chain(&given.turns).any(|turn| turn.time.is_none()) {
        return with(given.turns.clone());
    }
    let said = |turn: &tamis_text::Turn| (turn.time, turn.speaker.clone(), turn.text.clone());
    let known: HashSet<_> = stored.turns.iter().map(said).collect();
    let new = given.turns.iter().filter(|turn| !known.contains(&said(turn)));
    let mut turns: Vec<_> = stored.turns.iter().chain(new).cloned().collect();
    turns.sort_by_key(|turn| turn.time);
    with(turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_text::Turn;

    fn session(turns: &[(&str, &str)]) -> Conversation {
        let turn = |&(time, text): &(&str, &str)| Turn {
            time: (!time.is_empty()).then(|| format!("2026-11-22T{time}:00Z").parse().expect("a time")),
            speaker: Some("Ann".into()),
            text: text.into(),
        };
        Conversation { name: "plan".into(), title: None, turns: turns.iter().map(turn).collect() }
    }

    #[test]
    fn a_session_goes_on_and_is_never_cut_short() {
        let first = session(&[("09:00", "Where do backups go?"), ("09:01", "To the second site.")]);
        let whole = session(&[("09:00", "Where do backups go?"), ("09:01", "To the second site."), ("09:05", "Good.")]);
        assert_eq!(gone_on(&first, &whole), whole);
        assert_eq!(gone_on(&whole, &first), whole);
        let rest = session(&[("09:01", "To the second site."), ("09:05", "Good.")]);
        assert_eq!(gone_on(&first, &rest), whole, "a log that begins later");
        assert_eq!(gone_on(&rest, &first), whole);

        let first = session(&[("", "One."), ("", "Two.")]);
        let other = session(&[("", "Three.")]);
        assert_eq!(gone_on(&first, &other), other);
    }
}
