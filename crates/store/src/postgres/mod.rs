//! The store in PostgreSQL, for many servers and many writers.
//!
//! Every table that grows with the content has the namespace as the first column of its key, and nearly every statement names the
//! namespaces it concerns, so that the tables can be distributed by namespace.
//!
//! `store` is what the store keeps between calls. `connection` bridges from blocking calls to the asynchronous client, to the `servers`
//! that `address` names and through an `outage`, with `sessions` of their own or shared ones; `faults` explains what can go wrong on the way. `schema` creates the tables, and
//! `row_security` confines reading to namespaces a second time. `changes` writes documents, [`content`](crate::content) reads them. `scope`,
//! `condition` and `select` resolve filters. `words` and `vectors` are the two legs; `legs` and `resident` hold what both keep in memory,
//! and `sizes` decides where they search. `holding` is the right to write over several calls, and also keeps single changes of a
//! namespace apart. `jobs` is the queue of trees to be indexed, `listening` and `serving` serve the servers of a team, and `sharding`
//! distributes the tables. No module imports one that imports it, directly or through others.

mod address;
mod changes;
#[cfg(test)]
mod changes_tests;
mod condition;
mod connection;
#[cfg(test)]
mod connection_tests;
mod copy;
mod error;
mod evidence;
mod faults;
mod holding;
mod instance;
mod jobs;
#[cfg(test)]
mod jobs_tests;
mod legs;
#[cfg(test)]
mod legs_fixture;
#[cfg(test)]
mod legs_tests;
mod listening;
#[cfg(test)]
mod listening_tests;
mod locks;
mod maintenance;
mod namespaces;
mod nodes;
mod outage;
#[cfg(test)]
mod outage_tests;
mod password;
#[cfg(test)]
mod random_tests;
mod resident;
mod row_security;
#[cfg(test)]
mod row_security_tests;
mod rows;
mod schema;
mod scope;
mod select;
mod servers;
mod serving;
mod session;
mod sessions;
mod sharding;
mod sizes;
mod statement;
#[cfg(test)]
#[path = "../../tests/sharding/mod.rs"]
mod statements;
mod statistics;
mod status;
mod store;
#[cfg(test)]
mod testing;
mod text;
mod tls;
mod usage;
mod vectors;
mod words;
#[cfg(test)]
mod writers_tests;

pub use jobs::{Job, JobEnd, JobState, MOST_JOB_FAILURES, NextJob, TakenJob};
pub use sharding::Sharding;
#[cfg(test)]
use sharding::tables;
pub use status::{NamespaceStatus, PostgresStatus};
pub use store::PostgresStore;
