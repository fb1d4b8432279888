//! The real binary on small real trees.

mod calibrate;
mod config;
mod cut;
mod doctor;
mod errors;
mod eval;
mod evidence;
mod feedback;
mod hook;
mod import;
mod import_github;
mod inspect;
mod install;
mod mcp;
mod mcp_answers;
mod metadata;
mod month;
mod notes;
mod output;
mod related;
mod safe_text;
mod schema;
mod search;
#[cfg(unix)]
mod signals;
mod sources;
mod sql;
mod stats;
mod support;
mod triage;
mod views;
mod want;
