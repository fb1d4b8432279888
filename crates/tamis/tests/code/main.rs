//! Code, and teams of repositories: languages, age, phrasings, namespaces.

#[path = "../support/mod.rs"]
mod support;

mod gap;
mod hints;
mod namespaces;
mod variants;
