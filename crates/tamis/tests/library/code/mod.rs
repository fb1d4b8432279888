//! Code, and teams of repositories: languages, age, phrasings, namespaces.

mod gap;
mod namespaces;
