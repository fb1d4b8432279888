//! Signals that stop a server.

use tokio_util::sync::CancellationToken;

/// Exit status of a process that a second signal ended.
const EXIT_AT_ONCE: i32 = 130;

/// Cancels the token at the first signal. A second signal ends the process at once; the index stays whole, as after any kill.
/// Needs a runtime.
pub(crate) fn cancel_on_signals(stop: CancellationToken) {
    tokio::spawn(async move {
        signal().await;
        stop.cancel();
        signal().await;
        std::process::exit(EXIT_AT_ONCE);
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
        // Without a handler, the signal has its usual effect.
        _ => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
