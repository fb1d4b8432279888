//! Hybrid search with a cut where relevance ends.
//!
//! Tamis indexes a directory of code and documents and answers a query from words (BM25) and vectors. It decides how many of the
//! candidates are relevant, which can be none.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # std::fs::create_dir(directory.path().join("docs"))?;
//! # std::fs::write(directory.path().join("docs/oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
//! # std::env::set_current_dir(directory.path())?;
//! let index = tamis::Index::open("docs")?;
//! index.refresh()?;
//! for hit in index.search("how hot should the oven be")?.results {
//!     println!("{}: {}", hit.path, hit.snippet);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Index::builder`] sets the configuration, another index directory or your own [`Embedder`](tamis_embed::Embedder).
//! [`SearchRequest`] narrows a search, and its [`Answer`] says why the results end where they do.
//!
//! # Built on the pipeline
//!
//! Each application has a module and an accessor on [`Index`] that borrows it:
//!
//! | accessor | module | |
//! | --- | --- | --- |
//! | [`Index::imports`] | [`import`] | issues, wiki pages and conversations that are not files |
//! | [`Index::notes`] | [`memory`] | notes, added and hidden one by one |
//! | [`Index::related`] | [`related`] | from one passage to what it uses and what is similar |
//! | [`Index::tree`] | [`tree`] | exact text in the files of the tree, their names and symbols |
//! | [`Index::pack`] | [`pack`] | the relevant entries as one text for a prompt |
//! | [`Index::troubleshooting`] | [`troubleshoot`] | answers from solved issues and the wiki |
//! | [`Index::duplicates`] | [`duplicates`] | likely duplicates of an issue |
//! | [`Index::evidence`] | [`evidence`] | claims and what supports or contradicts them, with SQL |
//! | [`Index::feedback`] | [`feedback`] | judgements of results, which guarantees are calibrated on |
//! | [`Index::calibration`] | [`calibrate`] | similarity thresholds by language |
//! | [`Index::statistics`] | [`telemetry`] | how well past queries were served |
//!
//! [`lists`] cuts the ranked lists of other engines. [`evaluate`] measures ranking and cuts on collections with judged answers,
//! [`git_hooks`] lets git keep the index fresh, [`install`] adds the server for agents to the configuration of its client, [`hub`]
//! fetches models by name, and [`copy`] moves an index to a database and back.
//!
//! The types of cuts, metrics, embedders, stores and documents are those of the crates `tamis-cut`, `tamis-eval`, `tamis-embed`,
//! `tamis-store` and `tamis-text`.
//!
//! # Features
//!
//! All but `clap` are on by default: `minilm` is the built-in transformer, `grammars` the symbols of code, `documents` the text of PDF
//! and the like, `wiki` the dumps of wikis, `evidence` the evidence graph, `postgres` an index in a database, `hub` models fetched by
//! name, and `clients` the configuration of agents. `clap` makes the requests flags of a command line.

mod applications;
mod build_features;
mod collections;
pub mod config;
#[cfg(feature = "evidence")]
pub mod copy;
pub mod dates;
mod error;
pub mod file;
#[cfg(feature = "clap")]
pub mod flag_values;
mod get;
mod git;
pub mod git_hooks;
mod handle;
pub mod hub;
pub mod import;
pub mod index;
mod index_location;
#[cfg(feature = "clients")]
pub mod install;
mod models;
mod progress;
pub mod search;
mod server_message;
mod status;
mod subprocess;
#[cfg(feature = "hub")]
mod url_host;
mod words;

#[cfg(feature = "evidence")]
pub use applications::evidence;
pub use applications::{
    calibrate, duplicates, evaluate, feedback, lists, memory, pack, related, telemetry, tree, troubleshoot,
};
pub use build_features::features;
pub use config::Mode;
pub use error::Error;
pub use get::{Excerpt, GetRequest};
pub use handle::{Index, IndexBuilder, Source, SourceSettings, SourceState};
pub use index::{Freshness, RunOptions, RunReport, TextDocument};
pub use index_location::{INDEX_DIRECTORY, Location, machine_name};
pub use models::Models;
pub use progress::{Observer, Stage};
pub use search::{Answer, CutReport, Hit, SearchRequest};
pub use status::{Contents, FileStatus, IndexPlace, SourceStatus, Status};
pub use words::kind_in_words;
