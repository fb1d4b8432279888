//! Runs a server as a process: its runtime, its signals, and its end.

use std::io;
use std::net::SocketAddr;

use tamis_text::sanitize::SafeWriter;
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::http::{HttpOptions, serve_http};
use crate::server::Server;
use crate::stdio::serve_stdio;

/// Threads that move messages; calls have threads of their own.
const THREADS: usize = 2;

/// Serves one client on standard input and output until it closes standard input, or until a signal. Blocks.
///
/// # Errors
/// The runtime cannot start, or the client breaks the protocol before a session begins.
pub fn serve_on_stdio(server: Server) -> Result<(), ServeError> {
    run(&server.clone(), |stop| serve_stdio(server, stop))
}

/// Serves over HTTP until a signal. Calls `listening` with the address in use. Blocks.
///
/// # Errors
/// The runtime cannot start, the address cannot be bound, or others can reach it and there is no token.
pub fn serve_on_http(
    server: Server,
    options: HttpOptions,
    listening: impl FnOnce(SocketAddr) + Send,
) -> Result<(), ServeError> {
    run(&server.clone(), |stop| serve_http(server, options, stop, listening))
}

fn run<F: Future<Output = Result<(), ServeError>>>(
    server: &Server,
    serve: impl FnOnce(CancellationToken) -> F,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|error| ServeError::io("the runtime", error))?;
    let served = runtime.block_on(async {
        let stop = CancellationToken::new();
        cancel_on_signals(stop.clone());
        serve(stop).await
    });
    server.stop_background();
    // A read of standard input cannot be interrupted, and a call past its time limit should not delay the end.
    runtime.shutdown_background();
    served
}

// Signals that stop a server.

/// Exit status of a process that a second signal ended.
const EXIT_AT_ONCE: i32 = 130;

/// Cancels the token at the first signal. A second signal ends the process at once; the index stays whole, as after any kill.
/// Needs a runtime. Where the system refuses, signals have their usual effect.
pub(crate) fn cancel_on_signals(stop: CancellationToken) {
    let Ok(mut signals) = Signals::new() else { return };
    tokio::spawn(async move {
        signals.next().await;
        stop.cancel();
        signals.next().await;
        std::process::exit(EXIT_AT_ONCE);
    });
}

/// Calls `handle` on a thread of its own at each signal that asks the process to end: at Ctrl-C and, on Unix, at SIGTERM.
///
/// # Errors
/// The system refuses.
pub fn on_signals(mut handle: impl FnMut() + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::new()?
    };
    let wait = move || {
        runtime.block_on(async {
            loop {
                signals.next().await;
                handle();
            }
        });
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    Ok(())
}

/// The signals that ask a process to end: Ctrl-C and, on Unix, SIGTERM. While nobody waits, they are kept.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Takes over the signals. It must be called within a runtime. It fails where the system refuses.
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next one.
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Ctrl-C, which asks a process to end. While nobody waits, it is kept.
#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    /// Takes it over. It must be called within a runtime. It fails where the system refuses.
    fn new() -> io::Result<Self> {
        Ok(Signals(tokio::signal::windows::ctrl_c()?))
    }

    /// Waits for the next one.
    async fn next(&mut self) {
        self.0.recv().await;
    }
}

// Errors of a server that cannot start or continue.

/// The server could not start or continue.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The runtime, a stream or a socket failed.
    #[error("{what}: {source}")]
    Io {
        /// The thing that failed.
        what: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The client broke the protocol before a session began.
    #[error("the client did not begin a session: {0}")]
    Handshake(String),
    /// Others can reach the address, and there is no token.
    #[error(
        "{address}: others can reach this address, so a token is needed: set TAMIS_MCP_TOKEN, or run `tamis mcp token NAME` and put \
         its output into the user's configuration; or listen on 127.0.0.1"
    )]
    TokenRequired {
        /// The address.
        address: SocketAddr,
    },
    /// A token is not secret or cannot be sent.
    #[error("token {name}: must be {allowed}")]
    InvalidToken {
        /// Name of the token.
        name: String,
        /// Form of a valid token.
        allowed: String,
    },
    /// HTTP cannot write the time that the system's clock shows.
    #[error("the system's clock is not between 1970 and 9999, the only times that HTTP can write; set it")]
    Clock,
    /// The system provided no random bytes.
    #[error("no random bytes for a token: {0}")]
    Random(String),
    /// The log could not start.
    #[error("the log: {0}")]
    Log(String),
}

impl ServeError {
    pub(crate) fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        ServeError::Io { what: what.into(), source }
    }
}

// The log, on standard error.

/// Format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object a line.
    Json,
}

/// Starts the log at a level: `error`, `warn`, `info`, `debug`, `trace`, or `off`. Text from clients is logged only
/// `with_queries`. Without it, arguments are left out, and so are all lines of the protocol's library, which may quote messages.
///
/// # Errors
/// This process already has a log.
pub fn start_log(level: &str, format: LogFormat, with_queries: bool) -> Result<(), ServeError> {
    let protocol = if with_queries { level } else { "off" };
    let filter = EnvFilter::builder().parse_lossy(format!("{level},rmcp={protocol}"));
    // A closed standard error is not worth a message.
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| SafeWriter::plain(io::stderr()))
        .with_ansi(false)
        .log_internal_errors(false);
    let begun = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    begun.map_err(|error| ServeError::Log(error.to_string()))
}
