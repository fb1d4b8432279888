//! The protocol's own library, configured to stand behind the checks of this module.

use super::sessions::Sessions;
use crate::server::Server;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio_util::sync::CancellationToken;

/// The streamable HTTP transport of the protocol's library.
pub(super) type Protocol = StreamableHttpService<Server, LocalSessionManager>;

/// The protocol over a server, until `stop` ends its streams.
pub(super) fn protocol(
    server: &Server,
    sessions: &Sessions,
    max_body_bytes: usize,
    stop: CancellationToken,
) -> Protocol {
    let server = server.clone();
    // The handler has already checked hosts and origins and read the body.
    let mut config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(max_body_bytes)
        .with_cancellation_token(stop);
    config.session_store = sessions.shared();
    StreamableHttpService::new(move || Ok(server.clone()), sessions.manager.clone(), config)
}
