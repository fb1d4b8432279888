//! Holds the statements of the store to the rule of distributed tables, without a server that distributes.
//!
//! Every test with a database reaches it through a [`proxy`](Proxy), which records what the store sends. At the end of the test each
//! statement has to name the namespaces of every distributed table in it, or be one of the [`exceptions`], which several nodes can
//! answer. Both the tests of the library and those of its traits include this module.

mod exceptions;
mod proxy;
mod rule;

use std::collections::BTreeSet;
use std::sync::Mutex;

pub use proxy::Proxy;

use super::tables;

/// Panics if one of these statements breaks the rule without being an exception.
pub fn check(statements: BTreeSet<String>) {
    /// The statements that keep the rule. Most are sent by many tests.
    static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut broken = Vec::new();
    for statement in statements {
        if KNOWN.lock().expect("no test panicked with it").contains(&statement) {
            continue;
        }
        let before = broken.len();
        match rule::unnamed(&statement) {
            Err(error) => broken.push(error),
            Ok(found) => {
                for (one, tables, refused) in found.into_iter().filter(|(_, tables, _)| !tables.is_empty()) {
                    if exceptions::reason(&one).is_none() {
                        broken.push(format!("{} without namespaces: {one}", tables.join(", ")));
                    } else if let Some(reason) = refused {
                        broken.push(format!("{reason}: {one}"));
                    }
                }
            }
        }
        if broken.len() == before {
            KNOWN.lock().expect("no test panicked with it").insert(statement);
        }
    }
    assert!(
        broken.is_empty(),
        "Statements have to name the namespaces of distributed tables (see crates/store/tests/sharding/mod.rs):\n{}",
        broken.join("\n")
    );
}
