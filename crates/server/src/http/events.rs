//! `/v1/events`: the progress of indexing as server-sent events (WHATWG HTML, "Server-sent events").
//!
//! `progress` carries the state of the background work, and `index`, for callers who may read everything, the number of the last
//! change of the index. Both come at once and then whenever they change.

use super::body::Outgoing;
use super::handler::{Handler, response};
use crate::api::encode;
use crate::background::BackgroundState;
use crate::caller::Caller;
use crate::server::Server;
use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use hyper::{Response, StatusCode};
use serde_json::json;
use std::convert::Infallible;
use std::time::{Duration, Instant};

const CONTENT_TYPE: &str = "text/event-stream";

/// Interval between two looks at the state.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Longest silence. A line without meaning lets both sides, and what stands between them, notice a broken connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Events that wait for a slow reader.
const WAITING: usize = 4;

impl Handler {
    /// Begins a stream of events, which ends when the client leaves or the server stops.
    pub(super) fn events(&self, caller: Caller) -> Response<Outgoing> {
        let (sender, channel) = Channel::<Bytes, Infallible>::new(WAITING);
        let (server, stop) = (self.server.clone(), self.stop_streams.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = follow(server, caller, sender) => {}
                () = stop.cancelled() => {}
            }
        });
        response(StatusCode::OK, "", CONTENT_TYPE).map(|_| channel.boxed())
    }
}

/// Sends each change until the client has left.
async fn follow(server: Server, caller: Caller, mut sender: Sender<Bytes, Infallible>) {
    let mut shown: (Option<(u64, BackgroundState)>, Option<u64>) = (None, None);
    let mut last = Instant::now();
    // The number tells of all namespaces.
    let mut changes = caller.namespaces.is_none().then(|| server.changes());
    loop {
        // A read that began and ended since the last look is told of too: whoever asked for it waits.
        let state = (server.reads(), server.background().seen_by(&caller));
        let mut text = String::new();
        if shown.0.as_ref() != Some(&state) {
            event(&mut text, "progress", &encode::json(&state.1));
            shown.0 = Some(state);
        }
        let number = changes.as_mut().and_then(|changes| *changes.borrow_and_update());
        if let Some(number) = number
            && shown.1 != Some(number)
        {
            event(&mut text, "index", &encode::json(&json!({ "change": number })));
            shown.1 = Some(number);
        }
        if text.is_empty() && last.elapsed() >= KEEP_ALIVE {
            text.push_str(":\n\n");
        }
        if !text.is_empty() {
            last = Instant::now();
            if sender.send_data(text.into()).await.is_err() {
                return;
            }
        }
        match &mut changes {
            // Both ends of the wait are the same reason to look again.
            Some(changes) => drop(tokio::time::timeout(POLL_INTERVAL, changes.changed()).await),
            None => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}

/// Adds an event. The data are JSON on one line with an end.
fn event(text: &mut String, name: &str, data: &[u8]) {
    text.push_str(&format!("event: {name}\ndata: {}\n", String::from_utf8_lossy(data)));
}
