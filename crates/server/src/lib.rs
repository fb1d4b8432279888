//! The server of Tamis: an open index as tools for agents (MCP), and as a JSON API.
//!
//! A [`Server`] holds an open index and answers many clients, on standard input and output ([`serve_on_stdio`]) or over HTTP
//! ([`serve_on_http`]). Each file in `operations` is one operation of the library: as a tool, whose answer is a short text, and as a
//! route of the JSON API ([`HttpOptions::api`]). The data of both is what the command prints with `--json`. [`openapi()`] describes
//! the routes. An operation never searches, cuts or reads by itself.
//!
//! The official library speaks the [Model Context Protocol](https://modelcontextprotocol.io/specification/2026-07-28), in this and
//! earlier versions.

mod api;
mod arguments;
mod background;
mod call_queue;
mod caller;
mod evidence_text;
mod http;
mod operation;
mod operations;
mod paging;
mod process;
mod progress;
mod prompts;
mod refusal_text;
mod resources;
mod search_text;
mod server;
mod stdio;
mod untrusted_text;
mod web_page;

pub use api::openapi;
pub use background::{BackgroundState, Phase};
pub use call_queue::detach_process;
pub use caller::Caller;
pub use http::{HttpOptions, Token, fresh_token, serve_http};
pub use process::{LogFormat, ServeError, on_signals, serve_on_http, serve_on_stdio, start_log};
pub use server::{Server, ServerOptions};
