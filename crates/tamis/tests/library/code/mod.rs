//! Code, and teams of repositories: languages, age, phrasings, namespaces.

mod gap;
mod hints;
mod namespaces;
mod variants;
