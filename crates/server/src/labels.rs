//! Weak judgements from use: what a client opens after a search, among the results that it was shown.

use crate::call::Call;
use crate::hits::Found;
use crate::reply::Reply;
use tamis::feedback::Opened;

/// Records that the client reads this text.
pub(crate) fn note_opened<'a>(call: &Call<'_>, opened: impl Into<Opened<'a>>, operation: &str) {
    call.index.feedback().opened(opened, &call.session, &format!("{} {operation}", call.entry_point));
}

/// Notes which results of a search are on this page. `all`: the number of results on all pages. A client that turns a page
/// searches again, and that search shows the next one.
pub(crate) fn note_shown(call: &Call<'_>, reply: &Reply<Found>, all: usize) {
    let Found { query_id, results, .. } = &reply.answer;
    let Some(query_id) = query_id.as_deref().filter(|_| results.len() < all) else { return };
    let ids = results.iter().flat_map(|result| {
        std::iter::once(result.id.as_str()).chain(result.passages.iter().map(|further| further.id.as_str()))
    });
    let passages: Vec<&str> = ids.collect();
    call.index.feedback().shown_in_part(query_id, &passages);
}
