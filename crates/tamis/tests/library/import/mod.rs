//! Imports: all or nothing, once, by time, and apart from the files of the tree.

#![cfg(feature = "wiki")]

mod conversations;
mod issues;
mod listing;
mod pages;
