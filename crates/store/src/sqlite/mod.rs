//! The database `tamis.db`, which holds the truth that the legs are derived from.
//!
//! - `database` has the connections, `connections` opens them, `schema` creates and upgrades the file.
//! - `batch` applies changes: `names` gives passages their identifiers, `retired` keeps what the lexical index still finds.
//! - `vectors` and `namespaces` read and write these, `documents` is asked by searches, `select` resolves filters, `prune` removes what
//!   nothing refers to, `counts` summarizes and checks. What both databases read alike is in [`content`](crate::content).
//! - `replay` gives the derived indexes the changes they lack.
//! - `evidence` writes the evidence graph and runs untrusted SQL on it (feature `evidence`).
//! - `texts` compresses texts.
//! - `meta` and `rows` are shared by all of these.

mod batch;
mod connections;
mod counts;
mod database;
mod documents;
#[cfg(feature = "evidence")]
mod evidence;
pub(crate) mod meta;
mod names;
mod namespaces;
mod prune;
pub(crate) mod replay;
mod retired;
mod rows;
mod schema;
mod select;
mod texts;
mod transaction_error;
mod vectors;

#[cfg(feature = "postgres")]
pub(crate) use batch::{same_identifier, validate, validate_path};
pub(crate) use database::Database;
pub(crate) use meta::ContentState;
#[cfg(feature = "postgres")]
pub(crate) use names::{Identity, PublicIds, prefixes};
pub(crate) use namespaces::NAMESPACES;
pub(crate) use replay::LexicalRow;
pub(crate) use transaction_error::TransactionError;
