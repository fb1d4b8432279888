//! `/v1/events`: the progress of indexing as server-sent events (WHATWG HTML, "Server-sent events").
//!
//! `progress` carries the state of the background work, and `index`, for callers who may read everything, the number of the last
//! change of the index. Both come at once and then whenever they change.

use super::gate::{Gate, Identity};
use crate::api::encode;
use crate::background::BackgroundState;
use crate::caller::Caller;
use crate::server::Server;
use axum::Extension;
use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Interval between two looks at the state.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Longest silence. A line without meaning lets both sides, and what stands between them, notice a broken connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Begins a stream of events, which ends when the client leaves or the server stops.
pub(super) async fn events(
    State(gate): State<Arc<Gate>>,
    Extension(identity): Extension<Identity>,
) -> impl IntoResponse {
    let (server, caller) = (gate.server.clone(), identity.caller);
    // The number tells of all namespaces.
    let changes = caller.namespaces.is_none().then(|| server.changes());
    let follower = Follower { server, caller, changes, state: None, change: None };
    let events = stream::unfold(follower, async |mut follower| Some((follower.next().await, follower)));
    let events = events.map(Ok::<Event, Infallible>).take_until(gate.stop_streams.clone().cancelled_owned());
    ([(CACHE_CONTROL, "no-store")], Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// Waits for changes, and knows the last that it has told.
struct Follower {
    server: Server,
    caller: Caller,
    changes: Option<watch::Receiver<Option<u64>>>,
    state: Option<(u64, BackgroundState)>,
    change: Option<u64>,
}

impl Follower {
    async fn next(&mut self) -> Event {
        loop {
            // A read that began and ended since the last look is told of too: whoever asked for it waits.
            let state = (self.server.reads(), self.server.background().seen_by(&self.caller));
            if self.state.as_ref() != Some(&state) {
                let event = event("progress", &state.1);
                self.state = Some(state);
                return event;
            }
            let change = self.changes.as_mut().and_then(|changes| *changes.borrow_and_update());
            if change.is_some() && change != self.change {
                self.change = change;
                return event("index", &json!({ "change": change }));
            }
            match &mut self.changes {
                // Both ends of the wait are the same reason to look again.
                Some(changes) => drop(tokio::time::timeout(POLL_INTERVAL, changes.changed()).await),
                None => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(String::from_utf8_lossy(&encode::json(data)).trim_end())
}
