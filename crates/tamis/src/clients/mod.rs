//! The server for agents in the configuration of the clients that start it.
//!
//! Each client lists the servers that it may start in a file of its own, one for a project or one for the user. A [`Plan`] holds
//! the new content of that file: one entry is added or removed, and everything else stays byte for byte, comments included. Only
//! [`Plan::carry_out`] writes, and it replaces the whole file or nothing. An entry of that name that does not start this program
//! belongs to somebody else, and stays unless the caller asks to replace it.
//!
//! Several clients have a command that adds a server. It writes the same file, but windowed applications lack it, and it cannot
//! show the change beforehand.
//!
//! ```
//! use tamis::clients::{Client, Entry, Scope, Surroundings, System};
//!
//! let around = Surroundings::new(System::Linux, |name| (name == "HOME").then(|| "/home/ada".to_owned()));
//! let file = Client::Cursor.file(Scope::User, "/home/ada/mill".as_ref(), &around);
//! assert_eq!(file.as_deref(), Some("/home/ada/.cursor/mcp.json".as_ref()));
//! ```

mod client;
mod entry;
mod json;
mod plan;
mod record;
mod surroundings;
mod table;

pub use crate::user_directories::System;
pub use client::{Client, Scope};
pub use entry::{Entry, EntryOptions};
pub use plan::{Plan, Standing, standing};
pub use surroundings::Surroundings;
