//! Notes, added and hidden one by one: Markdown files that people can read and edit as well.
//!
//! An entry is an item of a list or a paragraph in a file of the collection `notes`. [`Notes::remember`] appends one, and
//! [`Notes::forget`] marks it so that searches skip it. A search of notes and conversations starts from
//! [`SearchRequest::memory`](crate::SearchRequest::memory); [`Notes::with_turns`] adds the turns around a hit.
//!
//! `edit` turns a text into an item that its own content cannot end and changes a note's text; `remember` finds the place for it and
//! decides which files may be written, and `forget` finds the entry that is meant.

mod edit;
mod forget;
mod remember;

use std::collections::HashMap;

use jiff::tz::TimeZone;
use tamis_text::{Conversation, Kind};

use crate::Error;
use crate::handle::Index;
use crate::search::{Answer, Hit};

pub use forget::{ForgetAction, Forgotten, Meant, NoteEntry};
pub use remember::{RememberRequest, Remembered};

/// The notes of an index, added and hidden one by one. From [`Index::notes`].
#[derive(Clone, Copy)]
pub struct Notes<'a> {
    pub(super) index: &'a Index,
}

// Adds the turns around a hit in a conversation.

impl Notes<'_> {
    /// Widens the snippet of each result from a conversation to whole turns: those that the snippet touches, and
    /// `around` more on each side, from the whole session. Other results stay as they are.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn with_turns(&self, answer: &mut Answer, around: usize) -> Result<(), Error> {
        let mut sessions: HashMap<(String, String), Option<Conversation>> = HashMap::new();
        for hit in answer.results.iter_mut().filter(|hit| hit.kind == Kind::Turns.as_str()) {
            let place = (hit.namespace.clone(), hit.path.clone());
            if !sessions.contains_key(&place) {
                let session = self.session(&place.0, &place.1)?;
                sessions.insert(place.clone(), session);
            }
            if let Some(session) = sessions.get(&place).and_then(Option::as_ref) {
                widen(hit, session, around);
            }
        }
        Ok(())
    }

    /// The session at a path, as it was imported.
    fn session(&self, namespace: &str, path: &str) -> Result<Option<Conversation>, Error> {
        let Some(document) = self.index.store.document(namespace, path)? else { return Ok(None) };
        let records = self.index.store.records(std::slice::from_ref(&document.namespace), &[document.document])?;
        let record = records.into_iter().flatten().next();
        // A record of another kind has no turns to show.
        Ok(record.and_then(|record| serde_json::from_str(&record).ok()))
    }
}

fn widen(hit: &mut Hit, session: &Conversation, around: usize) {
    let last = hit.snippet_line.saturating_add(u32::try_from(hit.snippet.matches('\n').count()).unwrap_or(u32::MAX));
    let touched = session.turns_at(hit.snippet_line, last);
    let turns = touched.start.saturating_sub(around)..touched.end.saturating_add(around).min(session.turns.len());
    let lines = session.turn_lines();
    let (Some((first, _)), Some((_, end))) =
        (lines.get(turns.start), turns.end.checked_sub(1).and_then(|at| lines.get(at)))
    else {
        return;
    };
    let rendered = session.rendered(&TimeZone::system());
    let wide: Vec<&str> = rendered.lines().skip(*first as usize - 1).take((end - first + 1) as usize).collect();
    let wide = wide.join("\n");
    // The snippet moves down by as many lines as the widened text begins earlier.
    let before = hit.snippet_line.saturating_sub(*first) as usize;
    let offset: usize = wide.split_inclusive('\n').take(before).map(str::len).sum();
    match wide.get(offset..).is_some_and(|rest| rest.starts_with(&hit.snippet)) {
        true => hit.highlights.iter_mut().for_each(|range| *range = range.start + offset..range.end + offset),
        // Imported in another time zone, so the terms are at other positions.
        false => hit.highlights.clear(),
    }
    hit.snippet = wide;
    hit.snippet_line = *first;
}
