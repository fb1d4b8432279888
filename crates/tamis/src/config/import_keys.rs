//! `[import]`: how what is imported is put together.

use super::Read;
use super::keys::Key;
use super::value::{Allowed, Value};
use std::time::Duration;

/// How what is imported is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportConfig {
    /// Turns of a conversation that say of no session are divided into sessions where nobody said anything for longer than
    /// this.
    pub session_gap: Duration,
}

/// The keys of the table.
pub(super) fn all() -> Vec<Key> {
    vec![Key {
        name: "import.session_gap_hours".to_owned(),
        allowed: Allowed::Number(0.01, 8760.0),
        default: Value::Number(6.0),
        doc: "silence after which a conversation that says of no sessions goes on as another one".to_owned(),
    }]
}

pub(super) fn import(read: &Read<'_>) -> ImportConfig {
    let hours = read.number("import.session_gap_hours").unwrap_or_default();
    ImportConfig { session_gap: Duration::from_secs_f64(hours * 3600.0) }
}
