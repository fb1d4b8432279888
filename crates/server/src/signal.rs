//! The signals that end a server.

use tokio_util::sync::CancellationToken;

/// The status of a process that somebody stopped at once.
const STOPPED_AT_ONCE: i32 = 130;

/// From the first signal on the token is cancelled; the second ends the process at once, which leaves the index as whole as
/// any kill does. Needs a runtime.
pub(crate) fn cancel_on_signals(stop: CancellationToken) {
    tokio::spawn(async move {
        signal().await;
        stop.cancel();
        signal().await;
        std::process::exit(STOPPED_AT_ONCE);
    });
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
    match kinds.map(signal) {
        [Ok(mut interrupt), Ok(mut terminate)] => {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        // Without a handler the signal does what it always does.
        _ => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
