//! The server for agents in the configuration of the clients that start it.
//!
//! Each client keeps the servers that it may start in a file of its own, of one project or of the user. [`Plan`] is what that
//! file would become: one entry put in or taken out, and everything else byte for byte as it was, comments included. Nothing is
//! written before [`Plan::carry_out`], and then the file as a whole or not at all. An entry of that name that does not start
//! this program is another's, and is not touched unless that is asked for.
//!
//! Several clients have a command that adds a server. It writes the same file, but is not there where the client is an
//! application with windows, and tells nobody what it would do.
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
