//! The MCP face of Tamis: what the library does, as tools for agents.
//!
//! A [`Server`] holds an open index and answers many clients, on standard input and output ([`serve_stdio`]) or over HTTP. One
//! file of `tools` is one tool: its arguments, the call of the library that it makes, and its answer, as data and as a short
//! text. No tool searches, cuts or reads by itself.
//!
//! The protocol is that of the Model Context Protocol, <https://modelcontextprotocol.io/specification/2026-07-28>, and the
//! versions before it, as its official library speaks them.

mod caller;
mod error;
mod reply;
mod schema;
mod service;
mod stdio;
mod tool;
mod tools;

pub use caller::Caller;
pub use error::ServeError;
pub use service::{Server, ServerOptions};
pub use stdio::serve_stdio;
