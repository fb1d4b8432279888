//! A client's session with a server in this process.

use rmcp::ServiceExt;
use rmcp::service::{RoleClient, RunningService};
use std::sync::Arc;
use tamis::Index;
use tamis_server::{Caller, Server, ServerOptions};

pub type Session = RunningService<RoleClient, ()>;

/// Connects a client that may do what this caller may.
pub async fn session(index: &Arc<Index>, caller: Caller) -> Session {
    let server = Server::new(index.clone(), ServerOptions { parallel_calls: 2, caller, output_schemas: true });
    let (here, there) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let running = server.serve(there).await.expect("a session");
        let _ = running.waiting().await;
    });
    ().serve(here).await.expect("a session")
}
