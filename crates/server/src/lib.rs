//! The MCP face of Tamis: what the library does, as tools for agents.
//!
//! A [`Server`] holds an open index and answers many clients, on standard input and output ([`serve_on_stdio`]) or over HTTP
//! ([`serve_on_http`]). One
//! file of `tools` is one tool: its arguments, the call of the library that it makes, and its answer, as data and as a short
//! text. No tool searches, cuts or reads by itself.
//!
//! The protocol is that of the Model Context Protocol, <https://modelcontextprotocol.io/specification/2026-07-28>, and the
//! versions before it, as its official library speaks them.

mod advice;
mod arguments;
mod background;
mod caller;
mod current;
mod cursor;
mod error;
mod hits;
mod http;
mod load;
mod logging;
mod messages;
mod page;
mod priority;
mod progress;
mod prompts;
mod reply;
mod resources;
mod rows;
mod schema;
mod seal;
mod serve;
mod service;
mod signal;
mod stdio;
mod text;
mod tool;
mod tools;
mod uri;
mod values;

pub use background::{BackgroundState, Phase};
pub use caller::Caller;
pub use error::ServeError;
pub use http::{HttpOptions, Token, fresh_token, serve_http};
pub use logging::{LogFormat, start_log};
pub use serve::{serve_on_http, serve_on_stdio};
pub use service::{Server, ServerOptions};
