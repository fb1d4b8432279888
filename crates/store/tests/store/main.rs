//! The embedded store through its trait, on directories of its own.

mod access;
mod changes;
mod common;
mod derived;
mod evidence;
mod filters;
mod isolation;
mod metadata;
mod namespaces;
mod opening;
mod random;
mod replaced;
mod room;
mod searching;
