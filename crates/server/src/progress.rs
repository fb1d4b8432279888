//! Progress of a call, sent to a client that asked for it, and the client's cancellation.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tamis::{Observer, Stage};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::background::BackgroundState;
use crate::untrusted_text::name;

/// Shortest time between two reports, except at the start of a stage.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Progress of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Report {
    /// Finished steps of all stages so far. The protocol wants this number to grow.
    done: u64,
    /// The same number at the end of the current stage, if known.
    total: Option<u64>,
    message: String,
}

/// Passes progress from the library to a client, and the client's cancellation to the library.
pub(crate) struct Reporter {
    cancelled: CancellationToken,
    state: Mutex<State>,
    reports: Option<watch::Sender<Report>>,
}

struct State {
    report: Report,
    sent: Option<Instant>,
}

impl Reporter {
    /// A reporter, and the receiver of its reports. Without `wanted` it reports nothing.
    pub fn new(cancelled: CancellationToken, wanted: bool) -> (Reporter, watch::Receiver<Report>) {
        let (sender, receiver) = watch::channel(Report::default());
        let state = Mutex::new(State { report: Report::default(), sent: None });
        (Reporter { cancelled, state, reports: wanted.then_some(sender) }, receiver)
    }

    /// Reports the progress of the refresh that a call waits for.
    pub fn indexing(&self, state: &BackgroundState) {
        let reported = self.state.lock().unwrap_or_else(PoisonError::into_inner).report.done;
        if state.done + 1 > reported {
            self.change(false, |report| {
                report.done = state.done + 1;
                report.total = (state.total >= state.done && state.total > 0).then_some(state.total + 1);
                report.message = "indexing".to_owned();
            });
        }
    }

    fn change(&self, at_once: bool, change: impl FnOnce(&mut Report)) {
        let Some(reports) = &self.reports else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state.report);
        let now = Instant::now();
        if at_once || state.sent.is_none_or(|sent| now - sent >= MIN_INTERVAL) {
            state.sent = Some(now);
            reports.send_replace(state.report.clone());
        }
    }
}

impl Observer for Reporter {
    fn stage(&self, stage: Stage, total: u64) {
        self.change(true, |report| {
            // Each stage counts as a step, so that the number always grows.
            report.done += 1;
            report.total = (total > 0).then_some(report.done + total);
            report.message = words(&stage);
        });
    }

    fn advance(&self, steps: u64) {
        self.change(false, |report| {
            report.done += steps;
            report.total = report.total.filter(|total| *total >= report.done);
        });
    }

    fn cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }
}

fn words(stage: &Stage) -> String {
    match stage {
        Stage::Walk => "listing files".to_owned(),
        Stage::Read => "reading files".to_owned(),
        Stage::Publish => "updating the index".to_owned(),
        Stage::Embed(model) => format!("embedding with {}", name(model)),
        Stage::Import => "importing".to_owned(),
        Stage::Fetch(what) => format!("fetching {}", name(what)),
        Stage::Queue(holder) => format!("waiting for {holder}, which is writing the index"),
        Stage::Answer => "answering".to_owned(),
        Stage::Calibrate => "measuring".to_owned(),
        _ => "searching".to_owned(),
    }
}

/// Sends reports to the client until the reporter is dropped.
pub(crate) async fn forward(
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    mut reports: watch::Receiver<Report>,
) {
    let Some(token) = token else { return };
    while reports.changed().await.is_ok() {
        let report = reports.borrow_and_update().clone();
        let mut notification =
            ProgressNotificationParam::new(token.clone(), report.done as f64).with_message(report.message);
        notification.total = report.total.map(|total| total as f64);
        if peer.notify_progress(notification).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_grows_over_all_stages() {
        let (reporter, reports) = Reporter::new(CancellationToken::new(), true);
        let mut last = 0;
        let mut seen = |message: &str| {
            let report = reports.borrow().clone();
            assert!(report.done > last && report.message == message, "{report:?}");
            assert!(report.total.is_none_or(|total| total >= report.done), "{report:?}");
            last = report.done;
        };
        reporter.stage(Stage::Walk, 0);
        seen("listing files");
        reporter.stage(Stage::Read, 3);
        seen("reading files");
        reporter.advance(5);
        std::thread::sleep(MIN_INTERVAL);
        reporter.advance(1);
        seen("reading files");
        reporter.stage(Stage::Embed("static".into()), 10);
        seen("embedding with static");
    }

    #[test]
    fn a_client_that_did_not_ask_gets_no_progress() {
        let (reporter, reports) = Reporter::new(CancellationToken::new(), false);
        reporter.stage(Stage::Walk, 0);
        assert_eq!(*reports.borrow(), Report::default());
        assert!(!reporter.cancelled());
    }
}
