//! The real binary on small real trees.

mod calibrate;
mod config;
mod cut;
mod dashed_words;
mod doctor;
mod documents;
mod errors;
mod eval;
mod evidence;
mod exact;
mod feedback;
#[cfg(unix)]
mod file_modes;
mod foreign_files;
mod help;
mod hook;
mod import;
mod import_github;
mod inspect;
mod install;
mod mcp;
mod mcp_answers;
mod metadata;
mod model;
mod models;
mod month;
#[cfg(unix)]
mod named_files;
mod notes;
mod output;
mod query_paths;
mod related;
mod reranker;
mod room;
mod safe_text;
mod schema;
mod search;
#[cfg(unix)]
mod signals;
mod sources;
mod sql;
mod stats;
mod support;
mod tree;
mod triage;
mod user_directories;
mod version;
mod views;
mod waiting;
mod want;
