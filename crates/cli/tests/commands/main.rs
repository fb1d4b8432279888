//! The real binary on small real trees.

#[cfg(unix)]
mod background;
#[cfg(unix)]
mod import_github;
mod interruptions;
mod json_schema;
mod linux;
mod mcp;
mod mcp_answers;
mod model;
mod models;
#[cfg(unix)]
mod read_only;
mod reranker;
mod safe_text;
mod schema;
#[cfg(unix)]
mod signals;
mod support;
#[cfg(unix)]
mod transcripts;
mod user_directories;
