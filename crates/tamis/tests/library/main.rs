//! The library through its public face: one program, so that what it links is linked once.

mod calibrate;
mod code;
mod config;
mod copy;
mod embedding_cache;
mod evidence;
mod feedback;
mod github;
mod hub;
mod import;
mod index;
mod judged;
mod learned_odds;
mod line;
mod memory_rank;
mod on_demand;
mod open_refresh_search;
mod related;
mod reranker;
mod search;
mod support;
mod telemetry;
mod trees;
mod troubleshoot;

#[cfg(feature = "postgres")]
#[allow(dead_code)]
#[path = "../../../store/tests/store/postgres.rs"]
mod postgres;
